//! Tokens spent: own (of a thread alone) and inclusive (with its descendants).

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::ledger::{ByOrigin, Outcome, Row};
use crate::strategy::ThreadId;
use crate::transcript::Origin;

/// Requests and tokens of some exchanges, added up; history counts each time that it is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spend {
    /// Requests.
    pub requests: u64,
    /// Input tokens by origin.
    pub input: ByOrigin,
    /// Output tokens.
    pub output: u64,
}

impl Spend {
    pub(super) fn add(&mut self, row: &Row) {
        self.include(&Spend { requests: 1, input: row.input, output: row.output });
    }

    fn include(&mut self, other: &Spend) {
        self.requests += other.requests;
        for origin in Origin::ALL {
            self.input.add(origin, other.input.get(origin));
        }
        self.output += other.output;
    }
}

/// What one thread spent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadSpend {
    /// The thread.
    pub thread: ThreadId,
    /// Its place in the tree.
    pub path: Arc<str>,
    /// Of the thread alone. Sums over all threads equal sums over all rows.
    pub own: Spend,
    /// With its descendants. The root's is the whole run's.
    pub inclusive: Spend,
}

/// What each thread spent, by thread id.
pub fn spend_by_thread(outcome: &Outcome) -> Vec<ThreadSpend> {
    let mut all: Vec<ThreadSpend> = outcome
        .threads
        .iter()
        .map(|record| ThreadSpend { thread: record.id, path: record.path.clone(), own: Spend::default(), inclusive: Spend::default() })
        .collect();
    for row in &outcome.rows {
        if let Some(one) = all.get_mut(row.thread.0 as usize) {
            one.own.add(row);
            one.inclusive.add(row);
        }
    }
    // A child is opened after its parent, so its id is the higher one: from the last thread to the first, each is whole
    // when it is handed up.
    for (at, record) in outcome.threads.iter().enumerate().rev() {
        let Some(parent) = record.parent.map(|parent| parent.0 as usize).filter(|&parent| parent < at) else { continue };
        let inclusive = all[at].inclusive;
        all[parent].inclusive.include(&inclusive);
    }
    all
}

/// Context sizes of a set of threads; a context is the input and output of one exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Contexts {
    /// Of the last exchange.
    pub(super) last: u64,
    /// The largest.
    pub(super) peak: u64,
    /// The largest input of a thread's first exchange.
    pub(super) opening: u64,
    /// The inputs of each thread's first exchange, added up.
    pub(super) opening_sum: u64,
}

impl Contexts {
    /// `None`: no exchange.
    pub(super) fn of<'a>(rows: impl Iterator<Item = &'a Row>) -> Option<Contexts> {
        let mut opened: FxHashSet<ThreadId> = FxHashSet::default();
        let mut contexts = None;
        for row in rows {
            let one: &mut Contexts = contexts.get_or_insert_default();
            one.last = row.input.total() + row.output;
            one.peak = one.peak.max(one.last);
            if opened.insert(row.thread) {
                one.opening = one.opening.max(row.input.total());
                one.opening_sum += row.input.total();
            }
        }
        contexts
    }
}
