//! Means over scenarios, folded as the cells come.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metrics::{Unit, metric};
use crate::stats::{Estimate, Interval, Observation, Sample, Scale, pass_at_k, pass_hat_k};

use super::{CellResult, Evidence, Number};

/// A strategy's mean of one metric. Evidence levels and models are never mixed in a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SummaryRow {
    /// The strategy with its profile and options.
    pub strategy: String,
    /// The metric; or `pass`, the share of runs whose quality is 1; with several seeds `pass@K` and `pass^K` too: whether at
    /// least one, or every one, of a scenario's K seeds passes.
    pub metric: String,
    /// The mean over the scenarios in which it was measured, each scenario's seeds averaged first.
    pub mean: Number,
    /// Lower end of the 95 % interval, which resamples families of scenarios; null: there are too few of them, or they are all
    /// alike, so that nothing is known of how values spread.
    pub low: Option<Number>,
    /// Upper end of the 95 % interval; null as above.
    pub high: Option<Number>,
    /// How many scenarios the mean is of.
    pub n: u64,
    /// The model.
    pub model: String,
    /// What produced the behaviour.
    pub evidence: Evidence,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Group {
    strategy: String,
    model: String,
    evidence: Evidence,
}

/// A metric's means over the seeds of each scenario that is complete, and the scenario at hand.
#[derive(Clone, Debug, Default)]
struct Values {
    scenarios: Vec<Mean>,
    sum: f64,
    seeds: u64,
}

/// A scenario's mean over its seeds. Family and scenario are numbers of the run, in order of appearance.
#[derive(Clone, Copy, Debug)]
struct Mean {
    family: usize,
    scenario: usize,
    value: f64,
}

impl Values {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.seeds += 1;
    }

    fn close(&mut self, family: usize, scenario: usize) {
        if self.seeds > 0 {
            self.scenarios.push(Mean { family, scenario, value: self.sum / self.seeds as f64 });
        }
        (self.sum, self.seeds) = (0.0, 0);
    }
}

/// Folds cells into summary rows; keeps a number for each scenario, strategy and metric. Cells come in plan order: a scenario's
/// stand together.
#[derive(Clone, Debug, Default)]
pub struct Summing {
    groups: IndexMap<Group, IndexMap<String, Values, FxBuildHasher>, FxBuildHasher>,
    /// Runs of the scenario at hand that were scored, and those that passed.
    passes: IndexMap<Group, (u64, u64), FxBuildHasher>,
    families: IndexSet<String>,
    scenarios: IndexSet<String>,
    at: Option<(usize, usize)>,
}

impl Summing {
    /// Takes one cell in.
    pub fn add(&mut self, cell: &CellResult) {
        if self.at.and_then(|(_, scenario)| self.scenarios.get_index(scenario)) != Some(&cell.scenario) {
            self.close();
            let family = cell.family.as_ref().unwrap_or(&cell.scenario).clone();
            self.at = Some((self.families.insert_full(family).0, self.scenarios.insert_full(cell.scenario.clone()).0));
        }
        let group = Group { strategy: cell.strategy.clone(), model: cell.model.clone(), evidence: cell.evidence };
        if let Some(quality) = cell.metrics.get("quality").copied().flatten() {
            let (trials, passes) = self.passes.entry(group.clone()).or_default();
            *trials += 1;
            *passes += u64::from(quality.value() >= 1.0);
        }
        let metrics = self.groups.entry(group).or_default();
        for (at, (metric, value)) in cell.metrics.iter().enumerate() {
            // Every cell has its metrics in one order, so nearly always it is where it was.
            let place = match metrics.get_index(at) {
                Some((known, _)) if known == metric => at,
                _ => match metrics.get_index_of(metric.as_ref()) {
                    Some(place) => place,
                    None => metrics.insert_full(metric.clone().into_owned(), Values::default()).0,
                },
            };
            if let (Some((_, values)), Some(value)) = (metrics.get_index_mut(place), value) {
                values.add(value.value());
            }
        }
    }

    fn close(&mut self) {
        if let Some((family, scenario)) = self.at {
            for (group, (trials, passes)) in std::mem::take(&mut self.passes) {
                let Some(metrics) = self.groups.get_mut(&group) else { continue };
                let mut pass = |name: String, share: Option<f64>| {
                    if let Some(share) = share {
                        metrics.entry(name).or_default().add(share);
                    }
                };
                pass("pass".into(), pass_at_k(trials, passes, 1));
                if trials > 1 {
                    pass(format!("pass@{trials}"), pass_at_k(trials, passes, trials));
                    pass(format!("pass^{trials}"), pass_hat_k(trials, passes, trials));
                }
            }
            self.groups.values_mut().flat_map(IndexMap::values_mut).for_each(|values| values.close(family, scenario));
        }
    }

    /// The rows: strategies in the order in which they came, metrics in theirs. What was never measured has no row.
    pub fn rows(&self) -> Vec<SummaryRow> {
        let mut closed = self.clone();
        closed.close();
        let mut rows = Vec::new();
        for (group, metrics) in &closed.groups {
            for (name, values) in metrics {
                let Some(estimate) = closed.estimate(name, &values.scenarios) else { continue };
                let Some(mean) = Number::real(estimate.mean()) else { continue };
                // One scenario is a case, not a sample of anything.
                let interval = estimate.interval().ok().filter(|_| estimate.families() > 1);
                let end = |end: fn(&Interval) -> f64| interval.as_ref().and_then(|interval| Number::real(end(interval)));
                rows.push(SummaryRow {
                    strategy: group.strategy.clone(),
                    metric: name.clone(),
                    mean,
                    low: end(|interval| interval.low),
                    high: end(|interval| interval.high),
                    n: estimate.scenarios() as u64,
                    model: group.model.clone(),
                    evidence: group.evidence,
                });
            }
        }
        rows
    }

    /// The mean over scenarios with its interval; `None`: never measured, or no finite number.
    fn estimate(&self, metric: &str, means: &[Mean]) -> Option<Estimate> {
        let name = |names: &'_ IndexSet<String>, at: usize| names.get_index(at).cloned().unwrap_or_default();
        let named: Vec<(String, String, f64)> =
            means.iter().map(|mean| (name(&self.families, mean.family), name(&self.scenarios, mean.scenario), mean.value)).collect();
        let observations = named.iter().map(|(family, scenario, value)| Observation { family, scenario, seed: 0, value: *value });
        Sample::of(observations).ok()?.estimate(scale(metric, means.iter().map(|mean| mean.value)), RESAMPLING_SEED)
    }
}

/// The seed of the resampling: fixed, so that equal runs have equal intervals.
pub const RESAMPLING_SEED: u64 = 0;

/// What kind of number a metric's values are.
pub fn scale(name: &str, values: impl Iterator<Item = f64> + Clone) -> Scale {
    let is_score = ["quality", "child.quality", "child.coverage"].contains(&name);
    match metric(name).map(|metric| metric.unit) {
        Some(Unit::Ratio) if is_score => Scale::Unit,
        None if name.starts_with("pass") => Scale::Unit,
        _ if values.clone().all(|value| value > 0.0) => Scale::Positive,
        _ => Scale::Real,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::cell;

    #[test]
    fn seeds_are_averaged_inside_their_scenario() {
        let mut summing = Summing::default();
        for (scenario, seed, value) in
            [("a", 0, Some(1)), ("a", 1, Some(3)), ("b", 0, Some(10)), ("b", 1, None), ("c", 0, None), ("c", 1, None)]
        {
            let mut one = cell(scenario, "s@1", seed);
            one.metrics.insert("m".into(), value.map(Number::Whole));
            summing.add(&one);
        }
        let rows = summing.rows();
        assert_eq!(rows.len(), 1);
        // (mean of 1 and 3, and 10) over two scenarios; `c` was never measured.
        assert_eq!((rows[0].mean, rows[0].n), (Number::Real(6.0), 2));
    }

    #[test]
    fn intervals_come_with_enough_families() {
        let rows = |families: usize, each: usize| {
            let mut summing = Summing::default();
            for family in 0..families {
                for variant in 0..each {
                    let mut one = cell(&format!("f{family}-{variant}"), "s@1", 0);
                    one.family = Some(format!("f{family}"));
                    one.metrics.insert("parent.input_total".into(), Some(Number::Whole(100 + 10 * family as i64 + variant as i64)));
                    one.metrics.insert("requests".into(), Some(Number::Whole(4)));
                    one.metrics.insert("quality".into(), Some(Number::Real(if family % 2 == 0 { 1.0 } else { 0.5 })));
                    summing.add(&one);
                }
            }
            summing.rows()
        };
        for row in rows(8, 2) {
            assert_eq!(row.n, 16, "{row:?}");
            let (low, high) = (row.low.map(Number::value), row.high.map(Number::value));
            if row.metric == "requests" {
                // All alike: nothing is known of the spread.
                assert_eq!((low, high), (None, None));
            } else {
                let (low, high) = (low.unwrap(), high.unwrap());
                assert!(low < row.mean.value() && row.mean.value() < high, "{row:?}");
                assert!(row.metric != "quality" || high <= 1.0, "{row:?}");
            }
        }
        // Sixteen scenarios of two families are two samples: enough for a share of passes alone, and that says little.
        for row in rows(2, 8) {
            assert_eq!((row.low.is_some(), row.high.is_some(), row.n), (row.metric == "pass", row.metric == "pass", 16), "{row:?}");
        }
        assert_eq!(rows(8, 2), rows(8, 2));
    }

    #[test]
    fn passes_are_told_by_run_by_any_seed_and_by_all() {
        let mut summing = Summing::default();
        // Of three seeds: all pass, one passes, none; and one that was not scored.
        for (scenario, qualities) in
            [("a", [Some(1.0), Some(1.0), Some(1.0)]), ("b", [Some(0.5), Some(1.0), Some(0.0)]), ("c", [Some(0.0); 3]), ("d", [None; 3])]
        {
            for (seed, quality) in qualities.into_iter().enumerate() {
                let mut one = cell(scenario, "s@1", seed as u64);
                one.metrics.insert("quality".into(), quality.map(Number::Real));
                summing.add(&one);
            }
        }
        let rows = summing.rows();
        let row = |name: &str| rows.iter().find(|row| row.metric == name).map(|row| (row.mean.value(), row.n));
        let third = 1.0 / 3.0;
        let near = |name: &str, expect: f64| {
            assert!(row(name).is_some_and(|(mean, n)| n == 3 && (mean - expect).abs() < 1e-6), "{name}: {:?}", row(name))
        };
        near("pass", (1.0 + third) / 3.0);
        near("pass@3", 2.0 / 3.0);
        near("pass^3", third);
        assert_eq!(rows.iter().filter(|row| row.metric.starts_with("pass")).count(), 3);
    }

    /// One seed each: the share of passes has Wilson's interval (8 of 10, by scipy 1.17: 0.4902 to 0.9433).
    #[test]
    fn the_share_of_passes_has_wilson_s_interval() {
        let mut summing = Summing::default();
        for at in 0..10 {
            let mut one = cell(&format!("s{at}"), "s@1", 0);
            one.metrics.insert("quality".into(), Some(Number::Real(if at < 8 { 1.0 } else { 0.25 })));
            summing.add(&one);
        }
        let rows = summing.rows();
        let [row] = &rows.iter().filter(|row| row.metric.starts_with("pass")).collect::<Vec<_>>()[..] else { panic!("{rows:?}") };
        let ends = [row.low, row.high].map(|end| end.map_or(f64::NAN, Number::value));
        assert!((ends[0] - 0.4902).abs() < 5e-4 && (ends[1] - 0.9433).abs() < 5e-4, "{ends:?}");
    }

    #[test]
    fn evidence_levels_are_not_mixed() {
        let mut summing = Summing::default();
        for (evidence, value) in [(Evidence::Simulated, 2), (Evidence::Held, 4)] {
            let mut one = cell("a", "s@1", 0);
            one.evidence = evidence;
            one.metrics.insert("m".into(), Some(Number::Whole(value)));
            summing.add(&one);
        }
        let means: Vec<_> = summing.rows().into_iter().map(|row| (row.evidence, row.mean)).collect();
        assert_eq!(means, [(Evidence::Simulated, Number::Real(2.0)), (Evidence::Held, Number::Real(4.0))]);
    }
}
