//! A vector as it is written.

use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::conformance::json::Json;

/// What an answer may depend on.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// `ID@PROFILE`.
    pub strategy: String,
    /// The arguments of `spawn_agent`, as the model wrote them.
    pub call: Box<RawValue>,
    #[serde(default)]
    pub config: Config,
    /// The parent's file, line by line.
    #[serde(default)]
    pub parent_items: Vec<Item>,
}

/// The arguments that a vector may have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    #[serde(rename = "message")]
    _message: Option<IgnoredAny>,
    #[serde(rename = "task_name")]
    _task_name: Option<IgnoredAny>,
    #[serde(rename = "fork_turns")]
    _fork_turns: Option<IgnoredAny>,
    #[serde(rename = "fork_context")]
    _fork_context: Option<IgnoredAny>,
}

/// How parent and child are configured.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    pub history_mode: HistoryMode,
    pub parent_usage_hints: Option<Vec<String>>,
    pub child_usage_hint: Option<String>,
    pub parent_developer_instructions: Option<String>,
    pub child_developer_override: Option<String>,
    pub parent_reference_context_present: bool,
}

/// How the parent's file is read.
#[derive(Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum HistoryMode {
    /// As a whole.
    #[default]
    Legacy,
    /// In pages: the lines are the part that was loaded.
    Paginated,
}

/// A line, or an item of a checkpoint. Which fields it has depends on its type; those that no rule reads are only known.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    #[serde(rename = "type")]
    pub kind: String,
    pub role: Option<String>,
    pub phase: Option<Phase>,
    pub parts: Option<Vec<Piece>>,
    pub text: Option<String>,
    pub event: Option<String>,
    pub num_turns: Option<u64>,
    pub call_id: Option<String>,
    pub trigger_turn: Option<bool>,
    pub legacy_inter_agent_envelope: Option<bool>,
    pub message: Option<String>,
    pub replacement_history: Option<Vec<Item>>,
    pub state: Option<IndexMap<String, Json>>,
    #[serde(rename = "id")]
    _id: Option<IgnoredAny>,
    #[serde(rename = "model")]
    _model: Option<IgnoredAny>,
    #[serde(rename = "cwd")]
    _cwd: Option<IgnoredAny>,
    #[serde(rename = "summary")]
    _summary: Option<IgnoredAny>,
    #[serde(rename = "encrypted_content")]
    _encrypted_content: Option<IgnoredAny>,
    #[serde(rename = "name")]
    _name: Option<IgnoredAny>,
    #[serde(rename = "arguments")]
    _arguments: Option<IgnoredAny>,
    #[serde(rename = "author")]
    _author: Option<IgnoredAny>,
    #[serde(rename = "recipient")]
    _recipient: Option<IgnoredAny>,
    #[serde(rename = "full")]
    _full: Option<IgnoredAny>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Commentary,
    FinalAnswer,
}

/// A part of a message.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Piece {
    InputText { text: String },
    OutputText { text: String },
    InputImage { image_url: Option<String> },
}

impl Piece {
    /// Its text, of a text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Piece::InputText { text } | Piece::OutputText { text } => Some(text),
            Piece::InputImage { .. } => None,
        }
    }
}
