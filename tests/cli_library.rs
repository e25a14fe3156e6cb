//! A crate with a strategy of its own gets the same command line.

use ctxbench::cli;
use ctxbench::error::Exit;
use ctxbench::strategy::{Registered, Registry, RunContext, Session, Strategy};

/// A strategy that cannot even begin.
struct Panics;

impl Strategy for Panics {
    fn id(&self) -> String {
        "panics@1".into()
    }
    fn start(&self, _: &RunContext) -> Box<dyn Session> {
        panic!("nobody taught me to begin")
    }
}

fn registry() -> Registry {
    let mut registry = Registry::builtin();
    let panics = Registered {
        id: "panics",
        profiles: &["1"],
        options: &[],
        rows: &["panics"],
        about: "a strategy of another crate",
        down: "nothing",
        back: "nothing",
        returns: true,
        build: |_| Box::new(Panics),
    };
    registry.register(panics).expect("the name is free");
    registry
}

fn run(args: &[&str]) -> Exit {
    cli::run(std::iter::once("ctxbench").chain(args.iter().copied()).map(Into::into), &registry())
}

#[test]
fn a_panic_in_a_strategy_is_a_failed_cell_and_the_others_still_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.json");
    let out = format!("json={}", path.display());
    let exit = run(&["run", "tiny-task", "--strategy", "panics", "--strategy", "inline", "--quiet", "--format", "csv", "--out", &out]);
    assert_eq!(exit, Exit::CellFailed);
    let results: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (first, second) = (&results["cells"][0], &results["cells"][1]);
    assert_eq!((first["strategy"].as_str(), first["status"].as_str()), (Some("panics@1"), Some("failed")));
    assert_eq!(first["failure"]["kind"], "panic");
    assert_eq!(first["failure"]["message"], "a panic inside the cell: nobody taught me to begin");
    let known: Vec<(&str, f64)> =
        first["metrics"].as_object().unwrap().iter().filter_map(|(name, value)| Some((name.as_str(), value.as_f64()?))).collect();
    assert_eq!(known, [("failures", 1.0), ("quality", 0.0)]);
    assert_eq!((second["strategy"].as_str(), second["status"].as_str()), (Some("inline@1"), Some("ok")));
}

#[test]
fn it_stands_among_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list.json");
    let out = format!("json={}", path.display());
    assert_eq!(run(&["list", "strategies", "--out", &out]), Exit::Fine);
    let list: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let last = list["entries"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (last["name"].as_str(), last["about"].as_str()),
        (Some("panics"), Some("a strategy of another crate; profiles 1; return_format, return_max"))
    );
}

// `main` is the example's own.
#[allow(dead_code)]
#[path = "../examples/custom_strategy.rs"]
mod custom_strategy;

/// Runs the example's command line and gives the JSON that it wrote.
fn example(args: &[&str]) -> serde_json::Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.json");
    let out = format!("json={}", path.display());
    let typed = ["ctxbench"].iter().chain(args).chain(&["--quiet", "--out", &out]).map(Into::into).collect::<Vec<_>>();
    assert_eq!(cli::run(typed, &custom_strategy::registry()), Exit::Fine, "{args:?}");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn the_example_s_strategy_runs_beside_the_built_in_ones() {
    let results = example(&["run", "auth-lookup", "tiny-task", "-s", "user-words", "-s", "opencode"]);
    let cells: Vec<(&str, &str, f64)> = results["cells"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cell| {
            (cell["cell"].as_str().unwrap(), cell["status"].as_str().unwrap(), cell["metrics"]["quality"].as_f64().unwrap_or_default())
        })
        .collect();
    assert_eq!(
        cells,
        [
            ("auth-lookup/user-words@1/reader/0", "ok", 1.0),
            ("auth-lookup/opencode@1.18.33/reader/0", "ok", 1.0),
            ("tiny-task/user-words@1/reader/0", "ok", 1.0),
            ("tiny-task/opencode@1.18.33/reader/0", "ok", 1.0),
        ]
    );
}

#[test]
fn the_example_sends_down_what_it_says() {
    let versus = example(&["show", "auth-lookup/user-words:messages=3/reader/0", "--vs", "user-words"]);
    let child = |side: usize| versus["openings"][0]["requests"][side]["items"].as_array().unwrap().clone();
    let origins = |side: usize| child(side).iter().map(|item| item["origin"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(origins(0).last().map(String::as_str), Some("task"));
    assert_eq!(origins(1), ["inherited", "task"]);
    assert!(child(0).len() > 2, "{:?}", child(0));
    // The user's last message is the last of both, before the task.
    assert_eq!(child(0)[child(0).len() - 2]["text"], child(1)[0]["text"]);
    assert_eq!(versus["sides"][0]["cell"], "auth-lookup/user-words@1:messages=3/reader/0");
}
