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
    assert_eq!((last["name"].as_str(), last["about"].as_str()), (Some("panics"), Some("a strategy of another crate; profiles 1")));
}
