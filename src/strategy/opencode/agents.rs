//! The agents: the product's own, those of the configuration, those of the run.

use std::collections::BTreeMap;

use crate::strategy::RunContext;

use super::configuration::{AgentConfiguration, Configuration, Mode, Model};
use super::permission::{Action, Rule, decide};
use super::profile::Profile;
use super::text::TOOL;

/// One agent.
#[derive(Clone, Debug)]
pub(super) struct Agent {
    pub(super) mode: Mode,
    pub(super) model: Option<Model>,
    pub(super) variant: Option<String>,
    /// All its rules: base, own, configured.
    pub(super) rules: Vec<Rule>,
}

/// All agents of a run by name.
#[derive(Clone, Debug)]
pub(super) struct Agents {
    all: BTreeMap<String, Agent>,
}

/// The product's own agents, hidden ones too: any of them works as a sub-agent.
const BUILT_IN: [(&str, Mode); 7] = [
    ("build", Mode::Primary),
    ("plan", Mode::Primary),
    ("general", Mode::Subagent),
    ("explore", Mode::Subagent),
    ("compaction", Mode::Primary),
    ("title", Mode::Primary),
    ("summary", Mode::Primary),
];

/// The agent that plays a root for which the configuration has none.
const DEFAULT: &str = "build";

impl Agents {
    pub(super) fn new(configuration: &Configuration, run: &RunContext, profile: &Profile) -> Agents {
        let built_in = BUILT_IN.iter().map(|(name, _)| *name).filter(|name| !configuration.disabled.contains(*name));
        let others = configuration.agents.keys().chain(run.agents.keys()).chain([&run.root]).map(String::as_str);
        let one = |name: &str| (name.to_owned(), Agent::named(name, configuration, run, profile));
        Agents { all: built_in.chain(others).map(one).collect() }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Agent> {
        self.all.get(name)
    }

    /// An agent's rules; of an agent that nobody knows: none.
    pub(super) fn rules(&self, name: &str) -> &[Rule] {
        self.all.get(name).map_or(&[], |agent| &agent.rules)
    }

    /// Whom the tool's description offers to a caller, by name: sub-agents that its agent is not denied.
    pub(super) fn offered(&self, caller: &str) -> impl Iterator<Item = &str> {
        let rules = self.rules(caller);
        let offered =
            move |(name, agent): &(&String, &Agent)| agent.mode != Mode::Primary && decide(TOOL, name, rules.iter()) != Action::Deny;
        self.all.iter().filter(offered).map(|(name, _)| name.as_str())
    }
}

impl Agent {
    /// An agent with what the configuration says of it behind its own rules. What a run calls an agent is one without
    /// rules of its own, whatever its name, unless it is configured. The folder of cut outputs stays open to all, unless
    /// it is denied by name.
    fn named(name: &str, configuration: &Configuration, run: &RunContext, profile: &Profile) -> Agent {
        let configured = configuration.agents.get(name);
        let of_run = run.agents.contains_key(name) && configured.is_none();
        let known = BUILT_IN.iter().find(|(known, _)| *known == name && !configuration.disabled.contains(name)).filter(|_| !of_run);
        let (mut rules, mode) = match known {
            Some((name, mode)) => (built_in(name, configuration, profile), *mode),
            None if name == run.root && configured.is_none() => (built_in(DEFAULT, configuration, profile), Mode::Primary),
            None if of_run => (base(profile), Mode::Subagent),
            None => (base(profile), Mode::All),
        };
        let AgentConfiguration { mode: other, model, variant, permission } = configured.cloned().unwrap_or_default();
        rules.extend(permission);
        let outputs = outputs(profile);
        let is_denied = |rule: &Rule| rule.permission == "external_directory" && rule.action == Action::Deny && rule.pattern == outputs;
        if !rules.iter().any(is_denied) {
            rules.push(Rule::new("external_directory", outputs, Action::Allow));
        }
        Agent { mode: other.unwrap_or(mode), model, variant, rules }
    }
}

fn outputs(profile: &Profile) -> String {
    format!("{}/*", profile.output_folder)
}

/// What every agent has. The folders that are open from the start are those of an installation without skills and
/// references.
fn base(profile: &Profile) -> Vec<Rule> {
    let mut rules = vec![Rule::of_all("*", Action::Allow), Rule::of_all("doom_loop", Action::Ask)];
    rules.extend(outer(profile));
    rules.extend(["question", "plan_enter", "plan_exit"].map(|name| Rule::of_all(name, Action::Deny)));
    let read = [("*", Action::Allow), ("*.env", Action::Ask), ("*.env.*", Action::Ask), ("*.env.example", Action::Allow)];
    rules.extend(read.map(|(pattern, action)| Rule::new("read", pattern, action)));
    rules
}

fn outer(profile: &Profile) -> Vec<Rule> {
    let open = [outputs(profile), "/tmp/*".into()].map(|pattern| Rule::new("external_directory", pattern, Action::Allow));
    [Rule::new("external_directory", "*", Action::Ask)].into_iter().chain(open).collect()
}

/// A built-in agent's rules before the configuration's.
fn built_in(name: &str, configuration: &Configuration, profile: &Profile) -> Vec<Rule> {
    use Action::{Allow, Deny};
    let plans = format!("{}/.local/share/opencode/plans", configuration.home);
    let mut rules = base(profile);
    match name {
        "build" => rules.extend(["question", "plan_enter"].map(|name| Rule::of_all(name, Allow))),
        "plan" => {
            rules.extend(["question", "plan_exit"].map(|name| Rule::of_all(name, Allow)));
            rules.push(Rule::new(TOOL, "general", Deny));
            rules.push(Rule::new("external_directory", format!("{plans}/*"), Allow));
            rules.push(Rule::new("edit", "*", Deny));
            rules.push(Rule::new("edit", ".opencode/plans/*.md", Allow));
            rules.push(Rule::new("edit", super::path::relative(&configuration.worktree, &format!("{plans}/*.md")), Allow));
        }
        "general" => rules.push(Rule::of_all("todowrite", Deny)),
        "explore" => {
            rules.push(Rule::of_all("*", Deny));
            rules.extend(["grep", "glob", "list", "bash", "webfetch", "websearch", "read"].map(|name| Rule::of_all(name, Allow)));
            rules.extend(outer(profile));
        }
        _ => rules.push(Rule::of_all("*", Deny)),
    }
    rules
}
