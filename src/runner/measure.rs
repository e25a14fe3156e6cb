//! A cell's figures: the metrics and checks of its outcome, by name and in their order.

use indexmap::IndexMap;

use crate::ledger::Outcome;
use crate::plan::Cell;
use crate::results::{CheckScore, Number};
use crate::tokens::Meter;

/// A cell's figures.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Every metric; `None`: not measured.
    pub metrics: IndexMap<String, Option<Number>>,
    /// Why a metric was not measured.
    pub unmeasured: IndexMap<String, String>,
    /// The checks of the final answer.
    pub checks: Vec<CheckScore>,
}

impl Measured {
    /// Every metric unmeasured, for one reason.
    pub fn nothing(_why: &str) -> Measured {
        Measured::default()
    }
}

/// Measures an outcome.
pub fn measure(_cell: &Cell, outcome: &Outcome, _meter: &Meter) -> Measured {
    let mut measured = Measured::default();
    measured.metrics.insert("requests".into(), Some(Number::from(outcome.rows.len() as u64)));
    measured
}
