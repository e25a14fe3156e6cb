//! The snapshot: a parent's history as one hidden user message of many texts, each labelled, none of them a command.
//!
//! It is a value: nothing in it is shared with the parent but media. There is no cap on its size.

use std::collections::{BTreeMap, BTreeSet};

use crate::transcript::{Body, CallKey, Content, Item, Origin, Part, Role, ToolCall};

use super::Profile;
use super::python;
use super::tags::neutralise;
use super::text::{BATCH_TOOL, TOOL};

/// Who a message of the history is from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Assistant,
    Tool,
}

/// A message as DeerFlow counts them: an assistant's holds its text and its calls, where items are apart.
struct Message<'a> {
    speaker: Speaker,
    items: Vec<&'a Item>,
}

/// A call whose arguments are no object is invalid there: it is never listed and never answered.
fn arguments(call: &ToolCall) -> Option<String> {
    python::object(call.args.as_text())
}

/// The history's messages. System and developer messages, records, reasoning and summaries are none.
fn messages(history: &[Item]) -> Vec<Message<'_>> {
    let mut all: Vec<Message<'_>> = Vec::new();
    for item in history {
        let speaker = match item.body() {
            Body::Message { role: Role::User, .. } | Body::Mail { .. } => Speaker::User,
            Body::Message { role: Role::Assistant, .. } => Speaker::Assistant,
            Body::Message { role: Role::Tool, .. } | Body::Result { .. } => Speaker::Tool,
            Body::Call(_) => match all.last_mut().filter(|last| last.speaker == Speaker::Assistant) {
                Some(last) => {
                    last.items.push(item);
                    continue;
                }
                None => Speaker::Assistant,
            },
            Body::Message { role: Role::System | Role::Developer, .. }
            | Body::Reasoning { .. }
            | Body::Context { .. }
            | Body::Compaction { .. } => continue,
        };
        all.push(Message { speaker, items: vec![item] });
    }
    all
}

/// The snapshot of a history; `None`: nothing is left, and the child is exactly the isolated one.
pub(super) fn snapshot(profile: Profile, history: &[Item]) -> Option<Item> {
    let retained = |item: &Item| profile == Profile::V1 || !item.hidden;
    let calls: BTreeMap<CallKey, &ToolCall> = history.iter().filter_map(Item::as_call).map(|call| (call.key, call)).collect();
    let answered_call = |item: &Item| item.answers().and_then(|key| calls.get(&key).copied());
    let messages = messages(history);
    // Ids repeat, so a pair is known by its message too. Every message takes part, and a pair is complete if the answer
    // is retained; calls that are not are never listed.
    let mut open: BTreeMap<&str, usize> = BTreeMap::new();
    let mut complete: BTreeSet<(usize, &str)> = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        for item in &message.items {
            match item.body() {
                Body::Call(call) if arguments(call).is_some() => {
                    open.insert(&call.id, at);
                }
                Body::Result { .. } => {
                    let Some(call) = answered_call(item) else { continue };
                    if let Some(of) = open.remove(call.id.as_str())
                        && retained(item)
                    {
                        complete.insert((of, &call.id));
                    }
                }
                _ => {}
            }
        }
    }
    let mut parts: Vec<Part> = Vec::new();
    let summary = history.iter().rfind(|item| matches!(item.body(), Body::Compaction { .. }) && retained(item)).map(Item::text);
    if let Some(summary) = summary.filter(|summary| !summary.trim().is_empty()) {
        parts.push(Part::text(neutralise(&format!("Historical conversation summary:\n{summary}"))));
    }
    for (at, message) in messages.iter().enumerate() {
        let mut blocks: Vec<Part> = Vec::new();
        let mut listed: Vec<String> = Vec::new();
        for item in message.items.iter().filter(|item| retained(item)) {
            let Some(call) = item.as_call() else {
                blocks.extend(contents(item));
                continue;
            };
            let delegates = call.name == TOOL || call.name == BATCH_TOOL;
            let finished = complete.contains(&(at, call.id.as_str()));
            if let Some(args) = arguments(call)
                && (finished || (profile == Profile::V1 && !delegates))
            {
                let (name, id) = (python::string(&call.name), python::string(&call.id));
                listed.push(format!("{{\"name\": {name}, \"args\": {args}, \"id\": {id}, \"type\": \"tool_call\"}}"));
            }
        }
        if !listed.is_empty() {
            blocks.push(Part::text(neutralise(&format!("Historical tool calls (not executed by you): [{}]", listed.join(", ")))));
        }
        if blocks.is_empty() {
            continue;
        }
        let label = match message.speaker {
            Speaker::User => "\nHistorical user:\n".to_owned(),
            Speaker::Assistant => "\nHistorical assistant:\n".to_owned(),
            Speaker::Tool => match message.items.first().and_then(|item| answered_call(item)) {
                Some(call) => format!("\nHistorical tool result ({}, call {}):\n", call.name, call.id),
                // The transcript does not know which id it names.
                None => "\nHistorical tool result (tool, call unknown):\n".to_owned(),
            },
        };
        parts.push(Part::text(neutralise(&label)));
        parts.extend(blocks);
    }
    if parts.is_empty() {
        return None;
    }
    Some(Item::new(Body::Message { role: Role::User, phase: None, parts }, Origin::Inherited).hide())
}

/// An item's content as blocks. A text alone gives none if it is empty; of several each stays. Media pass, content that
/// only its maker can read is dropped.
fn contents(item: &Item) -> Vec<Part> {
    let parts = item.parts();
    let one = |part: &Part| match part.content() {
        Content::Text(text) => (parts.len() > 1 || !text.is_empty()).then(|| Part::text(neutralise(text))),
        Content::Image { .. } | Content::File { .. } => Some(part.clone()),
        Content::Opaque { .. } => None,
    };
    parts.iter().filter_map(one).collect()
}
