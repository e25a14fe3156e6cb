//! What can stand in place of a reply.

use std::fmt;

use serde_json::Value;

/// Why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Which kind.
    pub kind: TroubleKind,
    /// In the provider's words, or in ours where it said nothing.
    pub message: String,
    /// How long the provider asks to wait before the next attempt, in milliseconds.
    pub retry_after_ms: Option<u64>,
}

/// The kinds of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TroubleKind {
    /// Too many requests, or the provider is overloaded or broken: another attempt may be answered.
    Busy,
    /// No connection.
    Unreachable,
    /// No reply in time.
    TimedOut,
    /// A reply that is no reply: no JSON, not the wire's shape, a stream that broke before it said anything.
    Broken,
    /// The request is longer than the model's window.
    Overflow,
    /// A filter of the provider let no reply through.
    Filtered,
    /// The provider refuses the request: another attempt would be refused as well.
    Refused,
}

impl TroubleKind {
    /// Whether another attempt may be answered.
    pub fn may_pass(self) -> bool {
        matches!(self, TroubleKind::Busy | TroubleKind::Unreachable | TroubleKind::TimedOut | TroubleKind::Broken)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Trouble {
    /// A reply that is no reply.
    pub fn broken(message: impl Into<String>) -> Trouble {
        Trouble { kind: TroubleKind::Broken, message: message.into(), retry_after_ms: None }
    }

    /// What a provider says by a status and an error body.
    pub fn of_status(status: u16, body: &Value, retry_after_ms: Option<u64>) -> Trouble {
        let error = body.get("error").unwrap_or(body);
        let said = [error.get("message"), body.get("message"), body.get("detail"), Some(error)];
        let said = said.into_iter().flatten().filter_map(Value::as_str).find(|said| !said.trim().is_empty());
        let said = said.unwrap_or("it gave no reason").to_owned();
        let codes = ["code", "type"].map(|key| error.get(key).and_then(Value::as_str).unwrap_or_default());
        let kind = kind_of(status, &codes, &said);
        Trouble { kind, message: format!("the provider answered {status}: {said}"), retry_after_ms }
    }

    /// The error that a stream carries in place of its end.
    pub fn of_event(error: &Value) -> Trouble {
        let kind = error.get("type").and_then(Value::as_str).unwrap_or_default();
        let status = if kind.contains("overloaded") || kind.contains("rate_limit") || kind.contains("server_error") { 503 } else { 0 };
        let mut trouble = Trouble::of_status(status, &serde_json::json!({ "error": error }), None);
        let said = error.get("message").and_then(Value::as_str).unwrap_or(kind);
        trouble.message = format!("the stream ended with an error: {said}");
        if status == 0 && trouble.kind == TroubleKind::Refused {
            // Whoever began to answer had nothing against the request itself.
            trouble.kind = TroubleKind::Broken;
        }
        trouble
    }
}

fn kind_of(status: u16, codes: &[&str], said: &str) -> TroubleKind {
    let lower = said.to_lowercase();
    let is = |code: &str| codes.contains(&code);
    let too_long = ["maximum context length", "context window", "prompt is too long", "context length", "exceed context"];
    if is("context_length_exceeded") || is("exceed_context_size_error") || too_long.iter().any(|words| lower.contains(words)) {
        TroubleKind::Overflow
    } else if is("content_filter") || is("content_policy_violation") || is("invalid_prompt") {
        TroubleKind::Filtered
    } else if is("insufficient_quota") || is("billing_error") {
        TroubleKind::Refused
    } else if matches!(status, 408 | 409 | 425 | 429 | 500..=599) {
        TroubleKind::Busy
    } else {
        TroubleKind::Refused
    }
}
