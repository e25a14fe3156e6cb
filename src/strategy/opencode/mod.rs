//! `opencode`: OpenCode's `task` tool, as `opencode-ai` 1.18.33 behaves, and as anomalyco/opencode did at 005201e.
//!
//! The facts are from runs of 1.18.33 against a local server and from its bundled source, those of 005201e from its
//! source; texts that the program writes in fixed words are literal, prose that it shows its model is in this project's own
//! words. The child begins with exactly one user message, the prompt, with what its `@mentions` bring: nothing of the
//! parent goes down. What comes back is the last text of the child's last message, in a wrapper that names the session, so
//! that it can be resumed.
//!
//! What the product takes from its configuration and its store is a [`Configuration`]: agents with rules and models, the
//! depth, the worktree. A scenario's agents are agents without rules of their own, and its root is the default agent
//! `build`.
//!
//! Assumed, since it is not established: the user says yes to every permission question ([`Answer`]); calls that add to a
//! running task of 005201e are answered at its end. Not here: rules about the arguments of ordinary tools, plugins and MCP,
//! a limit of steps, `command` sub-tasks, the promotion of a foreground task by the user, the small request for a root's
//! title, and compaction of the root.

mod agents;
mod arguments;
mod compaction;
mod configuration;
mod job;
mod locale;
mod mention;
mod path;
mod permission;
mod profile;
mod prompt;
mod read;
mod session;
mod text;
mod truncate;
mod wildcard;

use super::{RunContext, Session, Strategy};

pub use configuration::{AgentConfiguration, Answer, Configuration, Mode, Model, SessionRecord};
pub use permission::{Action, Rule, decide, derive};
pub use profile::{Denied, PROFILES, Profile, Scaffold, Wrapper};
pub use prompt::UserPart;
pub use session::{OpenCodeSession, handle};
pub use text::{ABORTED, AGENT_MENTION, ID_LINE, STARTED, UPDATED};

/// OpenCode in one of its profiles.
#[derive(Clone, Debug)]
pub struct OpenCode {
    /// The version's facts.
    pub profile: &'static Profile,
    /// Background sub-agents: the product's experimental flag is set, and a simulated or held agent asks for it in
    /// every call.
    pub background: bool,
    /// What the product is configured to.
    pub configuration: Configuration,
}

impl Default for OpenCode {
    /// As a scenario is played.
    fn default() -> OpenCode {
        OpenCode { profile: &PROFILES[0], background: false, configuration: Configuration::of_scenarios() }
    }
}

impl OpenCode {
    /// A session whose records can be looked into.
    pub fn session(&self, run: &RunContext) -> OpenCodeSession {
        OpenCodeSession::new(self.clone(), run.clone())
    }
}

impl Strategy for OpenCode {
    fn id(&self) -> String {
        let options = if self.background { ":background=true" } else { "" };
        format!("opencode@{}{options}", self.profile.name)
    }

    fn has_scaffold(&self) -> bool {
        self.profile.scaffold.is_some()
    }

    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(self.session(run))
    }
}
