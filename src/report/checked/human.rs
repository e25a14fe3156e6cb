//! A check for a terminal of 80 columns.

use std::fmt::Write;

use crate::check::{Checked, Row, Verdict};
use crate::error::Exit;

use super::super::folded::folded;
use super::causes::{Cause, causes};
use super::words::{accept, counted, exceeded, growth, last_line, look, movement, place, tally, unit, value, verdicts};

const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[1;33m";
const GREEN: &str = "\x1b[1;32m";
const PLAIN: &str = "\x1b[0m";

/// Cells of one cause that are told in full; the others are counted, and the JSON names them all.
const CELLS: usize = 5;
/// Columns of a line.
const WIDTH: usize = 80;

/// The whole report. The last line names the exit code.
pub fn human(checked: &Checked, colour: bool) -> String {
    let mut out = String::new();
    for cause in causes(checked) {
        out += &cause_text(checked, &cause, colour);
    }
    for trouble in &checked.troubles {
        let _ = writeln!(out, "{}", styled(RED, "error", colour));
        for line in trouble.message.lines() {
            // What may be copied into a file keeps its lines.
            let pieces = if line.contains(" = ") { vec![line.to_owned()] } else { folded(line, WIDTH - 2) };
            pieces.iter().for_each(|line| out += &format!("{}\n", format!("  {line}").trim_end()));
        }
        out.push('\n');
    }
    let lock = if checked.has_lock { checked.lock_file.clone() } else { format!("{} (not there yet)", checked.lock_file) };
    let _ = writeln!(out, "{} against {lock}; tokens are {}", checked.budgets_file, checked.tokenizer);
    let figures = checked.rows.iter().filter(|row| row.metric.is_some()).count();
    let _ = writeln!(out, "{}, {}: {}", counted(checked.cells(), "cell"), counted(figures, "figure"), tally(checked));
    if !checked.locked && checked.rows.iter().any(|row| row.verdicts.iter().any(|verdict| verdict.exit(true) == Exit::NotComparable)) {
        let _ = writeln!(out, "locked (--locked, or CI set) what is NEW, GONE, STALE or UNMEASURED fails");
    }
    let style = if checked.exit() == Exit::Fine { GREEN } else { RED };
    let _ = writeln!(out, "{}", styled(style, &last_line(checked), colour));
    out
}

fn cause_text(checked: &Checked, cause: &Cause<'_>, colour: bool) -> String {
    let mut out = String::new();
    if let (Some(what), Some(at)) = (&cause.what, cause.place) {
        let head = format!("{what}, first in {}", place(at));
        folded(&head, WIDTH).iter().for_each(|line| out += &format!("{line}\n"));
    }
    for (cell, rows) in cause.cells.iter().take(CELLS) {
        let _ = writeln!(out, "  {cell}");
        rows.iter().for_each(|row| out += &row_text(checked, row, colour));
        if rows.iter().any(|row| row.accepted.is_some() && row.value.is_some()) {
            let _ = writeln!(out, "    look    {}", look(cell));
        }
        if rows.iter().all(|row| row.verdicts.iter().all(|verdict| !matches!(verdict, Verdict::Failed | Verdict::Over | Verdict::Under)))
            && rows.iter().any(|row| row.worst() != Verdict::Unmeasured)
        {
            let _ = writeln!(out, "    accept  {}", accept(cell));
        }
    }
    if cause.cells.len() > CELLS {
        let _ = writeln!(out, "  and {} more (--format json names all)", counted(cause.cells.len() - CELLS, "cell"));
    }
    out.push('\n');
    out
}

fn row_text(checked: &Checked, row: &Row, colour: bool) -> String {
    let style = match row.worst() {
        verdict if verdict.exit(checked.locked) != Exit::Fine => RED,
        Verdict::Better | Verdict::Ok => GREEN,
        _ => YELLOW,
    };
    let unit = unit(row);
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    let figure = match (row.accepted, row.value) {
        (None, None) => String::new(),
        (Some(_), Some(_)) if movement(row).is_some_and(|moved| moved != "+0") => {
            format!("  {} -> {}{unit}  {}", value(row.accepted), value(row.value), movement(row).unwrap_or_default())
        }
        (Some(_), None) => format!("  {} -> –{unit}", value(row.accepted)),
        (_, now) => format!("  {}{unit}", value(now)),
    };
    let mut out = format!("    {} {}{figure}\n", styled(style, &verdicts(row), colour), row.name);
    let mut detail = |label: &str, text: &str| {
        for (at, line) in folded(text, WIDTH - 14).iter().enumerate() {
            let _ = writeln!(out, "      {:<8}{line}", if at == 0 { label } else { "" });
        }
    };
    for held in row.held.iter().filter(|held| held.verdict != Verdict::Ok) {
        detail("limit", &exceeded(checked, held));
        if let Some(why) = &held.limit.why {
            detail("why", why);
        }
    }
    if let Some(growth) = growth(row) {
        detail("where", &growth);
    }
    if let Some(remark) = &row.remark {
        detail("note", remark);
    }
    out
}

fn styled(style: &str, text: &str, colour: bool) -> String {
    if colour { format!("{style}{text}{PLAIN}") } else { text.to_owned() }
}
