//! The command line with the real binary: exit codes, messages, lists, help.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn ctxbench(args: &[&str]) -> Output {
    Command::new(assert_cmd::cargo::cargo_bin!("ctxbench")).args(args).output().expect("the binary runs")
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("results are UTF-8")
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("messages are UTF-8")
}

/// Runs, and expects an exit code and words on standard error.
fn check(args: &[&str], code: i32, words: &[&str]) -> Output {
    let output = ctxbench(args);
    let said = err(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    for word in words {
        assert!(said.contains(word), "{args:?} does not say `{word}`: {said}");
    }
    output
}

/// A scenario file of the suite with another id and more lines at its end.
fn scenario(folder: &Path, id: &str, more: &str) -> String {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/tiny-task.yaml");
    let text = fs::read_to_string(suite).expect("the suite is readable").replace("id: tiny-task\n", &format!("id: {id}\n"));
    let path = folder.join(format!("{id}.yaml"));
    fs::write(&path, format!("{text}\n{more}\n")).expect("the test folder is writable");
    path.display().to_string()
}

#[test]
fn what_is_fine_exits_with_0() {
    for args in [&["--version"][..], &["--help"], &["list"], &["schema", "results"], &["run", "tiny-task", "-s", "inline"]] {
        let output = check(args, 0, &[]);
        assert!(!output.stdout.is_empty() && output.stderr.is_empty(), "{args:?}: {}", err(&output));
    }
}

#[test]
fn paths_that_cannot_be_used_exit_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "not a folder").unwrap();
    let below = file.join("run").display().to_string();
    check(&["run", "nowhere/x.yaml"], 1, &["cannot read nowhere/x.yaml", "no such file or folder"]);
    check(&["run", "./nowhere"], 1, &["cannot read ./nowhere"]);
    check(&["run", "x.yaml"], 1, &["cannot read x.yaml"]);
    check(&["validate", "nowhere.yaml"], 1, &["cannot read nowhere.yaml"]);
    check(&["show", "tiny-task/inline/reader/0", "--from", "nowhere.yaml"], 1, &["cannot read nowhere.yaml"]);
    check(&["show", "tiny-task/inline/reader/0", "--run-dir", "nowhere"], 1, &["cannot read nowhere"]);
    check(&["run", "tiny-task", "-s", "inline", "--run-dir", &below], 1, &["cannot create", "file, not a folder"]);
    check(&["run", "tiny-task", "-s", "inline", "--out", &format!("json={below}")], 1, &["cannot write", &below]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was left behind");
}

#[test]
fn what_was_typed_wrongly_exits_with_2_and_names_what_is_known() {
    check(&["frobnicate"], 2, &["frobnicate"]);
    check(&["merge"], 2, &["merge"]);
    check(&["run", "--resume"], 2, &["--resume"]);
    check(&["run", "tiny-tusk"], 2, &["tiny-tusk", "did you mean `tiny-task`?", "list scenarios"]);
    check(&["run", "nothing-like-it"], 2, &["nothing-like-it", "list scenarios"]);
    check(&["run", "tiny-task", "-s", "opencod"], 2, &["opencod", "`opencode`"]);
    check(&["run", "tiny-task", "-s", "full-copy:in_flight=forwart"], 2, &["forwart", "`forward`", "drop-call"]);
    check(&["run", "tiny-task", "--size", "smal"], 2, &["small"]);
    check(&["run", "tiny-task", "--model", "raeder"], 2, &["reader", "held"]);
    check(&["run", "tiny-task", "--model", "held"], 2, &["tiny-task is a scenario"]);
    check(&["run", "tiny-task", "--as", "gpt-6-soll"], 2, &["gpt-6-sol"]);
    check(&["run", "tiny-task", "--tokenizer", "o200k_bas"], 2, &["o200k_base"]);
    check(&["run", "tiny-task", "--engine", "tiktokn"], 2, &["tiktoken"]);
    check(&["run", "tiny-task", "--seeds", "0"], 2, &["0"]);
    check(&["run", "tiny-task", "--jobs", "0"], 2, &["0"]);
    check(&["run", "tiny-task", "--out", "jsn=x"], 2, &["jsn", "json"]);
    check(&["run", "tiny-task", "--out", "json"], 2, &["FORMAT=PATH"]);
    check(&["list", "metric"], 2, &["metrics"]);
    check(&["list", "--format", "csv"], 2, &["`list` has no format csv", "human and json"]);
    check(&["schema", "result"], 2, &["results"]);
    check(&["show", "tiny-task"], 2, &["no cell id", "SCENARIO/STRATEGY@PROFILE/MODEL/SEED"]);
    check(&["show", "tiny-tusk/inline/reader/0"], 2, &["did you mean `tiny-task`?"]);
    check(&["show", "tiny-task/inline/held/0"], 2, &["played by `reader`"]);
    check(&["show", "tiny-task/inline/reader/0", "--request", "99"], 2, &["no request 99", "0 to"]);
    check(&["show", "tiny-task/inline/reader/0", "--thread", "/7"], 2, &["no thread /7"]);
}

#[test]
fn bad_input_exits_with_3_and_says_all_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let one = scenario(folder.path(), "one", "colour: red");
    let two = scenario(folder.path(), "two", "flavour: sweet\nsound: loud");
    let all = ["colour", "flavour", "sound", "one.yaml", "two.yaml"];
    check(&["run", &one, &two], 3, &all);
    check(&["run", &folder.path().display().to_string()], 3, &all);
    check(&["validate", &one, &two], 3, &all);
    let empty = tempfile::tempdir().unwrap();
    check(&["run", &empty.path().display().to_string()], 3, &[&empty.path().display().to_string()]);
}

#[test]
fn a_scenario_called_twice_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = scenario(folder.path(), "tiny-task", "");
    check(&["run", "tiny-task", &path], 2, &["`tiny-task` is there twice"]);
}

#[test]
fn an_unexpected_failure_exits_with_13_and_an_expected_one_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let narrow = scenario(folder.path(), "narrow", "window: 50");
    let output = check(&["run", &narrow, "-s", "inline"], 13, &["1 of 1 cells failed"]);
    assert!(out(&output).contains("! inline@1 failed (overflow)"), "{}", out(&output));
    let wanted = scenario(folder.path(), "wanted", "window: 50\nexpects_failure: overflow");
    let output = check(&["run", &wanted, "-s", "inline"], 0, &[]);
    assert!(out(&output).contains("failed (overflow, as the scenario expects)"), "{}", out(&output));
    let output = check(&["run", &narrow, &wanted, "tiny-task", "-s", "inline", "--format", "json", "--quiet"], 13, &[]);
    assert!(output.stderr.is_empty());
    let results: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let status = |at: usize| results["cells"][at]["status"].as_str().unwrap().to_owned();
    assert_eq!([status(0), status(1), status(2)], ["failed", "expected_failure", "ok"]);
}

#[test]
fn a_closed_pipe_is_fine() {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("ctxbench"))
        .args(["run", "tiny-task", "--format", "json", "--seeds", "300"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0u8; 1];
    let mut stdout = child.stdout.take().unwrap();
    std::io::Read::read_exact(&mut stdout, &mut first).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), err(&output).as_str()), (Some(0), ""));
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_was_finished() {
    let folder = tempfile::tempdir().unwrap();
    let run_dir = folder.path().join("run");
    let child = Command::new(assert_cmd::cargo::cargo_bin!("ctxbench"))
        .args(["run", "tiny-task", "-s", "inline", "--seeds", "1000000", "--format", "csv", "--run-dir"])
        .arg(&run_dir)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let results = run_dir.join("results.jsonl");
    while fs::metadata(&results).map_or(0, |file| file.len()) == 0 {
        std::thread::yield_now();
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", err(&output));
    assert!(err(&output).contains("of 1000000 cells"), "{}", err(&output));
    let text = fs::read_to_string(&results).unwrap();
    assert!(text.ends_with('\n'));
    for (at, line) in text.lines().enumerate() {
        let cell: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(cell["cell"], format!("tiny-task/inline@1/reader/{at}"));
    }
}

#[test]
fn quiet_and_log_say_how_much_is_said() {
    let loud = ctxbench(&["run", "tiny-task", "-s", "inline", "--log", "info"]);
    assert!(err(&loud).contains("info: 1 cells"), "{}", err(&loud));
    let quiet = ctxbench(&["run", "tiny-task", "-s", "inline", "--log", "info", "--quiet"]);
    assert_eq!(err(&quiet), "");
}

#[test]
fn colour_is_for_terminals_unless_it_is_asked_for() {
    let coloured = |args: &[&str]| out(&ctxbench(args)).contains('\x1b');
    assert!(!coloured(&["run", "tiny-task", "-s", "inline"]));
    assert!(coloured(&["run", "tiny-task", "-s", "inline", "--color", "always"]));
    assert!(!coloured(&["run", "tiny-task", "-s", "inline", "--color", "always", "--format", "json"]));
}

#[test]
fn help_of_every_command() {
    for command in ["", "run", "show", "list", "import", "validate", "schema"] {
        let args: Vec<&str> = [command, "--help"].into_iter().filter(|word| !word.is_empty()).collect();
        let name = if command.is_empty() { "ctxbench" } else { command };
        insta::assert_snapshot!(format!("help_{name}"), out(&ctxbench(&args)));
    }
}

#[test]
fn lists_have_a_line_each() {
    for (what, some) in [
        ("scenarios", "auth-lookup"),
        ("strategies", "opencode"),
        ("models", "reader"),
        ("metrics", "parent.input_total"),
        ("formats", "markdown"),
        ("prices", "gpt-6-sol"),
    ] {
        let text = out(&check(&["list", what], 0, &[]));
        assert_eq!(text.lines().filter(|line| line.split_whitespace().next() == some.split_whitespace().next()).count(), 1, "{text}");
        let json = out(&check(&["list", what, "--format", "json"], 0, &[]));
        let entries: serde_json::Value = serde_json::from_str(&json).unwrap();
        let count = entries["entries"].as_array().unwrap().len();
        assert_eq!(count, text.lines().filter(|line| !line.starts_with('(')).count());
    }
    insta::assert_snapshot!("list_formats", out(&ctxbench(&["list", "formats"])));
    insta::assert_snapshot!("list_models", out(&ctxbench(&["list", "models"])));
}

#[test]
fn validate_names_what_is_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = scenario(folder.path(), "mine", "");
    assert_eq!(out(&check(&["validate", &path], 0, &[])), format!("{path}: fine: mine (small, medium, large)\n"));
    let wrong = scenario(folder.path(), "wrong", "colour: red");
    let output = check(&["validate", &wrong, "--format", "json"], 3, &["colour"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(json["files"][0]["problems"][0]["line"].as_u64().unwrap() > 1);
}
