//! What prompt caches gain and lose where children open and return.

use rustc_hash::FxHashMap;

use crate::ledger::{CacheUse, Outcome};
use crate::reason::Reason;
use crate::strategy::ThreadId;

/// Tokens at the borders between a parent and its children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Forked {
    /// Of children's first requests: read, because another thread had sent them before.
    pub opening_read: u64,
    /// Of children's first requests: sent before by another thread and not read, or different at the first place that differs.
    pub opening_lost: u64,
    /// Of the next request of a thread whose children worked meanwhile: in common with what was sent before, and not read.
    pub return_lost: u64,
}

impl Forked {
    /// `Err`: no cache was met (`None`), or its rules leave a range.
    pub fn of(outcome: &Outcome) -> Result<Forked, Option<Reason>> {
        let mut sums = Forked::default();
        // By thread, whether a descendant has sent something since the thread's last request.
        let mut worked: FxHashMap<ThreadId, bool> = FxHashMap::default();
        let parents: Vec<Option<ThreadId>> = outcome.threads.iter().map(|record| record.parent).collect();
        for row in &outcome.rows {
            let cache = row.cache.as_ref().ok_or(None)?;
            if cache.low != cache.high {
                return Err(Some(Reason::from(format!(
                    "the provider's rules leave a range: request {} reads {} to {}",
                    row.seq, cache.low.read, cache.high.read
                ))));
            }
            match worked.insert(row.thread, false) {
                None if row.thread != ThreadId::ROOT => {
                    sums.opening_read += cache.low.read;
                    sums.opening_lost += lost(cache);
                }
                Some(true) => sums.return_lost += lost(cache),
                None | Some(false) => {}
            }
            let mut above = parents.get(row.thread.0 as usize).copied().flatten();
            while let Some(thread) = above {
                if let Some(worked) = worked.get_mut(&thread) {
                    *worked = true;
                }
                above = parents.get(thread.0 as usize).copied().flatten();
            }
        }
        Ok(sums)
    }
}

fn lost(cache: &CacheUse) -> u64 {
    cache.divergence.map_or(0, |divergence| divergence.lost)
}
