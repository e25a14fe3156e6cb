//! The arguments of `task`.

use serde::Serialize;
use serde_json::Value;

use super::text;

/// What a call asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arguments {
    pub(super) prompt: String,
    pub(super) subagent_type: String,
    pub(super) snapshot: bool,
    /// Acceptance criteria: texts that are not blank.
    pub(super) criteria: Vec<String>,
}

/// A call as an agent writes it, in the order of the schema.
#[derive(Serialize)]
pub(super) struct Written<'a> {
    pub(super) prompt: &'a str,
    pub(super) subagent_type: &'a str,
    pub(super) description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) context_mode: Option<&'a str>,
}

impl Arguments {
    /// Decodes a call's arguments; the error is the call's result. The mode is checked first. A missing text is refused
    /// in this project's words: the product's schema refuses it before the tool runs, in words that are not established.
    pub(super) fn decode(args: &str) -> Result<Arguments, String> {
        let value = serde_json::from_str::<Value>(args).unwrap_or_default();
        let snapshot = match value.get("context_mode") {
            None => false,
            Some(Value::String(mode)) if mode == "isolated" => false,
            Some(Value::String(mode)) if mode == "snapshot" => true,
            Some(Value::String(mode)) => return Err(text::unknown_mode(mode)),
            Some(other) => return Err(text::unknown_mode(&other.to_string())),
        };
        let required = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| text::missing(key));
        let criteria = value.get("acceptance_criteria").and_then(Value::as_array).into_iter().flatten();
        Ok(Arguments {
            prompt: required("prompt")?,
            subagent_type: required("subagent_type")?,
            snapshot,
            criteria: criteria.filter_map(Value::as_str).filter(|one| !one.trim().is_empty()).map(str::to_owned).collect(),
        })
    }
}
