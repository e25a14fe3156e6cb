//! A run as text: what a scenario expects of it.

use std::fmt::Write;

use crate::ledger::{Fate, Outcome, Row};
use crate::strategy::ThreadId;
use crate::transcript::{Body, Item, Origin};

/// One item, short: where it comes from and what it says.
pub fn item(item: &Item) -> String {
    let text = item.text().replace('\n', "\\n");
    match item.body() {
        Body::Call(call) => format!("call:{}", call.name),
        Body::Result { failed, .. } => {
            let kind = if item.origin == Origin::ToolResult { "tool" } else { "result" };
            format!("{kind}{}:{text}", if *failed { "!" } else { "" })
        }
        Body::Mail { from, to, .. } => {
            // The header repeats author and recipient.
            let (head, body) = text.split_once("Payload:\\n").unwrap_or(("", &text));
            format!("mail:{from}>{to}:{} {body}", head.trim_start_matches("Message Type: ").split("\\n").next().unwrap_or_default())
        }
        _ => format!("{}:{text}", item.origin),
    }
}

/// Several items.
pub fn items(all: &[Item]) -> String {
    all.iter().map(item).collect::<Vec<_>>().join(" | ")
}

/// The request that a row adds to: its turn's last one, for the first of a turn the thread's last one.
fn before<'a>(outcome: &'a Outcome, row: &Row) -> Option<&'a Row> {
    let earlier = |one: &&Row| one.thread == row.thread && one.seq < row.seq && !one.aside;
    let of_turn = outcome.rows.iter().rev().filter(earlier).find(|one| one.turn == row.turn);
    of_turn.or_else(|| outcome.rows.iter().rev().find(earlier))
}

/// One line a row, in order of sending, thread, turn; then one line on how it ended. A row reads
/// `PATH TURN.EXCHANGE AGENT SENT-DONE: + NEW ITEMS`, or `= ALL ITEMS` where the request does not begin as the last one did.
pub fn listing(outcome: &Outcome) -> String {
    let mut rows: Vec<&Row> = outcome.rows.iter().collect();
    rows.sort_by_key(|row| (row.sent_ms, row.thread, row.turn, row.exchange));
    let mut out = String::new();
    for row in rows {
        let done = match (row.fate, row.done_ms) {
            (Fate::Replied, Some(ms)) => ms.to_string(),
            (fate, _) => format!("{fate:?}").to_lowercase(),
        };
        let marks = [("aside", row.aside), ("synthetic", row.synthetic), ("overflow", row.overflow)];
        let marks: String = marks.iter().filter(|mark| mark.1).map(|mark| format!(" {}", mark.0)).collect();
        let cut = if row.cut > 0 { format!(" cut {}", row.cut) } else { String::new() };
        let _ = write!(out, "{} {}.{} {} {}-{done}{marks}{cut}: ", row.path, row.turn, row.exchange, row.agent, row.sent_ms);
        let now = outcome.items_of(row);
        let last = before(outcome, row).map(|last| outcome.items_of(last)).unwrap_or_default();
        let _ = match now.strip_prefix(&last[..]) {
            Some(new) => writeln!(out, "+ {}", items(new)),
            None => writeln!(out, "= {}", items(&now)),
        };
    }
    let _ = writeln!(out, "{}", ending(outcome));
    out
}

fn ending(outcome: &Outcome) -> String {
    let threads = outcome.threads.iter().map(|thread| {
        let last = thread.last.as_ref().map_or("-".to_owned(), |end| format!("{end:?}").replace('"', "'"));
        format!("{} {last}{}", thread.path, if thread.abandoned { " abandoned" } else { "" })
    });
    let threads: Vec<String> = threads.collect();
    let refused = if outcome.refusals > 0 { format!("; refusals {}", outcome.refusals) } else { String::new() };
    let failure = outcome.failure.as_ref().map(|failure| format!("; failure {}", failure.kind.name())).unwrap_or_default();
    format!("end {}: {}{refused}{failure}", outcome.span_ms.1, threads.join(", "))
}

/// A thread's history at the end.
pub fn history(outcome: &Outcome, thread: u32) -> String {
    if (thread as usize) < outcome.threads.len() { items(outcome.history_of(ThreadId(thread))) } else { "no such thread".into() }
}

/// Equal but for the white space at the ends of lines; else both, the first difference marked.
pub fn compare(what: &str, expected: &str, found: &str) -> Result<(), String> {
    let lines = |text: &str| text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect::<Vec<_>>();
    let (expected, found) = (lines(expected), lines(found));
    if expected == found {
        return Ok(());
    }
    let at = expected.iter().zip(&found).take_while(|(one, other)| one == other).count();
    let line = |all: &[String]| all.get(at).cloned().unwrap_or_else(|| "(nothing)".into());
    Err(format!(
        "{what}: line {} is not as expected\n  expected: {}\n     found: {}\n\nall that was found:\n{}",
        at + 1,
        line(&expected),
        line(&found),
        found.join("\n")
    ))
}
