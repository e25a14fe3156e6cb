//! `explain`: limits with their origin, the requests, the difference to the lock.

use super::project::{CELL, Project};

#[test]
fn limits_are_explained_with_their_origin() {
    let project = Project::accepted();
    project.edit("budgets.toml", "\"parent.input_total\" = {}", "\"parent.input_total\" = { max = 12000 }");
    let done = project.run(&["explain", CELL]);
    assert_eq!(done.code, 0, "{}", done.err);
    for words in
        ["ok parent.input_total", "max 12,000", "(budgets.toml:12)", "grow 0", "(budgets.toml:5, the default)", "a lookup stays small"]
    {
        assert!(done.out.contains(words), "no `{words}` in {}", done.out);
    }
    assert!(done.out.contains("the requests are those that were accepted"), "{}", done.out);
    let narrow = done.out.lines().all(|line| line.chars().count() <= 80);
    assert!(narrow, "{}", done.out);
}

#[test]
fn the_waterfall_sums_to_the_requests() {
    let project = Project::accepted();
    let done = project.run(&["explain", CELL, "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    let requests = document["requests"].as_array().unwrap();
    assert_eq!(requests.len(), 4);
    for request in requests {
        let sum: i64 = request["input"].as_object().unwrap().values().filter_map(serde_json::Value::as_i64).sum();
        assert_eq!(Some(sum), request["input_total"].as_i64());
    }
    let root = requests.iter().filter(|request| request["thread"] == "/").filter_map(|request| request["input_total"].as_i64());
    let row = document["check"]["rows"].as_array().unwrap().iter().find(|row| row["metric"] == "parent.input_total").unwrap().clone();
    assert_eq!(row["value"].as_i64(), Some(root.sum()));
}

#[test]
fn the_difference_to_the_lock_is_shown_request_by_request() {
    let project = Project::accepted();
    project.edit("scenarios/lookup.yaml", "about: Reads a file", "about: Simply reads a file");
    let done = project.run(&["explain", "lookup/opencode/reader/0", "--diff-lock"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("request 0 of the root thread /: tool read_file changed"), "{}", done.out);
    let shown = done.out.split("every request beside the accepted one").nth(1).expect("it is asked for");
    // Four requests, two of the parent and two of the child, each with a token more.
    assert_eq!(shown.matches("tools +1\n").count(), 4, "{shown}");
    assert!(done.out.contains("GREW STALE parent.input_total"), "{}", done.out);
    let short = project.run(&["explain", CELL]);
    assert!(!short.out.contains("every request beside") && short.out.contains("--diff-lock"), "{}", short.out);
}

#[test]
fn cells_of_run_directories_and_of_other_files_are_explained() {
    let project = Project::accepted();
    project.run(&["run", "scenarios/lookup.yaml", "-s", "opencode", "--run-dir", "kept"]);
    let now = project.run(&["explain", CELL]);
    assert_eq!(project.run(&["explain", CELL, "--run-dir", "kept"]).out, now.out);
    project.write("other/else.yaml", &super::project::scenario("else"));
    let done = project.run(&["explain", "else/opencode/reader/0", "--from", "other/else.yaml"]);
    assert!(done.out.contains("no budget of budgets.toml names this cell"), "{}{}", done.out, done.err);
    assert!(done.out.contains("is not in budgets.lock"), "{}", done.out);
}

#[test]
fn what_cannot_be_explained_says_why() {
    let project = Project::accepted();
    let check = |args: &[&str], code: i32, word: &str| {
        let done = project.run(args);
        assert_eq!(done.code, code, "{args:?}: {}", done.err);
        assert!(done.err.contains(word), "{args:?}: {}", done.err);
    };
    check(&["explain", "lookup"], 2, "no cell id");
    check(&["explain", "lookup/opencod/reader/0"], 2, "opencode");
    check(&["explain", "lookp/opencode/reader/0"], 2, "did you mean `lookup/opencode@1.18.33/reader/0`?");
    check(&["explain", "session/opencode/held/0"], 2, "--from PATH");
    check(&["explain", CELL, "--budgets", "nowhere.toml"], 1, "cannot read nowhere.toml");
    check(&["explain", CELL, "--run-dir", "nowhere"], 1, "cannot read nowhere");
}
