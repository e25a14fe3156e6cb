//! One exchange as it stands in `ledger.jsonl`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ledger::{ByOrigin, Fate, Row, Usage};
use crate::transcript::Origin;

/// One exchange of a cell: a line of `ledger.jsonl`, in order of sending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LedgerLine {
    /// The cell.
    pub cell: String,
    /// Its number in the cell, from 0.
    pub seq: u32,
    /// The thread's place in the tree.
    pub thread: String,
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
    /// The request's tokens by cache class; null: no cache was modelled.
    pub cache: Option<CacheClasses>,
    /// The first position that differs from this thread's request before; null: it only goes on, or is the first.
    pub first_divergence: Option<Divergence>,
    /// What a provider or a recording reported for this exchange, never merged with what is counted; null: nothing.
    pub reported: Option<Reported>,
    /// `replied`, `failed` or `abandoned` (sent and paid, but nobody waited for the reply).
    pub end: String,
    /// An exchange that a protocol needs and the recording lacks.
    pub synthetic: bool,
    /// 1; more when a provider had to be asked again.
    pub attempt: u32,
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

/// A request's tokens by cache class: they sum to its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheClasses {
    /// Read from a cache.
    pub read: u64,
    /// Written into one.
    pub write: u64,
    /// Neither.
    pub uncached: u64,
}

/// Where a request first differs from the one before it on the same thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Divergence {
    /// The thread's place in the tree.
    pub thread: String,
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
    pub fn of(cell: &str, row: &Row, first_divergence: Option<Divergence>) -> LedgerLine {
        let end = match row.fate {
            Fate::Open => Fate::Abandoned.name(),
            fate => fate.name(),
        };
        LedgerLine {
            cell: cell.to_owned(),
            seq: row.seq,
            thread: row.path.to_string(),
            turn: row.turn,
            sent_ms: row.sent_ms,
            done_ms: row.done_ms,
            input: row.input.into(),
            input_total: row.input.total(),
            output: row.output,
            cache: None,
            first_divergence,
            reported: row.reported.map(Reported::from),
            end: end.to_owned(),
            synthetic: row.synthetic,
            attempt: 1,
        }
    }
}
