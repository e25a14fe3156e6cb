//! The ledger seen by thread: built once, so that no fold walks all rows for each thread.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ledger::{Outcome, Row};
use crate::strategy::{Splice, ThreadId};
use crate::transcript::{Body, Item};

/// Rows and items of every thread, indexed by thread id.
pub(crate) struct ByThread<'a> {
    rows: Vec<Vec<&'a Row>>,
    items: Vec<Vec<(&'a Item, u32)>>,
}

impl<'a> ByThread<'a> {
    pub(crate) fn of(outcome: &'a Outcome) -> ByThread<'a> {
        let mut rows: Vec<Vec<&Row>> = vec![Vec::new(); outcome.threads.len()];
        for row in &outcome.rows {
            if let Some(rows) = rows.get_mut(row.thread.0 as usize) {
                rows.push(row);
            }
        }
        let items = rows
            .iter()
            .zip(&outcome.threads)
            .map(|(rows, record)| {
                let sent = rows.iter().map(|row| (row.sent.log, row.sent.length));
                stood(outcome, sent.chain([(record.log, record.length)]))
            })
            .collect();
        ByThread { rows, items }
    }

    /// A thread's rows, in order of sending.
    pub(crate) fn rows(&self, thread: ThreadId) -> &[&'a Row] {
        self.rows.get(thread.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Every item that a request of the thread or its history at the end held, once each, in order of first standing,
    /// with its tokens as sent. What one request alone spliced in is not among them: [`ByThread::spliced`].
    pub(crate) fn items(&self, thread: ThreadId) -> &[(&'a Item, u32)] {
        self.items.get(thread.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Items that single requests of the thread put into their histories.
    pub(crate) fn spliced(&self, thread: ThreadId) -> impl Iterator<Item = &'a Item> {
        self.rows(thread).iter().flat_map(|row| row.sent.splices.iter()).flat_map(|splice: &'a Splice| &splice.items)
    }
}

/// A history that was summarised or that two turns wrote at once has several logs, which begin alike: an item that a
/// second log repeats shares its body with the first one's and is taken once.
fn stood<'a>(outcome: &'a Outcome, prefixes: impl Iterator<Item = (usize, usize)>) -> Vec<(&'a Item, u32)> {
    let mut taken: FxHashMap<usize, usize> = FxHashMap::default();
    let mut bodies: FxHashSet<*const Body> = FxHashSet::default();
    let mut out = Vec::new();
    for (log, length) in prefixes {
        let known = taken.entry(log).or_insert(0);
        let from = *known;
        *known = length.max(from);
        let Some(log) = outcome.logs.get(log) else { continue };
        for (item, &tokens) in log.items.iter().zip(&log.tokens).take(length).skip(from) {
            if bodies.insert(std::ptr::from_ref(item.body())) {
                out.push((item, tokens));
            }
        }
    }
    out
}

/// The first `length` items of a log; fewer if it has fewer.
pub(crate) fn prefix(outcome: &Outcome, log: usize, length: usize) -> &[Item] {
    outcome.logs.get(log).map_or(&[], |log| &log.items[..length.min(log.items.len())])
}
