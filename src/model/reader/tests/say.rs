//! Rules 14 to 16: text beside calls, and answers.

use proptest::prelude::*;

use super::*;
use crate::scenario::sample::{intent, read, scenario, topic, turn};
use crate::scenario::{Ends, FactsAt, ReportForm};

fn world() -> Scenario {
    let topics = vec![
        topic("store", &[("They store it in Redis.", "Redis", "in Redis"), ("They store it in SQLite.", "SQLite", "in SQLite")]),
        topic("owner", &[("Team Amber owns it.", "Amber", "Team Amber")]),
        topic("port", &[("It listens on 8080.", "8080", "8080")]),
    ];
    let plan = vec![read("a", &[0]), read("b", &[1]), read("c", &[])];
    scenario(topics, vec![intent("find", "find it all", &[0, 1], plan)], vec![turn("start here", &[], &[0])])
}

#[test]
fn rule_14_findings_are_narrated_beside_the_next_call() {
    let check = |narrate: bool, thread: &Thread, expect: &str| {
        let mut world = world();
        world.conduct.narrate_findings = narrate;
        Bench::new(world, Protocol::Fresh).check(thread, expect);
    };
    let one = Thread::task("Please find it all.").says("Looking at a for store.").reads("a", "in Redis, at 8080");
    let call = "> read {\"path\":\"b\"}";
    check(false, &one, &format!("Looking at b for owner.\n{call}"));
    // The store matters to this work, the port does not.
    check(true, &one, &format!("Looking at b for owner. They store it in Redis.\n{call}"));
    // Known before is not learnt; a newer fact is.
    check(true, &Thread::task("in Redis. Please find it all.").reads("a", "in Redis"), &format!("Looking at b for owner.\n{call}"));
    check(true, &Thread::task("in SQLite. Please find it all.").reads("a", "in Redis"), &format!("Looking at b for owner.\n{call}"));
    let newer = Thread::task("in Redis. Please find it all.").reads("a", "in SQLite");
    check(true, &newer, &format!("Looking at b for owner. They store it in SQLite.\n{call}"));
    // What the user says is not narrated, nor what was learnt before the last reply.
    check(true, &Thread::task("Please find it all.").reads("a", "in Redis").reads("c", "-"), &format!("Looking at b for owner.\n{call}"));
    let said = Thread::task("Please find it all.").reads("a", "-").then_user("It is kept in Redis.");
    check(true, &said, &format!("Looking at b for owner.\n{call}"));
    // Beside a delegation too, of what the turn's own step found.
    let mut planned = world();
    planned.conduct.narrate_findings = true;
    planned.turns[0].work.plan = vec![read("x", &[2])];
    let bench = Bench::new(planned, Protocol::Fresh);
    let found = Thread::user("in Redis. Now start here.").reads("x", "port 8080");
    let expect = "Looking at title of find for store, owner. It listens on 8080.\n> task {\"to\":\"worker\",\"what\":\"Please find it all.\"} [find]";
    bench.check(&found, expect);
}

#[test]
fn rule_15_an_answer_says_a_line_for_each_need_and_what_its_form_adds() {
    let check = |form: ReportForm, seen: &str, expect: &str| {
        let mut world = world();
        world.intents[0].report = form;
        let thread = Thread::task("Please find it all.").reads("a", seen).reads("b", "-").reads("c", "-");
        Bench::new(world, Protocol::Fresh).check(&thread, expect);
    };
    let plain = ReportForm::default();
    check(plain.clone(), "Team Amber, 8080", "unknown: store\nTeam Amber owns it.");
    let also = ReportForm { also: vec![2, 0], evidence: true, ..plain };
    check(also.clone(), "Team Amber, 8080", "unknown: store\nTeam Amber owns it.\nIt listens on 8080.\nSeen: a\nSeen: b\nSeen: c");
    check(also, "in Redis", "They store it in Redis.\nunknown: owner\nSeen: a\nSeen: b\nSeen: c");
    // The form is the child's: the parent's answer has none of it.
    let mut world = world();
    world.intents[0].report = ReportForm { padding_words: 50, evidence: true, ..ReportForm::default() };
    let parent = Thread::user("Now start here.").delegated("find", "in Redis Team Amber");
    Bench::new(world, Protocol::Fresh).check(&parent, "They store it in Redis.\nTeam Amber owns it.");
    // Work that asks for nothing is answered all the same.
    let nothing = scenario(vec![], vec![], vec![turn("start here", &[], &[])]);
    Bench::new(nothing, Protocol::Fresh).check(&Thread::user("Now start here."), "Done.");
}

fn padded(words: u32, facts_at: FactsAt, seed: u64) -> Vec<String> {
    let mut world = world();
    world.intents[0].report = ReportForm { padding_words: words, facts_at, ..ReportForm::default() };
    let mut bench = Bench::new(world, Protocol::Inline);
    bench.seed = seed;
    let reply = bench.reply(&Thread::task("in Redis, Team Amber. Please find it all.").reads("c", "-"));
    reply.text.lines().map(str::to_owned).collect()
}

#[test]
fn rule_15_padding_has_its_words_its_place_and_its_seed() {
    let facts = ["They store it in Redis.", "Team Amber owns it."];
    let places = |lines: &[String]| facts.map(|fact| lines.iter().position(|line| line == fact).expect("it is stated"));
    let words =
        |lines: &[String]| lines.iter().filter(|line| !facts.contains(&line.as_str())).map(|line| line.split(' ').count()).sum::<usize>();
    for (at, place) in [(FactsAt::Head, 0), (FactsAt::Spread, 1), (FactsAt::Tail, 2)] {
        let lines = padded(200, at, 7);
        let padding = lines.len() - 2;
        assert_eq!(words(&lines), 200);
        let expect = [[0, 1], [0, padding.div_ceil(2) + 1], [padding, padding + 1]][place];
        assert_eq!(places(&lines), expect, "{lines:#?}");
    }
    assert_eq!(padded(1, FactsAt::Head, 7).len(), 3);
    assert_eq!(padded(90, FactsAt::Head, 7), padded(90, FactsAt::Head, 7));
    assert_ne!(padded(90, FactsAt::Head, 7), padded(90, FactsAt::Head, 8));
}

#[test]
fn rule_15_padding_never_says_anything() {
    let mut world = world();
    world.topics[2].facts[0].markers = vec!["Another THING".into()];
    world.topics[2].label = "whole place".into();
    world.turns[0].work.marker = "rather simple, still".into();
    let text = padding::sentences(&world, 5_000, 3, "x").join("\n").to_lowercase();
    for word in ["another", "thing", "whole", "place", "rather", "simple", "still"] {
        assert!(!text.split(|c: char| !c.is_alphabetic()).any(|said| said == word), "{word}");
    }
    assert!(text.contains("because"));
}

proptest! {
    /// Without deliverables a child states exactly the needs of which a marker was visible to it: what its answer scores
    /// is its coverage.
    #[test]
    fn rule_16_an_answer_states_what_was_visible(shown in proptest::collection::vec(0..5usize, 0..6), needs in proptest::collection::vec(0..3usize, 0..4)) {
        let markers = ["in Redis", "in SQLite", "Team Amber", "8080", "nothing"];
        let of = |topic: usize| [&[0, 1][..], &[2], &[3]][topic];
        let mut world = world();
        world.intents[0].work.needs = needs.clone();
        world.intents[0].work.plan.clear();
        let text: Vec<&str> = shown.iter().map(|at| markers[*at]).collect();
        let reply = Bench::new(world, Protocol::Inline).reply(&Thread::task(&format!("{}. Please find it all.", text.join(", "))));
        for (topic, label) in ["store", "owner", "port"].iter().enumerate() {
            let needed = needs.contains(&topic);
            let newest = of(topic).iter().rev().find(|fact| shown.contains(fact));
            let stated = of(topic).iter().rev().find(|fact| reply.text.contains(markers[**fact]));
            prop_assert_eq!(stated, newest.filter(|_| needed));
            prop_assert_eq!(reply.text.contains(&format!("unknown: {label}")), needed && newest.is_none());
        }
    }
}

#[test]
fn rule_15_a_child_may_end_without_an_answer() {
    let world = |ends: Ends| {
        let mut world = world();
        world.intents[0].report.ends = ends;
        world
    };
    let thread = |through: bool| {
        let thread = Thread::task("in Redis, Team Amber. Please find it all.");
        if through { thread.reads("c", "-") } else { thread }
    };
    for ends in [Ends::Empty, Ends::Preamble] {
        let bench = Bench::new(world(ends), Protocol::Fresh);
        // It does its work before.
        bench.check(&thread(false), "Looking at c.\n> read {\"path\":\"c\"}");
        let said = bench.reply(&thread(true)).text;
        assert!(!said.contains("Redis") && said.is_empty() == (ends == Ends::Empty), "{said}");
    }
    // One that never ends makes its last call again.
    let never = Bench::new(world(Ends::Never), Protocol::Fresh);
    never.check(&thread(true), "Looking at c.\n> read {\"path\":\"c\"}");
    never.check(&thread(true).reads("c", "-"), "Looking at c.\n> read {\"path\":\"c\"}");
    let broken = Bench::new(world(Ends::Error), Protocol::Fresh);
    let failure = broken.answer_to(&mut *broken.reader.start(0), &thread(true), None);
    assert!(failure.is_err_and(|why| !why.ends_run), "the turn fails, and not the run");
    // Whoever does the work in its place answers.
    let parent = Thread::user("in Redis, Team Amber. Now start here.");
    let mut inline = broken.clone();
    inline.protocol = Protocol::Inline;
    inline.check(&parent.reads("c", "-"), "They store it in Redis.\nTeam Amber owns it.");
}
