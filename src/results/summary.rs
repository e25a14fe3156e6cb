//! Means over scenarios, folded as the cells come.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CellResult, Evidence, Number};

/// A strategy's mean of one metric. Evidence levels and models are never mixed in a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SummaryRow {
    /// The strategy with its profile and options.
    pub strategy: String,
    /// The metric.
    pub metric: String,
    /// The mean over the scenarios in which it was measured, each scenario's seeds averaged first.
    pub mean: Number,
    /// Lower end of the 95 % interval; null: none was computed.
    pub low: Option<Number>,
    /// Upper end of the 95 % interval; null: none was computed.
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

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    /// Of the scenarios that are complete.
    means: f64,
    scenarios: u64,
    /// Of the scenario at hand.
    values: f64,
    seeds: u64,
}

impl Sum {
    fn close(&mut self) {
        if self.seeds > 0 {
            self.means += self.values / self.seeds as f64;
            self.scenarios += 1;
        }
        (self.values, self.seeds) = (0.0, 0);
    }
}

/// Folds cells into summary rows; keeps no cell. Cells come in plan order: a scenario's stand together.
#[derive(Clone, Debug, Default)]
pub struct Summing {
    groups: IndexMap<Group, IndexMap<String, Sum>>,
    scenario: Option<String>,
}

impl Summing {
    /// Takes one cell in.
    pub fn add(&mut self, cell: &CellResult) {
        if self.scenario.as_ref() != Some(&cell.scenario) {
            self.close();
            self.scenario = Some(cell.scenario.clone());
        }
        let group = Group { strategy: cell.strategy.clone(), model: cell.model.clone(), evidence: cell.evidence };
        let sums = self.groups.entry(group).or_default();
        for (metric, value) in &cell.metrics {
            if let Some(sum) = sums.get_mut(metric) {
                if let Some(value) = value {
                    sum.values += value.value();
                    sum.seeds += 1;
                }
            } else {
                let first = value.map_or(Sum::default(), |value| Sum { values: value.value(), seeds: 1, ..Sum::default() });
                sums.insert(metric.clone(), first);
            }
        }
    }

    fn close(&mut self) {
        self.groups.values_mut().flat_map(IndexMap::values_mut).for_each(Sum::close);
    }

    /// The rows: strategies in the order in which they came, metrics in theirs. What was never measured has no row.
    pub fn rows(&self) -> Vec<SummaryRow> {
        let mut closed = self.clone();
        closed.close();
        let mut rows = Vec::new();
        for (group, sums) in closed.groups {
            for (metric, sum) in sums {
                let Some(mean) = Number::real(sum.means / sum.scenarios as f64) else { continue };
                rows.push(SummaryRow {
                    strategy: group.strategy.clone(),
                    metric,
                    mean,
                    low: None,
                    high: None,
                    n: sum.scenarios,
                    model: group.model.clone(),
                    evidence: group.evidence,
                });
            }
        }
        rows
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
