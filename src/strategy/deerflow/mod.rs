//! `deerflow`: DeerFlow's `task` tool.
//!
//! The profiles `v1` to `v3` are versions of the *call* and of the snapshot that a child may open with: `v2` is
//! bytedance/deer-flow at f649aa8; `v1` at 3deb2fc, which also hands hidden messages and unfinished calls down; `v3` at
//! 14e18fb, which keeps documents. Result texts, the limit of delegations and the ledger are those of f1f4af9 in all of
//! them. `f1f4af9` is that commit whole: its call has no mode and no criteria, and what a person wrote last stands in a
//! frame in every request. The facts were read or run at those commits; texts that the program writes in fixed words are
//! literal, prose that it shows its model is in this project's own words, of about the same length.
//!
//! Of all systems here this one charges the *parent*: what it delegated stands anew in every request of it
//! (the ledger), a long result becomes a preview of a file, and a result is seen only at the next look, every
//! five seconds.
//!
//! Assumed: `max_turns` (150 for `general-purpose`, 60 for `bash`, 50 for any other type) counts requests of the child.
//! At these commits it is LangGraph's `recursion_limit`, which counts the steps of a graph whose size depends on the
//! installed middleware, so that 150 bought about eighteen turns; later commits restore what the name says. Types of a
//! scenario are custom ones, with the defaults of custom ones. Blank arguments are an empty object.
//!
//! The frame is sent by `f1f4af9`, and by any profile under `--scaffold measured`; the default rows go without it, as
//! they go without the product's other prompts (role, report contract, skills, todo lists). The message that opens a run
//! bears the name `user-input` then.
//!
//! Not here: checks of acceptance criteria on a result (the checklist says that they are unverified); budgets of tokens and
//! detection of loops (vectors bring them as a child's end); the summary's part of the parent's block.

mod arguments;
mod budget;
mod document;
mod frame;
pub(crate) mod ledger;
mod ledger_block;
pub(crate) mod limit;
pub(crate) mod message;
pub(crate) mod opening;
#[cfg(test)]
mod properties;
pub(crate) mod python;
pub(crate) mod report;
mod scaffold;
mod session;
mod settled;
mod sha256;
pub(crate) mod snapshot;
pub(crate) mod status;
mod tags;
pub(crate) mod text;
pub(crate) mod value;

use crate::transcript::Item;

use super::{RunContext, Session, Strategy};

use session::DeerFlowSession;
pub use sha256::hex as sha256;
pub use tags::neutralise;

/// A version of call and snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// f649aa8: finished calls and visible messages only.
    #[default]
    V2,
    /// 3deb2fc: hidden messages too, and calls that nobody answered, `task` and `batch_task` apart.
    V1,
    /// 14e18fb: as `V2`, and documents.
    V3,
    /// f1f4af9: no snapshots.
    F1f4af9,
}

impl Profile {
    /// Every profile, the default first.
    pub const ALL: [Profile; 4] = [Profile::V2, Profile::V1, Profile::V3, Profile::F1f4af9];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::V2 => "v2",
            Profile::V1 => "v1",
            Profile::V3 => "v3",
            Profile::F1f4af9 => "f1f4af9",
        }
    }

    /// The profile of this name.
    pub fn named(name: &str) -> Option<Profile> {
        Profile::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// Whether calls have modes and criteria.
    pub fn has_modes(self) -> bool {
        self != Profile::F1f4af9
    }

    /// A parent's history as one hidden user message; `None`: nothing is left of it.
    pub fn snapshot(self, history: &[Item]) -> Option<Item> {
        // What raises in the product is data that items cannot hold.
        snapshot::of_history(self, history).ok().flatten().map(snapshot::item)
    }
}

/// What a simulated or held agent writes into its calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContextMode {
    /// Nothing: the product's default, isolated.
    #[default]
    Absent,
    /// The child opens with its task alone.
    Isolated,
    /// The child opens with its parent's history, as data.
    Snapshot,
}

impl ContextMode {
    /// Every mode, the default first.
    pub const ALL: [ContextMode; 3] = [ContextMode::Absent, ContextMode::Isolated, ContextMode::Snapshot];

    /// Its name in strategy specs.
    pub const fn name(self) -> &'static str {
        match self {
            ContextMode::Absent => "absent",
            ContextMode::Isolated => "isolated",
            ContextMode::Snapshot => "snapshot",
        }
    }

    /// The mode of this name.
    pub fn named(name: &str) -> Option<ContextMode> {
        ContextMode::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// DeerFlow in one of its profiles.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeerFlow {
    /// Which version.
    pub profile: Profile,
    /// What its calls ask for; without effect where calls have no mode.
    pub context_mode: ContextMode,
}

impl Strategy for DeerFlow {
    fn id(&self) -> String {
        let option = match self.context_mode {
            mode if mode == ContextMode::Absent || !self.profile.has_modes() => String::new(),
            mode => format!(":context_mode={}", mode.name()),
        };
        format!("deerflow@{}{option}", self.profile.name())
    }

    fn version(&self) -> u32 {
        2
    }

    fn has_scaffold(&self) -> bool {
        true
    }

    fn hands_history_down(&self) -> bool {
        self.profile.has_modes() && self.context_mode == ContextMode::Snapshot
    }

    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(DeerFlowSession::new(*self, run.clone()))
    }
}
