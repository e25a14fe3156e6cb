//! What came back, by class.

use rustc_hash::FxHashMap;

use crate::ledger::{ByThread, Outcome};
use crate::strategy::ThreadId;
use crate::transcript::{Body, CallKey, Origin, Outcome as Told, Role};

/// Returns by class. A delegation of which nothing came back is in none; refusals are counted apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Returns {
    /// Reported as done, with a text.
    pub ok: u64,
    /// Reported as done, without any: what entered the parent is blank, or the child wrote nothing after its last tool
    /// result (a wrapper around nothing is no return). The second can be told only of a child that was called once.
    pub empty: u64,
    /// Reported as an error.
    pub failed: u64,
}

/// Counts the returns that the items of each thread tell of: one for each delegating call, by what was said last.
pub fn returns(outcome: &Outcome) -> Returns {
    returns_of(outcome, &ByThread::of(outcome))
}

pub(super) fn returns_of(outcome: &Outcome, by_thread: &ByThread<'_>) -> Returns {
    let children: FxHashMap<CallKey, ThreadId> = outcome.delegations.iter().map(|one| (one.call, one.child)).collect();
    let mut times_called: FxHashMap<ThreadId, u32> = FxHashMap::default();
    for delegation in &outcome.delegations {
        *times_called.entry(delegation.child).or_default() += 1;
    }
    let mut returns = Returns::default();
    for parent in outcome.threads.iter().map(|record| record.id) {
        for heard in by_thread.told(parent) {
            match heard.outcome {
                Told::Failed => returns.failed += 1,
                Told::Returned => {
                    let is_blank = by_thread.first_news(parent, &heard).is_none_or(|(_, item)| item.text().trim().is_empty());
                    let called_once = children.get(&heard.call).filter(|child| times_called.get(child) == Some(&1));
                    if is_blank || called_once.is_some_and(|&child| !has_last_word(by_thread, child)) {
                        returns.empty += 1;
                    } else {
                        returns.ok += 1;
                    }
                }
                Told::Called | Told::Started | Told::Refused | Told::Moved => {}
            }
        }
    }
    returns
}

/// Whether the child wrote a text that is not blank and behind which no tool result stands.
fn has_last_word(by_thread: &ByThread<'_>, child: ThreadId) -> bool {
    let items = by_thread.items(child).iter().rev().map(|(item, _)| *item);
    items
        .take_while(|item| !matches!(item.body(), Body::Result { .. }))
        .filter(|item| item.origin == Origin::Own && item.role() == Some(Role::Assistant))
        .any(|item| item.parts().iter().any(|part| !part.as_text().trim().is_empty()))
}
