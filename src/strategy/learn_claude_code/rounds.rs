//! The loop of a child, and what Python raises in it (`run_subagent`, run against a fake client).

use serde_json::Value;

/// Requests of one child.
const ROUNDS: u32 = 30;
/// Characters of a tool's output that a child reads.
const OUTPUT: usize = 50_000;
/// A child whose last response has no text.
const NO_SUMMARY: &str = "(no summary)";

/// One child at work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds {
    asked: u32,
    /// The text of its last response.
    last: String,
}

impl Rounds {
    /// Whether the model is asked once more: thirty times at most.
    pub(crate) fn asks(&mut self) -> bool {
        let asks = self.asked < ROUNDS;
        self.asked += u32::from(asks);
        asks
    }

    /// A response's texts, joined with nothing; what earlier responses said is forgotten.
    pub(crate) fn replied(&mut self, text: String) {
        self.last = text;
    }

    /// What the parent reads: the last response's text, be it blank.
    pub(crate) fn summary(&self) -> &str {
        if self.last.is_empty() { NO_SUMMARY } else { &self.last }
    }
}

/// Whether the loop goes on after a response: its calls are made and their results handed back. Any other reason ends it,
/// with its calls unmade.
pub(crate) fn goes_on(stop_reason: &str) -> bool {
    stop_reason == "tool_use"
}

/// A tool's output as a child reads it; `None`: whole.
pub(crate) fn cut(output: &str) -> Option<&str> {
    let (end, _) = output.char_indices().nth(OUTPUT)?;
    output.get(..end)
}

/// A tool that is not there.
pub(crate) fn unknown_tool(name: &str) -> String {
    format!("Unknown tool: {name}")
}

/// A call without an argument that its handler takes: an exception that nobody catches.
pub(crate) fn key_error(key: &str) -> String {
    format!("KeyError: '{key}'")
}

/// A call's arguments; what is no object has none.
fn arguments(args: &str) -> Value {
    serde_json::from_str::<Value>(args).ok().filter(Value::is_object).unwrap_or_default()
}

/// The task of a call; the error is what Python raises. A task that is no text is read as its JSON (assumed).
pub(crate) fn prompt(args: &str) -> Result<String, String> {
    match arguments(args).get("prompt") {
        None => Err(key_error("prompt")),
        Some(Value::String(prompt)) => Ok(prompt.clone()),
        Some(other) => Ok(other.to_string()),
    }
}

/// The first argument that a tool's schema requires and a call does not give.
pub(super) fn missing(schema: &str, args: &str) -> Option<String> {
    let schema = serde_json::from_str::<Value>(schema).ok()?;
    let args = arguments(args);
    let required = schema.get("parameters")?.get("required")?.as_array()?;
    required.iter().filter_map(Value::as_str).find(|key| args.get(key).is_none()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirty_rounds_and_the_last_text() {
        let mut rounds = Rounds::default();
        assert_eq!((0..40).filter(|_| rounds.asks()).count(), 30);
        assert_eq!(rounds.summary(), "(no summary)");
        rounds.replied("first".into());
        rounds.replied(" ".into());
        assert_eq!(rounds.summary(), " ");
        rounds.replied(String::new());
        assert_eq!(rounds.summary(), "(no summary)");
        assert!(goes_on("tool_use") && !goes_on("max_tokens") && !goes_on("end_turn"));
    }

    #[test]
    fn outputs_are_cut_by_characters() {
        assert_eq!(cut(&"ä".repeat(50_000)), None);
        assert_eq!(cut(&"ä".repeat(50_001)), Some("ä".repeat(50_000).as_str()));
    }

    #[test]
    fn arguments_that_are_missing() {
        assert_eq!(prompt(r#"{"prompt":"p"}"#), Ok("p".into()));
        assert_eq!(prompt(r#"{"prompt":5}"#), Ok("5".into()));
        for none in ["{}", "", "[1]", "null", r#"{"task":"p"}"#] {
            assert_eq!(prompt(none), Err("KeyError: 'prompt'".into()), "{none}");
        }
        let schema = r#"{"name":"read","parameters":{"type":"object","properties":{},"required":["path","limit"]}}"#;
        assert_eq!(missing(schema, r#"{"path":"a","limit":1}"#), None);
        assert_eq!(missing(schema, r#"{"path":null}"#), Some("limit".into()));
        assert_eq!(missing(schema, "nothing"), Some("path".into()));
        assert_eq!(missing("{}", "{}"), None);
    }
}
