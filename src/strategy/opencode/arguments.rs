//! The arguments of `task`, and the words in which the product refuses wrong ones.

use indexmap::IndexMap;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

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

type Fields<'a> = IndexMap<String, &'a RawValue>;

impl Arguments {
    /// Decodes a call's arguments. The error is the call's result: it names the first fault only, in the order of the
    /// fields. Unknown keys are dropped without a word; `background` is known whether or not the schema shows it.
    ///
    /// Two cases that are not established and are assumed here: blank arguments are an empty object, and text that is no
    /// JSON is refused as that text.
    pub(super) fn decode(args: &str) -> Result<Arguments, String> {
        let fields = match serde_json::from_str::<&RawValue>(args) {
            Ok(value) => match serde_json::from_str::<Fields<'_>>(value.get()) {
                Ok(fields) => fields,
                Err(_) => return Err(refusal(&format!("Expected object, got {}", shown(value, 0)))),
            },
            Err(_) if args.trim().is_empty() => Fields::new(),
            Err(_) => return Err(refusal(&format!("Expected object, got {}", Value::from(args)))),
        };
        Ok(Arguments {
            description: required(&fields, "description")?,
            prompt: required(&fields, "prompt")?,
            subagent_type: required(&fields, "subagent_type")?,
            task_id: optional(&fields, "task_id", "string")?,
            command: optional(&fields, "command", "string")?,
            background: optional(&fields, "background", "boolean")?,
        })
    }

    /// As a model writes it.
    pub(super) fn encode(&self) -> String {
        // A struct of texts and flags has no key that JSON cannot hold.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn required(fields: &Fields<'_>, key: &str) -> Result<String, String> {
    let Some(value) = fields.get(key) else { return Err(refusal(&format!("Missing key{}", at(key)))) };
    serde_json::from_str(value.get()).map_err(|_| refusal(&format!("Expected string, got {}{}", shown(value, 0), at(key))))
}

fn optional<T: DeserializeOwned>(fields: &Fields<'_>, key: &str, kind: &str) -> Result<Option<T>, String> {
    let Some(value) = fields.get(key) else { return Ok(None) };
    let read = serde_json::from_str::<T>(value.get()).map(Some);
    read.map_err(|_| refusal(&format!("Expected {kind} | undefined, got {}{}", shown(value, 0), at(key))))
}

/// A value as compact JSON, its keys in their order, its numbers as JavaScript writes them. What lies very deep stands as
/// it was written.
fn shown(value: &RawValue, depth: u32) -> String {
    let text = value.get();
    if depth == DEEP {
        return text.to_owned();
    }
    if let Ok(fields) = serde_json::from_str::<Fields<'_>>(text) {
        let field = |(key, value): (&String, &&RawValue)| format!("{}:{}", Value::from(key.as_str()), shown(value, depth + 1));
        return format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(","));
    }
    if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text) {
        return format!("[{}]", items.into_iter().map(|item| shown(item, depth + 1)).collect::<Vec<_>>().join(","));
    }
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Number(number)) => number.as_f64().map_or_else(|| text.to_owned(), shown_number),
        Ok(other) => other.to_string(),
        Err(_) => text.to_owned(),
    }
}

const DEEP: u32 = 64;

fn shown_number(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e21 {
        // Adding zero makes a negative zero positive.
        return format!("{:.0}", number + 0.0);
    }
    let text = Value::from(number).to_string();
    match text.split_once('e') {
        Some((digits, exponent)) if !exponent.starts_with('-') => format!("{digits}e+{exponent}"),
        _ => text,
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
