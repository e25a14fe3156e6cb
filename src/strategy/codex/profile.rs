//! What each release does: one table. A release more is a row here, and vectors of its own in `fixtures/conformance`.
//!
//! **Measured**: the released npm package `@openai/codex` of that version was run against a local server, with one script
//! of two parent turns; its requests are the source of the row and of the sizes. **Source**: openai/codex at 536f86e5cc
//! (2026-08-21), read and in part run. Where a release differs from the source in a way that one script does not show, the
//! row holds what the source says.

use crate::strategy::scaffold::{Piece, Tools};

use super::rollout::{Extent, Fork, Generation, Instructions};
use super::scaffold::{BASE, CHILD_NOTE, CHILD_USAGE_HINT, ENVIRONMENT, MODE, PERMISSIONS, SKILLS, USAGE_HINT};

/// One release's facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name: the version of the npm package, or the month of the source.
    pub name: &'static str,
    /// Which tools it gives.
    pub generation: Generation,
    /// What a fork of the whole history makes of it.
    pub history: History,
    /// What it makes of a number of turns.
    pub turns: Turns,
    /// Parts that tell the mode stay where they are in a fork.
    pub keeps_mode: bool,
    /// A full fork writes the mode again behind the history where no such part is left in it.
    pub writes_mode: bool,
    /// A full fork writes the developer bundle and the environment again, though they are inherited.
    pub rebuilds: bool,
    /// How agents write to each other.
    pub mail: Mail,
    /// A child is shown the tools that open children.
    pub children_spawn: bool,
    /// What the client sends beside the history.
    pub client: Client,
}

/// What a fork of the whole history makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// The filter of [`rollout`](super::rollout).
    Filtered,
    /// Everything, the turn in progress too.
    Verbatim,
}

/// What `fork_turns` takes beside `none` and `all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turns {
    /// A number hands down so many turns.
    Honoured,
    /// A number acts as `all`.
    Ignored,
    /// The same, and who writes neither is told that there are no numbers.
    Undocumented,
}

/// How agents write to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mail {
    /// Assistant messages of phase commentary whose text is JSON.
    Json,
    /// `agent_message` items.
    AgentMessage,
}

/// Sizes of what a client sends beside the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// The root's tools.
    pub root_tools: Tools,
    /// A child's tools.
    pub child_tools: Tools,
    /// The base prompt.
    pub base: Piece,
    /// It is the first developer message; else the field `instructions` of the request.
    pub base_is_message: bool,
    /// The developer bundle: one message of two parts, in the order in which they were sent.
    pub bundle: [Piece; 2],
    /// What tells the root and a child of sub-agents, and the mode that the root was told.
    pub agents: Option<Agents>,
    /// `<environment_context>`.
    pub environment: Piece,
    /// What tells a child that its history is another's.
    pub child_note: Option<Piece>,
}

/// Sizes of what a client says about sub-agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agents {
    /// The root's usage hint.
    pub hint: Piece,
    /// A child's usage hint.
    pub child_hint: Piece,
    /// `<multi_agent_mode>`.
    pub mode: Piece,
}

/// Every profile of `codex-v1`, the default first.
pub const V1_PROFILES: [Profile; 2] = [
    // Measured: `fork_context` false (in full) and true (item kinds and sums alone).
    Profile { name: "0.171", ..V1 },
    // Source. The client's sizes are those of 0.171.
    Profile { name: SOURCE, ..V1 },
];

/// Every profile of `codex-v2`, the default first.
pub const V2_PROFILES: [Profile; 6] = [
    // Measured: `fork_turns` all, none, 1, 2, absent and refused words. 0.166 does the same.
    Profile { name: "0.171", history: History::Verbatim, turns: Turns::Undocumented, client: CLIENT_0_171, ..FROM_0_160 },
    // Measured: all, 1 (item kinds and sums alone). What it answers to `0` is not known: as 0.160.
    Profile { name: "0.163", turns: Turns::Ignored, client: CLIENT_0_163, ..FROM_0_160 },
    // Measured: all, 1.
    Profile { name: "0.160", ..FROM_0_160 },
    // Measured: all (in full), 1, none.
    Profile { name: "0.145", keeps_mode: true, writes_mode: false, children_spawn: true, client: CLIENT_0_145, ..FROM_0_160 },
    // Measured: all, 1, none (item kinds and sums alone). That a child's result stands in its notice's tags, and that
    // spawn_agent answers with a nickname, follows from the sums: they fit to the character.
    Profile {
        name: "0.130",
        keeps_mode: true,
        writes_mode: false,
        rebuilds: true,
        mail: Mail::Json,
        children_spawn: true,
        client: CLIENT_0_130,
        ..FROM_0_160
    },
    // Source. The client's sizes are those of 0.160, the release next to it.
    Profile { name: SOURCE, ..FROM_0_160 },
];

/// The profile of the source.
const SOURCE: &str = "source-2026-08";

const V1: Profile = Profile {
    generation: Generation::V1,
    writes_mode: false,
    client: Client { root_tools: Tools { count: 9, tokens: 4293 }, agents: None, child_note: None, ..CLIENT_0_171 },
    ..FROM_0_160
};

const FROM_0_160: Profile = Profile {
    name: "",
    generation: Generation::V2,
    history: History::Filtered,
    turns: Turns::Honoured,
    keeps_mode: false,
    writes_mode: true,
    rebuilds: false,
    mail: Mail::AgentMessage,
    children_spawn: false,
    client: CLIENT_0_160,
};

const fn piece(kind: &'static str, chars: u32, tokens: u32) -> Piece {
    Piece { kind, chars, tokens }
}

const CLIENT_0_171: Client = Client {
    root_tools: Tools { count: 9, tokens: 3343 },
    child_tools: Tools { count: 8, tokens: 1747 },
    base: piece(BASE, 16_979, 3523),
    base_is_message: true,
    bundle: [piece(SKILLS, 2091, 466), PERMITTED],
    agents: Some(AGENTS_0_171),
    environment: piece(ENVIRONMENT, 329, 87),
    child_note: Some(piece(CHILD_NOTE, 365, 67)),
};

/// Tokens of the tools are worked out from their characters (13 146 and 7 615) at the rate of 0.160; pieces are those whose
/// characters add up to the request's.
const CLIENT_0_163: Client = Client {
    root_tools: Tools { count: 9, tokens: 3089 },
    child_tools: Tools { count: 8, tokens: 1756 },
    bundle: [piece(SKILLS, 1926, 448), PERMITTED],
    child_note: None,
    ..CLIENT_0_171
};

const CLIENT_0_160: Client = Client {
    root_tools: Tools { count: 9, tokens: 3094 },
    base_is_message: false,
    agents: Some(Agents { hint: piece(USAGE_HINT, 2264, 498), child_hint: piece(CHILD_USAGE_HINT, 2228, 485), ..AGENTS_0_171 }),
    ..CLIENT_0_163
};

const CLIENT_0_145: Client = Client {
    root_tools: Tools { count: 10, tokens: 3291 },
    child_tools: Tools { count: 10, tokens: 3291 },
    base: piece(BASE, 20_751, 4365),
    bundle: [PERMITTED, piece(SKILLS, 2641, 549)],
    agents: Some(Agents { hint: piece(USAGE_HINT, 2183, 481), child_hint: piece(CHILD_USAGE_HINT, 2147, 468), ..AGENTS_0_171 }),
    ..CLIENT_0_160
};

/// Of this release the sums of characters are known: the bundle is what they leave. Its tokens, and those of the tools
/// (14 393 characters), are worked out at the rates of 0.145.
const CLIENT_0_130: Client = Client {
    root_tools: Tools { count: 12, tokens: 3365 },
    child_tools: Tools { count: 12, tokens: 3365 },
    bundle: [PERMITTED, piece(SKILLS, 4444, 924)],
    agents: None,
    ..CLIENT_0_145
};

/// `<permissions instructions>`, the same in every release.
const PERMITTED: Piece = piece(PERMISSIONS, 362, 68);

const AGENTS_0_171: Agents =
    Agents { hint: piece(USAGE_HINT, 2235, 493), child_hint: piece(CHILD_USAGE_HINT, 2199, 480), mode: piece(MODE, 271, 52) };

impl Profile {
    /// The profile of `codex-v2` of this name.
    pub fn named(name: &str) -> Option<&'static Profile> {
        V2_PROFILES.iter().find(|profile| profile.name == name)
    }

    /// How it forks by the filter, for a parent whose file is read as a whole, without hints and instructions.
    pub fn fork(&self, extent: Extent) -> Fork<'static> {
        Fork {
            generation: self.generation,
            extent,
            paginated: false,
            keeps_mode: self.keeps_mode,
            hints: &[],
            child_hint: None,
            instructions: Instructions::default(),
        }
    }

    /// The profile of `codex-v1` of this name.
    pub fn of_v1(name: &str) -> Option<&'static Profile> {
        V1_PROFILES.iter().find(|profile| profile.name == name)
    }
}

/// The names of profiles, in their order.
pub const fn names<const N: usize>(profiles: &[Profile; N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = profiles[at].name;
        at += 1;
    }
    names
}
