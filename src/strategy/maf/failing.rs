//! Iterations of a turn, errors in a row, and exceptions that leave the run.

use std::collections::BTreeMap;

use crate::strategy::End;
use crate::transcript::{Body, CallKey, Item};

/// The results of each iteration of a turn, in order.
pub(super) fn iterations(turn: &[Item]) -> impl Iterator<Item = &[Item]> {
    let is_result = |item: &Item| matches!(item.body(), Body::Result { .. });
    turn.chunk_by(move |one, next| is_result(one) && is_result(next)).filter(move |run| run.first().is_some_and(is_result))
}

/// Whether it is the result of a call that failed.
pub(super) fn failed(item: &Item) -> bool {
    matches!(item.body(), Body::Result { failed: true, .. })
}

/// What calls threw that the text of their result does not say.
#[derive(Default)]
pub(super) struct Exceptions {
    messages: BTreeMap<CallKey, String>,
    leaving: BTreeMap<CallKey, End>,
}

impl Exceptions {
    /// A call threw, and its result says so.
    pub(super) fn captured(&mut self, call: CallKey, message: impl Into<String>) {
        self.messages.insert(call, message.into());
    }

    /// A call threw, and the run of its caller ends like this.
    pub(super) fn leaves(&mut self, call: CallKey, end: End) {
        self.leaving.insert(call, end);
    }

    /// The message of the exception behind a failed result: an ordinary tool's is its text.
    pub(super) fn message(&self, result: &Item) -> String {
        let own = result.answers().and_then(|call| self.messages.get(&call));
        own.cloned().unwrap_or_else(|| result.text())
    }

    /// How the run ends because of one of these results.
    pub(super) fn end(&self, results: &[Item]) -> Option<End> {
        results.iter().filter_map(Item::answers).find_map(|call| self.leaving.get(&call)).cloned()
    }
}
