//! The rules read slowly: whole token arrays, all earlier requests, nothing shared with the cache.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::world::{Pieces, Step, common_tokens, kind_of, segment, token_ids, world};
use crate::cache::{Cache, Client, Key, Kind, Lifetime, Mark, Minimum, Outcome, Profile, Request, Rule, Usage, Why};

/// What the slow reading says of a request.
#[derive(Debug, PartialEq, Eq)]
struct Expected {
    low: Usage,
    high: Usage,
}

/// A model and a key.
type Where = (usize, Option<usize>);

#[derive(Clone)]
struct Touch {
    domain: Where,
    pieces: Vec<usize>,
    at: u64,
}

struct Entry {
    domain: Where,
    pieces: Vec<usize>,
    life: usize,
}

struct Pending {
    at: u64,
    order: usize,
    domain: Where,
    start: u64,
    writes: Vec<(Vec<usize>, Lifetime)>,
    reply: Option<Vec<usize>>,
}

struct Slow<'a> {
    profile: &'a Profile,
    touches: Vec<Vec<Touch>>,
    entries: Vec<Entry>,
    pending: Vec<Pending>,
    ever: Vec<(Where, Vec<usize>)>,
}

fn tokens(pieces: &[usize]) -> Vec<u32> {
    pieces.iter().flat_map(|&piece| token_ids(piece)).collect()
}

fn len(pieces: &[usize]) -> u64 {
    tokens(pieces).len() as u64
}

impl Slow<'_> {
    fn lives(&self) -> usize {
        self.profile.lifetimes.len().max(1)
    }

    fn window(&self, life: usize) -> u64 {
        self.profile.lifetimes.get(life).map_or(u64::MAX / 2, |seconds| seconds * 1000)
    }

    fn live_touches(&self, life: usize, domain: Where, now: u64) -> impl Iterator<Item = &Touch> {
        let window = self.window(life);
        self.touches[life].iter().filter(move |touch| touch.domain == domain && touch.at + window >= now)
    }

    /// Drops the entries of which no use lives.
    fn kill(&mut self, now: u64) {
        let dead: Vec<bool> = self
            .entries
            .iter()
            .map(|entry| !self.live_touches(entry.life, entry.domain, now).any(|touch| touch.pieces.starts_with(&entry.pieces)))
            .collect();
        let mut dead = dead.into_iter();
        self.entries.retain(|_| !dead.next().expect("one each"));
    }

    fn settle(&mut self, now: u64) {
        while let Some(next) =
            (0..self.pending.len()).min_by_key(|&n| (self.pending[n].at, self.pending[n].reply.is_some(), self.pending[n].order))
        {
            if self.pending[next].at > now {
                break;
            }
            let pending = self.pending.remove(next);
            self.kill(pending.at);
            let (pieces, at) = match &pending.reply {
                Some(pieces) => (Some(pieces.clone()), pending.at),
                None => (pending.writes.last().map(|(pieces, _)| pieces.clone()), pending.start),
            };
            let writes = match &pending.reply {
                Some(pieces) => (0..self.lives()).map(|life| (pieces.clone(), life)).collect(),
                None => pending.writes.iter().map(|(pieces, lifetime)| (pieces.clone(), self.life(*lifetime))).collect::<Vec<_>>(),
            };
            let has_entries = !matches!(self.profile.rule, Rule::LongestPrefix { .. });
            for (pieces, life) in writes.into_iter().filter(|_| has_entries) {
                if !self.entries.iter().any(|entry| entry.domain == pending.domain && entry.pieces == pieces && entry.life == life) {
                    self.entries.push(Entry { domain: pending.domain, pieces, life });
                }
            }
            if let Some(pieces) = &pending.reply {
                self.ever.push((pending.domain, pieces.clone()));
            }
            if let Some(pieces) = pieces {
                for life in 0..self.lives() {
                    self.touches[life].push(Touch { domain: pending.domain, pieces: pieces.clone(), at });
                }
            }
        }
        self.kill(now);
    }

    fn life(&self, lifetime: Lifetime) -> usize {
        if lifetime == Lifetime::Long { self.lives() - 1 } else { 0 }
    }

    fn holds(&self, domain: Where, pieces: &[usize]) -> bool {
        self.entries.iter().any(|entry| entry.domain == domain && entry.pieces == pieces)
    }

    fn send(&mut self, step: &Step, now: u64, order: usize) -> Expected {
        self.settle(now);
        let key = if self.profile.key == Key::Ignored { None } else { step.key };
        let domain = (step.model, key);
        let pieces = &step.pieces;
        let input = len(pieces);
        let minimum = self.profile.minimum.default;
        let up_to = |count: usize| pieces[..count].to_vec();
        let mut marks: Vec<(usize, Lifetime)> =
            step.marks.iter().map(|&(at, lifetime)| (at + 1, lifetime)).filter(|(count, _)| len(&pieces[..*count]) >= minimum).collect();
        if self.lives() < 2 {
            marks.iter_mut().for_each(|(_, lifetime)| *lifetime = Lifetime::Short);
        }
        let (mut low, mut high, mut writes, mut used) = (0, 0, vec![], vec![]);
        match self.profile.rule {
            Rule::Breakpoints { look_back, runs_are_one, .. } => {
                let mut hit = 0;
                'all: for &(count, _) in marks.iter().rev() {
                    let mut groups: Vec<Vec<usize>> = vec![];
                    for end in (1..=count).rev() {
                        let kind = kind_of(pieces[end - 1]);
                        let run = runs_are_one && matches!(kind, Kind::ToolUse | Kind::ToolResult);
                        match groups.last_mut() {
                            Some(group) if run && kind_of(pieces[group[0] - 1]) == kind => group.push(end),
                            _ => groups.push(vec![end]),
                        }
                    }
                    for end in groups.into_iter().take(look_back).flatten() {
                        if self.holds(domain, &pieces[..end]) {
                            hit = end;
                            break 'all;
                        }
                    }
                }
                (low, high) = (len(&pieces[..hit]), len(&pieces[..hit]));
                if hit > 0 {
                    used = (0..self.lives()).map(|life| (life, hit)).collect();
                }
                writes = marks.clone();
            }
            Rule::Messages { beside, candidates, .. } => {
                let message = |count: usize| matches!(kind_of(pieces[count - 1]), Kind::User | Kind::ToolResult);
                let all = step.marks.iter().map(|(at, _)| at + 1).collect::<Vec<_>>();
                let points: Vec<usize> = (1..=pieces.len()).rev().filter(|&count| message(count) || all.contains(&count)).collect();
                let kept = step.marks.len().saturating_sub(beside);
                marks = step.marks[kept..].iter().map(|&(at, lifetime)| (at + 1, lifetime)).collect();
                if let Some(latest) = (1..=pieces.len()).rev().find(|&count| message(count))
                    && marks.iter().all(|(count, _)| *count != latest)
                {
                    marks.push((latest, Lifetime::Short));
                }
                marks.sort_by_key(|(count, _)| *count);
                marks.retain(|(count, _)| len(&pieces[..*count]) >= minimum);
                let hit = points.iter().take(candidates[1]).position(|&count| self.holds(domain, &pieces[..count]));
                if let Some(place) = hit {
                    high = len(&pieces[..points[place]]);
                    low = if place < candidates[0] { high } else { 0 };
                    used = (0..self.lives()).map(|life| (life, points[place])).collect();
                }
                if self.profile.key == Key::Required && step.key.is_none() {
                    low = 0;
                }
                writes = marks.clone();
            }
            Rule::LongestPrefix { step: size, certain, last_recomputed } => {
                let ours = tokens(pieces);
                let common = self.live_touches(0, domain, now).map(|touch| common_tokens(&ours, &tokens(&touch.pieces))).max().unwrap_or(0);
                let most = if last_recomputed { input.saturating_sub(1) } else { input };
                let found = (common as u64).min(most) / size * size;
                high = if found >= minimum { found } else { 0 };
                low = if certain { high } else { 0 };
                let whole = (0..=pieces.len()).rev().find(|&count| len(&pieces[..count]) <= common as u64).unwrap_or(0);
                if high > 0 && whole > 0 {
                    used = vec![(0, whole)];
                }
                writes = vec![(pieces.len(), Lifetime::Short)];
                marks = vec![];
            }
            Rule::Units => {
                let unit = (1..=pieces.len()).rev().find(|&count| {
                    self.entries.iter().any(|entry| entry.life == 0 && entry.domain == domain && entry.pieces == pieces[..count])
                });
                low = unit.map_or(0, |count| len(&pieces[..count]));
                let ours = tokens(pieces);
                let common = self.live_touches(1, domain, now).map(|touch| common_tokens(&ours, &tokens(&touch.pieces))).max().unwrap_or(0);
                high = common as u64;
                let whole = |common: u64| (0..=pieces.len()).rev().find(|&count| len(&pieces[..count]) <= common).unwrap_or(0);
                used = unit.map(|count| (0, count)).into_iter().collect();
                if whole(high) > 0 {
                    used.push((1, whole(high)));
                }
                let seen =
                    self.ever.iter().filter(|(theirs, _)| *theirs == domain).map(|(_, pieces)| common_tokens(&ours, &tokens(pieces)));
                let seen = whole(seen.max().unwrap_or(0) as u64);
                if seen > 0 && seen != pieces.len() {
                    writes.push((seen, Lifetime::Short));
                }
                writes.push((pieces.len(), Lifetime::Short));
                marks = vec![];
            }
            Rule::None | Rule::Slots { .. } => unreachable!("not asked here"),
        }
        for (life, count) in used {
            self.touches[life].push(Touch { domain, pieces: up_to(count), at: now });
        }
        let writes: Vec<(Vec<usize>, Lifetime)> = writes
            .into_iter()
            .map(|(count, lifetime)| (up_to(count), lifetime))
            .filter(|(pieces, _)| {
                !matches!(self.profile.rule, Rule::Breakpoints { .. } | Rule::Messages { .. }) || !self.holds(domain, pieces)
            })
            .collect();
        if let Some(first) = step.first_token {
            self.pending.push(Pending { at: now + first, order, domain, start: now, writes, reply: None });
            if matches!(self.profile.rule, Rule::LongestPrefix { .. } | Rule::Units) {
                let whole = [&pieces[..], &step.reply[..]].concat();
                self.pending.push(Pending { at: now + first + 3, order, domain, start: now, writes: vec![], reply: Some(whole) });
            }
        }
        self.ever.push((domain, pieces.clone()));
        let bill = |read: u64| {
            let mut usage = Usage { read, ..Usage::default() };
            let last_long = marks.iter().filter(|(_, lifetime)| *lifetime == Lifetime::Long).map(|(count, _)| len(&pieces[..*count])).max();
            let last = marks.iter().map(|(count, _)| len(&pieces[..*count])).max();
            for position in read..input {
                if last_long.is_some_and(|end| position < end) {
                    usage.write_long += 1;
                } else if last.is_some_and(|end| position < end) {
                    usage.write_short += 1;
                } else {
                    usage.uncached += 1;
                }
            }
            usage
        };
        Expected { low: bill(low), high: bill(high) }
    }
}

fn profile(rule: Rule, lifetimes: &[u64], key: Key, minimum: u64) -> Arc<Profile> {
    let client = Client { marks: vec![], lifetime: Lifetime::Short, implicit: true };
    Arc::new(Profile {
        name: "slow".into(),
        dated: "2026-12-01".into(),
        doubt: Some("it may be less".into()),
        key,
        lifetimes: lifetimes.to_vec(),
        minimum: Minimum { default: minimum, models: BTreeMap::new() },
        rule,
        clients: [("plain".to_owned(), client)].into(),
        client: Some("plain".into()),
    })
}

/// Plays a world into both and compares every request. Times are in whole seconds, so that lifetimes bind.
fn check(steps: &[Step], profile: &Arc<Profile>) {
    let mut cache = Cache::new(Pieces);
    let mut slow = Slow { profile, touches: vec![vec![], vec![]], entries: vec![], pending: vec![], ever: vec![] };
    let (mut now, mut outcomes): (u64, Vec<Outcome>) = (0, vec![]);
    for (n, step) in steps.iter().enumerate() {
        now += step.pause * 1000;
        let after = (n > 0).then(|| step.after % n);
        let common = after.map_or(0, |after| steps[after].pieces.iter().zip(&step.pieces).take_while(|(a, b)| a == b).count());
        let same = common.saturating_sub(step.modest);
        let rest: Vec<_> = step.pieces[same..].iter().map(|&piece| segment(piece)).collect();
        let marks: Vec<Mark> = step.marks.iter().map(|&(at, lifetime)| Mark { at, lifetime }).collect();
        let key = step.key.map(|key| format!("key-{key}"));
        let model = format!("model-{}", step.model);
        let request = Request {
            profile,
            model: &model,
            scope: "org",
            key: key.as_deref(),
            thread: "t",
            start_ms: now,
            after: after.map(|after| outcomes[after].request),
            same,
            rest: &rest,
            marks: Some(&marks),
            lifetime: None,
        };
        let outcome = cache.send(&request).expect("a request that is one");
        let mut in_seconds = step.clone();
        in_seconds.first_token = step.first_token.map(|first| first * 1000);
        let expected = slow.send(&in_seconds, now, n);
        assert_eq!(Expected { low: outcome.low, high: outcome.high }, expected, "request {n}");
        assert_eq!((outcome.low.input(), outcome.high.input()), (outcome.input, outcome.input));
        assert!(outcome.low.read <= outcome.high.read);
        assert_eq!(outcome.range.is_some(), outcome.low != outcome.high);
        assert_eq!(outcome.divergence.why == Why::First, n == 0);
        assert!(outcome.high.read + outcome.divergence.lost <= outcome.input);
        if let Some(first) = in_seconds.first_token {
            cache.available(outcome.request, now + first);
            let reply: Vec<_> = step.reply.iter().map(|&piece| segment(piece)).collect();
            cache.replied(outcome.request, &reply, now + first + 3);
        }
        outcomes.push(outcome);
    }
}

const ANTHROPIC_LIKE: Rule = Rule::Breakpoints { at_most: 4, look_back: 4, runs_are_one: true };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn breakpoints(steps in world()) {
        check(&steps, &profile(ANTHROPIC_LIKE, &[20, 60], Key::Ignored, 6));
    }

    #[test]
    fn breakpoints_with_one_lifetime_and_no_runs(steps in world()) {
        check(&steps, &profile(Rule::Breakpoints { at_most: 4, look_back: 3, runs_are_one: false }, &[25], Key::Ignored, 0));
    }

    #[test]
    fn messages(steps in world()) {
        check(&steps, &profile(Rule::Messages { beside: 2, explicit: 3, candidates: [2, 4] }, &[20, 60], Key::Required, 6));
    }

    #[test]
    fn longest_prefix_in_steps(steps in world()) {
        check(&steps, &profile(Rule::LongestPrefix { step: 4, certain: false, last_recomputed: false }, &[25], Key::Matched, 8));
    }

    #[test]
    fn longest_prefix_by_the_token(steps in world()) {
        check(&steps, &profile(Rule::LongestPrefix { step: 1, certain: true, last_recomputed: true }, &[], Key::Ignored, 0));
    }

    #[test]
    fn units(steps in world()) {
        check(&steps, &profile(Rule::Units, &[20, 60], Key::Ignored, 0));
    }
}
