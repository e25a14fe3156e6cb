//! `maf-python`: `as_tool` of `agent-framework-core`.
//!
//! A child's text comes back as it is. Calls of one message are made beside each other. After three iterations in a row
//! with a failed call, or forty of any kind, the tools are turned off for one last request. Of a child that asks its user
//! for something the caller's run ends; a child that asks for an *approval* is a failed call in 1.23.0, and no exception to
//! that rule in the sources of August.
//!
//! Where the parent's session is propagated, the child reads and extends the messages stored there. The sources of August
//! hand the child the parent's state itself, 1.23.0 a copy whose changes are merged back, also after a failure; the stored
//! messages lie in an object that both hold, so they are the same in both, and a run that failed stores none.

mod arguments;
mod session;
mod stored;

use crate::strategy::{AgentSpec, RunContext, Session, Strategy};

use super::offer::Offered;
use super::{Application, AsTool, name};

use session::PythonSession;

/// What a version does where others do otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name: the version of the package `agent-framework-core`, or the month of the sources.
    pub name: &'static str,
    /// A child's request for approval is an error of the tool; else it goes up like any other request to the user.
    pub approvals_stay: bool,
}

/// Every profile, the default first.
pub const PROFILES: [Profile; 2] = [Profile { name: "1.23.0", approvals_stay: true }, Profile { name: "2026-08", approvals_stay: false }];

impl Profile {
    /// The profile of this name.
    pub fn named(name: &str) -> Option<&'static Profile> {
        PROFILES.iter().find(|profile| profile.name == name)
    }
}

/// MAF's Python agents as tools.
#[derive(Clone, Debug)]
pub struct MafPython {
    /// The version's facts.
    pub profile: &'static Profile,
    /// The child gets the parent's stored session and adds to it. What the parent says in the turn in progress is stored at
    /// its end only, so a child of the first turn reads nothing of it.
    pub propagate_session: bool,
    /// One session an agent for the whole run, as an application can keep it with a tool of its own; else a fresh one a
    /// call. Without effect where the parent's session is propagated: that is then the only one.
    pub kept: bool,
    /// What the application chooses.
    pub application: Application,
}

impl Default for MafPython {
    fn default() -> MafPython {
        MafPython { profile: &PROFILES[0], propagate_session: false, kept: false, application: Application::default() }
    }
}

impl Strategy for MafPython {
    fn id(&self) -> String {
        let options = match (self.propagate_session, self.kept) {
            (false, false) => "",
            (true, false) => ":propagate_session=true",
            (false, true) => ":session=kept",
            (true, true) => ":propagate_session=true,session=kept",
        };
        format!("maf-python@{}{options}", self.profile.name)
    }

    fn hands_history_down(&self) -> bool {
        self.propagate_session
    }

    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(PythonSession::new(self.clone(), run))
    }
}

/// The name of a tool: the given one, else one made of the agent's. An empty one counts as not given.
///
/// # Errors
/// The exception of the set-up, where there is no name at all.
pub fn tool_name(tool: &AsTool) -> Result<String, &'static str> {
    match (given(&tool.name), &tool.agent_name) {
        (Some(name), _) => Ok(name.to_owned()),
        (None, Some(agent)) => Ok(name::python(agent)),
        (None, None) => Err("ValueError: Agent tool name cannot be None. Either provide a name parameter or set the agent's name."),
    }
}

fn given(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !text.is_empty())
}

impl MafPython {
    /// The tool that an agent of the run is; `None`: its set-up fails.
    pub(super) fn offered(&self, agent: &str, spec: &AgentSpec) -> Option<Offered> {
        let tool = self.application.tool(agent, spec);
        let name = tool_name(&tool).ok()?;
        let about = given(&tool.description).or(given(&tool.agent_description)).unwrap_or_default();
        let argument = tool.argument.as_deref().unwrap_or("task");
        let argument_about = given(&tool.argument_description).map_or_else(|| format!("Task for {name}"), str::to_owned);
        Some(Offered::new(agent, &name, about, argument, &argument_about))
    }
}
