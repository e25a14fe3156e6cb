//! What a fork makes of a parent's history. Each is a function of the items alone; text is never copied.

use crate::strategy::filter::partners;
use crate::transcript::{Body, Item, Origin, Phase, Role};

use super::fragment::{is_contextual, is_scrubbed};
use super::mail::starts_a_turn;

/// How much of the history a filtered fork is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Full,
    /// Its last turns.
    Last,
}

/// The result that a verbatim fork gives to a call without one.
pub const ABORTED: &str = "aborted";

/// The filter of `codex-v1` and of `codex-v2` up to 0.163: system, developer and user messages and final answers stay;
/// commentary, assistant text without a phase, reasoning, calls, results and mail go. A result that names no call stays.
/// Summaries stay, and records that no model reads stay in a full fork. Of developer messages the parts go that tell the
/// parent its role, mode or time, and in a part of the history its managed instructions.
pub fn filtered(items: &[Item], extent: Extent) -> Vec<Item> {
    items.iter().filter_map(|item| filtered_item(item, extent)).collect()
}

fn filtered_item(item: &Item, extent: Extent) -> Option<Item> {
    match item.body() {
        Body::Message { role: Role::Developer, phase, parts } => {
            let kept: Vec<_> = parts.iter().filter(|part| !is_scrubbed(part, extent == Extent::Last)).cloned().collect();
            if kept.len() == parts.len() {
                return Some(item.inherited());
            }
            let scrubbed = Item::new(Body::Message { role: Role::Developer, phase: *phase, parts: kept }, Origin::Inherited);
            (!scrubbed.parts().is_empty()).then(|| if item.hidden { scrubbed.hide() } else { scrubbed })
        }
        Body::Message { role: Role::System | Role::User, .. }
        | Body::Message { role: Role::Assistant, phase: Some(Phase::FinalAnswer), .. }
        | Body::Result { key: None, .. }
        | Body::Compaction { .. } => Some(item.inherited()),
        Body::Context { .. } => (extent == Extent::Full).then(|| item.inherited()),
        Body::Message { .. } | Body::Reasoning { .. } | Body::Call(_) | Body::Result { .. } | Body::Mail { .. } => None,
    }
}

/// The last `turns` turns, the one in progress included; fewer: from the first on. A turn begins at a user message that is
/// no context, and at mail that starts one. What stands before the first turn is never among them.
pub fn last_turns(items: &[Item], turns: u64) -> &[Item] {
    let begins: Vec<usize> = (0..items.len()).filter(|&at| begins_a_turn(&items[at])).collect();
    let skipped = begins.len().saturating_sub(usize::try_from(turns).unwrap_or(usize::MAX));
    begins.get(skipped).and_then(|&from| items.get(from..)).unwrap_or_default()
}

fn begins_a_turn(item: &Item) -> bool {
    match item.body() {
        Body::Message { role: Role::User, .. } => !is_contextual(item),
        Body::Mail { .. } => starts_a_turn(&item.text()),
        _ => false,
    }
}

/// The fork of 0.166 on: everything, the turn in progress too. A call without a result is answered by [`ABORTED`] where it
/// stands, a result of a call that stands nowhere goes, as in every request of the product.
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
