use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

use super::*;
use crate::scenario::sample::{intent, made, scenario, topic, turn};
use crate::transcript::{CallKey, Means, ToolCall};

/// 0 framework (two facts), 1 owner (one fact), 2 report (made of both).
fn sample() -> Scenario {
    let framework =
        topic("test framework", &[("The tests use unittest.", "unittest", "unittest"), ("The tests use pytest.", "pytest", "pytest")]);
    let owner = topic("owner of pytest.ini", &[("Team Amber owns it.", "Amber", "Team Amber")]);
    let mut find = intent("find", "find the framework", &[0], vec![]);
    find.follow_ups = vec![super::super::FollowUp { topic: 1, task: "And who \"owns\"\nit? find the framework".into() }];
    scenario(vec![framework, owner, made("summary", 0, &[0, 1])], vec![find], vec![turn("sort out the tests", &[0], &[0])])
}

fn scan(text: &str) -> Found {
    MarkerIndex::new(&sample()).scan(text)
}

#[test]
fn facts_stand_in_the_plain_and_in_the_decoded_text() {
    let check = |text: &str, facts: &[(usize, usize)]| assert_eq!(scan(text).facts, facts, "{text:?}");
    check("They use pytest.", &[(0, 1)]);
    check("pytest, once unittest", &[(0, 0), (0, 1)]);
    // Case, and words that only hold a marker.
    check("Pytest, pytests, xpytest, py test, pytest_x", &[]);
    check("(pytest) pytest", &[(0, 1)]);
    // White space, line breaks between the words of a marker.
    check("by Team \t\r\n  Amber!", &[(1, 0)]);
    check("by Team\u{a0}Amber", &[(1, 0)]);
    // JSON: here `n` stands directly before the marker until the escape is undone.
    check(r#"{"out":"line\npytest\n"}"#, &[(0, 1)]);
    check(r#"{"out":"{\"in\":\"a\\npytest\"}"}"#, &[(0, 1)]);
    check(r#""Team\nAmber""#, &[(1, 0)]);
    check(r#""\u0070ytest""#, &[(0, 1)]);
    check("&lt;b&gt;pytest&lt;/b&gt;", &[(0, 1)]);
    check("&amp;lt;b&amp;gt;Team Amber", &[(1, 0)]);
    // Broken escapes are text.
    check(r#"\u00 \ud83d \ud83dx & &l pytest \"#, &[(0, 1)]);
}

#[test]
fn labels_and_unknown_lines_show_nothing() {
    let check = |text: &str, facts: &[(usize, usize)], unknown: &[usize]| {
        let found = scan(text);
        assert_eq!((&*found.facts, &*found.unknown), (facts, unknown), "{text:?}");
    };
    check("Looking at x for owner of pytest.ini.", &[], &[]);
    check("the owner of pytest.inix", &[(0, 1)], &[]);
    check("unknown: owner of pytest.ini", &[], &[1]);
    check("unknown: test framework\nTeam Amber", &[(1, 0)], &[0]);
    // Joined to one line, the rest still counts.
    check("unknown: test framework Team Amber", &[(1, 0)], &[0]);
    check(r#"{"r":"unknown: test framework\nTeam Amber"}"#, &[(1, 0)], &[0]);
    // A line that names no label says nothing at all, wherever the same words stand before it.
    check("  unknown: whether pytest", &[], &[]);
    check("not unknown: pytest\nunknown: pytest", &[(0, 1)], &[]);
    check("unknown: x\nunknown: pytest\nTeam Amber", &[(1, 0)], &[]);
    check("an unknown: pytest", &[(0, 1)], &[]);
    let task = |text: &str, expect: bool| assert_eq!(scan(text).unknown_task, expect, "{text:?}");
    task("unknown: task", true);
    task("<r>unknown: task</r>", true);
    task("unknown: tasks", false);
    task("unknown: test framework", false);
}

#[test]
fn deliverables_are_read_back_whole_or_not_at_all() {
    let check = |text: &str, expect: Option<&[Option<usize>]>| {
        let made = scan(text).made;
        assert_eq!(made.first().map(|(topic, values)| (*topic, &**values)), expect.map(|values| (2, values)), "{text:?}");
    };
    check("DONE summary: pytest, Amber", Some(&[Some(1), Some(0)]));
    check("DONE summary: unittest, guess\nmore", Some(&[Some(0), None]));
    check(r#"{"r":"DONE summary: guess, guess"}"#, Some(&[None, None]));
    check(r#"["DONE\nsummary:\tpytest, Amber"]"#, Some(&[Some(1), Some(0)]));
    check("DONE summary: pytest, Amb", None);
    check("DONE summary: pytest", None);
    check("DONE summary: pytest, Ambers", None);
    check("done summary: pytest, Amber", None);
    // The last complete one stands.
    check("DONE summary: guess, guess\nDONE summary: pytest, guess DONE summary: py", Some(&[Some(1), None]));
    assert_eq!(deliverable(&sample(), 2, &[Some(1), None]), "DONE summary: pytest, guess");
}

#[test]
fn a_deliverable_of_nothing_is_done() {
    let world = scenario(vec![made("cleanup", 0, &[])], vec![], vec![]);
    assert_eq!(deliverable(&world, 0, &[]), "DONE cleanup: done");
    assert_eq!(MarkerIndex::new(&world).scan("DONE cleanup: done").made, [(0, vec![])]);
}

#[test]
fn task_markers_stand_in_order_and_the_longer_one_wins() {
    let check = |text: &str, tasks: &[Task]| assert_eq!(scan(text).tasks, tasks, "{text:?}");
    check("Now sort out the tests: find the framework.", &[Task::Turn(0), Task::Intent(0)]);
    check("find the framework, then sort out the tests", &[Task::Intent(0), Task::Turn(0)]);
    // A follow-up is bound by its whole text, in which the intent's marker does not count.
    check("And who \"owns\" it? find the framework", &[Task::FollowUp(0, 0)]);
    check(r#"{"prompt":"And who \"owns\"\nit? find the framework"}"#, &[Task::Intent(0), Task::FollowUp(0, 0)]);
}

#[test]
fn words_end_where_their_script_says() {
    let world = scenario(vec![topic("kind", &[("令牌是JWT令牌。", "JWT", "JWT令牌"), ("Café Zoë.", "zoe", "Café Zoë")])], vec![], vec![]);
    let index = MarkerIndex::new(&world);
    let check = |text: &str, facts: &[(usize, usize)]| assert_eq!(index.scan(text).facts, facts, "{text:?}");
    check("系统使用JWT令牌认证", &[(0, 0)]);
    check("xJWT令牌", &[]);
    check("\"\\u7cfbJWT\\u4ee4\\u724c\"", &[(0, 0)]);
    // Decomposed text is composed first; a further accent makes another word.
    check("Cafe\u{301} Zoe\u{308}!", &[(0, 1)]);
    check("Cafe\u{301} Zoe\u{308}\u{331}", &[]);
}

#[test]
fn only_what_the_thread_was_shown_counts() {
    let world = sample();
    let index = MarkerIndex::new(&world);
    let call = |text: &str| {
        let args = Part::text(serde_json::json!({ "q": text }).to_string());
        Item::call(ToolCall { key: CallKey(0), id: String::new(), name: "grep".into(), args, intent: None, recorded: None })
    };
    let check = |system: Option<&str>, items: Vec<Item>, framework: Option<usize>| {
        let system = system.map(Part::from);
        assert_eq!(index.visible(system.as_ref(), &items).fact(0), framework, "{items:?}");
    };
    check(None, vec![], None);
    check(Some("pytest"), vec![], Some(1));
    check(None, vec![call("pytest")], None);
    check(None, vec![call("pytest").inherited()], Some(1));
    check(None, vec![Item::result(CallKey(0), Origin::ToolResult, "pytest", false)], Some(1));
    check(None, vec![Item::assistant(None, "pytest").hide()], Some(1));
    check(None, vec![Item::new(Body::Context { kind: "turn".into(), parts: vec!["pytest".into()] }, Origin::Own)], None);
    // The newest fact, wherever it stands.
    check(None, vec![Item::user(Origin::User, "pytest"), Item::user(Origin::User, "unittest")], Some(1));
    let told = Item::user(Origin::Delegated, "DONE summary: guess, guess").meaning(Means::Refused);
    let known = index.visible(None, &[told.clone(), Item::user(Origin::User, "DONE summary: pytest, guess"), told]);
    assert_eq!(known.made(2), Some(&vec![None, None]));
    assert_eq!(index.tasks(&Item::user(Origin::User, "find the framework")), [Task::Intent(0)]);
    assert_eq!(index.tasks(&call("find the framework")), []);
}

#[test]
fn a_part_is_read_once_and_a_run_forgets() {
    let index = MarkerIndex::new(&sample());
    let part = Part::from("pytest");
    assert!(Arc::ptr_eq(&index.of_part(&part), &index.of_part(&Part::from("pytest"))));
    assert!(!Arc::ptr_eq(&index.of_part(&part), &index.for_run().of_part(&part)));
    // The scenario's own texts are known to every run.
    let own = Part::from("Please find the framework.");
    assert!(Arc::ptr_eq(&index.for_run().of_part(&own), &index.for_run().of_part(&own)));
    assert_eq!(index.of_part(&Part::new(Content::Image { media: "pytest".into(), bytes: 1, tokens: None })), Arc::default());
}

#[test]
fn faults() {
    let check = |marker: &str, expect: Option<Fault>| assert_eq!(fault(marker), expect, "{marker:?}");
    check("JWTs", None);
    check("令牌桶法", None);
    check("tests/api & more", None);
    check("JWT", Some(Fault::TooShort));
    check("a  b", Some(Fault::TooShort));
    check("say \"so\"", Some(Fault::Quote));
    check("it's so", Some(Fault::Quote));
    check("a < b now", Some(Fault::Tag));
    check("one\ntwo", Some(Fault::Newline));
    check(" four", Some(Fault::Blank));
}

#[test]
fn stands_in_reads_as_the_index_does() {
    assert!(stands_in("Team Amber", r#""x\nTeam\nAmber""#));
    assert!(!stands_in("Team Amber", "Team Ambers"));
    assert!(!stands_in("", "anything"));
}

/// Whether a marker stands in a text, by comparing characters one by one. Word characters by hand, for the alphabet below.
fn naive(marker: &str, text: &str) -> bool {
    let composed: Vec<char> = text.nfc().collect();
    let marker: Vec<char> = marker.nfc().collect();
    let is_word = |c: Option<&char>| c.is_some_and(|&c| (c.is_alphanumeric() && c != '中') || "_\u{301}".contains(c));
    (0..composed.len()).any(|begin| {
        if is_word(begin.checked_sub(1).and_then(|at| composed.get(at))) && is_word(marker.first()) {
            return false;
        }
        let mut at = begin;
        for &wanted in &marker {
            match composed.get(at) {
                Some(c) if wanted == ' ' && c.is_whitespace() => {
                    while composed.get(at).is_some_and(|c| c.is_whitespace()) {
                        at += 1;
                    }
                }
                Some(&c) if c == wanted => at += 1,
                _ => return false,
            }
        }
        !(is_word(marker.last()) && is_word(composed.get(at))) && (begin == 0 || !composed[begin].is_whitespace())
    })
}

fn wrapped(text: &str, how: &[bool]) -> String {
    how.iter().fold(text.to_owned(), |text, as_json| match as_json {
        true => serde_json::json!({ "#": text }).to_string(),
        false => format!("<->{}</->", text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")),
    })
}

proptest! {
    #[test]
    fn the_matcher_agrees_with_a_naive_one(
        markers in proptest::collection::vec("[aékZ7_]([abékZ7_. ]{0,4}[abékZ7_])?", 1..5),
        pieces in proptest::collection::vec((0..6usize, "[abkeZ7_.中\u{301} \n\t]{0,3}"), 0..12),
        how in proptest::collection::vec(any::<bool>(), 0..4),
    ) {
        let markers: Vec<String> = markers.iter().map(|marker| marker.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        let facts: Vec<(&str, &str, &str)> = markers.iter().map(|marker| ("s", "v", marker.as_str())).collect();
        let index = MarkerIndex::new(&scenario(vec![topic("label q", &facts)], vec![], vec![]));
        let text: String = pieces.iter().map(|(nth, glue)| format!("{}{glue}", markers.get(*nth).map_or("", String::as_str))).collect();
        let expect: Vec<(usize, usize)> = (0..markers.len()).filter(|&at| naive(&markers[at], &text)).map(|at| (0, at)).collect();
        prop_assert_eq!(&index.scan(&text).facts, &expect, "{:?} in {:?}", markers, text);
            // Whatever wraps the text, the same is found.
        let inside = format!("\n{text}\n");
        prop_assert_eq!(&index.scan(&wrapped(&inside, &how)).facts, &expect, "{:?} in {:?}", markers, wrapped(&inside, &how));
        for (at, marker) in markers.iter().enumerate() {
            prop_assert_eq!(stands_in(marker, &text), expect.contains(&(0, at)));
        }
    }

    #[test]
    fn any_text_can_be_read(text in "(\\PC|[\\\\&\nu\"0-9a-f])*") {
        scan(&text);
        stands_in("pytest", &text);
        fault(&text);
    }
}

#[test]
fn words_are_parted_by_blanks_and_by_nothing_in_chinese() {
    #[track_caller]
    fn check(text: &str, expect: usize) {
        assert_eq!(super::text::words(text), expect, "{text}");
    }
    check("", 0);
    check(" \n - ", 0);
    check("it is src/main.rs, line 3", 5);
    check("路径", 2);
    check("路径 is /a/b。", 4);
    check("the路径", 3);
}
