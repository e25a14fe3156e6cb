//! `check --accept`: what changed in the lock, for a commit message, and what was refused.

use serde_json::{Value, json};

use crate::check::{Accepted, Checked, LockChange, Row, Verdict, millionths};
use crate::error::Exit;
use crate::results::Number;

use super::super::Format;
use super::words::{counted, exact, exit_line, signed};

/// The report in a format; `None`: that one is not written.
pub fn accepted(done: &Accepted, checked: &Checked, lock: &str, format: Format) -> Option<String> {
    match format {
        Format::Human => Some(human(done, checked, lock)),
        Format::Json => serde_json::to_string_pretty(&document(done, lock)).ok().map(|text| text + "\n"),
        _ => None,
    }
}

fn human(done: &Accepted, checked: &Checked, lock: &str) -> String {
    let mut out = match done.changes.len() {
        0 => format!("no figure of {lock} changed\n"),
        many => format!("{} of {lock} changed\n", counted(many, "figure")),
    };
    done.changes.iter().for_each(|change| out += &change_line(change));
    if done.renewed > 0 {
        out += &format!("{} kept the value, with another fingerprint or other requests\n", counted(done.renewed, "figure"));
    }
    for row in &done.refused {
        let worst = row.worst();
        let why = if worst == Verdict::Failed { row.remark.clone().unwrap_or_default() } else { worst.about().to_owned() };
        out += &format!("  not accepted: {} {} ({}: {why})\n", row.cell, row.name, worst.name());
    }
    if done.refused.iter().any(|row| row.worst().exit(false) == Exit::LimitExceeded) {
        out += &format!("a value beyond max or min is not accepted: change {} first if it is wanted\n", checked.about.budgets_file);
    }
    out + &exit_line(done.exit()) + "\n"
}

fn change_line(change: &LockChange) -> String {
    let value = |number: Option<Number>| number.map_or("(none)".to_owned(), |number| exact(millionths(number)));
    let difference = change.now.zip(change.before).map(|(now, before)| millionths(now) - millionths(before));
    let difference = difference.map_or(String::new(), |difference| format!(" ({})", signed(difference)));
    format!("  {} {}: {} -> {}{difference}\n", change.cell, change.metric, value(change.before), value(change.now))
}

fn document(done: &Accepted, lock: &str) -> Value {
    let change = |one: &LockChange| json!({"cell": one.cell, "metric": one.metric, "accepted": one.before, "now": one.now});
    let refused = |row: &Row| json!({"cell": row.cell, "metric": row.name, "verdict": row.worst()});
    json!({
        "format": "ctxbench-accept/1", "lock": lock, "exit": done.exit() as u8,
        "changes": done.changes.iter().map(change).collect::<Vec<_>>(), "renewed": done.renewed,
        "refused": done.refused.iter().map(refused).collect::<Vec<_>>(),
    })
}
