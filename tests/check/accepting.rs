//! `check --accept`: what is rewritten, what is told, what is refused.

use super::project::{BUDGETS, CELL, Project};

fn line(lock: &str, metric: &str) -> String {
    lock.lines().find(|line| line.contains(&format!(" {metric} "))).map(str::to_owned).unwrap_or_default()
}

#[test]
fn accepting_writes_sorted_lines_and_says_what_changed() {
    let project = Project::new();
    let done = project.check(&["--accept"]).expect(0, &["2 figures of budgets.lock changed", CELL, "(none) -> 1,374"]);
    assert!(done.out.contains("parent.input_total"), "{}", done.out);
    let lock = project.read("budgets.lock");
    assert!(lock.starts_with("ctxbench-lock/1\ntokenizer o200k_base\n\nlookup/opencode@1.18.33/reader/0 parent.input_total "), "{lock}");
    let figures: Vec<&str> = lock.lines().skip(3).filter(|line| !line.is_empty() && !line.starts_with("  ")).collect();
    let mut sorted = figures.clone();
    sorted.sort_unstable();
    assert_eq!(figures, sorted);
    project.check(&["--accept"]).expect(0, &["no figure of budgets.lock changed"]);
    assert_eq!(project.read("budgets.lock"), lock);
}

#[test]
fn only_what_was_selected_is_rewritten() {
    let project = Project::new();
    project.write("budgets.toml", &BUDGETS.replace("\"opencode\"", "[\"opencode\", \"full-copy\"]"));
    project.check(&["--accept"]).expect(0, &[]);
    let before = project.read("budgets.lock");
    project.edit("scenarios/lookup.yaml", "about: Reads a file", "about: Simply reads a file");
    project.check(&["--accept", "--only", "*/opencode@*", "--metric", "parent.input_total"]).expect(0, &["1 figure of"]);
    let after = project.read("budgets.lock");
    let cell = |lock: &str, name: &str| lock.lines().filter(|line| line.starts_with(name)).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(cell(&before, "lookup/full-copy@1"), cell(&after, "lookup/full-copy@1"));
    assert_ne!(cell(&before, CELL)[0], cell(&after, CELL)[0]);
    assert_eq!(cell(&before, CELL)[1], cell(&after, CELL)[1], "the other metric of the cell stays");
    // What grew is still told of what was not accepted, in the cell of which a part was, too.
    project.check(&[]).expect(10, &["GREW", "full-copy", "STALE quality", "tool read_file changed", "in 2 cells"]);
}

#[test]
fn a_selection_that_matches_nothing_fails() {
    let project = Project::accepted();
    project.edit("scenarios/lookup.yaml", "about: Reads a file", "about: Simply reads a file");
    let lock = project.read("budgets.lock");
    project.check(&["--accept", "--only", "lokup/*"]).expect(12, &["--only lokup/* matches no figure"]);
    project
        .check(&["--accept", "--only", "lookup/opencod@1.18.33/reader/0"])
        .expect(12, &["did you mean `lookup/opencode@1.18.33/reader/0`?"]);
    project.check(&["--accept", "--metric", "total.output"]).expect(12, &["--metric total.output matches no figure"]);
    assert_eq!(project.read("budgets.lock"), lock);
    // A plain id may leave out the profile, as for `explain`.
    project.check(&["--accept", "--only", "lookup/opencode/reader/0"]).expect(0, &["1 figure of", "1 figure kept the value"]);
}

#[test]
fn figures_of_another_version_are_accepted_by_name_alone() {
    let project = Project::accepted();
    let lock = project.read("budgets.lock");
    let line = line(&lock, "quality");
    project.edit("budgets.lock", &line, &format!("{line}\n{}", line.replace(" quality 1.0 ", " zz.future 7 ")));
    project.check(&[]).expect(0, &["1 cell, 3 figures: 1 GONE, 2 ok"]);
    project.check(&["--accept", "--metric", "quality"]).expect(0, &["no figure"]);
    assert!(project.read("budgets.lock").contains(" zz.future 7 "));
    project.check(&["--accept"]).expect(0, &["zz.future: 7 -> (none)"]);
    assert_eq!(project.read("budgets.lock"), lock);
}

#[test]
fn a_value_beyond_an_absolute_limit_is_not_accepted() {
    let project = Project::accepted();
    let before = project.read("budgets.lock");
    project.edit("budgets.toml", "\"parent.input_total\" = {}", "\"parent.input_total\" = { max = 10 }");
    let budgets = project.read("budgets.toml");
    project.edit("scenarios/lookup.yaml", "about: Reads a file", "about: Simply reads a file");
    project.check(&["--accept"]).expect(10, &["not accepted", "parent.input_total", "OVER", "change budgets.toml first"]);
    assert_eq!(line(&project.read("budgets.lock"), "parent.input_total"), line(&before, "parent.input_total"));
    assert_eq!(project.read("budgets.toml"), budgets, "the budgets are people's");
    // Where nothing is accepted, there is no lock.
    let project = Project::new();
    project.edit("budgets.toml", "\"parent.input_total\" = {}\n\"quality\" = {}", "\"parent.input_total\" = { max = 10 }");
    project.check(&["--accept"]).expect(10, &["not accepted"]);
    assert!(!project.path("budgets.lock").exists());
}

#[test]
fn a_change_that_accepting_takes_back_leaves_the_old_lock() {
    let project = Project::accepted();
    let before = project.read("budgets.lock");
    project.edit("scenarios/lookup.yaml", "about: Reads a file", "about: Simply reads a file");
    project.check(&["--accept"]).expect(0, &[]);
    assert_ne!(project.read("budgets.lock"), before);
    project.edit("scenarios/lookup.yaml", "about: Simply reads a file", "about: Reads a file");
    project.check(&["--accept"]).expect(0, &[]);
    assert_eq!(project.read("budgets.lock"), before);
}

#[test]
fn at_home_what_accepting_would_write_is_left_beside_the_lock() {
    let project = Project::new();
    project.check(&[]).expect(0, &["NEW"]);
    let proposed = project.read("budgets.lock.new");
    assert!(!project.path("budgets.lock").exists());
    project.check(&["--accept"]).expect(0, &[]);
    assert_eq!(project.read("budgets.lock"), proposed);
    assert!(!project.path("budgets.lock.new").exists());
    // Growth alone is no new line: it is looked at, and accepted on purpose.
    project.accept_input_as(|value| value - 1);
    project.check(&[]).expect(10, &["GREW"]);
    assert!(!project.path("budgets.lock.new").exists());
}

#[test]
fn in_ci_nothing_is_accepted() {
    let project = Project::new();
    project.check_in_ci(&["--accept"]).expect(2, &["CI is set"]);
    assert!(!project.path("budgets.lock").exists());
    project.check(&["--accept", "--locked"]).expect_usage("cannot be used with");
}

/// A figure's line of the lock with a value of 1.
fn shrunk(line: &str) -> String {
    let mut words: Vec<&str> = line.split(' ').collect();
    if words.get(1) == Some(&"parent.input_total") {
        words[2] = "1";
        // Where the tokens stand is not known of it.
        words.truncate(4);
    }
    words.join(" ")
}

#[test]
fn recordings_have_budgets_too() {
    let project = Project::new();
    project.write(
        "budgets.toml",
        &BUDGETS.replace("\"lookup\"", "\"*\"").replace("why =", "model = \"held\"\nwhy =").replace("\"quality\" = {}\n", ""),
    );
    let what = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/recordings/claude-code/equal-prompts.jsonl");
    project.check(&[what, "--accept"]).expect(0, &["parent.input_total"]);
    assert!(project.read("budgets.lock").contains("/opencode@1.18.33/held/0 parent.input_total "));
    project.check_in_ci(&[what]).expect(0, &[]);
    // The commands of a report work as they stand.
    let lock = project.read("budgets.lock").lines().map(shrunk).collect::<Vec<_>>().join("\n") + "\n";
    project.write("budgets.lock", &lock);
    let told = project.check(&[what]).expect(10, &["GREW"]).out;
    for (label, code) in [("  look    ", 0), ("  accept  ", 0)] {
        let command = told.lines().find_map(|line| line.strip_prefix(label)).expect("the report has the command");
        let done = project.paste(command);
        assert_eq!(done.code, code, "{command}: {}", done.err);
    }
    project.check_in_ci(&[what]).expect(0, &[]);
    // Beside the folder's scenarios it is found by itself.
    project.write("scenarios/session.jsonl", &std::fs::read_to_string(what).unwrap());
    project.check_in_ci(&[]).expect(0, &[]);
    std::fs::remove_file(project.path("scenarios/session.jsonl")).unwrap();
    // Without the recording there is nothing of its budget.
    let said = "It has accepted figures of recordings: name their files or folders in every check, as in `ctxbench check RECORDING`";
    project.check_in_ci(&[]).expect(12, &["matches no cell", said, "lighthouse"]);
    std::fs::remove_file(project.path("budgets.lock")).unwrap();
    let said = "The model `held` plays recordings: name their files or folders in every check, as in `ctxbench check RECORDING`";
    project.check(&[]).expect(12, &["matches no cell", said]);
}
