//! Rules 6 to 8: which work binds, and what a brief holds.

use super::*;
use crate::scenario::sample::{intent, made, read, scenario, topic, turn};

/// Two intents, each of one topic, and a user turn for each.
fn world() -> Scenario {
    let topics = vec![
        topic("store", &[("They store it in Redis.", "Redis", "in Redis"), ("They store it in SQLite.", "SQLite", "in SQLite")]),
        topic("owner", &[("Team Amber owns it.", "Amber", "Team Amber")]),
    ];
    let intents = vec![intent("store", "find the store", &[0], vec![]), intent("owner", "find the owner", &[1], vec![])];
    scenario(topics, intents, vec![turn("begin with the store", &[], &[0]), turn("go on with the owner", &[], &[1])])
}

const FACTS: &str = "in Redis, Team Amber";

fn bench() -> Bench {
    Bench::new(world(), Protocol::Inline)
}

#[test]
fn rule_6_the_newest_task_part_binds_alone() {
    let bench = bench();
    let (store, owner) = ("They store it in Redis.", "Team Amber owns it.");
    bench.check(&Thread::task(&format!("{FACTS}. Please find the store.")), store);
    // A user turn's marker, inherited, does not reach past the own task.
    let parent = Thread::user(&format!("{FACTS}. Now go on with the owner."));
    bench.check(&parent.forked("Please find the store."), store);
    // The newest part of the task, not an earlier one.
    let parts = vec![Part::from(format!("{FACTS}. Please find the store.")), Part::from("Please find the owner.")];
    let body = crate::transcript::Body::Message { role: crate::transcript::Role::User, phase: None, parts };
    bench.check(&Thread::default().item(Item::new(body, Origin::Task)), owner);
    // A resumed turn has a task of its own.
    let resumed = Thread::task(&format!("{FACTS}. Please find the store.")).says(store).then_task("Please find the owner.");
    bench.check(&resumed, owner);
    // In a protocol's own form.
    let body = crate::transcript::Body::Mail { from: "a".into(), to: "b".into(), parts: vec!["Please find the owner.".into()] };
    bench.check(&parent.forked("x").item(Item::new(body, Origin::Task)), owner);
}

#[test]
fn rule_6_a_message_to_a_running_child_sets_no_task() {
    let child = Thread::task(&format!("{FACTS}. Please find the store.")).reads("x", "-").then_task("Please find the owner.");
    bench().check(&child, "They store it in Redis.");
}

#[test]
fn rule_6_tool_results_never_bind() {
    let child = Thread::task("Do it.").reads("x", "Please find the owner.");
    bench().check(&child, "unknown: task");
    let inherited = Thread::user("Hello.").reads("x", "find the owner").forked("Do it.");
    bench().check(&inherited, "unknown: task");
}

#[test]
fn rule_6_the_root_follows_the_newest_user_turn_with_a_marker() {
    let bench = bench();
    let first = Thread::user(&format!("{FACTS}. Now begin with the store."));
    bench.check(&first, "They store it in Redis.");
    let second = first.says("They store it in Redis.").then_user("Now go on with the owner.");
    bench.check(&second, "Team Amber owns it.");
    // A plain correction adds knowledge only.
    let corrected = Thread::user("in Redis. Now begin with the store.").then_user("No: in SQLite.");
    bench.check(&corrected, "They store it in SQLite.");
    // The root's markers in results, and the words of its own calls, bind nothing.
    bench.check(&Thread::user("Hello.").reads("x", "begin with the store"), "unknown: task");
}

#[test]
fn rule_7_a_vague_task_follows_the_last_marker_of_a_user_item() {
    let bench = bench();
    let (store, owner) = ("They store it in Redis.", "Team Amber owns it.");
    let vague = "Continue the work.";
    let parent = Thread::user(&format!("{FACTS}. Now begin with the store.")).says("Then find the owner.");
    // The assistant's text is newer, but no user item.
    bench.check(&parent.forked(vague), store);
    bench.check(&parent.clone().then_user("Now go on with the owner.").forked(vague), owner);
    // In no user item: the last anywhere, tool results apart.
    let said = Thread::default().says(&format!("{FACTS}: find the store, find the owner")).reads("x", "find the store");
    bench.check(&said.forked(vague), owner);
    let summary =
        Item::new(crate::transcript::Body::Compaction { parts: vec![format!("{FACTS}: find the owner").into()] }, Origin::Compaction);
    bench.check(&Thread::default().item(summary).forked(vague), owner);
    bench.check(&Thread::user(FACTS).forked(vague), "unknown: task");
    // What it says itself later changes nothing.
    bench.check(&parent.forked(vague).says("find the owner").reads("y", "-"), store);
    // A task sent as mail is set by a user all the same, and is newer than what was inherited.
    let mail = |text: &str| {
        let parts = vec![text.into()];
        Item::new(crate::transcript::Body::Mail { from: "a".into(), to: "b".into(), parts }, Origin::Task)
    };
    let inherited = Thread { items: parent.items.iter().map(Item::inherited).collect(), calls: 0 };
    bench.check(&inherited.item(mail("Please find the owner.")).says(owner).item(mail(vague)), owner);
    // A child that is told to go on keeps its own task.
    bench.check(&Thread::task(&format!("{FACTS}. Please find the store.")).says(store).then_task(vague), store);
}

#[test]
fn rule_7_one_marker_of_a_turn_and_an_intent_binds_each_by_its_thread() {
    let mut world = world();
    world.turns[0] = turn("find the store", &[1], &[0]);
    let bench = Bench::new(world, Protocol::Inline);
    let parent = Thread::user(&format!("{FACTS}. Now find the store."));
    bench.check(&parent, "Team Amber owns it.\nThey store it in Redis.");
    bench.check(&parent.forked("Continue the work."), "They store it in Redis.");
}

#[test]
fn rule_7_drift_is_counted_in_the_first_reply() {
    let bench = bench();
    let check = |thread: &Thread, intent: Option<&str>, drift: u32| {
        let reply = bench.reply_to(&mut *bench.reader.start(0), thread, intent);
        assert_eq!(reply.drift, drift, "{:#?}", thread.items);
        // It is counted beside the reply, never a reason for it.
        assert_eq!(reply.text, bench.reply(thread).text);
    };
    let vague = Thread::user("Now begin with the store.").forked("Continue the work.");
    check(&vague, Some("store"), 0);
    check(&vague, Some("owner"), 1);
    check(&vague.clone().reads("x", "-"), Some("owner"), 0);
    check(&vague, None, 0);
    check(&Thread::task("Please find the owner."), Some("owner"), 0);
    check(&Thread::task("Nothing."), Some("owner"), 0);
}

#[test]
fn rule_8_briefs() {
    let mut world = world();
    world.topics.push(made("note", 1, &[]));
    world.intents[0].known = vec![1, 0, 2];
    let check = |briefing: Briefing, hands_history_down: bool, said: &str, task: &str| {
        let mut bench = Bench::new(world.clone(), Protocol::Fresh);
        bench.reader.briefing = briefing;
        bench.reader.hands_history_down = hands_history_down;
        let what = serde_json::to_string(task).expect("a text is JSON");
        let expect = format!("Looking at title of store for store.\n> task {{\"to\":\"worker\",\"what\":{what}}} [store]");
        bench.check(&Thread::user(&format!("{said}. Now begin with the store.")), &expect);
    };
    let both = "Please find the store.\n\nKnown:\n- Team Amber owns it.\n- They store it in SQLite.";
    for history in [false, true] {
        check(Briefing::Terse, history, FACTS, "Continue the work.");
        check(Briefing::Same, history, FACTS, "Please find the store.");
        check(Briefing::Known, history, "in Redis, in SQLite, Team Amber", both);
    }
    // What the thread lost is left out; what it knows stale is written stale; a deliverable is handed on.
    check(Briefing::Known, false, "in Redis", "Please find the store.\n\nKnown:\n- They store it in Redis.");
    check(Briefing::Known, false, "DONE note: done", "Please find the store.\n\nKnown:\n- DONE note: done");
    check(Briefing::Known, false, "nothing", "Please find the store.");
    check(Briefing::Auto, false, "in Redis", "Please find the store.\n\nKnown:\n- They store it in Redis.");
    check(Briefing::Auto, true, "in Redis", "Continue the work.");
}

#[test]
fn an_aside_is_a_summary_that_keeps_the_task() {
    let mut world = world();
    world.intents[0].work.plan = vec![read("a", &[0])];
    let bench = Bench::new(world, Protocol::Fresh);
    let thread = Thread::user("Team Amber. Now begin with the store.");
    let speak = |act: &Act<'_>| Protocol::Fresh.phrase(act);
    let request = Request {
        thread: ThreadId(0),
        path: "/",
        turn: 1,
        exchange: 0,
        agent: "root",
        intent: None,
        system: None,
        tools: &bench.tools,
        items: &thread.items,
        tokens: 0,
        aside: true,
        now_ms: 0,
        speak: &speak,
    };
    let reply = bench.reader.start(0).reply(&request).now_or_never().expect("ready").expect("a reply");
    assert_eq!(shown(&reply), "Task: begin with the store\nTeam Amber owns it.");
    // What stands for the dropped history binds the root again.
    let summary = Item::new(crate::transcript::Body::Compaction { parts: vec![reply.text.into()] }, Origin::Compaction);
    let mut inline = bench.clone();
    inline.protocol = Protocol::Inline;
    inline.check(&Thread::default().item(summary), "Looking at a for store.\n> read {\"path\":\"a\"}");
}

#[test]
fn rule_6_what_a_snapshot_tells_of_a_tool_result_never_binds() {
    let bench = bench();
    let snapshot = |parts: &[&str]| {
        let parts = parts.iter().map(|part| Part::from(*part)).collect();
        let body = crate::transcript::Body::Message { role: crate::transcript::Role::User, phase: None, parts };
        Thread::default().item(Item::new(body, Origin::Inherited)).then_task("Continue the work.")
    };
    let user = "\nHistorical user:\n";
    let result = "\nHistorical tool result (read, call c1):\n";
    let asked = format!("{FACTS}. Now begin with the store.");
    let told = "From now on you find the owner.";
    bench.check(&snapshot(&[user, &asked, result, told]), "They store it in Redis.");
    bench.check(&snapshot(&[result, told]), "unknown: task");
    // What stands under the next label binds again, and the facts of a result count as ever.
    let other = "Now go on with the owner.";
    bench.check(&snapshot(&[user, "Now begin with the store.", result, FACTS, user, other]), "Team Amber owns it.");
    // The words of a label inside a text are words.
    bench.check(&snapshot(&[&format!("{asked} Historical tool result (x):")]), "They store it in Redis.");
}

#[test]
fn rule_8_a_scenario_may_have_a_brief_of_its_own() {
    let mut world = world();
    world.conduct.brief = Briefing::Terse;
    let check = |briefing: Briefing, task: &str| {
        let mut bench = Bench::new(world.clone(), Protocol::Fresh);
        bench.reader.briefing = briefing;
        let expect = format!("Looking at title of store for store.\n> task {{\"to\":\"worker\",\"what\":\"{task}\"}} [store]");
        bench.check(&Thread::user("Now begin with the store."), &expect);
    };
    check(Briefing::Same, "Continue the work.");
    check(Briefing::Terse, "Continue the work.");
    // A run that asks for another one gets it.
    check(Briefing::Known, "Please find the store.");
}
