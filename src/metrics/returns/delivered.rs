//! Every return of a run: what was said of a delegation last, the items that brought it, and the turn of the child behind it.

use rustc_hash::FxHashMap;

use crate::ledger::{ByThread, Fate, Outcome, Row};
use crate::strategy::{End, ThreadId};
use crate::transcript::{Body, CallKey, Item, Origin, Outcome as Told, Part, Role, dangling};

use super::entered::{Entered, Text};

/// One delegating call that came back, as its thread was told of it.
pub(crate) struct Delivered<'a> {
    /// The delegating call.
    pub call: CallKey,
    /// The call's arguments.
    pub args: Option<&'a Part>,
    /// The intent that the call was phrased from.
    pub intent: String,
    /// Reported as done; else as an error.
    pub is_done: bool,
    /// The items that brought it, in order: more than one where a text arrives twice.
    pub news: Vec<&'a Item>,
    /// The child, where the ledger knows of one.
    pub child: Option<ThreadId>,
    /// What is known of the child's turn behind it; `None`: nobody can tell which turn that was.
    pub turn: Option<ChildTurn<'a>>,
}

/// The turn of a child that a return tells of.
pub(crate) struct ChildTurn<'a> {
    /// Its last message that is not blank and behind which no tool result stands.
    pub words: Option<&'a Item>,
    /// Whether it ended by an error or by a limit of the harness.
    pub failed: bool,
    /// Whether it met a limit of rounds.
    pub capped: bool,
    /// Whether a limit on output ended its last message.
    pub limited: bool,
}

/// All returns, by parent and in order of their calls. A delegation of which nothing came back is none, a refusal neither.
pub(crate) fn delivered<'a>(outcome: &'a Outcome, by_thread: &ByThread<'a>) -> Vec<Delivered<'a>> {
    let children: FxHashMap<CallKey, ThreadId> = outcome.delegations.iter().map(|one| (one.call, one.child)).collect();
    let mut calls: FxHashMap<ThreadId, Vec<CallKey>> = FxHashMap::default();
    for delegation in &outcome.delegations {
        calls.entry(delegation.child).or_default().push(delegation.call);
    }
    let args = arguments(outcome, by_thread);
    let mut all = Vec::new();
    for parent in outcome.threads.iter().map(|record| record.id) {
        let items = by_thread.items(parent);
        for heard in by_thread.told(parent) {
            let is_done = match heard.outcome {
                Told::Returned => true,
                Told::Failed => false,
                Told::Called | Told::Started | Told::Refused | Told::Moved => continue,
            };
            let child = children.get(&heard.call).copied();
            let news: Vec<&Item> = heard.news.iter().filter_map(|&at| Some(items.get(at)?.0)).collect();
            let turn = child.and_then(|child| {
                let calls = calls.get(&child)?;
                let nth = calls.iter().position(|call| *call == heard.call)?;
                turn_of(outcome, by_thread, child, (nth, calls.len()), &news)
            });
            all.push(Delivered {
                call: heard.call,
                args: args.get(&heard.call).copied(),
                intent: heard.intent,
                is_done,
                news,
                child,
                turn,
            });
        }
    }
    all
}

/// The arguments of every delegating call that a thread holds as its own.
pub(crate) fn arguments<'a>(outcome: &'a Outcome, by_thread: &ByThread<'a>) -> FxHashMap<CallKey, &'a Part> {
    let items = outcome.threads.iter().flat_map(|record| by_thread.items(record.id));
    let calls = items.filter(|(item, _)| item.origin == Origin::Own).filter_map(|(item, _)| item.as_call());
    calls.filter(|call| call.intent.is_some()).map(|call| (call.key, &call.args)).collect()
}

/// The turn of a child that some news tell of, of those that the `nth` of its calls or a later one opened. A child that was
/// called once worked on nothing else. Of one that was called again it is the first turn whose last words are in the news,
/// since who speaks to a child at work hears of both under one call; else the call's own, where the child had a turn for
/// each call. Of any other nobody can tell.
fn turn_of<'a>(
    outcome: &'a Outcome,
    by_thread: &ByThread<'a>,
    child: ThreadId,
    (nth, calls): (usize, usize),
    news: &[&'a Item],
) -> Option<ChildTurn<'a>> {
    let own: Vec<&Row> = by_thread.rows(child).iter().copied().filter(|row| !row.aside).collect();
    let turns: Vec<&[&Row]> = own.chunk_by(|one, next| one.turn == next.turn).collect();
    let turn = |at: usize| child_turn(outcome, by_thread, child, &turns, at);
    if calls == 1 {
        let rows = turns.last().copied().unwrap_or_default();
        let words = last_words(by_thread.items(child).iter().rev().map(|(item, _)| *item), false);
        return Some(ended(outcome, child, rows, words, true));
    }
    let text = Text::of(news);
    let told = (nth..turns.len()).filter_map(turn).find(|turn| turn.words.is_some_and(|words| text.entered(words) == Entered::Whole));
    told.or_else(|| if turns.len() == calls { turn(nth) } else { None })
}

/// One turn of several.
fn child_turn<'a>(
    outcome: &'a Outcome,
    by_thread: &ByThread<'a>,
    child: ThreadId,
    turns: &[&[&'a Row]],
    at: usize,
) -> Option<ChildTurn<'a>> {
    let words = match turns.get(at + 1) {
        None => last_words(by_thread.items(child).iter().rev().map(|(item, _)| *item), true),
        // The next turn began behind what this one had said.
        Some(next) => {
            let next = next.first()?;
            last_words(outcome.logs.get(next.sent.log)?.items.iter().take(next.sent.own).rev(), true)
        }
    };
    Some(ended(outcome, child, turns.get(at)?, words, at + 1 == turns.len()))
}

/// How a turn of these requests ended.
fn ended<'a>(outcome: &'a Outcome, child: ThreadId, rows: &[&Row], words: Option<&'a Item>, is_last: bool) -> ChildTurn<'a> {
    let stripped = match (rows.first(), rows.last()) {
        (Some(first), Some(last)) => !first.sent.tools.is_empty() && last.sent.tools.is_empty(),
        _ => false,
    };
    let record = outcome.threads.get(child.0 as usize).filter(|_| is_last);
    let end = record.and_then(|record| record.last.as_ref());
    let stopped = match end {
        // A turn that stops with a call unanswered has asked something, and met no limit.
        Some(End::Stopped(_)) => record.is_some_and(|record| dangling(outcome.history_of(record.id)).is_empty()),
        Some(End::Ceiling(_)) => true,
        _ => false,
    };
    let failed = match end {
        Some(end) => matches!(end, End::Failed(_) | End::Ceiling(_)),
        None => rows.last().is_some_and(|row| row.fate == Fate::Failed),
    };
    let limited = rows.last().is_some_and(|row| row.capped);
    ChildTurn { words, failed, capped: stripped || stopped, limited }
}

/// The last message of the thread's own that is not blank, of items from the last one back to a tool result; `in_turn`:
/// or to what opened the turn.
fn last_words<'a>(items: impl Iterator<Item = &'a Item>, in_turn: bool) -> Option<&'a Item> {
    let opens = |item: &Item| matches!(item.body(), Body::Result { .. }) || (in_turn && item.origin == Origin::Task);
    items
        .take_while(|item| !opens(item))
        .filter(|item| item.origin == Origin::Own && item.role() == Some(Role::Assistant))
        .find(|item| item.parts().iter().any(|part| !part.as_text().trim().is_empty()))
}

impl Delivered<'_> {
    /// The parts of all its items, in order.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        self.news.iter().flat_map(|item| item.parts())
    }
}
