//! The limit of delegations (f1f4af9, `subagent_limit_middleware.py`): after each reply the first calls of `task` stay, the
//! rest is deleted without a word. Only when the run's quota is used up is anything said.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::text::{LIMIT_NOTE, TOOL};
use super::value::Value;

/// How many calls are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// In one reply.
    at_once: usize,
    /// In a run, which is one turn of the user.
    in_all: usize,
}

/// Why a run stopped whose quota was used up.
pub(crate) const CAPPED: &str = "subagent_limit_capped";

impl Default for Limits {
    fn default() -> Limits {
        Limits::new(3, 6)
    }
}

impl Limits {
    /// Limits within their bounds.
    pub(crate) fn new(at_once: i64, in_all: i64) -> Limits {
        let within = |given: i64, most: i64| given.clamp(1, most) as usize;
        Limits { at_once: within(at_once, 4), in_all: within(in_all, 50) }
    }

    /// What becomes of a reply with calls of these names, after so many delegations of the run; `None`: nothing changes.
    pub(crate) fn judge<'a>(self, names: impl Iterator<Item = &'a str>, made: usize) -> Option<Verdict> {
        let left = self.in_all.saturating_sub(made);
        let mut allowed = left.min(self.at_once);
        let keep: Vec<bool> = names
            .map(|name| {
                let stays = name != TOOL || allowed > 0;
                allowed -= usize::from(name == TOOL && stays);
                stays
            })
            .collect();
        keep.contains(&false).then_some(Verdict { keep, used_up: left == 0 })
    }
}

/// What becomes of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Of each call, whether it stays.
    pub(crate) keep: Vec<bool>,
    /// The run's quota is used up: the reply says so, and the run stops as [`CAPPED`].
    pub(crate) used_up: bool,
}

/// How many delegations of a run a ledger holds: distinct ids of its entries. Without a run every entry counts.
pub(crate) fn made<T: PartialEq, I: Ord>(entries: impl Iterator<Item = (I, Option<T>)>, run: Option<&T>) -> usize {
    let of_run = entries.filter(|(_, of)| run.is_none() || of.as_ref() == run);
    of_run.map(|(id, _)| id).collect::<BTreeSet<I>>().len()
}

/// A reply's content with the note behind it.
pub(crate) fn noted(content: &Value) -> Value {
    match content {
        Value::Text(text) if !text.is_empty() => Value::Text(format!("{text}\n\n{LIMIT_NOTE}")),
        Value::List(items) => {
            let block = [("type", "text".to_owned()), ("text", format!("\n\n{LIMIT_NOTE}"))];
            let block: IndexMap<String, Value> = block.into_iter().map(|(key, text)| (key.to_owned(), Value::Text(text))).collect();
            Value::List(items.iter().cloned().chain([Value::Object(block)]).collect())
        }
        _ => Value::Text(LIMIT_NOTE.into()),
    }
}

/// Why a reply ended, with so many of its calls left after some were deleted.
pub(crate) fn finish_reason(given: &str, left: usize) -> &str {
    if given == "tool_calls" && left == 0 { "stop" } else { given }
}
