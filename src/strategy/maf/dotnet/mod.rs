//! `maf-dotnet`: `AsAIFunction` of Microsoft.Agents.AI under `FunctionInvokingChatClient`, with the OpenAI chat client.
//!
//! A child's text comes back as a JSON string, quotes and escapes included; what the framework says itself is plain text.
//! Calls of one message are made one after the other. Three iterations in a row with an exception are borne; in a fourth
//! one the first exception leaves the run, and the calls behind it are not made. A call of an unknown tool is no exception.

mod arguments;
mod json_string;
mod properties;
mod session;

use crate::strategy::{AgentSpec, RunContext, Session, Strategy};

use super::offer::Offered;
use super::{Application, AsTool, Platform, name};

pub use json_string::{message, quoted};
pub use properties::additional_properties;

use session::DotNetSession;

/// Every profile, the default first: the month of the sources.
pub const PROFILES: [&str; 1] = ["2026-08"];

/// The name of a tool whose agent has none begins so; what follows is the compiler's.
pub const NAMELESS: &str = "AsAIFunction_InvokeAgent";
/// What the compiler makes of the local function behind it (assumed: its numbers are not established).
const ORDINALS: &str = "_0_0";
/// The description of a tool that nobody described.
const ABOUT: &str = "Invoke an agent to retrieve some information.";
/// The one argument, and its description.
const ARGUMENT: [&str; 2] = ["query", "Input query to invoke the agent."];

/// MAF's .NET agents as tools.
#[derive(Clone, Debug, Default)]
pub struct MafDotNet {
    /// Every agent is given one session for the whole run, else each call has a fresh one.
    pub kept: bool,
    /// Where the application runs.
    pub platform: Platform,
    /// What it chooses.
    pub application: Application,
}

impl Strategy for MafDotNet {
    fn id(&self) -> String {
        format!("maf-dotnet@{}{}", PROFILES[0], if self.kept { ":session=kept" } else { "" })
    }

    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(DotNetSession::new(self.clone(), run))
    }
}

impl MafDotNet {
    /// The tool that an agent of the run is.
    pub(super) fn offered(&self, agent: &str, spec: &AgentSpec) -> Offered {
        let tool = self.application.tool(agent, spec);
        let about = tool.description.as_deref().or(tool.agent_description.as_deref()).unwrap_or(ABOUT);
        let [argument, argument_about] = ARGUMENT;
        Offered::new(agent, &tool_name(&tool), about, argument, argument_about)
    }
}

/// The name of a tool: the given one, else one made of the agent's.
pub fn tool_name(tool: &AsTool) -> String {
    match (&tool.name, &tool.agent_name) {
        (Some(name), _) => name.clone(),
        (None, Some(agent)) => name::dotnet(agent),
        (None, None) => format!("{NAMELESS}{ORDINALS}"),
    }
}
