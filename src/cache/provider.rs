//! The cache over time: requests are sent, answers begin, lifetimes end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Counters;
use super::domain::{Domain, DomainKey, Names};
use super::explain::Case;
use super::marks::{Marks, lifetime, marks};
use super::profile::{Key, Profile, Rule};
use super::reading::{Meeting, bill};
use super::recent::{Recent, Tip};
use super::request::{Outcome, Refusal, Request, RequestId};
use super::segment::{Segment, Texts};
use super::tree::{NodeId, ROOT, Tree};

/// A request that was sent.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) domain: usize,
    pub(super) node: NodeId,
    pub(super) start: u64,
    /// When its answer begins, once that is known.
    pub(super) available: Option<u64>,
    /// Its breakpoints that count.
    pub(super) marks: Marks,
    /// What is kept once its answer begins.
    pub(super) writes: Marks,
    thread: u32,
    number: usize,
}

/// What happens at a moment; lives end before anything else does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// What was used may be over.
    Expire { domain: usize, life: usize, node: NodeId },
    /// A request's answer begins.
    Available(RequestId),
    /// A request's answer is complete; it ends here.
    Replied(RequestId, NodeId),
}

/// What a provider keeps, over a run.
#[derive(Clone, Debug)]
pub struct Cache<T> {
    texts: T,
    tree: Tree,
    names: Names,
    by_key: FxHashMap<DomainKey, usize>,
    domains: Vec<Domain>,
    /// Everything that was ever sent, once there is more than one domain.
    ever: Recent,
    sent: Vec<Sent>,
    threads: Vec<Arc<str>>,
    by_thread: FxHashMap<Arc<str>, u32>,
    in_thread: Vec<usize>,
    events: BinaryHeap<Reverse<(u64, Event)>>,
    now: u64,
    counters: Counters,
}

impl<T: Texts> Cache<T> {
    /// A cache in which nothing is kept.
    pub fn new(texts: T) -> Cache<T> {
        Cache {
            texts,
            tree: Tree::new(),
            names: Names::default(),
            by_key: FxHashMap::default(),
            domains: vec![],
            ever: Recent::new(None),
            sent: vec![],
            threads: vec![],
            by_thread: FxHashMap::default(),
            in_thread: vec![],
            events: BinaryHeap::new(),
            now: 0,
            counters: Counters::default(),
        }
    }

    /// What the look-ups cost so far.
    pub fn counters(&self) -> Counters {
        Counters { relabelled: self.tree.size().1, ..self.counters }
    }

    /// Distinct beginnings of requests so far.
    pub fn beginnings(&self) -> usize {
        self.tree.size().0
    }

    /// The thread of a request, and its number among that thread's requests, from 0.
    pub fn thread(&self, request: RequestId) -> Option<(&str, usize)> {
        let sent = self.sent.get(request.number())?;
        Some((self.threads.get(sent.thread as usize)?, sent.number))
    }

    /// Sends a request.
    ///
    /// # Errors
    /// Why it is none; nothing was sent then.
    pub fn send(&mut self, request: &Request<'_>) -> Result<Outcome, Refusal> {
        self.advance(request.start_ms);
        let node = self.place(request)?;
        let marks = marks(request, node, &self.tree, &mut self.counters)?;
        let domain = self.domain(request);
        let minimum = request.profile.minimum_of(request.model);
        let ever = if self.domains.len() == 1 { &self.domains[0].ever } else { &self.ever };
        let of_all = ever.nearest(&self.tree, node, &self.texts, &mut self.counters);
        let of_domain = match of_all {
            Some(near) if self.sent[near.request.number()].domain == domain => Some(near),
            Some(_) => self.domains[domain].ever.nearest(&self.tree, node, &self.texts, &mut self.counters),
            None => None,
        };
        let id = RequestId(self.sent.len() as u32);

        let meeting = Meeting {
            profile: request.profile,
            minimum,
            domain: &self.domains[domain],
            tree: &self.tree,
            texts: &self.texts,
            node,
            marks: &marks,
            lifetime: lifetime(request),
            seen: of_domain.map(|near| near.whole),
        };
        let mut reading = meeting.read(&mut self.counters);
        let input = self.tree.tokens(node);
        if let Rule::Slots { likeness, .. } = request.profile.rule {
            let slots = &mut self.domains[domain].slots;
            let kept = slots.take(&self.tree, &self.texts, node, id, self.now, likeness, &mut self.counters);
            reading.high = kept.min(input.saturating_sub(1));
            reading.low = reading.high;
        }
        if request.profile.key == Key::Required && request.key.is_none() {
            reading.low = 0;
        }
        let low = bill(input, reading.low, &reading.marks, &self.tree);
        let high = bill(input, reading.high, &reading.marks, &self.tree);

        let case = Case {
            profile: request.profile,
            minimum,
            domains: &self.domains,
            domain,
            tree: &self.tree,
            sent: &self.sent,
            node,
            now: self.now,
            last_mark: reading.marks.last().map(|mark| mark.node),
            read: reading.high,
            of_all,
            of_domain,
        };
        let divergence = case.divergence(&mut self.counters);

        for &(life, node) in &reading.used {
            self.touch(domain, life, Tip { node, last: self.now, request: id });
        }
        let tip = Tip { node, last: self.now, request: id };
        self.note(domain, tip);
        let (thread, number) = self.count(request.thread);
        let (marks, writes) = (reading.marks, reading.writes);
        self.sent.push(Sent { domain, node, start: self.now, available: None, marks, writes, thread, number });
        let range = if low == high { None } else { request.profile.doubt.clone() };
        Ok(Outcome { request: id, input, low, high, range, divergence })
    }

    /// A request's answer began: from then on what it wrote can be read. Of two calls the first holds.
    pub fn available(&mut self, request: RequestId, at_ms: u64) {
        let at = at_ms.max(self.now);
        if let Some(sent) = self.sent.get_mut(request.number())
            && sent.available.is_none()
        {
            sent.available = Some(at);
            self.events.push(Reverse((at, Event::Available(request))));
        }
    }

    /// A request's answer is complete, and these are its segments as the next request holds them. Providers that keep answers too
    /// (DeepSeek, servers of open models) find them there; the others do not care.
    pub fn replied(&mut self, request: RequestId, reply: &[Segment], at_ms: u64) {
        let Some(sent) = self.sent.get(request.number()) else { return };
        let mut node = sent.node;
        if self.total(node, reply).is_err() {
            return;
        }
        for segment in reply {
            node = self.tree.child(node, *segment, &self.texts, &mut self.counters);
        }
        self.events.push(Reverse((at_ms.max(self.now), Event::Replied(request, node))));
    }

    /// Lets time pass up to a moment, this one included.
    fn advance(&mut self, to: u64) {
        while let Some(&Reverse((at, event))) = self.events.peek() {
            if at > to {
                break;
            }
            self.events.pop();
            self.now = self.now.max(at);
            match event {
                Event::Expire { domain, life, node } => {
                    self.domains[domain].expire(life, &self.tree, node, self.now, &mut self.counters);
                }
                Event::Available(request) => self.begin(request),
                Event::Replied(request, node) => self.end(request, node),
            }
        }
        self.now = self.now.max(to);
    }

    /// What a request wrote can be read from now on. Its lifetime runs from the request's start.
    fn begin(&mut self, request: RequestId) {
        let sent = &mut self.sent[request.number()];
        let (domain, node, start, writes) = (sent.domain, sent.node, sent.start, std::mem::take(&mut sent.writes));
        for mark in &writes {
            let life = self.domains[domain].life(mark.lifetime);
            self.domains[domain].write(life, &self.tree, mark.node, &mut self.counters);
        }
        if let Some(deepest) = writes.last() {
            for life in 0..self.domains[domain].lives.len() {
                self.touch(domain, life, Tip { node: deepest.node, last: start, request });
            }
        }
        self.domains[domain].slots.free(request, node);
    }

    /// What a request's answer wrote, where answers are kept.
    fn end(&mut self, request: RequestId, node: NodeId) {
        let (domain, from) = (self.sent[request.number()].domain, self.sent[request.number()].node);
        self.domains[domain].slots.extend(from, node);
        if self.domains[domain].keeps_answers {
            let tip = Tip { node, last: self.now, request };
            for life in 0..self.domains[domain].lives.len() {
                self.domains[domain].write(life, &self.tree, node, &mut self.counters);
                self.touch(domain, life, tip);
            }
            self.note(domain, tip);
        }
    }

    /// Notes what was sent, for the explanations. With one domain its notes are all notes.
    fn note(&mut self, domain: usize, tip: Tip) {
        if self.domains.len() > 1 {
            self.ever.touch(&self.tree, tip, &mut self.counters);
        }
        self.domains[domain].ever.touch(&self.tree, tip, &mut self.counters);
        self.domains[domain].ends.insert(tip.node);
    }

    fn touch(&mut self, domain: usize, life: usize, tip: Tip) {
        let recent = &mut self.domains[domain].lives[life].recent;
        recent.touch(&self.tree, tip, &mut self.counters);
        if let Some(until) = recent.until(tip.last) {
            self.events.push(Reverse((until.saturating_add(1), Event::Expire { domain, life, node: tip.node })));
        }
    }

    /// The request as a node.
    fn place(&mut self, request: &Request<'_>) -> Result<NodeId, Refusal> {
        let begun = match request.after {
            None => ROOT,
            Some(earlier) => self.sent.get(earlier.number()).ok_or(Refusal::UnknownRequest)?.node,
        };
        let held = self.tree.depth(begun);
        if request.same > held {
            return Err(Refusal::TooManySame { claimed: request.same, held });
        }
        let mut node = self.tree.at_depth(begun, request.same, &mut self.counters);
        self.total(node, request.rest)?;
        for segment in request.rest {
            node = self.tree.child(node, *segment, &self.texts, &mut self.counters);
        }
        Ok(node)
    }

    fn total(&self, from: NodeId, rest: &[Segment]) -> Result<u64, Refusal> {
        let total = rest.iter().try_fold(self.tree.tokens(from), |sum, segment| sum.checked_add(segment.tokens));
        total.ok_or(Refusal::TooLarge)
    }

    fn domain(&mut self, request: &Request<'_>) -> usize {
        let profile: &Profile = request.profile;
        let matched = profile.key != Key::Ignored;
        let key = DomainKey {
            profile: self.names.number(&profile.name),
            model: self.names.number(request.model),
            scope: self.names.number(request.scope),
            key: request.key.filter(|_| matched).map(|key| self.names.number(key)),
        };
        *self.by_key.entry(key).or_insert_with(|| {
            if let [only] = &self.domains[..] {
                self.ever = only.ever.clone();
            }
            self.domains.push(Domain::new(key, profile));
            self.domains.len() - 1
        })
    }

    fn count(&mut self, thread: &str) -> (u32, usize) {
        let number = match self.by_thread.get(thread) {
            Some(number) => *number,
            None => {
                let number = self.threads.len() as u32;
                let name: Arc<str> = thread.into();
                self.threads.push(name.clone());
                self.by_thread.insert(name, number);
                self.in_thread.push(0);
                number
            }
        };
        let in_thread = &mut self.in_thread[number as usize];
        *in_thread += 1;
        (number, *in_thread - 1)
    }
}
