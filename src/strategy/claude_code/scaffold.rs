//! What the client was measured to send beside the history (2.1.197, with and without the flag for forks).
//!
//! A system text is three blocks on the wire: a line for billing, a sentence on who speaks, the prompt. Here they are one
//! piece, which weighs what the three weigh.

use crate::strategy::View;
use crate::strategy::scaffold::{Piece, Tools};
use crate::transcript::{Item, Role};

use super::Mode;

const SYSTEM: &str = "claude-code/system";

const ROOT: Piece = Piece { kind: SYSTEM, chars: 74 + 62 + 26_354, tokens: 26 + 15 + 5_470 };
const ROOT_TOOLS: Tools = Tools { count: 24, tokens: 19_941 };

const CHILD: Piece = Piece { kind: SYSTEM, chars: 95 + 62 + 2_518, tokens: 32 + 15 + 529 };
const CHILD_TOOLS: Tools = Tools { count: 21, tokens: 13_398 };
/// Known by their number and their 40,230 characters; the tokens follow from the share of the others.
const BACKGROUND_TOOLS: Tools = Tools { count: 13, tokens: 9_672 };

/// With the flag for forks the root's prompt and tools are a little different.
const FORKING_ROOT: Piece = Piece { kind: SYSTEM, chars: 74 + 62 + 26_240, tokens: 26 + 15 + 5_455 };
const FORK: Piece = Piece { kind: SYSTEM, chars: 95 + 62 + 26_240, tokens: 32 + 15 + 5_455 };
const FORKING_TOOLS: Tools = Tools { count: 24, tokens: 20_303 };

/// Stands in the root's first message alone.
const REMINDER: Piece = Piece { kind: "claude-code/reminder", chars: 1_786, tokens: 372 };
const SKILLS: Piece = Piece { kind: "claude-code/skills", chars: 4_556, tokens: 1_062 };
const DATE: Piece = Piece { kind: "claude-code/date", chars: 306, tokens: 70 };

/// What a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The root.
    Root,
    /// A child that its caller waits for.
    Child,
    /// A child that works in the background.
    Background,
    /// A fork.
    Fork,
}

/// A view with the client's sizes.
pub(super) fn dress(view: &mut View, kind: Kind, mode: Mode) {
    let (system, tools) = match (kind, mode) {
        (Kind::Root, Mode::Isolated) => (ROOT, ROOT_TOOLS),
        (Kind::Root, Mode::Fork) => (FORKING_ROOT, FORKING_TOOLS),
        (Kind::Fork, _) => (FORK, FORKING_TOOLS),
        (Kind::Child, _) => (CHILD, CHILD_TOOLS),
        (Kind::Background, _) => (CHILD, BACKGROUND_TOOLS),
    };
    view.system = Some(system.part());
    view.tools = tools.measured(std::mem::take(&mut view.tools));
}

/// What stands before the user's first words.
pub(super) fn before_user() -> Item {
    Piece::message(Role::User, &[REMINDER, SKILLS, DATE])
}

/// What stands before a child's prompt.
pub(super) fn before_prompt() -> Item {
    Piece::message(Role::User, &[SKILLS, DATE])
}
