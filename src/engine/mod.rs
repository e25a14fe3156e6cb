//! The one engine: an event queue and the agent loop. It alone acts, and it alone awaits a model.

mod inputs;

pub use inputs::{Ceilings, UserInput, UserTime, World};

use crate::ledger::Outcome;
use crate::model::{Agent, profile::Latency};
use crate::strategy::{RunContext, Strategy};
use crate::tokens::Meter;
use crate::transcript::Item;

/// Everything that one run is made of.
pub struct Run<'a> {
    /// The strategy.
    pub strategy: &'a dyn Strategy,
    /// The player of every thread.
    pub agent: Box<dyn Agent>,
    /// The agents.
    pub context: RunContext,
    /// What the root's history holds before the first turn.
    pub history: Vec<Item>,
    /// The user's messages, in order.
    pub user: Vec<UserInput>,
    /// Files and tools.
    pub world: Box<dyn World>,
    /// Counts tokens; shared with other runs.
    pub meter: Meter,
    /// The harness's limits.
    pub ceilings: Ceilings,
    /// The model's window in tokens; `None`: no limit.
    pub window: Option<u64>,
    /// How long an exchange lasts where the model does not say.
    pub latency: Latency,
}

/// Plays a run to its end. Whatever goes wrong is in [`Outcome::failure`]; rows already written stay.
pub async fn run(_run: Run<'_>) -> Outcome {
    Outcome::default()
}
