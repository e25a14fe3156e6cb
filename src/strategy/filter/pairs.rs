//! Which result answers which call, by position.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::transcript::{Body, CallKey, Item};

/// The partner of each call and of each result; `None` for an unanswered call, a result without a call before it, and
/// every other item. The same pairing as [`dangling`](crate::transcript::dangling): a key answers its oldest open call.
pub(in crate::strategy) fn partners(items: &[Item]) -> Vec<Option<usize>> {
    let mut partners = vec![None; items.len()];
    let mut open: BTreeMap<CallKey, VecDeque<usize>> = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        match item.body() {
            Body::Call(call) => open.entry(call.key).or_default().push_back(at),
            Body::Result { key: Some(key), .. } => {
                if let Some(call) = open.get_mut(key).and_then(VecDeque::pop_front) {
                    partners[at] = Some(call);
                    partners[call] = Some(at);
                }
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
