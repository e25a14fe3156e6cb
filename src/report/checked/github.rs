//! A check as workflow commands of GitHub: an annotation for what moved one metric, at the line of the budgets' file that it
//! is beyond.

use std::fmt::Write;

use crate::check::{Checked, Verdict};
use crate::error::Exit;

use super::causes::{Cause, Group, causes};
use super::words::{growth, last_line, movement, place, value};

/// Cells that an annotation names.
const CELLS: usize = 6;

/// The annotations, worst first (GitHub shows the first ten of a step), then a notice with the exit code.
pub fn github(checked: &Checked) -> String {
    let mut out = String::new();
    for trouble in &checked.troubles {
        out += &command("error", &checked.about.budgets_file, trouble.line, "budgets", &trouble.message);
    }
    for cause in causes(checked) {
        cause.groups.iter().for_each(|group| out += &annotation(checked, &cause, group));
    }
    let _ = writeln!(out, "::notice title=ctxbench check::{}", data(&last_line(checked)));
    out
}

fn annotation(checked: &Checked, cause: &Cause<'_>, group: &Group<'_>) -> String {
    let held = || group.rows.iter().flat_map(|row| &row.held);
    let line = held().filter(|held| held.verdict != Verdict::Ok).chain(held()).find_map(|held| held.limit.line);
    let fails = group.rows.iter().flat_map(|row| &row.verdicts).any(|verdict| verdict.exit(checked.about.locked) != Exit::Fine);
    let mut lines: Vec<String> = Vec::new();
    if let (Some(what), Some(at)) = (&cause.what, cause.place) {
        lines.push(format!("{what}, first in {}", place(at)));
    }
    if !group.limits.is_empty() {
        lines.push(group.limits.join(", "));
    }
    lines.extend(cause.whys().into_iter().map(|why| format!("why: {why}")));
    for row in group.rows.iter().take(CELLS) {
        let moved = match (row.accepted, movement(row)) {
            (Some(_), Some(moved)) => format!("{} → {} {moved}", value(row.accepted), value(row.value)),
            _ => value(row.value),
        };
        let growth = growth(row).map_or(String::new(), |growth| format!(", {growth}"));
        let remark = row.remark.as_ref().map_or(String::new(), |remark| format!(" ({remark})"));
        lines.push(format!("{}: {moved}{growth}{remark}", row.cell));
    }
    if group.rows.len() > CELLS {
        lines.push(format!("and {} more", group.rows.len() - CELLS));
    }
    let level = if fails { "error" } else { "warning" };
    command(level, &checked.about.budgets_file, line, &format!("{} {}", group.verdicts, group.title), &lines.join("\n"))
}

fn command(level: &str, file: &str, line: Option<u32>, title: &str, message: &str) -> String {
    let line = line.map_or(String::new(), |line| format!(",line={line}"));
    format!("::{level} file={}{line},title={}::{}\n", property(file), property(title), data(message))
}

/// What stands behind the colons.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// What stands before them.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
