//! Facts on their way, worked out by hand.

use super::Facts;
use crate::ledger::{Failure, FailureKind, Outcome};
use crate::metrics::sample::{ROOT, Sample, call, delegating_call, meter, returned, wrote};
use crate::metrics::{Subject, Value, measure};
use crate::reason::Reason;
use crate::scenario::marker::MarkerIndex;
use crate::scenario::sample::{intent, made, read, scenario, topic, turn};
use crate::scenario::{FollowUp, Scenario};
use crate::strategy::{Splice, ThreadId};
use crate::transcript::{Body, CallKey, Item, Origin, Part, ToolCall};

const OLD: &str = "The port is 8080 here.";
const PORT: &str = "The port is 9090 now.";
const STORE: &str = "The store is sqlite.";
const COLOUR: &str = "The colour is green.";
const PLAN: &str = "DONE the plan: 9090";

/// The port was 8080, the store is sqlite, the colour is green; `first` needs port and store and can be asked for the
/// colour, `second` makes the plan of the port, `third` delegates `fourth`, which needs the colour. The first turn hands
/// out the first two, the second asks for the colour and the store.
fn world() -> Scenario {
    let port = topic("the port", &[(OLD, "8080", "port is 8080"), (PORT, "9090", "port is 9090")]);
    let store = topic("the store", &[(STORE, "sqlite", "store is sqlite")]);
    let colour = topic("the colour", &[(COLOUR, "green", "colour is green")]);
    let mut first = intent("first", "OPS-1", &[0, 1], vec![read("a", &[3])]);
    first.follow_ups = vec![FollowUp { topic: 3, task: "Which colour is it?".into() }];
    let mut third = intent("third", "OPS-3", &[], vec![]);
    third.work.delegates = vec![3];
    let intents = vec![first, intent("second", "OPS-2", &[2], vec![]), third, intent("fourth", "OPS-4", &[3], vec![])];
    let turns = vec![turn("ASK-1", &[0, 1, 2], &[0, 1]), turn("ASK-2", &[3, 1], &[])];
    scenario(vec![port, store, made("the plan", 1, &[0]), colour], intents, turns)
}

/// The same with a last turn that needs these topics and hands out these intents.
fn asking(needs: &[usize], delegates: &[usize]) -> Scenario {
    let mut world = world();
    world.turns = vec![turn("ASK-1", needs, delegates)];
    world
}

fn measured<const N: usize>(world: &Scenario, outcome: &Outcome, names: [&str; N]) -> [Result<Value, Reason>; N] {
    let (index, meter) = (MarkerIndex::new(world), meter());
    let facts = Ok(Facts::new(world, &index));
    let measured = measure(&Subject {
        outcome,
        scored: Err("not scored".into()),
        facts,
        children: Ok(()),
        prices: Err("unpriced".into()),
        no_cache: "no cache",
        child_prices: None,
        meter: &meter,
    });
    names.map(|name| measured.get(name))
}

fn counts<const N: usize>(world: &Scenario, outcome: &Outcome, names: [&str; N]) -> [u64; N] {
    measured(world, outcome, names).map(|value| match value {
        Ok(Value::Count(count)) => count,
        other => panic!("{other:?}"),
    })
}

fn survival(sample: &Sample) -> [u64; 4] {
    counts(&world(), &sample.outcome, ["survival.seen", "survival.returned", "survival.kept", "survival.answered"])
}

fn none(world: &Scenario, outcome: &Outcome, name: &str) -> String {
    match measured(world, outcome, [name]) {
        [Err(why)] => why.into_owned(),
        [Ok(value)] => panic!("{name}: {value:?}"),
    }
}

/// A child of an intent that has this before it in its one request, and what enters its parent.
fn child(sample: &mut Sample, parent: ThreadId, key: u32, intent: &str, seen: &str, entered: &str) -> ThreadId {
    let child = sample.open(parent, key, intent);
    sample.push(child, 5, Item::user(Origin::Task, seen));
    sample.send(child, 5, 1);
    sample.push(child, 5, wrote(entered));
    sample.push(parent, 5, returned(key, entered));
    child
}

/// The root's last request and its answer.
fn answer(sample: &mut Sample, text: &str) {
    sample.send(ROOT, 5, 1);
    sample.push(ROOT, 5, wrote(text));
}

// ---- survival ----------------------------------------------------------------------------------------------------------

#[test]
fn a_fact_survives_as_far_as_it_came() {
    #[track_caller]
    fn check(seen: &str, entered: &str, said: &str, expect: [u64; 4]) {
        let mut sample = Sample::new();
        child(&mut sample, ROOT, 1, "first", seen, entered);
        answer(&mut sample, said);
        assert_eq!(survival(&sample), expect, "{seen} | {entered} | {said}");
    }
    let both = &format!("{PORT} {STORE}");
    check(both, both, both, [2, 2, 2, 2]);
    check(both, both, PORT, [2, 2, 2, 1]);
    check(both, STORE, both, [2, 1, 1, 1]); // said by the root all the same, and not from this child
    check(both, "", "", [2, 0, 0, 0]);
    check(PORT, both, both, [1, 1, 1, 1]); // what the child did not see it did not bring
    check(OLD, OLD, OLD, [0, 0, 0, 0]); // superseded
    check(both, OLD, PORT, [2, 0, 0, 0]);
    check(both, r#"{"done":"The port is\n9090 now."}"#, both, [2, 1, 1, 1]); // escapes undone
    check("", "", "", [0, 0, 0, 0]);
}

#[test]
fn what_a_summary_took_from_the_root_is_not_kept() {
    let mut sample = Sample::new();
    child(&mut sample, ROOT, 1, "first", PORT, PORT);
    let length = sample.record(ROOT).length;
    let splice = Splice { at: 0, remove: length, items: vec![], keep: false };
    sample.send(ROOT, 5, 1).sent.splices = [splice].into();
    sample.push(ROOT, 5, wrote(PORT));
    assert_eq!(survival(&sample), [1, 1, 0, 0]);
}

#[test]
fn of_several_children_of_an_intent_the_best_counts() {
    let mut sample = Sample::new();
    child(&mut sample, ROOT, 1, "first", PORT, "");
    child(&mut sample, ROOT, 2, "first", "", PORT); // it guessed well, and saw nothing
    answer(&mut sample, PORT);
    assert_eq!(survival(&sample), [1, 0, 0, 0]);
    child(&mut sample, ROOT, 3, "first", PORT, PORT);
    answer(&mut sample, PORT);
    assert_eq!(survival(&sample), [1, 1, 1, 1]);
}

#[test]
fn a_deliverable_is_seen_by_what_it_is_made_of() {
    #[track_caller]
    fn check(seen: &str, entered: &str, expect: [u64; 4]) {
        let mut sample = Sample::new();
        child(&mut sample, ROOT, 1, "second", seen, entered);
        answer(&mut sample, entered);
        assert_eq!(survival(&sample), expect, "{seen} | {entered}");
    }
    check(PORT, PLAN, [1, 1, 1, 1]);
    check(PLAN, PLAN, [1, 1, 1, 1]);
    check(PORT, PORT, [1, 0, 0, 0]);
    check(OLD, "DONE the plan: 8080", [0, 0, 0, 0]);
    check("", "DONE the plan: guess", [0, 0, 0, 0]);
}

#[test]
fn a_fact_counts_once_an_intent_and_in_its_own_parent() {
    let mut sample = Sample::new();
    let third = sample.open(ROOT, 1, "third");
    child(&mut sample, third, 2, "fourth", COLOUR, COLOUR);
    sample.send(third, 5, 1);
    // The middle one does not pass it on.
    sample.push(ROOT, 5, returned(1, "It is done."));
    answer(&mut sample, COLOUR);
    assert_eq!(survival(&sample), [1, 1, 0, 0]);
    sample.push(ROOT, 5, Item::user(Origin::Delegated, COLOUR));
    answer(&mut sample, COLOUR);
    assert_eq!(survival(&sample), [1, 1, 1, 1]);
}

#[test]
fn a_failed_run_has_no_answer() {
    let mut sample = Sample::new();
    child(&mut sample, ROOT, 1, "first", PORT, PORT);
    answer(&mut sample, PORT);
    sample.outcome.failure = Some(Failure { kind: FailureKind::Limit, message: "stop".into() });
    assert_eq!(survival(&sample), [1, 1, 1, 0]);
}

#[test]
fn a_request_for_something_else_is_not_the_intent_s() {
    let mut sample = Sample::new();
    let one = child(&mut sample, ROOT, 1, "first", PORT, PORT);
    sample.push(one, 5, Item::user(Origin::Task, STORE));
    sample.send(one, 5, 1).aside = true;
    sample.send(one, 5, 1).intent = Some("fourth".into());
    answer(&mut sample, PORT);
    assert_eq!(survival(&sample), [1, 1, 1, 1]); // the store stood in neither of the intent's own requests
    sample.send(one, 5, 1).intent = None; // a turn that nobody's call opened goes on with it
    assert_eq!(survival(&sample), [2, 1, 1, 1]);
}

fn follow_up_call(key: u32) -> Item {
    let again = delegating_call(key, "first");
    let Body::Call(call) = again.body() else { panic!("a call") };
    Item::call(ToolCall { args: Part::text(r#"{"task":"Which colour is it?"}"#), ..call.clone() })
}

#[test]
fn what_a_follow_up_asks_for_is_needed_too() {
    let mut sample = Sample::new();
    let one = child(&mut sample, ROOT, 1, "first", COLOUR, PORT);
    answer(&mut sample, COLOUR);
    assert_eq!(survival(&sample), [0, 0, 0, 0]); // nobody had asked for the colour
    sample.push(ROOT, 5, follow_up_call(2));
    sample.delegate(ROOT, one, 2, "first", false);
    sample.push(ROOT, 5, returned(2, COLOUR));
    answer(&mut sample, COLOUR);
    assert_eq!(survival(&sample), [1, 1, 1, 1]);
}

#[test]
fn shares_and_prices_of_what_survived() {
    let mut sample = Sample::new();
    let all = &format!("{PORT} {STORE}");
    child(&mut sample, ROOT, 1, "first", all, all);
    child(&mut sample, ROOT, 2, "second", PORT, PLAN);
    answer(&mut sample, &format!("{PORT} {PLAN}"));
    let world = asking(&[0, 1, 2], &[0, 1]);
    let [share, amplification, per_fact] = measured(&world, &sample.outcome, ["survival", "amplification", "tokens.per_fact"]);
    assert_eq!(share, Ok(Value::Ratio(2.0 / 3.0)));
    // Three requests of 5 and 1; 21 and 19 bytes of statements.
    assert_eq!(amplification, Ok(Value::Ratio(18.0 / 40.0)));
    assert_eq!(per_fact, Ok(Value::Ratio(9.0)));
    // What two intents brought is one fact.
    child(&mut sample, ROOT, 3, "fourth", COLOUR, COLOUR);
    let mut twice = world.clone();
    twice.intents[3].work.needs = vec![0, 3];
    child(&mut sample, ROOT, 4, "fourth", PORT, PORT);
    answer(&mut sample, &format!("{PORT} {PLAN}"));
    let [answered] = counts(&twice, &sample.outcome, ["survival.answered"]);
    assert_eq!(answered, 3);
    assert_eq!(measured(&twice, &sample.outcome, ["amplification"]), [Ok(Value::Ratio(36.0 / 40.0))]);
}

#[test]
fn without_facts_there_is_no_figure_of_them() {
    let mut sample = Sample::new();
    answer(&mut sample, PORT);
    for name in ["survival.seen", "survival", "amplification"] {
        assert_eq!(none(&world(), &sample.outcome, name), "no child opened", "{name}");
    }
    child(&mut sample, ROOT, 1, "third", "", "");
    assert_eq!(none(&world(), &sample.outcome, "survival.kept"), "no delegated intent needs anything");
    child(&mut sample, ROOT, 2, "first", "", "");
    assert_eq!(none(&world(), &sample.outcome, "survival"), "survival.seen is 0");
    assert_eq!(none(&world(), &sample.outcome, "amplification"), "no fact that a child saw is in the final answer");
    assert_eq!(none(&world(), &sample.outcome, "tokens.per_fact"), "the final answer states no needed fact in its newest form");
    let mut bare = world();
    (bare.topics, bare.turns, bare.intents) = (vec![], vec![], vec![]);
    for name in ["survival.seen", "used", "followups.lost", "returns.stub", "tokens.per_fact", "returns.stale", "returns.invented"] {
        assert_eq!(none(&bare, &sample.outcome, name), "the scenario states no facts", "{name}");
    }
    assert_eq!(none(&bare, &sample.outcome, "returns.overlong"), "no limit on returns");
    assert_eq!(none(&asking(&[], &[]), &sample.outcome, "admitted"), "the final answer needs no topic");
}

// ---- uses --------------------------------------------------------------------------------------------------------------

/// used, ignored, stale, invented, admitted.
fn uses(world: &Scenario, sample: &Sample) -> [u64; 5] {
    counts(world, &sample.outcome, ["used", "ignored", "stale", "invented", "admitted"])
}

#[test]
fn a_needed_fact_is_used_ignored_stale_invented_or_admitted() {
    #[track_caller]
    fn check(topic: usize, visible: &str, said: &str, expect: [u64; 5]) {
        let mut sample = Sample::new();
        sample.push(ROOT, 5, Item::user(Origin::User, visible));
        answer(&mut sample, said);
        assert_eq!(uses(&asking(&[topic], &[]), &sample), expect, "{visible} | {said}");
    }
    check(0, PORT, PORT, [1, 0, 0, 0, 0]);
    check(0, PORT, "It is there.", [0, 1, 0, 0, 0]);
    check(0, PORT, "unknown: the port", [0, 1, 0, 0, 0]); // it could be seen
    check(0, PORT, OLD, [0, 0, 1, 0, 0]);
    check(0, OLD, OLD, [0, 0, 1, 0, 0]);
    check(0, PORT, &format!("{OLD} {PORT}"), [1, 0, 0, 0, 0]);
    check(0, "", OLD, [0, 0, 0, 1, 0]);
    check(0, "", PORT, [0, 0, 0, 1, 0]); // by luck
    check(0, "", "the port: 7070", [0, 0, 0, 1, 0]);
    check(0, PORT, "the port: 7070", [0, 1, 0, 0, 0]);
    check(0, "", "unknown: the port", [0, 0, 0, 0, 1]);
    check(0, OLD, "unknown: the port", [0, 0, 0, 0, 1]); // the newest could not be seen
    check(0, "", "It is there.", [0, 0, 0, 0, 0]); // silent: in none
    // A deliverable that nobody was given is the root's own to make.
    check(2, PORT, PLAN, [1, 0, 0, 0, 0]);
    check(2, PLAN, PLAN, [1, 0, 0, 0, 0]);
    check(2, PORT, PORT, [0, 1, 0, 0, 0]);
    check(2, PORT, "DONE the plan: 8080", [0, 0, 1, 0, 0]);
    check(2, "", "DONE the plan: 9090", [0, 0, 0, 1, 0]);
    check(2, "", "DONE the plan: guess", [0, 0, 0, 0, 1]);
    check(2, "", "unknown: the plan", [0, 0, 0, 0, 1]);
}

#[test]
fn a_deliverable_that_a_child_owes_is_not_there_by_its_sources() {
    #[track_caller]
    fn check(returned: &str, said: &str, expect: [u64; 5]) {
        let mut sample = Sample::new();
        sample.push(ROOT, 5, Item::user(Origin::User, PORT));
        child(&mut sample, ROOT, 1, "second", "", returned);
        answer(&mut sample, said);
        assert_eq!(uses(&asking(&[2], &[1]), &sample), expect, "{returned} | {said}");
    }
    check("DONE the plan: guess", "DONE the plan: guess", [0, 0, 0, 0, 1]);
    check("", "unknown: the plan", [0, 0, 0, 0, 1]);
    check("DONE the plan: guess", PLAN, [1, 0, 0, 0, 0]); // the root took it over
    check(PLAN, "unknown: the plan", [0, 1, 0, 0, 0]);
}

#[test]
fn the_final_answer_owes_what_its_turn_needs_and_hands_out() {
    let mut sample = Sample::new();
    answer(&mut sample, "");
    let said = |world: &Scenario, sample: &Sample| uses(world, sample).iter().sum::<u64>();
    sample.push(ROOT, 5, Item::user(Origin::User, format!("{PORT} {STORE} {COLOUR}")));
    answer(&mut sample, "It is there.");
    assert_eq!(said(&asking(&[3], &[0]), &sample), 3);
    assert_eq!(said(&asking(&[0], &[0]), &sample), 2); // each once
    let mut corrected = asking(&[3], &[0]);
    let mut correction = turn("", &[], &[]);
    correction.work.needs = vec![];
    corrected.turns.push(correction); // a turn that sets no work leaves what is owed
    assert_eq!(said(&corrected, &sample), 3);
    assert_eq!(said(&world(), &sample), 2); // the last turn that does
}

// ---- follow-ups --------------------------------------------------------------------------------------------------------

const CLASSES: [&str; 6] =
    ["followups.from_context", "followups.resumed", "followups.redelegated", "followups.self", "followups.lost", "followups.tokens"];

fn follow_ups(sample: &Sample) -> [u64; 6] {
    counts(&world(), &sample.outcome, CLASSES)
}

/// A first turn with a child that brought the store, at 6 tokens a request.
fn asked_again() -> (Sample, ThreadId) {
    let mut sample = Sample::new();
    sample.push(ROOT, 5, Item::user(Origin::User, "Now ASK-1."));
    sample.send(ROOT, 5, 1);
    let one = child(&mut sample, ROOT, 1, "first", COLOUR, STORE);
    answer(&mut sample, STORE);
    sample.push(ROOT, 5, Item::user(Origin::User, "Now ASK-2."));
    (sample, one)
}

#[test]
fn a_follow_up_that_nobody_takes_up_is_lost() {
    let (mut sample, _) = asked_again();
    assert_eq!(none(&world(), &sample.outcome, "followups.lost"), "the run ended before the turn that asks again");
    answer(&mut sample, "unknown: the colour");
    // The store stood there from the first turn, the colour nowhere; one request of 5 and 1.
    assert_eq!(follow_ups(&sample), [1, 0, 0, 0, 1, 6]);
}

#[test]
fn a_child_that_is_continued_brings_it() {
    let (mut sample, one) = asked_again();
    sample.send(ROOT, 10, 1);
    sample.push(ROOT, 5, follow_up_call(2));
    sample.delegate(ROOT, one, 2, "first", false);
    sample.send(one, 100, 2);
    sample.push(ROOT, 5, returned(2, COLOUR));
    sample.send(ROOT, 20, 3);
    assert_eq!(follow_ups(&sample), [1, 1, 0, 0, 0, 136]); // 11 + 102 + 23
}

#[test]
fn a_new_child_brings_it() {
    let (mut sample, _) = asked_again();
    sample.send(ROOT, 10, 1);
    sample.push(ROOT, 5, follow_up_call(2));
    let new = sample.open_behind(ROOT, 2, "first");
    sample.send(new, 100, 2);
    sample.push(ROOT, 5, returned(2, COLOUR));
    sample.send(ROOT, 20, 3).sent.splices = {
        // A ledger in front of everything tells the same once more.
        let items = vec![Item::user(Origin::Delegated, COLOUR)];
        [Splice { at: 0, remove: 0, items, keep: false }].into()
    };
    assert_eq!(follow_ups(&sample), [1, 0, 1, 0, 0, 136]);
}

#[test]
fn the_root_looks_for_itself() {
    let (mut sample, _) = asked_again();
    sample.send(ROOT, 10, 1);
    sample.push(ROOT, 5, call(2, "read", "{}"));
    sample.push(ROOT, 5, Item::result(CallKey(2), Origin::ToolResult, COLOUR, false));
    sample.send(ROOT, 20, 3);
    assert_eq!(follow_ups(&sample), [1, 0, 0, 1, 0, 34]);
}

#[test]
fn what_comes_late_and_unasked_stood_in_the_context() {
    let (mut sample, _) = asked_again();
    sample.send(ROOT, 10, 1);
    sample.push(ROOT, 5, Item::user(Origin::User, COLOUR));
    sample.send(ROOT, 20, 3);
    assert_eq!(follow_ups(&sample), [2, 0, 0, 0, 0, 34]);
}

#[test]
fn news_of_an_older_delegation_was_not_asked_for_either() {
    let (mut sample, _) = asked_again();
    let late = sample.record(ROOT).length;
    let log = sample.record(ROOT).log;
    // A second child was handed out before the turn began, and reports in it.
    sample.outcome.logs[log].items.insert(late - 1, delegating_call(2, "first"));
    sample.outcome.logs[log].tokens.insert(late - 1, 5);
    sample.record(ROOT).length += 1;
    sample.open_behind(ROOT, 2, "first");
    sample.send(ROOT, 10, 1);
    sample.push(ROOT, 5, returned(2, COLOUR));
    sample.send(ROOT, 20, 3);
    assert_eq!(follow_ups(&sample), [2, 0, 0, 0, 0, 34]);
}

#[test]
fn the_cost_ends_where_the_next_turn_begins() {
    let mut world = world();
    world.turns.push(turn("ASK-3", &[], &[]));
    let (mut sample, one) = asked_again();
    sample.send(ROOT, 10, 1);
    sample.send(one, 100, 2).aside = true; // whoever spends it, and for whatever
    sample.send(ROOT, 30, 1).aside = true;
    sample.push(ROOT, 5, Item::user(Origin::User, "Now ASK-3."));
    sample.send(ROOT, 1000, 1);
    assert_eq!(counts(&world, &sample.outcome, ["followups.tokens"]), [144]); // 11 + 102 + 31
}

#[test]
fn what_is_needed_before_a_delegation_or_brought_by_one_is_no_follow_up() {
    let mut world = world();
    let why = "no follow-up";
    let (mut sample, _) = asked_again();
    answer(&mut sample, STORE);
    let mut check = |delegates: [&[usize]; 2], needs: [&[usize]; 2], expect: Result<u64, &str>| {
        world.turns = vec![turn("ASK-1", needs[0], delegates[0]), turn("ASK-2", needs[1], delegates[1])];
        let [lost, known] = measured(&world, &sample.outcome, ["followups.lost", "followups.from_context"]);
        let sum = lost.and_then(|lost| Ok((lost.as_f64() + known?.as_f64()) as u64));
        assert_eq!(sum, expect.map_err(|why| why.to_owned().into()), "{delegates:?} {needs:?}");
    };
    check([&[0], &[]], [&[], &[1]], Ok(1));
    check([&[0], &[]], [&[], &[1, 2, 3]], Ok(3));
    check([&[0], &[1]], [&[], &[1, 2, 3]], Ok(2)); // a delegation of the turn itself is to bring the plan
    check([&[0], &[0]], [&[], &[1]], Err(why));
    check([&[0], &[]], [&[3], &[]], Err(why)); // needed by the turn that delegates
    check([&[], &[]], [&[3], &[3]], Err(why)); // nothing was delegated
    check([&[], &[0]], [&[], &[3]], Err(why)); // not before it
}
