//! The ledger seen by thread: built once, so that no fold walks all rows for each thread.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::strategy::{Splice, ThreadId};
use crate::transcript::{Body, Heard, Item, heard};

use super::{Outcome, Row};

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

    /// What the thread has been told about its delegations, over every item that ever stood in it: a summary that
    /// replaced a return does not unsay it. Positions are those of [`ByThread::items`].
    pub(crate) fn told(&self, thread: ThreadId) -> Vec<Heard> {
        heard(&self.items(thread).iter().map(|(item, _)| (*item).clone()).collect::<Vec<_>>())
    }

    /// The item that first brought a delegation's work or failure, `told` by its thread.
    pub(crate) fn first_news(&self, thread: ThreadId, told: &Heard) -> Option<(usize, &'a Item)> {
        let at = *told.news.first()?;
        self.items(thread).get(at).map(|(item, _)| (at, *item))
    }

    /// Items that single requests of the thread put into their histories.
    pub(crate) fn spliced(&self, thread: ThreadId) -> impl Iterator<Item = &'a Item> {
        self.rows(thread).iter().flat_map(|row| row.sent.splices.iter()).flat_map(|splice: &'a Splice| &splice.items)
    }
}

/// Up to so many items it is quicker to look for a body than to keep a set of them.
const SHORT: usize = 32;

/// A history that was summarised or that two turns wrote at once has several logs, which begin alike: an item that a
/// second log repeats shares its body with the first one's and is taken once.
fn stood(outcome: &Outcome, prefixes: impl Iterator<Item = (usize, usize)> + Clone) -> Vec<(&Item, u32)> {
    // Most threads have one short log.
    let mut logs = prefixes.clone();
    if let Some((first, length)) = logs.next()
        && logs.all(|(log, length)| log == first && length <= SHORT)
        && length <= SHORT
        && let Some(log) = outcome.logs.get(first)
    {
        let length = prefixes.map(|(_, length)| length).max().unwrap_or(length);
        let mut out: Vec<(&Item, u32)> = Vec::with_capacity(length);
        for (item, &tokens) in log.items.iter().zip(&log.tokens).take(length) {
            if !out.iter().any(|(known, _)| known.shares_body(item)) {
                out.push((item, tokens));
            }
        }
        return out;
    }
    let mut taken: FxHashMap<usize, usize> = FxHashMap::default();
    let mut bodies: FxHashSet<*const Body> = FxHashSet::default();
    let mut out = Vec::new();
    for (log, length) in prefixes {
        let known = taken.entry(log).or_insert(0);
        let from = *known;
        *known = length.max(from);
        let Some(log) = outcome.logs.get(log) else { continue };
        bodies.reserve(length.saturating_sub(from));
        out.reserve(length.saturating_sub(from));
        for (item, &tokens) in log.items.iter().zip(&log.tokens).take(length).skip(from) {
            if bodies.insert(std::ptr::from_ref(item.body())) {
                out.push((item, tokens));
            }
        }
    }
    out
}
