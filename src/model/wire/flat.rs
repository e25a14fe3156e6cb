//! Plain-text renderings: for models whose template knows no tools, or that lose what stands far from the end.
//!
//! They add words of their own, which no figure counts: figures are of the items, whatever form a wire gives them.

use serde_json::{Value, json};

use super::history::{Said, said, system_text};
use super::{Asking, Body, Memory, Rendering, Wire, chat, responses};
use crate::model::Request;
use crate::transcript::{Body as ItemBody, Item, Origin, Role};

/// What the flat rendering ends with.
pub const LAST_WORDS: &str = "Answer from the text above, in one or two sentences. Say \"unknown\" if it is not there.";

/// What a probe ends with.
pub const LAST_WORDS_OF_PROBE: &str = "Answer in one short sentence.";

pub(super) fn body(asking: &Asking, request: &Request<'_>, seed: u64, question: Option<&str>) -> Result<Body, String> {
    let system = system_text(request.system)?;
    let (system, turns) = match asking.rendering {
        Rendering::Flat => (None, vec![("user", flattened(system, request.items, None))]),
        Rendering::Probe => (None, vec![("user", flattened(system, request.items, question))]),
        _ => (system, in_turns(request.items)),
    };
    let head = match asking.wire {
        Wire::Chat => chat::head(asking, seed),
        Wire::Responses => responses::head(asking),
        Wire::Messages => asking.head("max_tokens"),
    };
    let system = system.map(|text| match asking.wire {
        Wire::Chat => json!({"role": "system", "content": text}),
        Wire::Responses => text.into(),
        Wire::Messages => json!({"type": "text", "text": text}),
    });
    let items = turns.into_iter().map(|(role, text)| json!({"role": role, "content": text}));
    let items: Vec<Value> = items.collect();
    Ok(Body { wire: asking.wire, head, system: system.into_iter().collect(), tools: vec![], items, inputs: vec![] })
}

/// One line of who says it, and what.
fn told(one: Said<'_>) -> (Role, String) {
    match one {
        Said::Message { role, text, .. } => (role, text.into_owned()),
        Said::Call { name, args, .. } => (Role::Assistant, format!("[call {name} {args}]")),
        Said::Result { text, .. } => (Role::Tool, format!("[result]\n{text}")),
        Said::Reasoning(_) => (Role::Assistant, String::new()),
    }
}

/// Turns of a chat: neighbours of one speaker are joined, since many templates want speakers to alternate.
fn in_turns(items: &[Item]) -> Vec<(&'static str, String)> {
    let mut turns: Vec<(&'static str, String)> = Vec::new();
    for (role, text) in said(items, &Memory::default()).into_iter().map(told).filter(|(_, text)| !text.is_empty()) {
        let role = if role == Role::Assistant { "assistant" } else { "user" };
        match turns.last_mut().filter(|(last, _)| *last == role) {
            Some((_, joined)) => {
                joined.push_str("\n\n");
                joined.push_str(&text);
            }
            None => turns.push((role, text)),
        }
    }
    turns
}

/// The whole request as one text: the system text, what was said, and last the question, which is the newest message of the
/// user or the newest task, or what a probe asks in its place.
pub fn flattened(system: Option<&str>, items: &[Item], probe: Option<&str>) -> String {
    let asks = |item: &Item| {
        let is_message = matches!(item.body(), ItemBody::Message { role: Role::User, .. } | ItemBody::Mail { .. });
        is_message && matches!(item.origin, Origin::User | Origin::Task)
    };
    let asked = items.iter().rposition(asks).filter(|_| probe.is_none());
    let mut text = String::new();
    if let Some(system) = system.filter(|system| !system.is_empty()) {
        text.push_str(system);
        text.push_str("\n\n");
    }
    let mut question = String::new();
    for (at, item) in items.iter().enumerate() {
        for (role, line) in said(std::slice::from_ref(item), &Memory::default()).into_iter().map(told) {
            if Some(at) == asked {
                question.push_str(&line);
                continue;
            }
            let speaker = match role {
                Role::Assistant => "Assistant: ",
                Role::User => "User: ",
                Role::Tool => "",
                Role::System | Role::Developer => "Instructions: ",
            };
            text.push_str(speaker);
            text.push_str(&line);
            text.push('\n');
        }
    }
    if let Some(probe) = probe {
        text.push('\n');
        text.push_str(probe);
        text.push(' ');
        text.push_str(LAST_WORDS_OF_PROBE);
        return text;
    }
    if !question.is_empty() {
        text.push_str("\nQuestion: ");
        text.push_str(&question);
    }
    text.push('\n');
    text.push_str(LAST_WORDS);
    text
}
