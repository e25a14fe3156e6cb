//! The entries of a cache that keeps only marked beginnings.

use rustc_hash::FxHashSet;

use super::Counters;
use super::tree::{NodeId, Tree};

/// Beginnings that were written and have lived since, in preorder.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    known: FxHashSet<NodeId>,
    sorted: Vec<NodeId>,
}

impl Entries {
    /// Whether this beginning can be read.
    pub(super) fn holds(&self, node: NodeId, counters: &mut Counters) -> bool {
        counters.visited += 1;
        self.known.contains(&node)
    }

    fn place(&self, tree: &Tree, label: u64, counters: &mut Counters) -> usize {
        self.sorted.partition_point(|&node| {
            counters.visited += 1;
            tree.opens(node) < label
        })
    }

    /// Keeps a beginning.
    pub(super) fn write(&mut self, tree: &Tree, node: NodeId, counters: &mut Counters) {
        if self.known.insert(node) {
            let place = self.place(tree, tree.opens(node), counters);
            self.sorted.insert(place, node);
        }
    }

    /// Drops this beginning and all that go on from it.
    pub(super) fn drop_under(&mut self, tree: &Tree, top: NodeId, counters: &mut Counters) {
        let (from, to) = (self.place(tree, tree.opens(top), counters), self.place(tree, tree.closes(top), counters));
        for node in self.sorted.drain(from..to) {
            self.known.remove(&node);
        }
    }
}
