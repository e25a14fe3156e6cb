//! Whole runs through the engine.

use std::sync::Arc;

use futures_util::FutureExt;

use super::*;
use crate::engine::{Run, UserInput, run};
use crate::ledger::Outcome;
use crate::model::profile::FRONTIER;
use crate::scenario::sample::{intent, made, read, scenario, topic, turn};
use crate::setting::UserTime;
use crate::strategy::{Event, Inline, New, Order, ParentView, Route, RunContext, Scope, Session, Strategy, View};
use crate::tokens::{CountError, Meter, TokenCounter};
use crate::transcript::dangling;

struct Bytes;

impl TokenCounter for Bytes {
    fn count(&self, text: &str) -> Result<u64, CountError> {
        Ok(text.len() as u64)
    }
    fn id(&self) -> &'static str {
        "bytes"
    }
}

/// A blocking delegation for tests: one tool, a child that opens with its task alone or behind the parent's history.
struct Sample {
    history: bool,
}

struct SampleSession {
    run: RunContext,
    history: bool,
}

impl Strategy for Sample {
    fn id(&self) -> String {
        "sample@1".into()
    }
    fn hands_history_down(&self) -> bool {
        self.history
    }
    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(SampleSession { run: run.clone(), history: self.history })
    }
}

impl Session for SampleSession {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        match act {
            Act::Delegate(intent) => {
                Some(Call { name: "task".into(), args: json!({ "to": intent.agent, "what": intent.task }).to_string() })
            }
            _ => None,
        }
    }
    fn view(&mut self, _: &[Item], at: &Scope<'_>) -> View {
        let view = View::of(&at.me().agent, &self.run);
        if at.me().depth == 0 { view.tool(ToolSpec::of_strings("task", "Hands work out.", &[("what", "The work.", true)])) } else { view }
    }
    fn route(&mut self, call: &ToolCall, parent: ParentView<'_>, _: &Scope<'_>) -> Route {
        if call.name != "task" {
            return Route::Tool;
        }
        let args: serde_json::Value = serde_json::from_str(call.args.as_text()).unwrap_or_default();
        let mut items: Vec<Item> = Vec::new();
        if self.history {
            items.extend(parent.items.iter().map(Item::inherited));
            let open: Vec<_> = dangling(&items);
            items.retain(|item| !item.as_call().is_some_and(|call| open.contains(&Some(call.key))));
        }
        items.push(Item::user(Origin::Task, args["what"].as_str().unwrap_or_default()));
        Route::Do(vec![Order::open(call.key, New::agent("worker"), items)])
    }
    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => vec![Order::input(items, crate::strategy::When::Turn, at)],
            Event::Ended(report) => {
                let text = report.last_text().unwrap_or_default();
                report.by.map(|call| vec![Order::reply(call, text).meaning(Means::Returned(None))]).unwrap_or_default()
            }
            _ => vec![],
        }
    }
}

/// The user decides on a store, then changes the decision; a child writes a note on it and on what a file says.
fn world() -> Scenario {
    let topics = vec![
        topic("store", &[("They store it in Redis.", "Redis", "in Redis"), ("They store it in SQLite.", "SQLite", "in SQLite")]),
        topic("owner", &[("Team Amber owns it.", "Amber", "Team Amber")]),
        made("note", 0, &[0, 1]),
    ];
    let mut note = intent("note", "write the note", &[1, 2], vec![read("list", &[]), read("owners", &[1])]);
    note.known = vec![0];
    let mut world = scenario(topics, vec![note], vec![turn("prepare the release", &[0], &[0]), turn("sum it up", &[0, 1, 2], &[])]);
    world.turns[0].items =
        vec![Item::user(Origin::User, "We keep it in Redis."), Item::user(Origin::User, "No, in SQLite. Now prepare the release.")];
    world.world.files = [("list".to_owned(), "owners".to_owned()), ("owners".to_owned(), "By Team\n  Amber.".to_owned())].into();
    world
}

fn play(world: &Scenario, strategy: &dyn Strategy, briefing: Briefing) -> Outcome {
    let mut reader = Reader::new(Arc::new(world.clone()));
    reader.briefing = briefing;
    reader.hands_history_down = strategy.hands_history_down();
    let outcome = run(Run {
        strategy,
        agent: reader.start(0),
        context: RunContext { root: world.root.clone(), agents: world.agents.clone() },
        history: world.history.clone(),
        user: world.turns.iter().map(|turn| UserInput { when: turn.when, items: turn.items.clone() }).collect(),
        world: Box::new(world.world.clone()),
        meter: Meter::new(Arc::new(Bytes)),
        ceilings: world.ceilings,
        window: None,
        latency: FRONTIER,
    });
    outcome.now_or_never().expect("a virtual run is ready at once")
}

/// What each thread wrote, in order.
fn texts(outcome: &Outcome) -> Vec<String> {
    assert_eq!(outcome.failure, None);
    let own = |item: &&Item| item.origin == Origin::Own && item.role().is_some();
    let thread = |at: usize| outcome.history_of(ThreadId(at as u32)).iter().filter(own).map(Item::text).collect::<Vec<_>>();
    (0..outcome.threads.len()).flat_map(thread).collect()
}

const STATED: &str = "They store it in SQLite.\nTeam Amber owns it.\n";

#[test]
fn inline_does_everything_in_the_parent() {
    let outcome = play(&world(), &Inline, Briefing::Same);
    let note = format!("{STATED}DONE note: SQLite, Amber");
    assert_eq!(texts(&outcome), ["Looking at list.", "Looking at owners for owner.", &note, &note]);
    assert_eq!((outcome.threads.len(), outcome.rows.iter().map(|row| row.rescues + row.drift).sum::<u32>()), (1, 0));
}

#[test]
fn what_a_strategy_hands_down_decides_the_deliverable() {
    let check = |history: bool, briefing: Briefing, note: &str| {
        let outcome = play(&world(), &Sample { history }, briefing);
        let root = format!("{STATED}DONE note: {note}");
        let child = format!("Team Amber owns it.\nDONE note: {note}");
        let beside = "Looking at title of note for owner, note.";
        assert_eq!(texts(&outcome), [beside, &root, &root, "Looking at list.", "Looking at owners for owner.", &child]);
    };
    check(false, Briefing::Same, "guess, Amber");
    check(false, Briefing::Known, "SQLite, Amber");
    check(false, Briefing::Auto, "SQLite, Amber");
    check(true, Briefing::Same, "SQLite, Amber");
}

#[test]
fn a_vague_task_is_found_in_the_history_or_not_at_all() {
    // With history the child goes by the user's turn, which holds the intent: on course, and it knows all the turn asks.
    let outcome = play(&world(), &Sample { history: true }, Briefing::Terse);
    let child = format!("{STATED}DONE note: SQLite, Amber");
    assert_eq!(texts(&outcome).last(), Some(&child));
    assert_eq!(outcome.rows.iter().map(|row| row.drift).sum::<u32>(), 0);
    // Without it the child finds no task, and the parent does the work.
    let outcome = play(&world(), &Sample { history: false }, Briefing::Terse);
    assert_eq!(texts(&outcome).last().map(String::as_str), Some("unknown: task"));
    assert_eq!(outcome.answer(), child);
    assert_eq!(outcome.rows.iter().map(|row| row.rescues).sum::<u32>(), 1);
}

#[test]
fn a_correction_in_time_is_known_to_the_answer() {
    let mut world = world();
    world.turns[1].items = vec![Item::user(Origin::User, "No: in Redis. In SQLite it was.")];
    world.turns[1].work = Default::default();
    world.turns[1].when = UserTime::At(1);
    world.turns[0].items = vec![Item::user(Origin::User, "Now prepare the release.")];
    let outcome = play(&world, &Inline, Briefing::Same);
    // A turn of its own, without work of its own: the first turn's work is answered again with what is now known.
    let note = "They store it in Redis.\nTeam Amber owns it.\nDONE note: Redis, Amber";
    let first = "unknown: store\nTeam Amber owns it.\nDONE note: guess, Amber";
    assert_eq!(texts(&outcome), ["Looking at list.", "Looking at owners for owner.", first, note]);
}

#[test]
fn two_runs_are_equal() {
    let shown =
        |outcome: &Outcome| format!("{:?}{:?}", texts(outcome), outcome.rows.iter().map(|row| row.input.total()).collect::<Vec<_>>());
    for history in [false, true] {
        let one = play(&world(), &Sample { history }, Briefing::Auto);
        assert_eq!(shown(&one), shown(&play(&world(), &Sample { history }, Briefing::Auto)));
    }
}
