//! The stored session that the root and its children share.

use std::collections::BTreeMap;

use crate::strategy::Splice;
use crate::transcript::{Item, Origin};

/// What is stored of an item: a name that its thread's history has put beside its own words is not.
fn without_name(item: &Item) -> Item {
    if item.origin == Origin::Own { item.clone().unnamed() } else { item.clone() }
}

/// What a child says is stored when it ends, what the root says when its turn ends: behind all that its children said
/// meanwhile. Children stand in the order in which they ended (run).
#[derive(Default)]
pub(super) struct Stored {
    /// By turn of the root: where its items begin in the root's history, and what children left while it ran.
    turns: BTreeMap<u32, (usize, Vec<Item>)>,
}

impl Stored {
    /// The root's turn in progress, of which the items begin here.
    pub(super) fn turn(&mut self, turn: u32, begin: usize) {
        self.turns.entry(turn).or_insert_with(|| (begin, Vec::new()));
    }

    /// A child that ended well leaves what it was told and what it said; what it had read is there already.
    pub(super) fn leave(&mut self, items: &[Item]) {
        if let Some((_, left)) = self.turns.values_mut().next_back() {
            left.extend(items.iter().filter(|item| item.origin != Origin::Inherited).map(without_name));
        }
    }

    /// What is stored while the newest turn runs, given the root's history.
    pub(super) fn read(&self, root: &[Item]) -> Vec<Item> {
        let mut items = Vec::new();
        let mut from = 0;
        for (begin, left) in self.turns.values() {
            items.extend(root.get(from..*begin).unwrap_or_default().iter().map(|item| without_name(item).inherited()));
            items.extend(left.iter().map(Item::inherited));
            from = *begin;
        }
        items
    }

    /// What stands in the root's requests beside its history: what children left in its earlier turns.
    pub(super) fn splices(&self, turn: u32) -> Vec<Splice> {
        let earlier = self.turns.range(..turn).filter(|(_, (_, left))| !left.is_empty());
        let of_child = |item: &Item| {
            let mut item = item.inherited();
            item.origin = Origin::Delegated;
            item
        };
        earlier
            .map(|(_, (begin, left))| Splice { at: *begin, remove: 0, items: left.iter().map(of_child).collect(), keep: false })
            .collect()
    }
}
