//! The ledger of delegations: what the parent has handed out and what came of it, in every request of it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::transcript::{CallKey, Item, Means, Origin};

use super::text::{self, TOOL, shortened};

/// Entries that are remembered.
const ENTRIES: usize = 50;
/// Characters of the whole block.
const BUDGET: usize = 6_000;
/// Characters of a result as it is remembered, and as it is shown.
const BRIEF: usize = 2_000;
const SHOWN: usize = 120;
/// Characters of a description.
const DESCRIPTION: usize = 200;

/// How a delegation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    InProgress,
    Completed,
    Failed,
    Cancelled,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Status::InProgress => "in_progress",
            Status::Completed => "completed",
            Status::Failed => "failed",
            Status::Cancelled => "cancelled",
        }
    }

    fn guidance(self) -> &'static str {
        match self {
            Status::InProgress => "already delegated; do NOT delegate again; wait for or build on the result",
            Status::Completed => "completed result; do NOT delegate again; reuse this result",
            Status::Failed => "failed attempt; may retry with a changed plan",
            Status::Cancelled => "cancelled attempt; may retry with a changed plan",
        }
    }
}

/// The structured half of a result: what the product keeps beside the text that the model reads.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) status: Status,
    /// The child's text, or the error.
    pub(super) text: String,
}

struct Entry {
    description: String,
    agent: String,
    status: Status,
    brief: Option<String>,
    /// Where its call stands.
    at: usize,
}

/// The entries of a history, in the order in which their ids were first seen. Status never comes from a text.
fn entries(history: &[Item], told: &BTreeMap<CallKey, Told>) -> Vec<Entry> {
    let mut ids: Vec<&str> = Vec::new();
    let mut all: Vec<Entry> = Vec::new();
    let mut id_of: BTreeMap<CallKey, usize> = BTreeMap::new();
    for (at, item) in history.iter().enumerate() {
        let Some(call) = item.as_call().filter(|call| call.name == TOOL && !call.id.is_empty()) else { continue };
        let args = serde_json::from_str::<Value>(call.args.as_text()).unwrap_or_default();
        let field = |key: &str| args.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let description = field("description").or(field("prompt")).unwrap_or_default();
        let place = ids.iter().position(|id| *id == call.id);
        let entry = Entry {
            description: description.chars().take(DESCRIPTION).collect(),
            agent: field("subagent_type").unwrap_or_default().to_owned(),
            status: Status::InProgress,
            brief: None,
            // A repeated id keeps its first place.
            at: place.and_then(|place| all.get(place)).map_or(at, |first| first.at),
        };
        let place = place.unwrap_or_else(|| {
            ids.push(&call.id);
            all.len()
        });
        match all.get_mut(place) {
            Some(old) => *old = entry,
            None => all.push(entry),
        }
        id_of.insert(call.key, place);
    }
    for item in history {
        let Some(key) = item.answers() else { continue };
        let Some(entry) = id_of.get(&key).and_then(|&place| all.get_mut(place)) else { continue };
        let (status, brief) = match told.get(&key) {
            Some(told) => (told.status, told.text.trim()),
            // A result of an earlier session: how it stands is known, its text is not told apart from its frame.
            None if item.means.iter().any(|means| matches!(means, Means::Returned(_))) => (Status::Completed, ""),
            None if item.means.iter().any(|means| matches!(means, Means::Failed(_) | Means::Refused)) => (Status::Failed, text::FAILED),
            None => continue,
        };
        entry.status = status;
        if !brief.is_empty() {
            entry.brief = Some(shortened(brief, BRIEF));
        }
    }
    all
}

/// How many delegations a turn that begins at `own` has made.
pub(super) fn made(history: &[Item], own: usize) -> usize {
    entries(history, &BTreeMap::new()).iter().filter(|entry| entry.at >= own).count()
}

/// White space runs as one blank, and nothing that could be a tag.
fn escaped(text: &str) -> String {
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The ledger as a hidden user message; `None`: nothing was delegated. The budget holds for heading, lines and the note
/// on what is left out (what it covers is not established).
pub(super) fn ledger(history: &[Item], told: &BTreeMap<CallKey, Told>) -> Option<Item> {
    let all = entries(history, told);
    let entries = &all[all.len().saturating_sub(ENTRIES)..];
    if entries.is_empty() {
        return None;
    }
    let mut block = format!("## Work already delegated\n{}", text::EXPLANATION);
    let mut length = block.chars().count();
    for (at, entry) in entries.iter().rev().enumerate() {
        let (status, guidance) = (entry.status.name(), entry.status.guidance());
        let brief = entry.brief.as_deref().map(|brief| format!(" -> {}", escaped(&shortened(brief, SHOWN)))).unwrap_or_default();
        let line = format!("\n- [{status}] {} (via {}; {guidance}){brief}", escaped(&entry.description), escaped(&entry.agent));
        let omitted =
            |left: usize| format!("\n- ... {left} older delegation entries omitted from this model view because of context budget");
        let (left, size) = (entries.len() - at, line.chars().count());
        let reserve = if left > 1 { omitted(left - 1).chars().count() } else { 0 };
        if length + size + reserve > BUDGET {
            block.push_str(&omitted(left));
            break;
        }
        block.push_str(&line);
        length += size;
    }
    Some(Item::user(Origin::Delegated, format!("<durable_context_data>\n{block}\n</durable_context_data>")).hide())
}
