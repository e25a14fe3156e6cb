//! The arguments of the tools, decoded as the product does, and the words in which it refuses wrong ones.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::transcript::{Part, ToolCall};

use super::rollout::Extent;

/// What an empty message is answered with.
pub(super) const EMPTY_MESSAGE: &str = "Empty message can't be sent to an agent";

/// v1 `spawn_agent`. Unknown keys are dropped without a word.
#[derive(Debug, Deserialize)]
pub(super) struct SpawnV1 {
    pub(super) message: Option<String>,
    pub(super) items: Option<Vec<Input>>,
    pub(super) agent_type: Option<String>,
    #[serde(default)]
    pub(super) fork_context: bool,
}

impl SpawnV1 {
    /// How much is handed down; `None`: nothing.
    pub(super) fn extent(&self) -> Option<Extent> {
        self.fork_context.then_some(Extent::Full)
    }
}

/// v2 `spawn_agent`. Unknown keys are refused; `fork_context` is known only to be refused.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpawnV2 {
    pub(super) message: String,
    pub(super) task_name: String,
    pub(super) agent_type: Option<String>,
    #[serde(rename = "model")]
    _model: Option<String>,
    #[serde(rename = "reasoning_effort")]
    _reasoning_effort: Option<String>,
    #[serde(rename = "service_tier")]
    _service_tier: Option<String>,
    pub(super) fork_turns: Option<String>,
    pub(super) fork_context: Option<Value>,
}

/// v1 `send_input`.
#[derive(Debug, Deserialize)]
pub(super) struct SendInput {
    pub(super) target: String,
    pub(super) message: Option<String>,
    pub(super) items: Option<Vec<Input>>,
    #[serde(default)]
    pub(super) interrupt: bool,
}

/// v1 `wait_agent`.
#[derive(Debug, Deserialize)]
pub(super) struct WaitV1 {
    #[serde(default)]
    pub(super) targets: Vec<String>,
    pub(super) timeout_ms: Option<i64>,
}

/// v1 `resume_agent`.
#[derive(Debug, Deserialize)]
pub(super) struct Resume {
    pub(super) id: String,
}

/// `close_agent` and `interrupt_agent`.
#[derive(Debug, Deserialize)]
pub(super) struct Target {
    pub(super) target: String,
}

/// v2 `send_message` and `followup_task`.
#[derive(Debug, Deserialize)]
pub(super) struct Message {
    pub(super) target: String,
    pub(super) message: String,
}

/// v2 `wait_agent`.
#[derive(Debug, Deserialize)]
pub(super) struct WaitV2 {
    pub(super) timeout_ms: Option<i64>,
}

/// v2 `list_agents`.
#[derive(Debug, Deserialize)]
pub(super) struct List {
    pub(super) path_prefix: Option<String>,
}

/// One piece of structured input. Only text reaches a child here.
#[derive(Debug, Deserialize)]
pub(super) struct Input {
    text: Option<String>,
}

/// A call's arguments. The error is the call's result.
pub(super) fn decode<T: DeserializeOwned>(call: &ToolCall) -> Result<T, String> {
    serde_json::from_str(call.args.as_text()).map_err(|why| format!("failed to parse function arguments: {why}"))
}

/// What a v1 child is told: a message or items, one of them.
pub(super) fn input(message: Option<String>, items: Option<Vec<Input>>) -> Result<Vec<Part>, String> {
    match (message, items) {
        (Some(_), Some(_)) => Err("Provide either message or items, but not both".into()),
        (None, None) => Err("Provide one of: message or items".into()),
        (Some(message), None) if message.trim().is_empty() => Err(EMPTY_MESSAGE.into()),
        (Some(message), None) => Ok(vec![message.into()]),
        (None, Some(items)) if items.is_empty() => Err("Items can't be empty".into()),
        (None, Some(items)) => Ok(items.into_iter().filter_map(|item| item.text).map(Part::from).collect()),
    }
}

/// A role as it was asked for: blank is none.
pub(super) fn role(agent_type: Option<&str>) -> Option<&str> {
    agent_type.map(str::trim).filter(|name| !name.is_empty())
}
