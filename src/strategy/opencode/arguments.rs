//! The arguments of `task`, and the words in which the product refuses wrong ones.

use serde::Serialize;
use serde_json::{Map, Value};

/// What a call of `task` asks for. Serialised in the order of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Arguments {
    pub(super) description: String,
    pub(super) prompt: String,
    pub(super) subagent_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) task_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) background: Option<bool>,
}

impl Arguments {
    /// Decodes a call's arguments. The error is the call's result: it names the first fault only, in the order of the
    /// fields. Unknown keys are dropped without a word; `background` is known whether or not the schema shows it.
    ///
    /// Two cases that are not established and are assumed here: blank arguments are an empty object, and text that is no
    /// JSON is refused as that text.
    pub(super) fn decode(args: &str) -> Result<Arguments, String> {
        let value = match serde_json::from_str::<Value>(args) {
            Ok(value) => value,
            Err(_) if args.trim().is_empty() => Value::Object(Map::new()),
            Err(_) => Value::String(args.to_owned()),
        };
        let Value::Object(fields) = value else {
            return Err(refusal(&format!("Expected object, got {value}")));
        };
        Ok(Arguments {
            description: required(&fields, "description")?,
            prompt: required(&fields, "prompt")?,
            subagent_type: required(&fields, "subagent_type")?,
            task_id: optional(&fields, "task_id", "string", |value| value.as_str().map(str::to_owned))?,
            command: optional(&fields, "command", "string", |value| value.as_str().map(str::to_owned))?,
            background: optional(&fields, "background", "boolean", Value::as_bool)?,
        })
    }

    /// As a model writes it.
    pub(super) fn encode(&self) -> String {
        // A struct of texts and flags has no key that JSON cannot hold.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn required(fields: &Map<String, Value>, key: &str) -> Result<String, String> {
    match fields.get(key) {
        None => Err(refusal(&format!("Missing key{}", at(key)))),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Err(refusal(&format!("Expected string, got {other}{}", at(key)))),
    }
}

fn optional<T>(fields: &Map<String, Value>, key: &str, kind: &str, read: fn(&Value) -> Option<T>) -> Result<Option<T>, String> {
    let Some(value) = fields.get(key) else { return Ok(None) };
    match read(value) {
        Some(read) => Ok(Some(read)),
        None => Err(refusal(&format!("Expected {kind} | undefined, got {value}{}", at(key)))),
    }
}

fn at(key: &str) -> String {
    format!("\n  at [\"{key}\"]")
}

fn refusal(fault: &str) -> String {
    format!(
        "The task tool was called with invalid arguments: SchemaError({fault}).\nPlease rewrite the input so it satisfies the expected schema."
    )
}
