//! A check as a page: for the comment or the job summary of a pull request, read by people who may never have seen the
//! tool.

use std::fmt::Write;

use crate::check::{Checked, Verdict, exit_words};
use crate::error::Exit;

use super::causes::{Cause, Group, causes};
use super::words::{accept, counted, growth, look, movement, place, tally, value};

/// Rows of a table that are shown; the others are counted.
const ROWS: usize = 20;

/// The whole page.
pub fn markdown(checked: &Checked) -> String {
    let exit = checked.exit();
    let verdict = if exit == Exit::Fine { "passed" } else { "failed" };
    let mut out = format!("## Token budgets: {verdict}\n\n");
    out += &opening(checked);
    for trouble in &checked.troubles {
        let mut lines = trouble.message.split("\n\n");
        let _ = writeln!(out, "\n> **{}**: {}", exit_words(trouble.exit), text(lines.next().unwrap_or_default()));
        lines.for_each(|block| out += &format!("\n```toml\n{}\n```\n", block.trim_end()));
    }
    for cause in causes(checked) {
        out += &section(&cause);
    }
    out += &ending(checked);
    out
}

/// What was checked and how it went, in whole sentences.
fn opening(checked: &Checked) -> String {
    let figures = checked.rows.iter().filter(|row| row.metric.is_some()).count();
    let failing = checked.rows.iter().filter(|row| row.verdicts.iter().any(|verdict| verdict.exit(checked.locked) != Exit::Fine)).count();
    let of = format!("{} of {}", counted(figures, "figure"), counted(checked.cells(), "cell"));
    let checked_what = format!(
        "ctxbench ran its scenarios of agents that delegate work to sub-agents and compared what was sent to the models with the values \
         that were accepted in `{}`.",
        checked.lock_file
    );
    match failing {
        0 if checked.exit() == Exit::Fine => format!("{checked_what} All is within its limits: {of}.\n"),
        0 => format!("{checked_what}\n"),
        failing => format!("{checked_what} **{failing} of {of} do not pass.**\n"),
    }
}

fn section(cause: &Cause<'_>) -> String {
    let mut out = String::new();
    let cells = cause.cells();
    match (&cause.what, cause.place) {
        (Some(what), Some(at)) => {
            let first = cells.first().copied().unwrap_or_default();
            let _ = writeln!(out, "\n### {}", text(&capital(what)));
            let _ = writeln!(out, "\n{}", where_first(&cells, &format!("{} of `{}`", place(at), code(first))));
        }
        _ => out += "\n### Other figures\n",
    }
    for group in &cause.groups {
        out += &group_text(group);
    }
    cause.whys().into_iter().for_each(|why| out += &format!("\nWhy there is a limit: {}.\n", text(why.trim_end_matches('.'))));
    out
}

fn where_first(cells: &[&str], place: &str) -> String {
    match cells.len() {
        1 => format!("This is the first thing that differs: {place}."),
        many => format!("This is the first thing that differs in {many} cells; in the first of them it stands in {place}."),
    }
}

fn group_text(group: &Group<'_>) -> String {
    let limits = if group.limits.is_empty() { String::new() } else { format!(": {}", text(&group.limits.join(", "))) };
    let mut out = format!("\n**{} {}**{limits}", group.verdicts, text(&group.title));
    if group.is_unmoved() {
        let _ = writeln!(out, ". The value is the accepted one in {}.", counted(group.rows.len(), "cell"));
        return out;
    }
    out += "\n\n| cell | accepted | now | change | where |\n| --- | ---: | ---: | ---: | --- |\n";
    for row in group.rows.iter().take(ROWS) {
        let moved = movement(row).map_or(String::new(), |moved| format!("**{moved}**"));
        let place = growth(row).or_else(|| row.remark.clone()).unwrap_or_default();
        let _ = writeln!(out, "| `{}` | {} | {} | {moved} | {} |", code(&row.cell), value(row.accepted), value(row.value), text(&place));
    }
    if group.rows.len() > ROWS {
        let _ = writeln!(out, "\nand {} more.", group.rows.len() - ROWS);
    }
    out
}

fn ending(checked: &Checked) -> String {
    let mut out = String::new();
    let told = checked.rows.iter().find(|row| row.accepted.is_some() && row.value.is_some() && super::words::is_told(row));
    let absolute = checked.rows.iter().any(|row| row.verdicts.iter().any(|verdict| matches!(verdict, Verdict::Over | Verdict::Under)));
    if let Some(row) = told {
        let _ = write!(
            out,
            "\nTo see every request beside the accepted one:\n\n```sh\n{}\n```\n\nIf the change is wanted, accept it and commit `{}`:\n\n```sh\n{}\n```\n",
            look(&row.cell),
            checked.lock_file,
            accept(
                checked
                    .rows
                    .iter()
                    .filter(|row| super::words::is_told(row))
                    .map(|row| row.cell.as_str())
                    .collect::<std::collections::BTreeSet<_>>()
            ),
        );
        if absolute {
            let _ =
                writeln!(out, "\nWhat is OVER or UNDER is not accepted: its max or min in `{}` has to change first.", checked.budgets_file);
        }
    } else if checked.rows.iter().any(|row| matches!(row.worst(), Verdict::New | Verdict::Gone)) {
        let _ = write!(out, "\nTo accept what was measured, and commit `{}`:\n\n```sh\nctxbench check --accept\n```\n", checked.lock_file);
    }
    let mut metrics: Vec<String> = Vec::new();
    for metric in checked.rows.iter().filter(|row| super::words::is_told(row)).filter_map(|row| row.metric) {
        let line = format!("{}: {}", metric.name, metric.about);
        if !metrics.contains(&line) {
            metrics.push(line);
        }
    }
    if !metrics.is_empty() {
        let _ = write!(out, "\n{}.\n", text(&metrics.join(" · ")));
    }
    let meanings: Vec<String> = checked
        .counts()
        .iter()
        .filter(|(verdict, _)| !matches!(verdict, Verdict::Ok | Verdict::Better))
        .map(|(verdict, _)| format!("{}: {}", verdict.name(), verdict.about()))
        .collect();
    if !meanings.is_empty() {
        let _ = write!(out, "\n{}.\n", meanings.join(" · "));
    }
    let _ = write!(
        out,
        "\n<sub>{} · tokens are {} · a cell is scenario/strategy/model/seed · thread / is the main agent, /1 its first sub-agent · {}</sub>\n",
        tally(checked),
        checked.tokenizer,
        super::words::last_line(checked)
    );
    out
}

fn capital(words: &str) -> String {
    let mut characters = words.chars();
    characters.next().map_or(String::new(), |first| first.to_uppercase().chain(characters).collect())
}

/// Text in a table of a page: on one line, and nothing of it is markup.
fn text(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    for c in words.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '|' | '<' | '*' | '`' | '[' | ']' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            // Names are written with it, and inside a word it is no markup.
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Text between backquotes in a table.
fn code(words: &str) -> String {
    words.replace('|', "\\|").replace('`', "'").replace(['\n', '\r'], " ")
}
