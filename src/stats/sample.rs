//! What a mean is taken of: seeds within scenarios within families.

use std::collections::BTreeMap;

/// One measured value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation<'a> {
    /// The family of scenarios. Families are what is resampled; where each scenario stands for itself, give its own name.
    pub family: &'a str,
    /// The scenario.
    pub scenario: &'a str,
    /// The seed of the run.
    pub seed: u64,
    /// The value, in the metric's unit.
    pub value: f64,
}

/// A value was infinite, not a number or beyond 1e150 (its square would be infinite), so it is no measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotFinite;

impl std::fmt::Display for NotFinite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a measured value is infinite, not a number or beyond 1e150")
    }
}

impl std::error::Error for NotFinite {}

/// Means of scenarios, by family. The order in which observations came leaves no trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    families: Vec<Vec<f64>>,
}

impl Sample {
    /// Averages each scenario's seeds.
    ///
    /// # Errors
    /// When a value is infinite, not a number or beyond 1e150.
    pub fn of<'a>(observations: impl IntoIterator<Item = Observation<'a>>) -> Result<Sample, NotFinite> {
        let mut seeds: BTreeMap<&str, BTreeMap<&str, Vec<f64>>> = BTreeMap::new();
        for seen in observations {
            if !measures(seen.value) {
                return Err(NotFinite);
            }
            seeds.entry(seen.family).or_default().entry(seen.scenario).or_default().push(seen.value);
        }
        let families =
            seeds.into_values().map(|scenarios| scenarios.into_values().map(|mut values| mean_of(&mut values)).collect()).collect();
        Ok(Sample { families })
    }

    /// Scenarios that stand for themselves, one value each.
    ///
    /// # Errors
    /// When a value is infinite, not a number or beyond 1e150.
    pub fn of_scenarios(values: &[f64]) -> Result<Sample, NotFinite> {
        if values.iter().any(|&value| !measures(value)) {
            return Err(NotFinite);
        }
        Ok(Sample { families: values.iter().map(|&value| vec![value]).collect() })
    }

    /// How many scenarios.
    pub fn scenarios(&self) -> usize {
        self.families.iter().map(Vec::len).sum()
    }

    /// How many families.
    pub fn families(&self) -> usize {
        self.families.len()
    }

    /// The mean over the scenarios, each with the same weight; none when there is no scenario.
    pub(super) fn mean(&self) -> Option<f64> {
        let count = self.scenarios();
        (count > 0).then(|| self.values().sum::<f64>() / count as f64)
    }

    /// The sample standard deviation over the scenarios (divisor: one less than their number); none below two scenarios.
    pub(super) fn deviation(&self) -> Option<f64> {
        let (mean, count) = (self.mean()?, self.scenarios());
        (count > 1).then(|| (self.values().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1) as f64).sqrt())
    }

    /// The scenarios' values.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        self.families.iter().flatten().copied()
    }

    /// Each family's sum, for tests that flip whole families.
    pub(super) fn family_sums(&self) -> Vec<f64> {
        self.families.iter().map(|family| family.iter().sum()).collect()
    }

    /// One value a family, such that their plain mean is the mean over the scenarios and their spread is that of the mean.
    ///
    /// These are the pseudo-values of a jackknife that leaves out one family at a time. Where all families have the same number of
    /// scenarios they are the families' means. A large family's influence is not understated, as it is by the families' residuals.
    pub(super) fn family_values(&self) -> Vec<f64> {
        let (families, scenarios) = (self.families.len(), self.scenarios());
        let alike = self.families.iter().all(|family| family.len() * families == scenarios);
        let Some(mean) = self.mean().filter(|_| !alike) else {
            return self.families.iter().map(|family| family.iter().sum::<f64>() / family.len() as f64).collect();
        };
        let others = (families - 1) as f64;
        let mut values: Vec<f64> = (self.families.iter())
            .map(|family| {
                let surplus: f64 = family.iter().map(|value| value - mean).sum();
                others * surplus / (scenarios - family.len()) as f64
            })
            .collect();
        let centre = values.iter().sum::<f64>() / families as f64;
        values.iter_mut().for_each(|value| *value += mean - centre);
        values
    }
}

/// Whether a value can be calculated with.
pub(super) fn measures(value: f64) -> bool {
    value.abs() <= 1e150
}

/// The mean of a scenario's seeds, summed from the lowest so that their order does not matter.
fn mean_of(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.iter().sum::<f64>() / values.len() as f64
}
