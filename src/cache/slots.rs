//! A server's slots: each holds its last prompt and nothing else (llama.cpp's server).

use super::Counters;
use super::RequestId;
use super::segment::Texts;
use super::tree::{NodeId, ROOT, Tree};

#[derive(Clone, Copy, Debug)]
struct Slot {
    holds: NodeId,
    last: u64,
    busy: Option<RequestId>,
}

/// The slots.
#[derive(Clone, Debug)]
pub(super) struct Slots(Vec<Slot>);

impl Slots {
    pub(super) fn new(count: usize) -> Slots {
        Slots(vec![Slot { holds: ROOT, last: 0, busy: None }; count])
    }

    /// Picks a slot by likeness, else the one that has not been used for longest, and takes it. Returns the tokens that stay in it.
    /// Where all are busy the request would wait: it is given the one that has been busy for longest.
    #[expect(clippy::too_many_arguments, reason = "the pieces of one cache, lent apart")]
    pub(super) fn take(
        &mut self,
        tree: &Tree,
        texts: &impl Texts,
        node: NodeId,
        request: RequestId,
        now: u64,
        likeness: u64,
        counters: &mut Counters,
    ) -> u64 {
        let any_free = self.0.iter().any(|slot| slot.busy.is_none());
        let free = |slot: &Slot| !any_free || slot.busy.is_none();
        let input = tree.tokens(node);
        let (mut best, mut kept) = (None, 0);
        for (place, slot) in self.0.iter().enumerate().filter(|(_, slot)| free(slot)) {
            let (_, tokens) = tree.shared(node, slot.holds, texts, counters);
            let alike = u128::from(tokens) * 100 > u128::from(input) * u128::from(likeness);
            if alike && tokens > kept {
                (best, kept) = (Some(place), tokens);
            }
        }
        let oldest = || self.0.iter().enumerate().filter(|(_, slot)| free(slot)).min_by_key(|(_, slot)| slot.last).map(|(place, _)| place);
        let Some(place) = best.or_else(oldest) else { return 0 };
        let slot = &mut self.0[place];
        let (_, tokens) = tree.shared(node, slot.holds, texts, counters);
        *slot = Slot { holds: node, last: now, busy: Some(request) };
        tokens
    }

    /// The request has its answer; its slot holds this now.
    pub(super) fn free(&mut self, request: RequestId, holds: NodeId) {
        for slot in self.0.iter_mut().filter(|slot| slot.busy == Some(request)) {
            slot.busy = None;
            slot.holds = holds;
        }
    }

    /// The answer became part of what the slot holds.
    pub(super) fn extend(&mut self, from: NodeId, to: NodeId) {
        for slot in self.0.iter_mut().filter(|slot| slot.holds == from) {
            slot.holds = to;
        }
    }
}
