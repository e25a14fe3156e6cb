//! Rules 1 to 5: what is known, what is made, which steps are taken.

use super::*;
use crate::scenario::sample::{grouped, intent, made, read, scenario, topic, turn};
use crate::scenario::{Step, Topic};

/// A decision that was reversed, then one that was not.
fn topics() -> Vec<Topic> {
    vec![
        topic("store", &[("They store it in Redis.", "Redis", "in Redis"), ("They store it in SQLite.", "SQLite", "in SQLite")]),
        topic("owner", &[("Team Amber owns it.", "Amber", "Team Amber")]),
    ]
}

/// A child that needs both topics; its plan reads `a` for the first and `b` for the second.
fn child(plan: Vec<Step>) -> Bench {
    let find = intent("find", "find it all", &[0, 1], plan);
    Bench::new(scenario(topics(), vec![find], vec![turn("start here", &[], &[0])]), Protocol::Inline)
}

fn two_steps() -> Vec<Step> {
    vec![read("a", &[0]), read("b", &[1])]
}

#[test]
fn rule_1_the_newest_fact_by_order_not_by_position() {
    let bench = child(vec![]);
    let task = |text: &str| Thread::task(&format!("{text} Please find it all."));
    bench.check(&task("in SQLite, Team Amber, in Redis."), "They store it in SQLite.\nTeam Amber owns it.");
    bench.check(&task("in Redis."), "They store it in Redis.\nunknown: owner");
    // A superseded value triggers no exploring.
    child(two_steps()).check(&task("in Redis, Team Amber."), "They store it in Redis.\nTeam Amber owns it.");
}

#[test]
fn rule_2_markers_in_own_calls_labels_and_unknown_lines_show_nothing() {
    let bench = child(vec![]);
    let task = Thread::task("Please find it all.");
    let check = |thread: Thread, expect: &str| bench.check(&thread, expect);
    let none = "unknown: store\nunknown: owner";
    check(task.clone().makes("grep", r#"{"q":"in Redis"}"#, None).result(1, "No matches.", false), none);
    check(task.clone().reads("x", "unknown: whether Team Amber"), none);
    check(task.clone().reads("x", r#"{"line":"kept\nin Redis\n"}"#), "They store it in Redis.\nunknown: owner");
    // In the system prompt they do: here the agent's own says who owns it.
    let mut told = bench.clone();
    told.system = "You work for Team Amber.".into();
    told.check(&task, "unknown: store\nTeam Amber owns it.");
    // Never in tool schemas.
    let mut shown = bench.clone();
    shown.tools.push(ToolSpec::of_strings("in Redis", "Team Amber's tool: in Redis", &[]));
    shown.check(&task, none);
}

#[test]
fn rule_3_only_who_carries_an_intent_out_makes_its_deliverable() {
    let topics = vec![topics().remove(0), topics().remove(1), made("note", 0, &[0, 1])];
    let note = intent("note", "write the note", &[2], vec![]);
    let mut world = scenario(topics, vec![note], vec![turn("start here", &[], &[0])]);
    world.conduct.fallback = Fallback::GiveUp;
    let bench = Bench::new(world, Protocol::Fresh);
    bench.check(&Thread::task("in Redis. Please write the note."), "DONE note: Redis, guess");
    bench.check(&Thread::task("in SQLite, Team Amber. Please write the note."), "DONE note: SQLite, Amber");
    // What the child did not know, the parent's own memory cannot mend.
    let parent = Thread::user("in SQLite, Team Amber. Now start here.");
    bench.check(&parent.clone().delegated("note", "DONE note: guess, Amber"), "DONE note: guess, Amber");
    bench.check(&parent.clone().delegated("note", "I could not."), "unknown: note");
    bench.check(&parent.delegated("note", "DONE note: guess, Am"), "unknown: note");
}

#[test]
fn rule_4_steps_run_in_order_while_what_they_seek_is_unknown() {
    let bench = child(vec![read("list", &[]), read("a", &[0]), read("b", &[1])]);
    let task = Thread::task("Please find it all.");
    bench.check(&task, "Looking at list.\n> read {\"path\":\"list\"}");
    let listed = task.reads("list", "a, b");
    bench.check(&listed, "Looking at a for store.\n> read {\"path\":\"a\"}");
    let one = listed.clone().reads("a", "in Redis");
    bench.check(&one, "Looking at b for owner.\n> read {\"path\":\"b\"}");
    // A fact that turned up early saves its step.
    bench.check(&listed.reads("a", "in Redis, Team Amber"), "They store it in Redis.\nTeam Amber owns it.");
    bench.check(&one.reads("b", "nothing here"), "They store it in Redis.\nunknown: owner");
}

#[test]
fn rule_4_a_group_goes_whole() {
    let group = |step: Step| grouped(step, "g");
    let bench = child(vec![group(read("a", &[0])), group(read("b", &[1])), read("c", &[1])]);
    let both = "> read {\"path\":\"a\"}\n> read {\"path\":\"b\"}";
    bench.check(&Thread::task("Please find it all."), &format!("Looking at a, b for store, owner.\n{both}"));
    bench.check(&Thread::task("in Redis. Please find it all."), &format!("Looking at a, b for owner.\n{both}"));
    // What of it stands completed is left out.
    let one = Thread::task("Please find it all.").reads("a", "in Redis");
    bench.check(&one, "Looking at b for owner.\n> read {\"path\":\"b\"}");
    bench.check(&one.reads("b", "-"), "Looking at c for owner.\n> read {\"path\":\"c\"}");
}

#[test]
fn rule_4_what_stands_completed_is_not_repeated() {
    let bench = child(two_steps());
    let answer = "unknown: store\nunknown: owner";
    // Whoever made the call, however its arguments are spelt.
    let parent = Thread::user("Now start here.").makes("read", "{ \"path\" : \"a\" }", None).result(1, "nothing", false).reads("b", "-");
    bench.check(&parent.forked("Please find it all."), answer);
    // Without its result it does not stand completed.
    let open = Thread::user("Now start here.").makes("read", "{\"path\":\"a\"}", None);
    bench.check(&open.forked("Please find it all."), "Looking at a for store.\n> read {\"path\":\"a\"}");
    // Another tool or other arguments are another step.
    let other = Thread::task("Please find it all.").makes("cat", "{\"path\":\"a\"}", None).result(1, "-", false).reads("aa", "-");
    bench.check(&other, "Looking at a for store.\n> read {\"path\":\"a\"}");
}

#[test]
fn rule_4_a_failed_step_is_tried_once_more() {
    let bench = child(vec![read("a", &[0])]);
    let once = Thread::task("Please find it all.").fails_to_read("a");
    bench.check(&once, "Looking at a for store.\n> read {\"path\":\"a\"}");
    bench.check(&once.clone().fails_to_read("a"), "unknown: store\nunknown: owner");
    bench.check(&once.reads("a", "in Redis"), "They store it in Redis.\nunknown: owner");
}

#[test]
fn rule_4_a_tool_that_is_not_shown_is_not_called() {
    let mut bench = child(two_steps());
    bench.tools.clear();
    bench.check(&Thread::task("Please find it all."), "unknown: store\nunknown: owner");
}

#[test]
fn rule_5_the_root_delegates_what_it_knows_unless_told_otherwise() {
    let world = |skip_known: bool| {
        let find = intent("find", "find it all", &[0], two_steps());
        let mut world = scenario(topics(), vec![find], vec![turn("start here", &[1], &[0])]);
        world.conduct.skip_known = skip_known;
        Bench::new(world, Protocol::Fresh)
    };
    let knows = Thread::user("in Redis, Team Amber. Now start here.");
    let handed_out = "Looking at title of find for store.\n> task {\"to\":\"worker\",\"what\":\"Please find it all.\"} [find]";
    world(false).check(&knows, handed_out);
    // Its needs are its own and those of its intents.
    world(true).check(&knows, "Team Amber owns it.\nThey store it in Redis.");
    world(true).check(&Thread::user("Now start here."), handed_out);
    world(false).check(&knows.delegated("find", "in SQLite"), "Team Amber owns it.\nThey store it in SQLite.");
}

#[test]
fn rule_5_own_steps_come_before_delegations_and_share_a_message_with_their_group() {
    let mut find = intent("find", "find it all", &[0], vec![]);
    find.group = Some("g".into());
    let mut start = turn("start here", &[1], &[0]);
    start.work.plan = vec![read("x", &[1]), grouped(read("y", &[1]), "g")];
    let bench = Bench::new(scenario(topics(), vec![find], vec![start]), Protocol::Fresh);
    let begun = Thread::user("Now start here.");
    bench.check(&begun, "Looking at x for owner.\n> read {\"path\":\"x\"}");
    bench.check(
        &begun.reads("x", "-"),
        "Looking at y for owner. Looking at title of find for store.
         > read {\"path\":\"y\"}
         > task {\"to\":\"worker\",\"what\":\"Please find it all.\"} [find]",
    );
}

#[test]
fn rule_4_a_call_in_flight_stands_as_what_its_text_says_of_it() {
    use crate::strategy::{codex::fork::ABORTED, filter::PLACEHOLDER};
    let bench = child(vec![read("deed", &[]), read("a", &[0])]);
    let parent = |path: &str, text: &str| {
        let args = format!("{{\"path\":\"{path}\"}}");
        Thread::user("Now start here.").makes("read", &args, None).result(1, text, false).forked("Please find it all.")
    };
    let (deed, a) = ("Looking at deed.\n> read {\"path\":\"deed\"}", "Looking at a for store.\n> read {\"path\":\"a\"}");
    // Under way: what is done for itself is not done again, and what was to be learnt is asked for again.
    bench.check(&parent("deed", PLACEHOLDER), a);
    bench.check(&parent("a", PLACEHOLDER).reads("deed", "done"), a);
    // Aborted is as failed: once more, and no more than once.
    bench.check(&parent("deed", ABORTED), deed);
    bench.check(&parent("deed", ABORTED).fails_to_read("deed"), a);
    // Any other text is what the call gave.
    bench.check(&parent("deed", "done"), a);
}
