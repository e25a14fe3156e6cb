//! A check for a terminal of 80 columns.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};

use crate::check::{Checked, Row, Verdict};
use crate::error::Exit;

use super::super::folded::folded;
use super::causes::{Cause, Group, causes};
use super::commands::{accept, look, looked_at};
use super::words::{counted, growth, last_line, movement, place, tally, value};

const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[1;33m";
const GREEN: &str = "\x1b[1;32m";
const PLAIN: &str = "\x1b[0m";

/// Rows of a group that are told; the others are counted, and the JSON names them all.
const ROWS: usize = 6;
/// The same of rows that are no failure.
const FEW_ROWS: usize = 3;
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
    let lock =
        if checked.about.has_lock { checked.about.lock_file.clone() } else { format!("{} (not there yet)", checked.about.lock_file) };
    let _ = writeln!(out, "{} against {lock}; tokens are {}", checked.about.budgets_file, checked.about.tokenizer);
    let figures = checked.rows.iter().filter(|row| !row.name.is_empty()).count();
    let _ = writeln!(out, "{}, {}: {}", counted(checked.cells(), "cell"), counted(figures, "figure"), tally(checked));
    if !checked.about.locked && checked.rows.iter().any(|row| row.verdicts.iter().any(|verdict| verdict.exit(true) == Exit::NotComparable))
    {
        let _ = writeln!(out, "in CI (or with --locked), what is NEW, GONE, STALE or UNMEASURED fails");
    }
    let style = if checked.exit() == Exit::Fine { GREEN } else { RED };
    let _ = writeln!(out, "{}", styled(style, &last_line(checked), colour));
    out
}

fn cause_text(checked: &Checked, cause: &Cause<'_>, colour: bool) -> String {
    let mut out = String::new();
    let cells = cause.cells();
    if let (Some(what), Some(at)) = (&cause.what, cause.place) {
        let head = format!("{what}, first in {}, in {}", place(at), counted(cells.len(), "cell"));
        folded(&head, WIDTH).iter().for_each(|line| out += &format!("{line}\n"));
    }
    cause.groups.iter().for_each(|group| out += &group_text(checked, group, colour));
    for why in cause.whys() {
        folded(why, WIDTH - 10)
            .iter()
            .enumerate()
            .for_each(|(at, line)| out += &format!("  {:<8}{line}\n", if at == 0 { "why" } else { "" }));
    }
    if let Some(row) = looked_at(cause.groups.iter().flat_map(|group| &group.rows).copied()) {
        let _ = writeln!(out, "  look    {}", look(checked, &row.cell));
    }
    let nothing = checked.troubles.iter().any(|trouble| trouble.exit == Exit::NothingChecked);
    if cause.is_acceptable() && !nothing {
        let _ = writeln!(out, "  accept  {}", accept(checked, cells.iter().copied()));
    }
    out.push('\n');
    out
}

fn group_text(checked: &Checked, group: &Group<'_>, colour: bool) -> String {
    let style = match group.worst {
        verdict if verdict.exit(checked.about.locked) != Exit::Fine => RED,
        Verdict::Better | Verdict::Ok => GREEN,
        _ => YELLOW,
    };
    let mut out = format!("  {} {}\n", styled(style, &group.verdicts, colour), group.title);
    for limit in &group.limits {
        let _ = writeln!(out, "    {limit}");
    }
    if group.is_unmoved() {
        return out + &format!("    with the accepted value, in {}\n", counted(group.rows.len(), "cell"));
    }
    let most = if group.worst.exit(checked.about.locked) == Exit::Fine { FEW_ROWS } else { ROWS };
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let shown = || group.rows.iter().take(most);
    // Where no row has anything to say, there is no column.
    let columns: [fn(&Row) -> String; 3] =
        [|row| figures(row), |row| movement(row).unwrap_or_default(), |row| growth(row).unwrap_or_default()];
    let columns: Vec<_> = columns.into_iter().filter(|column| shown().any(|row| !column(row).is_empty())).collect();
    for row in shown() {
        table.add_row(columns.iter().map(|column| column(row)).chain([row.cell.clone()]));
    }
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((2, 0));
        // Numbers stand below numbers.
        if at < columns.len().min(2) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for (line, row) in table.lines().zip(shown()) {
        let _ = writeln!(out, "  {}", line.trim_end());
        if let Some(remark) = &row.remark {
            folded(remark, WIDTH - 8).iter().for_each(|line| out += &format!("        {line}\n"));
        }
    }
    if group.worst == Verdict::Unmeasured {
        out += "    what can never be measured is taken out of the budget: strategy = [..., \"!NAME\"]\n";
    }
    if group.rows.len() > most {
        let _ = writeln!(out, "    and {} more (--format json names all)", group.rows.len() - most);
    }
    out
}

/// `3,115 → 3,121`, or the one of them that there is.
fn figures(row: &Row) -> String {
    match (row.accepted, row.value) {
        (None, None) => String::new(),
        (Some(before), Some(now)) if before == now => value(Some(now)),
        (None, now) => value(now),
        (before, now) => format!("{} → {}", value(before), value(now)),
    }
}

fn styled(style: &str, text: &str, colour: bool) -> String {
    if colour { format!("{style}{text}{PLAIN}") } else { text.to_owned() }
}
