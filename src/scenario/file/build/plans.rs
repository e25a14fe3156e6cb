//! Plans: every step can be taken, and what is needed can be found out.

use std::collections::BTreeSet;

use crate::scenario::marker::MarkerIndex;
use crate::scenario::script::ScriptedCall;
use crate::scenario::{Scenario, ScenarioWorld, Step, ToolBehaviour};
use crate::setting::World;
use crate::transcript::{CallKey, Part, ToolCall};

use super::super::errors::suggest;
use super::super::form::StepForm;
use super::super::node::{Located, Node};
use super::markers::Facts;
use super::world::parameters;
use super::{Builder, Seat};

impl Builder<'_> {
    /// Takes every step of every plan, in order, on the scenario's world.
    pub(super) fn plans(&mut self, scenario: &Scenario, index: &MarkerIndex) {
        let file = self.file;
        let mut walk = Walk { world: scenario.world.clone(), seen: Facts::new(), done: BTreeSet::new() };
        // What any text beside a file tells can reach a thread without a step.
        for shown in &self.shown {
            if !matches!(shown.seat, Seat::File(_) | Seat::Tool(_)) {
                walk.seen.extend(index.scan(&shown.text).facts);
            }
        }
        for (turn, form) in scenario.turns.iter().zip(&file.turns) {
            self.steps(scenario, index, &scenario.root, &turn.work.plan, &form.value.plan, &mut walk);
            for &intent in &turn.work.delegates {
                self.intent(scenario, index, intent, &mut walk);
            }
        }
        let delegated = scripted_delegations(scenario);
        for (at, form) in file.intents.iter().enumerate() {
            if !walk.done.contains(&at) {
                let scripted = delegated.contains(form.value.id.value.as_str());
                // Its plan is walked all the same, for the problems in it.
                self.intent(scenario, index, at, &mut walk);
                if !scripted && !self.problems.incomplete {
                    let message = format!("nobody delegates the intent `{}`", form.value.id.value);
                    self.problems.add(form.value.id.at, message, "name it under `delegate` of a turn, or remove it");
                }
            }
        }
        self.needs(scenario, &walk.seen);
        self.titles(scenario);
    }

    /// Beside a call stands `Looking at TITLE for LABEL.` or `Looking at TARGET for LABEL.`: where a delegating call was
    /// taken away by a strategy, that sentence alone tells which one it was.
    fn titles(&mut self, scenario: &Scenario) {
        let turns = scenario.turns.iter().flat_map(|turn| &turn.work.plan);
        let targets: BTreeSet<&str> =
            turns.chain(scenario.intents.iter().flat_map(|intent| &intent.work.plan)).map(|step| step.target.as_str()).collect();
        let mut titles: BTreeSet<&str> = BTreeSet::new();
        for form in &self.file.intents {
            let (title, at) = (form.value.title.0.as_str(), form.value.id.at);
            if targets.contains(title) {
                let message = format!("the title `{title}` is also the target of a step");
                self.problems.add(at, message, "what the text beside a call names must tell a delegation from a step: reword the title");
            }
            if !titles.insert(title) {
                self.problems.add(
                    at,
                    format!("two intents have the title `{title}`"),
                    "what the text beside a call names must tell them apart: reword one",
                );
            }
        }
    }

    fn intent(&mut self, scenario: &Scenario, index: &MarkerIndex, at: usize, walk: &mut Walk) {
        let (Some(intent), Some(form)) = (scenario.intents.get(at), self.file.intents.get(at)) else { return };
        // An intent may delegate itself (children that delegate again and again); its steps are the same each time.
        if !walk.done.insert(at) {
            return;
        }
        self.steps(scenario, index, &intent.agent, &intent.work.plan, &form.value.plan, walk);
        for &next in &intent.work.delegates {
            self.intent(scenario, index, next, walk);
        }
    }

    fn steps(
        &mut self,
        scenario: &Scenario,
        index: &MarkerIndex,
        agent: &str,
        plan: &[Step],
        forms: &[Located<StepForm>],
        walk: &mut Walk,
    ) {
        let mut taken: BTreeSet<(&str, &str)> = BTreeSet::new();
        for (step, form) in plan.iter().zip(forms) {
            let call = (step.tool.as_str(), step.args.as_str());
            if !taken.insert(call) && form.value.args.as_ref().is_none_or(Node::is_sound) {
                let message = "this step stands in the plan already";
                self.problems.add(
                    form.at,
                    message,
                    "a call that stands completed is not made again: remove it, or give it other arguments",
                );
            }
            if !self.may_call(scenario, Some(agent), &form.value.tool) | !self.can_succeed(scenario, step, form, &walk.world) {
                continue;
            }
            let call = ToolCall {
                key: CallKey(0),
                id: String::new(),
                name: step.tool.clone(),
                args: Part::text(step.args.as_str()),
                intent: None,
                recorded: None,
            };
            for part in walk.world.call(&call).parts {
                walk.seen.extend(index.scan(part.as_text()).facts);
            }
        }
    }

    /// Whether the agent has the tool; of an agent that nobody knows, whether there is such a tool.
    pub(super) fn may_call(&mut self, scenario: &Scenario, agent: Option<&str>, tool: &Located<String>) -> bool {
        if !self.declared.tools.check(tool, self.problems) {
            return false;
        }
        // An unknown agent is reported where it is named.
        let Some((agent, known)) = agent.and_then(|agent| Some((agent, self.file.agents.get(agent)?))) else { return true };
        let has = known.tools.iter().any(|known| known.value == tool.value);
        if !has && scenario.agents.contains_key(agent) {
            let message = format!("the agent `{agent}` does not have the tool `{}`", tool.value);
            let help = format!(
                "add it to the agent's `tools`, or take another: {}",
                suggest(&tool.value, known.tools.iter().map(|tool| tool.value.as_str()))
            );
            self.problems.add(tool.at, message, help);
        }
        has
    }

    /// Whether the call can succeed as the world then is; a declared output that is an error counts as success.
    fn can_succeed(&mut self, scenario: &Scenario, step: &Step, form: &Located<StepForm>, world: &ScenarioWorld) -> bool {
        let (Some(behaviour), Some(tool)) = (scenario.world.tools.get(&step.tool), self.file.tools.get(&step.tool)) else { return false };
        if form.value.args.as_ref().is_some_and(|args| !args.is_sound()) {
            return false;
        }
        let at = form.value.args.as_ref().map_or(form.at, |args| args.at);
        let args: serde_json::Value = serde_json::from_str(&step.args).unwrap_or_default();
        let Some(given) = args.as_object() else {
            super::world::check_arguments(form.value.args.as_ref(), self.problems);
            return false;
        };
        let schema = parameters(tool);
        let properties: Vec<&str> =
            schema.get("properties").and_then(|p| p.as_object()).map(|p| p.keys().map(String::as_str).collect()).unwrap_or_default();
        if let Some(wrong) = given.keys().find(|name| !properties.is_empty() && !properties.contains(&name.as_str())) {
            let message = format!("the tool `{}` has no parameter `{wrong}`", step.tool);
            self.problems.add(at, message, suggest(wrong, properties.iter().copied()));
            return false;
        }
        let required = schema.get("required").and_then(|names| names.as_array()).into_iter().flatten().filter_map(|name| name.as_str());
        if let Some(missing) = required.into_iter().find(|name| !given.contains_key(*name)) {
            let message = format!("the tool `{}` needs the argument `{missing}`", step.tool);
            self.problems.add(at, message, "add it to `args`");
            return false;
        }
        let text = |name: &str| given.get(name).and_then(|value| value.as_str());
        match behaviour {
            ToolBehaviour::ReadFile { .. } => {
                let path = text("path").unwrap_or_default();
                if !world.files.contains_key(path) && !self.declared.files.has(path) {
                    let message = format!("there is no file `{path}` when this step is taken");
                    self.problems.add(at, message, suggest(path, world.files.keys().map(String::as_str)));
                    return false;
                }
                true
            }
            ToolBehaviour::Declared { outputs, otherwise } => {
                if !outputs.contains_key(&step.args) && otherwise.is_none() {
                    if !self.problems.incomplete {
                        let message = format!("the tool `{}` has no output for `{}`", step.tool, step.args);
                        self.problems.add(
                            at,
                            message,
                            format!(
                                "declare it under `outputs`, or `otherwise`; {}",
                                suggest(&step.args, outputs.keys().map(String::as_str))
                            ),
                        );
                    }
                    return false;
                }
                true
            }
            ToolBehaviour::WriteFile { .. } | ToolBehaviour::ListFiles { .. } | ToolBehaviour::SearchFiles { .. } => true,
        }
    }

    /// Every needed topic can be learnt from something.
    fn needs(&mut self, scenario: &Scenario, seen: &Facts) {
        if self.problems.incomplete {
            return;
        }
        let file = self.file;
        let turns = file.turns.iter().flat_map(|turn| &turn.value.needs);
        let intents = file.intents.iter().flat_map(|intent| &intent.value.needs);
        let made = file.topics.iter().filter_map(|topic| topic.value.made.as_ref()).flat_map(|made| &made.from);
        for need in turns.chain(intents).chain(made) {
            let Some(at) = scenario.topic(&need.value) else { continue };
            let is_made = scenario.topics.get(at).is_some_and(|topic| topic.made.is_some());
            if !is_made && !seen.iter().any(|(topic, _)| *topic == at) {
                let message = format!("nothing ever reveals the topic `{}`", need.value);
                let help = "no step of a plan, no message and no task shows a marker of it: add a step that reads where it stands";
                self.problems.add(need.at, message, help);
            }
        }
    }
}

/// The intents that the script hands to children.
fn scripted_delegations(scenario: &Scenario) -> BTreeSet<&str> {
    let calls = scenario.script.iter().flat_map(|turn| &turn.replies).flat_map(|reply| &reply.calls);
    calls.filter_map(|call| if let ScriptedCall::Delegate { intent, .. } = call { Some(intent.as_str()) } else { None }).collect()
}

/// The walk through all plans.
struct Walk {
    world: ScenarioWorld,
    seen: Facts,
    /// Intents whose plans were walked.
    done: BTreeSet<usize>,
}
