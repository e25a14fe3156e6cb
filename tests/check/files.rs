//! Budgets and locks that are missing, damaged, unreadable or of something else: the right exit and what to do.

use serde_json::Value;

use super::project::{BUDGETS, Project};

#[test]
fn without_budgets_nothing_is_checked() {
    let project = Project::new();
    std::fs::remove_file(project.path("budgets.toml")).unwrap();
    project.check(&[]).expect(12, &["no budgets.toml here", "version = 1", "[[budget]]"]);
    project.check(&["--accept"]).expect(12, &["no budgets.toml here"]);
    project.check(&["--budgets", "other.toml"]).expect(1, &["cannot read other.toml", "no such file"]);
}

/// Budgets with something wrong, and what is said of it.
#[test]
fn wrong_budgets_are_shown_with_a_caret() {
    let check = |from: &str, to: &str, words: &[&str]| {
        let project = Project::new();
        project.edit("budgets.toml", from, to);
        let done = project.check(&[]).expect(3, &["budgets.toml:", "^"]);
        words.iter().for_each(|word| assert!(done.err.contains(word), "no `{word}` in {}", done.err));
    };
    check("version = 1", "version = 2", &["budgets.toml:1", "version = 1"]);
    check("version = 1\n", "", &["does not say its version"]);
    check("version = 1", "version = ", &["no TOML", "budgets.toml:1"]);
    check("o200k_base", "o200k", &["o200k_base"]);
    check("\"parent.input_total\" = {}", "\"parent.input_totl\" = {}", &["did you mean `parent.input_total`?", "budgets.toml:12"]);
    check("\"parent.input_total\" = {}", "parent.input_total = {}", &["quote the metric: \"parent.input_total\""]);
    check("\"parent.input_total\" = {}", "\"parent.input_total\" = 12000", &["are a table", "max = 12000"]);
    check("\"parent.input_total\" = {}", "\"parent.input_total\" = { max = \"12k\" }", &["here stands a number"]);
    check("\"parent.input_total\" = {}", "\"parent.input_total\" = { maximum = 1 }", &["there is no limit `maximum`", "max"]);
    check("\"parent.input_total\" = {}", "\"parent.input_total\" = { min = 5, max = 4 }", &["min 5 is above max 4"]);
    check("\"parent.input_total\" = {}", "\"parent.input_total\" = { level = \"loud\" }", &["level", "warn"]);
    check("\"parent.input_total\" = {}", "\"parent.input_total\" = { grow = -1 }", &["not below 0"]);
    check("grow = 0\n", "grow = \"a bit\"\n", &["`a bit` is no allowance"]);
    check("grow = 0\n", "shrink = 0\n", &["there is no default `shrink`"]);
    check("grow = 0\n", "", &["nothing limits `parent.input_total`"]);
    check("strategy = \"opencode\"", "strategy = \"opencod\"", &["opencode"]);
    check("strategy = \"opencode\"", "strategy = []", &["matches nothing"]);
    check("scenario = \"lookup\"", "scenario = \"[\"", &["is no glob"]);
    check("[[budget]]", "[budget]", &["[[budget]], with two brackets"]);
    check("[[budget]]", "[[budgets]]", &["there is no key `budgets`", "did you mean `budget`?"]);
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let project = Project::new();
    project.write("budgets.toml", &BUDGETS.replace("grow = 0", "grow = \"x\"").replace("\"quality\"", "\"qualty\""));
    project.check(&[]).expect(3, &["budgets.toml:5", "budgets.toml:13", "2 problems"]);
}

#[test]
fn a_budget_that_matches_nothing_is_named() {
    let project = Project::accepted();
    let check = |pattern: &str, words: &[&str]| {
        project.write("budgets.toml", &(BUDGETS.to_owned() + &format!("\n[[budget]]\nscenario = \"{pattern}\"\n\"requests\" = {{}}\n")));
        project.check(&[]).expect(12, &["budgets.toml:15", &format!("scenario {pattern}"), "matches no cell"]).expect(12, words);
    };
    check("look-*", &["Did you mean `lookup`?"]);
    check("lokup", &["Did you mean `lookup`?"]);
    check("lookup~small", &["Did you mean `lookup`?", "what is the default (small"]);
    check("something-else", &["The scenarios are", "lookup", "opencode@1.18.33"]);
}

#[test]
fn every_name_of_a_list_is_meant() {
    let check = |from: &str, to: &str, word: &str| {
        let project = Project::accepted();
        project.edit("budgets.toml", from, to);
        project.check(&[]).expect(12, &["budgets.toml:8", word]);
    };
    check("scenario = \"lookup\"", "scenario = [\"lookup\", \"lokup\"]", "`lokup` of this budget matches no cell");
    check("strategy = \"opencode\"", "strategy = [\"opencode\", \"codex-v9*\"]", "`codex-v9*` of this budget matches no cell");
    check("why =", "model = [\"reader\", \"held\"]\nwhy =", "`held` of this budget matches no cell");
    let project = Project::accepted();
    project.edit("budgets.toml", "strategy = \"opencode\"", "strategy = [\"opencode\", \"!inline*\"]");
    project.check(&[]).expect(0, &[]);
}

#[test]
fn a_lock_of_another_tokenizer_is_no_pass() {
    let project = Project::accepted();
    project.edit("budgets.toml", "o200k_base", "cl100k_base");
    for done in [project.check(&[]), project.check_in_ci(&[])] {
        let done = done.expect(11, &["o200k_base", "cl100k_base", "cannot be compared", "accept ctxbench check --accept"]);
        assert!(!done.out.contains("GREW") && !done.out.contains("--only"), "{}", done.out);
    }
    // No figure stands beside one of the other encoding.
    let row = project.row(super::project::CELL, "parent.input_total");
    assert_eq!((&row["accepted"], &row["difference"], &row["growth"]), (&Value::Null, &Value::Null, &Value::Null), "{row:#}");
    let explained = project.run(&["explain", "lookup/opencode/reader/0", "--diff-lock"]);
    assert!(explained.out.contains("cannot be compared") && explained.out.contains("exit 11"), "{}", explained.out);
    assert!(!explained.out.contains("→"), "{}", explained.out);
    project.check(&["--accept", "--only", "*"]).expect(2, &["accept everything at once"]);
    project.check(&["--accept"]).expect(0, &[]);
    assert!(project.read("budgets.lock").starts_with("ctxbench-lock/1\ntokenizer cl100k_base\n"));
    project.check_in_ci(&[]).expect(0, &[]);
}

#[test]
fn a_run_of_another_tokenizer_is_no_pass() {
    let project = Project::accepted();
    let args = ["run", "scenarios/lookup.yaml", "-s", "opencode", "--tokenizer", "cl100k_base", "--run-dir", "kept"];
    project.run(&args);
    project.check(&["kept"]).expect(11, &["cl100k_base", "--tokenizer o200k_base"]);
}

#[test]
fn a_run_that_was_killed_is_refused_and_takes_nothing_from_the_lock() {
    let project = Project::new();
    project.edit("budgets.toml", "\"opencode\"", "[\"opencode\", \"full-copy\"]");
    let run = ["run", "scenarios/lookup.yaml", "-s", "full-copy", "-s", "opencode", "--run-dir", "kept"];
    assert_eq!(project.run(&run).code, 0);
    project.check(&["kept", "--accept"]).expect(0, &[]);
    let lock = project.read("budgets.lock");
    // As a kill leaves it: nothing of the second cell, or a part of its line.
    let results = project.read("kept/results.jsonl");
    let (first, second) = results.trim_end().split_once('\n').expect("two cells");
    for (left, cells) in [(format!("{first}\n"), 1), (format!("{first}\n{}", &second[..second.len() / 2]), 1), (String::new(), 0)] {
        project.write("kept/results.jsonl", &left);
        let said = format!("kept: the run has {cells} of 2 cells: finish it with `ctxbench run --resume`");
        for args in [&["kept"][..], &["kept", "--accept"], &["kept", "--accept", "--only", "lookup/full-copy/reader/0"]] {
            project.check(args).expect(3, &[&said]);
            project.check_in_ci(&args[..1]).expect(3, &[&said]);
        }
        assert_eq!(project.read("budgets.lock"), lock);
        assert!(!project.path("budgets.lock.new").exists());
        let unreached = project.run(&["explain", "lookup/opencode/reader/0", "--run-dir", "kept"]);
        assert!(unreached.code == 2 && unreached.err.contains(&said), "{}", unreached.err);
        assert_eq!(project.run(&["explain", "lookup/full-copy/reader/0", "--run-dir", "kept"]).code, if cells == 0 { 2 } else { 0 });
    }
    let finished = project.run(&[&run[..], &["--resume"]].concat());
    assert_eq!(finished.code, 0, "{}", finished.err);
    project.check_in_ci(&["kept"]).expect(0, &[]);
    // What no run writes.
    project.write("kept/results.jsonl", &format!("{results}{first}\n"));
    project.check(&["kept"]).expect(3, &["kept/results.jsonl:3: lookup/full-copy@1/reader/0 stands there twice"]);
    project.write("kept/results.jsonl", &format!("{results}{}\n", first.replace("full-copy@1/reader/0", "full-copy@1/reader/1")));
    project.check(&["kept"]).expect(3, &["kept/results.jsonl holds 3 cells, the run was to have 2"]);
    project.write("kept/results.jsonl", &results);
    project.edit("kept/run.json", "\"cells\": 2", "\"cells\": null");
    project.check(&["kept"]).expect(3, &["kept/run.json does not say how many cells"]);
}

#[test]
fn limits_that_no_figure_can_have_are_mistakes() {
    let check = |metric: &str, limits: &str, words: &str| {
        let project = Project::new();
        project.edit("budgets.toml", "\"quality\" = {}", &format!("\"{metric}\" = {limits}"));
        project.check(&[]).expect(3, &["budgets.toml:13:", words]);
    };
    check("requests", "{ max = -1 }", "`requests` is never below 0: -1");
    check("total.input", "{ max = 1.5 }", "`total.input` is a count: 1.5 is no whole number");
    check("quality", "{ min = 2 }", "`quality` is a share from 0 to 1: 2");
    let project = Project::new();
    project.edit(
        "budgets.toml",
        "\"quality\" = {}",
        "\"delegation.footprint\" = { min = -100, max = 10_000 }\n\"quality\" = { min = 0.5 }",
    );
    project.check(&[]).expect(0, &[]);
}

#[test]
fn what_is_taken_out_is_there() {
    let check = |scenario: &str, code: i32, words: &[&str]| {
        let project = Project::new();
        project.edit("budgets.toml", "scenario = \"lookup\"", &format!("scenario = [\"lookup\", \"{scenario}\"]"));
        project.check(&[]).expect(code, words);
    };
    check("!nothere", 12, &["budgets.toml:8: `!nothere` of this budget takes nothing out", "The scenarios are"]);
    check("!tiny-tusk", 12, &["Did you mean `tiny-task`?"]);
    check("!tiny-task", 0, &[]);
    check("!tiny-task~large", 0, &[]);
    check("!tiny-*", 0, &[]);
    // A run holds what was run.
    let project = Project::new();
    project.run(&["run", "scenarios/lookup.yaml", "-s", "opencode", "--run-dir", "kept"]);
    project.edit("budgets.toml", "scenario = \"lookup\"", "scenario = [\"lookup\", \"!tiny-task\"]");
    project.check(&["kept"]).expect(0, &[]);
}

#[test]
fn a_run_with_holes_is_refused() {
    let project = Project::accepted();
    project.run(&["run", "scenarios/lookup.yaml", "-s", "opencode", "--run-dir", "kept"]);
    project.check(&["kept"]).expect(0, &[]);
    for file in ["kept/ledger.jsonl", "kept/threads/requests.jsonl"] {
        let whole = project.read(file);
        let lines: Vec<&str> = whole.lines().collect();
        for hole in [0, 2, lines.len() - 1] {
            let left: String = lines.iter().enumerate().filter(|(at, _)| *at != hole).map(|(_, line)| format!("{line}\n")).collect();
            project.write(file, &left);
            project.check(&["kept"]).expect(3, &["not every request is there", "--resume"]);
            project.check(&["kept", "--accept"]).expect(3, &["not every request is there"]);
        }
        project.write(file, &whole);
    }
    project.check(&["kept"]).expect(0, &[]);
}

#[test]
fn damaged_locks_say_what_to_do() {
    let check = |text: &str, words: &[&str]| {
        let project = Project::new();
        project.write("budgets.lock", text);
        project.check(&[]).expect(3, words);
        project.check(&["--accept"]).expect(3, words);
        assert_eq!(project.read("budgets.lock"), text, "a lock that cannot be read is left alone");
    };
    let good = Project::accepted().read("budgets.lock");
    check("", &["budgets.lock, line 1", "empty"]);
    check("not a lock\n", &["begins with `ctxbench-lock/1`"]);
    check("ctxbench-lock/9\ntokenizer o200k_base\n", &["version 9"]);
    let half = good.replace("\nlookup/", "\n<<<<<<< HEAD\nlookup/");
    check(&half, &["conflict marker (<<<<<<<)", "git checkout --ours budgets.lock"]);
    check(&format!("{good}>>>>>>> other\n"), &["conflict marker (>>>>>>>)"]);
    check(&good.replace(" parent.input_total ", " parent.input_total x"), &["no line of the lock"]);
    let request = good.lines().find(|line| line.starts_with("  ")).unwrap();
    check(&good.replace(request, "  00000000 0 / in - out 1 same 0 items -"), &["belongs to no cell"]);
    check(&good.replace(request, &request.replace(" items ", " item ")), &["no request of the lock"]);
}

#[test]
fn numbers_that_nobody_can_reach_are_answered() {
    let check = |from: &str, to: &str, words: &str| {
        let project = Project::accepted();
        project.edit("budgets.lock", from, to);
        let lock = project.read("budgets.lock");
        project.check(&[]).expect(3, &["budgets.lock, line", words, "take it back from git"]);
        project.check(&["--accept"]).expect(3, &[words]);
        assert_eq!(project.read("budgets.lock"), lock);
    };
    check(" quality 1.0 ", " quality -1e300 ", "`quality` is never below 0");
    check(" quality 1.0 ", " quality 1e300 ", "`quality` is a share from 0 to 1");
    check(" tools=", " tools=-9223372036854775808 x=", "tools is below 0");
    check(" parent.input_total 1374 ", " parent.input_total 1000 ", "by origin sum to 1374, not to 1000");
    check(" parent.input_total 1374 ", " parent.input_total 1374.5 ", "no whole number");
    for (limit, code) in [("max = -1e300", 3), ("min = 1e300", 10), ("grow = 999999999999999999", 0), ("max = 1e-300", 10)] {
        let project = Project::accepted();
        project.edit("budgets.toml", "\"parent.input_total\" = {}", &format!("\"parent.input_total\" = {{ {limit} }}"));
        project.check(&[]).expect(code, &[]);
    }
}

#[test]
fn a_lock_that_claims_much_costs_little() {
    let project = Project::accepted();
    let lock = project.read("budgets.lock");
    let request = lock.lines().find(|line| line.starts_with("  ")).unwrap();
    let key = request.trim_start().split(' ').next().unwrap();
    let huge = 1_000_000_000_000_000_000_u64;
    let many: String = (100..400).map(|seq| format!("  {key} {seq} /1 in - out 1 same {huge} items - more {huge}\n")).collect();
    project.accept_input_as(|value| value - 100);
    project.write("budgets.lock", &(project.read("budgets.lock") + &many));
    project.check(&[]).expect(10, &["GREW"]);
    // Thousands of cells that are not there any more.
    let gone: String = (0..20_000).map(|at| format!("gone-{at}/opencode@1.18.33/reader/0 quality 1.0 f\n\n")).collect();
    project.write("budgets.lock", &(lock + "\n" + &gone));
    project.check(&[]).expect(0, &["20000 GONE"]);
}

#[cfg(unix)]
#[test]
fn files_that_cannot_be_used_are_named() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::accepted();
    std::fs::create_dir(project.path("folder")).unwrap();
    project.check(&["--budgets", "folder"]).expect(1, &["cannot read folder", "a folder, not a file"]);
    project.check(&["--lock", "folder"]).expect(1, &["cannot read folder"]);
    project.check(&["--lock", "nowhere/budgets.lock", "--accept"]).expect(1, &["cannot write nowhere/budgets.lock"]);
    std::fs::write(project.path("binary.toml"), [0xff, 0xfe, 0x00]).unwrap();
    project.check(&["--budgets", "binary.toml"]).expect(3, &["not UTF-8"]);
    // A lock that may not be written: a check passes, accepting a change is refused.
    project.edit("scenarios/lookup.yaml", "about: Reads a file", "about: Simply reads a file");
    let lock = project.read("budgets.lock");
    std::fs::set_permissions(project.path("budgets.lock"), std::fs::Permissions::from_mode(0o444)).unwrap();
    project.check(&["--accept"]).expect(1, &["cannot write budgets.lock", "permission denied"]);
    assert_eq!(project.read("budgets.lock"), lock);
    // A link stays one, and the file behind it keeps its permissions.
    std::fs::set_permissions(project.path("budgets.lock"), std::fs::Permissions::from_mode(0o664)).unwrap();
    std::os::unix::fs::symlink("budgets.lock", project.path("linked.lock")).unwrap();
    project.check(&["--lock", "linked.lock", "--accept"]).expect(0, &[]);
    assert!(std::fs::symlink_metadata(project.path("linked.lock")).unwrap().is_symlink());
    assert_ne!(project.read("budgets.lock"), lock);
    assert_eq!(std::fs::metadata(project.path("budgets.lock")).unwrap().permissions().mode() & 0o777, 0o664);
    // Reports do not write over the files that they are about.
    let lock = project.read("budgets.lock");
    std::fs::hard_link(project.path("budgets.lock"), project.path("hard")).unwrap();
    let absolute = project.path("budgets.lock").display().to_string();
    for path in ["budgets.lock", "./budgets.lock", "folder/../budgets.lock", "linked.lock", "hard", absolute.as_str()] {
        project.check(&["--out", &format!("json={path}")]).expect(2, &["would write over"]);
        project.run(&["run", "scenarios/lookup.yaml", "-s", "inline", "--out", &format!("json={path}")]).expect_usage("would write over");
    }
    project.check(&["--out", "json=folder/../budgets.toml"]).expect(2, &["would write over"]);
    assert_eq!((project.read("budgets.lock"), project.read("budgets.toml")), (lock, BUDGETS.to_owned()));
}

#[test]
fn a_scenario_that_was_renamed_is_recognised() {
    let project = Project::accepted();
    let text = project.read("scenarios/lookup.yaml").replace("id: lookup\n", "id: search\n");
    std::fs::remove_file(project.path("scenarios/lookup.yaml")).unwrap();
    project.write("scenarios/search.yaml", &text);
    // The budget names the old one; accepting would not mend that, so it is not offered.
    let done = project.check(&[]).expect(12, &["scenario lookup", "matches no cell", "The scenarios are", "search"]);
    assert!(!done.out.contains("--accept"), "{}", done.out);
    project.edit("budgets.toml", "scenario = \"lookup\"", "scenario = \"search\"");
    project.check(&[]).expect(0, &["GONE", "NEW", "renamed", "search/opencode@1.18.33/reader/0"]);
    project.check_in_ci(&[]).expect(11, &["GONE", "NEW", "renamed"]);
    project.check(&["--accept"]).expect(0, &[]);
    assert!(!project.read("budgets.lock").contains("lookup/"));
    project.check_in_ci(&[]).expect(0, &[]);
}

#[test]
fn names_and_scenarios_that_are_wrong_are_usage_and_input_errors() {
    let project = Project::accepted();
    project.check(&["no-such-scenario"]).expect(2, &["no built-in scenario, file or folder"]);
    project.check(&["--accept", "--metric", "qualty"]).expect(2, &["quality"]);
    project.check(&["--accept", "--only", "["]).expect(2, &["is no glob"]);
    project.check(&["nowhere.yaml"]).expect(1, &["cannot read nowhere.yaml"]);
    project.write("scenarios/broken.yaml", "id: broken\nnonsense: 1\n");
    project.check(&[]).expect(3, &["broken.yaml"]);
}
