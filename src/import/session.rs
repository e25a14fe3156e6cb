//! What a recording becomes: sessions (one a thread), their steps as the model saw them, and their delegations.

use crate::ledger::Usage;
use crate::transcript::{Item, Part};

use super::Source;

/// One recorded thread. A child is a session of its own, with [`parent`](Session::parent) set.
#[derive(Clone, Debug)]
pub struct Session {
    /// The thread's id: as the file has it, else `FILE:LINE`.
    pub id: String,
    /// Which product wrote it.
    pub source: Source,
    /// That product's version, as its last record says.
    pub version: Option<String>,
    /// The file that holds its first record, with `/` between folders.
    pub file: String,
    /// The folder that the recorded session worked in.
    pub folder: Option<String>,
    /// The parent's id, also when the parent was not imported.
    pub parent: Option<String>,
    /// The parent's position among [`Imported::sessions`](super::Imported::sessions), where it was imported.
    pub parent_at: Option<usize>,
    /// The kind of agent, where a record names it.
    pub agent: Option<String>,
    /// Model responses of the own part that are spend.
    pub responses: u64,
    /// What they used, each once.
    pub spend: Spend,
    /// Own spend and that of linked children.
    pub inclusive: Inclusive,
    /// The four classes of the last response, added up.
    pub final_context: Option<u64>,
    /// How many items stand before the own part: copied or referred to, no spend of this thread.
    pub inherited_items: u64,
    /// Those items, as far as the recording has them.
    pub inherited: Vec<Item>,
    /// The delegating calls of the own part, in order.
    pub delegations: Vec<Delegation>,
    /// The own part in the order in which the model saw it; empty with [`Detail::Summary`](super::Detail::Summary).
    pub steps: Vec<Step>,
    /// Responses that stand on a branch that was rewound: spend, but no part of [`steps`](Session::steps).
    pub rewound: u64,
}

/// Tokens by class; `None`: the format does not give it (never 0).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spend {
    /// Input that no cache held.
    pub uncached_input: Option<u64>,
    /// Input read from a cache.
    pub cache_read: Option<u64>,
    /// Input written into a cache.
    pub cache_write: Option<u64>,
    /// Output, reasoning included.
    pub output: Option<u64>,
    /// Reasoning, inside `output`.
    pub reasoning: Option<u64>,
    /// The first four added up.
    pub total: Option<u64>,
    /// Whether a response without usage was estimated from its size.
    pub estimated: bool,
}

/// Own spend and that of linked children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inclusive {
    /// The sum; a lower bound where children are unknown.
    pub total: Option<u64>,
    /// Children (of children too) that were opened and not imported.
    pub unknown_children: u64,
}

/// One delegating call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delegation {
    /// The call's id on the wire.
    pub call_id: String,
    /// The tool.
    pub kind: String,
    /// The child's id, where known.
    pub child: Option<String>,
    /// The child's position among [`Imported::sessions`](super::Imported::sessions), where it was imported.
    pub child_at: Option<usize>,
    /// How the call was linked to its child.
    pub link: Link,
    /// How sure that is.
    pub confidence: Confidence,
    /// What became of it.
    pub status: Status,
    /// A few words on it.
    pub title: String,
    /// The task.
    pub prompt: String,
    /// The kind of agent that was asked for.
    pub subagent_type: Option<String>,
    /// Whether the parent went on meanwhile.
    pub background: bool,
    /// The size of the child's last request and reply, as the parent's record has it. No spend.
    pub final_context: Option<u64>,
    /// What the child returned, as the parent's record has it; `None`: nothing, or an error, or (with
    /// [`Detail::Summary`](super::Detail::Summary)) a text that only the result's own content has.
    pub returned: Option<String>,
}

/// How a delegation was linked to its child; the first that applies, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// The child's side names the call.
    ToolUseId,
    /// One side's record names the other thread.
    AgentId,
    /// Equal text of task and opening.
    Prompt,
    /// Position alone.
    Order,
    /// No such thread was imported.
    Unresolved,
}

/// How sure a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// By an id.
    Exact,
    /// By a text that only one open call has, or by the returned text.
    High,
    /// By order.
    Low,
    /// There is no link.
    None,
}

/// What became of a delegation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Its end was recorded.
    Completed,
    /// Its result is an error.
    Failed,
    /// A call without a result.
    Running,
    /// Started in the background, and no end was seen.
    Launched,
}

/// One step of a thread.
#[derive(Clone, Debug)]
pub enum Step {
    /// What came in from outside: user messages, hidden messages of the product, compaction summaries.
    Input(Vec<Item>),
    /// A product's own notice on a background delegation.
    Notice {
        /// Which of [`Session::delegations`].
        delegation: usize,
        /// The notice.
        items: Vec<Item>,
    },
    /// One response of the model, with the results of its calls.
    Response(Response),
}

/// One model response.
#[derive(Clone, Debug, Default)]
pub struct Response {
    /// Reasoning, and content that is neither text nor call.
    pub reasoning: Vec<Part>,
    /// Its texts, joined by a blank line.
    pub text: String,
    /// Its calls, in order.
    pub calls: Vec<Call>,
    /// What was reported for it.
    pub usage: Option<Usage>,
    /// Whether `usage` was estimated from sizes.
    pub estimated: bool,
    /// The model.
    pub model: Option<String>,
    /// From the moment when its request could be sent to its last block; `None` where the time stamps do not give it.
    pub duration_ms: Option<u64>,
    /// Known by its usage alone: the response itself was not written into the recording.
    pub unwritten: bool,
}

/// One recorded call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The wire id: data, it may repeat.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as JSON text.
    pub args: Part,
    /// Its result; `None`: the recording has none.
    pub result: Option<CallResult>,
    /// Which of [`Session::delegations`] it is.
    pub delegation: Option<usize>,
    /// Set for a call that only asks for the answer of a background delegation.
    pub collects: Option<usize>,
}

/// A recorded result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallResult {
    /// What the model got to read.
    pub parts: Vec<Part>,
    /// Whether it is an error.
    pub failed: bool,
    /// How long the call took; `None` where the time stamps do not give it.
    pub ms: Option<u64>,
}

impl Spend {
    /// Adds a response's usage, field by field.
    pub fn add(&mut self, usage: &Usage) {
        let more = |sum: &mut Option<u64>, one: Option<u64>| {
            if let Some(one) = one {
                *sum = Some(sum.unwrap_or(0).saturating_add(one));
            }
        };
        more(&mut self.uncached_input, usage.uncached_input);
        more(&mut self.cache_read, usage.cache_read);
        more(&mut self.cache_write, usage.cache_write);
        more(&mut self.output, usage.output);
        more(&mut self.reasoning, usage.reasoning);
        more(&mut self.total, context_size(usage));
    }

    /// Nothing spent, in a format that has usage without a figure for reasoning.
    pub fn zero() -> Spend {
        let zero = Some(0);
        Spend { uncached_input: zero, cache_read: zero, cache_write: zero, output: zero, reasoning: None, total: zero, estimated: false }
    }
}

/// The four classes of a response added up; `None` if none is known.
pub fn context_size(usage: &Usage) -> Option<u64> {
    let classes = [usage.uncached_input, usage.cache_read, usage.cache_write, usage.output];
    classes.iter().any(Option::is_some).then(|| classes.iter().flatten().fold(0u64, |sum, class| sum.saturating_add(*class)))
}

impl Session {
    /// The same session in a list that begins `by` places later.
    pub(super) fn shifted(mut self, by: usize) -> Session {
        self.parent_at = self.parent_at.map(|at| at + by);
        for delegation in &mut self.delegations {
            delegation.child_at = delegation.child_at.map(|at| at + by);
        }
        self
    }
}
