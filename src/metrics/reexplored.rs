//! What a child looked up again although its parent had it.

use rustc_hash::FxHashMap;

use crate::ledger::{ByThread, Outcome};
use crate::transcript::{Body, CallKey, Item, Origin, normalised_arguments};

/// What a call asks for: a tool and its normalised arguments.
type Asked = (String, String);

/// Tokens of tool results in children whose (tool, normalised arguments) stood completed in the parent's history when
/// the child was opened. Completed: the call and, behind it, a result that is no error, whoever of the parent's line had
/// made it. What a child does when it is continued is held against the same moment, its opening.
pub(super) fn reexplored(outcome: &Outcome, by_thread: &ByThread<'_>) -> u64 {
    let mut completed: FxHashMap<usize, FxHashMap<Asked, usize>> = FxHashMap::default();
    let mut tokens = 0;
    for delegation in outcome.delegations.iter().filter(|delegation| delegation.opened) {
        let (log, length) = delegation.parent_history;
        let by_parent = completed.entry(log).or_insert_with(|| completed_at(outcome.logs.get(log).map_or(&[][..], |log| &log.items)));
        let mut calls = FxHashMap::default();
        for (item, item_tokens) in by_thread.items(delegation.child) {
            note_call(item, &mut calls);
            if item.origin != Origin::ToolResult {
                continue;
            }
            let asked = item.answers().and_then(|key| calls.get(&key));
            if asked.and_then(|asked| by_parent.get(asked)).is_some_and(|&at| at < length) {
                tokens += u64::from(*item_tokens);
            }
        }
    }
    tokens
}

/// For everything that a log's calls asked for and got, the position of the first good result.
fn completed_at(items: &[Item]) -> FxHashMap<Asked, usize> {
    let mut calls = FxHashMap::default();
    let mut completed = FxHashMap::default();
    for (at, item) in items.iter().enumerate() {
        note_call(item, &mut calls);
        if let Body::Result { key: Some(key), failed: false, .. } = item.body()
            && let Some(asked) = calls.get(key)
        {
            completed.entry(asked.clone()).or_insert(at);
        }
    }
    completed
}

fn note_call(item: &Item, calls: &mut FxHashMap<CallKey, Asked>) {
    if let Some(call) = item.as_call() {
        calls.insert(call.key, (call.name.clone(), normalised_arguments(call.args.as_text())));
    }
}
