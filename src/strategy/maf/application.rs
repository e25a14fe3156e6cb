//! What an application chooses when it offers its agents as tools.

use std::collections::BTreeMap;

use crate::strategy::AgentSpec;

/// An application's choices; the default is the framework's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Application {
    /// Error texts end with the message of the exception (`IncludeDetailedErrors`, `include_detailed_errors`).
    pub detailed_errors: bool,
    /// How agents are offered, by their names in the run; all others as [`AsTool::of`] says.
    pub tools: BTreeMap<String, AsTool>,
}

impl Application {
    /// How an agent of the run is offered.
    pub fn tool(&self, agent: &str, spec: &AgentSpec) -> AsTool {
        self.tools.get(agent).cloned().unwrap_or_else(|| AsTool::of(agent, spec))
    }
}

/// One agent as a tool: who it is, and what `AsAIFunction` or `as_tool` is told of it. `None` is left to the framework.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AsTool {
    /// The agent's own name.
    pub agent_name: Option<String>,
    /// The agent's own description.
    pub agent_description: Option<String>,
    /// The tool's name.
    pub name: Option<String>,
    /// The tool's description.
    pub description: Option<String>,
    /// The name of its one argument. Python only: .NET's is fixed.
    pub argument: Option<String>,
    /// The description of that argument. Python only.
    pub argument_description: Option<String>,
}

impl AsTool {
    /// An agent of a run, with nothing chosen. A run knows no empty descriptions: nobody says what such an agent is for.
    pub fn of(agent: &str, spec: &AgentSpec) -> AsTool {
        let description = Some(spec.description.clone()).filter(|text| !text.is_empty());
        AsTool { agent_name: Some(agent.into()), agent_description: description, ..AsTool::default() }
    }
}
