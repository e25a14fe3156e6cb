//! What plays the threads. The one async seam: only [`Agent::reply`]'s future is ever awaited.

pub mod cassette;
pub mod held;
pub mod judge;
#[cfg(feature = "live")]
pub mod live;
pub mod profile;
pub mod provided;
pub mod reader;
pub mod script;
pub mod wire;

use std::future::Future;
use std::pin::Pin;

pub use crate::ledger::{FailureKind, Stop, Usage, Wall};
use crate::strategy::{Act, Call, Intent, ThreadId, ToolSpec};
use crate::transcript::{Digest, Item, Part, Recorded};

/// A model: reader, script, held recording, later cassettes and live providers.
pub trait Model: Send + Sync {
    /// Its name in the cell id.
    fn name(&self) -> String;
    /// One agent a run; it plays every thread of it. `seed` is the cell's.
    fn start(&self, seed: u64) -> Box<dyn Agent>;
    /// A digest of what of its own content plays the cell of this seed, beside what its name says: a cassette's replies.
    fn content(&self, _seed: u64) -> Option<Digest> {
        None
    }
}

/// A reply on its way.
pub type Pending = Pin<Box<dyn Future<Output = Result<Reply, ModelError>>>>;

/// One run's player.
pub trait Agent {
    /// Called when the request is sent. What a simulated agent decides, it decides here; the future of a virtual model
    /// is ready at once, a live one awaits its provider.
    fn reply(&mut self, request: &Request<'_>) -> Pending;
    /// Called once, when the run is over.
    fn finish(&mut self) -> Finished {
        Finished::default()
    }
}

/// What a player has to say when a run is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Finished {
    /// Real time and requests, of a live one.
    pub wall: Option<Wall>,
    /// Whether somebody stopped it.
    pub interrupted: bool,
}

/// An attempt that brought no reply and was followed by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedAttempt {
    /// How long it lasted, in milliseconds.
    pub ms: u64,
    /// How long it was waited behind it, in milliseconds.
    pub then_ms: u64,
    /// What was reported for it.
    pub reported: Option<Usage>,
}

/// Everything that a model gets to see, and the little that only a simulated or held one may use.
pub struct Request<'a> {
    /// The thread. A live model never sees it.
    pub thread: ThreadId,
    /// Its place in the tree (`/`, `/1`, `/1/2`): children are numbered from 1 in order of opening under one parent.
    pub path: &'a str,
    /// The thread's turn, from 1.
    pub turn: u32,
    /// Requests already sent in this turn.
    pub exchange: u32,
    /// Who speaks.
    pub agent: &'a str,
    /// The id of the intent that opened this turn; held agents find their steps by it. The reader may not act on it: it
    /// only counts [`Reply::drift`] by it, when all is decided.
    pub intent: Option<&'a str>,
    /// The system text.
    pub system: Option<&'a Part>,
    /// The tools.
    pub tools: &'a [ToolSpec],
    /// The items, as rendered: splices are in them.
    pub items: &'a [Item],
    /// Tokens of this request, as they are counted.
    pub tokens: u64,
    /// An aside (a summary, say): see [`View::aside`](crate::strategy::View::aside).
    pub aside: bool,
    /// Virtual milliseconds since the run began.
    pub now_ms: u64,
    /// An act in the strategy's words, if it has it and its tool is among `tools`.
    pub speak: &'a dyn Fn(&Act<'_>) -> Option<Call>,
}

impl Request<'_> {
    /// Delegates, if this protocol can and shows the tool for it.
    pub fn delegate(&self, intent: &Intent) -> Option<Call> {
        (self.speak)(&Act::Delegate(intent))
    }
}

/// A call that a reply makes; the engine mints its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallDraft {
    /// The wire id; empty: the engine writes one.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as JSON text.
    pub args: String,
    /// The id of the intent that it was phrased from.
    pub intent: Option<String>,
    /// Held runs: the result that stands in the recording.
    pub recorded: Option<Recorded>,
}

impl CallDraft {
    /// A call of an ordinary tool.
    pub fn tool(name: impl Into<String>, args: impl Into<String>) -> CallDraft {
        CallDraft { id: String::new(), name: name.into(), args: args.into(), intent: None, recorded: None }
    }

    /// A call in protocol words, tagged with the intent that it was phrased from.
    pub fn phrased(call: Call, intent: Option<&str>) -> CallDraft {
        CallDraft { intent: intent.map(str::to_owned), ..CallDraft::tool(call.name, call.args) }
    }
}

/// How long an exchange lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Took {
    /// By the latency profile, from the counted tokens.
    Profile,
    /// So many milliseconds (recorded, scripted or measured).
    Ms(u64),
}

/// What a model answers.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Reasoning that the wire hands back.
    pub reasoning: Vec<Part>,
    /// The text; empty: none.
    pub text: String,
    /// The calls, in order.
    pub calls: Vec<CallDraft>,
    /// A reply without calls that does not end the turn (held runs under `inline`).
    pub more: bool,
    /// An exchange that the recording lacks.
    pub synthetic: bool,
    /// User input that the recording shows directly after this reply's results, inside the turn.
    pub then_user: Vec<Item>,
    /// Its duration.
    pub took: Took,
    /// What the provider reported, beside what is counted here; never merged with it.
    pub reported: Option<Usage>,
    /// Intents whose marker was followed although they were finished or not dispatched to this thread (READER rule 7).
    pub drift: u32,
    /// Work that the parent did itself after a failed delegation (READER rule 10): intents first taken over here.
    pub rescues: u32,
    /// How it ended.
    pub stop: Stop,
    /// Of its calls, those whose arguments are no JSON.
    pub broken_calls: u32,
    /// The attempts before it.
    pub attempts: Vec<FailedAttempt>,
}

impl Default for Reply {
    fn default() -> Reply {
        Reply {
            reasoning: vec![],
            text: String::new(),
            calls: vec![],
            more: false,
            synthetic: false,
            then_user: vec![],
            took: Took::Profile,
            reported: None,
            drift: 0,
            rescues: 0,
            stop: Stop::End,
            broken_calls: 0,
            attempts: vec![],
        }
    }
}

impl Reply {
    /// A reply of text alone.
    pub fn say(text: impl Into<String>) -> Reply {
        Reply { text: text.into(), ..Reply::default() }
    }
}

/// Why a model gave no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// What happened and what to do.
    pub message: String,
    /// Whether the run is worth nothing without this reply, whatever thread asked for it (a gap in a script). Else the
    /// turn fails, and the strategy says what its parent hears of it, as with a provider that gave an error.
    pub ends_run: bool,
    /// Which kind of failure it is.
    pub kind: FailureKind,
    /// How long the last attempt took, in milliseconds; at least 1 counts.
    pub ms: u64,
    /// The attempts before the last.
    pub attempts: Vec<FailedAttempt>,
}

impl ModelError {
    /// An error that fails the turn.
    pub fn of_turn(message: impl Into<String>) -> ModelError {
        ModelError { message: message.into(), ends_run: false, kind: FailureKind::Model, ms: 1, attempts: vec![] }
    }

    /// An error that fails the run.
    pub fn of_run(message: impl Into<String>) -> ModelError {
        ModelError { ends_run: true, ..ModelError::of_turn(message) }
    }
}

/// A future that is ready at once.
pub fn ready(reply: Result<Reply, ModelError>) -> Pending {
    Box::pin(std::future::ready(reply))
}
