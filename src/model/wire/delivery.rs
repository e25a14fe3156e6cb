//! What came back for one attempt, verbatim.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Trouble, TroubleKind};

/// What came back for one attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Delivery {
    /// The HTTP status; null: none came.
    pub status: Option<u16>,
    /// From the moment of sending to the end, in milliseconds.
    pub ms: u64,
    /// What was received.
    pub content: Content,
    /// What broke it off; null: it is whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// Whether time ran out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// How long the provider asks to wait, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// The content of a delivery.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// A reply in one piece.
    Json(Value),
    /// What is no JSON; empty: nothing.
    Text(String),
    /// The events of a stream.
    Events(Vec<StreamEvent>),
}

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamEvent {
    /// When it came, in milliseconds from the moment of sending.
    pub ms: u64,
    /// Its name; empty: it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub event: String,
    /// Its data.
    pub data: String,
}

impl Delivery {
    /// Why it is no reply, as far as its outside tells. A stream that said something and broke off is one, marked as partial.
    pub(super) fn refusal(&self) -> Option<Trouble> {
        let began = matches!(&self.content, Content::Events(events) if !events.is_empty());
        match (self.status, &self.trouble) {
            (Some(200..=299), None) => None,
            (Some(200..=299), Some(_)) if began => None,
            (_, Some(why)) => {
                let kind = match self.status {
                    _ if self.timed_out => TroubleKind::TimedOut,
                    None => TroubleKind::Unreachable,
                    Some(_) => TroubleKind::Broken,
                };
                Some(Trouble { kind, message: why.clone(), retry_after_ms: None })
            }
            (Some(status), None) => {
                let body = match &self.content {
                    Content::Json(body) => body.clone(),
                    Content::Text(text) => Value::String(text.chars().take(300).collect()),
                    Content::Events(_) => Value::Null,
                };
                Some(Trouble::of_status(status, &body, self.retry_after_ms))
            }
            (None, None) => Some(Trouble::broken("nothing was received")),
        }
    }

    /// The JSON of a stream's events, in order. What is no JSON (`[DONE]`) is left out.
    pub(super) fn parsed(events: &[StreamEvent]) -> impl Iterator<Item = Value> {
        events.iter().filter_map(|event| serde_json::from_str(&event.data).ok())
    }
}
