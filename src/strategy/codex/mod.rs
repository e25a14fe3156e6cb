//! `codex-v1` and `codex-v2`: the sub-agents of Codex (`@openai/codex`), by release.
//!
//! The facts are from the source of openai/codex at 536f86e5cc (August 2026) and from runs of released binaries against a
//! local server; where the two differ, a [`Profile`] says what the release does. Texts that the program writes in fixed
//! words are literal, prose that it shows its model is in this project's own words.
//!
//! * v1 ([`CodexV1`]): a child opens with its task alone or with the filtered history of its parent; its final text comes
//!   back in a notice, and once more in the output of a wait if the parent waits.
//! * v2 ([`CodexV2`]): children have paths and mailboxes; a fork is filtered (to 0.163) or verbatim (from 0.166); every turn
//!   of a child ends in mail to its parent, and a wait carries no content.
//!
//! What a fork hands down is decided in [`rollout`], for runs and for conformance vectors alike. What the client sends
//! beside the history is known by its size ([`scaffold`]) and sent when a run asks for it.
//!
//! Not here: a run knows no models, reasoning efforts and service tiers, so those arguments are taken and not judged; no
//! developer instructions, so a child never has its own; no roles but the scenario's agents; no file that is read in pages.

mod arguments;
pub mod fork;
mod fork_turns;
mod fragment;
mod mail;
mod path;
pub mod profile;
mod residents;
mod role;
pub mod rollout;
pub mod scaffold;
mod status;
mod tools;
mod truncate;
mod v1;
mod v2;
mod wait;

pub use fork_turns::ForkTurns;
pub use profile::{Profile, V1_PROFILES, V2_PROFILES};
pub use v1::{CodexV1, ForkContext};
pub use v2::CodexV2;

use crate::transcript::{Body, Item, Origin, Role};

use super::{Report, ThreadId};

/// A child's final text: the last text of its own that is not blank in its last reply, commentary included.
fn final_text(report: &Report<'_>) -> Option<String> {
    let own = report.items.get(report.own..).unwrap_or_default();
    let replied = |item: &&Item| {
        let wrote = matches!(item.body(), Body::Message { role: Role::Assistant, .. } | Body::Reasoning { .. } | Body::Call(_));
        wrote && item.origin == Origin::Own
    };
    let last_reply = own.iter().rev().filter(|item| item.is_sent()).take_while(replied);
    last_reply.filter(|item| item.role() == Some(Role::Assistant)).map(Item::text).find(|text| !text.trim().is_empty())
}

/// A name for people, as the product gives one to every child.
fn nickname(thread: ThreadId) -> String {
    const NAMES: [&str; 6] = ["Ada", "Boole", "Curie", "Darwin", "Euler", "Fermat"];
    let number = thread.0.saturating_sub(1) as usize;
    // A remainder by the length is inside the list.
    let name = NAMES[number % NAMES.len()];
    let round = number / NAMES.len() + 1;
    let ending = match (round % 10, round % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    if round == 1 { name.into() } else { format!("{name} the {round}{ending}") }
}
