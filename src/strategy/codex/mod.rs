//! `codex-v1` and `codex-v2`: the sub-agents of Codex (`@openai/codex`), by release.
//!
//! The facts are from the source of openai/codex at 536f86e5cc (August 2026) and from runs of released binaries against a
//! local server; where the two differ, a [`Profile`] says what the release does. Texts that the program writes in fixed
//! words are literal, prose that it shows its model is in this project's own words.
//!
//! * v1 ([`CodexV1`]): a child opens with its task alone or with the filtered history of its parent; its final text comes
//!   back in a notice, and once more in the output of a wait if the parent waits.
//! * v2 ([`CodexV2`]): children have paths and mailboxes; a fork is filtered (0.160) or verbatim (0.171); every turn of a
//!   child ends in mail to its parent, and a wait carries no content.
//!
//! Not here: the base prompt, the developer bundle, the usage hints and mode parts (a child's scaffold), the choice of
//! models, efforts and tiers, roles other than the scenario's agents, rollback markers, the eviction of idle children.

mod arguments;
pub mod fork;
mod fragment;
mod mail;
mod path;
mod role;
mod status;
mod tools;
mod v1;
mod v2;
mod wait;

pub use v1::{CodexV1, ForkContext, V1_PROFILES};
pub use v2::{CodexV2, ForkTurns, Profile, V2_PROFILES};

use crate::transcript::{Body, Item, Role};

use super::Report;

/// A child's final text: the last assistant text that is not blank in its last reply, commentary included.
fn final_text(report: &Report<'_>) -> Option<String> {
    let own = report.items.get(report.own..).unwrap_or_default();
    let last_reply = own.iter().rev().filter(|item| item.is_sent()).take_while(|item| match item.body() {
        Body::Message { role, .. } => *role == Role::Assistant,
        Body::Reasoning { .. } | Body::Call(_) => true,
        Body::Result { .. } | Body::Mail { .. } | Body::Compaction { .. } | Body::Context { .. } => false,
    });
    last_reply.filter(|item| item.role() == Some(Role::Assistant)).map(Item::text).find(|text| !text.trim().is_empty())
}
