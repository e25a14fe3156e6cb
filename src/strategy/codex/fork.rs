//! The fork of 0.166 on: everything, verbatim.

use crate::strategy::filter::{OpenCalls, ROOM};
use crate::transcript::{Body, Item, Origin};

/// The result that a verbatim fork gives to a call without one.
pub const ABORTED: &str = "aborted";

/// A copy of everything, the turn in progress too. A call without a result is answered by [`ABORTED`] where it stands, a
/// result of a call that stands nowhere goes, as in every request of the product.
pub fn verbatim(items: &[Item]) -> Vec<Item> {
    let mut open = OpenCalls::default();
    let mut copy = Vec::with_capacity(items.len() + ROOM);
    for item in items {
        match item.body() {
            Body::Call(call) => open.call(call.key, copy.len()),
            Body::Result { key: Some(key), .. } if open.answer(*key).is_none() => continue,
            _ => {}
        }
        copy.push(item.inherited());
    }
    // Nearly always the last items alone, so that the others are not touched again.
    let Some((_, first)) = open.left().next() else { return copy };
    let tail = copy.split_off(first);
    let mut left = open.left().peekable();
    for (item, at) in tail.into_iter().zip(first..) {
        copy.push(item);
        if let Some((key, _)) = left.next_if(|(_, call)| *call == at) {
            copy.push(Item::result(key, Origin::Inherited, ABORTED, false));
        }
    }
    copy
}
