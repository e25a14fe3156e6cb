//! `deerflow`: DeerFlow's `task` tool.
//!
//! The profiles are versions of the *call* and of the snapshot that a child may open with: `v2` is bytedance/deer-flow at
//! f649aa8, `v1` at 3deb2fc, which also hands hidden messages and unfinished calls down. Result texts, the limit of
//! delegations and the ledger are those of f1f4af9 in both. The facts were read or run at those commits; texts that the
//! program writes in fixed words are literal, prose that it shows its model is in this project's own words, of about the
//! same length where that is known.
//!
//! Of all systems here this one charges the *parent*: what it delegated stands anew in every request of it
//! (the ledger), a long result becomes a preview of a file, and a result is seen only at the next look, every
//! five seconds.
//!
//! Not here: the product's own prompts, skills, todo lists and the report contract; the frame around the last user
//! message; checks of acceptance criteria on a result; its time-outs and turn budgets (the harness's ceilings stand for
//! them, reported as failures); media that JSON cannot hold; profile `v3`, which differs in document blocks alone.

mod arguments;
mod ledger;
mod python;
mod session;
mod snapshot;
mod tags;
mod text;

use crate::transcript::Item;

use super::{RunContext, Session, Strategy};

use session::DeerFlowSession;
pub use tags::neutralise;

/// A version of the snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// f649aa8: finished calls and visible messages only.
    #[default]
    V2,
    /// 3deb2fc: hidden messages too, and calls that nobody answered, `task` and `batch_task` apart.
    V1,
}

impl Profile {
    /// Every profile, the default first.
    pub const ALL: [Profile; 2] = [Profile::V2, Profile::V1];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::V2 => "v2",
            Profile::V1 => "v1",
        }
    }

    /// The profile of this name.
    pub fn named(name: &str) -> Option<Profile> {
        Profile::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// A parent's history as one hidden user message; `None`: nothing is left of it.
    pub fn snapshot(self, history: &[Item]) -> Option<Item> {
        snapshot::snapshot(self, history)
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
    /// Which snapshot.
    pub profile: Profile,
    /// What its calls ask for.
    pub context_mode: ContextMode,
}

impl Strategy for DeerFlow {
    fn id(&self) -> String {
        let option = match self.context_mode {
            ContextMode::Absent => String::new(),
            mode => format!(":context_mode={}", mode.name()),
        };
        format!("deerflow@{}{option}", self.profile.name())
    }

    fn hands_history_down(&self) -> bool {
        self.context_mode == ContextMode::Snapshot
    }

    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(DeerFlowSession::new(*self, run.clone()))
    }
}
