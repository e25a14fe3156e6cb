//! Budgets and locks that are missing, damaged, unreadable or of something else: the right exit and what to do.

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
    project.write("budgets.toml", &(BUDGETS.to_owned() + "\n[[budget]]\nscenario = \"look-*\"\n\"requests\" = {}\n"));
    let done = project.check(&[]).expect(12, &["budgets.toml:15", "scenario look-*", "matches no cell"]);
    assert!(done.out.contains("lookup"), "it says what there is: {}", done.out);
}

#[test]
fn a_lock_of_another_tokenizer_is_no_pass() {
    let project = Project::accepted();
    project.edit("budgets.toml", "o200k_base", "cl100k_base");
    for done in [project.check(&[]), project.check_in_ci(&[])] {
        done.expect(11, &["o200k_base", "cl100k_base", "cannot be compared", "--accept"]);
    }
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
    let line = good.lines().find(|line| line.contains(" quality ")).unwrap();
    check(
        &good.replace(line, &format!("{line}\n{}", line.replace(" 1.0 ", " 0.5 "))),
        &["stands there twice", "delete one of the two lines"],
    );
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
}

#[test]
fn a_scenario_that_was_renamed_is_recognised() {
    let project = Project::accepted();
    let text = project.read("scenarios/lookup.yaml").replace("id: lookup\n", "id: search\n");
    std::fs::remove_file(project.path("scenarios/lookup.yaml")).unwrap();
    project.write("scenarios/search.yaml", &text);
    // The budget names the old one.
    project.check(&[]).expect(12, &["scenario lookup", "matches no cell"]);
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
