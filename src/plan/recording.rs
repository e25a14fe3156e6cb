//! What a held cell's figures depend on, and how far they can be checked.

use std::sync::{Arc, OnceLock};

use crate::import::{Imported, Session};
use crate::model::held::growth_error;
use crate::tokens::Meter;
use crate::transcript::Digest;

use super::Remark;

/// What a recording does not hold, and how far its own figures lie from what is counted here.
pub(super) fn held_remark(root: &Session) -> Remark {
    let root = root.clone();
    let said: OnceLock<Vec<String>> = OnceLock::new();
    Arc::new(move |meter| {
        let growth = |meter: &Meter| match growth_error(&root, meter) {
            Ok(growth) => format!("{growth}."),
            Err(why) => format!("root growth: not counted: {why}."),
        };
        let missing = "The recording holds no system prompt and no tool schemas: token figures are of items alone.";
        said.get_or_init(|| vec![missing.to_owned(), growth(meter)]).clone()
    })
}

/// Digest of a root session and of all sessions below it: what was recorded, not where the files lie.
pub(super) fn recording_digest(imported: &Imported, root: usize) -> Digest {
    let mut digests = Vec::new();
    // Parents stand before their children.
    let mut inside: Vec<bool> = Vec::with_capacity(imported.sessions.len());
    for (at, session) in imported.sessions.iter().enumerate() {
        let below = session.parent_at.is_some_and(|parent| inside.get(parent).copied().unwrap_or(false));
        inside.push(at == root || below);
        if at == root || below {
            digests.extend(session_digests(session));
        }
    }
    Digest::chain(digests)
}

fn session_digests(session: &Session) -> impl Iterator<Item = Digest> + '_ {
    let head = format!("{} {:?} {:?} {:?} {:?}", session.id, session.parent, session.agent, session.delegations, session.inherited);
    std::iter::once(Digest::of(&head)).chain(session.steps.iter().map(|step| Digest::of(&format!("{step:?}"))))
}
