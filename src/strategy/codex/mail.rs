//! Mail between agents, as the model reads it.

use serde_json::json;

use crate::transcript::{Body, Item, Origin, Part, Phase, Role};

use super::profile::Mail;
use super::rollout::Envelope;
use super::status::Status;
use super::truncate::to_tokens;

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

/// A letter of release 0.130.
fn envelope(kind: Kind, from: &str, to: &str, text: &str, origin: Origin) -> Item {
    let envelope = Envelope {
        author: from.into(),
        recipient: to.into(),
        other_recipients: vec![],
        content: text.into(),
        trigger_turn: kind == Kind::NewTask,
    };
    // Strings, a list of strings and a bool have no key that JSON cannot hold.
    let parts = vec![Part::text(serde_json::to_string(&envelope).unwrap_or_default())];
    Item::new(Body::Message { role: Role::Assistant, phase: Some(Phase::Commentary), parts }, origin)
}

fn letter(from: &str, to: &str, parts: Vec<Part>, origin: Origin) -> Item {
    Item::new(Body::Mail { from: from.into(), to: to.into(), parts }, origin)
}

/// What a tool sends: the head, and the text in a part of its own (the product sends that part encrypted).
pub(super) fn by_tool(mail: Mail, kind: Kind, from: &str, to: &str, text: &str) -> Item {
    match mail {
        Mail::Json => envelope(kind, from, to, text, Origin::Task),
        Mail::AgentMessage => letter(from, to, vec![Part::text(head(kind, from, to)), text.into()], Origin::Task),
    }
}

/// What a child's turn came to, for its parent; `None`: it is not told.
pub(super) fn result(mail: Mail, from: &str, to: &str, status: &Status) -> Option<Item> {
    let text = match status {
        Status::Completed(text) => text.clone().unwrap_or_default(),
        Status::Errored(why) => errored(why),
        Status::PendingInit | Status::Running | Status::Interrupted | Status::Shutdown | Status::NotFound => return None,
    };
    Some(match mail {
        Mail::Json => envelope(Kind::FinalAnswer, from, to, &notification(from, status), Origin::Delegated),
        Mail::AgentMessage => letter(from, to, vec![Part::text(head(Kind::FinalAnswer, from, to) + &text)], Origin::Delegated),
    })
}

/// How a child stands, as its parent reads it in v1, and in a letter of release 0.130.
pub(super) fn notification(agent: &str, status: &Status) -> String {
    format!("<subagent_notification>\n{}\n</subagent_notification>", json!({"agent_path": agent, "status": status}))
}

/// Whether mail of this text started a turn, or would have.
pub(super) fn starts_a_turn(text: &str) -> bool {
    text.strip_prefix("Message Type: ").and_then(|rest| rest.lines().next()) == Some(Kind::NewTask.name())
}

/// The most that a parent is told of an error, in estimated tokens.
const ERROR_TOKENS: usize = 900;

/// What the parent reads of a turn that failed.
fn errored(why: &str) -> String {
    format!(
        "Agent errored: {}\n\nThis agent's turn failed. If you still need this agent, use the available collaboration tools to give it \
         another task.",
        to_tokens(why, ERROR_TOKENS)
    )
}
