//! A thread's items as wires tell them apart, and what has to be remembered of replies.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::Answer;
use crate::transcript::{Body, CallKey, Content, Digest, Item, Part, Phase, Role};

/// What earlier replies of a run carried that later requests hand back.
#[derive(Debug, Default)]
pub struct Memory {
    /// Reasoning as the wire had it, by the digest of the part that stands for it.
    reasoning: FxHashMap<Digest, Value>,
    responses: Vec<Kept>,
}

/// A response that the provider keeps.
#[derive(Debug)]
struct Kept {
    id: String,
    /// The input items that it answered.
    inputs: Vec<Digest>,
    /// The ids of its calls.
    calls: Vec<String>,
}

impl Memory {
    /// Remembers a reply to a request of these input items.
    pub fn remember(&mut self, answer: &Answer, inputs: &[Digest]) {
        for reasoned in &answer.reasoning {
            self.reasoning.insert(reasoned.part.digest(), reasoned.verbatim.clone());
        }
        if let Some(id) = &answer.response {
            let calls = answer.calls.iter().map(|call| call.id.clone()).collect();
            self.responses.push(Kept { id: id.clone(), inputs: inputs.to_vec(), calls });
        }
    }

    /// Reasoning as it was received; `None`: it is of no reply of this run (a recording's, say), and cannot be handed back.
    pub(super) fn verbatim(&self, part: &Part) -> Option<&Value> {
        self.reasoning.get(&part.digest())
    }

    /// The response with the longest input that this input goes on from, its id, and how many input items it has and made.
    /// The items behind its input that a model writes are its own: they must be its calls, and are not sent again.
    pub(super) fn goes_on_from(&self, inputs: &[Digest], items: &[Value]) -> Option<(&str, usize)> {
        let made = |item: &Value| item.get("role").is_some_and(|role| role == "assistant") || is_output(item);
        let fits = self.responses.iter().filter(|kept| inputs.starts_with(&kept.inputs)).filter_map(|kept| {
            let own = items[kept.inputs.len()..].iter().take_while(|item| made(item));
            let own: Vec<&Value> = own.collect();
            let calls = own.iter().filter_map(|item| item.get("call_id")?.as_str());
            let end = kept.inputs.len() + own.len();
            (calls.eq(kept.calls.iter().map(String::as_str)) && !own.is_empty() && end < items.len()).then_some((kept, end))
        });
        fits.max_by_key(|(kept, _)| kept.inputs.len()).map(|(kept, end)| (kept.id.as_str(), end))
    }
}

fn is_output(item: &Value) -> bool {
    matches!(item.get("type").and_then(Value::as_str), Some("function_call" | "reasoning"))
}

/// One item as wires tell it.
pub(super) enum Said<'a> {
    /// A message. Mail and summaries are what a user says; instructions are a developer's.
    Message { role: Role, text: Cow<'a, str>, name: Option<&'a str>, phase: Option<Phase> },
    /// Reasoning that this run received, as it was received.
    Reasoning(&'a Value),
    /// A call.
    Call { id: String, name: &'a str, args: &'a str },
    /// A call's result.
    Result { id: String, text: Cow<'a, str>, failed: bool },
}

/// A thread's items in order. Ids of calls are made unique within the request: real ones repeat.
pub(super) fn said<'a>(items: &'a [Item], memory: &'a Memory) -> Vec<Said<'a>> {
    let mut ids: FxHashMap<CallKey, String> = FxHashMap::default();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut said = Vec::with_capacity(items.len());
    for item in items {
        match item.body() {
            Body::Message { role, phase, parts } => {
                said.push(Said::Message { role: *role, text: text_of(parts), name: item.name(), phase: *phase });
            }
            Body::Reasoning { parts } => said.extend(parts.iter().filter_map(|part| memory.verbatim(part)).map(Said::Reasoning)),
            Body::Call(call) => {
                let mut id = plain_id(&call.id);
                if id.is_empty() || taken.contains(&id) {
                    id = format!("call_{}", call.key.0);
                }
                taken.insert(id.clone());
                ids.insert(call.key, id.clone());
                said.push(Said::Call { id, name: &call.name, args: call.args.as_text() });
            }
            Body::Result { key, parts, failed } => {
                let id = key.and_then(|key| ids.get(&key).cloned().or_else(|| Some(format!("call_{}", key.0))));
                said.push(Said::Result { id: id.unwrap_or_else(|| "call_none".to_owned()), text: text_of(parts), failed: *failed });
            }
            Body::Mail { from, to, parts } => {
                let text = format!("[message from {from} to {to}]\n{}", text_of(parts));
                said.push(Said::Message { role: Role::User, text: text.into(), name: None, phase: None });
            }
            Body::Compaction { parts } => {
                said.push(Said::Message { role: Role::User, text: text_of(parts), name: None, phase: None });
            }
            Body::Context { .. } => {}
        }
    }
    said
}

/// Ids as every wire takes them: letters, digits, `_` and `-`.
fn plain_id(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

/// The text of parts, one behind the other; what has only a size is named in its place.
pub(super) fn text_of(parts: &[Part]) -> Cow<'_, str> {
    let one = |part: &Part| match part.content() {
        Content::Text(text) => text.to_string(),
        Content::Image { media, bytes, .. } | Content::File { media, bytes, .. } => format!("[{media}, {bytes} bytes, not sent]"),
        Content::Opaque { kind, bytes, .. } => format!("[{kind}, {bytes} bytes, not sent]"),
    };
    match parts {
        [part] if matches!(part.content(), Content::Text(_)) => part.as_text().into(),
        parts => parts.iter().map(one).collect::<Vec<_>>().join("\n").into(),
    }
}

/// A system text that can be sent.
pub(super) fn system_text(system: Option<&Part>) -> Result<Option<&str>, String> {
    match system.map(Part::content) {
        None => Ok(None),
        Some(Content::Text(text)) => Ok(Some(text)),
        Some(_) => Err("the system text is known by its size alone, so it cannot be sent: leave --scaffold out".to_owned()),
    }
}
