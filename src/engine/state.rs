//! What the engine keeps: threads, turns, calls.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::ledger::FailureKind;
use crate::strategy::{End, ThreadId, ToolSpec, When};
use crate::transcript::{CallKey, Item, ToolCall};

use super::log::Prefix;

/// An index into the engine's turns.
pub(super) type TurnIndex = usize;

/// One thread.
pub(super) struct Thread {
    pub(super) parent: Option<ThreadId>,
    pub(super) path: Arc<str>,
    pub(super) depth: u32,
    pub(super) agent: String,
    pub(super) intent: Option<String>,
    pub(super) opened_ms: u64,
    pub(super) drain: bool,
    pub(super) keep_failed: bool,
    pub(super) children: u32,
    /// What is committed.
    pub(super) base: Prefix,
    /// Commits so far: two overlapping turns notice each other by it.
    pub(super) commits: u32,
    pub(super) turns: u32,
    pub(super) live: Vec<TurnIndex>,
    pub(super) queue: VecDeque<Queued>,
    pub(super) inbox: VecDeque<Letter>,
    pub(super) last: Option<End>,
    pub(super) last_used_ms: u64,
    /// Its last row, for what moved.
    pub(super) last_row: Option<usize>,
    /// The items of its last request, if they are not those of a log.
    pub(super) rendered: Vec<Item>,
    /// The row that it is of.
    pub(super) rendered_row: Option<usize>,
}

/// A turn that waits behind the running one.
pub(super) struct Queued {
    pub(super) items: Vec<Item>,
    pub(super) by: Option<CallKey>,
    pub(super) chain: u64,
}

/// Something undelivered.
pub(super) struct Letter {
    pub(super) item: Item,
    pub(super) when: When,
    /// The call that put it here: opens the turn that an unread wake starts.
    pub(super) by: Option<CallKey>,
    pub(super) chain: u64,
}

/// Where a turn stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It will be sampled at the end of this instant.
    Ready,
    /// A request is on its way.
    Sent(usize),
    /// Its calls are being answered.
    Calls,
    /// Over.
    Over,
}

/// One turn of a thread.
pub(super) struct LiveTurn {
    pub(super) thread: ThreadId,
    pub(super) number: u32,
    pub(super) by: Option<CallKey>,
    pub(super) intent: Option<String>,
    /// The log that it appends to.
    pub(super) log: usize,
    /// Where its own items begin.
    pub(super) own: usize,
    pub(super) commits_before: u32,
    pub(super) exchanges: u32,
    /// Opened with items, which are sampled before pending mail is read.
    pub(super) opened_with_items: bool,
    pub(super) shut: bool,
    pub(super) stage: Stage,
    pub(super) started_ms: u64,
    /// The calls of the last reply, in order.
    pub(super) batch: Vec<CallKey>,
    pub(super) routed: usize,
    pub(super) serial: bool,
    /// Its calls are being routed: an answer given at once does not begin that anew.
    pub(super) routing: bool,
    pub(super) then_user: Vec<Item>,
    /// Longest chain of work that led here, in milliseconds.
    pub(super) chain: u64,
    /// Which kind of failure ended it, for the root's.
    pub(super) broken: FailureKind,
    pub(super) tools: Arc<[ToolSpec]>,
    pub(super) phases: bool,
}

/// One call.
pub(super) struct OpenCall {
    pub(super) call: Arc<ToolCall>,
    pub(super) turn: TurnIndex,
    pub(super) thread: ThreadId,
    /// Whether the strategy answers it.
    pub(super) own: bool,
    /// Whether its answer has been given, perhaps for later.
    pub(super) replied: bool,
    pub(super) answer: Option<Item>,
    pub(super) chain: u64,
}

/// What arrives.
pub(super) enum Arrival {
    Reply {
        turn: TurnIndex,
        row: usize,
        reply: Box<crate::model::Reply>,
        output: u64,
        chain: u64,
    },
    Broken {
        turn: TurnIndex,
        row: usize,
        kind: FailureKind,
        message: String,
        chain: u64,
    },
    Result {
        key: CallKey,
        item: Item,
        chain: u64,
    },
    Timeout {
        key: CallKey,
        chain: u64,
    },
    User {
        items: Vec<Item>,
    },
    /// An attempt brought no reply; the next is due.
    Again {
        turn: TurnIndex,
        row: usize,
        attempts: VecDeque<crate::model::FailedAttempt>,
        reply: Box<Result<crate::model::Reply, crate::model::ModelError>>,
        chain: u64,
    },
}
