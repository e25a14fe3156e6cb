//! Whole runs through the engine.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::FutureExt;

use super::*;
use crate::engine::{Run, UserInput, run};
use crate::ledger::Outcome;
use crate::model::profile::FRONTIER;
use crate::scenario::sample::{intent, made, read, scenario, topic, turn};
use crate::setting::UserTime;
use crate::strategy::{Registry, RunContext};
use crate::tokens::{CountError, Meter, TokenCounter};

struct Bytes;

impl TokenCounter for Bytes {
    fn count(&self, text: &str) -> Result<u64, CountError> {
        Ok(text.len() as u64)
    }
    fn id(&self) -> &'static str {
        "bytes"
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
    world.world.files = [("list".to_owned(), "owners".to_owned()), ("owners".to_owned(), "By Team\n  Amber.".to_owned())]
        .into_iter()
        .collect::<BTreeMap<_, _>>()
        .into();
    world
}

fn play(world: &Scenario, strategy: &str, briefing: Briefing) -> Outcome {
    let strategy = Registry::builtin().parse(strategy).expect("the strategy is known")[0].build();
    let mut reader = Reader::new(Arc::new(world.clone()));
    reader.briefing = briefing;
    reader.hands_history_down = strategy.hands_history_down();
    let outcome = run(Run {
        strategy: &*strategy,
        agent: reader.start(0),
        context: RunContext { root: world.root.clone(), agents: world.agents.clone(), ..RunContext::default() },
        history: world.history.clone(),
        user: world.turns.iter().map(|turn| UserInput { when: turn.when, items: turn.items.clone() }).collect(),
        world: Box::new(world.world.clone()),
        meter: Meter::new(Arc::new(Bytes)),
        ceilings: world.ceilings,
        window: None,
        latency: FRONTIER,
        cache: None,
        children: None,
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
    let outcome = play(&world(), "inline", Briefing::Same);
    let note = format!("{STATED}DONE note: SQLite, Amber");
    assert_eq!(texts(&outcome), ["Looking at list.", "Looking at owners for owner.", &note, &note]);
    assert_eq!((outcome.threads.len(), outcome.rows.iter().map(|row| row.rescues + row.drift).sum::<u32>()), (1, 0));
}

#[test]
fn what_a_strategy_hands_down_decides_the_deliverable() {
    let check = |strategy: &str, briefing: Briefing, note: &str| {
        let outcome = play(&world(), strategy, briefing);
        let root = format!("{STATED}DONE note: {note}");
        let child = format!("Team Amber owns it.\nDONE note: {note}");
        let beside = "Looking at title of note for owner, note.";
        assert_eq!(texts(&outcome), [beside, &root, &root, "Looking at list.", "Looking at owners for owner.", &child]);
    };
    check("opencode", Briefing::Same, "guess, Amber");
    check("opencode", Briefing::Known, "SQLite, Amber");
    check("opencode", Briefing::Auto, "SQLite, Amber");
    check("full-copy", Briefing::Same, "SQLite, Amber");
}

#[test]
fn a_vague_task_is_found_in_the_history_or_not_at_all() {
    // With history the child goes by the user's turn, which holds the intent: on course, and it knows all the turn asks.
    let outcome = play(&world(), "full-copy", Briefing::Terse);
    let child = format!("{STATED}DONE note: SQLite, Amber");
    assert_eq!(texts(&outcome).last(), Some(&child));
    assert_eq!(outcome.rows.iter().map(|row| row.drift).sum::<u32>(), 0);
    // Without it the child finds no task, and the parent does the work.
    let outcome = play(&world(), "opencode", Briefing::Terse);
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
    let outcome = play(&world, "inline", Briefing::Same);
    // A turn of its own, without work of its own: the first turn's work is answered again with what is now known.
    let note = "They store it in Redis.\nTeam Amber owns it.\nDONE note: Redis, Amber";
    let first = "unknown: store\nTeam Amber owns it.\nDONE note: guess, Amber";
    assert_eq!(texts(&outcome), ["Looking at list.", "Looking at owners for owner.", first, note]);
}

#[test]
fn two_runs_are_equal() {
    let shown =
        |outcome: &Outcome| format!("{:?}{:?}", texts(outcome), outcome.rows.iter().map(|row| row.input.total()).collect::<Vec<_>>());
    for strategy in ["inline", "full-copy", "opencode", "opencode:background=true"] {
        let one = play(&world(), strategy, Briefing::Auto);
        assert_eq!(shown(&one), shown(&play(&world(), strategy, Briefing::Auto)));
    }
}

#[test]
fn in_the_background_the_turn_ends_and_a_notice_goes_on() {
    let outcome = play(&world(), "opencode:background=true", Briefing::Known);
    let root = format!("{STATED}DONE note: SQLite, Amber");
    let child = "Team Amber owns it.\nDONE note: SQLite, Amber";
    let begun = ["Looking at title of note for owner, note.", "Waiting for title of note."];
    assert_eq!(texts(&outcome), [begun[0], begun[1], &root, &root, "Looking at list.", "Looking at owners for owner.", child]);
}

#[test]
fn a_follow_up_continues_the_child_that_saw_it() {
    let mut world = world();
    world.topics.push(topic("age", &[("It is five years old.", "five", "five years")]));
    world.intents[0].follow_ups = vec![crate::scenario::FollowUp { topic: 3, task: "How old is it?".into() }];
    world.turns[1].work.needs = vec![3];
    Arc::make_mut(&mut world.world.files).insert("list".into(), "owners; five years".into());
    let outcome = play(&world, "opencode", Briefing::Same);
    let turns: Vec<_> = outcome.rows.iter().map(|row| (&*row.path, row.turn)).collect();
    let root = format!("{STATED}DONE note: guess, Amber");
    let asks = "Looking at title of note for age.";
    let age = "It is five years old.";
    assert_eq!(texts(&outcome)[1..4], [&root, asks, age]);
    assert_eq!(texts(&outcome).last().map(String::as_str), Some(age));
    assert_eq!((outcome.threads.len(), turns.last()), (2, Some(&("/", 2))));
    assert!(turns.contains(&("/1", 2)));
}

#[test]
fn built_in_scenarios_are_solved_by_reading() {
    let check = |name: &str, strategy: &str, fact: &str, threads: usize| {
        let world = crate::scenario::compile_builtin(name, crate::scenario::Size::Small, &Default::default());
        let outcome = play(&world.expect("it is built in").expect("it is valid"), strategy, Briefing::Same);
        assert_eq!(outcome.failure, None, "{name} {strategy}");
        assert!(texts(&outcome).iter().any(|text| text.contains(fact)), "{name} {strategy}: {:#?}", texts(&outcome));
        assert!(!outcome.answer().contains("unknown:"), "{name} {strategy}: {}", outcome.answer());
        assert_eq!(outcome.threads.len(), threads, "{name} {strategy}");
        assert_eq!(outcome.rows.iter().map(|row| row.rescues + row.drift).sum::<u32>(), 0, "{name} {strategy}");
    };
    for (strategy, threads) in [("inline", 1), ("full-copy", 2), ("opencode", 2), ("opencode:background=true", 2)] {
        check("auth-lookup", strategy, "Ed25519-signed token", threads);
        check("tiny-task", strategy, "port 9187", threads);
    }
}
