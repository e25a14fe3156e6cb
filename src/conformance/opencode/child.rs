//! A child played: its requests, and its messages one after another.

use crate::conformance::stage::Stage;
use crate::strategy::{AssistantTurn, End, ThreadId};
use crate::transcript::{Item, Origin};

use super::given::{ChildMessage, ChildResult, Part};

/// A child's thread so far.
pub struct Played {
    /// Its history.
    pub history: Vec<Item>,
    /// The running turn's items begin here.
    pub own: usize,
    /// Its first request since it was prompted.
    pub first: Option<Vec<Item>>,
    /// Its first request behind a summary.
    pub compacted: Option<Vec<Item>>,
}

/// How a child's turn ended, and the name of the error on its last message.
type Ended = (End, Option<String>);

impl Played {
    /// A thread with a prompt behind what it holds already.
    pub fn opened(mut history: Vec<Item>, prompt: Vec<Item>) -> Played {
        let own = history.len();
        history.extend(prompt);
        Played { history, own, first: None, compacted: None }
    }

    /// Asks for the next request. What the session puts in place of the history stays there.
    fn request(&mut self, stage: &mut Stage, child: ThreadId) -> bool {
        let (view, items) = stage.request(child, &self.history, self.own);
        if view.aside {
            return true;
        }
        if view.splices.iter().any(|splice| splice.keep) {
            (self.history, self.own) = (items.clone(), 0);
            self.compacted.get_or_insert_with(|| items.clone());
        }
        self.first.get_or_insert(items);
        false
    }
}

/// Plays a child's messages. `None`: it is still at work.
///
/// # Errors
/// A summary that nobody asked for, or one that was asked for and is not there.
pub fn play_child(stage: &mut Stage, child: ThreadId, played: &mut Played, result: &ChildResult) -> Result<Option<Ended>, String> {
    if played.request(stage, child) {
        return Err("the session asks for a summary before the child has said anything".into());
    }
    if result.pending {
        return Ok(None);
    }
    if result.cancelled {
        return Ok(Some((End::Aborted, None)));
    }
    let messages = result.messages.as_deref().ok_or("a child has `messages`, or is `cancelled` or `pending`")?;
    let mut end = (End::Done, None);
    let mut is_asked = false;
    for (at, message) in messages.iter().enumerate() {
        if message.role == "user" {
            played.history.push(Item::user(Origin::Task, message.text()));
            continue;
        }
        if message.summary != is_asked {
            let wants = if is_asked { "the session asks for a summary, and this is none" } else { "nobody has asked for a summary" };
            return Err(format!("`child_result.messages[{at}]`: {wants}"));
        }
        let goes_on = if is_asked {
            stage.aside(child, AssistantTurn { text: message.text(), ..AssistantTurn::default() });
            true
        } else {
            say(stage, child, played, message)
        };
        end = match &message.error {
            Some(error) => (End::Failed(error.said().to_owned()), Some(error.name.clone())),
            None => (End::Done, None),
        };
        is_asked = end.0 == End::Done && goes_on && played.request(stage, child);
    }
    match is_asked {
        true => Err("`child_result.messages`: the session asks for a summary, and none is there".into()),
        false => Ok(Some(end)),
    }
}

/// One message of the child with its calls and their results; whether the turn goes on. A window of one token is full
/// after any message.
fn say(stage: &mut Stage, child: ThreadId, played: &mut Played, message: &ChildMessage) -> bool {
    let mut calls = Vec::new();
    let mut results = Vec::new();
    for part in &message.parts {
        let Part::Tool { tool, status, error } = part else { continue };
        let call = stage.draft("", tool, "{}");
        let failed = status == "error";
        results.push(Item::result(call.key, Origin::ToolResult, error.clone().unwrap_or_default(), failed));
        calls.push(call);
    }
    let text = message.text();
    let window = message.context_full_after.then_some(1);
    let reply = AssistantTurn { text: text.clone(), calls: calls.clone(), total: 1, window, ..AssistantTurn::default() };
    let turn = stage.reply(child, reply, &played.history, played.own);
    let goes_on = turn.more || !turn.calls.is_empty();
    if !text.is_empty() {
        played.history.push(Item::assistant(None, text));
    }
    played.history.extend(calls.into_iter().map(Item::call));
    played.history.extend(results);
    goes_on
}

impl ChildMessage {
    /// The last of its texts; empty: it has none.
    fn text(&self) -> String {
        let texts = self.parts.iter().rev().find_map(|part| match part {
            Part::Text { text, text_gen } => Some(text_gen.as_ref().map(|made| made.text()).or_else(|| text.clone()).unwrap_or_default()),
            Part::Reasoning { .. } | Part::Tool { .. } => None,
        });
        texts.unwrap_or_default()
    }
}

impl ChildResult {
    /// A child that says one text and ends.
    pub fn said(text: &str) -> ChildResult {
        let part = Part::Text { text: Some(text.to_owned()), text_gen: None };
        let message = ChildMessage {
            role: "assistant".into(),
            _finish: None,
            error: None,
            parts: vec![part],
            context_full_after: false,
            summary: false,
        };
        ChildResult { messages: Some(vec![message]), ..ChildResult::default() }
    }
}
