//! What a request finds, by each kind of rule.

use smallvec::{SmallVec, smallvec};

use super::Counters;
use super::domain::Domain;
use super::marks::{Marked, Marks, implicit};
use super::profile::{Profile, Rule};
use super::segment::{Kind, Texts};
use super::tree::{NodeId, ROOT, Tree};
use super::usage::{Lifetime, Usage};

/// What was found, and what will be kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    /// Tokens read in the worst case.
    pub(super) low: u64,
    /// Tokens read in the best case.
    pub(super) high: u64,
    /// Beginnings that were used, by life.
    pub(super) used: SmallVec<[(usize, NodeId); 2]>,
    /// Breakpoints that count: long enough, and written by the rule.
    pub(super) marks: Marks,
    /// What is kept once the answer begins.
    pub(super) writes: Marks,
}

/// What a request meets.
pub(super) struct Meeting<'a, T> {
    pub(super) profile: &'a Profile,
    pub(super) minimum: u64,
    pub(super) domain: &'a Domain,
    pub(super) tree: &'a Tree,
    pub(super) texts: &'a T,
    /// The request.
    pub(super) node: NodeId,
    /// Its breakpoints in order.
    pub(super) marks: &'a [Marked],
    /// How long what stands at the latest message lives.
    pub(super) lifetime: Lifetime,
    /// The whole segments that it has in common with the nearest earlier request here.
    pub(super) seen: Option<NodeId>,
}

impl<T: Texts> Meeting<'_, T> {
    /// Finds by the profile's rule. Slots are taken elsewhere.
    pub(super) fn read(&self, counters: &mut Counters) -> Reading {
        match self.profile.rule {
            Rule::None | Rule::Slots { .. } => Reading::default(),
            Rule::Breakpoints { look_back, runs_are_one, .. } => self.breakpoints(look_back, runs_are_one, counters),
            Rule::Messages { beside, explicit, candidates } => self.messages(beside, explicit, candidates, counters),
            Rule::LongestPrefix { step, certain, last_recomputed } => self.longest(step, certain, last_recomputed, counters),
            Rule::Units => self.units(counters),
        }
    }

    fn long_enough(&self, node: NodeId) -> bool {
        node != ROOT && self.tree.tokens(node) >= self.minimum
    }

    /// The entry was read: every lifetime starts again. What is marked and not kept will be.
    fn at_entry(&self, hit: Option<NodeId>, marks: Marks, counters: &mut Counters) -> Reading {
        let tokens = hit.map_or(0, |hit| self.tree.tokens(hit));
        let used = hit.into_iter().flat_map(|hit| (0..self.domain.lives.len()).map(move |life| (life, hit))).collect();
        let writes = marks.iter().copied().filter(|mark| !self.domain.holds(mark.node, counters)).collect();
        Reading { low: tokens, high: tokens, used, marks, writes }
    }

    fn breakpoints(&self, look_back: usize, runs_are_one: bool, counters: &mut Counters) -> Reading {
        let marks: Marks = self.marks.iter().copied().filter(|mark| self.long_enough(mark.node)).collect();
        let hit = marks.iter().rev().find_map(|mark| self.look_back(mark.node, look_back, runs_are_one, counters));
        self.at_entry(hit, marks, counters)
    }

    /// Walks back from a breakpoint, which is the first position, to the nearest entry.
    fn look_back(&self, breakpoint: NodeId, look_back: usize, runs_are_one: bool, counters: &mut Counters) -> Option<NodeId> {
        let (mut node, mut behind, mut positions) = (breakpoint, None, 0);
        while node != ROOT {
            let kind = self.tree.segment(node).kind;
            let in_run = runs_are_one && matches!(kind, Kind::ToolUse | Kind::ToolResult) && behind == Some(kind);
            if kind != Kind::Setting {
                positions += usize::from(!in_run);
                behind = Some(kind);
            }
            if positions > look_back {
                return None;
            }
            if self.domain.holds(node, counters) {
                return Some(node);
            }
            node = self.tree.parent(node);
        }
        None
    }

    fn messages(&self, beside: usize, explicit: usize, candidates: [usize; 2], counters: &mut Counters) -> Reading {
        let implicit = implicit(self.profile);
        let latest = if implicit { self.tree.message(self.node) } else { ROOT };
        let written = if implicit { beside } else { explicit };
        let from = self.marks.len().saturating_sub(written);
        let mut marks: Marks = self.marks[from..].iter().copied().filter(|mark| self.long_enough(mark.node)).collect();
        if self.long_enough(latest) && marks.iter().all(|mark| mark.node != latest) {
            marks.push(Marked { node: latest, lifetime: self.lifetime });
            marks.sort_by_key(|mark| self.tree.depth(mark.node));
        }
        let (hit, tried) = self.latest_entry(latest, candidates[1], counters);
        let mut reading = self.at_entry(hit, marks, counters);
        if tried > candidates[0] {
            reading.low = 0;
        }
        reading
    }

    /// The last read point that is kept, and how many were tried: the messages from `latest` back, and the marked segments.
    fn latest_entry(&self, latest: NodeId, at_most: usize, counters: &mut Counters) -> (Option<NodeId>, usize) {
        let (mut message, mut marks) = (latest, self.marks.iter().rev().map(|mark| mark.node).peekable());
        for tried in 1..=at_most {
            let mark = marks.peek().copied().unwrap_or(ROOT);
            let point = if self.tree.depth(mark) > self.tree.depth(message) { mark } else { message };
            if !self.long_enough(point) {
                break;
            }
            if self.domain.holds(point, counters) {
                return (Some(point), tried);
            }
            if point == mark {
                marks.next();
            }
            if point == message {
                message = self.tree.message(self.tree.parent(message));
            }
        }
        (None, 0)
    }

    fn longest(&self, step: u64, certain: bool, last_recomputed: bool, counters: &mut Counters) -> Reading {
        let Some(near) = self.domain.lives[0].recent.nearest(self.tree, self.node, self.texts, counters) else {
            return Reading { writes: self.all(), ..Reading::default() };
        };
        let found = if last_recomputed { near.tokens.min(self.tree.tokens(self.node).saturating_sub(1)) } else { near.tokens };
        let found = found - found % step;
        let high = if found >= self.minimum { found } else { 0 };
        let used = if high > 0 && near.whole != ROOT { smallvec![(0, near.whole)] } else { smallvec![] };
        Reading { low: if certain { high } else { 0 }, high, used, writes: self.all(), marks: Marks::new() }
    }

    /// Everything will be kept.
    fn all(&self) -> Marks {
        smallvec![Marked { node: self.node, lifetime: Lifetime::Short }]
    }

    fn units(&self, counters: &mut Counters) -> Reading {
        let [sure, best] = &self.domain.lives[..] else { return Reading::default() };
        let mut unit = sure.recent.nearest(self.tree, self.node, self.texts, counters).map_or(ROOT, |near| near.whole);
        while unit != ROOT && !sure.entries.holds(unit, counters) {
            unit = self.tree.parent(unit);
        }
        let near = best.recent.nearest(self.tree, self.node, self.texts, counters);
        let whole = near.map_or(ROOT, |near| near.whole);
        let used = [(0, unit), (1, whole)].into_iter().filter(|(_, node)| *node != ROOT).collect();
        let mut writes = self.all();
        writes.extend(self.seen.filter(|&seen| seen != ROOT && seen != self.node).map(|node| Marked { node, lifetime: Lifetime::Short }));
        writes.reverse();
        Reading { low: self.tree.tokens(unit), high: near.map_or(0, |near| near.tokens), used, writes, marks: Marks::new() }
    }
}

/// The bill of a request that read so much. Where entries are marked, what stands between what was read and the last breakpoint is
/// written: with mixed lifetimes the longer one up to its last breakpoint (Anthropic's A, B and C).
pub(super) fn bill(input: u64, read: u64, marks: &[Marked], tree: &Tree) -> Usage {
    let end_of = |lifetime: Option<Lifetime>| {
        let mut of = marks.iter().filter(|mark| lifetime.is_none_or(|lifetime| lifetime == mark.lifetime));
        of.next_back().map_or(read, |mark| tree.tokens(mark.node)).max(read)
    };
    let (long, all) = (end_of(Some(Lifetime::Long)), end_of(None));
    Usage { read, write_short: all - long, write_long: long - read, uncached: input - all }
}
