//! `diff`: two runs beside each other, for people and for programs.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};
use serde_json::{Value, json};

use crate::compare::{Compared, LEVEL, Row, Saying};
use crate::metrics::Unit;
use crate::results::Number;

use super::Format;
use super::folded::folded;
use super::numerals::{count, dollars, few, seconds, share};

/// The version of `diff --format json`.
pub const DIFF_FORMAT: &str = "ctxbench-diff/1";

/// What is compared with what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sides {
    /// The run on the left, as it was given.
    pub left: String,
    /// The run on the right.
    pub right: String,
    /// The encoding of all token figures.
    pub tokenizer: String,
    /// What must be known of the runs: that one of them is not whole, say.
    pub notes: Vec<String>,
}

/// The comparison in a format; `None`: that one is not written.
pub fn compared(compared: &Compared, sides: &Sides, format: Format) -> Option<String> {
    match format {
        Format::Human => Some(human(compared, sides)),
        Format::Markdown => Some(markdown(compared, sides)),
        Format::Json => serde_json::to_string_pretty(&document(compared, sides)).ok().map(|text| text + "\n"),
        Format::Csv => csv(compared),
        _ => None,
    }
}

const WIDTH: usize = 80;

fn number(row: &Row, value: f64) -> String {
    match row.metric.unit {
        Unit::Milliseconds if value.abs() < 100.0 && value != 0.0 => format!("{value:.1} ms"),
        Unit::Milliseconds => format!("{} s", seconds(value)),
        Unit::Ratio => share(value),
        Unit::Usd => dollars(value),
        // A small difference is not written as none.
        Unit::Tokens if value.abs() < 0.95 => few(value),
        Unit::Tokens => count(value),
        _ => few(value),
    }
}

fn signed(row: &Row, value: f64) -> String {
    let text = number(row, value);
    if value > 0.0 { format!("+{text}") } else { text }
}

fn interval(row: &Row) -> String {
    match row.comparison.difference.interval() {
        Ok(interval) => format!("{} to {}", signed(row, interval.low), signed(row, interval.high)),
        Err(_) if row.saying() == Saying::Same => String::new(),
        Err(_) => "–".to_owned(),
    }
}

fn p(row: &Row) -> String {
    match row.corrected {
        Some(p) if p < 0.001 => "<0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
        None => String::new(),
    }
}

fn strategy(row: &Row) -> String {
    let name = if row.left == row.right { row.left.clone() } else { format!("{} → {}", row.left, row.right) };
    if row.evidence.0 == row.evidence.1 { name } else { format!("{name} [{} → {}]", row.evidence.0.name(), row.evidence.1.name()) }
}

fn cells(row: &Row) -> Vec<String> {
    vec![
        strategy(row),
        number(row, row.means.0),
        number(row, row.means.1),
        signed(row, row.comparison.difference.mean()),
        interval(row),
        format!("{}/{}/{}", row.comparison.wins, row.comparison.ties, row.comparison.losses),
        p(row),
        row.saying().name().to_owned(),
    ]
}

const HEADS: [&str; 8] = ["strategy", "left", "right", "change", "95 % interval", "win/tie/loss", "p", ""];

/// The rows of each metric that anything can be said of; the number of those that are the same everywhere.
fn by_metric(compared: &Compared) -> Vec<(&'static str, Vec<&Row>, usize)> {
    let mut groups: Vec<(&'static str, Vec<&Row>, usize)> = Vec::new();
    for row in &compared.rows {
        let at = groups.iter().position(|group| group.0 == row.metric.name).unwrap_or_else(|| {
            groups.push((row.metric.name, vec![], 0));
            groups.len() - 1
        });
        match row.saying() {
            Saying::Same => groups[at].2 += 1,
            _ => groups[at].1.push(row),
        }
    }
    groups
}

fn notes(compared: &Compared, sides: &Sides) -> Vec<String> {
    let few = |cells: &[String]| {
        let shown = cells.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
        if cells.len() > 3 { format!("{shown} and {} more", cells.len() - 3) } else { shown }
    };
    let mut notes = vec![format!(
        "{} pairs of the same scenario, model and seed; {} of them have the same fingerprint. Change is right less left: seeds are averaged \
         first, then scenarios; intervals and tests take families of scenarios for their samples. p is the mid-p value of a sign-flip \
         test, corrected (Holm) for the strategies compared in that metric; above {LEVEL} chance could be the reason. Where values spread by \
         factors, a test may see a direction that an interval of the mean cannot. Wins are pairs in which \
         the right side is better. Tokens: {}.",
        compared.pairs, compared.identical, sides.tokenizer
    )];
    notes.extend(sides.notes.iter().cloned());
    if compared.rows.iter().any(|row| row.saying() == Saying::TooFew) {
        notes.push("too few: so few families of scenarios differ that no difference could be told from chance.".to_owned());
    }
    notes.extend(compared.unmeasured.iter().cloned());
    let mut told = |cells: &[String], what: &str| {
        if !cells.is_empty() {
            notes.push(format!("{} {what}: {}", cells.len(), few(cells)));
        }
    };
    told(&compared.left_only, "cells are on the left alone, and in no figure");
    told(&compared.right_only, "cells are on the right alone, and in no figure");
    told(&compared.failed, "pairs have a side that failed unexpectedly: only quality and failures count them");
    notes
}

fn human(compared: &Compared, sides: &Sides) -> String {
    let mut out = format!("left   {}\nright  {}\n", sides.left, sides.right);
    for (metric, rows, same) in by_metric(compared) {
        let _ = writeln!(out, "\n{metric}");
        if same > 0 {
            let _ = writeln!(out, "  the same everywhere under {same} {}", if same == 1 { "strategy" } else { "strategies" });
        }
        if rows.is_empty() {
            continue;
        }
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_header(HEADS);
        rows.iter().for_each(|row| {
            table.add_row(cells(row));
        });
        for (at, column) in table.column_iter_mut().enumerate() {
            column.set_padding((if at == 0 { 0 } else { 2 }, 0));
            if (1..7).contains(&at) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.lines().for_each(|line| out += &format!("  {}\n", line.trim_end()));
    }
    out.push('\n');
    for note in notes(compared, sides) {
        folded(&note, WIDTH).iter().for_each(|line| out += &format!("{line}\n"));
    }
    out
}

fn markdown(compared: &Compared, sides: &Sides) -> String {
    let mut out = format!("left: `{}` · right: `{}`\n", sides.left, sides.right);
    for (metric, rows, same) in by_metric(compared) {
        let _ = writeln!(out, "\n### {metric}");
        if same > 0 {
            let _ = writeln!(out, "\nThe same everywhere under {same} {}.", if same == 1 { "strategy" } else { "strategies" });
        }
        if rows.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n| {} |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |", HEADS.join(" | "));
        rows.iter().for_each(|row| out += &format!("| {} |\n", cells(row).join(" | ").replace('<', "\\<")));
    }
    for note in notes(compared, sides) {
        let _ = writeln!(out, "\n{note}");
    }
    out
}

/// A figure as results write it.
fn exact(value: f64) -> Value {
    Number::real(value).and_then(|number| serde_json::to_value(number).ok()).unwrap_or_default()
}

fn document(compared: &Compared, sides: &Sides) -> Value {
    let rows: Vec<Value> = compared
        .rows
        .iter()
        .map(|row| {
            let difference = &row.comparison.difference;
            let interval = difference.interval();
            json!({
                "metric": row.metric.name, "unit": row.metric.unit.name(), "better": row.metric.better.name(),
                "left": row.left, "right": row.right, "model": row.model,
                "evidence": [row.evidence.0.name(), row.evidence.1.name()],
                "mean_left": exact(row.means.0), "mean_right": exact(row.means.1), "difference": exact(difference.mean()),
                "low": interval.ok().map(|one| exact(one.low)), "high": interval.ok().map(|one| exact(one.high)),
                "method": interval.ok().map(|one| one.method.name()), "no_interval": interval.err().map(|why| why.to_string()),
                "scenarios": difference.scenarios(), "families": difference.families(),
                "wins": row.comparison.wins, "ties": row.comparison.ties, "losses": row.comparison.losses,
                "p": exact(row.comparison.test.mid_p), "p_corrected": row.corrected.map(exact), "saying": row.saying().name(),
            })
        })
        .collect();
    json!({
        "format": DIFF_FORMAT, "ctxbench": env!("CARGO_PKG_VERSION"), "left": sides.left, "right": sides.right,
        "tokenizer": sides.tokenizer, "level": LEVEL, "pairs": compared.pairs, "identical": compared.identical,
        "unmeasured": compared.unmeasured, "left_only": compared.left_only, "right_only": compared.right_only, "failed": compared.failed,
        "notes": sides.notes, "rows": rows,
    })
}

fn csv(compared: &Compared) -> Option<String> {
    let mut writer = ::csv::Writer::from_writer(vec![]);
    let heads = [
        "metric",
        "left",
        "right",
        "model",
        "mean_left",
        "mean_right",
        "difference",
        "low",
        "high",
        "wins",
        "ties",
        "losses",
        "p_corrected",
        "saying",
    ];
    writer.write_record(heads).ok()?;
    let number = |value: f64| exact(value).to_string();
    for row in &compared.rows {
        let interval = row.comparison.difference.interval().ok();
        writer
            .write_record([
                row.metric.name.to_owned(),
                row.left.clone(),
                row.right.clone(),
                row.model.clone(),
                number(row.means.0),
                number(row.means.1),
                number(row.comparison.difference.mean()),
                interval.map_or(String::new(), |one| number(one.low)),
                interval.map_or(String::new(), |one| number(one.high)),
                row.comparison.wins.to_string(),
                row.comparison.ties.to_string(),
                row.comparison.losses.to_string(),
                row.corrected.map_or(String::new(), number),
                row.saying().name().to_owned(),
            ])
            .ok()?;
    }
    String::from_utf8(writer.into_inner().ok()?).ok()
}
