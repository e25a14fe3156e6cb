//! What prompt caches made of the requests, and what that cost.

use crate::cache;
use crate::ledger::{Outcome, Row};
use crate::prices::{Tokens, Usd};
use crate::reason::Reason;
use crate::strategy::ThreadId;

use super::Subject;

/// Sums over all requests: the worst case that the provider's rules allow, and the best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cached {
    pub low: cache::Usage,
    pub high: cache::Usage,
}

/// `None`: some request met no cache.
pub(super) fn cached(outcome: &Outcome) -> Option<Cached> {
    let mut sums = Cached::default();
    for row in &outcome.rows {
        let cache = row.cache.as_ref()?;
        sums.low += cache.low;
        sums.high += cache.high;
    }
    Some(sums)
}

/// What all requests cost together, each at the prices of its thread's model: `(dearest, cheapest)`, different where the cache's rules leave a range. A request without
/// a reply is paid as far as its input goes.
pub(super) fn cost(outcome: &Outcome, subject: &Subject<'_>) -> Result<(Usd, Usd), Reason> {
    let root = subject.prices.clone()?;
    let children = if outcome.threads.len() > 1 { subject.child_prices.clone().transpose()?.unwrap_or(root) } else { root };
    let sum = |of: fn(&Row) -> Option<cache::Usage>| {
        let mut sum = Usd::ZERO;
        for row in &outcome.rows {
            let usage = of(row).ok_or_else(|| subject.no_cache.to_owned())?;
            let cache::Usage { read, write_short, write_long, uncached } = usage;
            let tokens = Tokens { uncached, read, write_short, write_long, output: row.output };
            let prices = if row.thread == ThreadId::ROOT { root } else { children };
            sum += prices.cost(&tokens).map_err(|why| why.to_string())?;
        }
        Ok::<Usd, String>(sum)
    };
    Ok((sum(|row| Some(row.cache.as_ref()?.low))?, sum(|row| Some(row.cache.as_ref()?.high))?))
}
