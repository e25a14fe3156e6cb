//! Where a request parts from earlier ones, and what that cost.

use super::Counters;
use super::domain::Domain;
use super::profile::{Profile, Rule};
use super::provider::Sent;
use super::recent::Nearest;
use super::request::{Divergence, RequestId, Why};
use super::tree::{NodeId, Tree};

/// What is known of a request once it was read.
pub(super) struct Case<'a> {
    pub(super) profile: &'a Profile,
    pub(super) minimum: u64,
    pub(super) domains: &'a [Domain],
    pub(super) domain: usize,
    pub(super) tree: &'a Tree,
    pub(super) sent: &'a [Sent],
    pub(super) node: NodeId,
    /// When it starts.
    pub(super) now: u64,
    /// Its last breakpoint that counts.
    pub(super) last_mark: Option<NodeId>,
    /// What it read, in the best case.
    pub(super) read: u64,
    /// The nearest of all requests.
    pub(super) of_all: Option<Nearest>,
    /// The nearest of those whose entries it can read.
    pub(super) of_domain: Option<Nearest>,
}

impl Case<'_> {
    pub(super) fn divergence(&self, counters: &mut Counters) -> Divergence {
        let Some(of_all) = self.of_all else {
            return Divergence { nearest: None, segment: 0, common: 0, why: Why::First, lost: 0 };
        };
        if self.profile.rule == Rule::None {
            return self.said(of_all, Why::NoCache, of_all.tokens);
        }
        let here = self.of_domain.map_or(0, |near| near.tokens);
        if of_all.tokens > here {
            let lost = self.readable(of_all).map_or(0, |(tokens, _)| tokens).saturating_sub(self.read);
            if lost > 0 {
                return self.said(of_all, self.foreign(of_all.request), lost);
            }
        }
        let Some(near) = self.of_domain else {
            return self.said(of_all, self.foreign(of_all.request), 0);
        };
        self.kept(near, counters).unwrap_or_else(|| self.content(near))
    }

    fn said(&self, near: Nearest, why: Why, lost: u64) -> Divergence {
        Divergence { nearest: Some(near.request), segment: self.tree.depth(near.whole), common: near.tokens, why, lost }
    }

    /// How the other request's domain differs.
    fn foreign(&self, other: RequestId) -> Why {
        let (ours, theirs) = (self.domains[self.domain].key, self.domains[self.of(other).domain].key);
        if ours.profile != theirs.profile || ours.model != theirs.model {
            Why::Model
        } else if ours.scope != theirs.scope {
            Why::Scope
        } else {
            Why::Key
        }
    }

    fn of(&self, request: RequestId) -> &Sent {
        &self.sent[request.number()]
    }

    /// What of an earlier request could be read if nothing but the content mattered, and the entry that it would be.
    fn readable(&self, near: Nearest) -> Option<(u64, Option<NodeId>)> {
        let tokens = match self.profile.rule {
            Rule::None => return None,
            Rule::Breakpoints { .. } | Rule::Messages { .. } => {
                let last = self.tree.depth(self.last_mark?);
                let marks = self.of(near.request).marks.iter().map(|mark| mark.node);
                let reachable = marks.filter(|&mark| self.tree.begins(mark, near.whole) && self.tree.depth(mark) <= last);
                let mark = reachable.max_by_key(|&mark| self.tree.depth(mark))?;
                return Some((self.tree.tokens(mark), Some(mark)));
            }
            Rule::LongestPrefix { step, last_recomputed, .. } => {
                let most = self.tree.tokens(self.node).saturating_sub(u64::from(last_recomputed));
                let tokens = near.tokens.min(most);
                tokens - tokens % step
            }
            Rule::Units => near.tokens,
            Rule::Slots { .. } => near.tokens.min(self.tree.tokens(self.node).saturating_sub(1)),
        };
        (tokens >= self.minimum).then_some((tokens, None))
    }

    /// Whether the nearest request's own could not be read although it is the same.
    fn kept(&self, near: Nearest, counters: &mut Counters) -> Option<Divergence> {
        let (tokens, entry) = self.readable(near)?;
        if tokens <= self.read {
            return None;
        }
        let why = if self.of(near.request).available.is_none_or(|available| available > self.now) {
            Why::NotYetAvailable
        } else if entry.is_some_and(|entry| self.domains[self.domain].holds(entry, counters)) {
            Why::OutsideLookBack
        } else if matches!(self.profile.rule, Rule::Slots { .. }) {
            Why::NotKept
        } else {
            Why::Expired
        };
        Some(self.said(near, why, tokens - self.read))
    }

    /// What the content says: where it differs, or that it does not.
    fn content(&self, near: Nearest) -> Divergence {
        let theirs = self.of(near.request);
        let goes_on = near.whole == self.node || self.domains[self.domain].ends.contains(&near.whole);
        if self.read == 0 && near.tokens > 0 && near.tokens < self.minimum {
            return self.said(near, Why::BelowMinimum, near.tokens);
        }
        if goes_on {
            let marked = matches!(self.profile.rule, Rule::Breakpoints { .. } | Rule::Messages { .. });
            let lost = if marked { near.tokens.saturating_sub(self.read) } else { 0 };
            return self.said(near, if lost > 0 { Why::NotKept } else { Why::Nothing }, lost);
        }
        let differing = self.tree.at_depth(self.node, self.tree.depth(near.whole) + 1, &mut Counters::default());
        let lost = self.tree.tokens(self.node).min(self.tree.tokens(theirs.node)).saturating_sub(self.read);
        self.said(near, Why::Differs(self.tree.segment(differing).kind), lost)
    }
}
