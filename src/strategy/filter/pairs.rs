//! Which result answers which call, by position.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rustc_hash::FxHashMap;

use crate::transcript::{Body, CallKey, Item};

/// The calls of a history that wait for their results, while it is read from its beginning. Pairs as [`partners`] does, and keeps the
/// open ones alone: in most histories there are few at a time, and the result that comes is the oldest one's.
#[derive(Default)]
pub(in crate::strategy) struct OpenCalls(VecDeque<(CallKey, usize)>);

impl OpenCalls {
    /// A call, with a place for it that is greater than those before.
    pub fn call(&mut self, key: CallKey, at: usize) {
        self.0.push_back((key, at));
    }

    /// The place of the call that a result answers; `None`: it answers none.
    pub fn answer(&mut self, key: CallKey) -> Option<usize> {
        let first = self.0.iter().position(|(open, _)| *open == key)?;
        self.0.remove(first).map(|(_, at)| at)
    }

    /// Those that nobody has answered, in order.
    pub fn left(&self) -> impl Iterator<Item = (CallKey, usize)> {
        self.0.iter().copied()
    }
}

/// The partner of each call and of each result; `None` for an unanswered call, a result without a call before it, and
/// every other item. The same pairing as [`dangling`](crate::transcript::dangling): a key answers its oldest open call.
pub(super) fn partners(items: &[Item]) -> Vec<Option<usize>> {
    let mut partners = vec![None; items.len()];
    // The first and the last open call of a key, and behind each call the next one of its key: a key should stand once.
    let mut open: FxHashMap<CallKey, (usize, usize)> = FxHashMap::default();
    let mut behind: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        match item.body() {
            Body::Call(call) => {
                let ends = open.entry(call.key).or_insert((at, at));
                if ends.1 != at {
                    behind.insert(ends.1, at);
                    ends.1 = at;
                }
            }
            Body::Result { key: Some(key), .. } => {
                let Some(&(call, last)) = open.get(key) else { continue };
                match behind.remove(&call) {
                    Some(next) => open.insert(*key, (next, last)),
                    None => open.remove(key),
                };
                partners[at] = Some(call);
                partners[call] = Some(at);
            }
            _ => {}
        }
    }
    partners
}

/// The positions of the calls in flight, in order.
pub(super) fn waiting(items: &[Item], partners: &[Option<usize>], in_flight: &[CallKey], own: usize) -> BTreeSet<usize> {
    let waits = |at: &usize| {
        let call = items[*at].as_call();
        call.is_some_and(|call| partners[*at].is_none() && (*at >= own || in_flight.contains(&call.key)))
    };
    (0..items.len()).filter(waits).collect()
}
