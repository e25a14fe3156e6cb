//! `check --format json`: all of a check.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::check::{Bound, Change, Checked, Held, Mark, Millionths, Place, Row, Split, Verdict, exit_words};
use crate::error::Exit;
use crate::results::Number;

use super::words;

/// The version of the document.
pub const CHECK_FORMAT: &str = "ctxbench-check/1";

#[derive(Serialize, JsonSchema)]
struct Document {
    /// `ctxbench-check/1`.
    format: &'static str,
    /// The version of ctxbench that wrote it.
    ctxbench: &'static str,
    /// The encoding of every token figure.
    tokenizer: String,
    /// Whether what cannot be compared fails.
    locked: bool,
    /// Whether limits of level `warn` fail.
    strict: bool,
    /// The budgets' file.
    budgets: String,
    /// The lock, or the revision that it was read from; null: there is none yet.
    lock: Option<String>,
    /// The process's exit code.
    exit: u8,
    /// What it means.
    meaning: &'static str,
    /// Every exit code that applies, the one that wins first; empty: it passes.
    exits: Vec<ExitNote>,
    /// How many figures have each verdict as their worst, worst first.
    verdicts: BTreeMap<&'static str, usize>,
    /// The budgets, in the order of the file.
    matched: Vec<BudgetNote>,
    /// What concerns no single figure.
    troubles: Vec<TroubleNote>,
    /// The figures, by cell and metric.
    rows: Vec<RowNote>,
}

#[derive(Serialize, JsonSchema)]
struct ExitNote {
    code: u8,
    meaning: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct BudgetNote {
    /// Its line in the budgets' file.
    line: u32,
    /// What it names.
    names: String,
    /// How many cells it matched.
    cells: usize,
}

#[derive(Serialize, JsonSchema)]
struct TroubleNote {
    exit: u8,
    /// The line of the budgets' file that it is about.
    line: Option<u32>,
    message: String,
}

#[derive(Serialize, JsonSchema)]
struct RowNote {
    cell: String,
    /// Null: the row is about the whole cell, which failed.
    metric: Option<String>,
    /// What the numbers count.
    unit: Option<&'static str>,
    /// The worst verdict.
    verdict: &'static str,
    /// All verdicts, worst first.
    verdicts: Vec<&'static str>,
    /// Null: it was not measured, or is not there any more.
    value: Option<Number>,
    /// Null: nothing was accepted.
    accepted: Option<Number>,
    /// The value less the accepted one.
    difference: Option<Number>,
    limits: Vec<LimitNote>,
    /// Where the figure's tokens stand, by origin and `output`; null: it is no sum over parts of requests.
    by_origin: Option<Split>,
    /// What it has more of than was accepted, by origin.
    growth: Option<Split>,
    /// Where the cell first differs from what was accepted.
    first: Option<PlaceNote>,
    /// Why it has no value, why its cell failed, what it may have been renamed to.
    remark: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct LimitNote {
    /// `max`, `min`, `grow` or `drop`.
    kind: &'static str,
    /// What it says: a number, or `1%`.
    limit: String,
    /// `error` or `warn`.
    level: &'static str,
    /// Its line in the budgets' file; null: it was typed.
    line: Option<u32>,
    /// Whether the file's defaults say it.
    by_default: bool,
    why: Option<String>,
    /// `ok`, or what is wrong, whatever the level.
    verdict: &'static str,
    /// By how much the figure is beyond it.
    beyond: Number,
}

#[derive(Serialize, JsonSchema)]
struct PlaceNote {
    /// The request's number in the cell.
    request: u32,
    /// Its thread.
    thread: String,
    /// The item's place among the request's items, from 0; null: the system text, a tool, or no piece at all differs.
    item: Option<usize>,
    /// `changed`, `added`, `removed`, `reply`, `frame`, `new_request` or `gone_request`.
    change: &'static str,
    /// The piece before.
    before: Option<PieceNote>,
    /// The piece now.
    now: Option<PieceNote>,
    /// The same in words.
    words: String,
}

#[derive(Serialize, JsonSchema)]
struct PieceNote {
    what: String,
    origin: &'static str,
    /// Null: unknown.
    tokens: Option<u64>,
}

/// The document.
pub fn document(checked: &Checked) -> String {
    let exits = checked.exits();
    let document = Document {
        format: CHECK_FORMAT,
        ctxbench: env!("CARGO_PKG_VERSION"),
        tokenizer: checked.about.tokenizer.clone(),
        locked: checked.about.locked,
        strict: checked.about.strict,
        budgets: checked.about.budgets_file.clone(),
        lock: checked.about.has_lock.then(|| checked.about.lock_file.clone()),
        exit: checked.exit() as u8,
        meaning: exit_words(checked.exit()),
        exits: exits.into_iter().map(|exit: Exit| ExitNote { code: exit as u8, meaning: exit_words(exit) }).collect(),
        verdicts: checked.counts().into_iter().map(|(verdict, count)| (verdict.name(), count)).collect(),
        matched: checked.matched.iter().map(|one| BudgetNote { line: one.line, names: one.names.clone(), cells: one.cells }).collect(),
        troubles: checked
            .troubles
            .iter()
            .map(|one| TroubleNote { exit: one.exit as u8, line: one.line, message: one.message.clone() })
            .collect(),
        rows: checked.rows.iter().map(row).collect(),
    };
    // String keys and numbers alone, which can always be written.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

/// Its schema.
pub fn check_schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(Document);
    schema.insert("title".into(), CHECK_FORMAT.into());
    schema.to_value()
}

fn row(row: &Row) -> RowNote {
    let difference = row.value.zip(row.accepted).and_then(|(value, accepted)| match (value, accepted) {
        (Number::Whole(value), Number::Whole(accepted)) => value.checked_sub(accepted).map(Number::Whole),
        _ => Number::real(value.value() - accepted.value()),
    });
    RowNote {
        cell: row.cell.clone(),
        metric: (!row.name.is_empty()).then(|| row.name.clone()),
        unit: row.metric.map(|metric| metric.unit.name()),
        verdict: row.worst().name(),
        verdicts: row.verdicts.iter().map(|verdict| verdict.name()).collect(),
        value: row.value,
        accepted: row.accepted,
        difference,
        limits: row.held.iter().map(limit).collect(),
        by_origin: row.split.clone(),
        growth: row.growth.clone(),
        first: row.place.as_ref().map(place),
        remark: row.remark.clone(),
    }
}

fn limit(held: &Held) -> LimitNote {
    let (kind, limit) = match held.limit.bound {
        Bound::Max(max) => ("max", max.to_string()),
        Bound::Min(min) => ("min", min.to_string()),
        Bound::Grow(by) => ("grow", by.to_string()),
        Bound::Drop(by) => ("drop", by.to_string()),
    };
    LimitNote {
        kind,
        limit,
        level: held.limit.level.name(),
        line: held.limit.line,
        by_default: held.limit.by_default,
        why: held.limit.why.clone(),
        verdict: if held.beyond > 0 { held.verdict.name() } else { Verdict::Ok.name() },
        beyond: number(held.beyond),
    }
}

/// Millionths as a number of the results: whole where they are.
fn number(amount: Millionths) -> Number {
    let whole = (amount % 1_000_000 == 0).then(|| i64::try_from(amount / 1_000_000).ok()).flatten();
    whole.map_or_else(|| Number::real(amount as f64 / 1e6).unwrap_or(Number::Whole(i64::MAX)), Number::Whole)
}

pub(super) fn place_value(at: &Place) -> serde_json::Value {
    serde_json::to_value(place(at)).unwrap_or_default()
}

fn place(place: &Place) -> PlaceNote {
    let piece = |mark: &Mark| PieceNote { what: mark.what.clone(), origin: mark.origin.name(), tokens: mark.tokens };
    let (change, before, now) = match &place.change {
        Change::Changed(before, now) => ("changed", Some(piece(before)), Some(piece(now))),
        Change::Added(now) => ("added", None, Some(piece(now))),
        Change::Removed(before) => ("removed", Some(piece(before)), None),
        Change::Reply(..) => ("reply", None, None),
        Change::Frame(..) => ("frame", None, None),
        Change::NewRequest => ("new_request", None, None),
        Change::GoneRequest => ("gone_request", None, None),
    };
    PlaceNote {
        request: place.request,
        thread: place.thread.clone(),
        item: place.item,
        change,
        before,
        now,
        words: words::change(&place.change),
    }
}
