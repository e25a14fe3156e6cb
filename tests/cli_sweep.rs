//! `sweep` with the real binary.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn ctxbench(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(assert_cmd::cargo::cargo_bin!("ctxbench")).args(args).output().expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text is UTF-8");
    (output.status.code().expect("it ended"), text(output.stdout), text(output.stderr))
}

fn document(args: &[&str]) -> Value {
    let (code, out, said) = ctxbench(&[&["sweep"], args, &["--format", "json"]].concat());
    assert_eq!(code, 0, "{said}");
    serde_json::from_str(&out).unwrap()
}

/// The tokens of a scenario file in which the parameter is written out, as `run` counts them.
fn total(file: &Path, strategy: &str) -> f64 {
    let (code, out, said) = ctxbench(&["run", &file.display().to_string(), "-s", strategy, "--format", "json"]);
    assert_eq!(code, 0, "{said}");
    let results: Value = serde_json::from_str(&out).unwrap();
    results["cells"][0]["metrics"]["total.input"].as_f64().unwrap()
}

#[test]
fn the_break_even_of_auth_lookup_is_where_runs_say_it_is() {
    let strategies = ["inline", "opencode"];
    let swept = document(&["auth-lookup", "--vary", "files=1..40..13", "-s", "inline", "-s", "opencode", "--metric", "total.input"]);
    let [change] = swept["metrics"][0]["changes"].as_array().unwrap().as_slice() else { panic!("{swept:#}") };
    assert_eq!((&change["before"][0], &change["behind"][0]), (&"inline@1".into(), &"opencode@1.18.33".into()));
    let (from, to) = (change["from"].as_i64().unwrap(), change["to"].as_i64().unwrap());
    // The grid is 1, 14, 27, 40: what lies between was halved until it was exact.
    assert_eq!(to, from + 1);
    // The same two values written into a copy of the file.
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/auth-lookup.yaml");
    let text = std::fs::read_to_string(suite).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (value, inline_is_better) in [(from, true), (to, false)] {
        let file = folder.path().join(format!("auth-{value}.yaml"));
        let own = "files: {small: 6, medium: 20, large: 50}";
        assert!(text.contains(own));
        // Of its variants, only the first is wanted here.
        let (head, rest) = text.split_once("\nvariants:\n").expect("it has variants");
        let (_, rest) = rest.split_once("\nagents:\n").expect("agents follow");
        std::fs::write(&file, format!("{head}\nagents:\n{rest}").replace(own, &format!("files: {value}"))).unwrap();
        let [inline, opencode] = strategies.map(|strategy| total(&file, strategy));
        assert_eq!(inline < opencode, inline_is_better, "{value}: {inline} {opencode}");
        let point = swept["metrics"][0]["points"].as_array().unwrap().iter().find(|point| point["value"] == value).unwrap();
        assert_eq!(point["figures"], serde_json::json!([inline, opencode]), "{value}");
    }
}

#[test]
fn a_snapshot_beats_an_isolated_child_from_some_attempts_on() {
    let isolated = "deerflow@v2:context_mode=isolated";
    let snapshot = "deerflow@v2:context_mode=snapshot";
    let args = ["continue-debugging", "--vary", "attempts=2..12", "-s", isolated, "-s", snapshot, "--metric", "total.input"];
    let swept = document(&args);
    let changes = swept["metrics"][0]["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{swept:#}");
    assert_eq!((&changes[0]["before"][0], &changes[0]["behind"][0]), (&isolated.into(), &snapshot.into()));
}

#[test]
fn every_format_says_the_same() {
    let args = [
        "sweep",
        "auth-lookup",
        "--vary",
        "files=2..4",
        "-s",
        "inline",
        "-s",
        "opencode",
        "--metric",
        "total.input",
        "--metric",
        "quality",
    ];
    let human = ctxbench(&args).1;
    assert!(human.contains("up to files = 2 the best is inline@1, from 3 on opencode@1.18.33"), "{human}");
    assert!(human.contains("quality\n  all are alike at every value\n"), "{human}");
    assert!(human.lines().all(|line| line.chars().count() <= 110), "{human}");
    let markdown = ctxbench(&[&args[..], &["--format", "markdown"]].concat()).1;
    assert!(markdown.contains("### total.input\n") && markdown.contains("| files | `inline@1` | `opencode@1.18.33` |"), "{markdown}");
    let csv = ctxbench(&[&args[..], &["--format", "csv"]].concat()).1;
    assert_eq!(csv.lines().count(), 1 + 2 * 3 * 2, "{csv}");
    assert!(csv.contains("total.input,files,2,inline@1,"), "{csv}");
}

#[test]
fn a_strategy_that_is_named_twice_is_one_column() {
    let of = |strategies: &[&str]| {
        let mut args = vec!["auth-lookup", "--vary", "files=2..4", "--metric", "total.input"];
        strategies.iter().for_each(|strategy| args.extend(["-s", strategy]));
        let human = ctxbench(&[&["sweep"], &args[..]].concat());
        assert_eq!(human.0, 0, "{}", human.2);
        (document(&args), human.1)
    };
    assert_eq!(of(&["inline", "inline"]), of(&["inline"]));
    assert_eq!(of(&["codex-v2", "inline", "codex-v2@0.171"]), of(&["codex-v2@0.171", "inline"]));
    assert_eq!(of(&["inline", "deerflow@*", "deerflow@v1"]), of(&["inline", "deerflow@*"]));
}

#[test]
fn where_nobody_has_a_figure_it_is_said_why() {
    let args = ["sweep", "auth-lookup", "--vary", "files=1..2", "-s", "inline", "--metric", "child.opening", "--metric", "delegations"];
    let human = ctxbench(&args).1;
    assert!(human.contains("child.opening\n  no strategy has a figure at any value: no child opened\n"), "{human}");
    assert!(human.contains("delegations\n  no direction is better, so nobody is the best\n"), "{human}");
    assert_eq!(document(&args[1..])["unmeasured"], serde_json::json!({"child.opening": "no child opened"}));
    // A window that no request fits into.
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/auth-lookup.yaml");
    let text = std::fs::read_to_string(suite).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("narrow.yaml");
    assert!(text.contains("\nfiles:\n"));
    std::fs::write(&file, text.replacen("\nfiles:\n", "\nwindow: 50\n\nfiles:\n", 1)).unwrap();
    let file = file.display().to_string();
    let (code, human, said) = ctxbench(&["sweep", &file, "--vary", "files=1..2", "-s", "inline", "--metric", "total.input"]);
    assert_eq!(code, 0, "{said}");
    assert!(human.contains("total.input\n  no strategy has a figure at any value: every run failed\n"), "{human}");
}

#[test]
fn what_cannot_be_varied_says_why() {
    let check = |args: &[&str], code: i32, words: &[&str]| {
        let (got, _, said) = ctxbench(&[&["sweep"], args].concat());
        assert_eq!(got, code, "{args:?}: {said}");
        words.iter().for_each(|word| assert!(said.contains(word), "{args:?} does not say `{word}`: {said}"));
    };
    check(&["auth-lookup", "--vary", "file=1..4"], 2, &["no parameter `file`", "did you mean `files`?", "then_turns (4)"]);
    check(&["auth-lookup", "--vary", "files"], 2, &["KEY=FROM..TO"]);
    check(&["auth-lookup", "--vary", "files=4..1"], 2, &["not below"]);
    check(&["auth-lookup", "--vary", "file_characters=-3..-1"], 3, &["with file_characters = -3 the scenario is wrong"]);
    check(&["auth-lokup", "--vary", "files=1..4"], 2, &["did you mean `auth-lookup`?"]);
    check(&["nowhere.yaml", "--vary", "files=1..4"], 1, &["cannot read nowhere.yaml"]);
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/recordings/claude-code/equal-prompts.jsonl");
    check(&[recording, "--vary", "files=1..4"], 3, &["it is no scenario file", "a recording has no parameters to vary"]);
    check(&["auth-lookup", "--vary", "files=1..4", "--metric", "tokens"], 2, &["no metric `tokens`"]);
    check(&["auth-lookup", "--vary", "files=1..4", "-s", "nobody"], 2, &["nobody"]);
}
