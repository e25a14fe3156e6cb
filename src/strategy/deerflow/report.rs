//! What a child's work comes to: the text of its last message (f1f4af9, `subagents/executor.py`).

use std::borrow::Cow;

use super::message::{Block, Content, Message, Speaker};
use super::python::strip;
use super::status::{Cap, Outcome, Status};
use super::text::{self, NO_RESPONSE};
use super::value::Value;

/// The texts of a message, joined by line ends: bare ones, and the `text` of blocks of any type.
pub(crate) fn text_of(content: &Content<'_>) -> String {
    let blocks = content.blocks();
    let texts = blocks.iter().filter_map(|block| match block {
        Block::Text(text) | Block::Part(text) => Some(*text),
        Block::Typed(fields) => fields.get("text").and_then(Value::as_text),
        Block::Media(_) => None,
    });
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// What a finished child's messages say: the last one of the assistant alone, be it empty; without one the last of any
/// kind. White space is an answer.
pub(crate) fn answer(messages: &[Message<'_>]) -> String {
    let last = messages.iter().rfind(|message| message.speaker == Speaker::Assistant).or(messages.last());
    let text = last.map(|message| text_of(&message.content)).unwrap_or_default();
    if text.is_empty() { NO_RESPONSE.into() } else { text }
}

/// The end of a child that finished with this last text.
pub(super) fn finished(last: &str) -> Outcome {
    Outcome { status: Status::Completed, cap: None, text: answer(&[said(last)]) }
}

/// The end of a child that had as many turns as it may: its last text is its answer, unless it is blank.
pub(super) fn used_up(last: &str, most: u32) -> Outcome {
    let partial = strip(last);
    let (status, text) =
        if partial.is_empty() { (Status::Failed, text::turns_used_up(most)) } else { (Status::Completed, partial.to_owned()) };
    Outcome { status, cap: Some(Cap::Turns), text }
}

fn said(text: &str) -> Message<'_> {
    Message::new(Speaker::Assistant, Content::Text(Cow::Borrowed(text)), 0)
}
