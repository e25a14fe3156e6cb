//! What the parent read, on demand, of what children had written down.

use std::collections::BTreeSet;

use crate::ledger::{ByThread, Outcome};
use crate::strategy::ThreadId;
use crate::transcript::{Body, CallKey, Digest, Part};

/// Tokens of the results in the root's thread whose text is, whole, a text that a child had passed to a call: a page that it
/// wrote, an artefact that it kept. Each result counts once, when it came.
pub(super) fn reread(outcome: &Outcome, by_thread: &ByThread<'_>) -> u64 {
    let mut written: BTreeSet<Digest> = BTreeSet::new();
    for child in outcome.threads.iter().skip(1) {
        for call in by_thread.items(child.id).iter().filter_map(|(item, _)| item.as_call()) {
            collect(&serde_json::from_str(call.args.as_text()).unwrap_or_default(), &mut written);
        }
    }
    let mut told: BTreeSet<CallKey> = BTreeSet::new();
    let mut tokens = 0;
    for (item, weight) in by_thread.items(ThreadId::ROOT) {
        let Body::Result { key: Some(key), failed: false, .. } = item.body() else { continue };
        let is_written = |part: &Part| written.contains(&part.digest());
        if item.parts().iter().any(is_written) && told.insert(*key) {
            tokens += u64::from(*weight);
        }
    }
    tokens
}

/// The texts in a call's arguments that are long enough to be told from names and paths.
fn collect(value: &serde_json::Value, into: &mut BTreeSet<Digest>) {
    const SHORTEST: usize = 16;
    match value {
        serde_json::Value::String(text) if text.len() >= SHORTEST => _ = into.insert(Digest::of(text)),
        serde_json::Value::Array(values) => values.iter().for_each(|value| collect(value, into)),
        serde_json::Value::Object(fields) => fields.values().for_each(|value| collect(value, into)),
        _ => {}
    }
}
