//! Which beginnings were used within a lifetime, so that the nearest one to a request is found without looking at all of them.
//!
//! A use of a beginning is a use of everything that begins it. So only the ends are kept, in preorder: a beginning lives while an end
//! that lives stands under it, and the end nearest to a request is one of the two beside its place.

use super::Counters;
use super::RequestId;
use super::segment::Texts;
use super::tree::{NodeId, ROOT, Tree};

/// An end that was used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tip {
    /// The end.
    pub(super) node: NodeId,
    /// When the last request that used it started.
    pub(super) last: u64,
    /// That request.
    pub(super) request: RequestId,
}

/// The end that has most in common with a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nearest {
    /// Who used it last.
    pub(super) request: RequestId,
    /// The whole segments in common.
    pub(super) whole: NodeId,
    /// The tokens in common.
    pub(super) tokens: u64,
}

/// The ends that live.
#[derive(Clone, Debug)]
pub(super) struct Recent {
    /// How long a use keeps an end; none: for ever.
    window: Option<u64>,
    tips: Vec<Tip>,
}

impl Recent {
    pub(super) fn new(window: Option<u64>) -> Recent {
        Recent { window, tips: vec![] }
    }

    /// The last moment at which what was used at `at` lives.
    pub(super) fn until(&self, at: u64) -> Option<u64> {
        self.window.map(|window| at.saturating_add(window))
    }

    fn place(&self, tree: &Tree, node: NodeId, counters: &mut Counters) -> usize {
        let opens = tree.opens(node);
        self.tips.partition_point(|tip| {
            counters.visited += 1;
            tree.opens(tip.node) < opens
        })
    }

    /// Notes a use.
    pub(super) fn touch(&mut self, tree: &Tree, tip: Tip, counters: &mut Counters) {
        let mut place = self.place(tree, tip.node, counters);
        match self.tips.get_mut(place) {
            Some(known) if known.node == tip.node => {
                if tip.last >= known.last {
                    *known = tip;
                }
            }
            Some(below) if tree.begins(tip.node, below.node) && below.last >= tip.last => return,
            _ => self.tips.insert(place, tip),
        }
        // What this end outlives and goes on from need not be kept beside it.
        while place > 0 {
            let above = self.tips[place - 1];
            counters.visited += 1;
            if above.last > tip.last || !tree.begins(above.node, tip.node) {
                break;
            }
            self.tips.remove(place - 1);
            place -= 1;
        }
    }

    /// The end nearest to a request; of equals the later one.
    pub(super) fn nearest(&self, tree: &Tree, node: NodeId, texts: &impl Texts, counters: &mut Counters) -> Option<Nearest> {
        let place = self.place(tree, node, counters);
        let beside = [place.checked_sub(1).and_then(|left| self.tips.get(left)), self.tips.get(place)];
        let found = beside.into_iter().flatten().map(|tip| {
            let (whole, tokens) = tree.shared(node, tip.node, texts, counters);
            Nearest { request: tip.request, whole, tokens }
        });
        found.max_by_key(|near| (near.tokens, tree.depth(near.whole), near.request))
    }

    /// Ends a life whose time is over at `now`. Returns the top of what died with it: everything under it is dead.
    pub(super) fn expire(&mut self, tree: &Tree, node: NodeId, now: u64, counters: &mut Counters) -> Option<NodeId> {
        let place = self.place(tree, node, counters);
        let tip = *self.tips.get(place)?;
        if tip.node != node || self.until(tip.last).is_none_or(|until| until >= now) {
            return None;
        }
        self.tips.remove(place);
        let beside = [place.checked_sub(1).and_then(|left| self.tips.get(left)), self.tips.get(place)];
        let covered = beside.into_iter().flatten().map(|tip| tree.common(node, tip.node, counters));
        let kept = covered.max_by_key(|&above| tree.depth(above));
        match kept {
            Some(above) if above == node => None,
            Some(above) => Some(tree.at_depth(node, tree.depth(above) + 1, counters)),
            None => Some(ROOT),
        }
    }
}
