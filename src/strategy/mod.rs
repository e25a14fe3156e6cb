//! The strategy seam: what a sub-agent system decides. Pure and synchronous; the engine acts.
//!
//! One [`Session`] a run: limits, mailboxes and kept sessions span the tree, and every call names its thread through
//! [`Scope`]. Five methods: [`phrase`](Session::phrase), [`view`](Session::view), [`turn`](Session::turn),
//! [`route`](Session::route), [`deliver`](Session::deliver). Five orders: [`Order`]. Blocking or spawned is only *when*
//! a strategy replies; a hand-off is one thread whose speaker changes; threads never end, turns do.

pub mod claude_code;
pub mod codex;
pub mod deerflow;
pub mod filter;
mod full_copy;
mod inline;
pub mod isolated;
pub mod learn_claude_code;
pub mod maf;
pub mod opencode;
mod order;
mod phrase;
mod registry;
mod return_contract;
pub mod scaffold;
mod scope;
mod spawn_agent;
mod spec;
mod view;

pub use claude_code::ClaudeCode;
pub use codex::{CodexV1, CodexV2};
pub use deerflow::DeerFlow;
pub use full_copy::FullCopy;
pub use inline::Inline;
pub use isolated::{ArtifactRef, SummaryReturn};
pub use learn_claude_code::LearnClaudeCode;
pub use maf::{MafDotNet, MafPython};
pub use opencode::OpenCode;
pub use order::{End, Event, New, Order, Report, Route, To, When};
pub use phrase::{Act, Call, Intent};
pub use registry::{Choice, OptionSpec, RETURN_OPTIONS, Registered, Registry, RegistryError};
pub use return_contract::{ReturnContract, ReturnFormat};
pub use scope::{AgentSpec, ParentView, RunContext, Scope, ThreadId, ThreadState, ToolSpec};
pub use spawn_agent::SpawnAgent;
pub use spec::{Setting, Spec, SpecFault, UnknownStrategy};
pub use view::{AssistantTurn, Splice, Turn, View};

use crate::transcript::{Item, ToolCall};

/// A sub-agent system with its options.
pub trait Strategy: Send + Sync {
    /// `ID@PROFILE[:non-default options, sorted by key]`: stands in the cell id.
    fn id(&self) -> String;
    /// Raised whenever the behaviour changes: goes into the fingerprint beside the id.
    fn version(&self) -> u32 {
        1
    }
    /// Whether a child opens with history of its parent; the reader's brief `auto` depends on it (READER rule 8).
    fn hands_history_down(&self) -> bool {
        false
    }
    /// Whether it knows what its real client was measured to send beside history, and sends that as opaque sizes when
    /// [`RunContext::scaffold`] asks for it. One that does not sends the scenario's own texts, and the run says so.
    fn has_scaffold(&self) -> bool {
        false
    }
    /// Whether a child may be sent calls without results, as the real system does; else the engine names it a fault.
    fn may_dangle(&self) -> bool {
        false
    }
    /// What children's last messages are held to before the strategy sees them.
    fn return_contract(&self) -> ReturnContract {
        ReturnContract::default()
    }
    /// One session a run.
    fn start(&self, run: &RunContext) -> Box<dyn Session>;
}

/// One run under a strategy. No clock, no I/O, no randomness.
pub trait Session {
    /// An act in this protocol's words; `None`: it has no such act. The agent sends it only if the tool is shown to it.
    fn phrase(&self, act: &Act<'_>) -> Option<Call>;
    /// Before every request of every thread: who speaks, which system text, which tools, what the history becomes.
    fn view(&mut self, history: &[Item], at: &Scope<'_>) -> View;
    /// After every reply: which calls are made, which are cut, whether the turn ends.
    fn turn(&mut self, reply: AssistantTurn, _history: &[Item], _at: &Scope<'_>) -> Turn {
        reply.into()
    }
    /// For every call that is made: an ordinary tool, or orders of the strategy's own.
    fn route(&mut self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Route;
    /// For everything that happens between requests.
    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => vec![Order::input(items, When::Turn, at)],
            _ => vec![],
        }
    }
}
