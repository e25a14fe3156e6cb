//! The outputs of a check: snapshots for people, schemas for programs.

use serde_json::Value;

use super::project::{BUDGETS, Project};

/// Grown, new and unmeasured at once, under two strategies.
fn changed() -> Project {
    let project = Project::new();
    let more = "\n[[budget]]\nscenario = \"lookup\"\nstrategy = \"inline\"\n\"child.opening\" = {}\n";
    project.write("budgets.toml", &(BUDGETS.replace("\"opencode\"", "[\"opencode\", \"full-copy\"]") + more));
    project.check(&["--accept"]).expect(0, &[]);
    project.edit("scenarios/lookup.yaml", "about: Reads a file", "about: Simply reads a file");
    project.edit("budgets.toml", "\"quality\" = {}", "\"quality\" = {}\n\"requests\" = {}");
    project
}

#[test]
fn people_are_told_in_a_terminal() {
    let project = changed();
    let done = project.check(&[]).expect(10, &[]);
    insta::assert_snapshot!("check_human", done.out);
    assert!(done.err.is_empty(), "{}", done.err);
    let coloured = project.check(&["--color", "always"]).out;
    assert!(coloured.contains("\u{1b}[1;31mGREW STALE\u{1b}[0m"), "{coloured:?}");
}

#[test]
fn people_are_told_on_a_page() {
    insta::assert_snapshot!("check_markdown", changed().check_in_ci(&["--format", "markdown"]).out);
}

#[test]
fn annotations_name_the_line_of_the_budgets() {
    insta::assert_snapshot!("check_github", changed().check_in_ci(&["--format", "github"]).out);
}

#[test]
fn test_reports_have_a_case_a_cell_and_metric() {
    let out = changed().check_in_ci(&["--format", "junit"]).out;
    insta::assert_snapshot!("check_junit", out);
    assert_eq!(out.matches("<testcase ").count(), 7);
}

#[test]
fn the_document_has_its_schema() {
    let project = changed();
    let schema: Value = serde_json::from_str(&project.run(&["schema", "check"]).out).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for document in [project.document(&[]), project.document(&["--locked"]), Project::accepted().document(&[])] {
        let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
    let mut wrong = project.document(&[]);
    wrong["rows"][0]["value"] = "many".into();
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn budgets_have_their_schema() {
    let project = Project::new();
    let schema: Value = serde_json::from_str(&project.run(&["schema", "budgets"]).out).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let check = |text: &str, valid: bool| {
        let value: toml::Table = text.parse().unwrap();
        let value = serde_json::to_value(value).unwrap();
        assert_eq!(validator.is_valid(&value), valid, "{text}");
    };
    check(BUDGETS, true);
    check(&std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/budgets.toml")).unwrap(), true);
    check(&BUDGETS.replace("version = 1", "version = 2"), false);
    check(&BUDGETS.replace("\"quality\"", "\"qualty\""), false);
    check(&BUDGETS.replace("grow = 0", "grow = \"a bit\""), false);
    check(&BUDGETS.replace("{}", "{ maximum = 1 }"), false);
}

#[test]
fn several_formats_are_written_at_once() {
    let project = changed();
    let out: Vec<String> = ["json", "junit", "markdown", "github", "human"].iter().map(|format| format!("{format}={format}.out")).collect();
    let mut args = vec!["--format", "json"];
    out.iter().for_each(|file| args.extend(["--out", file]));
    let done = project.check(&args).expect(10, &[]);
    assert_eq!(project.read("json.out"), done.out);
    assert!(project.read("human.out").trim_end().ends_with("exit 10: a limit is exceeded"));
    assert!(project.read("junit.out").starts_with("<?xml"));
    assert!(project.read("markdown.out").starts_with("## Token budgets: failed"));
    assert!(project.read("github.out").starts_with("::error file=budgets.toml,line="));
    project.check(&["--format", "csv"]).expect(2, &["no format csv"]);
    let refused = project.run(&["run", "scenarios/lookup.yaml", "-s", "inline", "--format", "junit"]);
    refused.expect_usage("`run` has no format junit");
}

#[test]
fn equal_checks_are_equal_bytes_whatever_the_threads() {
    let project = changed();
    let with = |jobs: &str| project.check(&["--format", "json", "--jobs", jobs]).out;
    assert_eq!(with("1"), with("3"));
}
