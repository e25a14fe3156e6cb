//! What a vector's child did, as items of its thread and as the end of its turn.

use crate::strategy::End;
use crate::strategy::maf::streamed;
use crate::transcript::{Body, CallKey, Item, Origin, Part, Role, ToolCall};

use super::super::json::Json;
use super::super::stage::Stage;
use super::vector::{ChildResult, Content, Piece, Requests};

/// A child's turn.
pub struct Played {
    /// What it wrote and read.
    pub items: Vec<Item>,
    /// How it ended.
    pub end: End,
}

/// A child that says one text.
pub fn saying(text: &str) -> Played {
    Played { items: vec![Item::assistant(None, text)], end: End::Done }
}

/// The turn of the child of the call at this place in its message.
pub fn played(result: &ChildResult, at: usize, stage: &mut Stage) -> Result<Played, String> {
    if let Some(texts) = &result.per_call {
        return texts.get(at).map(|text| saying(text)).ok_or_else(|| format!("`per_call` has no text for call {}", at + 1));
    }
    let mut items = Vec::new();
    for message in result.messages.iter().flatten() {
        add(&mut items, role(&message.role)?, &message.contents, stage);
    }
    for pieces in result.stream.iter().flatten() {
        add(&mut items, Role::Assistant, &whole(pieces), stage);
    }
    let end = match (&result.exception, result.cancelled, &result.user_input_request) {
        (Some(message), ..) => End::Failed(message.clone()),
        (None, Some(true), _) => End::Aborted,
        (None, _, Some(Requests::One(kind))) => End::Stopped(kind.clone()),
        (None, _, Some(Requests::Several(kinds))) => End::Stopped(kinds.join(", ")),
        (None, ..) if result.messages.is_none() && result.stream.is_none() => return Err("`child_result` says nothing".into()),
        (None, ..) => End::Done,
    };
    Ok(Played { items, end })
}

/// A role as the wire names it.
pub fn role(name: &str) -> Result<Role, String> {
    let all = [Role::System, Role::Developer, Role::User, Role::Assistant, Role::Tool];
    all.into_iter().find(|role| role.name() == name).ok_or_else(|| format!("`{name}` is no role"))
}

/// One message: its texts stay apart, its calls and results are items of their own.
fn add(items: &mut Vec<Item>, role: Role, contents: &[Content], stage: &mut Stage) {
    let mut texts: Vec<Part> = Vec::new();
    let mut others = Vec::new();
    for content in contents {
        match content {
            Content::Text { text } => texts.push(text.as_str().into()),
            Content::Reasoning { text } => items.push(Item::new(Body::Reasoning { parts: vec![text.as_str().into()] }, Origin::Own)),
            Content::FunctionCall { name } => others.push(Item::call(stage.draft("", name, "{}"))),
            Content::FunctionResult { result } => {
                let text = result.as_text().map_or_else(|| result.to_string(), str::to_owned);
                let key = open(items.iter().chain(&others));
                let body = Body::Result { key, parts: vec![text.into()], failed: false };
                others.push(Item::new(body, Origin::ToolResult));
            }
        }
    }
    if !texts.is_empty() {
        items.push(Item::new(Body::Message { role, phase: None, parts: texts }, Origin::Own));
    }
    items.extend(others);
}

/// The first call without a result.
fn open<'a>(items: impl Iterator<Item = &'a Item> + Clone) -> Option<CallKey> {
    let answered = |call: &ToolCall| items.clone().any(|item| item.answers() == Some(call.key));
    items.clone().filter_map(Item::as_call).find(|call| !answered(call)).map(|call| call.key)
}

/// A streamed message when it is finished: pieces of text that follow each other are one content.
fn whole(pieces: &[Piece]) -> Vec<Content> {
    let mut contents: Vec<Content> = Vec::new();
    for piece in pieces {
        match (piece, contents.last_mut()) {
            (Piece::Text(text) | Piece::Content(Content::Text { text }), Some(Content::Text { text: before })) => {
                *before = streamed([before.as_str(), text]);
            }
            (Piece::Text(text), _) => contents.push(Content::Text { text: text.clone() }),
            (Piece::Content(content), _) => contents.push(content.clone()),
        }
    }
    contents
}

/// The messages of a session as it is stored.
pub fn stored(state: &Json) -> Result<Vec<Item>, String> {
    let messages = state.get("in_memory").get("messages").items().unwrap_or_default();
    messages
        .iter()
        .map(|message| {
            let role = role(message.get("role").as_text().ok_or("a stored message has no `role`")?)?;
            let text = message.get("text").as_text().ok_or("a stored message has no `text`")?;
            let origin = if role == Role::User { Origin::User } else { Origin::Own };
            Ok(Item::message(role, origin, text))
        })
        .collect()
}
