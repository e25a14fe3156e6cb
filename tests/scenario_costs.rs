//! What the built-in exploring scenarios must show, by a hand model of two ways of working: `inline`, where the root
//! reads everything itself, and an isolated child that returns a report. The model knows nothing of the engine or of any
//! strategy: it adds up requests.

use std::collections::BTreeMap;

use ctxbench::scenario::{Scenario, ScenarioWorld, Size, Step, Work, compile_builtin};
use ctxbench::setting::World;
use ctxbench::strategy::{AgentSpec, ToolSpec};
use ctxbench::tokens::{Encoding, Meter, counter};
use ctxbench::transcript::{CallKey, Item, Origin, Part, ToolCall};

fn compile(name: &str, size: Size, then_turns: Option<i64>) -> Scenario {
    let overrides: BTreeMap<String, i64> = then_turns.map(|turns| ("then_turns".to_owned(), turns)).into_iter().collect();
    compile_builtin(name, size, &overrides).expect("a built-in name").unwrap_or_else(|errors| panic!("{errors}"))
}

/// One thread: what its next request weighs, and all that it has sent and received.
struct Thread<'a> {
    meter: &'a Meter,
    context: u64,
    total: u64,
    requests: u32,
}

impl<'a> Thread<'a> {
    fn new(meter: &'a Meter, agent: &AgentSpec, more_tools: &[ToolSpec]) -> Thread<'a> {
        let system = agent.system.as_ref().map_or(0, |system| meter.system(system).expect("short"));
        let tools: u32 = agent.tools.iter().chain(more_tools).map(|tool| meter.tool(tool).expect("short")).sum();
        Thread { meter, context: u64::from(system + tools), total: 0, requests: 0 }
    }

    fn add(&mut self, item: &Item) {
        self.context += u64::from(self.meter.item(item).expect("short").tokens);
    }

    /// A request, and a reply of these items.
    fn exchange(&mut self, reply: &[Item]) {
        self.total += self.context;
        let before = self.context;
        reply.iter().for_each(|item| self.add(item));
        self.total += self.context - before;
        self.requests += 1;
    }

    /// Takes steps, those of one group in one message.
    fn steps(&mut self, plan: &[Step], world: &mut ScenarioWorld) {
        for group in plan.chunk_by(|a, b| a.parallel.is_some() && a.parallel == b.parallel) {
            let calls: Vec<ToolCall> = group.iter().map(|step| call(&step.tool, &step.args)).collect();
            let mut reply = vec![Item::assistant(None, format!("Looking at {} for it.", group[0].target))];
            reply.extend(calls.iter().cloned().map(Item::call));
            self.exchange(&reply);
            for call in &calls {
                let text: String = world.call(call).parts.iter().map(Part::as_text).collect();
                self.add(&Item::result(CallKey(0), Origin::ToolResult, text, false));
            }
        }
    }
}

fn call(name: &str, args: &str) -> ToolCall {
    ToolCall { key: CallKey(0), id: "call_1".into(), name: name.into(), args: Part::text(args), intent: None, recorded: None }
}

/// Total tokens of all threads, and the root's last context.
struct Cost {
    total: u64,
    parent: u64,
}

/// A report of an intent: its statements and padding of usual words.
fn report(scenario: &Scenario, work: &Work, words: u32) -> String {
    let statements: Vec<&str> =
        work.needs.iter().filter_map(|&topic| scenario.topics[topic].facts.last()).map(|fact| fact.statement.as_str()).collect();
    statements.join(" ") + &" several".repeat(words as usize)
}

fn cost(scenario: &Scenario, meter: &Meter, isolated: bool) -> Cost {
    let delegate = ToolSpec::of_strings(
        "delegate",
        "Hands a self-contained task to another agent. It has not seen this conversation, works on its own and answers with one report.",
        &[("agent", "Which agent should do it", true), ("title", "A few words on the task", true), ("task", "The whole task", true)],
    );
    let mut world = scenario.world.clone();
    let more = if isolated { vec![delegate] } else { vec![] };
    let mut root = Thread::new(meter, &scenario.agents[&scenario.root], &more);
    let mut children = 0;
    scenario.history.iter().for_each(|item| root.add(item));
    for turn in &scenario.turns {
        turn.items.iter().for_each(|item| root.add(item));
        root.steps(&turn.work.plan, &mut world);
        for intent in turn.work.delegates.iter().map(|&intent| &scenario.intents[intent]) {
            if !isolated {
                root.steps(&intent.work.plan, &mut world);
                continue;
            }
            let args = serde_json::json!({"agent": intent.agent, "title": intent.title, "task": intent.task}).to_string();
            root.exchange(&[Item::call(call("delegate", &args))]);
            let mut child = Thread::new(meter, &scenario.agents[&intent.agent], &[]);
            child.add(&Item::user(Origin::Task, intent.task.as_str()));
            child.steps(&intent.work.plan, &mut world);
            let report = report(scenario, &intent.work, intent.report.padding_words);
            child.exchange(&[Item::assistant(None, report.as_str())]);
            root.add(&Item::result(CallKey(0), Origin::Delegated, report, false));
            children += child.total;
        }
        root.exchange(&[Item::assistant(None, report(scenario, &turn.work, 0))]);
    }
    Cost { total: root.total + children, parent: root.context }
}

fn costs(name: &str, size: Size, then_turns: Option<i64>) -> (Cost, Cost) {
    let meter = Meter::new(counter(Encoding::default()));
    let scenario = compile(name, size, then_turns);
    (cost(&scenario, &meter, false), cost(&scenario, &meter, true))
}

/// The fewest turns after the answer with which the isolated child costs less in all.
fn crossing(name: &str, size: Size) -> i64 {
    let cheaper = |turns: &i64| {
        let (inline, isolated) = costs(name, size, Some(*turns));
        isolated.total < inline.total
    };
    (0..8).find(cheaper).unwrap_or_else(|| panic!("{name} {size:?} never crosses"))
}

#[test]
fn files_stay_out_of_the_parent_of_an_isolated_child() {
    for name in ["auth-lookup", "auth-lookup-parallel"] {
        let [small, medium, large] = Size::ALL.map(|size| costs(name, size, None));
        assert!(medium.0.parent > 2 * small.0.parent && large.0.parent > 2 * medium.0.parent, "{name}: inline grows with the files");
        for (_, isolated) in [&medium, &large] {
            assert_eq!(isolated.parent, small.1.parent, "{name}: an isolating parent sees none of them");
        }
        assert!(small.1.parent < small.0.parent);
    }
}

#[test]
fn inline_wins_at_first_and_an_isolated_child_later() {
    for size in Size::ALL {
        let (sequential, parallel) = (crossing("auth-lookup", size), crossing("auth-lookup-parallel", size));
        // With no turn to follow, the child's own prompt and its report are a loss.
        assert!(sequential > 0 && parallel > 0, "{size:?}: {sequential}, {parallel}");
        assert!(sequential <= parallel, "{size:?}: {sequential}, {parallel}");
    }
    assert_eq!((crossing("auth-lookup", Size::Small), crossing("auth-lookup-parallel", Size::Small)), (1, 2));
}

#[test]
fn a_task_of_one_step_is_not_worth_a_child() {
    for size in Size::ALL {
        let (inline, isolated) = costs("tiny-task", size, None);
        assert!(isolated.total > inline.total, "{size:?}: {} against {}", isolated.total, inline.total);
    }
}

#[test]
fn returns_are_as_long_as_real_ones() {
    for name in ["auth-lookup", "tiny-task"] {
        let scenario = compile(name, Size::Small, None);
        for intent in &scenario.intents {
            let report = report(&scenario, &intent.work, intent.report.padding_words);
            assert!((1000..=2200).contains(&report.len()), "{name}: {} characters", report.len());
        }
    }
}
