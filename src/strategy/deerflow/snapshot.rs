//! The snapshot: a parent's history as one hidden user message of many texts, each labelled, none of them a command.
//!
//! It is a value: nothing in it is shared with the parent but media. There is no cap on its size.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use crate::transcript::{Body, Item, Origin, Part, Role};

use super::Profile;
use super::document;
use super::message::{Block, Called, Message, Speaker, of_items};
use super::python;
use super::tags::neutralise;
use super::text::{BATCH_TOOL, MEDIA_NOTICE, TOOL};
use super::value::Value;

/// The name of the message that holds it.
pub(crate) const NAME: &str = "parent_context_snapshot";

/// One block of a snapshot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shown {
    /// A text.
    Text(String),
    /// Media, or a document.
    Block(IndexMap<String, Value>),
    /// Media of an item.
    Media(Part),
}

/// An exception of the product's program, by its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Raised(pub(crate) &'static str);

const TYPE_ERROR: Raised = Raised("TypeError");

/// Types of blocks that are handed down; documents by `v3` alone.
const MEDIA: [&str; 6] = ["image", "image_url", "audio", "input_audio", "video", "file"];
const DOCUMENT: &str = "document";

/// The snapshot of a history; `None`: nothing is left, and the child is exactly the isolated one.
pub(crate) fn capture(profile: Profile, summary: Option<&str>, messages: &[Message<'_>]) -> Result<Option<Vec<Shown>>, Raised> {
    let mut shown = Vec::new();
    shown.extend(summary.and_then(summary_text).map(Shown::Text));
    let is_kept = |message: &Message<'_>| match profile {
        Profile::V1 => message.speaker != Speaker::Other,
        _ => message.is_seen(),
    };
    let complete = complete(messages, is_kept);
    for (at, message) in messages.iter().enumerate().filter(|(_, message)| is_kept(message)) {
        let mut blocks = Vec::new();
        for block in message.content.blocks() {
            blocks.extend(of_block(profile, &block)?);
        }
        let is_listed = |call: &&Called<'_>| {
            let finished = call.id.as_deref().is_some_and(|id| complete.contains(&(at, id)));
            finished || (profile == Profile::V1 && call.name != TOOL && call.name != BATCH_TOOL)
        };
        let listed: Option<Vec<String>> = message.calls.iter().filter(is_listed).filter_map(listed).collect();
        let listed = listed.ok_or(TYPE_ERROR)?;
        if !listed.is_empty() {
            blocks.push(Shown::Text(neutralise(&format!("Historical tool calls (not executed by you): [{}]", listed.join(", ")))));
        }
        if blocks.is_empty() {
            continue;
        }
        shown.push(Shown::Text(neutralise(&label(message))));
        shown.extend(blocks);
    }
    Ok(Some(shown).filter(|shown| !shown.is_empty()))
}

/// How a snapshot shows a summary; `None`: it says nothing.
pub(super) fn summary_text(summary: &str) -> Option<String> {
    (!python::strip(summary).is_empty()).then(|| neutralise(&format!("Historical conversation summary:\n{summary}")))
}

/// Whether an item is a summary that snapshots show.
pub(super) fn is_summary(profile: Profile, item: &Item) -> bool {
    matches!(item.body(), Body::Compaction { .. }) && (profile == Profile::V1 || !item.hidden)
}

/// The calls that a result completes, by message and id: ids repeat. Every message takes part, hidden ones too, so that
/// their results are not taken for those of others; a pair counts if both of its ends are kept.
fn complete<'a>(messages: &'a [Message<'_>], is_kept: impl Fn(&Message<'_>) -> bool) -> BTreeSet<(usize, &'a str)> {
    let mut open: BTreeMap<&str, usize> = BTreeMap::new();
    let mut complete = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        match message.speaker {
            Speaker::Assistant => {
                let valid = message.calls.iter().filter(|call| call.args.value().is_some());
                open.extend(valid.filter_map(|call| Some((call.id.as_deref()?, at))));
            }
            Speaker::Tool => {
                let Some(id) = message.answers.as_deref() else { continue };
                if let Some(of) = open.remove(id)
                    && messages.get(of).is_some_and(&is_kept)
                    && is_kept(message)
                {
                    complete.insert((of, id));
                }
            }
            Speaker::User | Speaker::Other => {}
        }
    }
    complete
}

/// A call as it is listed; `None`: its arguments are no object, so that it is no call there. The inner `None`: it cannot
/// be written as JSON.
fn listed(call: &Called<'_>) -> Option<Option<String>> {
    let args = call.args.value()?;
    let id = call.id.as_deref().map_or("null".to_owned(), python::quoted);
    Some(
        python::dumps(&args)
            .map(|args| format!("{{\"name\": {}, \"args\": {args}, \"id\": {id}, \"type\": \"tool_call\"}}", python::quoted(&call.name))),
    )
}

fn label(message: &Message<'_>) -> String {
    match message.speaker {
        Speaker::User | Speaker::Other => "\nHistorical user:\n".into(),
        Speaker::Assistant => "\nHistorical assistant:\n".into(),
        Speaker::Tool => {
            let name = message.name.as_deref().filter(|name| !name.is_empty()).unwrap_or("tool");
            // A result of a run always has an id; of an odd history it may be lost.
            let id = message.answers.as_deref().unwrap_or("unknown");
            format!("\nHistorical tool result ({name}, call {id}):\n")
        }
    }
}

/// What becomes of one block.
fn of_block(profile: Profile, block: &Block<'_>) -> Result<Option<Shown>, Raised> {
    let fields = match block {
        Block::Text("") => return Ok(None),
        Block::Text(text) | Block::Part(text) => return Ok(Some(Shown::Text(neutralise(text)))),
        Block::Media(part) => return Ok(Some(Shown::Media((*part).clone()))),
        Block::Typed(fields) => fields,
    };
    let kind = match fields.get("type") {
        Some(Value::Text(kind)) => kind.as_str(),
        // Up to `v2` a type is looked up in sets, which raises for what cannot be hashed.
        Some(Value::List(_) | Value::Object(_)) if profile != Profile::V3 => return Err(TYPE_ERROR),
        _ => return Ok(None),
    };
    if let ("text" | "output_text", Some(Value::Text(text))) = (kind, fields.get("text")) {
        return Ok(Some(Shown::Text(neutralise(text))));
    }
    let is_handed_down = MEDIA.contains(&kind) || (kind == DOCUMENT && profile == Profile::V3);
    if !is_handed_down {
        return Ok(None);
    }
    let mut kept = (*fields).clone();
    kept.shift_remove("cache_control");
    let kept = Value::Object(kept);
    let is_json = python::dumps(&kept).is_some();
    let Value::Object(kept) = kept else { return Ok(None) };
    Ok(Some(match (is_json, profile) {
        (false, Profile::V1) => return Err(TYPE_ERROR),
        (false, _) => Shown::Text(MEDIA_NOTICE.into()),
        (true, _) if kind == DOCUMENT => Shown::Block(document::neutralised(kept)),
        (true, _) => Shown::Block(kept),
    }))
}

/// The snapshot of a history of items. Its summary is the last one that stands there.
pub(super) fn of_history(profile: Profile, history: &[Item]) -> Result<Option<Vec<Shown>>, Raised> {
    let summary = history.iter().rfind(|item| is_summary(profile, item)).map(Item::text);
    capture(profile, summary.as_deref(), &of_items(history, &BTreeMap::new()))
}

/// A block of a snapshot as an item holds it.
pub(super) fn part(shown: Shown) -> Part {
    match shown {
        Shown::Text(text) => Part::text(text),
        Shown::Media(part) => part,
        // Items bring their media as parts; a block as data would read as its JSON.
        Shown::Block(fields) => Part::text(python::dumps(&Value::Object(fields)).unwrap_or_default()),
    }
}

/// A snapshot as the message that a child opens with.
pub(super) fn item(shown: Vec<Shown>) -> Item {
    let parts = shown.into_iter().map(part).collect();
    Item::new(Body::Message { role: Role::User, phase: None, parts }, Origin::Inherited).hide()
}
