//! Holds what was measured to the budgets and to what was accepted: one row a cell and metric.

use std::collections::{BTreeMap, BTreeSet};

use crate::metrics::{Better, Metric};
use crate::plan::CellId;
use crate::results::{CellResult, Number, Parting, Status};

use super::allowance::{Allowance, Millionths, ONE, millionths};
use super::budget::{Bound, Budget, Budgets, Level, Limit, Typed};
use super::checked::{About, Checked, Held, Matched, Row};
use super::choice::Choice;
use super::difference::{Place, first_place};
use super::lock::{Figure, Lock};
use super::renamed::say_renamed;
use super::split::{Split, growth};
use super::trail::Trail;
use super::troubles::{other_tokenizer, troubles};
use super::verdict::Verdict;

/// A cell that was run, with all that a check needs of it.
#[derive(Clone, Debug)]
pub struct MeasuredCell {
    /// Its id.
    pub id: CellId,
    /// Its figures.
    pub result: CellResult,
    /// What its requests held.
    pub trail: Trail,
    /// Where the tokens of its figures stand, by metric.
    pub splits: BTreeMap<&'static str, Split>,
    /// The requests that a prompt cache could have read most more of, dearest first, and where each parts from an earlier one.
    pub losses: Vec<(u32, Parting)>,
}

/// What is held to what, and how.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// What people want.
    pub budgets: &'a Budgets,
    /// What was accepted; `None`: there is no lock yet.
    pub lock: Option<&'a Lock>,
    /// What was typed beside the budgets.
    pub typed: Typed,
    /// What budgets chose from.
    pub choice: &'a Choice,
}

/// Holds cells to their budgets.
pub fn judge(cells: &[MeasuredCell], terms: Terms<'_>, about: About) -> Checked {
    let of_another = other_tokenizer(terms);
    // Tokens of two encodings are not compared, not even to say that they differ.
    let terms = Terms { lock: terms.lock.filter(|_| of_another.is_none()), ..terms };
    let mut rows = Vec::new();
    let mut matched: Vec<Matched> = terms.budgets.budgets.iter().map(matched_by).collect();
    for cell in cells {
        for (budget, matched) in terms.budgets.budgets.iter().zip(&mut matched) {
            matched.cells += usize::from(budget.names(&cell.id));
        }
        rows.extend(rows_of(cell, terms, about.strict));
    }
    rows.extend(gone(&rows, terms.lock));
    rows.sort_by(|a, b| (&a.cell, place_of(a.metric)).cmp(&(&b.cell, place_of(b.metric))));
    say_renamed(&mut rows, terms.lock);
    let mut troubles = troubles(cells, &rows, &matched, terms, about.locked);
    troubles.extend(of_another);
    Checked { about, rows, matched, troubles }
}

fn matched_by(budget: &Budget) -> Matched {
    let of = |what: &str, patterns: String| if patterns.is_empty() { String::new() } else { format!("{what} {patterns}") };
    let named =
        [of("scenario", budget.scenario.to_string()), of("strategy", budget.strategy.to_string()), of("model", budget.model.to_string())];
    let named: Vec<String> = named.into_iter().filter(|text| !text.is_empty()).collect();
    let scenarios = budget.scenario.texts().map(str::to_owned).collect();
    Matched { line: budget.line, names: named.join(", "), scenarios, cells: 0 }
}

fn place_of(metric: Option<&Metric>) -> Option<usize> {
    metric.and_then(|metric| crate::metrics::METRICS.iter().position(|one| one.name == metric.name))
}

fn rows_of(cell: &MeasuredCell, terms: Terms<'_>, strict: bool) -> Vec<Row> {
    let limits = terms.budgets.limits(&cell.id, terms.typed);
    if limits.is_empty() {
        return vec![];
    }
    if cell.result.status == Status::Failed {
        return vec![failed(cell)];
    }
    let locked = terms.lock.and_then(|lock| lock.cells.get(&cell.result.cell));
    // Comparing requests costs time and is wanted where something moved.
    let mut place: Option<Option<Place>> = None;
    let mut rows = Vec::new();
    for (metric, limits) in limits {
        let figure = locked.and_then(|locked| locked.figures.get(metric.name));
        let mut row = row_of(cell, metric, limits, figure, strict);
        let moved = figure.is_some() && (row.value != row.accepted || row.verdicts.contains(&Verdict::Stale));
        if moved && let Some(locked) = locked {
            row.place = place.get_or_insert_with(|| first_place(&locked.trail, &cell.trail)).clone();
        }
        rows.push(row);
    }
    rows
}

/// An unexpected failure leaves no figures worth holding to anything.
fn failed(cell: &MeasuredCell) -> Row {
    let why = cell.result.failure.as_ref().map(|failure| format!("{}: {}", failure.kind, failure.message));
    Row {
        cell: cell.result.cell.clone(),
        metric: None,
        name: String::new(),
        verdicts: vec![Verdict::Failed],
        value: None,
        accepted: None,
        remark: why,
        held: vec![],
        split: None,
        growth: None,
        place: None,
    }
}

fn row_of(cell: &MeasuredCell, metric: &'static Metric, limits: Vec<Limit>, figure: Option<&Figure>, strict: bool) -> Row {
    let value = cell.result.metrics.get(metric.name).copied().flatten();
    let accepted = figure.map(|figure| figure.value);
    let mut verdicts = BTreeSet::new();
    let mut held = Vec::new();
    let mut remark = None;
    match value {
        None => {
            verdicts.insert(Verdict::Unmeasured);
            let why = cell.result.unmeasured.get(metric.name).map_or("it was not measured", AsRef::as_ref);
            remark = Some(why.to_owned());
        }
        Some(value) => {
            for limit in limits {
                let one = hold(value, accepted, limit);
                if one.verdict != Verdict::Ok {
                    verdicts.insert(if one.limit.level == Level::Warn && !strict { Verdict::Warn } else { one.verdict });
                }
                held.push(one);
            }
            match figure {
                None => {
                    verdicts.insert(Verdict::New);
                }
                Some(figure) if figure.fingerprint != cell.result.fingerprint => {
                    verdicts.insert(Verdict::Stale);
                }
                Some(_) => {}
            }
        }
    }
    let moves = value.zip(accepted).map(|(value, accepted)| millionths(value) - millionths(accepted));
    let better = moves.is_some_and(|moves| match metric.better {
        Better::Lower => moves < 0,
        Better::Higher => moves > 0,
        Better::Neither => false,
    });
    if verdicts.is_empty() {
        verdicts.insert(if better { Verdict::Better } else { Verdict::Ok });
    }
    let split = cell.splits.get(metric.name).filter(|_| value.is_some()).cloned();
    let before = figure.and_then(|figure| figure.split.as_ref());
    let growth = before.zip(split.as_ref()).map(|(before, now)| growth(before, now)).filter(|growth| !growth.is_empty());
    Row {
        cell: cell.result.cell.clone(),
        metric: Some(metric),
        name: metric.name.to_owned(),
        verdicts: verdicts.into_iter().collect(),
        value,
        accepted,
        remark,
        held,
        split,
        growth,
        place: None,
    }
}

/// Holds a value to one limit. A relative one says nothing where nothing was accepted. Of a count, the share of a whole allows
/// whole numbers alone, so that nobody reads of a part of a token.
fn hold(value: Number, accepted: Option<Number>, limit: Limit) -> Held {
    let is_count = matches!(value, Number::Whole(_));
    let by = |allowance: Allowance, accepted: Millionths| {
        let by = allowance.of(accepted);
        if is_count { by - by.rem_euclid(ONE) } else { by }
    };
    let value = millionths(value);
    let (beyond, wrong) = match limit.bound {
        Bound::Max(max) => (value - millionths(max), Verdict::Over),
        Bound::Min(min) => (millionths(min) - value, Verdict::Under),
        Bound::Grow(allowance) => {
            let limit = accepted.map(millionths).map(|accepted| accepted.saturating_add(by(allowance, accepted)));
            (limit.map_or(0, |limit| value - limit), Verdict::Grew)
        }
        Bound::Drop(allowance) => {
            let limit = accepted.map(millionths).map(|accepted| accepted.saturating_sub(by(allowance, accepted)));
            (limit.map_or(0, |limit| limit - value), Verdict::Dropped)
        }
    };
    let verdict = if beyond > 0 { wrong } else { Verdict::Ok };
    Held { limit, verdict, beyond: beyond.max(0) }
}

/// What was accepted and is not there any more.
fn gone(rows: &[Row], lock: Option<&Lock>) -> Vec<Row> {
    let there: BTreeSet<(&str, &str)> = rows.iter().map(|row| (row.cell.as_str(), row.name.as_str())).collect();
    let failed: BTreeSet<&str> = rows.iter().filter(|row| row.metric.is_none()).map(|row| row.cell.as_str()).collect();
    let mut gone = Vec::new();
    for (cell, locked) in lock.iter().flat_map(|lock| &lock.cells) {
        // A cell that failed is there; it has no figures today.
        if failed.contains(cell.as_str()) {
            continue;
        }
        for (metric, figure) in &locked.figures {
            if there.contains(&(cell.as_str(), metric.as_str())) {
                continue;
            }
            gone.push(Row {
                cell: cell.clone(),
                metric: crate::metrics::metric(metric),
                name: metric.clone(),
                verdicts: vec![Verdict::Gone],
                value: None,
                accepted: Some(figure.value),
                remark: None,
                held: vec![],
                split: None,
                growth: None,
                place: None,
            });
        }
    }
    gone
}

#[cfg(test)]
mod tests {
    use super::super::allowance::plain;
    use super::*;

    #[test]
    fn a_value_is_held_to_a_limit() {
        let limit = |bound| Limit { bound, level: Level::Error, line: None, by_default: false, why: None };
        let check = |value: Number, accepted: Option<Number>, bound: Bound, expect: Verdict, beyond: &str| {
            let held = hold(value, accepted, limit(bound));
            assert_eq!((held.verdict, plain(held.beyond).as_str()), (expect, beyond), "{value} {accepted:?} {bound:?}");
        };
        let (count, score) = (Number::Whole, Number::Real);
        let grow = |text: &str| Bound::Grow(Allowance::parse(text).unwrap());
        let drop = |text: &str| Bound::Drop(Allowance::parse(text).unwrap());
        check(count(3000), None, Bound::Max(count(3000)), Verdict::Ok, "0");
        check(count(3001), None, Bound::Max(count(3000)), Verdict::Over, "1");
        check(count(2), None, Bound::Min(count(3)), Verdict::Under, "1");
        check(score(0.75), None, Bound::Min(score(0.8)), Verdict::Under, "0.05");
        // 1 % of 944 is 9.44: nine tokens.
        check(count(953), Some(count(944)), grow("1%"), Verdict::Ok, "0");
        check(count(954), Some(count(944)), grow("1%"), Verdict::Grew, "1");
        check(count(1000), Some(count(944)), grow("1%"), Verdict::Grew, "47");
        check(count(1), Some(count(0)), grow("50%"), Verdict::Grew, "1");
        check(count(-90), Some(count(-100)), grow("1%"), Verdict::Grew, "9");
        check(count(100), Some(count(300)), grow("0"), Verdict::Ok, "0");
        check(count(99), Some(count(100)), drop("1%"), Verdict::Ok, "0");
        check(count(98), Some(count(100)), drop("1%"), Verdict::Dropped, "1");
        check(score(0.99), Some(score(1.0)), drop("1%"), Verdict::Ok, "0");
        check(score(0.989), Some(score(1.0)), drop("1%"), Verdict::Dropped, "0.001");
        // Nothing was accepted: nothing to compare with.
        check(count(5), None, grow("0"), Verdict::Ok, "0");
        check(count(i64::MAX), Some(count(i64::MIN)), grow("0"), Verdict::Grew, "18446744073709551615");
    }
}
