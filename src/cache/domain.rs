//! Requests that can read each other's entries: one provider, model and scope, and one key where the key is part of the match.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Counters;
use super::entries::Entries;
use super::profile::{Profile, Rule};
use super::recent::Recent;
use super::slots::Slots;
use super::tree::{NodeId, Tree};
use super::usage::Lifetime;

/// The names of a domain, as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct DomainKey {
    pub(super) profile: u32,
    pub(super) model: u32,
    pub(super) scope: u32,
    pub(super) key: Option<u32>,
}

/// What is kept for one lifetime.
#[derive(Clone, Debug)]
pub(super) struct Life {
    pub(super) recent: Recent,
    pub(super) entries: Entries,
}

/// A domain.
#[derive(Clone, Debug)]
pub(super) struct Domain {
    pub(super) key: DomainKey,
    /// One for each lifetime of the profile, the shorter first; at least one.
    pub(super) lives: Vec<Life>,
    /// Everything that was ever sent here.
    pub(super) ever: Recent,
    /// Where requests ended: what goes on from there differs from nothing.
    pub(super) ends: FxHashSet<NodeId>,
    pub(super) slots: Slots,
    /// Whether beginnings are kept as entries, found only where they end.
    pub(super) has_entries: bool,
    /// Whether answers are kept as well as inputs.
    pub(super) keeps_answers: bool,
}

impl Domain {
    pub(super) fn new(key: DomainKey, profile: &Profile) -> Domain {
        let life = |window| Life { recent: Recent::new(window), entries: Entries::default() };
        let mut lives: Vec<Life> = profile.lifetimes.iter().map(|seconds| life(Some(seconds.saturating_mul(1000)))).collect();
        if lives.is_empty() {
            lives.push(life(None));
        }
        let slots = if let Rule::Slots { slots, .. } = profile.rule { slots } else { 0 };
        Domain {
            key,
            lives,
            ever: Recent::new(None),
            ends: FxHashSet::default(),
            slots: Slots::new(slots),
            has_entries: matches!(profile.rule, Rule::Breakpoints { .. } | Rule::Messages { .. } | Rule::Units),
            keeps_answers: matches!(profile.rule, Rule::LongestPrefix { .. } | Rule::Units | Rule::Slots { .. }),
        }
    }

    /// The place of a lifetime among the lives: providers with one lifetime have no longer one.
    pub(super) fn life(&self, lifetime: Lifetime) -> usize {
        if lifetime == Lifetime::Long { self.lives.len() - 1 } else { 0 }
    }

    /// Whether an entry stands here.
    pub(super) fn holds(&self, node: NodeId, counters: &mut Counters) -> bool {
        self.lives.iter().any(|life| life.entries.holds(node, counters))
    }

    /// Keeps a beginning as an entry, where there are entries.
    pub(super) fn write(&mut self, life: usize, tree: &Tree, node: NodeId, counters: &mut Counters) {
        if self.has_entries {
            self.lives[life].entries.write(tree, node, counters);
        }
    }

    /// Ends what is over for one lifetime.
    pub(super) fn expire(&mut self, life: usize, tree: &Tree, node: NodeId, now: u64, counters: &mut Counters) {
        let life = &mut self.lives[life];
        if let Some(top) = life.recent.expire(tree, node, now, counters) {
            life.entries.drop_under(tree, top, counters);
        }
    }
}

/// Numbers for names.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(FxHashMap<Box<str>, u32>);

impl Names {
    pub(super) fn number(&mut self, name: &str) -> u32 {
        match self.0.get(name) {
            Some(number) => *number,
            None => {
                let number = self.0.len() as u32;
                self.0.insert(name.into(), number);
                number
            }
        }
    }
}
