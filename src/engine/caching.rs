//! What the provider's prompt cache makes of each request, asked when it is sent.

use std::borrow::Cow;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::cache::{Cache, Common, Kind, Outcome, Request, RequestId, Segment, Texts, Usage, Why};
use crate::ledger::{CacheUse, FirstDivergence, InCommon, Place, Sent, spliced_from};
use crate::setting::{CacheKeys, PromptCache};
use crate::strategy::{ThreadId, ToolSpec};
use crate::tokens::{CountError, Meter, header, item_digest};
use crate::transcript::{Body, Content, Digest, Item, Part, Role};

use super::log::Logs;

/// The cache of a run, and what each thread sent last.
pub(super) struct Caching {
    setup: PromptCache,
    /// That of every thread but the root, where it is another.
    of_children: Option<PromptCache>,
    cache: Cache<Shared>,
    texts: Shared,
    meter: Meter,
    threads: Vec<Option<Last>>,
    /// The row of each request of the cache; `None`: what was there before the run.
    rows: Vec<Option<u32>>,
    /// How many segments stand before the items of each request of the cache.
    starts: Vec<usize>,
    /// The request of each row that was sent.
    of_row: FxHashMap<u32, RequestId>,
    /// Which thread was the last to send a request that begins with these tools and this system text.
    by_start: FxHashMap<Rc<[Segment]>, usize>,
    /// Room for a request's new segments.
    rest: Vec<Segment>,
}

/// A request that later ones may go on from.
struct Last {
    request: RequestId,
    /// Tools and system text.
    start: Rc<[Segment]>,
    sent: Sent,
}

/// What is about to be sent.
pub(super) struct Sending<'a> {
    pub thread: ThreadId,
    /// The thread that opened it, whose history it may begin with.
    pub opener: Option<ThreadId>,
    pub path: &'a str,
    pub sent: &'a Sent,
    /// Whether system text and tools are those of the thread's last request.
    pub same_start: bool,
    pub logs: &'a Logs,
    pub now_ms: u64,
    /// Tokens of the request.
    pub input: u64,
    pub row: u32,
}

impl Caching {
    pub fn new(setup: PromptCache, of_children: Option<PromptCache>, meter: Meter) -> Caching {
        let texts = Shared(Rc::new(RefCell::new(Known { meter: meter.clone(), texts: FxHashMap::default() })));
        Caching {
            setup,
            of_children,
            cache: Cache::new(texts.clone()),
            texts,
            meter,
            threads: vec![],
            rows: vec![],
            starts: vec![],
            of_row: FxHashMap::default(),
            by_start: FxHashMap::default(),
            rest: vec![],
        }
    }

    /// Lets the cache hold a request that ended before the run began.
    pub fn warm_up(&mut self, system: Option<&Part>, tools: &[ToolSpec], items: &[Item]) -> Result<(), CountError> {
        let start = self.start(system, tools)?;
        let mut rest = start.clone();
        items.iter().try_for_each(|item| self.add(item, &mut rest))?;
        let sent = self.send("before", ThreadId::ROOT, 0, None, 0, &rest);
        if let Some(outcome) = sent {
            self.rows.push(None);
            self.starts.push(start.len());
            self.cache.available(outcome.request, 0);
        }
        Ok(())
    }

    /// What the cache does with a request. What it has in common with an earlier one is taken over: a thread's request costs its new
    /// items, and a fork's first one a comparison of two pointers an item.
    pub fn sent(&mut self, sending: &Sending<'_>) -> Result<CacheUse, CountError> {
        let (thread, sent, logs) = (sending.thread.0 as usize, sending.sent, sending.logs);
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, || None);
        }
        let kept = self.threads[thread].as_ref().filter(|_| sending.same_start).map(|last| last.start.clone());
        let start = match kept {
            Some(start) => start,
            None => self.start(sent.system.as_ref(), &sent.tools)?.into(),
        };
        let of = |thread: usize| self.threads.get(thread)?.as_ref().filter(|base| base.start == start);
        let (mut base, mut common) = (of(thread), InCommon::default());
        if let Some(base) = base {
            common = logs.in_common(&base.sent, sent);
        } else {
            // A thread's first request, or one of other tools: its opener's, or the last one of any thread that began like this.
            let opener = sending.opener.and_then(|opener| of(opener.0 as usize));
            for other in [opener, self.by_start.get(&start).and_then(|&thread| of(thread))].into_iter().flatten() {
                let with_other = logs.in_common(&other.sent, sent);
                if base.is_none() || with_other.items > common.items {
                    (base, common) = (Some(other), with_other);
                }
            }
        }
        let (after, same) = match base {
            Some(base) => (Some(base.request), start.len() + logs.sent_in(&common, sent)),
            None => (None, 0),
        };
        let mut rest = std::mem::take(&mut self.rest);
        if after.is_none() {
            rest.extend_from_slice(&start);
        }
        let items = &logs.0[sent.log].log.items[..sent.length];
        for item in spliced_from(items, &sent.splices[common.splices..], common.at) {
            self.add(item, &mut rest)?;
        }
        let outcome = self.send(sending.path, sending.thread, sending.now_ms, after, same, &rest);
        rest.clear();
        self.rest = rest;
        let Some(outcome) = outcome else {
            return Ok(CacheUse::none(sending.input));
        };
        self.rows.push(Some(sending.row));
        self.of_row.insert(sending.row, outcome.request);
        self.starts.push(start.len());
        let divergence = self.divergence(&outcome, start.len());
        self.by_start.insert(start.clone(), thread);
        self.threads[thread] = Some(Last { request: outcome.request, start, sent: sent.clone() });
        // The frame of the reply that is asked for is nobody's segment: it is never kept.
        let frame = sending.input.saturating_sub(outcome.input);
        let with_frame = |usage: Usage| Usage { uncached: usage.uncached + frame, ..usage };
        Ok(CacheUse { low: with_frame(outcome.low), high: with_frame(outcome.high), divergence })
    }

    /// When the reply to a row's request begins to come: from then on others find what the request wrote.
    pub fn begins(&mut self, row: u32, at_ms: u64) {
        if let Some(&request) = self.of_row.get(&row) {
            self.cache.available(request, at_ms);
        }
    }

    /// The reply is complete; it has added these items to the thread.
    pub fn replied(&mut self, row: u32, items: &[Item], at_ms: u64) -> Result<(), CountError> {
        let Some(&request) = self.of_row.get(&row) else { return Ok(()) };
        let mut reply = vec![];
        items.iter().try_for_each(|item| self.add(item, &mut reply))?;
        self.cache.replied(request, &reply, at_ms);
        Ok(())
    }

    fn send(
        &mut self,
        path: &str,
        thread: ThreadId,
        start_ms: u64,
        after: Option<RequestId>,
        same: usize,
        rest: &[Segment],
    ) -> Option<Outcome> {
        let setup = self.of_children.as_ref().filter(|_| thread != ThreadId::ROOT).unwrap_or(&self.setup);
        let key = match setup.keys {
            CacheKeys::Run => Cow::Borrowed("run"),
            CacheKeys::Thread => thread.0.to_string().into(),
        };
        let request = Request {
            profile: &setup.rules,
            model: &setup.model,
            scope: "run",
            key: Some(&key),
            thread: path,
            start_ms,
            after,
            same,
            rest,
            marks: None,
            lifetime: None,
        };
        // What a client of the profile sends, its provider takes; a request too large to count has failed before.
        self.cache.send(&request).ok()
    }

    fn divergence(&self, outcome: &Outcome, starts: usize) -> Option<FirstDivergence> {
        let divergence = &outcome.divergence;
        if matches!(divergence.why, Why::Nothing | Why::First) {
            return None;
        }
        let row = divergence.nearest.and_then(|nearest| *self.rows.get(nearest.number())?);
        let place = match divergence.why {
            Why::Differs(Kind::Tools) => Place::Tools,
            Why::Differs(Kind::System) => Place::System,
            _ => Place::Item(divergence.segment.saturating_sub(starts)),
        };
        Some(FirstDivergence { row, place, why: divergence.why, common: divergence.common, lost: divergence.lost })
    }

    /// Tools and system text, in the provider's order.
    fn start(&mut self, system: Option<&Part>, tools: &[ToolSpec]) -> Result<Vec<Segment>, CountError> {
        let mut start = Vec::with_capacity(tools.len() + 1);
        for tool in tools {
            let id = Digest::chain([Digest::of("tool"), Digest::of(&tool.name), tool.schema.digest()]);
            let tokens = self.meter.tool(tool)?;
            start.push(self.segment(id, tokens, Kind::Tools, || Text::Tool(tool.schema.clone())));
        }
        if let Some(system) = system {
            let id = Digest::chain([Digest::of("system"), system.digest()]);
            let tokens = self.meter.system(system)?;
            start.push(self.segment(id, tokens, Kind::System, || Text::System(system.clone())));
        }
        Ok(start)
    }

    /// Adds an item's segment, if a model reads it.
    fn add(&mut self, item: &Item, to: &mut Vec<Segment>) -> Result<(), CountError> {
        if item.is_sent() {
            let tokens = self.meter.item(item)?.tokens;
            to.push(self.segment(item_digest(item), tokens, kind(item), || Text::Item(item.clone())));
        }
        Ok(())
    }

    fn segment(&mut self, id: Digest, tokens: u32, kind: Kind, text: impl FnOnce() -> Text) -> Segment {
        self.texts.0.borrow_mut().texts.entry(id.0).or_insert_with(text);
        Segment { id: id.0, tokens: tokens.into(), kind }
    }
}

/// What an item is to a cache.
fn kind(item: &Item) -> Kind {
    match item.body() {
        Body::Call(_) => Kind::ToolUse,
        Body::Result { .. } => Kind::ToolResult,
        Body::Reasoning { .. } => Kind::Thinking,
        Body::Message { role: Role::Assistant, .. } => Kind::Assistant,
        Body::Message { role: Role::System, .. } => Kind::System,
        Body::Message { .. } | Body::Compaction { .. } | Body::Mail { .. } | Body::Context { .. } => Kind::User,
    }
}

/// What a segment was made of: its text in pieces that are counted apart.
enum Text {
    Item(Item),
    Tool(Part),
    System(Part),
}

impl Text {
    fn header(&self) -> Cow<'static, str> {
        match self {
            Text::Item(item) => header(item),
            Text::Tool(_) => "tool".into(),
            Text::System(_) => "system".into(),
        }
    }

    fn parts(&self) -> &[Part] {
        match self {
            Text::Item(item) => item.parts(),
            Text::Tool(part) | Text::System(part) => std::slice::from_ref(part),
        }
    }
}

struct Known {
    meter: Meter,
    texts: FxHashMap<u128, Text>,
}

impl Known {
    /// Tokens of a text's first parts. Of a snapshot nearly all are meant, so those behind them are taken from the whole.
    fn tokens(&self, text: &Text, whole: u64, first: usize) -> u64 {
        let of = |parts: &[Part]| parts.iter().map(|part| self.meter.part(part).ok().flatten().map_or(0, u64::from)).sum::<u64>();
        let (parts, behind) = text.parts().split_at(first);
        match text {
            Text::Item(item) if behind.len() < parts.len() => {
                let frame = self.meter.frame(item).map_or(0, u64::from);
                whole.saturating_sub(frame + of(behind))
            }
            _ => of(parts),
        }
    }
}

/// The texts of a run's segments, for the cache and for whoever sends.
#[derive(Clone)]
struct Shared(Rc<RefCell<Known>>);

impl Texts for Shared {
    /// Whole equal parts count as they are; of the first part that differs counts what both have in common up to a place where
    /// tokens cannot reach across: a line break before a letter or a digit.
    fn common(&self, a: &Segment, b: &Segment) -> Common {
        let known = self.0.borrow();
        let (Some(one), Some(other)) = (known.texts.get(&a.id), known.texts.get(&b.id)) else {
            return Common { tokens: 0, bytes: 0, order: a.cmp(b) };
        };
        let (one_header, other_header) = (one.header(), other.header());
        let headers = one_header.cmp(&other_header);
        if headers != Ordering::Equal {
            return Common { tokens: 0, bytes: one_header.len().min(other_header.len()) as u64, order: headers };
        }
        let mut bytes = one_header.len() as u64;
        let alike = one.parts().iter().zip(other.parts()).take_while(|(left, right)| left == right).count();
        let mut tokens = known.tokens(one, a.tokens, alike);
        if let Some((left, right)) = one.parts().get(alike).zip(other.parts().get(alike)) {
            let (Content::Text(left_text), Content::Text(right_text)) = (left.content(), right.content()) else {
                return Common { tokens, bytes, order: left.digest().0.cmp(&right.digest().0) };
            };
            let same = left_text.bytes().zip(right_text.bytes()).take_while(|(one, other)| one == other).count();
            bytes += same as u64;
            let safe = safe_boundary(&left_text.as_bytes()[..same]);
            tokens += left_text.get(..safe).and_then(|text| known.meter.text(text).ok()).map_or(0, u64::from);
            return Common { tokens, bytes, order: left_text.as_bytes().cmp(right_text.as_bytes()) };
        }
        let order = one.parts().len().cmp(&other.parts().len());
        Common { tokens, bytes, order: if order == Ordering::Equal { a.cmp(b) } else { order } }
    }
}

/// The last place in a common beginning at which the tokens before and behind are the same as if they stood alone: behind a
/// line break, before an ASCII letter or digit. 0: there is none.
fn safe_boundary(common: &[u8]) -> usize {
    common.windows(2).rposition(|pair| pair[0] == b'\n' && pair[1].is_ascii_alphanumeric()).map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::safe_boundary;
    use crate::tokens::{Encoding, Meter, counter};

    #[test]
    fn a_boundary_is_a_line_that_begins_with_a_letter_or_a_digit() {
        #[track_caller]
        fn check(text: &str, expect: usize) {
            assert_eq!(safe_boundary(text.as_bytes()), expect, "{text:?}");
        }
        check("one\ntwo\nthree", 8);
        check("one\n  two", 0);
        check("one\n2\n", 4);
        check("one\n\n{", 0);
        check("\na", 1);
        check("", 0);
        check("\n", 0);
    }

    proptest! {
        /// What stands before a boundary counts the same whatever follows.
        #[test]
        fn tokens_do_not_reach_across_a_boundary(before in "(\\PC|[a-z ]|\n){0,40}", behind in "[a-zA-Z0-9](\\PC|[a-z ]|\n){0,40}") {
            let meter = Meter::new(counter(Encoding::O200kBase));
            let (before, whole) = (format!("{before}\n"), format!("{before}\n{behind}"));
            let count = |text: &str| meter.text(text).unwrap();
            prop_assert_eq!(count(&whole), count(&before) + count(&behind));
        }
    }
}
