//! `sweep`: what a parameter does to each strategy, for people and for programs.

use std::collections::BTreeMap;
use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};
use serde_json::{Value, json};

use crate::metrics::{Metric, Unit};
use crate::results::Number;
use crate::sweep::{Change, Curve, best, changes};

use super::Format;
use super::folded::folded;
use super::numerals::{count, dollars, few, seconds, share};

/// The version of `sweep --format json`.
pub const SWEEP_FORMAT: &str = "ctxbench-sweep/1";

/// A sweep that was measured.
#[derive(Clone, Debug)]
pub struct Swept {
    /// The scenario.
    pub scenario: String,
    /// The parameter.
    pub key: String,
    /// The value that the scenario itself has.
    pub own: Option<i64>,
    /// The strategies.
    pub strategies: Vec<String>,
    /// Each metric with its figures by value.
    pub curves: Vec<(&'static Metric, Curve)>,
    /// What produced the behaviour, in a few words.
    pub evidence: String,
    /// The encoding of all token figures.
    pub tokenizer: String,
    /// Why metrics have no figure at some value, by metric.
    pub unmeasured: BTreeMap<String, String>,
    /// What must be known beside the figures: values that could not be measured.
    pub notes: Vec<String>,
}

/// The sweep in a format; `None`: that one is not written.
pub fn swept(swept: &Swept, format: Format) -> Option<String> {
    match format {
        Format::Human => Some(human(swept)),
        Format::Markdown => Some(markdown(swept)),
        Format::Json => serde_json::to_string_pretty(&document(swept)).ok().map(|text| text + "\n"),
        Format::Csv => csv(swept),
        _ => None,
    }
}

fn written(metric: &Metric, value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| match metric.unit {
        Unit::Milliseconds => format!("{} s", seconds(value)),
        Unit::Ratio => share(value),
        Unit::Usd => dollars(value),
        Unit::Tokens => count(value),
        _ => few(value),
    })
}

/// Strategies in a row, so that a line of them can be read.
fn named(swept: &Swept, numbers: &[usize]) -> String {
    let names: Vec<&str> = numbers.iter().filter_map(|at| swept.strategies.get(*at)).map(String::as_str).collect();
    match names.len() {
        0 => "nobody".to_owned(),
        many if many == swept.strategies.len() && many > 1 => "all alike".to_owned(),
        _ => names.join(" and "),
    }
}

/// Why no strategy is the best at any value.
fn nobody(swept: &Swept, metric: &Metric, curve: &Curve) -> String {
    if curve.values().flatten().any(Option::is_some) {
        return "no direction is better, so nobody is the best".to_owned();
    }
    let reason = swept.unmeasured.get(metric.name).map_or("every run failed", String::as_str);
    format!("no strategy has a figure at any value: {reason}")
}

fn change_text(swept: &Swept, change: &Change) -> String {
    let between = if change.to.abs_diff(change.from) == 1 {
        format!("up to {} = {} the best is {}, from {} on", swept.key, change.from, named(swept, &change.before), change.to)
    } else {
        format!("the best changes between {} = {} ({}) and {}:", swept.key, change.from, named(swept, &change.before), change.to)
    };
    format!("{between} {}", named(swept, &change.behind))
}

/// Where the winner changes, in sentences; that it never does is one.
fn changes_text(swept: &Swept, metric: &Metric, curve: &Curve) -> Vec<String> {
    let changes = changes(curve, metric);
    if changes.is_empty() {
        let always = curve.values().next().map(|figures| best(figures, metric.better)).unwrap_or_default();
        if always.is_empty() {
            return vec![nobody(swept, metric, curve)];
        }
        if always.len() == swept.strategies.len() && always.len() > 1 {
            return vec!["all are alike at every value".to_owned()];
        }
        return vec![format!("the best is {} at every value", named(swept, &always))];
    }
    changes.iter().map(|change| change_text(swept, change)).collect()
}

/// The rows of a table: values down, strategies across, the best marked.
fn rows(swept: &Swept, metric: &Metric, curve: &Curve) -> Vec<Vec<String>> {
    let row = |(value, figures): (&i64, &Vec<Option<f64>>)| {
        let best = best(figures, metric.better);
        let all = best.len() == swept.strategies.len();
        let mark = |at: usize| if best.contains(&at) && !all { "*" } else { " " };
        let figures = figures.iter().enumerate().map(|(at, figure)| format!("{}{}", written(metric, *figure), mark(at)));
        std::iter::once(value.to_string()).chain(figures).collect()
    };
    curve.iter().map(row).collect()
}

/// Columns of strategies that a page of a terminal holds beside each other.
const ACROSS: usize = 5;

fn human(swept: &Swept) -> String {
    let own = swept.own.map_or(String::new(), |own| format!(" (its own: {own})"));
    let mut out = format!("{} · {}{own}\n", swept.scenario, swept.key);
    for (at, strategy) in swept.strategies.iter().enumerate() {
        let _ = writeln!(out, "  {}  {strategy}", letter(at));
    }
    for (metric, curve) in &swept.curves {
        let _ = writeln!(out, "\n{}", metric.name);
        for line in changes_text(swept, metric, curve) {
            folded(&line, 78).iter().for_each(|line| out += &format!("  {line}\n"));
        }
        // Where one figure stands in every place, the sentence says it all.
        let mut figures = curve.values().flatten();
        let first = figures.next();
        if figures.all(|figure| Some(figure) == first) {
            continue;
        }
        let rows = rows(swept, metric, curve);
        for from in (0..swept.strategies.len()).step_by(ACROSS) {
            let to = (from + ACROSS).min(swept.strategies.len());
            let mut table = Table::new();
            table.load_style(presets::NOTHING);
            table.set_header(std::iter::once(swept.key.clone()).chain((from..to).map(|at| format!("{} ", letter(at)))));
            for row in &rows {
                table.add_row(row.iter().take(1).chain(row.iter().skip(1 + from).take(to - from)));
            }
            for column in table.column_iter_mut() {
                column.set_padding((2, 0));
                column.set_cell_alignment(CellAlignment::Right);
            }
            table.lines().for_each(|line| out += &format!("{}\n", line.trim_end()));
        }
    }
    let _ = writeln!(out, "\n* the best of its line. Evidence: {}. Tokens: {}.", swept.evidence, swept.tokenizer);
    swept.notes.iter().for_each(|note| folded(note, 80).iter().for_each(|line| out += &format!("{line}\n")));
    out
}

/// A short name of a strategy in a table.
fn letter(at: usize) -> String {
    let letter = char::from(b'A' + (at % 26) as u8);
    if at < 26 { letter.to_string() } else { format!("{letter}{}", at / 26) }
}

fn markdown(swept: &Swept) -> String {
    let mut out = format!("`{}`, `{}` varied\n", swept.scenario, swept.key);
    for (metric, curve) in &swept.curves {
        let _ = writeln!(out, "\n### {}\n", metric.name);
        changes_text(swept, metric, curve).iter().for_each(|line| out += &format!("- {line}\n"));
        let heads: Vec<String> = swept.strategies.iter().map(|strategy| format!("`{strategy}`")).collect();
        let _ = writeln!(out, "\n| {} | {} |", swept.key, heads.join(" | "));
        let _ = writeln!(out, "| ---: |{}", " ---: |".repeat(heads.len()));
        rows(swept, metric, curve).iter().for_each(|row| out += &format!("| {} |\n", row.join(" | ").replace('*', "\\*")));
    }
    swept.notes.iter().for_each(|note| out += &format!("\n{note}\n"));
    out
}

fn exact(value: Option<f64>) -> Value {
    value.and_then(Number::real).and_then(|number| serde_json::to_value(number).ok()).unwrap_or_default()
}

fn document(swept: &Swept) -> Value {
    let names = |numbers: &[usize]| -> Vec<&String> { numbers.iter().filter_map(|at| swept.strategies.get(*at)).collect() };
    let metrics: Vec<Value> = swept
        .curves
        .iter()
        .map(|(metric, curve)| {
            let points: Vec<Value> = curve
                .iter()
                .map(|(value, figures)| {
                    let figures: Vec<Value> = figures.iter().map(|figure| exact(*figure)).collect();
                    json!({"value": value, "figures": figures, "best": names(&best(&curve[value], metric.better))})
                })
                .collect();
            let changes: Vec<Value> = changes(curve, metric)
                .iter()
                .map(|change| json!({"from": change.from, "to": change.to, "before": names(&change.before), "behind": names(&change.behind)}))
                .collect();
            json!({"metric": metric.name, "unit": metric.unit.name(), "better": metric.better.name(), "points": points, "changes": changes})
        })
        .collect();
    json!({
        "format": SWEEP_FORMAT, "ctxbench": env!("CARGO_PKG_VERSION"), "scenario": swept.scenario, "key": swept.key, "own": swept.own,
        "strategies": swept.strategies, "tokenizer": swept.tokenizer, "metrics": metrics, "unmeasured": swept.unmeasured,
        "notes": swept.notes,
    })
}

fn csv(swept: &Swept) -> Option<String> {
    let mut writer = ::csv::Writer::from_writer(vec![]);
    writer.write_record(["metric", "key", "value", "strategy", "figure"]).ok()?;
    for (metric, curve) in &swept.curves {
        for (value, figures) in curve {
            for (strategy, figure) in swept.strategies.iter().zip(figures) {
                let figure = figure.and_then(Number::real).map_or(String::new(), |number| number.to_string());
                writer.write_record([metric.name, &swept.key, &value.to_string(), strategy, &figure]).ok()?;
            }
        }
    }
    String::from_utf8(writer.into_inner().ok()?).ok()
}
