//! What the tools of delegation are given. Texts of refusals are assumed.

use serde_json::{Map, Value};

use crate::transcript::ToolCall;

/// A call of `Agent`.
pub(super) struct Agent {
    /// A few words on it.
    pub(super) description: String,
    /// The task.
    pub(super) prompt: String,
    /// Which type of agent; the product's default where none is named.
    pub(super) subagent_type: String,
    /// Whether the call returns at once.
    pub(super) background: bool,
}

/// A call of `SendMessage`.
pub(super) struct SendMessage {
    /// The child's id.
    pub(super) to: String,
    /// What it is told.
    pub(super) message: String,
}

/// The type of an agent that is asked for without one.
const GENERAL: &str = "general-purpose";

impl Agent {
    pub(super) fn decode(call: &ToolCall) -> Result<Agent, String> {
        let fields = fields(call)?;
        Ok(Agent {
            description: required(call, &fields, "description")?,
            prompt: required(call, &fields, "prompt")?,
            subagent_type: optional(call, &fields, "subagent_type", "string", text)?.unwrap_or_else(|| GENERAL.to_owned()),
            background: optional(call, &fields, "run_in_background", "boolean", Value::as_bool)?.unwrap_or_default(),
        })
    }
}

impl SendMessage {
    pub(super) fn decode(call: &ToolCall) -> Result<SendMessage, String> {
        let fields = fields(call)?;
        Ok(SendMessage { to: required(call, &fields, "to")?, message: required(call, &fields, "message")? })
    }
}

fn fields(call: &ToolCall) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(call.args.as_text()) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) | Err(_) => Err(refusal(call, "The input is no JSON object")),
    }
}

fn required(call: &ToolCall, fields: &Map<String, Value>, key: &str) -> Result<String, String> {
    optional(call, fields, key, "string", text)?.ok_or_else(|| refusal(call, &format!("The required parameter `{key}` is missing")))
}

fn optional<T>(
    call: &ToolCall,
    fields: &Map<String, Value>,
    key: &str,
    kind: &str,
    read: fn(&Value) -> Option<T>,
) -> Result<Option<T>, String> {
    let Some(value) = fields.get(key) else { return Ok(None) };
    read(value).map(Some).ok_or_else(|| refusal(call, &format!("The parameter `{key}` must be a {kind}")))
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn refusal(call: &ToolCall, why: &str) -> String {
    format!("InputValidationError: {} failed: {why}", call.name)
}
