//! How much of what goes from thread to thread stands in both: text that is paid for twice.
//!
//! Measured by runs of eight words (shingles; Broder 1997 compares documents by them): a run of eight neighbouring words, as white
//! space parts them, that stands word for word in the other text. Every run is compared, none is sampled. A text of fewer words has
//! no run, since short phrases are alike by chance. It is read with the escapes of JSON and tags
//! undone, since a return often arrives inside one of them. Parts are texts of their own: no run reaches from one into the next.

use std::borrow::Cow;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ledger::{ByThread, Outcome};
use crate::scenario::marker::readings;
use crate::transcript::{Digest, Item, Origin, Part};

use super::returns::Delivered;

/// Words of a run.
const RUN: usize = 8;

/// So many runs of a text stand in the other one too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shared {
    pub shared: u64,
    /// All runs of the text.
    pub of: u64,
}

impl Shared {
    fn add(&mut self, shared: usize, of: usize) {
        self.shared += shared as u64;
        self.of += of as u64;
    }
}

/// What stands twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Redundancy {
    /// Of what children opened with, what stood in the parent's history at the fork. Delegating calls are left out there: their
    /// arguments are the task itself.
    pub down: Shared,
    /// Of what children wrote and read, what an earlier child of the same parent had written or read.
    pub siblings: Shared,
    /// Of what delegations brought back, what the child had written or read in these words.
    pub up: Shared,
}

impl Redundancy {
    pub fn of(outcome: &Outcome, by_thread: &ByThread<'_>, delivered: &[Delivered<'_>]) -> Redundancy {
        let mut redundancy = Redundancy::default();
        if outcome.threads.len() < 2 {
            return redundancy;
        }
        let mut texts = Texts::default();
        for delegation in outcome.delegations.iter().filter(|delegation| delegation.opened) {
            let (log, length) = delegation.parent_history;
            let history = outcome.logs.get(log).map_or(&[][..], |log| log.items.get(..length).unwrap_or(&log.items));
            let Some(first) = by_thread.rows(delegation.child).iter().find(|row| !row.aside) else { continue };
            let (opening, before) = (outcome.items_of(first), history.iter().filter(|item| !is_delegating(item)));
            texts.compare(&mut redundancy.down, parts(opening.iter()), || parts(before.clone()));
        }
        let mut earlier: FxHashMap<u32, FxHashSet<u64>> = FxHashMap::default();
        for record in &outcome.threads {
            let Some(parent) = record.parent else { continue };
            let is_first = !earlier.contains_key(&parent.0);
            let known = earlier.entry(parent.0).or_default();
            let runs: Vec<Rc<[u64]>> = parts(work(by_thread, record.id)).map(|part| texts.runs(part)).collect();
            if !is_first {
                let shared = runs.iter().flat_map(|runs| runs.iter()).filter(|run| known.contains(run)).count();
                redundancy.siblings.add(shared, runs.iter().map(|runs| runs.len()).sum());
            }
            known.extend(runs.iter().flat_map(|runs| runs.iter().copied()));
        }
        for one in delivered {
            let Some(child) = one.child else { continue };
            texts.compare(&mut redundancy.up, one.parts(), || parts(work(by_thread, child)));
        }
        redundancy
    }
}

/// What a thread wrote and what its tools gave it.
fn work<'a>(by_thread: &'a ByThread<'_>, thread: crate::strategy::ThreadId) -> impl Iterator<Item = &'a Item> + Clone {
    let items = by_thread.items(thread).iter().map(|(item, _)| *item);
    items.filter(|item| matches!(item.origin, Origin::Own | Origin::ToolResult))
}

fn is_delegating(item: &Item) -> bool {
    item.as_call().is_some_and(|call| call.intent.is_some())
}

fn parts<'a>(items: impl Iterator<Item = &'a Item>) -> impl Iterator<Item = &'a Part> {
    items.filter(|item| item.is_sent()).flat_map(|item| item.parts())
}

/// The runs of the parts of one outcome, each part read once.
#[derive(Default)]
struct Texts {
    runs: FxHashMap<Digest, Rc<[u64]>>,
    counts: FxHashMap<Digest, usize>,
}

impl Texts {
    fn runs(&mut self, part: &Part) -> Rc<[u64]> {
        self.runs.entry(part.digest()).or_insert_with(|| runs(&plain(part.as_text()))).clone()
    }

    fn count(&mut self, part: &Part) -> usize {
        *self.counts.entry(part.digest()).or_insert_with(|| (plain(part.as_text()).split_whitespace().count() + 1).saturating_sub(RUN))
    }

    /// Adds how many runs of a text stand among others. A part that stands there whole is not looked into.
    fn compare<'p, A: Iterator<Item = &'p Part>>(&mut self, sum: &mut Shared, text: impl Iterator<Item = &'p Part>, among: impl Fn() -> A) {
        let whole: FxHashSet<Digest> = among().map(Part::digest).collect();
        let mut others: Vec<Rc<[u64]>> = Vec::new();
        for part in text {
            let count = self.count(part);
            if whole.contains(&part.digest()) {
                sum.add(count, count);
            } else if count > 0 {
                others.push(self.runs(part));
            }
        }
        let mut found: FxHashMap<u64, bool> = others.iter().flat_map(|runs| runs.iter().map(|run| (*run, false))).collect();
        if found.is_empty() {
            return;
        }
        for part in among() {
            for run in self.runs(part).iter() {
                if let Some(stands) = found.get_mut(run) {
                    *stands = true;
                }
            }
        }
        for runs in others {
            sum.add(runs.iter().filter(|run| found.get(run) == Some(&true)).count(), runs.len());
        }
    }
}

/// A text without escapes.
fn plain(text: &str) -> Cow<'_, str> {
    // There is always one reading, the text itself.
    readings(text).pop().unwrap_or(Cow::Borrowed(text))
}

/// A text's runs in order, each by a hash of 64 bits: that two of a run's many millions fall together has no chance worth naming.
fn runs(text: &str) -> Rc<[u64]> {
    const BASE: u64 = 0x9E37_79B9_7F4A_7C15;
    let words: Vec<u64> = text.split_whitespace().map(|word| xxhash_rust::xxh3::xxh3_64(word.as_bytes())).collect();
    let Some(first) = words.get(..RUN) else { return Rc::from([]) };
    // A polynomial in BASE over the words: the next one is had by taking the first word away and adding one.
    let mut run = first.iter().fold(0_u64, |run, word| run.wrapping_mul(BASE).wrapping_add(*word));
    let top = BASE.wrapping_pow(RUN as u32 - 1);
    let mut all = Vec::with_capacity(words.len() + 1 - RUN);
    all.push(run);
    for (gone, come) in words.iter().zip(&words[RUN..]) {
        run = run.wrapping_sub(gone.wrapping_mul(top)).wrapping_mul(BASE).wrapping_add(*come);
        all.push(run);
    }
    all.into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::sample::{ROOT, Sample, delegating_call, returned, wrote};
    use super::super::tests::check;
    use super::super::value::Value;
    use super::*;
    use crate::transcript::CallKey;

    fn compared(text: &[&str], among: &[&str]) -> (u64, u64) {
        let of = |texts: &[&str]| texts.iter().map(|text| Part::text(*text)).collect::<Vec<_>>();
        let (text, among) = (of(text), of(among));
        let mut shared = Shared::default();
        Texts::default().compare(&mut shared, text.iter(), || among.iter());
        (shared.shared, shared.of)
    }

    /// The definition, word for word.
    fn naive(text: &[&str], among: &[&str]) -> (u64, u64) {
        fn runs<'t>(texts: &[&'t str]) -> Vec<Vec<&'t str>> {
            let of = |text: &&'t str| text.split_whitespace().collect::<Vec<_>>().windows(8).map(<[_]>::to_vec).collect::<Vec<_>>();
            texts.iter().flat_map(of).collect()
        }
        let (text, among) = (runs(text), runs(among));
        (text.iter().filter(|run| among.contains(run)).count() as u64, text.len() as u64)
    }

    #[test]
    fn runs_of_eight_words() {
        let check = |text: &[&str], among: &[&str], expect: (u64, u64)| assert_eq!(compared(text, among), expect, "{text:?} {among:?}");
        check(&["a b c d e f g h"], &["a b c d e f g h"], (1, 1));
        check(&["a b c d e f g"], &["a b c d e f g"], (0, 0)); // too short to say anything
        check(&["a b c d e f g h i"], &["x a b  c\nd e f g h"], (1, 2)); // white space is none of it
        check(&["a b c d e f g H"], &["a b c d e f g h"], (0, 1));
        check(&["a b c d", "e f g h i"], &["a b c d e f g h i"], (0, 0)); // parts are texts of their own
        check(&["a b c d e f g h", "a b c d e f g h"], &["a b c d e f g h"], (2, 2)); // paid twice, counted twice
        check(&[r#"{"said":"x\na b c d e f g h"}"#], &["a b c d e f g h i"], (0, 2)); // a quote at the end makes another word
        check(&[r#"{"said":"x\na b c d e f g h\n"}"#], &["a b c d e f g h i"], (1, 3));
        check(&[], &["a"], (0, 0));
    }

    proptest! {
        #[test]
        fn as_defined(text in prop::collection::vec("[ab ]{0,60}", 0..4), among in prop::collection::vec("[ab ]{0,60}", 0..4)) {
            let (text, among): (Vec<&str>, Vec<&str>) = (text.iter().map(|one| &**one).collect(), among.iter().map(|one| &**one).collect());
            prop_assert_eq!(compared(&text, &among), naive(&text, &among));
        }
    }

    const TEN: &str = "one two three four five six seven eight nine ten";

    /// A parent that knows ten words, a child that opens with them and four more, reads twelve and says nine of them; a second that
    /// reads the same.
    #[test]
    fn by_hand() {
        let tool = "the port of the gate is nine thousand and eighty seven now";
        let said = "the port of the gate is nine thousand and";
        let mut sample = Sample::new();
        sample.push(ROOT, 1, Item::user(Origin::User, TEN));
        for key in [1, 2] {
            let child = sample.open(ROOT, key, "first");
            sample.push(child, 1, Item::user(Origin::Task, format!("{TEN} and one thing more")));
            sample.send(child, 1, 1);
            sample.push(child, 1, Item::result(CallKey(10 + key), Origin::ToolResult, tool, false));
            sample.push(child, 1, wrote(said));
            sample.send(child, 1, 1);
            sample.push(ROOT, 1, returned(key, said));
        }
        let share = |part: f64| Ok(Value::Ratio(part));
        // Of seven runs of a task, three stood in the parent; of 5 + 2 of the second child, all; of 2 of each return, all.
        check(
            &sample.outcome,
            &[("redundancy.down", share(3.0 / 7.0)), ("redundancy.siblings", share(1.0)), ("redundancy.up", share(1.0))],
        );
    }

    #[test]
    fn what_has_no_run_has_no_share() {
        let mut sample = Sample::new();
        let none = "no child opened";
        check(&sample.outcome, &[("redundancy.down", Err(none)), ("redundancy.siblings", Err(none)), ("redundancy.up", Err(none))]);
        sample.push(ROOT, 1, delegating_call(1, "first"));
        let child = sample.open_behind(ROOT, 1, "first");
        sample.send(child, 1, 1);
        let short = "no text of eight words to compare";
        check(&sample.outcome, &[("redundancy.down", Err(short)), ("redundancy.siblings", Err(short)), ("redundancy.up", Err(short))]);
    }
}
