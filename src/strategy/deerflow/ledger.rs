//! The ledger of delegations (f1f4af9, `delegation_ledger.py`, `durable_context_middleware.py`): what the parent has handed
//! out and what came of it.

use std::collections::BTreeMap;

use super::message::{Called, Message, Speaker};
use super::python;
use super::sha256;
use super::status::{Cap, Status, Told};
use super::text::TOOL;

/// Entries that are remembered.
const ENTRIES: usize = 50;
/// Characters of a description.
const DESCRIPTION: usize = 200;

/// One delegation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The call's id.
    pub(crate) id: String,
    /// What it was about.
    pub(crate) description: String,
    /// To which type.
    pub(crate) agent: String,
    pub(crate) status: Status,
    /// The limit that ended it early.
    pub(crate) cap: Option<Cap>,
    /// What came of it.
    pub(crate) brought: Option<Brought>,
    /// The run in which it was made; `None`: before all runs.
    pub(crate) run: Option<u32>,
}

/// What came of a delegation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Brought {
    /// Text or error, as it is remembered.
    pub(crate) brief: String,
    /// The digest that came with it.
    digest: Option<String>,
    /// Where it stands: a message's id, or the call's.
    pub(crate) place: String,
}

impl Brought {
    /// A text as it is remembered, without a digest of its own.
    #[cfg(test)]
    pub(super) fn of(brief: &str, place: &str) -> Brought {
        Brought { brief: brief.to_owned(), digest: None, place: place.to_owned() }
    }

    /// The SHA-256 that came with it, else that of what is remembered.
    pub(crate) fn digest(&self) -> String {
        self.digest.clone().unwrap_or_else(|| sha256::hex(&self.brief))
    }
}

/// The entries of a history, in the order in which their ids were first seen: all calls first, then all results in order.
pub(crate) fn extract(messages: &[Message<'_>]) -> Vec<Entry> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut all: Vec<Entry> = Vec::new();
    for message in messages.iter().filter(|message| message.speaker == Speaker::Assistant) {
        for call in message.calls.iter().filter(|call| call.name == TOOL) {
            let Some(id) = call.id.as_deref().filter(|id| !id.is_empty()) else { continue };
            let place = *places.entry(id).or_insert(all.len());
            let entry = called(id, call);
            match all.get_mut(place) {
                Some(earlier) => *earlier = entry,
                None => all.push(entry),
            }
        }
    }
    for message in messages.iter().filter(|message| message.speaker == Speaker::Tool) {
        let Some(told) = &message.told else { continue };
        let place = message.answers.as_deref().and_then(|id| places.get(id));
        let Some(entry) = place.and_then(|&place| all.get_mut(place)) else { continue };
        let Told { status, cap, brief, digest, error } = told;
        entry.status = *status;
        entry.cap = cap.or(entry.cap);
        let text = brief.clone().or_else(|| error.clone()).or_else(|| status.bare().map(str::to_owned));
        if let Some(brief) = text {
            let place = message.id.clone().unwrap_or_else(|| entry.id.clone());
            entry.brought = Some(Brought { brief, digest: digest.clone(), place });
        }
    }
    all
}

fn called(id: &str, call: &Called<'_>) -> Entry {
    let args = call.args.value();
    let field = |key: &str| args.as_ref().and_then(|args| args.get(key)).and_then(python::given);
    let description = field("description").or_else(|| field("prompt")).unwrap_or_default();
    Entry {
        id: id.to_owned(),
        description: description.chars().take(DESCRIPTION).collect(),
        agent: field("subagent_type").unwrap_or_default(),
        status: Status::InProgress,
        cap: None,
        brought: None,
        run: None,
    }
}

/// The entries that a thread remembers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    entries: Vec<Entry>,
}

impl Ledger {
    /// Takes in what a run's messages tell. An end is never undone, an entry stays in the run in which it was first seen,
    /// and the newest ones are kept.
    pub(crate) fn learn(&mut self, mut found: Vec<Entry>, run: Option<u32>) {
        // What was forgotten for want of room is not new.
        if self.entries.len() >= ENTRIES {
            let oldest = self.entries.first().and_then(|oldest| found.iter().position(|entry| entry.id == oldest.id));
            found.drain(..oldest.unwrap_or_else(|| found.len().saturating_sub(ENTRIES)));
        }
        for mut entry in found {
            entry.run = run;
            match self.entries.iter_mut().find(|known| known.id == entry.id) {
                Some(known) if known.status.is_end() && !entry.status.is_end() => {}
                Some(known) => {
                    entry.run = known.run;
                    *known = entry;
                }
                None => self.entries.push(entry),
            }
        }
        self.entries.drain(..self.entries.len().saturating_sub(ENTRIES));
    }

    /// The entries, the oldest first.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }
}
