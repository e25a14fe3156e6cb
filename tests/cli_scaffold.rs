//! `--scaffold` with the real binary: what real clients send beside history, as sizes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn ctxbench(folder: &Path, args: &[&str]) -> Output {
    Command::new(assert_cmd::cargo::cargo_bin!("ctxbench")).args(args).current_dir(folder).output().expect("the binary runs")
}

fn run(folder: &Path, more: &[&str]) -> Value {
    let args: Vec<&str> =
        ["run", "tiny-task", "--strategy", "opencode", "--strategy", "full-copy", "--format", "json"].iter().chain(more).copied().collect();
    let output = ctxbench(folder, &args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("results are JSON")
}

/// The first ledger line of a strategy's root, by origin.
fn input(folder: &Path, strategy: &str) -> Value {
    let ledger = fs::read_to_string(folder.join("kept/ledger.jsonl")).expect("the run was kept");
    let lines = ledger.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line is JSON"));
    let of = |line: &Value| line["cell"].as_str().is_some_and(|cell| cell.contains(strategy)) && line["thread"] == "/";
    lines.into_iter().find(of).expect("it sent a request")["input"].clone()
}

#[test]
fn measured_scaffolds_are_counted_apart() {
    let folder = tempfile::tempdir().unwrap();
    let plain = run(folder.path(), &[]);
    let measured = run(folder.path(), &["--scaffold", "measured", "--run-dir", "kept"]);
    // The system text and its frame, ten tools and their frames; the request's own frame is `system`.
    let own = input(folder.path(), "opencode");
    assert_eq!((own["system"].as_u64(), own["tools"].as_u64()), (Some(3), Some(0)));
    assert_eq!(own["scaffold"].as_u64(), Some((2_529 + 3 + 1) + (5_014 + 10 * (3 + 1))));
    // A strategy without one sends the scenario's own, and says so.
    let other = input(folder.path(), "full-copy");
    assert!(other["scaffold"] == 0 && other["system"].as_u64() > Some(3) && other["tools"].as_u64() > Some(0), "{other}");
    let notes = |results: &Value, at: usize| results["cells"][at]["notes"].to_string();
    let note = "full-copy@1 has no measured scaffold: its requests hold the scenario's own texts and tools.";
    assert!(notes(&measured, 1).contains(note) && !notes(&measured, 0).contains("scaffold"), "{}", notes(&measured, 1));
    assert!(!notes(&plain, 1).contains("scaffold"));
    for at in 0..2 {
        let fingerprint = |results: &Value| results["cells"][at]["fingerprint"].clone();
        assert_ne!(fingerprint(&plain), fingerprint(&measured), "other figures, another fingerprint");
    }
    let setting = |results: &Value| results["settings"]["scaffold"].clone();
    assert_eq!((setting(&plain), setting(&measured)), ("none".into(), "measured".into()));
}

#[test]
fn show_takes_it_too() {
    let folder = tempfile::tempdir().unwrap();
    let cell = "tiny-task/claude-code@2.1.197/reader/0";
    let shown = ctxbench(folder.path(), &["show", cell, "--scaffold", "measured", "--request", "0"]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    for piece in ["[opaque claude-code/system, 26490 bytes]", "[opaque tool Agent,", "[opaque claude-code/skills, 4556 bytes]"] {
        assert!(shown.contains(piece), "{piece} in {shown}");
    }
    let plain = ctxbench(folder.path(), &["show", cell, "--request", "0"]);
    assert!(plain.status.success() && !String::from_utf8_lossy(&plain.stdout).contains("opaque"));
}

#[test]
fn there_are_two() {
    let folder = tempfile::tempdir().unwrap();
    let output = ctxbench(folder.path(), &["run", "tiny-task", "--scaffold", "guessed"]);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("none") && told.contains("measured"), "{told}");
}
