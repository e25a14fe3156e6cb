//! A check as workflow commands of GitHub: an annotation a figure, at the line of the budgets' file that it is beyond.

use std::fmt::Write;

use crate::check::{Checked, Row, Verdict};
use crate::error::Exit;

use super::words::{change, exceeded, growth, is_told, last_line, movement, place, value, verdicts};

/// The annotations, worst first (GitHub shows the first ten of a step), then a notice with the exit code.
pub fn github(checked: &Checked) -> String {
    let mut out = String::new();
    for trouble in &checked.troubles {
        out += &command("error", &checked.budgets_file, trouble.line, "budgets", &trouble.message);
    }
    let mut rows: Vec<&Row> = checked.rows.iter().filter(|row| is_told(row)).collect();
    rows.sort_by_key(|row| row.worst());
    for row in rows {
        let fails = row.verdicts.iter().any(|verdict| verdict.exit(checked.locked) != Exit::Fine);
        let wrong: Vec<_> = row.held.iter().filter(|held| held.verdict != Verdict::Ok).collect();
        let line = wrong.iter().chain(&row.held.iter().collect::<Vec<_>>()).find_map(|held| held.limit.line);
        let mut message = match (row.accepted, movement(row)) {
            (Some(_), Some(moved)) => format!("{} -> {} {moved}", value(row.accepted), value(row.value)),
            _ => value(row.value),
        };
        wrong.iter().for_each(|held| message += &format!("\nlimit: {}", exceeded(checked, held)));
        growth(row).iter().for_each(|growth| message += &format!("\nwhere: {growth}"));
        row.place.iter().for_each(|at| message += &format!("\nfirst: {}, in {}", change(&at.change), place(at)));
        row.remark.iter().for_each(|remark| message += &format!("\n{remark}"));
        let title = format!("{} {} {}", verdicts(row), row.cell, row.name);
        out += &command(if fails { "error" } else { "warning" }, &checked.budgets_file, line, title.trim_end(), &message);
    }
    let _ = writeln!(out, "::notice title=ctxbench check::{}", data(&last_line(checked)));
    out
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
