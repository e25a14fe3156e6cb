//! Snapshots of a history that grows: what an earlier snapshot has rendered is not rendered again.
//!
//! A history is settled up to a message of the user before which every call has its result: nothing that comes later changes how
//! the snapshot shows what stands before it. So those texts are kept, and each snapshot renders what has come since.

use std::collections::{BTreeMap, BTreeSet};

use crate::strategy::ThreadId;
use crate::transcript::{Body, Item, Origin, Part, Role};

use super::Profile;
use super::message::of_items;
use super::snapshot::{Raised, capture, is_summary, item, of_history, part, summary_text};

/// What the snapshots of a run's threads have in common with those before them.
#[derive(Default)]
pub(super) struct Snapshots {
    threads: BTreeMap<ThreadId, Settled>,
}

/// The settled beginning of a history.
#[derive(Default)]
struct Settled {
    items: Vec<Item>,
    /// What a snapshot shows of it.
    parts: Vec<Part>,
    /// Where the last summary stands in it.
    summary: Option<usize>,
}

impl Snapshots {
    /// The message that a child of this thread opens with; `None`: nothing is left of the history.
    pub fn of(&mut self, profile: Profile, thread: ThreadId, history: &[Item]) -> Result<Option<Item>, Raised> {
        let settled = self.threads.entry(thread).or_default();
        let goes_on = |(known, item): (&Item, &Item)| known.shares_body(item) && known.hidden == item.hidden;
        if settled.items.len() > history.len() || !settled.items.iter().zip(history).all(goes_on) {
            *settled = Settled::default();
        }
        if !settled.extend(profile, history)? {
            return Ok(of_history(profile, history)?.map(item));
        }
        let open = &history[settled.items.len()..];
        let kept_summary = |item: &Item| is_summary(profile, item);
        let summary = open.iter().rfind(|item| kept_summary(item)).or_else(|| settled.items.get(settled.summary?));
        let mut parts = Vec::with_capacity(settled.parts.len() + 4 * open.len() + 1);
        parts.extend(summary.and_then(|item| summary_text(&item.text())).map(Part::text));
        parts.extend_from_slice(&settled.parts);
        parts.extend(shown(profile, open)?);
        let body = Body::Message { role: Role::User, phase: None, parts };
        Ok((!body_is_empty(&body)).then(|| Item::new(body, Origin::Inherited).hide()))
    }
}

impl Settled {
    /// Takes what has settled since. False: a result came whose call stands before what is settled now, so that
    /// what it is called depends on that.
    fn extend(&mut self, profile: Profile, history: &[Item]) -> Result<bool, Raised> {
        let from = self.items.len();
        let (mut calls, mut open) = (BTreeSet::new(), BTreeSet::new());
        let mut until = from;
        for (at, item) in history.iter().enumerate().skip(from) {
            match item.body() {
                Body::Message { role: Role::User, .. } if open.is_empty() => {
                    until = at;
                    calls.clear();
                }
                Body::Call(call) => {
                    calls.insert(call.key);
                    open.insert(call.key);
                }
                Body::Result { key: Some(key), .. } if calls.contains(key) => _ = open.remove(key),
                Body::Result { .. } => return Ok(false),
                _ => {}
            }
        }
        let new = &history[from..until];
        self.parts.extend(shown(profile, new)?);
        if let Some(summary) = new.iter().rposition(|item| is_summary(profile, item)) {
            self.summary = Some(from + summary);
        }
        self.items.extend_from_slice(new);
        Ok(true)
    }
}

/// What a snapshot shows of a piece of a history that begins with a message of the user, its summary aside.
fn shown(profile: Profile, items: &[Item]) -> Result<Vec<Part>, Raised> {
    let shown = capture(profile, None, &of_items(items, &BTreeMap::new()))?;
    Ok(shown.unwrap_or_default().into_iter().map(part).collect())
}

fn body_is_empty(body: &Body) -> bool {
    matches!(body, Body::Message { parts, .. } if parts.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::transcript::{CallKey, ToolCall};

    fn any_item() -> impl Strategy<Value = (u8, u32, bool)> {
        (0..9_u8, 0..6_u32, proptest::bool::weighted(0.1))
    }

    /// A user's, an assistant's or a summary's text, a call, its result, a system message.
    fn made((kind, key, hidden): (u8, u32, bool)) -> Item {
        let call = |args: &str| {
            let (id, name) = (format!("call_{}", key % 4), "look".to_owned());
            Item::call(ToolCall { key: CallKey(key), id, name, args: args.into(), intent: None, recorded: None })
        };
        let item = match kind {
            0 | 1 => Item::user(Origin::User, format!("asks <{key}>")),
            2 => Item::assistant(None, format!("says {key}")),
            3 => call("{\"a\": 1}"),
            4 => call("nothing"),
            5 | 6 => Item::result(CallKey(key), Origin::ToolResult, format!("gives {key}"), false),
            7 => Item::new(Body::Compaction { parts: vec![format!("sums up {key}").into()] }, Origin::Compaction),
            _ => Item::message(Role::System, Origin::System, "rules"),
        };
        if hidden { item.hide() } else { item }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

        /// However a history grows, and also where it is written anew, the snapshot is the one that nothing was kept for.
        #[test]
        fn kept_or_rendered_it_reads_the_same(
            items in prop::collection::vec(any_item(), 0..40),
            cuts in prop::collection::vec(0..40_usize, 1..8),
            changed in prop::option::of(0..40_usize),
        ) {
            let mut history: Vec<Item> = items.into_iter().map(made).collect();
            for profile in [Profile::V1, Profile::V2, Profile::V3] {
                let mut snapshots = Snapshots::default();
                for (nth, cut) in cuts.iter().enumerate() {
                    if let Some(at) = changed.filter(|&at| nth == cuts.len() / 2 && at < history.len()) {
                        history[at] = made((2, 9, false));
                    }
                    let history = &history[..(*cut).min(history.len())];
                    let expect = of_history(profile, history).unwrap().map(item);
                    prop_assert_eq!(snapshots.of(profile, ThreadId::ROOT, history).unwrap(), expect);
                }
            }
        }
    }

    /// A result that comes again long after its call was settled is called as before.
    #[test]
    fn a_late_result_is_called_by_its_call() {
        let mut history: Vec<Item> = [(3, 0), (5, 0), (0, 1), (2, 2), (0, 3)].map(|(kind, key)| made((kind, key, false))).to_vec();
        let mut snapshots = Snapshots::default();
        for late in [5, 2, 0, 5] {
            history.push(made((late, 0, false)));
            let expect = of_history(Profile::V2, &history).unwrap().map(item);
            assert_eq!(snapshots.of(Profile::V2, ThreadId::ROOT, &history).unwrap(), expect);
        }
    }
}
