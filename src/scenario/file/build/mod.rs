//! From records to the compiled scenario, and the rules that it must keep.

mod checks;
mod declared;
mod markers;
mod past;
mod plans;
mod script;
mod topics;
mod work;
mod world;

use std::collections::BTreeMap;

use crate::scenario::marker::MarkerIndex;
use crate::scenario::{Conduct, Scenario, Size};
use crate::setting::Ceilings;
use crate::strategy::AgentSpec;
use crate::transcript::Digest;

use self::declared::Declared;
use super::errors::{Problems, suggest};
use super::form::{CeilingsForm, ConductForm, File};
use super::node::{Node, Place};
use super::record::Form;
use super::text::{Beside, Made, Sources, Text};

/// Where a text of the scenario stands: what facts can be seen there is declared or an error.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Seat {
    Agent(String),
    Tool(String),
    File(String),
    History(String),
    Turn(String),
    Intent(String),
}

/// A text that some thread may see.
struct Shown {
    seat: Seat,
    at: Place,
    text: String,
    /// The facts that it quotes by id.
    quotes: Vec<String>,
    /// What a tool answered in the past: its facts are those of the tool's own place.
    is_answer: bool,
}

/// What building needs at hand.
struct Builder<'a> {
    file: &'a File,
    declared: Declared,
    sources: Sources,
    shown: Vec<Shown>,
    /// For each topic the positions of its facts in the file, oldest first.
    orders: Vec<Vec<usize>>,
    problems: &'a mut Problems,
}

/// Builds a scenario from an expanded tree; its digest is still to be taken. `None`, or a scenario that must not be
/// used, comes with problems.
pub(super) fn build(root: &Node, size: Size, sizes: &[Size], beside: &Beside, problems: &mut Problems) -> Option<Scenario> {
    let file = File::read(root, problems)?;
    let declared = Declared::read(root, problems);
    let mut builder = Builder {
        file: &file,
        declared,
        sources: Sources { statements: topics::statements(&file), beside: beside.clone() },
        shown: vec![],
        orders: vec![],
        problems,
    };
    let world = builder.world();
    let agents = builder.agents();
    let root_agent = builder.root(root.at);
    let history = builder.history(&world);
    let (topics, intents, turns) = builder.work();
    let checks = builder.checks(&topics, &world);
    let mut scenario = Scenario {
        id: file.id.value.0.clone(),
        title: file.title.0.clone(),
        tags: file.tags.clone(),
        why: file.why.0.clone(),
        size,
        sizes: sizes.to_vec(),
        root: root_agent,
        agents,
        history,
        turns,
        world,
        topics,
        intents,
        conduct: conduct(file.conduct.as_ref()),
        script: vec![],
        checks,
        ceilings: ceilings(file.ceilings.as_ref()),
        window: file.window,
        expects_failure: file.expects_failure.as_ref().map(|kind| kind.value.clone()),
        digest: Digest(0),
    };
    scenario.script = builder.script(&scenario);
    builder.heads();
    let index = MarkerIndex::new(&scenario);
    builder.markers(&scenario, &index);
    builder.plans(&scenario, &index);
    Some(scenario)
}

/// The digest of everything that a run of the scenario depends on: not its title, reason, tags and other sizes.
pub(super) fn digest(scenario: &Scenario) -> Digest {
    // Every field is named, so that a new one cannot be forgotten here.
    let Scenario {
        id,
        title: _,
        tags: _,
        why: _,
        size,
        sizes: _,
        root,
        agents,
        history,
        turns,
        world,
        topics,
        intents,
        conduct,
        script,
        checks,
        ceilings,
        window,
        expects_failure,
        digest: _,
    } = scenario;
    let head = format!("{:?}", (id, size, root, conduct, ceilings, window, expects_failure));
    let people = format!("{:?}", (agents, history, turns));
    let rest = format!("{:?}", (world, topics, intents, checks));
    // No script is as if there were no such key.
    let script = (!script.is_empty()).then(|| format!("{script:?}"));
    Digest::chain([head, people, rest].iter().chain(&script).map(|text| Digest::of(text)))
}

fn conduct(form: Option<&ConductForm>) -> Conduct {
    let Some(form) = form else { return Conduct::default() };
    let ConductForm { fallback, on_refusal, skip_known, narrate_findings, brief } = *form;
    Conduct { fallback, on_refusal, skip_known, narrate_findings, brief }
}

fn ceilings(form: Option<&CeilingsForm>) -> Ceilings {
    let usual = Ceilings::default();
    let Some(form) = form else { return usual };
    Ceilings {
        rounds: form.rounds.unwrap_or(usual.rounds),
        depth: form.depth.unwrap_or(usual.depth),
        threads: form.threads.unwrap_or(usual.threads),
        tokens: form.tokens.unwrap_or(usual.tokens),
    }
}

impl Builder<'_> {
    /// A text of one part at a place of the scenario; remembered as shown.
    fn plain(&mut self, text: &Text, seat: Seat, owner: &str) -> String {
        let made = text.plain(owner, &self.sources, self.problems);
        let plain = made.text();
        self.show(made, seat, text.at);
        plain
    }

    fn show(&mut self, made: Made, seat: Seat, at: Place) {
        self.shown.push(Shown { seat, at, text: made.text(), quotes: made.quotes, is_answer: false });
    }

    fn agents(&mut self) -> BTreeMap<String, AgentSpec> {
        let file = self.file;
        let mut agents = BTreeMap::new();
        for (name, agent) in &file.agents.0 {
            let system =
                agent.system.as_ref().map(|text| self.plain(text, Seat::Agent(name.value.clone()), &format!("agent {}", name.value)));
            let mut spec = AgentSpec { system: system.map(Into::into), tools: vec![], ..AgentSpec::default() };
            for tool in &agent.tools {
                self.declared.tools.check(tool, self.problems);
                if spec.tools.iter().any(|known| known.name == tool.value) {
                    let message = format!("the agent `{}` has the tool `{}` twice", name.value, tool.value);
                    self.problems.add(tool.at, message, "name each tool once");
                }
                spec.tools
                    .extend(file.tools.get(&tool.value).map(|form| world::tool_spec(&tool.value, form, &self.sources, self.problems)));
            }
            agents.insert(name.value.clone(), spec);
        }
        agents
    }

    fn root(&mut self, at: Place) -> String {
        match (&self.file.root, self.file.agents.keys().next()) {
            (Some(root), _) => {
                self.declared.agents.check(root, self.problems);
                root.value.clone()
            }
            (None, Some(first)) => first.to_owned(),
            (None, None) => {
                if !self.problems.incomplete {
                    self.problems.add(at, "there are no agents", "declare at least one under `agents`: the first plays the root");
                }
                String::new()
            }
        }
    }

    /// Ids, and what can only be one of a few words.
    fn heads(&mut self) {
        let is_id = |text: &str| text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-') && !text.starts_with('-');
        let id = &self.file.id;
        if !is_id(&id.value.0) {
            self.problems.add(id.at, format!("`{}` cannot be a scenario's id", id.value.0), "use lower-case letters, digits and `-`");
        }
        for (variant, _) in &self.file.variants.0 {
            if !is_id(&variant.value) {
                self.problems.add(
                    variant.at,
                    format!("`{}` cannot be a scenario's id", variant.value),
                    "use lower-case letters, digits and `-`",
                );
            }
            if variant.value == id.value.0 {
                self.problems.add(
                    variant.at,
                    format!("the scenario `{}` is declared twice", variant.value),
                    "give the variant an id of its own",
                );
            }
        }
        if let Some(kind) = &self.file.expects_failure {
            let known = ["overflow", "model", "strategy", "limit", "stuck", "cap", "panic"];
            if !known.contains(&kind.value.as_str()) {
                self.problems.add(kind.at, format!("`{}` is no kind of failure", kind.value), suggest(&kind.value, known));
            }
        }
        if self.file.turns.is_empty() && !self.problems.incomplete {
            let at = self.file.id.at;
            self.problems.add(at, "nobody says anything in this scenario", "write at least one message under `turns`");
        }
    }
}
