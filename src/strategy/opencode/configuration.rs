//! What the product's own configuration and store say: everything that a scenario does not.

use std::collections::{BTreeMap, BTreeSet};

use crate::strategy::ThreadId;

use super::permission::Rule;

/// The user's configuration, the place of work, and what the product's store holds when a run begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// Agents that it configures, built-in ones among them, by name.
    pub agents: BTreeMap<String, AgentConfiguration>,
    /// Built-in agents that it turns off.
    pub disabled: BTreeSet<String>,
    /// Parent links above a caller from which on it may not delegate; `None`: the profile's.
    pub subagent_depth: Option<u32>,
    /// Tools that no child may use (`experimental.primary_tools`).
    pub primary_tools: Vec<String>,
    /// The root's model; `None`: whatever the run's is.
    pub model: Option<Model>,
    /// The root's variant of it.
    pub variant: Option<String>,
    /// What the user answers to every question.
    pub answer: Answer,
    /// The folder that the paths of the world's files are relative to: absolute, without a slash at its end.
    pub worktree: String,
    /// The user's home, likewise.
    pub home: String,
    /// Sessions that are there before the run's first call, by the thread that plays them; the root's among them.
    pub sessions: BTreeMap<ThreadId, SessionRecord>,
}

/// What a configuration says of one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentConfiguration {
    /// Who may call it; `None`: a built-in agent's own mode, for any other all.
    pub mode: Option<Mode>,
    /// Its model; `None`: its caller's.
    pub model: Option<Model>,
    /// Its variant of the model, which has it.
    pub variant: Option<String>,
    /// Its own rules, which stand behind what it has anyway.
    pub permission: Vec<Rule>,
}

/// Who may call an agent. It decides only what a model is told: any agent works as a sub-agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The user.
    Primary,
    /// Other agents.
    Subagent,
    /// Both.
    All,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Mode; 3] = [Mode::Primary, Mode::Subagent, Mode::All];

    /// Its name in configurations.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Primary => "primary",
            Mode::Subagent => "subagent",
            Mode::All => "all",
        }
    }
}

/// A model of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// The provider.
    pub provider: String,
    /// The provider's name for it.
    pub id: String,
}

impl Model {
    /// `PROVIDER/MODEL`, cut at the first slash; without one it is all provider.
    pub fn parse(text: &str) -> Model {
        let (provider, id) = text.split_once('/').unwrap_or((text, ""));
        Model { provider: provider.to_owned(), id: id.to_owned() }
    }
}

/// What the user answers to a permission question. What the product does without an answer is to wait; no run here does,
/// so that one must be assumed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    /// Yes.
    #[default]
    Once,
    /// No, with or without a comment.
    Reject(Option<String>),
}

/// A session as the product stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRecord {
    /// Its title.
    pub title: String,
    /// The agent that speaks in it.
    pub agent: String,
    /// Its own rules, which stand behind its agent's.
    pub permission: Vec<Rule>,
    /// The model of its last prompt; `None`: the run's.
    pub model: Option<Model>,
    /// The variant of that model.
    pub variant: Option<String>,
}

impl Default for Configuration {
    /// The product as it is installed.
    fn default() -> Configuration {
        Configuration {
            agents: BTreeMap::new(),
            disabled: BTreeSet::new(),
            subagent_depth: None,
            primary_tools: vec![],
            model: None,
            variant: None,
            answer: Answer::default(),
            worktree: "/home/user/project".into(),
            home: "/home/user".into(),
            sessions: BTreeMap::new(),
        }
    }
}

impl Configuration {
    /// For runs of scenarios: they name their sub-agents themselves, so the product's own two are turned off.
    pub fn of_scenarios() -> Configuration {
        Configuration { disabled: ["explore", "general"].map(str::to_owned).into(), ..Configuration::default() }
    }
}
