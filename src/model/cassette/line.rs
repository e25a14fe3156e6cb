//! The lines of a cassette.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ledger::Usage;
use crate::model::wire::{Asking, Delivery};

/// The version of cassettes.
pub const CASSETTE_FORMAT: &str = "ctxbench-cassette/1";

/// A place in the one order of sends and deliveries, from 0.
pub type Order = u64;

/// The first line: with what was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// `ctxbench-cassette/1`.
    pub format: String,
    /// The version of ctxbench that wrote it.
    pub ctxbench: String,
    /// The day on which it was begun.
    pub recorded: String,
    /// The provider, as it was typed. Its address is not kept.
    pub provider: String,
    /// All of a request that does not depend on its thread.
    pub asking: Asking,
    /// The judges, by name (left out where there is none).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub judges: BTreeMap<String, Asking>,
    /// What is not looked at when requests are compared: a field of a piece (`/seed`, `/content/*/id`), or a regular expression over
    /// its texts.
    pub masked: Vec<String>,
    /// Regular expressions whose matches stand nowhere in the file.
    pub redacted: Vec<String>,
}

impl Head {
    /// With what was asked in a lane: a thread's, or a judge's.
    pub fn asking_of(&self, lane: &str) -> &Asking {
        lane.strip_prefix("judge ").and_then(|judge| self.judges.get(judge)).unwrap_or(&self.asking)
    }
}

/// Any line behind the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Line {
    /// A piece of a request, before the first request that has it.
    Piece(PieceLine),
    /// A request was sent.
    Send(Send),
    /// What came back for it.
    Delivery(Delivered),
    /// A cell was played to its end.
    Done(Done),
}

/// A piece of a request: a message, a tool, the system text, or the fields beside them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PieceLine {
    /// Its digest, as requests name it. Masked texts do not count in it.
    pub digest: String,
    /// What was sent.
    pub json: Value,
}

/// The pieces of a request, by their digests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestPieces {
    /// The fields beside the rest.
    pub head: String,
    /// The system text (left out where there is none).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub system: Vec<String>,
    /// The tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The messages, or input items.
    pub items: Vec<String>,
}

/// A request was sent: one attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Send {
    /// Its place in the one order.
    pub order: Order,
    /// The cell: scenario, strategy and seed.
    pub cell: String,
    /// The lane: the thread's path (`/`, `/1`), or `judge NAME`.
    pub lane: String,
    /// The thread's turn, from 1.
    pub turn: u32,
    /// The request in the turn, from 0.
    pub exchange: u32,
    /// The attempt, from 1.
    pub attempt: u32,
    /// How long it was waited since the attempt before ended, in milliseconds.
    pub waited_ms: u64,
    /// The digest of the canonical request: that of its pieces' digests in order.
    pub digest: String,
    /// What was sent.
    pub request: RequestPieces,
}

/// What came back for a send.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Delivered {
    /// Its place in the one order.
    pub order: Order,
    /// The order of the send that it answers.
    pub send: Order,
    /// What came back, verbatim.
    pub reply: Delivery,
    /// The provider's usage as it wrote it; null: it said nothing.
    pub usage: Option<Value>,
    /// The same in the project's classes.
    pub usage_classes: Option<Usage>,
    /// Whether no other attempt follows.
    pub last: bool,
}

/// A cell was played to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Done {
    /// Its place in the one order.
    pub order: Order,
    /// The cell.
    pub cell: String,
}

/// The schema of a line behind the first, with that of the first beside it.
pub fn cassette_schema() -> Value {
    #[derive(JsonSchema)]
    #[allow(dead_code)] // Only its schema is wanted.
    #[schemars(untagged)]
    enum AnyLine {
        /// The first line.
        Head(Box<Head>),
        /// Any other.
        Line(Box<Line>),
    }
    let mut schema = schemars::schema_for!(AnyLine);
    schema.insert("title".to_owned(), CASSETTE_FORMAT.into());
    schema.to_value()
}
