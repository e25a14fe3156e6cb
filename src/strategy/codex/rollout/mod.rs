//! Rollouts: the lines that a thread leaves in its file, what a fork hands down of them, and what a replay makes of those.
//!
//! A fork works on two layers. It hands the child *lines* of the parent's file ([`fork`]); the child then *replays* them
//! into the history that its model sees ([`replay`]). Checkpoints, rollbacks and system messages differ between the two.
//! Real runs take the same way: a transcript's items are lines as well (`Line::of`).
//!
//! From the source of openai/codex at 536f86e5cc: `core/src/agent/control/spawn.rs`, `thread_rollout_truncation.rs`,
//! `session/rollout_reconstruction.rs`, `context_manager/history.rs`, `compact.rs`.

mod bridge;
mod cut;
mod envelope;
mod fork;
mod legacy;
mod line;
mod opening;
mod reconstruction;
mod replay;
mod scrub;

pub(super) use bridge::TURN_CONTEXT;
pub use cut::last_turns;
pub use envelope::{Envelope, envelope};
pub use fork::{Appended, Extent, Fork, Forked, Generation, Instructions, Kept, KeptItem, Remains, fork};
pub use line::{Checkpoint, Line, Response};
pub use opening::{Opening, opening};
pub use replay::{Content, Replayed, Source, Visible, replay};
pub use scrub::KeptPart;
