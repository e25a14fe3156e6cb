//! `run --model script` with the real binary, and the bare command.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/scenarios/two-at-once.yaml");

fn ctxbench(args: &[&str]) -> Output {
    Command::new(assert_cmd::cargo::cargo_bin!("ctxbench")).args(args).output().expect("the binary runs")
}

/// Runs, and expects an exit code and words on standard error.
fn check(args: &[&str], code: i32, words: &[&str]) -> Output {
    let output = ctxbench(args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    for word in words {
        assert!(said.contains(word), "{args:?} does not say `{word}`: {said}");
    }
    output
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

/// The fixture with texts replaced; each must stand in it.
fn changed(folder: &Path, changes: &[(&str, &str)]) -> String {
    let mut text = fs::read_to_string(FIXTURE).expect("the fixture is readable");
    for (from, to) in changes {
        assert!(text.contains(from), "the fixture does not hold {from:?}");
        text = text.replacen(from, to, 1);
    }
    let path = folder.join("changed.yaml");
    fs::write(&path, text).expect("the test folder is writable");
    path.display().to_string()
}

/// The fixture without its script, under another id.
fn unscripted(folder: &Path) -> String {
    let text = fs::read_to_string(FIXTURE).expect("the fixture is readable");
    let (head, rest) = text.split_once("\nscript:\n").expect("it has a script");
    let (_, checks) = rest.split_once("\nchecks:\n").expect("it has checks");
    let path = folder.join("mute.yaml");
    fs::write(&path, format!("{head}\nchecks:\n{checks}").replace("id: two-at-once\n", "id: mute\n")).expect("the test folder is writable");
    path.display().to_string()
}

#[test]
fn the_ledger_is_the_one_written_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let run_dir = folder.path().join("run");
    let kept = run_dir.display().to_string();
    let args = ["run", FIXTURE, "--model", "script", "-s", "opencode", "--format", "json", "--run-dir", &kept];
    let output = check(&args, 0, &[]);
    assert!(output.stderr.is_empty());
    let results = json(&output);
    let cell = &results["cells"][0];
    assert_eq!(results["cells"].as_array().unwrap().len(), 1);
    assert_eq!((&cell["cell"], &cell["evidence"]), (&"two-at-once/opencode@1.18.33/script/0".into(), &"scripted".into()));
    assert_eq!(cell["status"], "ok");
    // One check of two is met.
    assert_eq!(cell["metrics"]["quality"], 0.5);
    let ledger = fs::read_to_string(run_dir.join("ledger.jsonl")).unwrap();
    let rows: Vec<(String, u64, u64, u64)> = ledger
        .lines()
        .map(|line| {
            let row: Value = serde_json::from_str(line).unwrap();
            let number = |key: &str| row[key].as_u64().unwrap();
            (row["thread"].as_str().unwrap().to_owned(), number("turn"), number("sent_ms"), number("done_ms"))
        })
        .collect();
    let row = |thread: &str, turn, sent, done| (thread.to_owned(), turn, sent, done);
    let expect = [
        row("/", 1, 0, 500),
        row("/1", 1, 500, 800),
        row("/2", 1, 500, 1100),
        row("/1", 1, 840, 1540),
        row("/", 1, 1540, 1940),
        row("/", 2, 1940, 2190),
    ];
    assert_eq!(rows, expect);
    // The same cell again, and from its folder.
    let id = "two-at-once/opencode@1.18.33/script/0";
    let again = check(&["show", id, "--from", FIXTURE], 0, &[]);
    assert!(!again.stdout.is_empty());
    assert_eq!(again.stdout, check(&["show", id, "--run-dir", &kept], 0, &[]).stdout);
}

#[test]
fn the_default_rows_play_it_but_the_one_that_cannot_delegate() {
    let left_out = "inline@1 is not run on two-at-once: its script delegates";
    let results = json(&check(&["run", FIXTURE, "--model", "script", "--format", "json"], 0, &[left_out]));
    let cells = results["cells"].as_array().unwrap();
    assert!(cells.len() > 1);
    assert!(cells.iter().all(|cell| cell["evidence"] == "scripted" && cell["status"] == "ok"));
    check(&["run", FIXTURE, "--model", "script", "-s", "inline"], 2, &[left_out, "no cell is left to run"]);
    // The reader plays the same file, and its script is nothing to it.
    let read = json(&check(&["run", FIXTURE, "-s", "opencode", "--format", "json"], 0, &[]));
    assert_eq!((&read["cells"][0]["evidence"], &read["cells"][0]["metrics"]["quality"]), (&"simulated".into(), &0.5.into()));
}

#[test]
fn a_scenario_without_a_script_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let why = "tiny-task has no script, so `script` cannot play it: write one into its file, under `script`";
    check(&["run", "tiny-task", "--model", "script"], 2, &[&format!("error: {why}")]);
    check(&["show", "tiny-task/opencode@1.18.33/script/0"], 2, &[why]);
    let mute = unscripted(folder.path());
    check(&["run", FIXTURE, &mute, "--model", "script"], 2, &["mute has no script"]);
    // A suite: what has no script is left out by name.
    let output = check(&["run", "--model", "script", "--quiet"], 2, &["there is nothing to run", why, "auth-lookup has no script"]);
    assert!(output.stdout.is_empty());
    fs::copy(FIXTURE, folder.path().join("two-at-once.yaml")).unwrap();
    let suite = folder.path().display().to_string();
    let args = ["run", &suite, "--model", "script", "-s", "opencode", "--format", "json"];
    let results = json(&check(&args, 0, &["warning: mute has no script", "under `script`: left out"]));
    let names: Vec<&str> = results["cells"].as_array().unwrap().iter().filter_map(|cell| cell["cell"].as_str()).collect();
    assert_eq!(names, ["two-at-once/opencode@1.18.33/script/0"]);
}

#[test]
fn a_request_without_a_step_fails_its_cell() {
    let folder = tempfile::tempdir().unwrap();
    let failure = |changes: &[(&str, &str)]| {
        let path = changed(folder.path(), changes);
        let results =
            json(&check(&["run", &path, "--model", "script", "-s", "opencode", "--format", "json"], 13, &["1 of 1 cells failed"]));
        let cell = &results["cells"][0];
        assert_eq!((&cell["status"], &cell["failure"]["kind"]), (&"failed".into(), &"model".into()));
        cell["failure"]["message"].as_str().unwrap().to_owned()
    };
    let said = failure(&[("      - {text: The quota is 4130 requests an hour; nobody is named., ms: 400}\n", "")]);
    assert!(said.contains("script, thread /, turn 1, reply 2: only 1 replies are written for this turn: add one"), "{said}");
    let said = failure(&[("    turn: 2\n", "    turn: 3\n")]);
    assert!(said.contains("script, thread /, turn 2, reply 1: nothing is written for this turn. Written: / turn 1"), "{said}");
}

#[test]
fn mistakes_in_a_script_are_told_at_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = changed(folder.path(), &[("delegate: {intent: find-owner}", "delegate: {intent: find-ower}")]);
    let words = ["there is no intent `find-ower`", "did you mean `find-owner`?", "changed.yaml:52:71"];
    check(&["run", &path, "--model", "script"], 3, &words);
    check(&["validate", &path], 3, &words);
}

#[test]
fn the_bare_command_runs_the_suite() {
    let same = |bare: &[&str], run: &[&str]| {
        let (bare, run) = (check(bare, 0, &[]), check(run, 0, &[]));
        assert!(!bare.stdout.is_empty());
        assert!(bare.stdout == run.stdout && bare.stderr == run.stderr);
    };
    same(&[], &["run"]);
    same(&["--format", "json", "--quiet"], &["run", "--format", "json", "--quiet"]);
    // What belongs to `run` still needs its name.
    check(&["--seeds", "2"], 2, &["--seeds"]);
}

/// A gap in a child's script is a gap: no strategy may pass it off as a failed child.
#[test]
fn a_reply_that_is_not_written_fails_the_cell_in_any_thread() {
    let folder = tempfile::tempdir().unwrap();
    let path = changed(folder.path(), &[("  - thread: /1\n", "  - thread: /7\n")]);
    let output = check(&["run", &path, "--model", "script", "-s", "opencode", "--format", "json"], 13, &[]);
    let cell = &json(&output)["cells"][0];
    assert_eq!((&cell["status"], &cell["failure"]["kind"]), (&"failed".into(), &"model".into()));
    let message = cell["failure"]["message"].as_str().unwrap();
    assert!(message.contains("thread /1, turn 1, reply 1"), "{message}");
}
