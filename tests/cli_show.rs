//! `show` with the real binary, of cells whose histories are rewritten.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

fn ctxbench(args: &[&str]) -> String {
    let output = Command::new(assert_cmd::cargo::cargo_bin!("ctxbench")).args(args).output().expect("the binary runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it is UTF-8")
}

fn document(args: &[&str]) -> Value {
    serde_json::from_str(&ctxbench(&[args, &["--format", "json"]].concat())).expect("it is JSON")
}

const SCENARIOS: [&str; 3] = ["follow-up-detail", "noisy-history", "recent-decision"];

fn delegated(items: &Value) -> Vec<(u64, String)> {
    let items = items.as_array().unwrap().iter().filter(|item| item["origin"] == "delegated");
    items.map(|item| (item["tokens"].as_u64().unwrap(), item["text"].as_str().unwrap().to_owned())).collect()
}

#[test]
fn a_result_is_received_once_although_the_history_is_rewritten_before_it() {
    let mut rewritten = 0;
    for scenario in SCENARIOS {
        // Its parent keeps every result, so its last request holds what it opened with and what it received, each once.
        let shown = document(&["show", &format!("{scenario}/maf-python/reader/0")]);
        let root = &shown["threads"][0];
        let opened: u64 = delegated(&root["opening"]["items"]).iter().map(|(tokens, _)| tokens).sum();
        let received: u64 = root["received"].as_array().unwrap().iter().map(|one| one["tokens"].as_u64().unwrap()).sum();
        let requests = root["requests"].as_array().unwrap();
        assert_eq!(requests.last().unwrap()["input"]["delegated"], opened + received, "{scenario}");
        rewritten += requests.iter().filter(|one| one["first_divergence"].is_object()).count();
        let versus = document(&["show", &format!("{scenario}/maf-python/reader/0"), "--vs", "opencode"]);
        assert_eq!(versus["parent_gain"][0], received, "{scenario}");
    }
    assert!(rewritten > 0, "a history is rewritten in one of them, or this test says nothing");
}

#[test]
fn a_record_that_is_kept_is_received_once() {
    for scenario in SCENARIOS {
        let shown = document(&["show", &format!("{scenario}/deerflow@v2:context_mode=snapshot/reader/0")]);
        let root = &shown["threads"][0];
        let received: Vec<(u64, String)> = root["received"].as_array().unwrap().iter().flat_map(|one| delegated(&one["items"])).collect();
        let texts: BTreeSet<&String> = received.iter().map(|(_, text)| text).collect();
        assert!(!texts.is_empty() && texts.len() == received.len(), "{scenario}: {received:#?}");
    }
}

#[test]
fn what_is_inherited_is_explained_where_it_occurs() {
    let legend = "\ninherited: what of the parent's own history was handed down to the child\n";
    let check =
        |cell: &str, other: &str, expect: bool| assert_eq!(ctxbench(&["show", cell, "--vs", other]).contains(legend), expect, "{cell}");
    check("tiny-task/full-copy/reader/0", "opencode", true);
    check("tiny-task/opencode/reader/0", "inline", false);
}
