//! Histories: append-only logs with their weights, so that a request costs its new items only.

use std::collections::BTreeMap;

use crate::ledger::{ByOrigin, InCommon, Log, Sent};
use crate::tokens::{CountError, Meter, Weight};
use crate::transcript::{Body, CallKey, Item, Loose, Origin};

/// A position in a log: a history is a prefix of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    pub(super) log: usize,
    pub(super) length: usize,
}

/// What is known of an item beside its tokens, in a word: of a fork of a long history most of the cost is memory.
#[derive(Clone, Copy)]
struct Note(u32);

impl Note {
    fn new(sent_before: u32, calm: bool, delegating: bool) -> Note {
        Note(sent_before << 2 | u32::from(calm) << 1 | u32::from(delegating))
    }

    /// How many of the items before it are sent: what no model reads is no part of a request.
    fn sent_before(self) -> u32 {
        self.0 >> 2
    }

    /// Nothing dangles in what stands before it.
    fn calm(self) -> bool {
        self.0 & 2 == 2
    }

    /// A call that the strategy answers: it counts as the delegation's.
    fn delegating(self) -> bool {
        self.0 & 1 == 1
    }
}

/// Most threads are short: so many items more need no new memory.
const ROOM: usize = 12;

/// One log with its sums.
#[derive(Default)]
pub(super) struct WeighedLog {
    pub(super) log: Log,
    notes: Vec<Note>,
    /// The items with parts whose tokens nobody knows, and how many parts: few have any.
    unknown: BTreeMap<usize, u32>,
    pub(super) input: ByOrigin,
    pub(super) delegation: u64,
    pub(super) unknown_parts: u32,
    /// Live turns that append to it.
    pub(super) writers: u32,
    /// How many of the items are sent.
    sent: u32,
    loose: Loose,
}

impl WeighedLog {
    pub(super) fn len(&self) -> usize {
        self.log.items.len()
    }

    pub(super) fn push(&mut self, item: Item, weight: Weight, delegating: bool) {
        self.input.add(item.origin, weight.tokens.into());
        if delegating || item.origin == Origin::Delegated {
            self.delegation += u64::from(weight.tokens);
        }
        self.note(&item, weight, delegating);
        self.log.items.push(item);
    }

    /// All that is kept of an item beside itself.
    fn note(&mut self, item: &Item, weight: Weight, delegating: bool) {
        if weight.unknown_parts > 0 {
            self.unknown_parts += weight.unknown_parts;
            self.unknown.insert(self.notes.len(), weight.unknown_parts);
        }
        self.notes.push(Note::new(self.sent, self.loose.is_empty(), delegating));
        self.sent += u32::from(item.is_sent());
        self.loose.push(item);
        self.log.tokens.push(weight.tokens);
    }

    /// Takes the items of a thread that begins, without copying them. What they have in common with the history of whoever opened it
    /// is not looked into: all that is kept of an item stands there.
    fn adopt(&mut self, mut items: Vec<Item>, opener: Option<&WeighedLog>, meter: &Meter) -> Result<(), CountError> {
        // A thread goes on to write: room for that, where making it moves little.
        if items.len() < ROOM {
            items.reserve(ROOM);
        }
        self.log.tokens.reserve(items.capacity());
        self.notes.reserve(items.capacity());
        let alike = opener.map_or(0, |opener| self.take_over(opener, &items));
        for item in &items[alike..] {
            let weight = meter.item(item)?;
            self.input.add(item.origin, weight.tokens.into());
            if item.origin == Origin::Delegated {
                self.delegation += u64::from(weight.tokens);
            }
            self.note(item, weight, false);
        }
        self.log.items = items;
        Ok(())
    }

    /// Takes over what is kept of the first items of another history, as far as these are they; how many that are.
    fn take_over(&mut self, other: &WeighedLog, items: &[Item]) -> usize {
        let alike = items.iter().zip(&other.log.items).take_while(|(item, known)| item.weighs_as(known)).count();
        let (items, tokens) = (&items[..alike], &other.log.tokens[..alike]);
        for (item, &tokens) in items.iter().zip(tokens) {
            self.input.add(item.origin, tokens.into());
            if item.origin == Origin::Delegated {
                self.delegation += u64::from(tokens);
            }
        }
        self.log.tokens.extend_from_slice(tokens);
        self.notes.extend(other.notes[..alike].iter().map(|note| Note::new(note.sent_before(), note.calm(), false)));
        self.unknown.extend(other.unknown.range(..alike));
        self.unknown_parts += self.unknown.values().sum::<u32>();
        self.sent = other.notes.get(alike).map_or(other.sent, |note| note.sent_before());
        // What dangles at its end is told by what stands behind the last place at which nothing did.
        let calm = |at: &usize| other.notes.get(*at).map_or(other.loose.is_empty(), |note| note.calm());
        let calm = (0..=alike).rev().find(calm).unwrap_or(0);
        self.loose = Loose::behind(calm);
        items[calm..].iter().for_each(|item| self.loose.push(item));
        alike
    }

    /// Counts a call as the delegation's from now on.
    pub(super) fn mark_delegating(&mut self, at: usize) {
        let note = self.notes[at];
        if !note.delegating() && self.log.items[at].origin != Origin::Delegated {
            self.notes[at] = Note::new(note.sent_before(), note.calm(), true);
            self.delegation += u64::from(self.log.tokens[at]);
        }
    }

    /// The weight of an item.
    pub(super) fn weight(&self, at: usize) -> Weight {
        Weight { tokens: self.log.tokens[at], unknown_parts: self.unknown.get(&at).copied().unwrap_or(0) }
    }

    pub(super) fn delegating(&self, at: usize) -> bool {
        self.notes[at].delegating()
    }

    /// How many of its first items are sent.
    pub(super) fn sent_before(&self, at: usize) -> usize {
        self.notes.get(at).map_or(self.sent, |note| note.sent_before()) as usize
    }

    /// Calls without results, and results without calls.
    pub(super) fn loose(&self) -> &Loose {
        &self.loose
    }

    /// Makes room for items that are about to come.
    pub(super) fn reserve(&mut self, items: usize) {
        self.log.items.reserve(items);
        self.log.tokens.reserve(items);
        self.notes.reserve(items);
    }

    /// A new log that begins as this one does.
    pub(super) fn copy_prefix(&self, length: usize) -> WeighedLog {
        let mut copy = WeighedLog::default();
        copy.reserve(length);
        for at in 0..length {
            copy.push(self.log.items[at].clone(), self.weight(at), self.delegating(at));
        }
        copy
    }

    /// The position of a call's item, looking back from the end.
    pub(super) fn find_call(&self, key: CallKey) -> Option<usize> {
        self.log.items.iter().rposition(|item| matches!(item.body(), Body::Call(call) if call.key == key))
    }
}

/// All logs of a run.
#[derive(Default)]
pub(super) struct Logs(pub(super) Vec<WeighedLog>);

impl Logs {
    /// What two requests have in common, as a model reads them.
    pub(super) fn in_common(&self, earlier: &Sent, now: &Sent) -> InCommon {
        InCommon::of(earlier, now, |log| &self.0[log].log.items, Item::reads_as)
    }

    /// How many of the items in common are sent.
    pub(super) fn sent_in(&self, common: &InCommon, now: &Sent) -> usize {
        let log = &self.0[now.log];
        let mut sent = log.sent_before(common.at);
        for splice in &now.splices[..common.splices] {
            sent += splice.items.iter().filter(|item| item.is_sent()).count();
            sent -= log.sent_before(splice.at + splice.remove) - log.sent_before(splice.at);
        }
        sent
    }

    /// An empty log.
    pub(super) fn open(&mut self) -> Prefix {
        self.0.push(WeighedLog::default());
        Prefix { log: self.0.len() - 1, length: 0 }
    }

    /// A log that can be appended to behind this prefix: the same one if it ends there and nobody writes to it, else a
    /// copy of the prefix.
    pub(super) fn extend_behind(&mut self, prefix: Prefix) -> usize {
        let log = &self.0[prefix.log];
        if log.len() == prefix.length && log.writers == 0 {
            return prefix.log;
        }
        let copy = log.copy_prefix(prefix.length);
        self.0.push(copy);
        self.0.len() - 1
    }

    /// Appends the items that a turn begins with; `opener` is the history of whoever asked for it.
    pub(super) fn begin(&mut self, meter: &Meter, log: usize, items: Vec<Item>, opener: Option<usize>) -> Result<(), CountError> {
        if self.0[log].len() == 0 {
            let mut new = std::mem::take(&mut self.0[log]);
            let adopted = new.adopt(items, opener.filter(|&opener| opener != log).map(|opener| &self.0[opener]), meter);
            self.0[log] = new;
            return adopted;
        }
        self.0[log].reserve(items.len());
        items.into_iter().try_for_each(|item| self.push(meter, log, item))
    }

    /// Appends an item, counting it now: nothing is counted on the request path.
    pub(super) fn push(&mut self, meter: &Meter, log: usize, item: Item) -> Result<(), CountError> {
        let weight = meter.item(&item)?;
        self.0[log].push(item, weight, false);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tokens::{Encoding, counter};
    use crate::transcript::{Content, Part, Role, ToolCall};

    /// Texts, calls, results, records that no model reads, parts that nobody can count; some under a name.
    fn made((kind, key): (u8, u32)) -> Item {
        let call = ToolCall { key: CallKey(key), id: String::new(), name: "look".into(), args: "{}".into(), intent: None, recorded: None };
        match kind {
            0 => Item::user(Origin::User, format!("asks {key}")),
            1 => Item::assistant(None, format!("says {key}")).named("lead"),
            2 => Item::call(call),
            3 => Item::result(CallKey(key), Origin::Delegated, "told", false),
            4 => Item::new(Body::Context { kind: "settings".into(), parts: vec!["never sent".into()] }, Origin::Own),
            _ => Item::message(Role::User, Origin::User, Part::new(Content::Image { media: "image/png".into(), bytes: 1, tokens: None })),
        }
    }

    /// All that is kept of a log's items beside themselves, to be compared.
    fn told(log: &WeighedLog) -> impl PartialEq + std::fmt::Debug {
        let notes: Vec<u32> = log.notes.iter().map(|note| note.0).collect();
        let weights: Vec<Weight> = (0..log.len()).map(|at| log.weight(at)).collect();
        (log.log.tokens.clone(), notes, log.input, log.delegation, (log.unknown_parts, log.sent), log.loose.keys(), weights)
    }

    proptest! {
        /// What is taken over from the opener's history is what weighing would have found.
        #[test]
        fn taken_over_or_weighed(
            history in prop::collection::vec((0..6_u8, 0..5_u32), 0..30),
            cut in 0..40_usize,
            more in prop::collection::vec((0..6_u8, 0..5_u32), 0..6),
            delegating in prop::option::of(0..30_usize),
            renamed in prop::bool::weighted(0.2),
        ) {
            let meter = Meter::new(counter(Encoding::O200kBase));
            let mut logs = Logs::default();
            let opener = logs.open().log;
            for item in history.into_iter().map(made) {
                logs.push(&meter, opener, item).unwrap();
            }
            if let Some(at) = delegating.filter(|&at| at < logs.0[opener].len()) {
                logs.0[opener].mark_delegating(at);
            }
            let mut items: Vec<Item> = logs.0[opener].log.items.iter().take(cut).map(Item::inherited).collect();
            if renamed && let Some(last) = items.pop() {
                items.push(last.named("other"));
            }
            items.extend(more.into_iter().map(made));
            let (apart, behind) = (logs.open().log, logs.open().log);
            logs.begin(&meter, apart, items.clone(), None).unwrap();
            logs.begin(&meter, behind, items.clone(), Some(opener)).unwrap();
            prop_assert_eq!(told(&logs.0[apart]), told(&logs.0[behind]));
            prop_assert_eq!(&logs.0[behind].log.items, &items);
        }
    }
}
