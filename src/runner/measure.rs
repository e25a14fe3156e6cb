//! A cell's figures: the metrics and checks of its outcome, by name and in their order.

use crate::ledger::{ByThread, Outcome};
use crate::metrics::{self, METRICS, Value};
use crate::plan::Cell;
use crate::reason::Reason;
use crate::results::{ByMetric, CheckScore, Number};
use crate::tokens::Meter;

/// A cell's figures.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    /// Every metric; `None`: not measured.
    pub metrics: ByMetric<Option<Number>>,
    /// Why a metric was not measured.
    pub unmeasured: ByMetric<Reason>,
    /// The checks of the final answer.
    pub checks: Vec<CheckScore>,
    /// What a reader must know beside the figures.
    pub notes: Vec<String>,
}

impl Measured {
    /// What is known of a run that broke off without leaving anything behind: that it failed, which is worth nothing.
    pub fn broken_off(cell: &Cell, why: &str) -> Measured {
        let mut measured = Measured::default();
        for metric in METRICS {
            let value = match metric.name {
                "failures" => Ok(Some(Number::Whole(1))),
                "quality" if cell.scorer.is_ok() => Ok(Some(Number::Real(0.0))),
                _ => Err(Reason::from(why.to_owned())),
            };
            measured.take(metric.name, value);
        }
        measured
    }

    fn take(&mut self, name: &'static str, value: Result<Option<Number>, Reason>) {
        let (value, why) = match value {
            Ok(Some(number)) => (Some(number), None),
            Ok(None) => (None, Some("the figure is no finite number".into())),
            Err(why) => (None, Some(why)),
        };
        self.metrics.insert(name.into(), value);
        if let Some(why) = why {
            self.unmeasured.insert(name.into(), why);
        }
    }
}

/// Measures an outcome.
pub(super) fn measure(cell: &Cell, outcome: &Outcome, meter: &Meter) -> Measured {
    let by_thread = ByThread::of(outcome);
    let markers = cell.scorer.as_ref().map(|scorer| (scorer, scorer.markers_for_run()));
    let scored = markers.as_ref().map(|(scorer, markers)| scorer.score_by_thread(outcome, &by_thread, markers));
    let facts = markers.as_ref().map(|(scorer, markers)| metrics::Facts::new(scorer.scenario(), markers));
    let subject = metrics::Subject {
        outcome,
        scored: scored.as_ref().map_err(|why| (**why).clone().into()),
        facts: facts.map_err(|why| (*why).clone().into()),
        children: cell.children.clone().map_err(Reason::from),
        prices: cell.prices.as_deref().map_err(|why| why.clone().into()),
        no_cache: cell.no_cache(),
        child_prices: cell.children_model.as_ref().map(|child| child.prices.as_deref().map_err(|why| why.clone().into())),
        meter,
    };
    let measurement = metrics::measure_by_thread(&subject, &by_thread);
    let metrics = ByMetric::with_capacity_and_hasher(METRICS.len(), Default::default());
    // In most cells a third of them has no value.
    let unmeasured = ByMetric::with_capacity_and_hasher(METRICS.len() / 2, Default::default());
    let checks = Vec::with_capacity(scored.as_ref().map_or(0, |scored| scored.checks.len()));
    let mut measured = Measured { notes: (cell.remark)(meter), metrics, unmeasured, checks };
    measured.notes.extend(measurement.notes);
    for one in measurement.metrics {
        measured.take(one.name, one.value.map(number));
    }
    if let Ok(scored) = &scored {
        for check in &scored.checks {
            match check.score.as_ref().map(|&score| Number::real(score)) {
                Ok(Some(score)) => measured.checks.push(CheckScore { id: check.id.clone(), score }),
                Ok(None) => measured.notes.push(format!("Check {}: its score is no finite number.", check.id)),
                Err(why) => measured.notes.push(format!("Check {}: {why}", check.id)),
            }
        }
    }
    measured
}

fn number(value: Value) -> Option<Number> {
    match value {
        Value::Count(count) => Some(Number::from(count)),
        Value::Difference(difference) => Some(Number::Whole(difference)),
        Value::Ratio(ratio) => Number::real(ratio),
    }
}
