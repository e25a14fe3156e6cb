//! The application of a vector: strategy, agents, tool.

use crate::strategy::maf::{Application, AsTool, MafDotNet, MafPython, Platform, dotnet, python};
use crate::strategy::{AgentSpec, Registry, RunContext, Strategy};

use super::super::json::Json;
use super::vector::{Config, Given};

/// The names that the agents have in the run; what the framework calls the child is told apart from that.
pub const ROOT: &str = "parent";
const CHILD: &str = "child";

/// Which of the two systems.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum System {
    DotNet,
    Python,
}

/// A vector's application.
pub struct SetUp {
    pub system: System,
    pub strategy: Box<dyn Strategy>,
    pub run: RunContext,
    /// The name of the tool, or what its set-up throws.
    pub tool_name: Result<String, String>,
}

impl SetUp {
    /// What a vector says of the application.
    pub fn of(given: &Given) -> Result<SetUp, String> {
        let choices = Registry::builtin().parse(&given.strategy).map_err(|why| why.to_string())?;
        let [choice] = &choices[..] else { return Err(format!("`{}` is more than one strategy", given.strategy)) };
        let config = &given.config;
        let system = match choice.id() {
            "maf-dotnet" => System::DotNet,
            "maf-python" => System::Python,
            other => return Err(format!("`{other}` is no strategy of this system")),
        };
        let tool = tool(config, system)?;
        let tools = [(CHILD.to_owned(), tool.clone())].into();
        let application = Application { detailed_errors: config.include_detailed_errors, tools };
        // `as_tool` takes no session.
        let given = system == System::DotNet && config.session.is_some();
        let kept = given || choice.option("session") == "kept";
        let (strategy, tool_name): (Box<dyn Strategy>, _) = match system {
            System::DotNet => {
                let strategy = MafDotNet { kept, platform: platform(config)?, application };
                (Box::new(strategy), Ok(dotnet::tool_name(&tool)))
            }
            System::Python => {
                let profile = python::Profile::named(choice.profile()).unwrap_or(&python::PROFILES[0]);
                let propagate_session = config.propagate_session.unwrap_or(choice.option("propagate_session") == "true");
                let strategy = MafPython { profile, propagate_session, kept, application };
                (Box::new(strategy), python::tool_name(&tool).map_err(str::to_owned))
            }
        };
        let child = AgentSpec { system: config.agent.instructions.as_deref().map(Into::into), ..AgentSpec::default() };
        let agents = [(ROOT.to_owned(), AgentSpec::default()), (CHILD.to_owned(), child)].into();
        let run = RunContext { root: ROOT.into(), agents, ..RunContext::default() };
        Ok(SetUp { system, strategy, run, tool_name })
    }

    /// The text of a result, before the client writes it: .NET's are JSON strings, unless the framework speaks itself.
    pub fn text(&self, message: &str, failed: bool) -> String {
        match self.system {
            System::DotNet if !failed => serde_json::from_str(message).unwrap_or_else(|_| message.to_owned()),
            System::DotNet | System::Python => message.to_owned(),
        }
    }
}

fn platform(config: &Config) -> Result<Platform, String> {
    match config.platform.as_deref() {
        None | Some("unix" | "linux" | "macos" | "osx") => Ok(Platform::Unix),
        Some("windows") => Ok(Platform::Windows),
        Some(other) => Err(format!("`{other}` is no platform; known: windows, linux, macos, unix")),
    }
}

fn tool(config: &Config, system: System) -> Result<AsTool, String> {
    let given = |key: &str| match config.tool_kwargs.as_ref().and_then(|given| given.get(key)) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::Text(text)) => Ok(Some(text.clone())),
        Some(other) => Err(format!("`tool_kwargs.{key}` is {other}, not a text")),
    };
    let tool = AsTool {
        agent_name: config.agent.name.clone(),
        agent_description: config.agent.description.clone(),
        name: given("name")?,
        description: given("description")?,
        argument: given("arg_name")?.or(config.arg_name.clone()),
        argument_description: given("arg_description")?,
    };
    if system == System::DotNet && (tool.argument.as_deref().is_some_and(|name| name != "query") || tool.argument_description.is_some()) {
        return Err("the argument of .NET's tool is fixed: `arg_name` and `arg_description` are Python's".into());
    }
    Ok(tool)
}
