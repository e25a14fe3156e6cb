//! A mean with all that must be said beside it.

use super::sample::Sample;
use super::{log_normal, square_and_add, studentised, wilson};

/// What is known of a metric's values before any is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scale {
    /// A score or a share between 0 and 1.
    Unit,
    /// The difference of two such scores: between -1 and 1.
    UnitDifference,
    /// A size above 0 that spreads by factors: tokens, milliseconds, money.
    Positive,
    /// Any number.
    Real,
}

/// How an interval was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Wilson's score interval of a share.
    Wilson,
    /// Wilson's interval at the spread that graded scores have, with Student's quantile.
    Score,
    /// Score intervals of gains and losses, joined.
    SquareAndAdd,
    /// The generalised interval of a log-normal mean.
    LogNormal,
    /// The farther of the studentised bootstrap's end and Student's.
    StudentisedBootstrap,
}

impl Method {
    /// The name that stored formats and tables use.
    pub fn name(self) -> &'static str {
        match self {
            Method::Wilson => "wilson",
            Method::Score => "score",
            Method::SquareAndAdd => "square-and-add",
            Method::LogNormal => "log-normal",
            Method::StudentisedBootstrap => "studentised-bootstrap",
        }
    }
}

/// A 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end, not below the lower one.
    pub high: f64,
    /// How it was made.
    pub method: Method,
}

impl Interval {
    /// Whether a value could be in both.
    pub fn overlaps(&self, other: &Interval) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

/// Why a mean has no interval. The interval is unknown then, not of width 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoInterval {
    /// No method covers the mean of so few families.
    TooFew {
        /// How many there are.
        families: usize,
        /// How many are needed on this scale.
        needed: usize,
    },
    /// All families have the same value: nothing is known of how values spread.
    NoSpread,
}

impl std::fmt::Display for NoInterval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoInterval::TooFew { families, needed } => write!(f, "{families} of the {needed} samples that an interval needs"),
            NoInterval::NoSpread => f.write_str("all values are equal, so their spread is unknown"),
        }
    }
}

/// A mean, its spread, its count and its 95 % interval. Nothing else in this room gives a mean, and no one else can make one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    mean: f64,
    deviation: Option<f64>,
    scenarios: usize,
    families: usize,
    interval: Result<Interval, NoInterval>,
}

impl Estimate {
    /// The share of `passes` in independent `trials`, with Wilson's interval; none without trials or with more passes than trials.
    ///
    /// Seeds of one scenario, or scenarios of one family, are not independent: make a [`Sample`] of their 0s and 1s.
    pub fn of_passes(passes: usize, trials: usize) -> Option<Estimate> {
        if trials == 0 || passes > trials {
            return None;
        }
        let (low, high) = wilson::of_passes(passes, trials);
        let mean = passes as f64 / trials as f64;
        let deviation = (trials > 1).then(|| (mean * (1.0 - mean) * trials as f64 / (trials - 1) as f64).sqrt());
        let interval = Ok(Interval { low, high, method: Method::Wilson });
        Some(Estimate { mean, deviation, scenarios: trials, families: trials, interval })
    }

    /// The mean over the scenarios, in the metric's unit.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The sample standard deviation over the scenarios; none for a single one.
    pub fn deviation(&self) -> Option<f64> {
        self.deviation
    }

    /// How many scenarios the mean is of.
    pub fn scenarios(&self) -> usize {
        self.scenarios
    }

    /// How many families, which are the sampling units of the interval.
    pub fn families(&self) -> usize {
        self.families
    }

    /// The 95 % interval.
    ///
    /// # Errors
    /// Why there is none.
    pub fn interval(&self) -> Result<Interval, NoInterval> {
        self.interval
    }
}

impl Sample {
    /// The mean over the scenarios with its 95 % interval over families; none of an empty sample. `seed` is that of the bootstrap.
    ///
    /// Values outside the scale's range are taken as [`Scale::Real`].
    pub fn estimate(&self, scale: Scale, seed: u64) -> Option<Estimate> {
        let mean = self.mean()?;
        let interval = self.interval(scale, studentised::resamples(self.families()), seed).map(|interval| Interval {
            low: interval.low.min(mean),
            high: interval.high.max(mean),
            method: interval.method,
        });
        Some(Estimate { mean, deviation: self.deviation(), scenarios: self.scenarios(), families: self.families(), interval })
    }

    /// The interval, from so many resamples where the method resamples.
    pub(super) fn interval(&self, scale: Scale, resamples: usize, seed: u64) -> Result<Interval, NoInterval> {
        let within = |least: f64, most: f64| self.values().all(|value| value >= least && value <= most);
        let values = self.family_values();
        let needs = |needed: usize| {
            if values.len() < needed { Err(NoInterval::TooFew { families: values.len(), needed }) } else { Ok(()) }
        };
        let made =
            |ends: Option<(f64, f64)>, method: Method| ends.map(|(low, high)| Interval { low, high, method }).ok_or(NoInterval::NoSpread);
        if scale == Scale::Unit && within(0.0, 1.0) {
            let passes = values.iter().all(|&value| value == 0.0 || value == 1.0);
            needs(if passes { 1 } else { LEAST_SCORES })?;
            return made(wilson::of_scores(&values), if passes { Method::Wilson } else { Method::Score });
        }
        needs(LEAST_VALUES)?;
        if scale == Scale::UnitDifference && within(-1.0, 1.0) {
            return made(square_and_add::of_differences(&values), Method::SquareAndAdd);
        }
        if scale == Scale::Positive
            && let Some(ends) = log_normal::of_sizes(&values)
        {
            return made(Some(ends), Method::LogNormal);
        }
        made(studentised::of_values(&values, resamples, seed), Method::StudentisedBootstrap)
    }
}

/// Below five values no interval covers the mean of skewed ones: at three, Student's covers 84 % for log-normal sizes.
const LEAST_VALUES: usize = 4;

/// Below three graded scores their spread is not known well enough.
const LEAST_SCORES: usize = 3;
