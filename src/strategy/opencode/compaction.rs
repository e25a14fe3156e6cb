//! A child whose window is nearly full: a summary of it is asked for, and takes the place of its history.

use crate::strategy::{AssistantTurn, Splice, View};
use crate::transcript::{Item, Origin, Part, Role};

use super::text;

/// Where a compaction stands.
#[derive(Clone, Debug)]
pub(super) enum Compaction {
    /// The summary is to be asked for, or has been.
    Due,
    /// The summary is there.
    Summarised(Part),
}

/// Whether a finished message leaves no room for another: its tokens, request and reply, have reached the window less what
/// a reply may take. The model's own limit of output is not known here; the product never allows more than 32,000, and a
/// small window is taken to belong to a model that writes a quarter of it.
pub(super) fn is_due(reply: &AssistantTurn) -> bool {
    reply.window.is_some_and(|window| reply.total >= window - (window / 4).min(32_000))
}

impl Compaction {
    /// The request that asks for the summary: no tools, a prompt of its own.
    pub(super) fn asked(speaker: &str, history: &[Item]) -> View {
        let question = Item::user(Origin::Compaction, text::SUMMARISE);
        let splice = Splice { at: history.len(), remove: 0, items: vec![question], keep: false };
        let system = Some(text::SUMMARISER.into());
        View { agent: speaker.to_owned(), system, splices: vec![splice], aside: true, ..View::default() }
    }

    /// The summary in place of the whole history.
    pub(super) fn replaced(summary: Part, history: &[Item]) -> Splice {
        let items = vec![
            Item::user(Origin::Compaction, text::WHAT_DID_WE_DO),
            Item::message(Role::Assistant, Origin::Compaction, summary),
            Item::user(Origin::Compaction, text::CONTINUE),
        ];
        Splice { at: 0, remove: history.len(), items, keep: true }
    }
}
