//! What a strategy sees: the run's agents, every thread's state, the caller's history.

use std::collections::BTreeMap;

pub use crate::transcript::ToolSpec;
use crate::transcript::{CallKey, Item, Part};

use super::End;

/// A thread's id: minted by the engine, dense, in order of opening; 0 is the root. Never shown to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u32);

impl ThreadId {
    /// The root thread.
    pub const ROOT: ThreadId = ThreadId(0);
}

/// All that is fixed for a run: the scenario's agents.
#[derive(Clone, Debug, Default)]
pub struct RunContext {
    /// The agent that plays the root.
    pub root: String,
    /// Every agent by its name.
    pub agents: BTreeMap<String, AgentSpec>,
    /// Whether a strategy sends what its real client was measured to send beside history, as opaque sizes, in place of
    /// the scenario's and its own texts and schemas (`--scaffold measured`).
    pub scaffold: bool,
}

impl RunContext {
    /// The named agent; an unknown name has an empty prompt and no tools.
    pub fn agent(&self, name: &str) -> AgentSpec {
        self.agents.get(name).cloned().unwrap_or_default()
    }
}

/// One agent of the scenario: its prompt and its ordinary tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentSpec {
    /// The system prompt; `None`: no system text at all (held runs: recordings rarely hold it).
    pub system: Option<Part>,
    /// The ordinary tools, in the order in which they are sent.
    pub tools: Vec<ToolSpec>,
    /// What it is for, in a sentence, as its callers may read it; empty: nobody says.
    pub description: String,
}

/// A thread as it stands at this instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadState {
    /// Its id.
    pub id: ThreadId,
    /// The thread whose call opened it; `None` for the root.
    pub parent: Option<ThreadId>,
    /// 0 for the root.
    pub depth: u32,
    /// The agent that it was opened with.
    pub agent: String,
    /// Live turns (2 when turns overlap).
    pub running: u32,
    /// Turns queued behind the running one.
    pub waiting: u32,
    /// Undelivered items in the inbox that are not the user's.
    pub mail: usize,
    /// Undelivered user input in the inbox.
    pub input: usize,
    /// How its last turn ended.
    pub last: Option<End>,
    /// When it last sent or received anything, in virtual milliseconds.
    pub last_used_ms: u64,
}

/// Where and when a decision is taken. Current: rebuilt before every call into the session.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The thread that this decision is about.
    pub thread: ThreadId,
    /// Its turn, from 1; 0 where no turn is meant.
    pub turn: u32,
    /// Requests already sent in this turn.
    pub exchange: u32,
    /// Where this turn's items begin in the history (`view`, `turn`, `route`).
    pub own: usize,
    /// Virtual milliseconds since the run began.
    pub now_ms: u64,
    /// All threads of the run, indexed by id.
    pub threads: &'a [ThreadState],
    /// The shared world's files by path, as they stand now.
    pub files: &'a BTreeMap<String, String>,
}

impl<'a> Scope<'a> {
    /// A thread's state. The engine mints ids densely, so every id that a strategy can hold has one.
    pub fn state(&self, thread: ThreadId) -> &'a ThreadState {
        &self.threads[thread.0 as usize]
    }

    /// The state of the thread that this decision is about.
    pub fn me(&self) -> &'a ThreadState {
        self.state(self.thread)
    }

    /// Whether a turn of it is running.
    pub fn busy(&self, thread: ThreadId) -> bool {
        self.state(thread).running > 0
    }

    /// Children, grandchildren and so on, in order of opening.
    pub fn below(&self, thread: ThreadId) -> Vec<ThreadId> {
        let mut found = vec![thread];
        for state in self.threads {
            if state.parent.is_some_and(|parent| found.contains(&parent)) {
                found.push(state.id);
            }
        }
        found.remove(0);
        found
    }
}

/// The caller's history up to and including the delegating turn, and nothing later.
#[derive(Clone, Copy, Debug)]
pub struct ParentView<'a> {
    /// The items; answered calls of this very turn have their result here already.
    pub items: &'a [Item],
    /// Calls without a result, this one included.
    pub in_flight: &'a [CallKey],
}
