//! A strategy is what it renders. Two that are coded differently and render the same requests give the same run, in every
//! random world and in every built-in scenario; two that differ in one text alone differ in what that text tells.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::engine::{Run, UserInput};
use crate::ledger::Outcome;
use crate::model::Model;
use crate::model::profile::FRONTIER;
use crate::model::reader::Reader;
use crate::scenario::{Fallback, Size, builtin_names, compile_builtin};
use crate::score::Scorer;
use crate::strategy::{
    Act, AssistantTurn, Call, Event, Order, ParentView, Registry, Route, RunContext, Scope, Session, Splice, Strategy, To, Turn, View,
};
use crate::transcript::{CallKey, Item, Means, Part, ToolCall};

use super::story::{bytes, play};
use super::worlds::{random_world, walk};

/// Worlds that each pair is played in.
const WORLDS: u64 = 48;

/// How the code behind a strategy differs from the strategy's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    /// Every decision is taken apart, put together anew, and written into a book.
    Rebuilt,
    /// As `Rebuilt`; where the original answers a call when its child's turn ends, the call waits, is asked, and gets the
    /// answer out of the book.
    Waits,
}

/// What a variant that renders something else does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slip {
    /// One blank more in a reply.
    Blank,
    /// A reply comes a millisecond later.
    Late,
    /// A tool's schema ends in a line break.
    Schema,
    /// Opening items stand in reverse.
    Opening,
    /// An answer that waits in the book is never given: seen only if the code does wait.
    Forgotten,
}

/// A strategy by other code, perhaps with a slip.
struct Recoded<'a> {
    strategy: &'a dyn Strategy,
    code: Code,
    slip: Option<Slip>,
}

impl Strategy for Recoded<'_> {
    fn id(&self) -> String {
        format!("recoded-{:?}@9", self.code)
    }
    fn hands_history_down(&self) -> bool {
        self.strategy.hands_history_down()
    }
    fn may_dangle(&self) -> bool {
        self.strategy.may_dangle()
    }
    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(RecodedSession {
            session: self.strategy.start(run),
            code: self.code,
            slip: self.slip,
            book: vec![],
            waiting: BTreeSet::new(),
            answers: BTreeMap::new(),
        })
    }
}

struct RecodedSession {
    session: Box<dyn Session>,
    code: Code,
    slip: Option<Slip>,
    /// What was decided, in words: state that the original does not have.
    book: Vec<String>,
    /// Calls that wait because of `Code::Waits`.
    waiting: BTreeSet<CallKey>,
    /// Their answers, once there are any.
    answers: BTreeMap<CallKey, Order>,
}

impl RecodedSession {
    fn rebuilt(&mut self, orders: Vec<Order>) -> Vec<Order> {
        self.book.push(format!("{orders:?}"));
        orders.into_iter().map(|order| self.order(order)).collect()
    }

    fn order(&self, order: Order) -> Order {
        match order {
            Order::Reply { call, text, more, failed, means, after_ms } => {
                let text = if self.slip == Some(Slip::Blank) { Part::from(format!("{} ", text.as_text())) } else { text };
                let after_ms = after_ms + u64::from(self.slip == Some(Slip::Late));
                Order::Reply { call, text, more, failed, means: means.to_vec(), after_ms }
            }
            Order::Put { to: To::New(new), mut items, when, by } => {
                if self.slip == Some(Slip::Opening) {
                    items.reverse();
                }
                Order::Put { to: To::New(new), items: items.to_vec(), when, by }
            }
            Order::Put { to, items, when, by } => Order::Put { to, items: items.to_vec(), when, by },
            Order::Wait { .. } | Order::Stop { .. } | Order::Write { .. } => order,
        }
    }
}

impl Session for RecodedSession {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        self.session.phrase(act).map(|call| Call { name: call.name.clone(), args: call.args.clone() })
    }

    fn view(&mut self, history: &[Item], at: &Scope<'_>) -> View {
        let view = self.session.view(history, at);
        self.book.push(format!("{} speaks", view.agent));
        let mut tools = view.tools.to_vec();
        if self.slip == Some(Slip::Schema) {
            for tool in &mut tools {
                tool.schema = Part::from(format!("{}\n", tool.schema.as_text()));
            }
        }
        let splices = view.splices.iter().map(|one| Splice { at: one.at, remove: one.remove, items: one.items.to_vec(), keep: one.keep });
        View { tools, splices: splices.collect(), ..view }
    }

    fn turn(&mut self, reply: AssistantTurn, history: &[Item], at: &Scope<'_>) -> Turn {
        let turn = self.session.turn(reply, history, at);
        self.book.push(turn.text.clone());
        Turn { calls: turn.calls.to_vec(), cut: turn.cut.to_vec(), ..turn }
    }

    fn route(&mut self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Route {
        let Route::Do(orders) = self.session.route(call, parent, at) else { return Route::Tool };
        Route::Do(self.rebuilt(orders))
    }

    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Waiting { call, .. } if self.waiting.contains(&call.key) => match self.answers.remove(&call.key) {
                Some(answer) if self.slip != Some(Slip::Forgotten) => {
                    self.waiting.remove(&call.key);
                    vec![answer]
                }
                _ => vec![],
            },
            event => {
                let opened = match &event {
                    Event::Opened { by: Some(call), child: Ok(_) } if self.code == Code::Waits => Some(call.key),
                    _ => None,
                };
                let told = self.session.deliver(event, at);
                let mut orders = Vec::new();
                for order in self.rebuilt(told) {
                    match order {
                        Order::Reply { call, .. } if self.waiting.contains(&call) => {
                            self.answers.insert(call, order);
                        }
                        order => orders.push(order),
                    }
                }
                if let Some(call) = opened {
                    self.waiting.insert(call);
                    // Far beyond the end of every run.
                    orders.push(Order::Wait { call, timeout_ms: 1 << 40 });
                }
                orders
            }
        }
    }
}

/// Every default row; the second: whether it leaves a call open until its child's turn ends.
fn rows() -> Vec<(Arc<dyn Strategy>, bool)> {
    let rows = Registry::builtin().default_rows();
    let waits = ["full-copy", "maf-dotnet", "maf-python", "opencode"];
    rows.into_iter().map(|choice| (choice.build(), waits.contains(&choice.id()))).collect()
}

/// What must be equal: all that a run left behind and, where the agent takes notes, all that it was asked.
fn in_world(seed: u64, strategy: &dyn Strategy) -> String {
    let (outcome, notes) = walk(&random_world(seed), strategy).unwrap_or_else(|why| panic!("world {seed}: {why}"));
    format!("{:?}\n{outcome:?}", notes.seen)
}

/// A built-in scenario, small, with the reader that gives up where a delegation brought nothing.
fn reader(name: &str) -> Reader {
    let scenario = compile_builtin(name, Size::Small, &BTreeMap::new());
    let scenario = scenario.and_then(Result::ok).unwrap_or_else(|| panic!("{name} compiles"));
    let mut reader = Reader::new(Arc::new(scenario));
    reader.fallback = Some(Fallback::GiveUp);
    reader
}

fn read(reader: &Reader, strategy: &dyn Strategy) -> Outcome {
    let scenario = reader.scenario();
    let mut reader = reader.clone();
    reader.hands_history_down = strategy.hands_history_down();
    let outcome = play(Run {
        strategy,
        agent: reader.start(0),
        context: RunContext { root: scenario.root.clone(), agents: scenario.agents.clone(), ..RunContext::default() },
        history: scenario.history.clone(),
        user: scenario.turns.iter().map(|turn| UserInput { when: turn.when, items: turn.items.clone() }).collect(),
        world: Box::new(scenario.world.clone()),
        meter: bytes(),
        ceilings: scenario.ceilings,
        window: None,
        latency: FRONTIER,
        cache: None,
        children: None,
    });
    outcome.unwrap_or_else(|why| panic!("{} under {}: {why}", scenario.id, strategy.id()))
}

#[test]
fn strategies_that_render_the_same_requests_give_the_same_run_in_random_worlds() {
    for (strategy, waits) in rows() {
        for seed in 0..WORLDS {
            let own = in_world(seed, &*strategy);
            for code in [Code::Rebuilt, Code::Waits].into_iter().filter(|&code| waits || code == Code::Rebuilt) {
                let recoded = Recoded { strategy: &*strategy, code, slip: None };
                assert_ne!(recoded.id(), strategy.id());
                assert!(in_world(seed, &recoded) == own, "world {seed}: {} is another run when it is {code:?}", strategy.id());
            }
        }
    }
}

#[test]
fn strategies_that_render_the_same_requests_give_the_reader_the_same_run() {
    for name in builtin_names() {
        let reader = reader(name);
        for (strategy, waits) in rows() {
            let own = format!("{:?}", read(&reader, &*strategy));
            for code in [Code::Rebuilt, Code::Waits].into_iter().filter(|&code| waits || code == Code::Rebuilt) {
                let again = read(&reader, &Recoded { strategy: &*strategy, code, slip: None });
                assert!(format!("{again:?}") == own, "{name}: {} is another run when it is {code:?}", strategy.id());
            }
        }
    }
}

/// Each slip is seen: by the reader in a scenario with children, and in random worlds.
#[test]
fn a_strategy_that_renders_one_thing_otherwise_gives_another_run() {
    let reader = reader("fan-out-3");
    let strategy = Registry::builtin().parse("full-copy").unwrap_or_default()[0].build();
    let anywhere = [Slip::Blank, Slip::Late, Slip::Schema, Slip::Opening].map(|slip| (Code::Rebuilt, slip));
    for (code, slip) in anywhere.into_iter().chain([(Code::Waits, Slip::Forgotten)]) {
        let slipped = Recoded { strategy: &*strategy, code, slip: Some(slip) };
        let differs = format!("{:?}", read(&reader, &slipped)) != format!("{:?}", read(&reader, &*strategy));
        assert!(differs, "the reader's run does not show {slip:?}");
        assert!((0..WORLDS).any(|seed| in_world(seed, &slipped) != in_world(seed, &*strategy)), "no world shows {slip:?}");
    }
}

/// What returns read like instead.
type Words = fn(&mut Vec<String>, &str) -> String;

/// A strategy whose returns are worded otherwise; all else is its own.
struct Reworded<'a> {
    strategy: &'a dyn Strategy,
    id: &'static str,
    words: Words,
}

impl Strategy for Reworded<'_> {
    fn id(&self) -> String {
        self.id.into()
    }
    fn hands_history_down(&self) -> bool {
        self.strategy.hands_history_down()
    }
    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(RewordedSession { session: self.strategy.start(run), words: self.words, returns: vec![] })
    }
}

struct RewordedSession {
    session: Box<dyn Session>,
    words: Words,
    /// Texts that the strategy would have returned so far.
    returns: Vec<String>,
}

impl Session for RewordedSession {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        self.session.phrase(act)
    }
    fn view(&mut self, history: &[Item], at: &Scope<'_>) -> View {
        self.session.view(history, at)
    }
    fn turn(&mut self, reply: AssistantTurn, history: &[Item], at: &Scope<'_>) -> Turn {
        self.session.turn(reply, history, at)
    }
    fn route(&mut self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Route {
        self.session.route(call, parent, at)
    }
    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        let mut orders = self.session.deliver(event, at);
        for order in &mut orders {
            if let Order::Reply { text, means, .. } = order
                && means.iter().any(|one| matches!(one, Means::Returned(_)))
            {
                *text = Part::from((self.words)(&mut self.returns, text.as_text()));
                // The new words name no child.
                *means = vec![Means::Returned(None)];
            }
        }
        orders
    }
}

/// The answer's share of what `fan-out-3` asks: three facts, each found by a child of its own.
fn quality(reader: &Reader, strategy: &dyn Strategy) -> f64 {
    let outcome = read(reader, strategy);
    assert_eq!((&outcome.failure, outcome.threads.len()), (&None, 4), "{}", strategy.id());
    Scorer::with_markers(reader.scenario().clone(), reader.index()).score(&outcome).quality.unwrap_or(f64::NAN)
}

/// Other words around what the child said (DeerFlow's) take nothing away and bring nothing.
const AROUND: Words = |_, text| format!("Task Succeeded. Result: {text}");
/// The same words without it.
const NOTHING: Words = |_, _| "Task Succeeded. Result: ".to_owned();
/// Whoever returns, it is what the first child said.
const FIRST: Words = |returns, text| {
    returns.push(text.to_owned());
    returns[0].clone()
};
/// One of the three facts is told wrongly.
const WRONG: Words = |_, text| text.replace("nine working days", "ten working days");

#[test]
fn swapping_the_text_of_a_return_swaps_the_result() {
    let reader = reader("fan-out-3");
    // Not DeerFlow: its ledger tells the parent a second time.
    for row in ["full-copy", "maf-python", "opencode"] {
        let strategy = Registry::builtin().parse(row).unwrap_or_default()[0].build();
        let check = |words: Words, expect: f64| {
            let got = quality(&reader, &Reworded { strategy: &*strategy, id: "reworded@1", words });
            assert!((got - expect).abs() < 1e-9, "{row}: {got}, not {expect}");
        };
        assert_eq!(quality(&reader, &*strategy), 1.0, "{row}");
        check(AROUND, 1.0);
        check(WRONG, 2.0 / 3.0);
        check(FIRST, 1.0 / 3.0);
        check(NOTHING, 0.0);
    }
}

/// Two strategies trade their texts, and with them their runs: the name that a strategy goes by stays behind.
#[test]
fn strategies_that_trade_their_texts_trade_their_runs() {
    let reader = reader("fan-out-3");
    let strategy = Registry::builtin().parse("opencode").unwrap_or_default()[0].build();
    let run = |id: &'static str, words: Words| format!("{:?}", read(&reader, &Reworded { strategy: &*strategy, id, words }));
    assert!(run("a", AROUND) == run("b", AROUND) && run("a", FIRST) == run("b", FIRST));
    assert!(run("a", AROUND) != run("a", FIRST) && run("b", AROUND) != run("b", FIRST));
}
