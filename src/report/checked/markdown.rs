//! A check as a page: for the comment or the job summary of a pull request, read by people who may never have seen the
//! tool.

use std::fmt::Write;

use crate::check::{Checked, Row, Verdict, exit_words};
use crate::error::Exit;

use super::causes::{Cause, causes};
use super::words::{accept, bound, counted, growth, look, movement, place, source, tally, unit, value};

/// Rows of a table that are shown; the others are counted.
const ROWS: usize = 40;

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
        out += &section(checked, &cause);
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

fn section(checked: &Checked, cause: &Cause<'_>) -> String {
    let mut out = String::new();
    match (&cause.what, cause.place) {
        (Some(what), Some(at)) => {
            let first = cause.cells.keys().next().copied().unwrap_or_default();
            let _ = writeln!(out, "\n### {}", text(&capital(what)));
            let _ = writeln!(
                out,
                "\nThis is the first difference in {}: {} of `{first}`{}.",
                counted(cause.cells.len(), "cell"),
                place(at),
                if cause.cells.len() > 1 { ", and alike in the others" } else { "" }
            );
        }
        _ => out += "\n### Other figures\n",
    }
    out += "\n| cell | figure | verdict | accepted | now | change | limit | where it changed |\n| --- | --- | --- | ---: | ---: | ---: | --- | --- |\n";
    let rows: Vec<&Row> = cause.cells.values().flatten().copied().collect();
    for row in rows.iter().take(ROWS) {
        out += &table_row(checked, row);
    }
    if rows.len() > ROWS {
        let _ = writeln!(out, "\nand {} more.", counted(rows.len() - ROWS, "figure"));
    }
    let mut whys: Vec<&str> = Vec::new();
    let exceeded = rows.iter().flat_map(|row| &row.held).filter(|held| held.verdict != Verdict::Ok);
    for why in exceeded.filter_map(|held| held.limit.why.as_deref()) {
        if !whys.contains(&why) {
            whys.push(why);
        }
    }
    whys.iter().for_each(|why| out += &format!("\nWhy there is a limit: {}\n", text(why)));
    out
}

fn table_row(checked: &Checked, row: &Row) -> String {
    let unit = unit(row);
    let name = if unit.is_empty() || row.metric.is_none() { row.name.clone() } else { format!("{} ({unit})", row.name) };
    let limits: Vec<String> = row
        .held
        .iter()
        .filter(|held| held.verdict != Verdict::Ok)
        .map(|held| format!("{} ({})", bound(held.limit.bound), source(checked, held)))
        .collect();
    let moved = movement(row).map_or(String::new(), |moved| format!("**{moved}**"));
    let place = growth(row).or_else(|| row.remark.clone()).unwrap_or_default();
    let verdicts: Vec<&str> = row.verdicts.iter().map(|verdict| verdict.name()).collect();
    format!(
        "| `{}` | {} | {} | {} | {} | {} | {} | {} |\n",
        code(&row.cell),
        text(&name),
        verdicts.join(" "),
        value(row.accepted),
        value(row.value),
        moved,
        text(&limits.join(", ")),
        text(&place),
    )
}

fn ending(checked: &Checked) -> String {
    let mut out = String::new();
    let told = checked.rows.iter().find(|row| row.accepted.is_some() && row.value.is_some() && super::words::is_told(row));
    if let Some(row) = told {
        let _ = write!(
            out,
            "\nTo see every request beside the accepted one:\n\n```sh\n{}\n```\n\nIf the change is wanted, accept it and commit `{}`:\n\n```sh\n{}\n```\n",
            look(&row.cell),
            checked.lock_file,
            accept(if checked.cells() > 1 { "*" } else { &row.cell }),
        );
    } else if checked.rows.iter().any(|row| matches!(row.worst(), Verdict::New | Verdict::Gone)) {
        let _ = write!(out, "\nTo accept what was measured, and commit `{}`:\n\n```sh\nctxbench check --accept\n```\n", checked.lock_file);
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
        "\n<sub>{} · tokens are {} · a cell is scenario/strategy/model/seed · {}</sub>\n",
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
            '|' | '<' | '>' | '*' | '`' | '[' | ']' | '\\' => {
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
