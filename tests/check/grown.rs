//! What grew: one word more in a tool's description is found and named.

use super::project::{BUDGETS, CELL, Project};

/// One word more in what the model is told of `read_file`.
fn one_word_more(project: &Project) {
    project.edit("scenarios/lookup.yaml", "about: Reads a file", "about: Simply reads a file");
}

#[test]
fn one_word_more_in_a_tools_description_fails_the_check() {
    let project = Project::accepted();
    one_word_more(&project);
    let done = project
        .check(&[])
        .expect(10, &["GREW", CELL, "parent.input_total", "tools +2", "tool read_file", "request 0 of the root thread /"]);
    assert!(done.out.contains("a lookup stays small"), "{}", done.out);
    project.check_in_ci(&[]).expect(11, &["GREW", "STALE", "tool read_file", "also 10"]);

    let row = project.row(CELL, "parent.input_total");
    // `Simply reads` is one token more than `Reads`; the parent sends its tools in both of its requests.
    assert_eq!(row["difference"], 2, "{row:#}");
    assert_eq!(row["growth"], serde_json::json!({"tools": 2}));
    let first = &row["first"];
    assert_eq!((&first["request"], &first["thread"], &first["item"]), (&0.into(), &"/".into(), &serde_json::Value::Null));
    assert_eq!((&first["change"], &first["now"]["what"]), (&"changed".into(), &"tool read_file".into()));
    assert_eq!(first["now"]["tokens"].as_i64().unwrap() - first["before"]["tokens"].as_i64().unwrap(), 1);

    project.check(&["--accept"]).expect(0, &["parent.input_total", "(+2)"]);
    project.check(&[]).expect(0, &[]);
    project.check_in_ci(&[]).expect(0, &[]);
}

#[test]
fn the_same_is_found_in_a_run_directory() {
    let project = Project::accepted();
    one_word_more(&project);
    project.run(&["run", "scenarios/lookup.yaml", "-s", "opencode", "--run-dir", "kept"]);
    let (now, kept) = (project.document(&[]), project.document(&["kept"]));
    assert_eq!(now, kept);
    project.check(&["kept"]).expect(10, &["tool read_file"]);
}

#[test]
fn a_longer_file_is_found_in_the_childs_result() {
    let project = Project::new();
    project.write("budgets.toml", &BUDGETS.replace("parent.input_total", "child.input_total"));
    project.check(&["--accept"]).expect(0, &[]);
    // A line more in the file that the child reads.
    project.edit("scenarios/lookup.yaml", "        METRICS_PORT = 9187", "        # nobody else may\n        METRICS_PORT = 9187");
    let row = project.row(CELL, "child.input_total");
    assert_eq!(row["verdict"], "GREW", "{row:#}");
    assert!(row["growth"]["tool_result"].as_i64().is_some_and(|tokens| tokens > 0), "{row:#}");
    assert_eq!((&row["first"]["thread"], &row["first"]["now"]["what"]), (&"/1".into(), &"result".into()), "{row:#}");
}

#[test]
fn growth_sums_to_the_difference() {
    let project = Project::new();
    let metrics = ["parent.final_context", "parent.peak_context", "parent.input_total", "parent.output_total", "child.opening"];
    let more = ["child.opening_sum", "child.peak_context", "child.input_total", "child.output_total", "total.input", "total.output"];
    let lines: String = metrics.iter().chain(&more).map(|metric| format!("\"{metric}\" = {{}}\n")).collect();
    project.write("budgets.toml", &BUDGETS.replace("\"parent.input_total\" = {}\n", &lines));
    project.check(&["--accept"]).expect(0, &[]);
    one_word_more(&project);
    for row in project.document(&[])["rows"].as_array().unwrap() {
        let Some(split) = row["by_origin"].as_object() else {
            assert_eq!(row["metric"], "quality", "{row:#}");
            continue;
        };
        let sum: i64 = split.values().filter_map(serde_json::Value::as_i64).sum();
        assert_eq!(Some(sum), row["value"].as_i64(), "{row:#}");
        let grown: i64 = row["growth"].as_object().into_iter().flatten().filter_map(|(_, tokens)| tokens.as_i64()).sum();
        assert_eq!(Some(grown), row["difference"].as_i64(), "{row:#}");
    }
}
