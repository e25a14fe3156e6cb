//! `import` with the real binary.

use std::path::Path;
use std::process::{Command, Output};

fn import(args: &[&str]) -> Output {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recordings/claude-code");
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("ctxbench"));
    command.arg("import").args(args).current_dir(folder).output().expect("the binary runs")
}

fn check(args: &[&str], code: i32, words: &[&str]) -> String {
    let output = import(args);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    for word in words {
        assert!(said.contains(word), "{args:?} does not say `{word}`: {said}");
    }
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_recording_in_a_summary() {
    insta::assert_snapshot!("import_inline", check(&["inline-two-children.jsonl"], 0, &[]));
    insta::assert_snapshot!("import_damage", check(&["damage"], 0, &[]));
}

#[test]
fn the_json_has_the_contract_s_fields() {
    let text = check(&["inline-two-children.jsonl", "--format", "json"], 0, &[]);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["format"], "ctxbench-import/1");
    let sessions = document["sessions"].as_array().unwrap();
    assert!(sessions.iter().any(|session| session["parent"].is_null()) && sessions.iter().any(|session| session["parent"].is_string()));
    let fields = [
        "id",
        "source",
        "version",
        "file",
        "responses",
        "spend",
        "spend_inclusive",
        "final_context",
        "parent",
        "inherited_items",
        "delegations",
    ];
    for session in sessions {
        assert!(fields.iter().all(|field| session.get(field).is_some()), "{session}");
    }
    assert_eq!(document["report"]["files"], 1);
}

#[test]
fn damage_fails_the_command_only_under_strict() {
    check(&["damage/cut-tail.jsonl"], 0, &[]);
    check(&["damage/cut-tail.jsonl", "--strict"], 3, &["bad line"]);
    check(&["inline-two-children.jsonl", "--strict"], 0, &[]);
    check(&["damage/empty.jsonl"], 0, &[]);
    check(&["damage/empty.jsonl", "--strict"], 3, &["no session at all"]);
}

#[test]
fn paths_and_names_are_checked() {
    check(&["nowhere.jsonl"], 1, &["cannot read nowhere.jsonl"]);
    check(&[], 2, &["PATH"]);
    check(&["damage", "--source", "claud-code"], 2, &["claude-code"]);
    check(&["damage", "--format", "csv"], 2, &["`import` has no format csv", "human and json"]);
}
