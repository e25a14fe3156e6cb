//! Rules 9 to 13: speaking a protocol, failure, follow-ups, and no protocol at all.

use super::*;
use crate::scenario::sample::{intent, made, read, scenario, topic, turn};
use crate::scenario::{FollowUp, OnRefusal};

/// Three intents of one topic each, found in the files `a`, `b`, `c`; one user turn that hands all of them out.
fn world(group: Option<&str>) -> Scenario {
    let fact = |label: &str, marker: &str| topic(label, &[(&format!("It is {marker}."), marker, marker)]);
    let topics = vec![fact("first", "Apricot"), fact("second", "Blueberry"), fact("third", "Cranberry")];
    let one = |id: &str, at: usize, path: &str| {
        let mut one = intent(id, &format!("look for the {id}"), &[at], vec![read(path, &[at])]);
        one.group = group.map(str::to_owned);
        one
    };
    let intents = vec![one("first", 0, "a"), one("second", 1, "b"), one("third", 2, "c")];
    scenario(topics, intents, vec![turn("gather all", &[], &[0, 1, 2])])
}

fn call_of(id: &str) -> String {
    format!("> task {{\"to\":\"worker\",\"what\":\"Please look for the {id}.\"}} [{id}]")
}

fn looking_at(id: &str) -> String {
    format!("Looking at title of {id} for {id}.")
}

fn handed_out(id: &str) -> String {
    format!("{}\n{}", looking_at(id), call_of(id))
}

const ALL: &str = "It is Apricot.\nIt is Blueberry.\nIt is Cranberry.";

fn started(name: &str) -> [Means; 1] {
    [Means::Started(Handle(name.into()))]
}

fn returned(name: &str) -> [Means; 1] {
    [Means::Returned(handle(name))]
}

/// A root that has handed out all three in one message, and was told the same of each.
fn all_started() -> Thread {
    let calls = Thread::user("Now gather all.").says("hm").delegates("first").delegates("second").delegates("third");
    calls.told(3, "id first", &started("first")).told(2, "id second", &started("second")).told(1, "id third", &started("third"))
}

#[test]
fn rule_9_a_group_goes_in_one_message_and_others_one_after_the_other() {
    let grouped = Bench::new(world(Some("g")), Protocol::Fresh);
    let sentences = ["first", "second", "third"].map(looking_at).join(" ");
    let calls = ["first", "second", "third"].map(call_of).join("\n");
    grouped.check(&Thread::user("Now gather all."), &format!("{sentences}\n{calls}"));
    let single = Bench::new(world(None), Protocol::Fresh);
    single.check(&Thread::user("Now gather all."), &handed_out("first"));
    let one = Thread::user("Now gather all.").delegated("first", "Apricot");
    single.check(&one, &handed_out("second"));
    let all = one.delegated("second", "Blueberry").delegated("third", "Cranberry");
    single.check(&all, ALL);
}

#[test]
fn rule_9_it_waits_for_all_that_was_started() {
    let bench = Bench::new(world(Some("g")), Protocol::Waiting);
    let threads = all_started();
    bench.check(&threads, "> wait {\"ids\":[\"first\",\"second\",\"third\"]}");
    let one = threads.clone().makes("wait", "{}", None).told(1, "second: Blueberry", &returned("second"));
    bench.check(&one, "> wait {\"ids\":[\"first\",\"third\"]}");
    let rest = one.makes("wait", "{}", None).told(
        1,
        "first: Apricot; third: Cranberry",
        &[&returned("first")[..], &returned("third")[..]].concat(),
    );
    bench.check(&rest, ALL);
    // A text that arrives twice counts once.
    bench.check(&rest.notice("first: Apricot", &returned("first")), ALL);
}

#[test]
fn rule_9_after_three_time_outs_it_answers_with_what_it_has() {
    let mut world = world(Some("g"));
    world.conduct.fallback = Fallback::Itself;
    let bench = Bench::new(world, Protocol::Waiting);
    let mut thread = all_started().makes("wait", "{}", None).told(1, "second: Blueberry", &returned("second"));
    for _ in 0..3 {
        bench.check(&thread, "> wait {\"ids\":[\"first\",\"third\"]}");
        thread = thread.makes("wait", "{}", None).told(1, "timed out", &[Means::TimedOut]);
    }
    bench.check(&thread, "unknown: first\nIt is Blueberry.\nunknown: third");
    // What reports later is heard.
    bench.check(&thread.notice("first: Apricot", &returned("first")), "It is Apricot.\nIt is Blueberry.\nunknown: third");
}

#[test]
fn rule_9_without_a_wait_it_ends_its_turn_and_goes_on_at_a_notice() {
    let bench = Bench::new(world(Some("g")), Protocol::Notices);
    let thread = all_started();
    bench.check(&thread, "Waiting for title of first, title of second, title of third.");
    let thread = thread.says("Waiting.").notice("first: Apricot", &returned("first"));
    bench.check(&thread, "Waiting for title of second, title of third.");
    let thread = thread.notice("second: Blueberry", &returned("second")).notice("third: Cranberry", &returned("third"));
    bench.check(&thread, ALL);
}

#[test]
fn rule_9_work_in_the_background_is_not_waited_for_before_the_rest() {
    let mut world = world(None);
    world.intents[1].background = true;
    let bench = Bench::new(world, Protocol::Waiting);
    let begun = Thread::user("Now gather all.");
    bench.check(&begun, &handed_out("second"));
    let one = begun.delegates("second").told(1, "id", &started("second"));
    bench.check(&one, &handed_out("first"));
    let two = one.delegates("first").told(1, "id", &started("first"));
    bench.check(&two, "> wait {\"ids\":[\"second\",\"first\"]}");
    let two = two.makes("wait", "{}", None).told(1, "first: Apricot", &returned("first"));
    bench.check(&two, &handed_out("third"));
    let three = two.delegated("third", "Cranberry");
    bench.check(&three, "> wait {\"ids\":[\"second\"]}");
}

#[test]
fn rule_10_a_refused_delegation_is_repeated_when_another_has_returned() {
    let world = |on_refusal: OnRefusal, fallback: Fallback| {
        let mut world = world(Some("g"));
        world.conduct.on_refusal = on_refusal;
        world.conduct.fallback = fallback;
        Bench::new(world, Protocol::Waiting)
    };
    let read_c = "Looking at c for third.\n> read {\"path\":\"c\"}\nrescues 1";
    let calls = Thread::user("Now gather all.").says("hm").delegates("first").delegates("second").delegates("third");
    let thread = calls.told(3, "id", &started("first")).told(2, "id", &started("second")).told(1, "full", &[Means::Refused]);
    let retry = world(OnRefusal::RetryAfterReturn, Fallback::Itself);
    retry.check(&thread, "> wait {\"ids\":[\"first\",\"second\"]}");
    let back = thread.clone().makes("wait", "{}", None).told(1, "second: Blueberry", &returned("second"));
    retry.check(&back, &handed_out("third"));
    // Refused again while the first still runs: wait again; then nothing runs any more.
    let again = back.delegates("third").told(1, "full", &[Means::Refused]);
    retry.check(&again, "> wait {\"ids\":[\"first\"]}");
    let none = again.makes("wait", "{}", None).told(1, "first: Apricot", &returned("first"));
    retry.check(&none, &handed_out("third"));
    let stays = none.delegates("third").told(1, "full", &[Means::Refused]);
    retry.check(&stays, read_c);
    let read = stays.reads("c", "Cranberry");
    retry.check(&read, ALL);
    world(OnRefusal::RetryAfterReturn, Fallback::GiveUp).check(&read, ALL);
    let give_up = world(OnRefusal::GiveUp, Fallback::Itself);
    give_up.check(&thread, "> wait {\"ids\":[\"first\",\"second\"]}");
    let both = thread.makes("wait", "{}", None).told(1, "Apricot Blueberry", &[&returned("first")[..], &returned("second")[..]].concat());
    give_up.check(&both, "It is Apricot.\nIt is Blueberry.\nunknown: third");
    world(OnRefusal::Itself, Fallback::GiveUp).check(&both, "Looking at c for third.\n> read {\"path\":\"c\"}");
}

#[test]
fn rule_10_what_is_handed_out_later_says_nothing_about_a_refusal() {
    let bench = Bench::new(world(None), Protocol::Fresh);
    let refused = Thread::user("Now gather all.").delegates("first").told(1, "full", &[Means::Refused]);
    bench.check(&refused, "Looking at a for first.\n> read {\"path\":\"a\"}\nrescues 1");
    let later = refused.reads("a", "-").delegated("second", "Blueberry").delegated("third", "Cranberry");
    bench.check(&later, "unknown: first\nIt is Blueberry.\nIt is Cranberry.");
}

#[test]
fn rule_10_a_call_that_was_cut_is_a_refusal() {
    let sentences = ["first", "second", "third"].map(looking_at).join(" ");
    let bench = |fallback: Fallback| {
        let mut world = world(Some("g"));
        world.conduct.fallback = fallback;
        Bench::new(world, Protocol::Fresh)
    };
    // Two of three were let through: the third goes once they are back.
    let thread = Thread::user("Now gather all.").says(&sentences).delegates("first").delegates("second");
    let thread = thread.told(2, "Apricot", &returned("first")).told(1, "Blueberry", &returned("second"));
    bench(Fallback::Itself).check(&thread, &handed_out("third"));
    // None was let through: nothing can return.
    let thread = thread.says(&looking_at("third")).notice("limit reached", &[]);
    bench(Fallback::Itself).check(&thread, "Looking at c for third.\n> read {\"path\":\"c\"}\nrescues 1");
    bench(Fallback::GiveUp).check(&thread, "It is Apricot.\nIt is Blueberry.\nunknown: third");
}

#[test]
fn rule_10_what_makes_a_fallback_and_what_does_not() {
    let mut world = world(None);
    world.turns[0].work.delegates = vec![0];
    world.intents[0].work.needs = vec![0, 1];
    world.intents[0].work.plan = vec![read("a", &[0]), read("b", &[1])];
    world.topics[0].facts.push(crate::scenario::Fact {
        id: "new".into(),
        statement: "It is Avocado.".into(),
        value: "Avocado".into(),
        markers: vec!["Avocado".into()],
    });
    let check = |back: Thread, fallback: &str, give_up: &str| {
        let mut bench = Bench::new(world.clone(), Protocol::Fresh);
        bench.check(&back, fallback);
        bench.reader.fallback = Some(Fallback::GiveUp);
        bench.check(&back, give_up);
    };
    let begun = || Thread::user("Now gather all.").delegates("first");
    let back = |text: &str| begun().told(1, text, &returned("x"));
    let (read_a, read_b) =
        ("Looking at a for first.\n> read {\"path\":\"a\"}\nrescues 1", "Looking at b for second.\n> read {\"path\":\"b\"}\nrescues 1");
    let nothing = "unknown: first\nunknown: second";
    check(begun().told(1, "it broke", &[Means::Failed(None)]), read_a, nothing);
    check(begun().told(1, "timed out", &[Means::Failed(handle("x"))]), read_a, nothing);
    check(back(""), read_a, nothing);
    check(back("I will look into it."), read_a, nothing);
    check(back("unknown: task"), read_a, nothing);
    check(back("unknown: first\nIt is Blueberry."), read_a, "unknown: first\nIt is Blueberry.");
    check(back("{\"r\":\"It is Apricot.\\nunknown: second\"}"), read_b, "It is Apricot.\nunknown: second");
    // Never on a stale or a partial value.
    check(back("Apricot Blueberry"), "It is Apricot.\nIt is Blueberry.", "It is Apricot.\nIt is Blueberry.");
    check(back("Apricot"), "It is Apricot.\nunknown: second", "It is Apricot.\nunknown: second");
    check(back("unknown: first, or Apricot. Blueberry"), "It is Apricot.\nIt is Blueberry.", "It is Apricot.\nIt is Blueberry.");
    // The work that was taken over is one rescue, whatever it takes.
    check(back("").reads("a", "Apricot"), "Looking at b for second.\n> read {\"path\":\"b\"}", "It is Apricot.\nunknown: second");
}

#[test]
fn rule_10_whoever_takes_over_makes_the_deliverable() {
    let mut world = world(None);
    world.topics.push(made("note", 0, &[0]));
    world.turns[0].work.delegates = vec![0];
    world.intents[0].work.needs = vec![3];
    let done = world.clone();
    let check = |fallback: Fallback, text: &str, expect: &str| {
        let mut bench = Bench::new(done.clone(), Protocol::Fresh);
        bench.reader.fallback = Some(fallback);
        bench.check(&Thread::user("Now gather all.").delegated("first", text).reads("a", "Apricot"), expect);
    };
    check(Fallback::Itself, "", "DONE note: Apricot");
    check(Fallback::GiveUp, "", "unknown: note");
    check(Fallback::Itself, "DONE note: guess", "DONE note: guess");
    // A guess alone is a value, of which no fallback comes. Where the work is taken over for another reason, the guess is
    // made again; a deliverable without one stands, stale or not.
    world.intents[0].work.needs = vec![0, 3];
    let takes_over = |world: &Scenario, fallback: Fallback, text: &str, expect: &str| {
        let back = Thread::user("Now gather all.").delegated("first", text).reads("a", "Apricot");
        let mut bench = Bench::new(world.clone(), Protocol::Fresh);
        bench.reader.fallback = Some(fallback);
        bench.check(&back, expect);
    };
    takes_over(&world, Fallback::Itself, "unknown: first\nDONE note: guess", "It is Apricot.\nDONE note: Apricot");
    takes_over(&world, Fallback::GiveUp, "unknown: first\nDONE note: guess", "It is Apricot.\nDONE note: guess");
    world.topics[0] = topic("first", &[("It was Acorn.", "Acorn", "Acorn"), ("It is Apricot.", "Apricot", "Apricot")]);
    world.intents[0].work.needs = vec![1, 3];
    takes_over(&world, Fallback::Itself, "unknown: second\nDONE note: Acorn", "unknown: second\nDONE note: Acorn");
    takes_over(&world, Fallback::Itself, "unknown: second\nDONE note: guess", "unknown: second\nDONE note: Apricot");
}

#[test]
fn rule_11_a_correction_is_sent_on_once_to_each_running_child() {
    let corrected = all_started().notice("third: Cranberry", &returned("third")).then_user("Not Apricot: Avocado.");
    let send = |child: &str| format!("> send {{\"id\":\"{child}\",\"wake\":false,\"what\":\"Not Apricot: Avocado.\"}}");
    let bench = Bench::new(world(Some("g")), Protocol::Waiting);
    bench.check(&corrected, &format!("{}\n{}", send("first"), send("second")));
    let args = |child: &str| json!({"id": child, "what": "Not Apricot: Avocado.", "wake": false}).to_string();
    let sent = corrected.clone().makes("send", &args("first"), None).makes("send", &args("second"), None);
    let sent = sent.told(2, "sent", &[]).told(1, "sent", &[]);
    bench.check(&sent, "> wait {\"ids\":[\"first\",\"second\"]}");
    // Where a running child cannot be spoken to, nothing is sent.
    Bench::new(world(Some("g")), Protocol::Blocking).check(&corrected, "Waiting for title of first, title of second.");
    // A user turn that sets work is no correction, and what came before the child started is none.
    let mut two = world(Some("g"));
    two.turns.push(turn("then rest", &[], &[]));
    Bench::new(two, Protocol::Waiting).check(&all_started().then_user("Now then rest."), "Done.");
    let before = Thread::user("Now gather all.").then_user("Be quick.").delegates("first").delegates("second").delegates("third");
    let before = before.told(3, "id", &started("first")).told(2, "id", &started("second")).told(1, "id", &started("third"));
    bench.check(&before, "> wait {\"ids\":[\"first\",\"second\",\"third\"]}");
}

/// One intent of one topic; its child also reads `d`, which tells of two more that the user asks for later.
fn follow_ups() -> Scenario {
    let mut world = world(None);
    world.intents.truncate(1);
    world.intents[0].work.plan = vec![read("a", &[0]), read("d", &[1, 2])];
    world.intents[0].follow_ups =
        vec![FollowUp { topic: 1, task: "Which one is second?".into() }, FollowUp { topic: 2, task: "Which one is third?".into() }];
    world.turns = vec![turn("gather all", &[], &[0]), turn("tell me more", &[1, 2], &[])];
    world
}

#[test]
fn rule_12_an_ended_child_is_continued_else_it_is_delegated_again_else_done_here() {
    let asked = |name: Option<Handle>| {
        let thread = Thread::user("Now gather all.").delegates("first").told(1, "It is Apricot.", &[Means::Returned(name)]);
        thread.says("It is Apricot.").then_user("Now tell me more.")
    };
    let check = |protocol: Protocol, thread: &Thread, expect: &str| Bench::new(follow_ups(), protocol).check(thread, expect);
    let sentence = "Looking at title of first for second, third.";
    let continued = format!("{sentence}\n> task {{\"id\":\"x\",\"what\":\"Which one is second?\\n\\nWhich one is third?\"}} [first]");
    check(Protocol::Blocking, &asked(handle("x")), &continued);
    let what = "Please look for the first.\\n\\nWhich one is second?\\n\\nWhich one is third?";
    let again = format!("{sentence}\n> task {{\"to\":\"worker\",\"what\":\"{what}\"}} [first]");
    check(Protocol::Blocking, &asked(None), &again);
    check(Protocol::Fresh, &asked(handle("x")), &again);
    let here = "Looking at d for second, third.\n> read {\"path\":\"d\"}";
    check(Protocol::Inline, &asked(handle("x")), here);
    // One topic known already: the other alone is asked for.
    let one = asked(handle("x")).then_user("Blueberry, by the way.");
    let third = "Looking at title of first for third.\n> task {\"id\":\"x\",\"what\":\"Which one is third?\"} [first]";
    check(Protocol::Blocking, &one, third);
    check(Protocol::Blocking, &one.then_user("And Cranberry."), "It is Blueberry.\nIt is Cranberry.");
}

#[test]
fn rule_12_at_most_one_act_a_topic() {
    let args = json!({"id": "x", "what": "Which one is second?\n\nWhich one is third?"}).to_string();
    let acted = |text: &str| {
        let thread =
            Thread::user("Now gather all.").delegated("first", "It is Apricot.").says("It is Apricot.").then_user("Now tell me more.");
        thread.makes("task", &args, Some("first")).told(1, text, &returned("first"))
    };
    let mut bench = Bench::new(follow_ups(), Protocol::Blocking);
    bench.check(&acted("It is Blueberry.\nIt is Cranberry."), "It is Blueberry.\nIt is Cranberry.");
    let lost = "unknown: second\nunknown: third";
    bench.check(&acted(lost), "Looking at d for second, third.\n> read {\"path\":\"d\"}\nrescues 1");
    // The source is gone: the detail is lost.
    let gone = acted(lost).fails_to_read("d").fails_to_read("d");
    bench.check(&gone, lost);
    bench.reader.fallback = Some(Fallback::GiveUp);
    bench.check(&acted(lost), lost);
}

#[test]
fn rule_12_in_the_turn_of_the_delegation_itself() {
    let mut world = follow_ups();
    world.turns[0].work.needs = vec![1];
    let bench = Bench::new(world, Protocol::Blocking);
    let back = Thread::user("Now gather all.").delegated("first", "It is Apricot.");
    let asks = "Looking at title of first for second.\n> task {\"id\":\"first\",\"what\":\"Which one is second?\"} [first]";
    bench.check(&back, asks);
    let args = json!({"id": "first", "what": "Which one is second?"}).to_string();
    let told = back.makes("task", &args, Some("first")).told(1, "It is Blueberry.", &returned("first"));
    bench.check(&told, "It is Blueberry.\nIt is Apricot.");
}

#[test]
fn rule_12_a_child_that_still_works_is_waited_for() {
    let thread = Thread::user("Now gather all.").delegates("first").told(1, "id", &started("first"));
    let thread = thread.says("Waiting.").then_user("Now tell me more.");
    Bench::new(follow_ups(), Protocol::Waiting).check(&thread, "> wait {\"ids\":[\"first\"]}");
    Bench::new(follow_ups(), Protocol::Notices).check(&thread, "Waiting for title of first.");
}

#[test]
fn rule_12_a_child_that_was_given_up_is_not_continued() {
    let mut thread = Thread::user("Now gather all.").delegates("first").told(1, "id", &started("first"));
    for _ in 0..3 {
        thread = thread.makes("wait", "{}", None).told(1, "timed out", &[Means::TimedOut]);
    }
    let what = "Please look for the first.\\n\\nWhich one is second?\\n\\nWhich one is third?";
    let again = format!("Looking at title of first for second, third.\n> task {{\"to\":\"worker\",\"what\":\"{what}\"}} [first]");
    Bench::new(follow_ups(), Protocol::Waiting).check(&thread.says("unknown: first").then_user("Now tell me more."), &again);
}

#[test]
fn rule_12_what_an_intent_of_the_turn_was_to_bring_is_not_asked_again() {
    let mut world = follow_ups();
    world.turns[0].work.needs = vec![0];
    world.conduct.fallback = Fallback::GiveUp;
    world.intents[0].follow_ups.push(FollowUp { topic: 0, task: "Which one is first?".into() });
    let back = Thread::user("Now gather all.").delegated("first", "unknown: first");
    Bench::new(world, Protocol::Blocking).check(&back, "unknown: first");
}

#[test]
fn each_task_is_work_of_its_own() {
    let mut world = world(None);
    world.intents[0].work = Work { delegates: vec![1], needs: vec![1], plan: vec![], ..world.intents[0].work.clone() };
    world.turns = vec![turn("gather one", &[], &[0]), turn("gather it again", &[], &[0])];
    let bench = Bench::new(world, Protocol::Fresh);
    let child = Thread::task("Please look for the first.").delegated("second", "Blueberry");
    bench.check(&child, "It is Blueberry.");
    bench.check(&child.says("It is Blueberry.").then_task("Again: please look for the first."), &handed_out("second"));
    let root = Thread::user("Now gather one.").delegated("first", "Blueberry");
    bench.check(&root, "It is Blueberry.");
    let sentence = "Looking at title of first for second.";
    let again = root.says("It is Blueberry.").then_user("Now gather it again.");
    bench.check(&again, &format!("{sentence}\n{}", call_of("first")));
}

#[test]
fn rule_12_the_child_answers_what_it_is_asked() {
    let bench = Bench::new(follow_ups(), Protocol::Inline);
    let worked = Thread::task("Please look for the first.").reads("a", "Apricot").reads("d", "Blueberry Cranberry").says("It is Apricot.");
    bench.check(&worked.clone().then_task("Which one is third?"), "It is Cranberry.");
    bench.check(&worked.then_task("Which one is second?\n\nWhich one is third?"), "It is Blueberry.\nIt is Cranberry.");
    // A new child takes the steps that seek what is asked, and no others.
    let fresh = Thread::task("Please look for the first.\n\nWhich one is second?");
    bench.check(&fresh, "Looking at d for second, third.\n> read {\"path\":\"d\"}");
    bench.check(&fresh.reads("d", "-"), "unknown: second");
}

#[test]
fn rule_13_without_a_protocol_the_plans_run_in_the_parent() {
    let mut world = world(Some("g"));
    world.topics.push(made("note", 1, &[0, 1]));
    world.intents[1].work.needs = vec![1, 3];
    let bench = Bench::new(world, Protocol::Inline);
    let thread = Thread::user("Now gather all.");
    bench.check(&thread, "Looking at a for first.\n> read {\"path\":\"a\"}");
    let thread = thread.reads("a", "Apricot");
    bench.check(&thread, "Looking at b for second.\n> read {\"path\":\"b\"}");
    let thread = thread.reads("b", "Blueberry");
    bench.check(&thread, "Looking at c for third.\n> read {\"path\":\"c\"}");
    bench.check(&thread.reads("c", "-"), "It is Apricot.\nIt is Blueberry.\nDONE note: Apricot, Blueberry\nunknown: third");
}

#[test]
fn rule_13_an_intent_that_the_protocol_cannot_say_is_done_here() {
    let mut world = world(None);
    world.intents[0].agent = "nobody".into();
    let bench = Bench::new(world, Protocol::Fresh);
    let speak = |act: &Act<'_>| match act {
        Act::Delegate(intent) if intent.agent == "nobody" => None,
        act => Protocol::Fresh.phrase(act),
    };
    let thread = Thread::user("Now gather all.");
    let reply = |thread: &Thread| {
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
            aside: false,
            tokens: 0,
            now_ms: 0,
            speak: &speak,
        };
        shown(&bench.reader.start(0).reply(&request).now_or_never().expect("ready").expect("a reply"))
    };
    assert_eq!(reply(&thread), "Looking at a for first.\n> read {\"path\":\"a\"}");
    assert_eq!(reply(&thread.reads("a", "Apricot")), handed_out("second"));
}

#[test]
fn a_hand_off_moves_the_work_here() {
    let bench = Bench::new(world(None), Protocol::Fresh);
    let moved = Thread::user("Now gather all.").delegates("first").told(1, "You go on.", &[Means::Moved]);
    bench.check(&moved, "Looking at a for first.\n> read {\"path\":\"a\"}");
    bench.check(&moved.reads("a", "Apricot"), &handed_out("second"));
}

#[test]
fn an_intent_can_hand_out_intents() {
    let mut world = world(None);
    world.intents[0].work.delegates = vec![1];
    world.intents[0].work.needs = vec![0, 1];
    world.turns[0].work.delegates = vec![0];
    let child = Thread::task("Please look for the first.").reads("a", "Apricot");
    Bench::new(world.clone(), Protocol::Fresh).check(&child, &handed_out("second"));
    Bench::new(world.clone(), Protocol::Fresh).check(&child.clone().delegated("second", "Blueberry"), "It is Apricot.\nIt is Blueberry.");
    Bench::new(world.clone(), Protocol::Inline).check(&child, "Looking at b for second.\n> read {\"path\":\"b\"}");
    // Done in the parent, both plans run there.
    world.intents[0].work.plan.clear();
    Bench::new(world, Protocol::Inline).check(&Thread::user("Now gather all."), "Looking at b for second.\n> read {\"path\":\"b\"}");
}

#[test]
fn children_that_delegate_themselves_again_come_to_an_end() {
    let mut world = world(None);
    world.intents[0].work.delegates = vec![0];
    let child = Thread::task("Please look for the first.").reads("a", "Apricot");
    let bench = Bench::new(world, Protocol::Fresh);
    bench.check(&child, &handed_out("first"));
    bench.check(&child.delegates("first").told(1, "too deep", &[Means::Refused]), "It is Apricot.\nrescues 1");
    let mut inline = bench.clone();
    inline.protocol = Protocol::Inline;
    inline.check(&Thread::user("Now gather all.").reads("a", "Apricot"), "Looking at b for second.\n> read {\"path\":\"b\"}");
}
