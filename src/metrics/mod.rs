//! Metrics: pure folds over what a run left behind.
//!
//! [`METRICS`] is the one list of names, [`measure`] gives each of them a value or the reason why it has none. A figure
//! that cannot be known is never 0: under `inline` there is no child, so `child.opening` has no value, while
//! `delegations` truly is 0. Figures that are known only in part are lower bounds and say so in
//! [`Measurement::notes`].
//!
//! Parent figures are those of the root thread: a hand-off changes who speaks in a thread, not the thread. Child figures
//! are those of every other thread, grandchildren included. Every exchange counts, the ones that the harness added
//! (`synthetic`) and those beside a turn (`aside`) too: all of them are paid.

mod absorbed;
mod cached;
mod delegation;
mod facts;
mod figures;
mod forked;
mod list;
#[cfg(test)]
mod properties;
mod redundancy;
mod reexplored;
mod reread;
mod returns;
#[cfg(test)]
pub(crate) mod sample;
mod spend;
#[cfg(test)]
mod tests;
mod totals;
mod value;

pub use facts::Facts;
pub use list::{Better, METRICS, Metric, Unit, metric};
pub use returns::{FactReturns, Returns, returns};
pub use spend::{Spend, ThreadSpend, spend_by_thread};
pub use value::{Measured, Value};

use crate::ledger::{ByThread, FailureKind, Outcome};
use crate::prices::ModelPrices;
use crate::reason::Reason;
use crate::score::Scored;
use crate::tokens::Meter;

/// What is measured.
#[derive(Clone)]
pub struct Subject<'a> {
    /// What the run left behind.
    pub outcome: &'a Outcome,
    /// Its scores, or why there are none (a recording has no answer key, say).
    pub scored: Result<&'a Scored, Reason>,
    /// Its scenario's facts, or why nobody knows of any.
    pub facts: Result<Facts<'a>, Reason>,
    /// `Err`: why the children's own exchanges are not known (a recording without their transcripts, say). Every figure
    /// that they are part of is then null with this reason.
    pub children: Result<(), Reason>,
    /// What the model's tokens cost, or why nobody knows.
    pub prices: Result<&'a ModelPrices, Reason>,
    /// What the tokens of every thread but the root cost, where another model plays them, or why nobody knows; `None`: the same.
    pub child_prices: Option<Result<&'a ModelPrices, Reason>>,
    /// Why no prompt cache was simulated, if none was.
    pub no_cache: &'a str,
    /// Counts the statements of the facts that survived, each distinct one once a run.
    pub meter: &'a Meter,
}

/// All metrics of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// Each metric of [`METRICS`] once, in that order.
    pub metrics: Vec<Measured>,
    /// What a reader must know beside the numbers, in whole sentences.
    pub notes: Vec<String>,
}

impl Measurement {
    /// A metric's value, or why it has none; an unknown name has none either.
    pub fn get(&self, name: &str) -> Result<Value, Reason> {
        match self.metrics.iter().find(|one| one.name == name) {
            Some(one) => one.value.clone(),
            None => Err(format!("there is no metric `{name}`: `list metrics` names them all").into()),
        }
    }
}

/// Measures a run: every metric, once, in order. Time and memory grow with the ledger, not with its square.
pub fn measure(subject: &Subject<'_>) -> Measurement {
    measure_by_thread(subject, &ByThread::of(subject.outcome))
}

/// The same with the ledger seen by thread at hand.
pub(crate) fn measure_by_thread(subject: &Subject<'_>, by_thread: &ByThread<'_>) -> Measurement {
    let figures = figures::Figures::of(subject, by_thread);
    // A panic inside the cell took everything with it but the fact itself.
    let lost = subject.outcome.failure.as_ref().is_some_and(|failure| failure.kind == FailureKind::Panic);
    let value = |metric: &Metric| match lost && !["failures", "quality"].contains(&metric.name) {
        true => Err("the cell panicked".into()),
        false => (metric.read)(&figures),
    };
    let metrics = METRICS.iter().map(|metric| Measured { name: metric.name, value: value(metric) }).collect();
    Measurement { metrics, notes: notes(subject.outcome) }
}

fn notes(outcome: &Outcome) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(failure) = &outcome.failure {
        notes.push(format!("The run failed ({}): figures cover what was run until then.", failure.kind.name()));
    }
    let requests = outcome.rows.len();
    let blurred = outcome.rows.iter().filter(|row| row.unknown_parts > 0).count();
    if let Some(most) = outcome.rows.iter().map(|row| row.unknown_parts).max().filter(|&most| most > 0) {
        notes.push(format!(
            "{blurred} of {requests} requests hold parts whose tokens nobody knows (at most {most} in one): token figures are lower bounds."
        ));
    }
    let unanswered = outcome.rows.iter().filter(|row| row.done_ms.is_none()).count();
    if unanswered > 0 {
        notes.push(format!(
            "{unanswered} of {requests} requests got no reply: their input counts, their output and duration are unknown and left out."
        ));
    }
    notes
}
