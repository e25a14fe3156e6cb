//! Codex end to end: the built-in scenarios, played by the reader on the real engine.

use std::collections::BTreeMap;
use std::sync::Arc;

use ctxbench::ledger::Outcome;
use ctxbench::model::reader::Reader;
use ctxbench::scenario::Size;
use ctxbench::scenario::compile_builtin;
use ctxbench::strategy::ThreadId;
use ctxbench::tokens::{Encoding, Meter, counter};
use ctxbench::transcript::{Body, Item, Means, Origin, Phase, Role, dangling, heard};

use crate::hand::stands_in_text;
use crate::play::{Played, play, strategy};

const SPECS: [&str; 16] = [
    "codex-v1",
    "codex-v1:fork_context=true",
    "codex-v1@source-2026-08:fork_context=true",
    "codex-v2@0.171",
    "codex-v2@0.171:fork_turns=none",
    "codex-v2@0.171:fork_turns=3",
    "codex-v2@0.163",
    "codex-v2@0.163:fork_turns=1",
    "codex-v2@0.160",
    "codex-v2@0.160:fork_turns=none",
    "codex-v2@0.160:fork_turns=1",
    "codex-v2@0.145",
    "codex-v2@0.130",
    "codex-v2@0.130:fork_turns=none",
    "codex-v2@source-2026-08",
    "codex-v2@source-2026-08:fork_turns=2",
];

fn played(name: &str, spec: &str) -> Played {
    let scenario = compile_builtin(name, Size::Small, &BTreeMap::new()).unwrap_or_else(|| panic!("there is no {name}"));
    let scenario = scenario.unwrap_or_else(|errors| panic!("{errors}"));
    play(&Reader::new(Arc::new(scenario)), &*strategy(spec), &Meter::new(counter(Encoding::O200kBase)))
}

fn figure(played: &Played, name: &str) -> f64 {
    played.measurement.get(name).unwrap_or_else(|why| panic!("{name}: {why}")).as_f64()
}

/// What a child was first sent.
fn opening(outcome: &Outcome, child: &str) -> Vec<Item> {
    let row = outcome.rows.iter().find(|row| &*row.path == child).unwrap_or_else(|| panic!("there is no {child}"));
    outcome.items_of(row)
}

#[test]
fn the_built_in_scenarios_are_answered() {
    for name in ["tiny-task", "auth-lookup", "auth-lookup-parallel"] {
        for spec in SPECS {
            let played = played(name, spec);
            let outcome = &played.outcome;
            assert_eq!(figure(&played, "quality"), 1.0, "{name} {spec}");
            assert!(outcome.threads.len() > 1 && outcome.refusals == 0, "{name} {spec}");
            for row in &outcome.rows {
                let items = outcome.items_of(row);
                assert_eq!(dangling(&items), [], "{name} {spec}");
            }
            // Every child has come back.
            let told = heard(outcome.history_of(ThreadId::ROOT));
            assert!(told.iter().all(|one| !one.news.is_empty()), "{name} {spec}: {told:?}");
        }
    }
}

/// The texts that tell the root of a child's work, once for each time.
fn returns(outcome: &Outcome) -> Vec<Item> {
    let told = |item: &&Item| item.means.iter().any(|means| matches!(means, Means::Returned(_)));
    let items: Vec<Item> = outcome.history_of(ThreadId::ROOT).iter().filter(told).cloned().collect();
    items.iter().for_each(|item| stands_in_text(&item.means, &item.text()));
    items
}

/// A child's last words, as they stand inside JSON too: up to the first character that JSON escapes.
fn last_words(outcome: &Outcome) -> String {
    let last = outcome.history_of(ThreadId(1)).last().map(Item::text).unwrap_or_default();
    last.split(['"', '\n', '\\']).next().unwrap_or_default().to_owned()
}

#[test]
fn v1_brings_a_final_text_twice_and_v2_once() {
    let v1 = played("tiny-task", "codex-v1").outcome;
    let words = last_words(&v1);
    assert!(words.len() > 20);
    let returned = returns(&v1);
    let kinds: Vec<bool> = returned.iter().map(|item| matches!(item.body(), Body::Result { .. })).collect();
    assert_eq!(kinds, [true, false], "the wait's output, then the notice");
    assert!(returned.iter().all(|item| item.text().contains(&words)));
    assert_eq!(heard(v1.history_of(ThreadId::ROOT))[0].news.len(), 2);

    let v2 = played("tiny-task", "codex-v2").outcome;
    let words = last_words(&v2);
    let returned = returns(&v2);
    let [letter] = &returned[..] else { panic!("{returned:?}") };
    assert!(matches!(letter.body(), Body::Mail { .. }) && letter.text().contains(&words));
    let holding = v2.history_of(ThreadId::ROOT).iter().filter(|item| item.origin != Origin::Own && item.text().contains(&words));
    assert_eq!(holding.count(), 1);
}

#[test]
fn what_a_child_of_the_first_turn_is_sent() {
    let short = |items: &[Item]| {
        let kinds = items.iter().map(|item| match item.body() {
            Body::Message { role: Role::Assistant, phase, .. } => {
                if *phase == Some(Phase::Commentary) {
                    "commentary"
                } else {
                    "answer"
                }
            }
            Body::Message { role, .. } => role.name(),
            Body::Call(_) => "call",
            Body::Result { .. } => "result",
            Body::Mail { .. } => "mail",
            _ => "other",
        });
        kinds.collect::<Vec<_>>().join(" ")
    };
    for (spec, expect) in [
        ("codex-v1", "user"),
        ("codex-v1:fork_context=true", "user user"),
        ("codex-v2@0.160:fork_turns=none", "mail"),
        ("codex-v2@0.160", "user mail"),
        ("codex-v2@0.160:fork_turns=1", "user mail"),
        ("codex-v2@0.171:fork_turns=1", "user commentary call result developer mail"),
        ("codex-v2@0.171", "user commentary call result developer mail"),
    ] {
        assert_eq!(short(&opening(&played("tiny-task", spec).outcome, "/1")), expect, "{spec}");
    }
}

/// A verbatim fork begins as its parent's own request did: the same items, shared, not copied.
#[test]
fn a_verbatim_fork_shares_its_parents_prefix() {
    let outcome = played("auth-lookup", "codex-v2").outcome;
    let child = opening(&outcome, "/1");
    let spawned = outcome.delegations.iter().find(|one| one.child == ThreadId(1)).expect("it was opened");
    let before = outcome.rows.iter().rev().find(|row| row.thread == ThreadId::ROOT && row.sent_ms < spawned.at_ms).expect("it was sent");
    let parent = outcome.items_of(before);
    assert!(!parent.is_empty() && parent.iter().zip(&child).all(|(one, other)| one.shares_body(other)));
}

/// Whoever looks at a cell sees the text twice, each time with its tokens; under v2 once.
#[test]
fn show_tells_both_returns() {
    let check = |cell: &str, spec: &str, kinds: &[&str]| {
        let ran = std::process::Command::new(env!("CARGO_BIN_EXE_ctxbench")).args(["show", cell, "--format", "json"]).output();
        let shown: serde_json::Value = serde_json::from_slice(&ran.expect("it runs").stdout).expect("it is JSON");
        let words = last_words(&played("tiny-task", spec).outcome);
        let received = shown["threads"][0]["received"].as_array().into_iter().flatten();
        let items = received.flat_map(|arrival| arrival["items"].as_array().into_iter().flatten());
        let holds = |item: &&serde_json::Value| item["text"].as_str().is_some_and(|text| text.contains(&words));
        let told: Vec<&str> = items.filter(holds).filter_map(|item| item["kind"].as_str()).collect();
        assert_eq!(told, kinds, "{shown}");
    };
    check("tiny-task/codex-v1@0.171/reader/0", "codex-v1", &["result", "message"]);
    check("tiny-task/codex-v2@0.171/reader/0", "codex-v2", &["mail"]);
}
