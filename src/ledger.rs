//! The ledger: one row an exchange, opened when the request is *sent* and closed on reply. Append-only.

mod by_thread;
mod in_common;

use std::sync::Arc;

pub(crate) use by_thread::ByThread;
pub use in_common::InCommon;

use crate::cache;
use crate::strategy::{End, Splice, ThreadId, ToolSpec};
use crate::transcript::{CallKey, Item, Origin, Part};

/// Tokens by origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByOrigin([u64; Origin::ALL.len()]);

impl ByOrigin {
    /// Adds tokens of an origin.
    pub fn add(&mut self, origin: Origin, tokens: u64) {
        self.0[origin as usize] += tokens;
    }

    /// Takes tokens of an origin off again.
    pub fn take(&mut self, origin: Origin, tokens: u64) {
        self.0[origin as usize] -= tokens;
    }

    /// Tokens of an origin.
    pub fn get(&self, origin: Origin) -> u64 {
        self.0[origin as usize]
    }

    /// Tokens of all origins.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// A provider's own count of one response; `None` is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Input tokens that no cache held.
    pub uncached_input: Option<u64>,
    /// Input tokens read from a cache.
    pub cache_read: Option<u64>,
    /// Input tokens written into a cache.
    pub cache_write: Option<u64>,
    /// Output tokens, reasoning included.
    pub output: Option<u64>,
    /// Reasoning tokens, inside `output`.
    pub reasoning: Option<u64>,
}

/// What became of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Sent, and no reply yet; in a finished run: abandoned.
    Open,
    /// Replied.
    Replied,
    /// The model gave no reply (an error, an overflow).
    Failed,
    /// The turn was aborted while it was on its way.
    Aborted,
    /// The run ended while it was on its way. It is paid all the same.
    Abandoned,
}

impl Fate {
    /// Its name in the ledger's files.
    pub fn name(self) -> &'static str {
        match self {
            Fate::Open => "open",
            Fate::Replied => "replied",
            Fate::Failed => "failed",
            Fate::Aborted | Fate::Abandoned => "abandoned",
        }
    }
}

/// How a provider's reply ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stop {
    /// As the model wanted.
    #[default]
    End,
    /// At the limit of output tokens.
    Length,
    /// The model refused.
    Refusal,
    /// A filter of the provider ended it.
    Filter,
    /// The stream broke off: what came by then is kept.
    Partial,
}

impl Stop {
    /// Its name in the ledger's files.
    pub fn name(self) -> &'static str {
        match self {
            Stop::End => "end",
            Stop::Length => "length",
            Stop::Refusal => "refusal",
            Stop::Filter => "filter",
            Stop::Partial => "partial",
        }
    }
}

/// What a run took of real time and at a provider; only a live one has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wall {
    /// From its first request to its end, in milliseconds.
    pub ms: u64,
    /// Requests that were sent, each attempt for itself.
    pub sent: u64,
    /// Requests that a cassette answered already.
    pub replayed: u64,
}

/// One exchange.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its number in the run, from 0, in order of sending.
    pub seq: u32,
    /// The thread.
    pub thread: ThreadId,
    /// The thread's place in the tree.
    pub path: Arc<str>,
    /// Who spoke.
    pub agent: Arc<str>,
    /// The intent whose call opened the turn; `None`: no call that was phrased from one did.
    pub intent: Option<Arc<str>>,
    /// The thread's turn, from 1.
    pub turn: u32,
    /// The exchange in the turn, from 0.
    pub exchange: u32,
    /// When it was sent, in virtual milliseconds.
    pub sent_ms: u64,
    /// When the reply came; `None`: none did.
    pub done_ms: Option<u64>,
    /// Input tokens by origin; the request's own frame counts as `system`.
    pub input: ByOrigin,
    /// Tokens of the reply, framed as the next request holds it; 0 until it arrives (what an aborted or abandoned
    /// exchange wrote, nobody received: `fate` says so).
    pub output: u64,
    /// Tokens in the request of delegated items and of delegation calls.
    pub delegation: u64,
    /// Tokens of the request after the first position that differs from this thread's last request (all, if first).
    pub moved: u64,
    /// Parts in the request whose tokens nobody knows (images, opaque reasoning): counted as 0 and named.
    pub unknown_parts: u32,
    /// What the provider's prompt cache made of the request; `None`: no cache was simulated.
    pub cache: Option<CacheUse>,
    /// What the provider or recording reported for this exchange.
    pub reported: Option<Usage>,
    /// What became of it.
    pub fate: Fate,
    /// An exchange that the recording lacks.
    pub synthetic: bool,
    /// Not the turn's own request.
    pub aside: bool,
    /// Input above the model's window.
    pub overflow: bool,
    /// A limit on output cut the reply ([`ReturnContract`](crate::strategy::ReturnContract)).
    pub capped: bool,
    /// 1; more when a provider had to be asked again. Each attempt is a row of its own.
    pub attempt: u32,
    /// How the reply ended.
    pub stop: Stop,
    /// Of its calls, those whose arguments are no JSON.
    pub broken_calls: u32,
    /// Calls made and calls cut.
    pub calls: u32,
    /// Calls that the strategy cut.
    pub cut: u32,
    /// READER rule 7.
    pub drift: u32,
    /// READER rule 10.
    pub rescues: u32,
    /// What was sent.
    pub sent: Sent,
}

/// What a prompt cache made of a request. Read, written and uncached tokens are together the request's input, always.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheUse {
    /// The worst case that the provider's rules allow.
    pub low: cache::Usage,
    /// The best case; equal where the rules are exact.
    pub high: cache::Usage,
    /// Where the request parts from what was sent before; `None`: it does not, it goes on.
    pub divergence: Option<FirstDivergence>,
}

impl CacheUse {
    /// Of so many tokens nothing was read and nothing written.
    pub fn none(input: u64) -> CacheUse {
        let usage = cache::Usage { uncached: input, ..cache::Usage::default() };
        CacheUse { low: usage, high: usage, divergence: None }
    }
}

/// Why a request reads no more of a prompt cache than it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstDivergence {
    /// The earlier request that has most in common with it, by its row; `None`: there is none, or it was sent before the run.
    pub row: Option<u32>,
    /// What comes first that is not the same, or that could not be read although it is.
    pub place: Place,
    /// The reason.
    pub why: cache::Why,
    /// Tokens in common with that request.
    pub common: u64,
    /// Tokens that would have been read without it, at most.
    pub lost: u64,
}

/// A place in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Among the tools.
    Tools,
    /// The system text.
    System,
    /// An item, by its number among those that are sent, from 0.
    Item(usize),
}

/// What a request held, without copying the history: a prefix of a log, with this request's own splices.
#[derive(Clone, Debug)]
pub struct Sent {
    /// The system text.
    pub system: Option<Part>,
    /// The tools.
    pub tools: Arc<[ToolSpec]>,
    /// Index into [`Outcome::logs`].
    pub log: usize,
    /// How many of the log's items.
    pub length: usize,
    /// This request's own changes.
    pub splices: Arc<[Splice]>,
    /// Where the turn's own items begin in the log.
    pub own: usize,
}

/// An append-only history that rows and threads refer to by length.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// The items.
    pub items: Vec<Item>,
    /// Tokens of each item as sent, frame included.
    pub tokens: Vec<u32>,
}

/// One thread, as the run left it.
#[derive(Clone, Debug)]
pub struct ThreadRecord {
    /// Its id.
    pub id: ThreadId,
    /// Its parent.
    pub parent: Option<ThreadId>,
    /// Its place in the tree.
    pub path: Arc<str>,
    /// 0 for the root.
    pub depth: u32,
    /// The agent that it was opened with.
    pub agent: String,
    /// The intent that opened it.
    pub intent: Option<String>,
    /// When it was opened.
    pub opened_ms: u64,
    /// How its last turn ended; `None`: it never ended one.
    pub last: Option<End>,
    /// Whether a turn was still running when the run ended.
    pub abandoned: bool,
    /// Index into [`Outcome::logs`].
    pub log: usize,
    /// How many of the log's items are its history.
    pub length: usize,
}

/// One act that opened or continued a child.
#[derive(Clone, Debug)]
pub struct Delegation {
    /// The call that did it.
    pub call: CallKey,
    /// The intent that the call was phrased from.
    pub intent: Option<String>,
    /// The calling thread.
    pub parent: ThreadId,
    /// The child.
    pub child: ThreadId,
    /// Whether it opened the child (else it continued one).
    pub opened: bool,
    /// When.
    pub at_ms: u64,
    /// The parent's history at that moment: a log and how many of its items.
    pub parent_history: (usize, usize),
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Which kind.
    pub kind: FailureKind,
    /// What happened, where, and what to do.
    pub message: String,
}

/// The kinds of failure, named as in the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// A request larger than the model's window.
    Overflow,
    /// The model gave no reply.
    Model,
    /// The strategy broke a rule of the seam, or its system ended the run by an error of its own.
    Strategy,
    /// The harness's own limit.
    Limit,
    /// Nothing can happen any more, and something is still waited for.
    Stuck,
    /// A spending cap.
    Cap,
    /// A panic inside the cell.
    Panic,
}

impl FailureKind {
    /// Its name in the results.
    pub fn name(self) -> &'static str {
        match self {
            FailureKind::Overflow => "overflow",
            FailureKind::Model => "model",
            FailureKind::Strategy => "strategy",
            FailureKind::Limit => "limit",
            FailureKind::Stuck => "stuck",
            FailureKind::Cap => "cap",
            FailureKind::Panic => "panic",
        }
    }
}

/// All that a run leaves behind: pure data, which metrics, scorers and reports fold over.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Every exchange, in order of sending.
    pub rows: Vec<Row>,
    /// Every thread, by id.
    pub threads: Vec<ThreadRecord>,
    /// The histories.
    pub logs: Vec<Log>,
    /// Every delegation, in order.
    pub delegations: Vec<Delegation>,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
    /// Calls that were refused: a result that opened no child.
    pub refusals: u32,
    /// Replies that came for a turn that had ended.
    pub late_replies: u32,
    /// When the first user turn came and when the run ended, in virtual milliseconds.
    pub span_ms: (u64, u64),
    /// Sum of all tool durations, in milliseconds.
    pub tools_ms: u64,
    /// Longest chain of exchanges, tools and waits that had to follow each other, in milliseconds.
    pub critical_path_ms: u64,
    /// Real time and requests; `None`: no provider was asked.
    pub wall: Option<Wall>,
    /// Whether somebody stopped it before its end: its figures are of nothing.
    pub interrupted: bool,
}

impl Outcome {
    /// The items of a request, as they were rendered.
    pub fn items_of(&self, row: &Row) -> Vec<Item> {
        splice(&self.logs[row.sent.log].items[..row.sent.length], &row.sent.splices)
    }

    /// A thread's history at the end.
    pub fn history_of(&self, thread: ThreadId) -> &[Item] {
        let record = &self.threads[thread.0 as usize];
        &self.logs[record.log].items[..record.length]
    }

    /// The rows of a thread, in order.
    pub fn rows_of(&self, thread: ThreadId) -> impl DoubleEndedIterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.thread == thread)
    }

    /// The root's last assistant text that is not blank; empty without one.
    pub fn answer(&self) -> String {
        if self.threads.is_empty() {
            return String::new();
        }
        let is_text = |item: &&Item| item.role() == Some(crate::transcript::Role::Assistant) && item.origin == Origin::Own;
        let texts = self.history_of(ThreadId::ROOT).iter().rev().filter(is_text).map(Item::text);
        texts.into_iter().find(|text| !text.trim().is_empty()).unwrap_or_default()
    }
}

/// A history with splices applied.
pub fn splice(items: &[Item], splices: &[Splice]) -> Vec<Item> {
    let mut out = Vec::with_capacity(items.len());
    out.extend(spliced_from(items, splices, 0).cloned());
    out
}

/// What stands in a history with splices applied, from an item on that stands before them all (or is the first one's place).
pub fn spliced_from<'a>(items: &'a [Item], splices: &'a [Splice], from: usize) -> impl Iterator<Item = &'a Item> + Clone {
    let ends = splices.iter().map(|splice| splice.at).chain([items.len()]);
    let begins = [from].into_iter().chain(splices.iter().map(|splice| splice.at + splice.remove));
    let new = splices.iter().map(|splice| &splice.items[..]).chain([&[][..]]);
    begins.zip(ends).zip(new).flat_map(|((begin, end), new)| items[begin..end].iter().chain(new))
}
