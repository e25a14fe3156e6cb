//! `--out` with the real binary: no report is written over what a command reads or a run keeps.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A folder with all that commands read: a scenario, a recording, vectors, budgets and their lock, a run, a results document.
fn world() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["scenarios", "recordings", "sub"] {
        fs::create_dir(at(name)).unwrap();
    }
    let text = fs::read_to_string(root().join("scenarios/tiny-task.yaml")).unwrap();
    fs::write(at("scenarios/lookup.yaml"), text.replace("id: tiny-task\n", "id: lookup\n")).unwrap();
    fs::copy(root().join("fixtures/recordings/claude-code/equal-prompts.jsonl"), at("recordings/session.jsonl")).unwrap();
    fs::copy(root().join("fixtures/conformance/maf.json"), at("vectors.json")).unwrap();
    let budgets = "version = 1\n[[budget]]\nscenario = \"lookup\"\nstrategy = \"inline\"\n\"requests\" = { max = 100 }\n";
    fs::write(at("budgets.toml"), budgets).unwrap();
    let fine = |args: &[&str]| {
        let (code, _, said) = ctxbench(folder.path(), args);
        assert_eq!(code, 0, "{args:?}: {said}");
    };
    fine(&["run", "scenarios/lookup.yaml", "-s", "inline", "--run-dir", "kept", "--out", "json=results.json"]);
    fine(&["check", "--accept"]);
    folder
}

fn ctxbench(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("ctxbench"));
    let output = command.current_dir(folder).env_remove("CI").args(args).output().expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text is UTF-8");
    (output.status.code().expect("it ended"), text(output.stdout), text(output.stderr))
}

/// Every file below a folder with its bytes.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(self::files(&path)) } else { files.push((path.clone(), fs::read(&path).unwrap())) }
    }
    files.sort();
    files
}

const CELL: &str = "lookup/inline/reader/0";

#[test]
fn no_report_is_written_over_what_a_command_reads() {
    let folder = world();
    let check = |args: &[&str], targets: &[&str]| {
        let before = files(folder.path());
        for target in targets {
            let absolute = folder.path().join(target).display().to_string();
            for spelling in
                [format!("json={target}"), format!("json=./{target}"), format!("json=sub/../{target}"), format!("json={absolute}")]
            {
                let all = [args, &["--out", &spelling]].concat();
                let (code, out, said) = ctxbench(folder.path(), &all);
                assert_eq!((code, out.as_str()), (2, ""), "{all:?}: {said}");
                assert!(said.contains("--out would write over") && said.contains(target) && said.contains("ive the report a"), "{said}");
            }
        }
        assert!(files(folder.path()) == before, "{args:?} changed a file");
    };
    let run: &[&str] = &["kept/run.json", "kept/results.jsonl", "kept/ledger.jsonl", "kept/threads/parts.jsonl", "kept/report.json"];
    let scenario: &[&str] = &["scenarios/lookup.yaml"];
    let recording: &[&str] = &["recordings/session.jsonl"];
    let budgets: &[&str] = &["budgets.toml", "budgets.lock", "budgets.lock.new"];
    check(&["run", "scenarios/lookup.yaml", "-s", "inline"], scenario);
    check(&["run", "scenarios", "-s", "inline"], scenario);
    check(&["run", "recordings/session.jsonl", "-s", "inline"], recording);
    check(&["run", "recordings", "-s", "opencode"], recording);
    check(&["run", "scenarios", "-s", "inline", "--run-dir", "kept", "--resume"], run);
    check(&["check"], &[budgets, scenario].concat());
    check(&["check", "--accept"], &[budgets, scenario].concat());
    check(&["check", "recordings"], recording);
    check(&["check", "kept"], &[budgets, run].concat());
    check(&["explain", CELL], &["budgets.toml", "budgets.lock", "scenarios/lookup.yaml"]);
    check(&["explain", CELL, "--run-dir", "kept"], run);
    check(&["show", CELL, "--from", "scenarios/lookup.yaml"], scenario);
    check(&["show", "lookup/inline@1/reader/0", "--run-dir", "kept"], run);
    check(&["show", CELL, "--vs", "opencode", "--from", "scenarios"], scenario);
    check(&["diff", "kept", "results.json"], &[run, &["results.json"]].concat());
    check(&["sweep", "scenarios/lookup.yaml", "--vary", "files=1..2", "-s", "inline"], &[]);
    check(&["validate", "scenarios/lookup.yaml"], scenario);
    check(&["import", "recordings"], recording);
    check(&["import", "recordings/session.jsonl"], recording);
    check(&["conformance", "vectors.json"], &["vectors.json"]);
    check(&["conformance", "vectors.json", "--emit"], &["vectors.json"]);
}

#[test]
fn a_swept_scenario_and_the_texts_beside_it_are_inputs() {
    let folder = world();
    fs::copy(root().join("scenarios/auth-lookup.yaml"), folder.path().join("scenarios/auth.yaml")).unwrap();
    let before = files(folder.path());
    let args = ["sweep", "scenarios/auth.yaml", "--vary", "files=1..2", "-s", "inline", "--out", "json=scenarios/../scenarios/auth.yaml"];
    let (code, _, said) = ctxbench(folder.path(), &args);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("would write over"), "{said}");
    assert!(files(folder.path()) == before);
    // A text that a scenario takes from a file beside it.
    let text = fs::read_to_string(folder.path().join("scenarios/lookup.yaml")).unwrap();
    let more = "\nfiles:\n  - path: notes.txt\n    text: [{beside: notes.txt}]\n";
    assert!(text.contains("\nfiles:\n"));
    fs::write(folder.path().join("scenarios/lookup.yaml"), text.replacen("\nfiles:\n", more, 1)).unwrap();
    fs::write(folder.path().join("scenarios/notes.txt"), "my own notes\n").unwrap();
    let (code, _, said) = ctxbench(folder.path(), &["validate", "scenarios/lookup.yaml"]);
    assert_eq!(code, 0, "{said}");
    for command in [&["run", "scenarios/lookup.yaml", "-s", "inline"][..], &["validate", "scenarios/lookup.yaml"], &["check", "--accept"]] {
        let before = files(folder.path());
        let (code, _, said) = ctxbench(folder.path(), &[command, &["--out", "json=scenarios/notes.txt"]].concat());
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("would write over scenarios/notes.txt"), "{said}");
        assert!(files(folder.path()) == before, "{command:?}");
    }
}

#[test]
fn a_report_of_before_is_written_over() {
    let folder = world();
    for _ in 0..2 {
        for args in [
            &["run", ".", "-s", "inline", "--out", "json=report.json"][..],
            &["run", "recordings", "-s", "opencode", "--out", "json=recordings/report.json"],
            &["check", "--out", "json=scenarios/check.json", "--out", "markdown=scenarios/check.md"],
            &["import", "recordings", "--out", "json=recordings/import.json"],
            &["check", "kept", "--out", "json=check.json"],
        ] {
            let (code, _, said) = ctxbench(folder.path(), args);
            assert_eq!(code, 0, "{args:?}: {said}");
        }
    }
}

#[test]
fn what_a_check_keeps_is_no_report_before_it_is_there_either() {
    let folder = world();
    fs::remove_file(folder.path().join("budgets.lock")).unwrap();
    let absolute = folder.path().join("budgets.lock").display().to_string();
    let mut spellings = vec!["budgets.lock", "./budgets.lock", "sub/../budgets.lock", &absolute, "budgets.lock.new", "./budgets.lock.new"];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(".", folder.path().join("linked")).unwrap();
        std::os::unix::fs::symlink("budgets.lock", folder.path().join("dangling")).unwrap();
        spellings.extend(["linked/budgets.lock", "dangling"]);
    }
    let commands: [&[&str]; 3] = [&["check"], &["check", "--accept"], &["check", "--lock", "sub/../budgets.lock"]];
    for command in commands {
        for spelling in &spellings {
            let (code, _, said) = ctxbench(folder.path(), &[command, &["--out", &format!("json={spelling}")]].concat());
            assert_eq!(code, 2, "{command:?} {spelling}: {said}");
            assert!(said.contains("would write over") && said.ends_with("exit 2: wrong usage\n"), "{said}");
            assert!(!folder.path().join("budgets.lock").exists() && !folder.path().join("budgets.lock.new").exists());
        }
    }
}

#[test]
fn two_reports_do_not_share_a_file_whatever_its_spelling() {
    let folder = world();
    let absolute = folder.path().join("a").display().to_string();
    for (one, other) in [("a", "a"), ("a", "./a"), ("sub/../a", "a"), ("a", &absolute)] {
        let args = ["check", "--out", &format!("json={one}"), "--out", &format!("junit={other}")];
        let (code, _, said) = ctxbench(folder.path(), &args);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(&format!("--out names {other} twice")) && said.ends_with("exit 2: wrong usage\n"), "{said}");
        assert!(!folder.path().join("a").exists());
    }
}
