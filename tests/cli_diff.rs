//! `diff` with the real binary.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn ctxbench(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let output = Command::new(assert_cmd::cargo::cargo_bin!("ctxbench")).current_dir(folder).args(args).output().expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text is UTF-8");
    (output.status.code().expect("it ended"), text(output.stdout), text(output.stderr))
}

/// Two runs of three scenarios under two strategies; in the second a tool is told of in a word more.
fn runs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/tiny-task.yaml");
    let text = std::fs::read_to_string(suite).unwrap();
    for (side, from, to) in [("a", "", ""), ("b", "about: Reads a file", "about: Simply reads a file")] {
        let scenarios = folder.path().join(format!("scenarios-{side}"));
        std::fs::create_dir(&scenarios).unwrap();
        for at in 0..3 {
            let text = text.replace("id: tiny-task\n", &format!("id: lookup-{at}\n")).replace(from, to);
            std::fs::write(scenarios.join(format!("lookup-{at}.yaml")), text).unwrap();
        }
        let scenarios = scenarios.display().to_string();
        let (code, _, said) = ctxbench(folder.path(), &["run", &scenarios, "-s", "inline", "-s", "opencode", "--run-dir", side]);
        assert_eq!(code, 0, "{said}");
    }
    folder
}

fn document(folder: &Path, args: &[&str]) -> Value {
    let (code, out, said) = ctxbench(folder, &[&["diff"], args, &["--format", "json"]].concat());
    assert_eq!(code, 0, "{said}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn runs_are_compared_cell_by_cell() {
    let folder = runs();
    let document = document(folder.path(), &["a", "b"]);
    assert_eq!((&document["format"], &document["pairs"], &document["identical"]), (&"ctxbench-diff/1".into(), &6.into(), &0.into()));
    let row = |strategy: &str, metric: &str| {
        let rows = document["rows"].as_array().unwrap();
        rows.iter().find(|row| row["left"] == strategy && row["metric"] == metric).unwrap_or_else(|| panic!("{strategy} {metric}")).clone()
    };
    // A token more in each request that sends the tool: two of the parent, and as many of the child.
    let row_of = row("opencode@1.18.33", "total.input");
    assert_eq!((&row_of["difference"], &row_of["losses"], &row_of["saying"]), (&4.0.into(), &3.into(), &"too few".into()), "{row_of:#}");
    assert_eq!((&row_of["low"], &row_of["no_interval"].is_string()), (&Value::Null, &true), "{row_of:#}");
    let quality = row("opencode@1.18.33", "quality");
    assert_eq!((&quality["ties"], &quality["saying"]), (&3.into(), &"same".into()));
    let same = self::document(folder.path(), &["a", "a"]);
    assert_eq!((&same["pairs"], &same["identical"]), (&6.into(), &6.into()));
}

#[test]
fn two_strategies_of_one_run_are_compared() {
    let folder = runs();
    let document = document(folder.path(), &["a", "a", "--left", "inline", "--right", "opencode", "--metric", "requests"]);
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0]["left"], &rows[0]["right"], &rows[0]["losses"]), (&"inline@1".into(), &"opencode@1.18.33".into(), &3.into()));
}

#[test]
fn what_nobody_measured_is_said() {
    let folder = runs();
    let document = document(folder.path(), &["a", "a", "--left", "inline", "--right", "opencode", "--metric", "child.input_total"]);
    assert_eq!(document["rows"], serde_json::json!([]));
    let said = document["unmeasured"][0].as_str().unwrap();
    assert!(said.starts_with("child.input_total under inline@1 and opencode@1.18.33: nothing to compare"), "{said}");
    assert!(
        ctxbench(folder.path(), &["diff", "a", "a", "--metric", "child.opening"])
            .1
            .contains("child.opening under inline@1: nothing to compare (no child opened)")
    );
}

#[test]
fn results_documents_are_compared_as_well() {
    let folder = runs();
    let args = ["run", "scenarios-a", "-s", "inline", "--format", "json", "--out", "json=a.json"];
    assert_eq!(ctxbench(folder.path(), &args).0, 0);
    assert_eq!(document(folder.path(), &["a.json", "b"])["pairs"], 3);
    assert_eq!(document(folder.path(), &["a.json", "b"])["right_only"].as_array().unwrap().len(), 3);
}

#[test]
fn a_run_that_is_not_whole_is_said_to_be() {
    let folder = runs();
    assert_eq!(document(folder.path(), &["a", "b"])["notes"], serde_json::json!([]));
    let path = folder.path().join("b/results.jsonl");
    let results = std::fs::read_to_string(&path).unwrap();
    let (first, _) = results.split_once('\n').unwrap();
    std::fs::write(&path, format!("{first}\n")).unwrap();
    let lack = "b: the run has 1 of 6 cells: finish it with `ctxbench run --resume` and the arguments it was given";
    assert_eq!(document(folder.path(), &["a", "b"])["notes"], serde_json::json!([lack]));
    assert_eq!(document(folder.path(), &["b", "b"])["notes"], serde_json::json!([lack]));
    for format in ["human", "markdown"] {
        let said = ctxbench(folder.path(), &["diff", "a", "b", "--format", format]).1;
        assert!(said.split_whitespace().collect::<Vec<_>>().join(" ").contains(lack), "{said}");
    }
    // A line that stands there twice is no second cell.
    std::fs::write(&path, format!("{results}{first}\n")).unwrap();
    let (code, _, said) = ctxbench(folder.path(), &["diff", "a", "b"]);
    assert!(code == 3 && said.contains("b/results.jsonl:7: ") && said.contains("stands there twice"), "{code}: {said}");
    let args = ["run", "scenarios-a", "-s", "inline", "--format", "json", "--out", "json=a.json"];
    assert_eq!(ctxbench(folder.path(), &args).0, 0);
    let mut results: Value = serde_json::from_str(&std::fs::read_to_string(folder.path().join("a.json")).unwrap()).unwrap();
    let cells = results["cells"].as_array_mut().unwrap();
    cells.push(cells[0].clone());
    std::fs::write(folder.path().join("twice.json"), results.to_string()).unwrap();
    let (code, _, said) = ctxbench(folder.path(), &["diff", "a.json", "twice.json"]);
    assert!(code == 3 && said.contains("twice.json: lookup-0/inline@1/reader/0 stands there twice"), "{code}: {said}");
}

#[test]
fn every_format_says_the_same() {
    let folder = runs();
    let (code, human, _) = ctxbench(folder.path(), &["diff", "a", "b"]);
    assert_eq!(code, 0);
    for words in ["total.input", "opencode@1.18.33", "+4", "0/0/3", "too few", "the same everywhere under 2 strategies"] {
        assert!(human.contains(words), "no `{words}` in {human}");
    }
    let markdown = ctxbench(folder.path(), &["diff", "a", "b", "--format", "markdown"]).1;
    assert!(markdown.contains("### total.input\n") && markdown.contains("| opencode@1.18.33 | "), "{markdown}");
    let csv = ctxbench(folder.path(), &["diff", "a", "b", "--format", "csv"]).1;
    assert!(csv.starts_with("metric,left,right,model,"), "{csv}");
    assert!(csv.contains("total.input,opencode@1.18.33,opencode@1.18.33,reader,"), "{csv}");
}

#[test]
fn what_cannot_be_compared_says_why() {
    let folder = runs();
    let check = |args: &[&str], code: i32, words: &[&str]| {
        let (got, _, said) = ctxbench(folder.path(), &[&["diff"], args].concat());
        assert_eq!(got, code, "{args:?}: {said}");
        words.iter().for_each(|word| assert!(said.contains(word), "{args:?} does not say `{word}`: {said}"));
    };
    check(&["a", "nowhere"], 1, &["cannot read nowhere"]);
    check(&["a", "scenarios-a"], 1, &["run.json"]);
    check(&["a", "scenarios-a/lookup-0.yaml"], 3, &["neither a folder of a run nor a results document"]);
    check(&["a", "b", "--left", "inline"], 2, &["give both or neither"]);
    check(&["a", "b", "--metric", "totl.input"], 2, &["did you mean `total.input`?"]);
    check(&["a", "b", "--left", "full-copy", "--right", "inline"], 2, &["no cell in common"]);
    check(&["a", "b", "--format", "junit"], 2, &["no format junit"]);
    let args = ["run", "scenarios-a", "-s", "inline", "--tokenizer", "cl100k_base", "--run-dir", "other"];
    assert_eq!(ctxbench(folder.path(), &args).0, 0);
    check(&["a", "other"], 3, &["two encodings cannot be compared"]);
}
