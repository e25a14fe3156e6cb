//! Every verdict with its exit code, at home and in CI, also through `make`.

use serde_json::Value;

use super::project::{BUDGETS, CELL, Project};

/// A project, its row, and what is expected of it.
fn check(project: &Project, cell: &str, metric: &str, verdicts: &[&str], local: i32, locked: i32) {
    let row = project.row(cell, metric);
    let said: Vec<&str> = row["verdicts"].as_array().expect("verdicts").iter().filter_map(Value::as_str).collect();
    assert_eq!(said, verdicts, "{row:#}");
    let words: Vec<&str> = verdicts.iter().copied().filter(|word| !["ok", "better"].contains(word)).collect();
    project.check(&[]).expect(local, &words);
    project.check_in_ci(&[]).expect(locked, &words);
    project.check(&["--locked"]).expect(locked, &words);
}

/// The accepted value of the parent's input, changed in the lock.
fn accepted_as(change: impl Fn(i64) -> i64) -> Project {
    let project = Project::accepted();
    project.accept_input_as(change);
    project
}

#[test]
fn ok() {
    check(&Project::accepted(), CELL, "parent.input_total", &["ok"], 0, 0);
}

#[test]
fn better() {
    check(&accepted_as(|value| value + 1), CELL, "parent.input_total", &["better"], 0, 0);
}

#[test]
fn grew() {
    check(&accepted_as(|value| value - 1), CELL, "parent.input_total", &["GREW"], 10, 10);
}

#[test]
fn dropped() {
    let project = Project::new();
    project.edit("budgets.toml", "\"quality\" = {}", "\"returns.ok\" = {}");
    project.check(&["--accept"]).expect(0, &[]);
    project.edit("budgets.lock", " returns.ok 1 ", " returns.ok 2 ");
    check(&project, CELL, "returns.ok", &["DROPPED"], 10, 10);
}

#[test]
fn over_and_under() {
    let project = Project::accepted();
    project.edit("budgets.toml", "\"parent.input_total\" = {}", "\"parent.input_total\" = { max = 10 }");
    check(&project, CELL, "parent.input_total", &["OVER"], 10, 10);
    project.edit("budgets.toml", "\"parent.input_total\" = { max = 10 }", "\"parent.input_total\" = { min = 1000000 }");
    check(&project, CELL, "parent.input_total", &["UNDER"], 10, 10);
}

#[test]
fn an_absolute_and_a_relative_limit_do_not_mask_each_other() {
    let project = accepted_as(|value| value - 1);
    project.edit("budgets.toml", "\"parent.input_total\" = {}", "\"parent.input_total\" = { max = 10, grow = 0 }");
    check(&project, CELL, "parent.input_total", &["OVER", "GREW"], 10, 10);
}

#[test]
fn a_warning_is_told_and_passes_unless_strict() {
    let project = Project::accepted();
    project.edit("budgets.toml", "\"parent.input_total\" = {}", "\"parent.input_total\" = { max = 10, level = \"warn\" }");
    check(&project, CELL, "parent.input_total", &["warn"], 0, 0);
    project.check(&["--strict"]).expect(10, &["OVER"]);
}

#[test]
fn a_default_takes_the_level_of_the_budget_that_it_holds_for() {
    let project = accepted_as(|value| value - 1);
    project.edit("budgets.toml", "\"parent.input_total\" = {}", "\"parent.input_total\" = { level = \"warn\" }");
    check(&project, CELL, "parent.input_total", &["warn"], 0, 0);
    // Another budget that wants it as an error is not weakened.
    let both = project.read("budgets.toml") + "\n[[budget]]\nscenario = \"look*\"\nstrategy = \"opencode\"\n\"parent.input_total\" = {}\n";
    project.write("budgets.toml", &both);
    check(&project, CELL, "parent.input_total", &["GREW"], 10, 10);
}

#[test]
fn what_one_budget_says_takes_nothing_from_another() {
    let budget =
        |limits: &str| format!("\n[[budget]]\nscenario = \"lookup\"\nstrategy = \"opencode\"\n\"parent.input_total\" = {limits}\n");
    for limits in ["{ drop = \"90%\" }", "{ grow = \"50%\", level = \"warn\" }", "{ grow = \"50%\" }", "{ max = 1000000 }"] {
        let project = accepted_as(|value| value - 1);
        project.write("budgets.toml", &(project.read("budgets.toml") + &budget(limits)));
        project.check(&[]).expect(10, &["GREW"]);
    }
    // Of one metric in one budget, its own `grow` stands for the default, its own `drop` does not.
    for (limits, code) in [("{ grow = \"50%\" }", 0), ("{ drop = \"50%\" }", 10)] {
        let project = accepted_as(|value| value - 1);
        project.edit("budgets.toml", "\"parent.input_total\" = {}", &format!("\"parent.input_total\" = {limits}"));
        project.check(&[]).expect(code, &[]);
    }
}

#[test]
fn new() {
    let project = Project::accepted();
    project.edit("budgets.toml", "\"quality\" = {}", "\"quality\" = {}\n\"requests\" = {}");
    check(&project, CELL, "requests", &["NEW"], 0, 11);
    let all = Project::new();
    all.check(&[]).expect(0, &["2 NEW", "not there yet"]);
    all.check_in_ci(&[]).expect(11, &["2 NEW"]);
}

#[test]
fn gone() {
    let project = Project::accepted();
    project.edit("budgets.toml", "\"quality\" = {}\n", "");
    check(&project, CELL, "quality", &["GONE"], 0, 11);
}

#[test]
fn stale() {
    let project = Project::accepted();
    // The scenario is another one, its figures are the same.
    project.edit("scenarios/lookup.yaml", "ms: 30", "ms: 31");
    let row = project.row(CELL, "parent.input_total");
    assert_eq!((&row["verdict"], &row["difference"]), (&"STALE".into(), &0.into()));
    check(&project, CELL, "parent.input_total", &["STALE"], 0, 11);
}

#[test]
fn unmeasured() {
    let project = Project::new();
    project.write("budgets.toml", &BUDGETS.replace("\"opencode\"", "\"inline\"").replace("\"quality\" = {}", "\"child.opening\" = {}"));
    project.check(&["--accept"]).expect(0, &[]);
    check(&project, "lookup/inline@1/reader/0", "child.opening", &["UNMEASURED"], 0, 11);
    // Where nothing at all is measured, nothing was checked.
    project.edit("budgets.toml", "\"parent.input_total\" = {}\n", "");
    project.check(&["--accept"]).expect(12, &["no figure", "was measured"]);
    project.write("budgets.lock", "ctxbench-lock/1\ntokenizer o200k_base\n");
    project.check(&[]).expect(12, &["no figure", "was measured"]);
    project.check_in_ci(&[]).expect(11, &["UNMEASURED"]);
}

#[test]
fn failed() {
    let project = Project::accepted();
    project.edit("scenarios/lookup.yaml", "\nfiles:\n", "\nwindow: 400\n\nfiles:\n");
    let document = project.document(&[]);
    assert_eq!(document["rows"][0]["verdict"], "FAILED", "{document:#}");
    project.check(&[]).expect(13, &["FAILED", "overflow"]);
    project.check_in_ci(&[]).expect(13, &["FAILED", "overflow"]);
    let said = |format: &str| project.check(&["--format", format]).out;
    assert!(said("markdown").contains("of 1 cell, these do not pass: 1 FAILED."), "{}", said("markdown"));
    assert!(said("markdown").contains("| `lookup/opencode@1.18.33/reader/0` | FAILED | – | – |  |  | overflow: "), "{}", said("markdown"));
    assert!(said("junit").contains("<error message=\"FAILED (overflow: "), "{}", said("junit"));
    assert!(said("github").starts_with("::error file=budgets.toml,title=FAILED the cell::"), "{}", said("github"));
    let lock = project.read("budgets.lock");
    project.check(&["--accept"]).expect(13, &["not accepted", "overflow"]);
    assert_eq!(project.read("budgets.lock"), lock, "what failed leaves its accepted lines alone");
}

#[test]
fn nothing_checked() {
    let project = Project::accepted();
    project.edit("budgets.toml", "scenario = \"lookup\"", "scenario = \"lokup*\"");
    project.check(&[]).expect(12, &["budgets.toml:8", "matches no cell", "lookup"]);
    project.check_in_ci(&[]).expect(12, &["matches no cell"]);
    project.write("budgets.toml", "version = 1\n");
    project.check(&[]).expect(12, &["has no [[budget]]", "[defaults]"]);
}

#[test]
fn of_several_codes_one_wins_and_all_are_listed() {
    let project = accepted_as(|value| value - 1);
    project.edit("budgets.toml", "\"quality\" = {}", "\"requests\" = {}");
    let document = project.document(&["--locked"]);
    let codes: Vec<i64> = document["exits"].as_array().unwrap().iter().filter_map(|exit| exit["code"].as_i64()).collect();
    assert_eq!((codes.as_slice(), &document["exit"]), (&[11, 10][..], &11.into()));
    project.check_in_ci(&[]).expect(11, &["also 10"]);
    let both = project.read("budgets.toml") + "\n[[budget]]\nscenario = \"nobody\"\n\"requests\" = {}\n";
    project.write("budgets.toml", &both);
    project.check_in_ci(&[]).expect(12, &["also 11", "10 a limit is exceeded"]);
}

#[test]
fn what_was_typed_only_tightens() {
    let project = accepted_as(|value| value - 1);
    project.check(&["--grow", "50%"]).expect(10, &["GREW"]);
    project.edit("budgets.toml", "grow = 0", "grow = \"50%\"");
    project.check(&[]).expect(0, &[]);
    project.check(&["--grow", "0"]).expect(10, &["GREW", "typed"]);
    project.check(&["--grow", "+1"]).expect(0, &[]);
    project.check(&["--grow", "much"]).expect_usage("no allowance");
}

/// `make` makes every failure its own 2: the last line of the check names the code.
#[test]
fn through_make_the_code_is_in_the_last_line() {
    let check = |project: &Project, args: &str, ci: bool, code: i32| {
        let binary = assert_cmd::cargo::cargo_bin!("ctxbench");
        project.write("Makefile", &format!("gate:\n\t@'{}' check {args}\n", binary.display()));
        let mut make = std::process::Command::new("make");
        make.current_dir(project.folder.path()).args(["-s", "gate"]).env_remove("CI").env_remove("MAKEFLAGS").env_remove("MAKELEVEL");
        if ci {
            make.env("CI", "1");
        }
        let output = make.output().expect("make runs");
        assert_eq!(output.status.code(), Some(if code == 0 { 0 } else { 2 }));
        let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        let last = said.lines().rfind(|line| !line.starts_with("make")).unwrap_or_default();
        assert!(last.starts_with(&format!("exit {code}: ")), "{said}");
    };
    check(&Project::accepted(), "", false, 0);
    check(&Project::accepted(), "--budgets nowhere.toml", false, 1);
    check(&Project::accepted(), "no-such-scenario", false, 2);
    check(&Project::accepted(), "--no-such-option", false, 2);
    let bad = Project::accepted();
    bad.write("budgets.lock", "<<<<<<< ours\n");
    check(&bad, "", false, 3);
    check(&accepted_as(|value| value - 1), "", false, 10);
    check(&Project::new(), "", true, 11);
    let nothing = Project::new();
    nothing.write("budgets.toml", "version = 1\n");
    check(&nothing, "", false, 12);
    let failing = Project::accepted();
    failing.edit("scenarios/lookup.yaml", "\nfiles:\n", "\nwindow: 400\n\nfiles:\n");
    check(&failing, "", false, 13);
}
