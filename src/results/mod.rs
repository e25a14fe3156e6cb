//! What a run leaves for others to read: the stored formats, each with a version, a fixed field order and a schema.
//!
//! Nothing here depends on a clock, a path, a machine or a number of threads: equal runs, equal bytes.

mod break_even;
mod ledger_line;
mod number;
mod part_name;
mod schema;
mod summary;
mod thread_lines;

use std::borrow::Cow;
use std::sync::Arc;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use rustc_hash::FxBuildHasher;

use crate::ledger::Wall;
use crate::reason::Reason;
use crate::scenario::{Briefing, Fallback, Size};

pub use break_even::{BreakEven, BreakEvenRow, BreakEvens};
pub use ledger_line::{CacheClasses, CacheLine, Divergence, LedgerLine, Parting, Reported, TokensByOrigin};
pub use number::Number;
pub use part_name::PartName;
pub use schema::{ledger_schema, results_schema};
pub use summary::{RESAMPLING_SEED, SummaryRow, Summing, scale};
pub use thread_lines::{ItemKind, ItemLine, PartLine, RequestLine};

/// Something of each metric, by its name and in one order.
pub type ByMetric<V> = IndexMap<Cow<'static, str>, V, FxBuildHasher>;

/// The version of the results, of `results.jsonl` and of `run --format json`.
pub const RESULTS_FORMAT: &str = "ctxbench-results/1";
/// The version of `ledger.jsonl`.
pub const LEDGER_FORMAT: &str = "ctxbench-ledger/1";
/// The version of the files in `threads/`.
pub const THREADS_FORMAT: &str = "ctxbench-threads/1";

/// A whole results document, as `run --format json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// `ctxbench-results/1`.
    pub format: String,
    /// The version of ctxbench that wrote it.
    pub ctxbench: String,
    /// The encoding that every token figure is counted in.
    pub tokenizer: String,
    /// The prices that costs are in; null: nothing is priced, and every cost is unmeasured.
    pub prices: Option<Prices>,
    /// What the cells have in common.
    pub settings: Settings,
    /// The cells, in plan order.
    pub cells: Vec<CellResult>,
    /// Means over the scenarios.
    pub summary: Vec<SummaryRow>,
    /// From which further request on each delegating cell has cost no more than `inline` (left out where `inline` was not run).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub break_even: Vec<BreakEvenRow>,
}

/// What stands before the cells: all of [`Results`] that is known before the first one is run.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// The encoding's name.
    pub tokenizer: String,
    /// The prices that costs are in; `None`: nothing is priced.
    pub prices: Option<Prices>,
    /// What the cells have in common.
    pub settings: Settings,
}

/// A price table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Its name.
    pub name: String,
    /// Digest of its content (SHA-256, in hexadecimal digits).
    pub sha256: String,
    /// The day that it is of.
    pub date: String,
}

/// What the cells of a run have in common: part of every cell's fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The size that scenarios are compiled in.
    pub size: Size,
    /// Seeds of each scenario, strategy and model: 0 to one less.
    pub seeds: u64,
    /// What a delegating reader writes into a task.
    pub briefing: Briefing,
    /// What stands in for the scenarios' own rule about failed delegations; null: nothing does.
    pub fallback: Option<Fallback>,
    /// The model whose window and latency runs take (a recording takes its own model's instead where that is known and
    /// none was asked for); null: none, so no window.
    #[serde(rename = "as")]
    pub as_model: Option<String>,
    /// The model whose window, latency, prompt cache and prices every thread but the root takes; `none`: none (left out where it is the
    /// root's).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_model: Option<String>,
    /// The latency profile that virtual time is computed with: an illustration, not a prediction.
    pub latency: String,
    /// The counting engine and its version.
    pub engine: String,
    /// The fixed texts of real clients that requests are padded with.
    pub scaffold: String,
    /// The prompt cache that requests meet.
    pub cache: CacheSettings,
}

/// The prompt cache that the requests of a run meet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheSettings {
    /// `model`: by the rules of the provider of the model that is taken; `off`: none is simulated; else the rules' name.
    pub rules: String,
    /// `run`: all threads send one routing key; `thread`: each its own.
    pub keys: String,
    /// `cold`: nothing lies in the cache when a run begins; `warm`: what the root has before its first turn does.
    pub start: String,
}

impl Default for CacheSettings {
    /// By the model's provider, one key, cold.
    fn default() -> CacheSettings {
        CacheSettings { rules: "model".into(), keys: "run".into(), start: "cold".into() }
    }
}

/// What produced a cell's behaviour: decides what may be claimed from its figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// Exact steps by thread and turn.
    Scripted,
    /// The reader agent, which acts only on the text that it can see.
    Simulated,
    /// A recorded session: recorded steps are held fixed, openings and returns are the strategy's.
    Held,
    /// Replies recorded from a provider, replayed.
    Cassette,
    /// A provider, now.
    Live,
}

impl Evidence {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Evidence::Scripted => "scripted",
            Evidence::Simulated => "simulated",
            Evidence::Held => "held",
            Evidence::Cassette => "cassette",
            Evidence::Live => "live",
        }
    }

    /// What such figures may be taken for, in a few words.
    pub fn claim(self) -> &'static str {
        match self {
            Evidence::Scripted => "exact figures of that script",
            Evidence::Simulated => "properties of the mechanism, not of a model",
            Evidence::Held => "a recording's own steps under another strategy; quality is not measured",
            Evidence::Cassette => "that model on that day",
            Evidence::Live => "that model now",
        }
    }
}

/// How a cell ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It ran to its end.
    Ok,
    /// It failed, and its scenario did not expect it.
    Failed,
    /// It failed as its scenario wants it to.
    ExpectedFailure,
}

impl Status {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Failed => "failed",
            Status::ExpectedFailure => "expected_failure",
        }
    }
}

/// Why a cell failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureNote {
    /// `overflow`, `model`, `strategy`, `limit`, `stuck`, `cap` or `panic`.
    pub kind: String,
    /// What happened, where, and what to do.
    pub message: String,
}

/// One cell's results: a line of `results.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellResult {
    /// The cell's id.
    pub cell: String,
    /// The scenario's id.
    pub scenario: String,
    /// The size that it was compiled in.
    pub size: Size,
    /// The strategy with its profile and its options that are not the default.
    pub strategy: String,
    /// The model.
    pub model: String,
    /// The seed.
    pub seed: u64,
    /// What produced the behaviour.
    pub evidence: Evidence,
    /// How it ended.
    pub status: Status,
    /// Why it failed; null: it did not.
    pub failure: Option<FailureNote>,
    /// Digest of all that its figures depend on.
    pub fingerprint: String,
    /// Every metric by name, in one order; null: not measured.
    pub metrics: ByMetric<Option<Number>>,
    /// Why a metric is null, for each that is.
    pub unmeasured: ByMetric<Reason>,
    /// The checks of the final answer.
    pub checks: Vec<CheckScore>,
    /// The threads, in order of opening.
    pub threads: Vec<ThreadNote>,
    /// The family of a scenario that is one of several of its file (left out where it stands for itself): such scenarios are
    /// alike, so intervals take a family for one sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// What a reader must know beside the figures, in whole sentences (left out when there is nothing): a figure that is
    /// a lower bound, say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What judges say of its final answer (left out where there is none). Their tokens count in no figure of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<JudgeNote>,
    /// Real time and requests, of a live cell alone (left out else): all that may differ between a recording and its replay,
    /// beside `evidence`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall: Option<WallNote>,
}

/// What a judge says of a final answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgeNote {
    /// The judge.
    pub judge: String,
    /// From 0 to 1; null: it gave none.
    pub score: Option<Number>,
    /// Its reason, or why there is no score.
    pub reason: String,
    /// What was reported of its tokens; null: nothing.
    pub reported: Option<Reported>,
}

/// What a live cell took of real time and at its provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WallNote {
    /// From its first request to its end, in milliseconds.
    pub ms: u64,
    /// Requests that were sent, each attempt for itself.
    pub sent: u64,
    /// Requests that the cassette answered already: nothing was paid for them again.
    pub replayed: u64,
}

impl From<Wall> for WallNote {
    fn from(wall: Wall) -> WallNote {
        WallNote { ms: wall.ms, sent: wall.sent, replayed: wall.replayed }
    }
}

/// What a check scored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckScore {
    /// The check's id.
    pub id: Arc<str>,
    /// 0 to 1.
    pub score: Number,
}

/// A thread and how often it asked its model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreadNote {
    /// Its place in the tree.
    pub path: Arc<str>,
    /// Its requests.
    pub requests: u64,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A cell without figures.
    pub(crate) fn cell(scenario: &str, strategy: &str, seed: u64) -> CellResult {
        CellResult {
            cell: format!("{scenario}/{strategy}/reader/{seed}"),
            scenario: scenario.into(),
            size: Size::Small,
            strategy: strategy.into(),
            model: "reader".into(),
            seed,
            evidence: Evidence::Simulated,
            status: Status::Ok,
            failure: None,
            fingerprint: "0".into(),
            metrics: ByMetric::default(),
            unmeasured: ByMetric::default(),
            checks: vec![],
            threads: vec![],
            family: None,
            notes: vec![],
            judged: vec![],
            wall: None,
        }
    }

    /// An exchange that was replied to.
    pub(crate) fn ledger_line(seq: u32, thread: &str, input: TokensByOrigin, output: u64) -> LedgerLine {
        LedgerLine {
            cell: "c".into(),
            seq,
            thread: thread.into(),
            turn: 1,
            sent_ms: 0,
            done_ms: None,
            input,
            input_total: input.each().iter().map(|(_, tokens)| tokens).sum(),
            output,
            cache: None,
            first_divergence: None,
            reported: None,
            end: "replied".into(),
            synthetic: false,
            attempt: 1,
            stop: None,
            broken_calls: 0,
        }
    }

    #[test]
    fn a_cell_has_the_fields_of_the_contract_in_their_order() {
        let mut one = cell("auth-lookup", "opencode@1.18.33", 0);
        one.metrics.insert("parent.final_context".into(), Some(Number::Whole(1234)));
        one.metrics.insert("cost.usd".into(), None);
        one.metrics.insert("quality".into(), Some(Number::Real(0.83)));
        one.unmeasured.insert("cost.usd".into(), "no price for model reader".into());
        one.checks.push(CheckScore { id: "names-jwt".into(), score: Number::Real(1.0) });
        one.threads.push(ThreadNote { path: "/".into(), requests: 5 });
        let expect = concat!(
            r#"{"cell":"auth-lookup/opencode@1.18.33/reader/0","scenario":"auth-lookup","size":"small","#,
            r#""strategy":"opencode@1.18.33","model":"reader","seed":0,"evidence":"simulated","status":"ok","failure":null,"#,
            r#""fingerprint":"0","metrics":{"parent.final_context":1234,"cost.usd":null,"quality":0.83},"#,
            r#""unmeasured":{"cost.usd":"no price for model reader"},"checks":[{"id":"names-jwt","score":1.0}],"#,
            r#""threads":[{"path":"/","requests":5}]}"#,
        );
        assert_eq!(serde_json::to_string(&one).unwrap(), expect);
        assert_eq!(serde_json::from_str::<CellResult>(expect).unwrap(), one);
    }
}
