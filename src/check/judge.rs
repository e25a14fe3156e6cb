//! Holds what was measured to the budgets and to what was accepted: one row a cell and metric.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Exit;
use crate::metrics::{Better, Metric};
use crate::plan::CellId;
use crate::results::{CellResult, Number, Status};

use super::allowance::{Allowance, Millionths, ONE, millionths, plain};
use super::budget::{Bound, Budgets, Level, Limit, Typed};
use super::difference::{Place, first_place};
use super::lock::{Figure, Lock};
use super::split::{Split, growth};
use super::trail::Trail;
use super::verdict::{Verdict, worst};

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
    /// Whether what cannot be compared fails.
    pub locked: bool,
    /// Whether warnings fail as errors do.
    pub strict: bool,
    /// What budgets chose from.
    pub choice: &'a Choice,
}

/// What budgets choose from: for those that match nothing.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The scenarios that were given or found, as they stand in cell ids.
    pub scenarios: BTreeSet<String>,
    /// Those of the built-in suite.
    pub suite: Vec<&'static str>,
}

impl Choice {
    /// What there is, the nearest first.
    fn hint(&self, wanted: &[String], cells: &[MeasuredCell]) -> String {
        let known = || self.scenarios.iter().map(String::as_str).chain(self.suite.iter().copied());
        let distance = |name: &str| wanted.iter().map(|wanted| strsim::damerau_levenshtein(bare(wanted), name)).min().unwrap_or(usize::MAX);
        let near = known().filter(|name| distance(name) <= 3).min_by_key(|name| distance(name));
        if let Some(near) = near.filter(|near| !wanted.iter().any(|wanted| wanted == near)) {
            return format!(
                "Did you mean `{near}`? A scenario is named as in its cells' ids: NAME[~SIZE][+BRIEF][+FALLBACK], written out, and what is \
                 the default (small, same, the scenario's own) left out"
            );
        }
        let strategies: BTreeSet<&str> = cells.iter().map(|cell| cell.id.strategy.as_str()).collect();
        let some = |names: Vec<&str>| {
            let shown = names.iter().take(8).copied().collect::<Vec<_>>().join(", ");
            if names.len() > 8 { format!("{shown} and {} more", names.len() - 8) } else { shown }
        };
        let strategies = if strategies.is_empty() {
            "`ctxbench list strategies` names the strategies".to_owned()
        } else {
            format!("the strategies that were run are {}", some(strategies.into_iter().collect()))
        };
        format!("The scenarios are {}; {strategies}", some(known().collect()))
    }
}

/// A pattern without marks and stars.
fn bare(pattern: &str) -> &str {
    pattern.split(['~', '+']).next().unwrap_or(pattern).trim_matches('*')
}

/// A limit that a figure was held to.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The limit.
    pub limit: Limit,
    /// How it went: `ok`, or what is wrong.
    pub verdict: Verdict,
    /// By how much the figure is beyond it, in millionths; 0 when it is not.
    pub beyond: i128,
}

/// One figure.
#[derive(Clone, Debug)]
pub struct Row {
    /// The cell.
    pub cell: String,
    /// The metric; `None`: the row is about the whole cell, which failed.
    pub metric: Option<&'static Metric>,
    /// The metric's name as the lock has it, which may be of another version.
    pub name: String,
    /// All that is to be said of it, worst first; never empty.
    pub verdicts: Vec<Verdict>,
    /// The value; `None`: it was not measured, or is not there any more.
    pub value: Option<Number>,
    /// The accepted value.
    pub accepted: Option<Number>,
    /// Why it has no value, why its cell failed, what it may have been renamed to: in a sentence.
    pub remark: Option<String>,
    /// The limits that it was held to.
    pub held: Vec<Held>,
    /// Where its tokens stand.
    pub split: Option<Split>,
    /// What it has more of than was accepted, by where the tokens stand.
    pub growth: Option<Split>,
    /// Where the cell first differs from what was accepted; only where the figure moved or is stale.
    pub place: Option<Place>,
}

impl Row {
    /// The worst verdict.
    pub fn worst(&self) -> Verdict {
        self.verdicts.first().copied().unwrap_or(Verdict::Ok)
    }
}

/// A budget of the file with the cells that it matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matched {
    /// Its line.
    pub line: u32,
    /// What it names, as it was written.
    pub names: String,
    /// The scenarios of that.
    pub scenarios: Vec<String>,
    /// How many cells it matched.
    pub cells: usize,
}

/// Something that concerns no single figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// How the check ends because of it.
    pub exit: Exit,
    /// The line of the budgets' file that it is about.
    pub line: Option<u32>,
    /// What is wrong and what to do.
    pub message: String,
}

/// What a check was given beside the files at their usual places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Folders of runs, or scenarios and recordings.
    pub what: Vec<String>,
    /// Whether those are folders of runs.
    pub are_runs: bool,
    /// Options with their values.
    pub options: Vec<(String, String)>,
}

/// How a check went.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The encoding of every token figure.
    pub tokenizer: String,
    /// Whether what cannot be compared fails.
    pub locked: bool,
    /// Whether warnings fail as errors do.
    pub strict: bool,
    /// The budgets' file, as it was given.
    pub budgets_file: String,
    /// The lock, as it was given, or the revision that it was read from.
    pub lock_file: String,
    /// Whether there is a lock.
    pub has_lock: bool,
    /// What was typed that the commands of a report need again.
    pub given: Given,
    /// The rows, by cell and metric.
    pub rows: Vec<Row>,
    /// The budgets.
    pub matched: Vec<Matched>,
    /// What concerns no single figure.
    pub troubles: Vec<Trouble>,
}

impl Checked {
    /// Every exit code that applies, each once, the one that wins first.
    pub fn exits(&self) -> Vec<Exit> {
        let of_rows = self.rows.iter().flat_map(|row| row.verdicts.iter()).map(|verdict| verdict.exit(self.locked));
        let all: Vec<Exit> = of_rows.chain(self.troubles.iter().map(|trouble| trouble.exit)).collect();
        super::verdict::EXITS.into_iter().filter(|exit| *exit != Exit::Fine && all.contains(exit)).collect()
    }

    /// The exit code.
    pub fn exit(&self) -> Exit {
        worst(self.exits())
    }

    /// How many rows have each verdict as their worst, worst first.
    pub fn counts(&self) -> Vec<(Verdict, usize)> {
        let count = |verdict| self.rows.iter().filter(|row| row.worst() == verdict).count();
        Verdict::ALL.into_iter().map(|verdict| (verdict, count(verdict))).filter(|(_, count)| *count > 0).collect()
    }

    /// How many cells were looked at.
    pub fn cells(&self) -> usize {
        self.rows.iter().map(|row| row.cell.as_str()).collect::<BTreeSet<_>>().len()
    }
}

/// Holds cells to their budgets.
pub fn judge(cells: &[MeasuredCell], terms: Terms<'_>, lock_file: &str) -> Checked {
    let budgets = terms.budgets;
    let has_lock = terms.lock.is_some();
    let of_another = other_tokenizer(terms);
    // Tokens of two encodings are not compared, not even to say that they differ.
    let terms = Terms { lock: terms.lock.filter(|_| of_another.is_none()), ..terms };
    let mut rows = Vec::new();
    let mut matched: Vec<Matched> = budgets.budgets.iter().map(matched_by).collect();
    for cell in cells {
        for (budget, matched) in budgets.budgets.iter().zip(&mut matched) {
            matched.cells += usize::from(budget.names(&cell.id));
        }
        rows.extend(rows_of(cell, terms));
    }
    rows.extend(gone(&rows, terms.lock));
    rows.sort_by(|a, b| (&a.cell, place_of(a.metric)).cmp(&(&b.cell, place_of(b.metric))));
    say_renamed(&mut rows, terms.lock);
    let mut troubles = troubles(cells, &rows, &matched, terms);
    troubles.extend(of_another);
    Checked {
        tokenizer: budgets.tokenizer.clone(),
        locked: terms.locked,
        strict: terms.strict,
        budgets_file: budgets.file.clone(),
        lock_file: lock_file.to_owned(),
        has_lock,
        given: Given::default(),
        rows,
        matched,
        troubles,
    }
}

fn matched_by(budget: &super::budget::Budget) -> Matched {
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

fn rows_of(cell: &MeasuredCell, terms: Terms<'_>) -> Vec<Row> {
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
        let mut row = row_of(cell, metric, limits, figure, terms.strict);
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
            let why = cell.result.unmeasured.get(metric.name).map_or("it was not measured", String::as_str);
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

/// A cell that is gone and one that is new with the same requests are taken for one that was renamed, and said to be.
fn say_renamed(rows: &mut [Row], lock: Option<&Lock>) {
    let Some(lock) = lock else { return };
    let values = |rows: &[&Row], value: fn(&Row) -> Option<Number>| -> Vec<(String, String)> {
        rows.iter().filter_map(|row| Some((row.name.clone(), plain(millionths(value(row)?))))).collect()
    };
    let mut by_cell: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows.iter() {
        by_cell.entry(&row.cell).or_default().push(row);
    }
    let all = |verdict: Verdict| by_cell.iter().filter(move |(_, rows)| rows.iter().all(|row| row.verdicts.contains(&verdict)));
    type Look<'a> = (&'a str, Vec<(String, String)>);
    let mut new_by_look: BTreeMap<Look<'_>, Vec<&str>> = BTreeMap::new();
    for (new, new_rows) in all(Verdict::New) {
        new_by_look.entry((tail(new), values(new_rows, |row| row.value))).or_default().push(new);
    }
    let mut renamed: BTreeMap<String, String> = BTreeMap::new();
    for (old, old_rows) in all(Verdict::Gone).filter(|(old, _)| lock.cells.contains_key(**old)) {
        let look = (tail(old), values(old_rows, |row| row.accepted));
        if let Some(new) = new_by_look.get_mut(&look).and_then(Vec::pop) {
            renamed.insert((*old).to_owned(), new.to_owned());
        }
    }
    let back: BTreeMap<String, String> = renamed.iter().map(|(old, new)| (new.clone(), old.clone())).collect();
    for row in rows {
        if let Some(new) = renamed.get(&row.cell) {
            row.remark = Some(format!("it seems to have been renamed: {new} has the same figures"));
        } else if let Some(old) = back.get(&row.cell) {
            row.remark = Some(format!("it seems to be {old} under another name: the same figures"));
        }
    }
}

/// A cell id without its scenario.
fn tail(cell: &str) -> &str {
    cell.split_once('/').map_or(cell, |(_, tail)| tail)
}

fn other_tokenizer(terms: Terms<'_>) -> Option<Trouble> {
    let (file, wanted) = (&terms.budgets.file, &terms.budgets.tokenizer);
    let lock = terms.lock.filter(|lock| lock.tokenizer != *wanted)?;
    let message = format!(
        "the lock was accepted with the tokenizer {}, {file} wants {wanted}: tokens of two encodings cannot be compared. Put the one back \
         in {file}, or accept everything anew with `ctxbench check --accept`",
        lock.tokenizer
    );
    Some(Trouble { exit: Exit::NotComparable, line: None, message })
}

fn troubles(cells: &[MeasuredCell], rows: &[Row], matched: &[Matched], terms: Terms<'_>) -> Vec<Trouble> {
    let file = &terms.budgets.file;
    let mut troubles = Vec::new();
    let mut nothing = |line, message: String| troubles.push(Trouble { exit: Exit::NothingChecked, line, message });
    for one in matched.iter().filter(|one| one.cells == 0) {
        let names = if one.names.is_empty() { "every cell".to_owned() } else { one.names.clone() };
        nothing(
            Some(one.line),
            format!("{file}:{}: this budget ({names}) matches no cell. {}", one.line, terms.choice.hint(&one.scenarios, cells)),
        );
    }
    for budget in &terms.budgets.budgets {
        let of_budget: Vec<&MeasuredCell> = cells.iter().filter(|cell| budget.names(&cell.id)).collect();
        if of_budget.is_empty() {
            continue;
        }
        let scenarios: Vec<String> = of_budget.iter().map(|cell| super::budget::scenario_piece(&cell.id)).collect();
        let scenarios: Vec<&str> = scenarios.iter().map(String::as_str).collect();
        let strategies: Vec<&str> = of_budget.iter().map(|cell| cell.id.strategy.as_str()).collect();
        let models: Vec<&str> = of_budget.iter().map(|cell| cell.id.model.as_str()).collect();
        // Of a list, every name is meant.
        let idle = budget.scenario.idle(&scenarios).into_iter().chain(budget.strategy.idle(&strategies)).chain(budget.model.idle(&models));
        for pattern in idle {
            let hint = terms.choice.hint(&[pattern.to_owned()], cells);
            nothing(Some(budget.line), format!("{file}:{}: `{pattern}` of this budget matches no cell. {hint}", budget.line));
        }
    }
    let judged = rows.iter().any(|row| row.value.is_some() || row.worst() == Verdict::Failed);
    if terms.budgets.budgets.is_empty() {
        nothing(None, format!("{file} has no [[budget]]: nothing was checked. To begin with:\n\n{}", super::file::STARTER));
    } else if !judged && !terms.locked && matched.iter().any(|one| one.cells > 0) {
        nothing(
            None,
            "no figure that the budgets name was measured: nothing was checked (`ctxbench list metrics` says which are)".to_owned(),
        );
    }
    troubles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::budget::Level;

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
