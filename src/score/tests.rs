//! Small scenarios and outcomes with scores worked out on paper, and coverage against a plain text search.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::{CheckScore, Scored, Scorer};
use crate::ledger::{Failure, FailureKind, Outcome};
use crate::metrics::sample::{ROOT, Sample, call, delegating_call, returned, wrote};
use crate::scenario::{
    Ask, Check, Citation, Conduct, Fact, Forbidden, IntentSpec, Made, Measure, NumberAsk, ReportForm, Scenario, ScenarioWorld, Size, Topic,
    TopicIndex, Which, Work,
};
use crate::setting::Ceilings;
use crate::strategy::ThreadId;
use crate::transcript::{Body, CallKey, Digest, Handle, Item, Means, Origin, Part};

const PORT: TopicIndex = 0;
const STORE: TopicIndex = 1;
const SUMMARY: TopicIndex = 2;

fn fact(statement: &str, value: &str, marker: &str) -> Fact {
    Fact { id: value.into(), statement: statement.into(), value: value.into(), markers: vec![marker.into()] }
}

fn intent(id: &str, needs: Vec<TopicIndex>) -> IntentSpec {
    IntentSpec {
        id: id.into(),
        agent: "child".into(),
        title: id.into(),
        task: format!("Task {id}."),
        terse: "Go on.".into(),
        known: vec![],
        work: Work { marker: format!("Task {id}"), needs, ..Work::default() },
        group: None,
        background: false,
        report: ReportForm::default(),
        follow_ups: vec![],
    }
}

/// A port that changed from 8080 to 9090, a store, a deliverable of both; `first` needs port and store, `second` makes the
/// deliverable, `third` needs nothing.
fn scenario(checks: Vec<Check>) -> Arc<Scenario> {
    let port = vec![fact("The port is 8080 here.", "8080", "port is 8080"), fact("The port is 9090 now.", "9090", "port is 9090")];
    let store = vec![fact("The store is sqlite.", "sqlite", "store is sqlite")];
    let topic = |id: &str, facts, made| Topic { id: id.into(), label: format!("the {id}"), facts, made };
    Arc::new(Scenario {
        id: "sample".into(),
        title: String::new(),
        tags: vec![],
        why: String::new(),
        size: Size::Small,
        sizes: vec![Size::Small],
        root: "root".into(),
        agents: BTreeMap::new(),
        history: vec![],
        turns: vec![],
        world: ScenarioWorld::new(BTreeMap::from([("src/port.rs".into(), "const PORT: u16 = 9090;\n".into())]), BTreeMap::new()),
        topics: vec![
            topic("number", port, None),
            topic("database", store, None),
            topic("summary", vec![], Some(Made { intent: 1, from: vec![PORT, STORE] })),
        ],
        intents: vec![intent("first", vec![PORT, STORE]), intent("second", vec![SUMMARY]), intent("third", vec![])],
        conduct: Conduct::default(),
        script: vec![],
        checks,
        ceilings: Ceilings::default(),
        window: None,
        expects_failure: None,
        digest: Digest(0),
    })
}

fn on_answer(id: &str, weight: f64, ask: Ask) -> Check {
    Check { id: id.into(), intent: None, on_answer: true, weight, ask }
}

fn on_return(intent: usize, weight: f64, ask: Ask) -> Check {
    Check { id: format!("return-{intent}").into(), intent: Some(intent), on_answer: false, weight, ask }
}

fn scored(checks: Vec<Check>, outcome: &Outcome) -> Scored {
    Scorer::new(scenario(checks)).score(outcome)
}

fn answered(text: &str) -> Outcome {
    let mut sample = Sample::new();
    sample.push(ROOT, 5, wrote(text));
    sample.outcome
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn asks() {
    #[track_caller]
    fn check(ask: Ask, answer: &str, expect: f64) {
        let scored = scored(vec![on_answer("it", 1.0, ask)], &answered(answer));
        assert_eq!(scored.checks, [CheckScore { id: "it".into(), score: Ok(expect) }], "{answer}");
        assert_eq!(scored.quality, Ok(expect));
    }
    let contains = || Ask::Contains(texts(&["JSON web  tokens", "JWT"]));
    check(contains(), "It uses JSON\n web tokens.", 1.0);
    check(contains(), "It uses JWTs.", 1.0);
    check(contains(), "It uses jwt.", 0.0);
    check(contains(), "It uses JSON.", 0.0);
    check(contains(), r#"{"text":"It uses JSON\n\tweb tokens."}"#, 1.0); // escapes undone
    check(Ask::Contains(texts(&["caf\u{e9}"])), "cafe\u{301}", 1.0); // composed or not: the same text
    let forbidden = || Ask::Forbidden(texts(&["I cannot", "as an AI"]).into_iter().map(Forbidden::Text).collect());
    check(forbidden(), "The port is 9090.", 1.0);
    check(forbidden(), "I  cannot say.", 0.0);
    check(Ask::Equals(" yes,  it is ".into()), "yes, it\nis\n", 1.0);
    check(Ask::Equals("yes".into()), "yes, it is", 0.0);
    check(Ask::Regex(r"^\d+ files?$".into()), "12 files", 1.0);
    check(Ask::Regex(r"^\d+ files?$".into()), "about 12 files", 0.0);
    let stale = || Ask::Forbidden(vec![Forbidden::Fact(PORT, 0)]);
    check(stale(), "The port is 9090 now.", 1.0);
    check(stale(), "The port is 8080 here. The port is 9090 now.", 0.0); // beside the newest one, too
    check(stale(), "The port is 80801.", 1.0); // no word ends there
    let port = || Ask::Recall(vec![PORT]);
    check(port(), "The port is 9090 now.", 1.0);
    check(port(), "The port is 8080 here.", 0.0); // superseded
    check(port(), "The port is 8080 here. The port is 9090 now.", 1.0);
    check(port(), "The port is 90901.", 0.0); // no word ends there
    check(port(), "unknown: the number", 0.0);
    check(Ask::Recall(vec![PORT, STORE]), "The store is sqlite.", 0.5);
    let summary = || Ask::Recall(vec![SUMMARY]);
    check(summary(), "DONE the summary: 9090, sqlite", 1.0);
    check(summary(), "DONE the summary: 8080, sqlite", 0.0);
    check(summary(), "DONE the summary: 9090, guess", 0.0);
    check(summary(), "The port is 9090 now. The store is sqlite.", 0.0); // knowing is not making
    check(Ask::Recall(vec![PORT, STORE, SUMMARY, PORT]), "The port is 9090 now.", 0.5); // 2 of 4
}

/// The kinds that have a file of their own, put to whole answers: in which readings each is looked for. What they count as
/// what is tested beside each.
#[test]
fn asks_of_readings() {
    #[track_caller]
    fn check(ask: Ask, answer: &str, expect: f64) {
        assert_eq!(scored(vec![on_answer("it", 1.0, ask)], &answered(answer)).quality, Ok(expect), "{answer}");
    }
    let all = || Ask::ContainsAll(vec![texts(&["JSON web token", "JWT"]), texts(&["Ed25519"]), texts(&["9090"]), texts(&["port"])]);
    check(all(), "A JWT, signed with Ed25519, on port 9091.", 0.75);
    check(all(), "A JSON\n web token on port 9090, Ed25519.", 1.0);
    check(all(), "", 0.0);
    let number = || Ask::Number(NumberAsk { value: 9090.0, tolerance: 0.0, relative: 0.0, which: Which::Last, units: vec![] });
    check(number(), "Not 8080 but 9,090.", 1.0);
    check(number(), "9090, not 8080.", 0.0);
    let json = || Ask::Json { value: serde_json::json!({"port": 9090, "store": "sqlite"}), path: String::new() };
    check(json(), r#"So: {"store": "sqlite", "port": 9090.0}"#, 1.0);
    check(json(), r#"{"status":"ok","result":"So: {\"store\": \"sqlite\", \"port\": 9090}"}"#, 1.0); // in a wrapper, escaped
    check(json(), r#"{"port": 9090}"#, 0.0);
    let schema = || Ask::JsonSchema(serde_json::json!({"required": ["port"], "properties": {"port": {"minimum": 9000}}}));
    check(schema(), "```\n{\"port\": 9090}\n```", 1.0);
    check(schema(), "```\n{\"port\": 8080}\n```", 0.0);
    check(Ask::TokenF1 { texts: texts(&["the store is sqlite"]), at_least: None }, "Sqlite.", 0.5); // 2 * 1 / (1 + 3)
    check(Ask::TokenF1 { texts: texts(&["the store is sqlite"]), at_least: Some(0.5) }, "Sqlite.", 1.0);
    let ordered = || Ask::Ordered(vec![texts(&["port"]), texts(&["store", "database"]), texts(&["done"])]);
    check(ordered(), "First the port, then the\ndatabase; done.", 1.0);
    check(ordered(), "Done: the store, the port.", 1.0 / 3.0);
    let citation = || Ask::Citation(vec![Citation { path: "src/port.rs".into(), line: 1, quote: Some("PORT: u16".into()) }]);
    check(citation(), "src/port.rs:1: `const PORT: u16 = 9090;`", 1.0);
    check(citation(), r#"{"result":"src/port.rs:1: \"const PORT: u16 = 9090;\""}"#, 1.0);
    check(citation(), "src/port.rs:1: `const PORT: u16 = 9090;` and src/port.rs:2", 0.5);
    let length = || Ask::Length { of: Measure::Lines, at_least: None, at_most: Some(1) };
    check(length(), "One line.\n", 1.0);
    check(length(), "One line.\nAnother.", 0.0);
    check(length(), r"One line.\nAnother.", 1.0); // as it stands
}

#[test]
fn a_weight_of_0_is_reported_and_not_counted() {
    let checks = || vec![on_answer("counted", 2.0, Ask::Recall(vec![PORT])), on_answer("told", 0.0, Ask::Regex("^never$".into()))];
    let scored_ = scored(checks(), &answered("The port is 9090 now."));
    assert_eq!(scored_.quality, Ok(1.0));
    assert_eq!(scored_.checks[1], CheckScore { id: "told".into(), score: Ok(0.0) });
    let nothing = scored(checks().split_off(1), &answered("The port is 9090 now."));
    assert_eq!(nothing.quality, Err("no check on the final answer weighs more than 0".into()));
}

#[test]
fn what_is_wrong_with_a_question_is_told() {
    let check = |ask: Ask, expect: &str| {
        let why = scored(vec![on_answer("it", 1.0, ask)], &answered("x")).quality.unwrap_err();
        assert!(why.starts_with(expect), "{why}");
    };
    check(Ask::JsonSchema(serde_json::json!({"type": 3})), "check `it`: its JSON schema is none: ");
    check(Ask::ContainsAll(vec![]), "check `it`: it asks for nothing");
    check(Ask::Ordered(vec![]), "check `it`: it asks for nothing");
    check(Ask::Citation(vec![]), "check `it`: it asks for no citation");
    check(Ask::TokenF1 { texts: texts(&["the."]), at_least: None }, "check `it`: its text has no word");
}

#[test]
fn quality_is_the_weighted_mean() {
    let checks = |pattern: &str| {
        vec![
            on_answer("heavy", 3.0, Ask::Recall(vec![PORT])),
            on_answer("light", 1.0, Ask::Regex(pattern.into())),
            on_return(0, 9.0, Ask::Equals("for returns alone".into())),
        ]
    };
    let answer = || answered("The port is 9090 now.");
    let whole = scored(checks("^never$"), &answer());
    assert_eq!(whole.quality, Ok(0.75)); // (3 * 1 + 1 * 0) / 4
    assert_eq!(whole.checks.iter().map(|check| &*check.id).collect::<Vec<_>>(), ["heavy", "light"]);

    let failed = Outcome { failure: Some(Failure { kind: FailureKind::Overflow, message: "too large".into() }), ..answer() };
    let failed = scored(checks("."), &failed);
    assert_eq!(failed.quality, Ok(0.0));
    assert!(failed.checks.iter().all(|check| check.score == Ok(0.0)));

    let broken = scored(checks("("), &answer());
    assert!(broken.quality.is_err_and(|why| why.contains("check `light`") && why.contains("`(`")));
    assert_eq!(broken.checks[0].score, Ok(1.0));
    assert!(broken.checks[1].score.is_err());

    assert_eq!(scored(vec![], &answer()).quality, Err("no check looks at the final answer".into()));
    let without_topics = scored(vec![on_answer("it", 1.0, Ask::Recall(vec![]))], &answer());
    assert_eq!(without_topics.quality, Err("check `it`: it recalls no topic".into()));
}

#[test]
fn an_empty_answer_is_scored_like_any_other() {
    let checks = vec![
        on_answer("has", 1.0, Ask::Contains(texts(&["x"]))),
        on_answer("has-not", 1.0, Ask::Forbidden(vec![Forbidden::Text("x".into())])),
    ];
    assert_eq!(scored(checks, &Outcome::default()).quality, Ok(0.5));
}

/// Recall of both needs for the first intent; recall, weighing 3, and a form, weighing 1, for the second.
fn return_checks() -> Vec<Check> {
    vec![
        on_return(0, 1.0, Ask::Recall(vec![PORT, STORE])),
        on_return(1, 3.0, Ask::Recall(vec![SUMMARY])),
        on_return(1, 1.0, Ask::Contains(texts(&["short"]))),
    ]
}

#[track_caller]
fn check_child_quality(sample: &Sample, expect: Result<f64, &str>) {
    assert_eq!(scored(return_checks(), &sample.outcome).child_quality, expect.map_err(|why| why.to_owned().into()));
}

#[test]
fn returns_are_scored_as_they_entered_the_parent() {
    let mut sample = Sample::new();
    let first = sample.open(ROOT, 1, "first");
    sample.push(first, 5, wrote("The port is 9090 now. The store is sqlite.")); // whole in the child
    sample.push(ROOT, 5, returned(1, r#"{"result":"The port is\n9090 now. The sto"}"#)); // cut on the way: 1 of 2
    check_child_quality(&sample, Ok(0.5));
    let second = sample.open(ROOT, 2, "second");
    sample.push(second, 5, wrote("DONE the summary: 9090, sqlite"));
    sample.push(ROOT, 5, returned(2, "DONE the summary: 9090, sqlite"));
    check_child_quality(&sample, Ok(0.625)); // (0.5 + (3 * 1 + 1 * 0) / 4) / 2
    sample.open(ROOT, 3, "second"); // a second try at it of which nothing came back
    check_child_quality(&sample, Ok(0.4375)); // (0.5 + (0.75 + 0) / 2) / 2
    sample.open(ROOT, 4, "third"); // no check is bound to it
    check_child_quality(&sample, Ok(0.4375));
}

#[test]
fn the_first_news_of_a_child_is_its_return() {
    let handle = || Some(Handle("h".into()));
    let notice = |text: &str| Item::user(Origin::Delegated, text).meaning(Means::Returned(handle()));
    let mut sample = Sample::new();
    let first = sample.open(ROOT, 1, "first");
    let started = Item::result(CallKey(1), Origin::Delegated, "The port is 9090 now. h", false);
    sample.push(ROOT, 5, started.meaning(Means::Started(Handle("h".into())))); // an acknowledgement is no return
    check_child_quality(&sample, Ok(0.0));
    // Spoken to while it runs: what it brings is told under the second call.
    sample.push(ROOT, 5, delegating_call(2, "first"));
    sample.delegate(ROOT, first, 2, "first", false);
    sample.push(ROOT, 5, Item::result(CallKey(2), Origin::Delegated, "sent to h", false).meaning(Means::Started(Handle("h".into()))));
    sample.push(ROOT, 5, notice("h: The store is sqlite."));
    check_child_quality(&sample, Ok(0.5));
    sample.push(ROOT, 5, notice("h: The port is 9090 now. The store is sqlite.")); // later news: not the return
    check_child_quality(&sample, Ok(0.5));
}

#[test]
fn a_child_that_is_given_two_intents_is_scored_for_each() {
    let mut sample = Sample::new();
    let kept = sample.open(ROOT, 1, "first");
    sample.push(kept, 5, Item::user(Origin::Task, "The port is 9090 now."));
    sample.send(kept, 5, 1);
    sample.push(ROOT, 5, returned(1, "The port is 9090 now. The store is sqlite."));
    sample.push(ROOT, 5, delegating_call(2, "second"));
    sample.delegate(ROOT, kept, 2, "second", false);
    sample.push(kept, 5, Item::user(Origin::Task, "The store is sqlite."));
    sample.send(kept, 5, 1).intent = Some("second".into());
    sample.push(ROOT, 5, returned(2, "DONE the summary: 9090, guess"));
    check_child_quality(&sample, Ok(0.5)); // (1 + 0) / 2
    check_coverage(&sample, 0.75); // the port alone for the first, both for the second: (1/2 + 1) / 2
    // Continued with the same intent, it answers something else.
    sample.push(ROOT, 5, delegating_call(3, "second"));
    sample.delegate(ROOT, kept, 3, "second", false);
    sample.push(ROOT, 5, returned(3, "DONE the summary: 9090, sqlite"));
    check_child_quality(&sample, Ok(0.5));
    // A turn that no call opened goes on with what the child was opened for.
    sample.send(kept, 5, 1).intent = None;
    check_coverage(&sample, 1.0);
}

#[test]
fn what_stands_first_is_first_whichever_call_it_answers() {
    let mut sample = Sample::new();
    let first = sample.open(ROOT, 1, "first");
    sample.push(ROOT, 5, delegating_call(2, "first"));
    sample.delegate(ROOT, first, 2, "first", false);
    sample.push(ROOT, 5, returned(2, "The store is sqlite."));
    sample.push(ROOT, 5, returned(1, "The port is 9090 now. The store is sqlite."));
    check_child_quality(&sample, Ok(0.5));
}

#[test]
fn children_of_children_are_scored_in_their_own_parent() {
    let mut sample = Sample::new();
    let third = sample.open(ROOT, 1, "third");
    sample.open(third, 2, "first");
    sample.push(third, 5, returned(2, "The port is 9090 now."));
    sample.push(ROOT, 5, returned(1, "The store is sqlite."));
    check_child_quality(&sample, Ok(0.5));
}

#[test]
fn without_children_there_is_no_child_score() {
    let mut sample = Sample::new();
    check_child_quality(&sample, Err("no child opened"));
    assert_eq!(scored(vec![], &sample.outcome).child_coverage, Err("no child opened".into()));
    sample.open(ROOT, 1, "third");
    check_child_quality(&sample, Err("no delegated intent has a check"));
    assert_eq!(scored(vec![], &sample.outcome).child_coverage, Err("no delegated intent needs anything".into()));
}

#[track_caller]
fn check_coverage(sample: &Sample, expect: f64) {
    assert_eq!(scored(vec![], &sample.outcome).child_coverage, Ok(expect));
}

#[test]
fn coverage_is_what_stood_in_the_last_request() {
    let mut sample = Sample::new();
    let first = sample.open(ROOT, 1, "first");
    check_coverage(&sample, 0.0); // it never sent anything
    sample.push(first, 5, Item::user(Origin::Inherited, "The port is 8080 here."));
    sample.send(first, 5, 1);
    check_coverage(&sample, 0.0); // superseded: the newest value counts
    sample.push(first, 5, call(2, "read", r#"{"text":"store is sqlite"}"#)); // its own arguments are no source
    sample.push(first, 5, Item::new(Body::Context { kind: "note".into(), parts: vec!["store is sqlite".into()] }, Origin::Inherited));
    sample.send(first, 5, 1);
    check_coverage(&sample, 0.0);
    sample.push(first, 5, Item::result(CallKey(2), Origin::ToolResult, r#"{"line":"The port is\n9090 now."}"#, false));
    check_coverage(&sample, 0.0); // read, but not in a request yet
    sample.send(first, 5, 1);
    check_coverage(&sample, 0.5); // port of port and store
    let row = sample.send(first, 5, 1);
    row.sent.system = Some(Part::text("The store is sqlite."));
    row.aside = true;
    check_coverage(&sample, 0.5); // a request beside the turn is not the child's own
    sample.send(first, 5, 1).sent.system = Some(Part::text("The store is sqlite."));
    check_coverage(&sample, 1.0);
    sample.open(ROOT, 3, "second"); // needs what its deliverable is made of: port and store, and sees neither
    check_coverage(&sample, 0.5); // (1 + 0) / 2
    let second = ThreadId(2);
    sample.push(second, 5, Item::user(Origin::Task, "Known: the store is sqlite."));
    sample.send(second, 5, 1);
    check_coverage(&sample, 0.75); // (1 + 1/2) / 2
    sample.open(ROOT, 4, "third"); // needs nothing
    check_coverage(&sample, 0.75);
}

#[test]
fn a_returned_answer_of_all_that_was_known_scores_the_coverage() {
    let mut sample = Sample::new();
    let first = sample.open(ROOT, 1, "first");
    sample.push(first, 5, Item::user(Origin::Inherited, "The port is 8080 here. The store is sqlite."));
    sample.send(first, 5, 1);
    sample.push(ROOT, 5, returned(1, "The port is 8080 here. The store is sqlite."));
    let scored = scored(return_checks(), &sample.outcome);
    assert_eq!((scored.child_quality, scored.child_coverage), (Ok(0.5), Ok(0.5)));
}

const STATEMENTS: [&str; 4] = ["The port is 8080 here.", "The port is 9090 now.", "The store is sqlite.", "Nothing of note."];

proptest! {
    /// Items of any kind, some sent and some not: coverage is what a search of the sent texts finds.
    #[test]
    fn coverage_agrees_with_a_text_search(items in prop::collection::vec((0usize..6, 0usize..4), 0..8), sent in 0usize..8, system in 0usize..4) {
        let mut sample = Sample::new();
        let first = sample.open(ROOT, 1, "first");
        let mut visible = String::from(STATEMENTS[system]);
        for (at, &(kind, statement)) in items.iter().enumerate() {
            if at == sent {
                break;
            }
            let text = STATEMENTS[statement];
            let item = match kind {
                0 => Item::user(Origin::Inherited, text),
                1 => Item::result(CallKey(9), Origin::ToolResult, text, false),
                2 => Item::new(Body::Mail { from: "a".into(), to: "b".into(), parts: vec![text.into()] }, Origin::Delegated),
                3 => Item::new(Body::Compaction { parts: vec![text.into()] }, Origin::Compaction),
                4 => call(9, "read", text),
                _ => Item::new(Body::Context { kind: "note".into(), parts: vec![text.into()] }, Origin::Inherited),
            };
            if kind < 4 {
                visible.push_str(text);
            }
            sample.push(first, 5, item);
        }
        sample.send(first, 5, 1).sent.system = Some(Part::text(STATEMENTS[system]));
        for &(_, statement) in items.iter().skip(sent) {
            sample.push(first, 5, wrote(STATEMENTS[statement]));
        }
        let found = ["port is 9090", "store is sqlite"].into_iter().filter(|marker| visible.contains(marker)).count();
        prop_assert_eq!(scored(vec![], &sample.outcome).child_coverage, Ok(found as f64 / 2.0));
    }

    /// Every kind on any text: a score, within bounds.
    #[test]
    fn every_kind_answers_any_text(text in "\\PC{0,60}|[0-9a-z{}\\[\\]\":,.`\\\\n /-]{0,60}", wanted in "\\PC{1,8}", number in any::<f64>()) {
        let thing = || vec![wanted.clone()];
        let asks = vec![
            Ask::Contains(thing()),
            Ask::ContainsAll(vec![thing(), thing()]),
            Ask::Equals(wanted.clone()),
            Ask::Number(NumberAsk { value: number, tolerance: 1.0, relative: 0.1, which: Which::Every, units: thing() }),
            Ask::Json { value: wanted.clone().into(), path: format!("/{wanted}") },
            Ask::JsonSchema(true.into()),
            Ask::TokenF1 { texts: texts(&["port", &wanted, "store"]), at_least: None },
            Ask::Ordered(vec![thing(), thing()]),
            Ask::Forbidden(vec![Forbidden::Text(wanted.clone()), Forbidden::Fact(PORT, 0)]),
            Ask::Citation(vec![Citation { path: "src/port.rs".into(), line: 1, quote: Some(wanted.clone()) }]),
            Ask::Length { of: Measure::Characters, at_least: Some(3), at_most: Some(9) },
        ];
        let checks = asks.into_iter().map(|ask| on_answer("it", 1.0, ask)).collect();
        for check in scored(checks, &answered(&text)).checks {
            match check.score {
                Ok(score) => prop_assert!((0.0..=1.0).contains(&score)),
                Err(why) => prop_assert_eq!(why, "its text has no word"),
            }
        }
    }

    #[test]
    fn scores_lie_between_0_and_1_on_any_outcome(seed: u64) {
        let outcome = crate::metrics::sample::random(seed);
        let mut checks = return_checks();
        checks.push(on_answer("port", 2.0, Ask::Recall(vec![PORT])));
        checks.push(on_answer("words", 1.0, Ask::Contains(texts(&["port 9090"]))));
        let scored = scored(checks, &outcome);
        for score in [&scored.quality, &scored.child_quality, &scored.child_coverage] {
            match score {
                Ok(score) => prop_assert!((0.0..=1.0).contains(score)),
                Err(why) => prop_assert!(outcome.threads.len() == 1 && why == "no child opened", "{}", why),
            }
        }
        if outcome.failure.is_some() {
            prop_assert_eq!(scored.quality, Ok(0.0));
        }
    }
}
