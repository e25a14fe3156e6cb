//! `opencode`: OpenCode's `task` tool, as `opencode-ai` 1.18.33 behaves.
//!
//! The facts are from runs of that version against a local server and from its bundled source; texts that the program
//! writes in fixed words are literal, prose that it shows its model is in this project's own words. The child begins
//! with exactly one user message, the prompt: nothing of the parent goes down. What comes back is the last text of the
//! child's last message, in a wrapper that names the session, so that it can be resumed.
//!
//! Not here: permission rules (every agent is allowed, children are shown no `task`), `@file` mentions in a prompt,
//! compaction of a child.

mod arguments;
mod profile;
mod scaffold;
mod session;
mod text;
mod truncate;

use super::{RunContext, Session, Strategy};

pub use profile::{PROFILES, Profile};

use session::OpenCodeSession;

/// OpenCode in one of its profiles.
#[derive(Clone, Copy, Debug)]
pub struct OpenCode {
    /// The version's facts.
    pub profile: &'static Profile,
    /// Background sub-agents: the product's experimental flag is set, and a simulated or held agent asks for it in
    /// every call.
    pub background: bool,
}

impl Default for OpenCode {
    fn default() -> OpenCode {
        OpenCode { profile: &PROFILES[0], background: false }
    }
}

impl Strategy for OpenCode {
    fn id(&self) -> String {
        let options = if self.background { ":background=true" } else { "" };
        format!("opencode@{}{options}", self.profile.name)
    }

    fn has_scaffold(&self) -> bool {
        true
    }

    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(OpenCodeSession::new(*self, run.clone()))
    }
}
