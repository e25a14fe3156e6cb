//! What a thread has been told about its delegations, read from its items alone.

use super::{Body, CallKey, Handle, Item, Means};

/// How a delegation stands, as its parent has been told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Called, and nothing has come back yet.
    Called,
    /// Acknowledged; the work is still to come.
    Started,
    /// The work is here.
    Returned,
    /// It failed.
    Failed,
    /// No child was opened.
    Refused,
    /// The thread itself goes on with the work (a hand-off).
    Moved,
}

/// One delegating call of a thread and what its items tell of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The delegating call.
    pub call: CallKey,
    /// The intent that it was phrased from.
    pub intent: String,
    /// The child's name, where one was told.
    pub handle: Option<Handle>,
    /// How it stands.
    pub outcome: Outcome,
    /// The positions of the items that brought its work or its failure, in order; more than one when a text arrives
    /// twice (by a wait and by a notice).
    pub news: Vec<usize>,
}

/// Reads a thread's items: results by call key, notices and mail by handle. With two calls for one handle the last one
/// takes what comes.
pub fn heard(items: &[Item]) -> Vec<Heard> {
    let mut all: Vec<Heard> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        if let Body::Call(call) = item.body() {
            if let Some(intent) = &call.intent {
                all.push(Heard { call: call.key, intent: intent.clone(), handle: None, outcome: Outcome::Called, news: vec![] });
            }
            continue;
        }
        if item.means.is_empty() {
            continue;
        }
        let by_call = item.answers().and_then(|key| all.iter().rposition(|h| h.call == key));
        for means in &item.means {
            let named = match means {
                Means::Started(handle) => Some(handle),
                Means::Returned(handle) | Means::Failed(handle) => handle.as_ref(),
                Means::Refused | Means::Moved | Means::TimedOut | Means::Stored(_) => None,
            };
            let by_handle = || named.and_then(|handle| all.iter().rposition(|h| h.handle.as_ref() == Some(handle)));
            let Some(place) = by_call.or_else(by_handle) else { continue };
            let one = &mut all[place];
            if let Some(handle) = named {
                one.handle = Some(handle.clone());
            }
            let outcome = match means {
                Means::Started(_) => Outcome::Started,
                Means::Returned(_) => Outcome::Returned,
                Means::Failed(_) => Outcome::Failed,
                Means::Refused => Outcome::Refused,
                Means::Moved => Outcome::Moved,
                Means::TimedOut | Means::Stored(_) => continue,
            };
            one.outcome = outcome;
            if matches!(outcome, Outcome::Returned | Outcome::Failed | Outcome::Refused) && one.news.last() != Some(&at) {
                one.news.push(at);
            }
        }
    }
    all
}
