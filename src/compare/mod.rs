//! Two runs, paired: the same scenario, model and seed on both sides, each metric's difference with its interval, wins, ties and
//! losses, and a test that is corrected for how many strategies are looked at.
//!
//! What is on one side alone is counted and in no figure. A cell that failed against its scenario's expectation has no figures
//! worth a difference but `quality` and `failures`.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::metrics::{Better, METRICS, Metric};
use crate::results::{CellResult, Evidence, RESAMPLING_SEED, Status, scale};
use crate::stats::{Comparison, Direction, Estimate, NotComparable, Observation, Sample, Verdict, holm};

/// Chance differences that are called real in one of twenty tests.
pub const LEVEL: f64 = 0.05;

/// Which cells face each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// Those of one strategy, under each strategy that is on both sides.
    SameStrategy,
    /// Those of one strategy on the left and of another on the right, with their profiles and options.
    Strategies(String, String),
}

/// What came of one metric under one strategy.
#[derive(Clone, Debug)]
pub struct Row {
    /// The strategy on the left.
    pub left: String,
    /// The strategy on the right.
    pub right: String,
    /// The model.
    pub model: String,
    /// What produced the behaviour on the left and on the right.
    pub evidence: (Evidence, Evidence),
    /// The metric.
    pub metric: &'static Metric,
    /// The means of the pairs, left and right.
    pub means: (f64, f64),
    /// The comparison: right less left.
    pub comparison: Comparison,
    /// The mid-p value, corrected (Holm) for the strategies that were compared in this metric; `None`: nothing differs.
    pub corrected: Option<f64>,
}

/// What may be said of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saying {
    /// Every pair is equal.
    Same,
    /// The right side is better, and chance is no likely reason.
    Better,
    /// The right side is worse, and chance is no likely reason.
    Worse,
    /// The right side has more, of a metric without a better side, and chance is no likely reason.
    Differs,
    /// Chance could be the reason.
    NotShown,
    /// So few families differ that no difference could be told from chance.
    TooFew,
}

impl Saying {
    /// Its name in every output.
    pub fn name(self) -> &'static str {
        match self {
            Saying::Same => "same",
            Saying::Better => "better",
            Saying::Worse => "worse",
            Saying::Differs => "differs",
            Saying::NotShown => "not shown",
            Saying::TooFew => "too few",
        }
    }
}

impl Row {
    /// What may be said.
    pub fn saying(&self) -> Saying {
        let test = &self.comparison.test;
        if self.comparison.wins + self.comparison.losses == 0 {
            return Saying::Same;
        }
        if test.verdict(LEVEL) == Verdict::CannotBe {
            return Saying::TooFew;
        }
        if self.corrected.is_none_or(|p| p > LEVEL) {
            return Saying::NotShown;
        }
        let more = self.comparison.difference.mean() > 0.0;
        match self.metric.better {
            Better::Neither => Saying::Differs,
            Better::Lower if more => Saying::Worse,
            Better::Higher if !more => Saying::Worse,
            Better::Lower | Better::Higher => Saying::Better,
        }
    }
}

/// Two runs beside each other.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// By metric, then strategy.
    pub rows: Vec<Row>,
    /// Pairs of cells.
    pub pairs: usize,
    /// Cells that are on the left alone, by id.
    pub left_only: Vec<String>,
    /// Cells that are on the right alone.
    pub right_only: Vec<String>,
    /// Pairs of which a side failed against its scenario's expectation, by the left cell's id.
    pub failed: Vec<String>,
    /// Pairs with the same fingerprint, so with the same figures.
    pub identical: usize,
    /// Why a metric has no row under a strategy, in whole sentences.
    pub unmeasured: Vec<String>,
}

/// What two cells must have in common to be a pair.
type Key = (String, String, String, u64);

fn key(cell: &CellResult, strategy: &str) -> Key {
    let piece = cell.cell.split('/').next().unwrap_or(&cell.scenario).to_owned();
    (piece, strategy.to_owned(), cell.model.clone(), cell.seed)
}

/// Pairs two runs and compares these metrics.
pub fn compare(left: &[CellResult], right: &[CellResult], pairing: &Pairing, metrics: &[&'static Metric]) -> Compared {
    // The strategy under which a cell is paired; `None`: it is none of those that are compared.
    let as_left = |cell: &CellResult| match pairing {
        Pairing::SameStrategy => Some(cell.strategy.clone()),
        Pairing::Strategies(wanted, _) => (cell.strategy == *wanted).then(String::new),
    };
    let as_right = |cell: &CellResult| match pairing {
        Pairing::SameStrategy => Some(cell.strategy.clone()),
        Pairing::Strategies(_, wanted) => (cell.strategy == *wanted).then(String::new),
    };
    let mut others: BTreeMap<Key, &CellResult> = BTreeMap::new();
    for cell in right {
        if let Some(strategy) = as_right(cell) {
            others.insert(key(cell, &strategy), cell);
        }
    }
    let mut compared = Compared::default();
    let mut groups: Groups<'_> = IndexMap::new();
    for cell in left {
        let Some(strategy) = as_left(cell) else { continue };
        let Some(other) = others.remove(&key(cell, &strategy)) else {
            compared.left_only.push(cell.cell.clone());
            continue;
        };
        compared.pairs += 1;
        compared.identical += usize::from(cell.fingerprint == other.fingerprint);
        if cell.status == Status::Failed || other.status == Status::Failed {
            compared.failed.push(cell.cell.clone());
        }
        let group = (cell.strategy.clone(), other.strategy.clone(), cell.model.clone(), cell.evidence, other.evidence);
        groups.entry(group).or_default().push((cell, other));
    }
    compared.right_only = others.into_values().map(|cell| cell.cell.clone()).collect();
    for metric in metrics {
        compared.rows.extend(rows_of(metric, &groups, &mut compared.unmeasured));
    }
    compared
}

/// Left and right strategy, model, evidence on the left and on the right.
type Group = (String, String, String, Evidence, Evidence);
/// The pairs of cells of each group, in order of appearance.
type Groups<'a> = IndexMap<Group, Vec<(&'a CellResult, &'a CellResult)>>;

/// The rows of one metric, corrected for how many there are.
fn rows_of(metric: &'static Metric, groups: &Groups<'_>, unmeasured: &mut Vec<String>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for ((left, right, model, one, other), pairs) in groups {
        let (means, comparison) = match compare_pairs(metric, pairs) {
            Ok(compared) => compared,
            Err(why) => {
                let reason = |cell: &CellResult| cell.unmeasured.get(metric.name).cloned();
                let reason =
                    pairs.iter().find_map(|(left, right)| reason(left).or_else(|| reason(right))).unwrap_or_else(|| why.to_string().into());
                let strategy = if left == right { left.clone() } else { format!("{left} and {right}") };
                unmeasured.push(format!("{} under {strategy}: nothing to compare ({reason})", metric.name));
                continue;
            }
        };
        rows.push(Row {
            left: left.clone(),
            right: right.clone(),
            model: model.clone(),
            evidence: (*one, *other),
            metric,
            means,
            comparison,
            corrected: None,
        });
    }
    // What is equal everywhere was no question, and is not corrected for.
    let asked = |row: &Row| (row.comparison.test.untied > 0).then_some(row.comparison.test.mid_p);
    let corrected = holm(&rows.iter().map(asked).collect::<Vec<_>>());
    rows.iter_mut().zip(corrected).for_each(|(row, corrected)| row.corrected = corrected);
    rows
}

/// Family, scenario, seed, and the values on the left and on the right.
type Pair = (String, String, u64, f64, f64);

fn compare_pairs(metric: &Metric, pairs: &[(&CellResult, &CellResult)]) -> Result<((f64, f64), Comparison), NotComparable> {
    let stands_a_failure = ["quality", "failures"].contains(&metric.name);
    let fair = |cell: &CellResult| stands_a_failure || cell.status != Status::Failed;
    let value = |cell: &CellResult| cell.metrics.get(metric.name).copied().flatten().map(|number| number.value());
    let measured: Vec<(&CellResult, f64, f64)> = pairs
        .iter()
        .filter(|(left, right)| fair(left) && fair(right))
        .filter_map(|(left, right)| Some((*left, value(left)?, value(right)?)))
        .collect();
    // Of a recording or of scenarios in other sizes, the piece of the cell's id tells them apart.
    let piece = |cell: &'_ CellResult| cell.cell.split('/').next().unwrap_or(&cell.scenario).to_owned();
    let named: Vec<Pair> = measured
        .iter()
        .map(|(cell, left, right)| (cell.family.clone().unwrap_or_else(|| cell.scenario.clone()), piece(cell), cell.seed, *left, *right))
        .collect();
    let side = |of: fn(&Pair) -> f64| -> Vec<Observation<'_>> {
        named.iter().map(|one| Observation { family: &one.0, scenario: &one.1, seed: one.2, value: of(one) }).collect()
    };
    let (left, right) = (side(|one| one.3), side(|one| one.4));
    let values = || named.iter().flat_map(|one| [one.3, one.4]);
    let scale = scale(metric.name, values().collect::<Vec<_>>().into_iter());
    let direction = if metric.better == Better::Higher { Direction::Higher } else { Direction::Lower };
    // Right less left: what changed.
    let comparison = Comparison::of(&right, &left, scale, direction, RESAMPLING_SEED)?;
    let mean = |observations: &[Observation<'_>]| {
        let sample = Sample::of(observations.iter().copied()).map_err(|_| NotComparable::NotFinite)?;
        let estimate = sample.estimate(scale, RESAMPLING_SEED).ok_or(NotComparable::NoPair)?;
        Ok::<f64, NotComparable>(Estimate::mean(&estimate))
    };
    Ok(((mean(&left)?, mean(&right)?), comparison))
}

/// The metrics of the tables for people.
pub fn usual_metrics() -> Vec<&'static Metric> {
    const USUAL: [&str; 9] = [
        "parent.final_context",
        "parent.input_total",
        "child.input_total",
        "total.input",
        "total.output",
        "requests",
        "latency.end_to_end",
        "quality",
        "rescues",
    ];
    METRICS.iter().filter(|metric| USUAL.contains(&metric.name)).collect()
}

#[cfg(test)]
mod tests;
