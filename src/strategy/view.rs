//! What a strategy makes of a request and of a reply.

use crate::transcript::{Item, Name, Part, ToolCall};

use super::{End, RunContext, ToolSpec};

/// Everything that a request is made of. Built anew for every request: the only source of system text and tools.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Who speaks: the ledger's name, and through it the model (a hand-off changes it).
    pub agent: String,
    /// The system text; `None`: none is sent.
    pub system: Option<Part>,
    /// The tools, in the order in which they are sent.
    pub tools: Vec<ToolSpec>,
    /// Changes of the history: ascending, disjoint, at positions of the history as given.
    pub splices: Vec<Splice>,
    /// Do not send: the turn ends like this.
    pub stop: Option<End>,
    /// Not the turn's own request (a summary, say): the reply goes to `Event::Aside`, then `view` is asked again.
    pub aside: bool,
    /// Whether this system's wire marks assistant text as commentary or final answer; else the field is dropped.
    pub phases: bool,
}

impl View {
    /// An agent's own prompt and tools.
    pub fn of(agent: &str, run: &RunContext) -> View {
        let spec = run.agent(agent);
        View { agent: agent.into(), system: spec.system, tools: spec.tools, ..View::default() }
    }

    /// The same view with one tool more.
    pub fn tool(mut self, tool: ToolSpec) -> View {
        self.tools.push(tool);
        self
    }
}

/// Replaces `remove` items at `at` by `items`.
#[derive(Clone, Debug)]
pub struct Splice {
    /// Position in the history as given to `view`.
    pub at: usize,
    /// How many items go.
    pub remove: usize,
    /// What stands there instead.
    pub items: Vec<Item>,
    /// True: the history from now on (forks and reports see it). False: this request only.
    pub keep: bool,
}

/// A model's reply as a strategy sees it.
#[derive(Clone, Debug, Default)]
pub struct AssistantTurn {
    /// Reasoning that the wire hands back, if any: it stays in the history before the text.
    pub reasoning: Vec<Part>,
    /// The text; empty: none.
    pub text: String,
    /// The calls, in order.
    pub calls: Vec<ToolCall>,
    /// A reply without calls that does not end the turn (held runs under `inline`).
    pub more: bool,
    /// An exchange that the recording lacks.
    pub synthetic: bool,
    /// Tokens of the request and of this reply.
    pub total: u64,
    /// The model's window in tokens; `None`: no limit.
    pub window: Option<u64>,
}

/// What becomes of a reply. Reasoning is the engine's to keep: no system of record edits it.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// The text that the history holds.
    pub text: String,
    /// These calls are made.
    pub calls: Vec<ToolCall>,
    /// These are not, and are recorded as such.
    pub cut: Vec<ToolCall>,
    /// Route the next call only when the last one is answered.
    pub serial: bool,
    /// From here on this turn reads no `Mail` and no `Wake` (Codex v2 after final-looking text).
    pub shut: bool,
    /// The turn ends with `text`, whatever was called.
    pub finish: bool,
    /// The turn goes on although nothing was called: the next request follows.
    pub more: bool,
    /// The name under which the history holds what was written: beside the text or, where there is none, beside the first call.
    pub name: Option<Name>,
}

impl From<AssistantTurn> for Turn {
    fn from(reply: AssistantTurn) -> Turn {
        Turn { text: reply.text, calls: reply.calls, ..Turn::default() }
    }
}
