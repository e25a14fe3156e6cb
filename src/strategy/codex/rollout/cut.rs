//! The last turns of a rollout.

use super::line::Mark;
use super::{Line, Response};

/// How many of the newest lines make up the last `turns` turns, the one in progress included; fewer turns: from the first
/// on; none: no line. `newest_first` are all lines, from the end.
///
/// A turn begins at a user message that is no context and at a message between agents that triggers one. A rollback
/// undoes turns, and for it every message between agents counts as one.
///
/// Only the lines of those turns are looked at, unless there are fewer turns.
pub fn last_turns<'a>(newest_first: impl Iterator<Item = Line<'a>>, turns: u64) -> usize {
    let mut lines = newest_first.enumerate().peekable();
    let (mut kept, mut found, mut undone) = (0, 0, 0_u64);
    while found < turns {
        let Some((at, line)) = lines.next() else { break };
        if let Line::RolledBack(turns) = line {
            undone = undone.saturating_add(turns);
            continue;
        }
        let delivered = matches!(lines.peek(), Some((_, Line::Delivery { .. })));
        let Some(triggers) = instruction(&line, delivered) else { continue };
        if undone > 0 {
            undone -= 1;
        } else if triggers {
            (kept, found) = (at + 1, found + 1);
        }
    }
    kept
}

/// Whether a line gives an agent something to do: with `Some(true)` a turn begins. `delivered`: the line before it says that
/// it was delivered, and has been counted for it.
fn instruction(line: &Line<'_>, delivered: bool) -> Option<bool> {
    match line {
        Line::Communication { triggers } | Line::Delivery { triggers } | Line::Mail { triggers } => Some(*triggers),
        Line::Response(Response::AgentMessage) => (!delivered).then_some(false),
        Line::Response(Response::Message { envelope: Some(triggers), .. }) => Some(*triggers),
        Line::Response(response) => (response.mark() == Mark::Turn).then_some(true),
        _ => None,
    }
}
