//! A reply as every wire can say it.

use serde_json::Value;

use super::{Trouble, TroubleKind};
use crate::ledger::Usage;
use crate::model::CallDraft;
use crate::transcript::{Content, Part};

pub use crate::ledger::Stop;

/// A model's reasoning, with what has to be handed back for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reasoned {
    /// As the history holds it: its text, or its size where nobody can read it.
    pub part: Part,
    /// As the wire has it.
    pub verbatim: Value,
}

/// What was answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The reasoning that the wire hands back.
    pub reasoning: Vec<Reasoned>,
    /// The text.
    pub text: String,
    /// The calls.
    pub calls: Vec<CallDraft>,
    /// How it ended.
    pub stop: Stop,
    /// The provider's count in the project's classes.
    pub usage: Option<Usage>,
    /// The same as the provider wrote it.
    pub usage_verbatim: Option<Value>,
    /// The name under which the provider keeps the response, if it says one.
    pub response: Option<String>,
}

impl Answer {
    /// Calls whose arguments are no JSON: they are handed back to the model as errors.
    pub fn broken_calls(&self) -> u32 {
        let broken = |call: &&CallDraft| serde_json::from_str::<serde::de::IgnoredAny>(&call.args).is_err();
        self.calls.iter().filter(broken).count() as u32
    }

    /// The answer, unless a filter left nothing of it.
    pub(super) fn unless_filtered(self) -> Result<Answer, Trouble> {
        if self.stop == Stop::Filter && self.text.is_empty() && self.calls.is_empty() {
            let message = "a content filter left nothing of the reply".to_owned();
            return Err(Trouble { kind: TroubleKind::Filtered, message, retry_after_ms: None });
        }
        Ok(self)
    }

    /// Adds text; pieces that a wire keeps apart are parted by an empty line.
    pub(super) fn say(&mut self, text: &str) {
        if !text.is_empty() {
            if !self.text.is_empty() {
                self.text.push_str("\n\n");
            }
            self.text.push_str(text);
        }
    }

    /// Adds reasoning: its text where it has one, else its size.
    pub(super) fn reason(&mut self, kind: &str, text: &str, verbatim: &Value) {
        let part = if text.is_empty() {
            // What it is called tells two of one size apart.
            let named = verbatim.get("id").and_then(Value::as_str).map_or(kind.to_owned(), |id| format!("{kind} {id}"));
            Part::new(Content::Opaque { kind: named, bytes: verbatim.to_string().len() as u64, tokens: None })
        } else {
            Part::text(text)
        };
        self.reasoning.push(Reasoned { part, verbatim: verbatim.clone() });
    }
}

/// A number of a usage record.
pub(super) fn number(usage: &Value, pointer: &str) -> Option<u64> {
    usage.pointer(pointer).and_then(Value::as_u64)
}

/// A text of a reply; empty where there is none.
pub(super) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The list under a key; empty where there is none.
pub(super) fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Input that includes what a cache held, as OpenAI reports it, in classes.
pub(super) fn inclusive(input: Option<u64>, read: Option<u64>, write: Option<u64>, output: Option<u64>, reasoning: Option<u64>) -> Usage {
    let uncached = input.map(|input| input.saturating_sub(read.unwrap_or(0)).saturating_sub(write.unwrap_or(0)));
    Usage { uncached_input: uncached, cache_read: read, cache_write: write, output, reasoning }
}
