//! A check as a page: for the comment or the job summary of a pull request, read by people who may never have seen the
//! tool.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::check::{Checked, Row, Verdict, exit_words};
use crate::error::Exit;

use super::causes::{Cause, causes};
use super::commands::{accept, look, looked_at};
use super::words::{bound, counted, exact, growth, is_told, movement, place, source, tally, value};

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
    let figures = checked.rows.iter().filter(|row| !row.name.is_empty()).count();
    let of = format!("{} of {}", counted(figures, "figure"), counted(checked.cells(), "cell"));
    let checked_what = format!(
        "ctxbench ran its scenarios of agents that delegate work to sub-agents and compared what was sent to the models with the values \
         that were accepted in `{}`.",
        checked.about.lock_file
    );
    let fails = |row: &&Row| row.verdicts.iter().any(|verdict| verdict.exit(checked.about.locked) != Exit::Fine);
    let failing: Vec<&Row> = checked.rows.iter().filter(fails).collect();
    if failing.is_empty() {
        let well = if checked.exit() == Exit::Fine { format!(" All is within its limits: {of}.") } else { String::new() };
        return format!("{checked_what}{well}\n");
    }
    // A figure that did not move is not told as one that did.
    let same = failing.iter().filter(|row| row.worst() == Verdict::Stale && row.value == row.accepted).count();
    let count = |verdict: Verdict| failing.iter().filter(|row| row.worst() == verdict).count();
    let moved = Verdict::ALL.into_iter().map(|verdict| (verdict, count(verdict) - if verdict == Verdict::Stale { same } else { 0 }));
    let mut parts: Vec<String> =
        moved.filter(|(_, count)| *count > 0).map(|(verdict, count)| format!("{count} {}", verdict.name())).collect();
    if same > 0 {
        parts.push(format!("{same} with an unchanged value that has to be accepted again"));
    }
    format!("{checked_what} **Of {of}, these do not pass: {}.**\n", parts.join(", "))
}

fn section(cause: &Cause<'_>) -> String {
    let mut out = String::new();
    let cells = cause.cells();
    match (&cause.what, cause.place) {
        (Some(what), Some(at)) => {
            let first = code(cells.first().copied().unwrap_or_default());
            let _ = writeln!(out, "\n### {}", text(&capital(what)));
            let _ = match cells.len() {
                1 => writeln!(out, "\nThis is the first thing that differs in `{first}`: it stands in {}.", place(at)),
                many => {
                    writeln!(out, "\nThis is the first thing that differs in {many} cells. In `{first}` it stands in {}.", place(at))
                }
            };
        }
        _ => out += "\n### Other figures\n",
    }
    let rows = || cause.groups.iter().flat_map(|group| group.rows.iter().copied());
    let mut titles: Vec<&str> = Vec::new();
    for group in &cause.groups {
        if !titles.contains(&group.title.as_str()) {
            titles.push(&group.title);
        }
    }
    // What is true of all rows is said once, below.
    let all_stale = rows().all(|row| row.verdicts.contains(&Verdict::Stale));
    for title in titles {
        let of_title = cause.groups.iter().filter(|group| group.title == title).flat_map(|group| group.rows.iter().copied());
        out += &figures_text(title, &of_title.collect::<Vec<_>>(), all_stale);
    }
    cause.whys().into_iter().for_each(|why| out += &format!("\nWhat these limits are for: {}.\n", text(why.trim_end_matches('.'))));
    if all_stale {
        out += "\nAll of these figures are also STALE: they were accepted for another content of the scenario, the strategy or the settings, \
                and have to be accepted again, moved or not.\n";
    }
    out
}

/// A table of one metric.
fn figures_text(title: &str, rows: &[&Row], all_stale: bool) -> String {
    let about = rows.iter().find_map(|row| row.metric).map_or(String::new(), |metric| format!(": {}", metric.about));
    let mut out = format!("\n**{}**{}", text(title), text(&about));
    if rows.iter().all(|row| row.value.is_some() && row.value == row.accepted && row.remark.is_none()) {
        let _ = writeln!(out, ". It did not move in {}.", counted(rows.len(), "cell"));
        return out;
    }
    out += "\n\n| cell | verdict | accepted | now | change | beyond | where |\n| --- | --- | ---: | ---: | ---: | --- | --- |\n";
    for row in rows.iter().take(ROWS) {
        let verdicts = row.verdicts.iter().filter(|verdict| !all_stale || **verdict != Verdict::Stale || row.verdicts.len() == 1);
        let verdicts: Vec<&str> = verdicts.map(|verdict| verdict.name()).collect();
        let moved = movement(row).map_or(String::new(), |moved| format!("**{moved}**"));
        let beyond = row.held.iter().filter(|held| held.verdict != Verdict::Ok);
        let beyond: Vec<String> = beyond.map(|held| format!("{} by {}", bound(held.limit.bound), exact(held.beyond))).collect();
        let place = growth(row).or_else(|| row.remark.clone()).unwrap_or_default();
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} | {moved} | {} | {} |",
            code(&row.cell),
            verdicts.join(" "),
            value(row.accepted),
            value(row.value),
            text(&beyond.join("; ")),
            text(&place)
        );
    }
    if rows.len() > ROWS {
        let _ = writeln!(out, "\nand {} more.", rows.len() - ROWS);
    }
    out
}

fn ending(checked: &Checked) -> String {
    let told = || checked.rows.iter().filter(|row| is_told(row));
    let mut out = String::new();
    if let Some(row) = looked_at(told()) {
        let _ = write!(out, "\nTo see every request beside the accepted one:\n\n```sh\n{}\n```\n", look(checked, &row.cell));
    }
    if told().any(|row| row.accepted.is_some() && row.value.is_some()) {
        out += "\nIf the change is not wanted, take it back; `ctxbench check` passes again then.\n";
    }
    let absolute = |row: &&Row| row.verdicts.iter().any(|verdict| matches!(verdict, Verdict::Over | Verdict::Under));
    let held = told().filter(absolute).flat_map(|row| row.held.iter().map(move |held| (row, held)));
    for (row, held) in held.filter(|(_, held)| matches!(held.verdict, Verdict::Over | Verdict::Under)).take(ROWS) {
        let _ = writeln!(
            out,
            "\nIf {} of `{}` shall be {}, first change {} in {}. Until then its accepted value stays; all else can be accepted.",
            text(&row.name),
            code(&row.cell),
            value(row.value),
            bound(held.limit.bound),
            text(&source(checked, held)),
        );
    }
    let nothing = checked.troubles.iter().any(|trouble| trouble.exit == Exit::NothingChecked);
    if !nothing && told().any(|row| !matches!(row.worst(), Verdict::Failed | Verdict::Unmeasured | Verdict::Warn)) {
        let cells: BTreeSet<&str> = told().map(|row| row.cell.as_str()).collect();
        let _ = write!(
            out,
            "\nIf the change is wanted, accept it and commit `{}`:\n\n```sh\n{}\n```\n",
            checked.about.lock_file,
            accept(checked, cells)
        );
    }
    let meanings: Vec<String> = Verdict::ALL
        .into_iter()
        .filter(|verdict| told().any(|row| row.verdicts.contains(verdict)) && !matches!(verdict, Verdict::Ok | Verdict::Better))
        .map(|verdict| format!("{}: {}", verdict.name(), verdict.about()))
        .collect();
    if !meanings.is_empty() {
        let _ = write!(
            out,
            "\n{}. Limits without a line of their own are the defaults of `{}`, from the accepted value. A cell is \
             scenario/strategy/model/seed; thread / is the main agent, /1 its first sub-agent; requests are numbered from 0 in order of \
             sending, over all agents of the cell.\n",
            meanings.join(" · "),
            checked.about.budgets_file
        );
    }
    let _ = write!(
        out,
        "\n<sub>by the worst verdict of each: {} · token counts are of the encoding {} · {}</sub>\n",
        tally(checked),
        checked.about.tokenizer,
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
