//! `run` and `show` with the real binary: the same bytes for any number of threads and any folder, the stored formats
//! under their schemas, cells recomputed and read back.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

#[path = "worlds/folder.rs"]
mod folder;

use folder::files;

fn ctxbench_in(folder: &Path, args: &[&str]) -> Output {
    Command::new(assert_cmd::cargo::cargo_bin!("ctxbench")).args(args).current_dir(folder).output().expect("the binary runs")
}

fn ctxbench(args: &[&str]) -> String {
    let output = ctxbench_in(Path::new("."), args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("results are UTF-8")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}

const CELLS: [&str; 7] = ["auth-lookup-parallel", "tiny-task", "--strategy", "inline", "--strategy", "opencode", "--seeds"];

#[test]
fn the_same_bytes_for_any_number_of_threads_and_any_folder() {
    let mut runs = Vec::new();
    for jobs in ["1", "2", "7"] {
        let folder = tempfile::tempdir().unwrap();
        let outs = ["--out", "json=r.json", "--out", "csv=r.csv", "--out", "markdown=r.md", "--run-dir", "kept"];
        let args: Vec<&str> = ["run"].into_iter().chain(CELLS).chain(["3", "--jobs", jobs]).chain(outs).collect();
        let output = ctxbench_in(folder.path(), &args);
        assert!(output.status.success());
        runs.push((output.stdout, files(folder.path())));
    }
    assert_eq!(
        runs[0].1.keys().map(String::as_str).collect::<Vec<_>>(),
        [
            "kept/ledger.jsonl",
            "kept/lock",
            "kept/results.jsonl",
            "kept/run.json",
            "kept/threads/parts.jsonl",
            "kept/threads/requests.jsonl",
            "r.csv",
            "r.json",
            "r.md",
        ]
    );
    assert!(runs[0].1["kept/ledger.jsonl"].len() > 1000);
    assert!(runs[0] == runs[1] && runs[0] == runs[2]);
}

#[test]
fn nothing_is_written_without_being_asked() {
    let folder = tempfile::tempdir().unwrap();
    assert!(ctxbench_in(folder.path(), &["run", "tiny-task"]).status.success());
    assert_eq!(files(folder.path()).len(), 0);
}

#[test]
fn a_folder_that_holds_a_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["run", "tiny-task", "-s", "inline", "--run-dir", "kept"];
    assert!(ctxbench_in(folder.path(), &args).status.success());
    let before = files(folder.path());
    let again = ctxbench_in(folder.path(), &args);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("kept holds a run already: give another --run-dir"));
    assert_eq!(files(folder.path()), before);
}

#[test]
fn results_and_ledger_keep_to_their_schemas() {
    let folder = tempfile::tempdir().unwrap();
    let args: Vec<&str> = ["run"].into_iter().chain(CELLS).chain(["2", "--format", "json", "--run-dir", "kept"]).collect();
    let results = json(&String::from_utf8(ctxbench_in(folder.path(), &args).stdout).unwrap());
    let check = |schema: &str, instance: &Value| {
        let schema = json(&ctxbench(&["schema", schema]));
        let validator = jsonschema::validator_for(&schema).expect("the schema is one");
        let errors: Vec<String> = validator.iter_errors(instance).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        let broken = Value::String("no results".into());
        assert!(!validator.is_valid(&broken));
    };
    check("results", &results);
    assert_eq!(results["cells"].as_array().unwrap().len(), 8);
    let ledger = fs::read_to_string(folder.path().join("kept/ledger.jsonl")).unwrap();
    for line in ledger.lines().take(20) {
        check("ledger", &json(line));
    }
    // The document's cells are the lines of `results.jsonl`.
    let lines = fs::read_to_string(folder.path().join("kept/results.jsonl")).unwrap();
    let lines: Vec<Value> = lines.lines().map(json).collect();
    assert_eq!(results["cells"], Value::Array(lines));
}

#[test]
fn the_committed_schemas_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let known = [
        ("results", "ctxbench-results-1.json"),
        ("ledger", "ctxbench-ledger-1.json"),
        ("budgets", "ctxbench-budgets-1.json"),
        ("check", "ctxbench-check-1.json"),
        ("cassette", "ctxbench-cassette-1.json"),
    ];
    for (what, file) in known {
        let path = folder.join(file);
        let current = ctxbench(&["schema", what]);
        if std::env::var_os("UPDATE_SCHEMAS").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, &current).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == current, "{} is not current: run this test with UPDATE_SCHEMAS=1 and look at the difference", path.display());
    }
}

#[test]
fn a_cell_has_the_contract_s_fields_in_their_order() {
    let text = ctxbench(&["run", "tiny-task", "-s", "opencode", "--format", "json"]);
    let line = text.lines().find(|line| line.starts_with(r#"{"cell":"#)).unwrap();
    let mut at = 0;
    let names = [
        "cell",
        "scenario",
        "size",
        "strategy",
        "model",
        "seed",
        "evidence",
        "status",
        "failure",
        "fingerprint",
        "metrics",
        "unmeasured",
        "checks",
        "threads",
    ];
    for name in names {
        at += line[at..].find(&format!("\"{name}\":")).unwrap_or_else(|| panic!("{name} is not behind the fields before it: {line}"));
    }
    assert!(
        text.starts_with(
            r#"{"format":"ctxbench-results/1","ctxbench":"0.1.0","tokenizer":"o200k_base","prices":{"name":"2026-11-30","sha256":""#
        ),
        "{text}"
    );
    let cell = &json(&text)["cells"][0];
    assert_eq!(cell["cell"], "tiny-task/opencode@1.18.33/reader/0");
    assert!(cell["metrics"]["cost.usd"].is_f64() && cell["metrics"]["followups.lost"].is_null());
    assert!(cell["metrics"]["parent.final_context"].is_u64() && cell["metrics"]["quality"].is_f64());
    // Every metric is there, measured or not, and whatever is null says why.
    let metrics = cell["metrics"].as_object().unwrap();
    let listed = json(&ctxbench(&["list", "metrics", "--format", "json"]));
    assert_eq!(metrics.len(), listed["entries"].as_array().unwrap().len());
    for (name, value) in metrics {
        assert_eq!(value.is_null(), cell["unmeasured"].get(name).is_some(), "{name}");
    }
}

#[test]
fn what_is_not_the_default_stands_in_the_id() {
    let text = ctxbench(&[
        "run",
        "tiny-task",
        "-s",
        "full-copy:in_flight=forward",
        "--size",
        "medium",
        "--briefing",
        "known",
        "--fallback",
        "give-up",
        "--format",
        "json",
    ]);
    assert_eq!(json(&text)["cells"][0]["cell"], "tiny-task~medium+known+give-up/full-copy@1:in_flight=forward/reader/0");
}

#[test]
fn other_settings_make_other_fingerprints() {
    let print = |args: &[&str]| {
        let args: Vec<&str> = ["run", "tiny-task", "-s", "inline", "--format", "json"].into_iter().chain(args.iter().copied()).collect();
        json(&ctxbench(&args))["cells"][0]["fingerprint"].as_str().unwrap().to_owned()
    };
    let base = print(&[]);
    assert_eq!(base, print(&["--jobs", "2", "--seeds", "2"]));
    let others = [
        &["--as", "none"][..],
        &["--as", "gpt-4o-mini"],
        &["--tokenizer", "cl100k_base"],
        &["--size", "medium"],
        &["--cache", "off"],
        &["--cache", "anthropic/claude-code"],
        &["--cache-key", "thread"],
        &["--cache-start", "warm"],
        &["--model", "reader:unknown=guess"],
    ];
    for other in others {
        assert_ne!(base, print(other), "{other:?}");
    }
}

#[test]
fn show_says_the_same_of_a_cell_recomputed_and_of_one_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let args: Vec<&str> = ["run"].into_iter().chain(CELLS).chain(["2", "--run-dir", "kept"]).collect();
    assert!(ctxbench_in(folder.path(), &args).status.success());
    let cell = "auth-lookup-parallel/opencode@1.18.33/reader/1";
    for more in [&[][..], &["--format", "json"], &["--thread", "/1"], &["--request", "2"], &["--request", "2", "--format", "json"]] {
        let args: Vec<&str> = ["show", cell].into_iter().chain(more.iter().copied()).collect();
        let recomputed = ctxbench(&args);
        let kept: Vec<&str> = args.iter().copied().chain(["--run-dir", "kept"]).collect();
        let read = String::from_utf8(ctxbench_in(folder.path(), &kept).stdout).unwrap();
        assert_eq!(recomputed, read, "{more:?}");
    }
    let wrong = ctxbench_in(folder.path(), &["show", "tiny-task/inline@1/reader/7", "--run-dir", "kept"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("did you mean `tiny-task/inline@1/reader/0`?"));
}

#[test]
fn show_adds_up() {
    let shown = json(&ctxbench(&["show", "tiny-task/opencode/reader/0", "--format", "json"]));
    assert_eq!(shown["cell"], "tiny-task/opencode@1.18.33/reader/0");
    let paths: Vec<&str> = shown["threads"].as_array().unwrap().iter().map(|thread| thread["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/", "/1"]);
    for thread in shown["threads"].as_array().unwrap() {
        let opening = &thread["opening"];
        let items: u64 = opening["items"].as_array().unwrap().iter().map(|item| item["tokens"].as_u64().unwrap()).sum();
        let parts = opening["system_tokens"].as_u64().unwrap() + opening["tools_tokens"].as_u64().unwrap() + items;
        assert_eq!(parts, opening["input_total"].as_u64().unwrap());
        for request in thread["requests"].as_array().unwrap() {
            let origins: u64 = request["input"].as_object().unwrap().values().map(|tokens| tokens.as_u64().unwrap()).sum();
            assert_eq!(origins, request["input_total"].as_u64().unwrap());
        }
    }
    // The child opens with its task alone, and its answer reaches the parent inside OpenCode's frame.
    let child = shown["threads"][1]["opening"]["items"].as_array().unwrap();
    assert_eq!((child.len(), child[0]["origin"].as_str()), (1, Some("task")));
    let back = shown["threads"][0]["received"][0]["items"][0]["text"].as_str().unwrap();
    assert!(back.contains("port 9187"), "{back}");
}

/// A recording of one session with two children.
fn recording() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recordings/claude-code/inline-two-children.jsonl");
    path.display().to_string()
}

#[test]
fn a_recording_is_held() {
    let path = recording();
    let results = json(&ctxbench(&["run", &path, "--format", "json", "-s", "inline", "-s", "opencode"]));
    let cell = &results["cells"][1];
    assert_eq!(cell["cell"], "lighthouse/opencode@1.18.33/held/0");
    assert_eq!((cell["evidence"].as_str(), cell["status"].as_str()), (Some("held"), Some("ok")));
    assert!(cell["metrics"]["quality"].is_null());
    assert_eq!(cell["unmeasured"]["quality"], "a recording has no answer key");
    assert_eq!(cell["checks"], Value::Array(vec![]));
    // One root with three responses, one child with two, one with one.
    let threads = json(r#"[{"path":"/","requests":3},{"path":"/1","requests":2},{"path":"/2","requests":1}]"#);
    assert_eq!(cell["threads"], threads);
    let notes: Vec<&str> = cell["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap()).collect();
    assert!(notes[0].contains("no system prompt") && notes[1].starts_with("root growth: counted "), "{notes:?}");
}

#[test]
fn recordings_and_scenarios_run_side_by_side_and_are_told_apart() {
    let path = recording();
    let text = ctxbench(&["run", "tiny-task", &path, "-s", "opencode", "--format", "json"]);
    let results = json(&text);
    let evidence: Vec<&str> = results["cells"].as_array().unwrap().iter().map(|cell| cell["evidence"].as_str().unwrap()).collect();
    assert_eq!(evidence, ["simulated", "held"]);
    let rows = results["summary"].as_array().unwrap();
    let of = |level: &str| rows.iter().filter(|row| row["evidence"] == level && row["metric"] == "total.input").count();
    assert_eq!((of("simulated"), of("held")), (1, 1));
    assert!(rows.iter().all(|row| row["n"] == 1 && row["low"].is_null() && row["high"].is_null()));
}

#[test]
fn a_folder_of_both_runs_both() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("both/deep")).unwrap();
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/tiny-task.yaml"), at("both/tiny.yaml")).unwrap();
    fs::copy(recording(), at("both/deep/session.jsonl")).unwrap();
    // Neither a scenario nor a recording.
    fs::write(at("both/package.json"), "{\"name\": \"a\"}\n").unwrap();
    fs::write(at("both/table.jsonl"), "{\"a\": 1}\n{\n").unwrap();
    let run = |args: &[&str]| {
        let output = ctxbench_in(folder.path(), &[&["run", "both", "-s", "opencode", "--format", "json"], args].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {said}");
        let results = json(&String::from_utf8(output.stdout).unwrap());
        let cells = results["cells"].as_array().unwrap().iter();
        (cells.map(|cell| cell["cell"].as_str().unwrap().to_owned()).collect::<Vec<_>>(), said)
    };
    let (scenario, recorded) = ("tiny-task/opencode@1.18.33/reader/0", "lighthouse/opencode@1.18.33/held/0");
    assert_eq!(run(&[]), (vec![scenario.into(), recorded.into()], String::new()));
    let (cells, said) = run(&["--model", "reader"]);
    assert_eq!(cells, [scenario]);
    assert!(said.contains("the recordings of both are not played by `reader`: left out"), "{said}");
    let (cells, said) = run(&["--model", "held"]);
    assert_eq!(cells, [recorded]);
    assert!(said.contains("the scenarios of both are not played by `held`: left out"), "{said}");
    // Recordings of which none can be run are said, and the scenarios run.
    let text = fs::read_to_string(at("both/deep/session.jsonl")).unwrap();
    fs::write(at("both/deep/session.jsonl"), text.lines().next().unwrap().to_owned() + "\n").unwrap();
    let (cells, said) = run(&[]);
    assert_eq!(cells, [scenario]);
    assert!(said.contains("recordings of both hold no session: left out"), "{said}");
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recordings/claude-code/usage-odds.jsonl"), at("both/deep/session.jsonl"))
        .unwrap();
    let (cells, said) = run(&[]);
    assert_eq!(cells, [scenario]);
    assert!(said.contains("1 session of both without a delegation: left out") && said.matches("left out").count() == 1, "{said}");
}

#[test]
fn a_recording_does_not_depend_on_where_it_lies() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(recording(), folder.path().join("copied.txt")).unwrap();
    let copy = ctxbench_in(folder.path(), &["run", "copied.txt", "--format", "json"]);
    assert!(copy.status.success(), "{}", String::from_utf8_lossy(&copy.stderr));
    assert_eq!(String::from_utf8(copy.stdout).unwrap(), ctxbench(&["run", &recording(), "--format", "json"]));
}

#[test]
fn a_recording_s_cell_is_shown_from_its_file() {
    let path = recording();
    let shown = json(&ctxbench(&["show", "lighthouse/opencode/held/0", "--from", &path, "--format", "json"]));
    let paths: Vec<&str> = shown["threads"].as_array().unwrap().iter().map(|thread| thread["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/", "/1", "/2"]);
    let back = shown["threads"][0]["received"][0]["items"][0]["text"].as_str().unwrap();
    assert!(back.contains("The lamp is lit."), "{back}");
}

#[test]
fn what_cannot_be_run_of_recordings_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = recording();
    let fails = |args: &[&str], code: i32, words: &str| {
        let output = ctxbench_in(folder.path(), args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(words), "{args:?} does not say `{words}`: {said}");
    };
    fails(&["run", &path, "--model", "reader"], 2, "is a recording, which `reader` cannot play");
    fs::write(folder.path().join("notes.json"), "{\"a\": 1}\n").unwrap();
    fails(&["run", "notes.json"], 3, "no recording of a known format");
    fs::write(folder.path().join("empty"), "").unwrap();
    fails(&["run", "empty"], 3, "empty");
    fs::write(folder.path().join("binary"), [0u8, 159, 146, 150]).unwrap();
    fails(&["run", "binary"], 3, "binary");
    fails(&["run", &path, &path], 2, "`lighthouse` is there twice");
}

#[test]
fn two_strategies_beside_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let cell = "tiny-task/full-copy/reader/0";
    let page = ctxbench(&["show", cell, "--vs", "opencode"]);
    assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    assert!(page.lines().count() <= 70, "{page}");
    for (side, figures) in ["A", "B"].iter().zip(0..) {
        // What it comes down to is what the cells' results say.
        let cell = ["tiny-task/full-copy@1", "tiny-task/opencode@1.18.33"][figures];
        let run = json(&ctxbench(&["run", "tiny-task", "-s", &cell["tiny-task/".len()..], "--format", "json"]));
        let versus = json(&ctxbench(&["show", "tiny-task/full-copy/reader/0", "--vs", "opencode", "--format", "json"]));
        for (metric, value) in versus["sides"][figures]["figures"].as_object().unwrap() {
            assert_eq!(*value, run["cells"][0]["metrics"][metric], "{side} {metric}");
        }
    }
    for words in
        ["A  tiny-task/full-copy@1/reader/0", "all that the parent has", "B  tiny-task/opencode@1.18.33/reader/0", "the prompt alone"]
    {
        assert!(page.contains(words), "{words}: {page}");
    }
    // The full copy's child was sent the parent's prompt, OpenCode's its own agent's; both have the same tools.
    let marked: Vec<(&str, char)> = page
        .lines()
        .filter_map(|line| Some((line.get(..38)?.trim(), line.chars().nth(39)?)))
        .filter(|(_, mark)| ['=', '≠'].contains(mark))
        .collect();
    let answer = "The metrics endpoint listens on";
    assert_eq!(marked, [("97  system", '≠'), ("131  tools", '='), ("32  inherited · user", '≠'), (answer, '=')]);
    let versus = json(&ctxbench(&["show", cell, "--vs", "opencode", "--format", "json"]));
    assert_eq!(versus["format"], "ctxbench-show-vs/1");
    let opening = &versus["openings"][0];
    assert_eq!((opening["path"].as_str(), versus["openings"].as_array().unwrap().len()), (Some("/1"), 1));
    assert_eq!(opening["differs"], json(r#"{"system":true,"tools":false,"first_item":0}"#));
    // Each side is what `show` says of its cell.
    for (side, cell) in [cell, "tiny-task/opencode/reader/0"].into_iter().enumerate() {
        let shown = json(&ctxbench(&["show", cell, "--format", "json"]));
        assert_eq!(opening["requests"][side], shown["threads"][1]["opening"]);
        assert_eq!(versus["returns"][side][0]["items"], shown["threads"][0]["received"][0]["items"]);
        assert_eq!(versus["parent_gain"][side], shown["threads"][0]["received"][0]["tokens"]);
        for (who, thread) in [("parent", 0), ("children", 1)] {
            let requests = shown["threads"][thread]["requests"].as_array().unwrap();
            let spend = &versus["spend"][side][who];
            assert_eq!(spend["requests"], requests.len());
            for origin in ["system", "task", "delegated", "tool_result"] {
                let sum: u64 = requests.iter().map(|one| one["input"][origin].as_u64().unwrap()).sum();
                assert_eq!(spend["input"][origin], sum, "{who} {origin}");
            }
        }
    }
    // The same from a run's folder.
    let run = ["run", "tiny-task", "-s", "full-copy", "-s", "opencode", "--run-dir", "kept"];
    assert!(ctxbench_in(folder.path(), &run).status.success());
    let read = ctxbench_in(folder.path(), &["show", cell, "--vs", "opencode", "--run-dir", "kept"]);
    assert_eq!(String::from_utf8(read.stdout).unwrap(), page);
}

#[test]
fn a_strategy_without_a_child_stands_beside_one_with_it() {
    let page = ctxbench(&["show", "tiny-task/inline/reader/0", "--vs", "full-copy"]);
    assert!(page.contains("A (it was not opened)") && page.contains("B 379 tokens"), "{page}");
    let root = ctxbench(&["show", "tiny-task/inline/reader/0", "--vs", "full-copy", "--thread", "/"]);
    assert!(root.contains("--- thread / opened with") && !root.contains("thread /1"), "{root}");
}

#[test]
fn what_cannot_stand_beside_a_cell_is_said() {
    let fails = |args: &[&str], words: &str| {
        let output = ctxbench_in(Path::new("."), &[&["show", "tiny-task/inline/reader/0"][..], args].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(words), "{args:?} does not say `{words}`: {said}");
    };
    fails(&["--vs", "inline@1"], "is the cell's own strategy");
    fails(&["--vs", "opencod"], "`opencode`");
    fails(&["--vs", "opencode", "--thread", "/7"], "neither cell has a thread /7");
    fails(&["--vs", "opencode", "--request", "1"], "--request");
    fails(&["--vs", "opencode", "--format", "csv"], "human and json");
}

/// Long texts may stand in files beside a scenario, wherever the command is typed.
#[test]
fn texts_beside_a_scenario_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/tiny-task.yaml")).unwrap();
    let scenario = text.replacen("\nfiles:\n", "\nfiles:\n  - {path: notes.md, text: {beside: texts/notes.md}}\n", 1);
    assert!(scenario.contains("beside"), "the scenario has files");
    fs::write(folder.path().join("copy.yaml"), scenario).unwrap();
    let path = folder.path().join("copy.yaml").display().to_string();
    let missing = ctxbench_in(folder.path(), &["validate", &path]);
    assert_eq!(missing.status.code(), Some(3));
    let said = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(said.contains("notes.md") && said.contains("there is no such file"), "{said}");
    fs::create_dir(folder.path().join("texts")).unwrap();
    fs::write(folder.path().join("texts/notes.md"), "Nothing of note.").unwrap();
    assert_eq!(ctxbench_in(folder.path(), &["validate", &path]).status.code(), Some(0));
    assert_eq!(ctxbench_in(Path::new("/"), &["run", &path]).status.code(), Some(0));
}
