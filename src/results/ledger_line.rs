//! One exchange as it stands in `ledger.jsonl`.

use std::borrow::Cow;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cache::{Kind, Why};
use crate::ledger::{ByOrigin, CacheUse, Fate, Place, Row, Stop, Usage};
use crate::transcript::Origin;

/// One exchange of a cell: a line of `ledger.jsonl`, in order of sending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LedgerLine {
    /// The cell.
    pub cell: Arc<str>,
    /// Its number in the cell, from 0.
    pub seq: u32,
    /// The thread's place in the tree.
    pub thread: Arc<str>,
    /// The thread's turn, from 1.
    pub turn: u32,
    /// When the request was sent, in virtual milliseconds.
    pub sent_ms: u64,
    /// When the reply came; null: none did.
    pub done_ms: Option<u64>,
    /// Tokens of the request by origin; its frame counts as `system`.
    pub input: TokensByOrigin,
    /// Tokens of the whole request.
    pub input_total: u64,
    /// Tokens of the reply.
    pub output: u64,
    /// What the prompt cache made of the request; null: none was simulated.
    pub cache: Option<CacheLine>,
    /// The first position that differs from this thread's request before; null: it only goes on, or is the first.
    pub first_divergence: Option<Divergence>,
    /// What a provider or a recording reported for this exchange, never merged with what is counted; null: nothing.
    pub reported: Option<Reported>,
    /// `replied`, `failed` or `abandoned` (sent and paid, but nobody waited for the reply).
    pub end: Cow<'static, str>,
    /// An exchange that a protocol needs and the recording lacks.
    pub synthetic: bool,
    /// 1; more when a provider had to be asked again.
    pub attempt: u32,
    /// How a provider's reply ended, where not as the model wanted: `length`, `refusal`, `filter`, or `partial` where the stream
    /// broke off (left out else).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Cow<'static, str>>,
    /// Calls whose arguments are no JSON, which their model was told (left out where there is none).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub broken_calls: u64,
}

/// Tokens by origin, every origin always written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // Each field is the origin of its name.
pub struct TokensByOrigin {
    pub system: u64,
    pub tools: u64,
    pub scaffold: u64,
    pub user: u64,
    pub task: u64,
    pub own: u64,
    pub tool_result: u64,
    pub inherited: u64,
    pub delegated: u64,
    pub compaction: u64,
}

impl From<ByOrigin> for TokensByOrigin {
    fn from(tokens: ByOrigin) -> TokensByOrigin {
        TokensByOrigin {
            system: tokens.get(Origin::System),
            tools: tokens.get(Origin::Tools),
            scaffold: tokens.get(Origin::Scaffold),
            user: tokens.get(Origin::User),
            task: tokens.get(Origin::Task),
            own: tokens.get(Origin::Own),
            tool_result: tokens.get(Origin::ToolResult),
            inherited: tokens.get(Origin::Inherited),
            delegated: tokens.get(Origin::Delegated),
            compaction: tokens.get(Origin::Compaction),
        }
    }
}

impl TokensByOrigin {
    /// The tokens of each origin, in the order of the ledger.
    pub fn each(&self) -> [(Origin, u64); Origin::ALL.len()] {
        Origin::ALL.map(|origin| {
            let tokens = match origin {
                Origin::System => self.system,
                Origin::Tools => self.tools,
                Origin::Scaffold => self.scaffold,
                Origin::User => self.user,
                Origin::Task => self.task,
                Origin::Own => self.own,
                Origin::ToolResult => self.tool_result,
                Origin::Inherited => self.inherited,
                Origin::Delegated => self.delegated,
                Origin::Compaction => self.compaction,
            };
            (origin, tokens)
        })
    }
}

/// What a prompt cache made of a request: tokens by class, which sum to its input. Where the provider's rules leave a range,
/// the worst case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheLine {
    /// Read from the cache.
    pub read: u64,
    /// Written into it.
    pub write: u64,
    /// Neither.
    pub uncached: u64,
    /// Of what was written, what is kept for the provider's longer lifetime (left out where nothing is).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub write_long: u64,
    /// The best case that the rules allow (left out where they are exact).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<CacheClasses>,
    /// Why no more was read (left out where the request goes on where an earlier one ended, or is the first).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Parting>,
}

/// A request's tokens by cache class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheClasses {
    /// Read from the cache.
    pub read: u64,
    /// Written into it.
    pub write: u64,
    /// Neither.
    pub uncached: u64,
    /// Of what was written, what is kept for the longer lifetime (left out where nothing is).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub write_long: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // As serde calls it.
fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
}

impl CacheLine {
    /// The worst case that the rules allow.
    pub fn worst(&self) -> CacheClasses {
        CacheClasses { read: self.read, write: self.write, uncached: self.uncached, write_long: self.write_long }
    }
}

impl From<crate::cache::Usage> for CacheClasses {
    fn from(usage: crate::cache::Usage) -> CacheClasses {
        CacheClasses { read: usage.read, write: usage.written(), uncached: usage.uncached, write_long: usage.write_long }
    }
}

/// Where a request parts from those before it, as far as a prompt cache goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parting {
    /// The request that has most in common with it, by its number in the cell; null: none has, or it was sent before the run.
    pub from: Option<u32>,
    /// What comes first that is not the same, or was not found: `tools`, `system`, or an item's number, from 0.
    pub at: Cow<'static, str>,
    /// `tools`, `system`, `setting`, `user`, `assistant`, `thinking`, `tool_use` or `tool_result` differs there; or the whole was
    /// sent before and is not there: `model`, `scope`, `key`, `expired`, `not_yet`, `minimum`, `look_back`, `not_kept`, `no_cache`.
    pub why: Cow<'static, str>,
    /// Tokens in common.
    pub common: u64,
    /// Tokens that would have been read without it, at most.
    pub lost: u64,
}

impl From<&CacheUse> for CacheLine {
    fn from(cache: &CacheUse) -> CacheLine {
        let (low, high) = (cache.low, cache.high);
        CacheLine {
            read: low.read,
            write: low.written(),
            uncached: low.uncached,
            write_long: low.write_long,
            best: (high != low).then(|| high.into()),
            parts: cache.divergence.map(|found| Parting {
                from: found.row,
                at: match found.place {
                    Place::Tools => "tools".into(),
                    Place::System => "system".into(),
                    Place::Item(at) => at.to_string().into(),
                },
                why: why(found.why).into(),
                common: found.common,
                lost: found.lost,
            }),
        }
    }
}

fn why(why: Why) -> &'static str {
    match why {
        Why::Nothing | Why::First => "",
        Why::Model => "model",
        Why::Scope => "scope",
        Why::Key => "key",
        Why::Expired => "expired",
        Why::NotYetAvailable => "not_yet",
        Why::BelowMinimum => "minimum",
        Why::OutsideLookBack => "look_back",
        Why::NotKept => "not_kept",
        Why::NoCache => "no_cache",
        Why::Differs(kind) => match kind {
            Kind::Tools => "tools",
            Kind::System => "system",
            Kind::Setting => "setting",
            Kind::User => "user",
            Kind::Assistant => "assistant",
            Kind::Thinking => "thinking",
            Kind::ToolUse => "tool_use",
            Kind::ToolResult => "tool_result",
        },
    }
}

/// Where a request first differs from the one before it on the same thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Divergence {
    /// The thread's place in the tree.
    pub thread: Arc<str>,
    /// The item, from 0; null: the system text or the tools differ, so everything does.
    pub item: Option<usize>,
}

/// A provider's own count; null is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // As in `Usage`.
pub struct Reported {
    pub uncached_input: Option<u64>,
    pub cache_read: Option<u64>,
    pub cache_write: Option<u64>,
    pub output: Option<u64>,
    pub reasoning: Option<u64>,
}

impl From<Usage> for Reported {
    fn from(usage: Usage) -> Reported {
        let Usage { uncached_input, cache_read, cache_write, output, reasoning } = usage;
        Reported { uncached_input, cache_read, cache_write, output, reasoning }
    }
}

impl LedgerLine {
    /// A row of a cell. A row that is still open when its run is over was abandoned.
    pub fn of(cell: Arc<str>, row: &Row, first_divergence: Option<Divergence>) -> LedgerLine {
        let end = match row.fate {
            Fate::Open => Fate::Abandoned.name(),
            fate => fate.name(),
        };
        LedgerLine {
            cell,
            seq: row.seq,
            thread: row.path.clone(),
            turn: row.turn,
            sent_ms: row.sent_ms,
            done_ms: row.done_ms,
            input: row.input.into(),
            input_total: row.input.total(),
            output: row.output,
            cache: row.cache.as_ref().map(CacheLine::from),
            first_divergence,
            reported: row.reported.map(Reported::from),
            end: end.into(),
            synthetic: row.synthetic,
            attempt: row.attempt,
            stop: (row.stop != Stop::End).then(|| row.stop.name().into()),
            broken_calls: row.broken_calls.into(),
        }
    }
}
