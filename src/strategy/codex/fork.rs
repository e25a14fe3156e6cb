//! The fork of 0.166 on: everything, verbatim.

use crate::strategy::filter::partners;
use crate::transcript::{Body, Item, Origin};

/// The result that a verbatim fork gives to a call without one.
pub const ABORTED: &str = "aborted";

/// A copy of everything, the turn in progress too. A call without a result is answered by [`ABORTED`] where it stands, a
/// result of a call that stands nowhere goes, as in every request of the product.
pub fn verbatim(items: &[Item]) -> Vec<Item> {
    let partners = partners(items);
    let mut copy = Vec::with_capacity(items.len() + 1);
    for (item, partner) in items.iter().zip(partners) {
        match item.body() {
            Body::Call(call) if partner.is_none() => {
                copy.push(item.inherited());
                copy.push(Item::result(call.key, Origin::Inherited, ABORTED, false));
            }
            Body::Result { key: Some(_), .. } if partner.is_none() => {}
            _ => copy.push(item.inherited()),
        }
    }
    copy
}
