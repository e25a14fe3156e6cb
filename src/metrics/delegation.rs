//! What delegation does to the root's context.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ledger::{ByThread, Outcome, Row};
use crate::strategy::ThreadId;
use crate::tokens::header;
use crate::transcript::{CallKey, Digest, Item, Origin, Part};

/// Delegation tokens that came into the root's requests minus those that went again, added up over consecutive requests.
/// The sum telescopes: it is the last request minus the first. So a notice and a ledger that is written anew count, what
/// they replace is taken off, and what the root's history held before the run is not counted.
pub(super) fn footprint(by_thread: &ByThread<'_>) -> i64 {
    let rows = by_thread.rows(ThreadId::ROOT);
    let of = |row: Option<&&Row>| row.map_or(0, |row| i64::try_from(row.delegation).unwrap_or(i64::MAX));
    of(rows.last()) - of(rows.first())
}

/// [`Row::moved`], added up over the root's requests that hold other delegated items or delegating calls than the
/// request before. The first request of the root follows none and is left out; a mere change of their order is none.
pub(super) fn moved(outcome: &Outcome, by_thread: &ByThread<'_>) -> u64 {
    let mut held = by_thread.items(ThreadId::ROOT).iter().map(|(item, _)| *item).chain(by_thread.spliced(ThreadId::ROOT));
    if !held.any(|item| item.origin == Origin::Delegated || item.as_call().is_some_and(|call| call.intent.is_some())) {
        return 0;
    }
    let mut contents = Contents::of(outcome, by_thread);
    let mut before = None;
    let mut moved = 0;
    for row in by_thread.rows(ThreadId::ROOT) {
        let now = contents.of_row(row);
        if before.is_some_and(|before| before != now) {
            moved += row.moved;
        }
        before = Some(now);
    }
    moved
}

/// Which delegated items and delegating calls a request holds, as a sum of digests: of any part of a log it is a
/// difference of two prefix sums, so a request costs its splices only.
struct Contents<'a> {
    outcome: &'a Outcome,
    calls: FxHashSet<CallKey>,
    sums: FxHashMap<usize, Vec<u128>>,
}

impl<'a> Contents<'a> {
    fn of(outcome: &'a Outcome, by_thread: &ByThread<'a>) -> Contents<'a> {
        let logged = by_thread.items(ThreadId::ROOT).iter().map(|(item, _)| *item);
        let delegated = logged.chain(by_thread.spliced(ThreadId::ROOT)).filter(|item| item.origin == Origin::Delegated);
        Contents { outcome, calls: delegated.filter_map(Item::answers).collect(), sums: FxHashMap::default() }
    }

    fn of_row(&mut self, row: &Row) -> u128 {
        let (outcome, calls) = (self.outcome, &self.calls);
        let sums = self.sums.entry(row.sent.log).or_insert_with(|| {
            let items = outcome.logs.get(row.sent.log).map_or(&[][..], |log| &log.items);
            let running = items.iter().scan(0u128, |sum, item| {
                *sum = sum.wrapping_add(weight(item, calls));
                Some(*sum)
            });
            std::iter::once(0).chain(running).collect()
        });
        // Never empty: it begins with the sum of nothing.
        let up_to = |length: usize| sums[length.min(sums.len() - 1)];
        let mut content = up_to(row.sent.length);
        for splice in row.sent.splices.iter() {
            content = content.wrapping_sub(up_to(splice.at + splice.remove)).wrapping_add(up_to(splice.at));
            content = splice.items.iter().fold(content, |sum, item| sum.wrapping_add(weight(item, calls)));
        }
        content
    }
}

/// A delegating call is one that was phrased from an intent or that delegation answered.
fn weight(item: &Item, calls: &FxHashSet<CallKey>) -> u128 {
    let delegating = item.as_call().is_some_and(|call| call.intent.is_some() || calls.contains(&call.key));
    if item.origin != Origin::Delegated && !delegating {
        return 0;
    }
    let key = item.answers().or(item.as_call().map(|call| call.key));
    let identity = format!("{}\0{:?}", header(item), key);
    Digest::chain(std::iter::once(Digest::of(&identity)).chain(item.parts().iter().map(Part::digest))).0
}
