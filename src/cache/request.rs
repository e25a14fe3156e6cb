//! What goes into the cache, and what comes out.

use std::sync::Arc;

use super::profile::Profile;
use super::segment::{Kind, Segment};
use super::usage::{Lifetime, Usage};

/// A request of this cache: its number in order of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub(super) u32);

impl RequestId {
    /// Its number in order of sending, from 0.
    pub fn number(self) -> usize {
        self.0 as usize
    }
}

/// A breakpoint that a request sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The segment that carries it: the n-th of the whole request, from 0.
    pub at: usize,
    /// How long what it writes shall live.
    pub lifetime: Lifetime,
}

/// One request, said as what it adds to an earlier one.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The rules of its provider.
    pub profile: &'a Arc<Profile>,
    /// The model. Nothing is shared between models.
    pub model: &'a str,
    /// The organisation or workspace. Nothing is shared between scopes.
    pub scope: &'a str,
    /// The routing key, where the provider has one.
    pub key: Option<&'a str>,
    /// The thread that sends it.
    pub thread: &'a str,
    /// When it starts, in milliseconds of virtual time. Requests come in order of sending; an earlier time counts as the latest.
    pub start_ms: u64,
    /// An earlier request that this one begins like: the thread's last one, or the parent's at a fork.
    pub after: Option<RequestId>,
    /// How many first segments it has in common with that one. They are taken over without being looked at.
    pub same: usize,
    /// Its other segments, in the provider's order.
    pub rest: &'a [Segment],
    /// Its breakpoints; none: those that the profile's client sets. An empty list sets none.
    pub marks: Option<&'a [Mark]>,
    /// How long the client's breakpoints live, where not as its profile says.
    pub lifetime: Option<Lifetime>,
}

/// Why a request is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// `after` was not sent to this cache.
    #[error("the request that this one begins like was never sent")]
    UnknownRequest,
    /// `same` is more than the earlier request has.
    #[error("the request claims {claimed} segments of an earlier one that has {held}")]
    TooManySame {
        /// What was claimed.
        claimed: usize,
        /// What there is.
        held: usize,
    },
    /// A breakpoint on no segment, or on one that cannot carry it.
    #[error("segment {0} cannot carry a breakpoint")]
    Mark(usize),
    /// More breakpoints than the provider takes (it answers 400).
    #[error("{sent} breakpoints, and the provider takes {taken}")]
    TooManyMarks {
        /// What was sent.
        sent: usize,
        /// What is taken.
        taken: usize,
    },
    /// A longer lifetime behind a shorter one (the provider answers 400).
    #[error("a breakpoint with the longer lifetime stands behind one with the shorter")]
    MarkOrder,
    /// More tokens than can be counted.
    #[error("the request has more tokens than can be counted")]
    TooLarge,
}

/// What the cache did with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The request, for later ones to refer to.
    pub request: RequestId,
    /// Its input tokens.
    pub input: u64,
    /// The worst case that the rules allow.
    pub low: Usage,
    /// The best case. Equal to `low` where the rules are exact.
    pub high: Usage,
    /// Why it is a range; none where it is not.
    pub range: Option<Arc<str>>,
    /// Where it parts from earlier requests, and what that cost.
    pub divergence: Divergence,
}

/// Where a request stops being like an earlier one, or why it could not be read although it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The earlier request that has most in common with it.
    pub nearest: Option<RequestId>,
    /// Whole segments in common: the first that differs has this index.
    pub segment: usize,
    /// Tokens in common.
    pub common: u64,
    /// The reason.
    pub why: Why,
    /// Tokens that would have been read without it, in the best case; where the content differs, at most.
    pub lost: u64,
}

/// Why no more was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Nothing was lost: it goes on where an earlier request ended, or all of it was sent before.
    Nothing,
    /// No request was sent before.
    First,
    /// The nearest request went to another model or provider.
    Model,
    /// The nearest request belongs to another organisation or workspace.
    Scope,
    /// The nearest request had another routing key.
    Key,
    /// What the nearest request wrote is no longer kept.
    Expired,
    /// The nearest request had not begun to answer.
    NotYetAvailable,
    /// The first segment that differs is of this kind.
    Differs(Kind),
    /// What is in common is shorter than the provider keeps.
    BelowMinimum,
    /// It is kept, and too far before the breakpoints to be found.
    OutsideLookBack,
    /// It was sent before, and nothing was kept there: no breakpoint stood on it, or the slot has been taken since.
    NotKept,
    /// The provider keeps nothing.
    NoCache,
}
