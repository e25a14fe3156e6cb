//! Mail between agents, as the model reads it.

use crate::transcript::{Body, Item, Origin, Part};

/// What mail is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A task: it starts a turn.
    NewTask,
    /// A word to read.
    Message,
    /// What a child's turn came to.
    FinalAnswer,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::NewTask => "NEW_TASK",
            Kind::Message => "MESSAGE",
            Kind::FinalAnswer => "FINAL_ANSWER",
        }
    }
}

/// The head of a letter, up to the line where its text begins.
fn head(kind: Kind, from: &str, to: &str) -> String {
    format!("Message Type: {}\nTask name: {to}\nSender: {from}\nPayload:\n", kind.name())
}

/// What a tool sends: the head, and the text in a part of its own (the product sends that part encrypted).
pub(super) fn by_tool(kind: Kind, from: &str, to: &str, text: &str) -> Item {
    let parts = vec![Part::text(head(kind, from, to)), text.into()];
    Item::new(Body::Mail { from: from.into(), to: to.into(), parts }, Origin::Task)
}

/// What a child's turn came to: one part.
pub(super) fn final_answer(from: &str, to: &str, text: &str) -> Item {
    let parts = vec![Part::text(head(Kind::FinalAnswer, from, to) + text)];
    Item::new(Body::Mail { from: from.into(), to: to.into(), parts }, Origin::Delegated)
}

/// Whether mail of this text started a turn, or would have.
pub(super) fn starts_a_turn(text: &str) -> bool {
    text.strip_prefix("Message Type: ").and_then(|rest| rest.lines().next()) == Some(Kind::NewTask.name())
}

/// The most bytes of an error that a parent is told: 900 tokens, which the product takes to be 4 bytes each.
const ERROR_BYTES: usize = 3600;

/// What the parent reads of a turn that failed.
pub(super) fn errored(why: &str) -> String {
    format!(
        "Agent errored: {}\n\nThis agent's turn failed. If you still need this agent, use the available collaboration tools to give it \
         another task.",
        shortened(why)
    )
}

/// A long error without its middle.
fn shortened(why: &str) -> String {
    if why.len() <= ERROR_BYTES {
        return why.into();
    }
    let first = (0..=ERROR_BYTES / 2).rev().find(|&at| why.is_char_boundary(at)).unwrap_or_default();
    let last = (why.len() - ERROR_BYTES / 2..why.len()).find(|&at| why.is_char_boundary(at)).unwrap_or(why.len());
    format!("{}…{} tokens truncated…{}", &why[..first], (last - first).div_ceil(4), &why[last..])
}
