//! `run.json`: what a run is, so that nobody goes on with another one in its folder.

use serde::Serialize;
use serde_json::Value;

use crate::plan::Plan;
use crate::results::{LEDGER_FORMAT, Prices, RESULTS_FORMAT, Settings, THREADS_FORMAT};

/// The version of `run.json`.
pub const RUN_FORMAT: &str = "ctxbench-run/1";

/// `run.json`.
#[derive(Debug, Serialize)]
pub(super) struct RunFile<'a> {
    format: &'a str,
    ctxbench: &'a str,
    results: &'a str,
    ledger: &'a str,
    threads: &'a str,
    tokenizer: &'a str,
    prices: Option<&'a Prices>,
    settings: &'a Settings,
    cells: usize,
    /// Fingerprint inputs by scenario and strategy; a cell adds its seed.
    inputs: Vec<InputsLine>,
}

#[derive(Debug, Serialize)]
struct InputsLine {
    scenario: String,
    strategy: String,
    inputs: indexmap::IndexMap<&'static str, String>,
}

/// What a plan's `run.json` holds.
pub(super) fn run_file(plan: &Plan) -> RunFile<'_> {
    let mut inputs = Vec::new();
    for subject in plan.subjects() {
        for strategy in plan.strategies() {
            inputs.push(InputsLine {
                scenario: subject.id.clone(),
                strategy: strategy.id(),
                inputs: plan.inputs(subject, strategy.as_ref()).each().into_iter().collect(),
            });
        }
    }
    RunFile {
        format: RUN_FORMAT,
        ctxbench: env!("CARGO_PKG_VERSION"),
        results: RESULTS_FORMAT,
        ledger: LEDGER_FORMAT,
        threads: THREADS_FORMAT,
        tokenizer: &plan.head().tokenizer,
        prices: plan.head().prices.as_ref(),
        settings: &plan.head().settings,
        cells: plan.len(),
        inputs,
    }
}

/// The first thing in which a kept `run.json` differs from this run's, in words; `None`: nothing does. What a person
/// typed is named before what follows from it.
pub(super) fn first_difference(kept: &Value, now: &Value) -> Option<String> {
    const TYPED: [&str; 5] = ["format", "ctxbench", "tokenizer", "prices", "settings"];
    let typed = TYPED.iter().find_map(|name| difference(name, kept.get(name), now.get(name)));
    typed.or_else(|| inputs_difference(kept.get("inputs"), now.get("inputs"))).or_else(|| difference("", Some(kept), Some(now)))
}

/// Scenarios and strategies are named by their names, not by their places.
fn inputs_difference(kept: Option<&Value>, now: Option<&Value>) -> Option<String> {
    let lines = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let (kept, now) = (lines(kept), lines(now));
    let of = |line: &Value| format!("{} under {}", text(line.get("scenario")), text(line.get("strategy")));
    for (at, line) in now.iter().enumerate() {
        let Some(known) = kept.get(at) else { return Some(format!("{} is in this run only", of(line))) };
        if of(known) != of(line) {
            return Some(format!("{} stands where this run has {}", of(known), of(line)));
        }
        if let Some(found) = difference(&format!("{}: ", of(line)), known.get("inputs"), line.get("inputs")) {
            return Some(found);
        }
    }
    kept.get(now.len()).map(|line| format!("{} is in the kept run only", of(line)))
}

fn difference(name: &str, kept: Option<&Value>, now: Option<&Value>) -> Option<String> {
    if kept == now {
        return None;
    }
    if let (Some(Value::Object(a)), Some(Value::Object(b))) = (kept, now) {
        let below = |key: &String| match name {
            "" => key.clone(),
            head if head.ends_with(": ") => format!("{head}{key}"),
            head => format!("{head}.{key}"),
        };
        let keys = b.keys().chain(a.keys().filter(|key| !b.contains_key(*key)));
        return keys.into_iter().find_map(|key| difference(&below(key), a.get(key), b.get(key)));
    }
    Some(format!("{name} is {} there and {} now", text(kept), text(now)))
}

fn text(value: Option<&Value>) -> String {
    match value {
        None => "absent".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::{plan, scenario};
    use serde_json::json;

    fn check(change: impl FnOnce(&mut Value), expect: Option<&str>) {
        let plan = plan(2, vec![scenario("s")], &["a@1", "b@1"]);
        let now = serde_json::to_value(run_file(&plan)).unwrap();
        let mut kept = now.clone();
        change(&mut kept);
        assert_eq!(first_difference(&kept, &now).as_deref(), expect);
    }

    #[test]
    fn the_first_difference_is_named() {
        check(|_| {}, None);
        check(|kept| kept["ctxbench"] = json!("0.0.9"), Some("ctxbench is 0.0.9 there and 0.1.0 now"));
        // The number of seeds decides the number of cells: what was typed is named.
        check(
            |kept| {
                kept["settings"]["seeds"] = json!(3);
                kept["cells"] = json!(6);
            },
            Some("settings.seeds is 3 there and 2 now"),
        );
        check(|kept| kept["settings"]["fallback"] = json!("self"), Some("settings.fallback is self there and null now"));
        check(|kept| kept["inputs"][1]["strategy"] = json!("c@1"), Some("s under c@1 stands where this run has s under b@1"));
        check(
            |kept| kept["inputs"][1]["inputs"]["strategy_version"] = json!("7"),
            Some("s under b@1: strategy_version is 7 there and 1 now"),
        );
        check(|kept| kept["inputs"].as_array_mut().unwrap().truncate(1), Some("s under b@1 is in this run only"));
        let more = json!({"scenario": "t", "strategy": "a@1", "inputs": {}});
        check(|kept| kept["inputs"].as_array_mut().unwrap().push(more), Some("t under a@1 is in the kept run only"));
        check(|kept| kept["cells"] = json!(5), Some("cells is 5 there and 4 now"));
        check(|kept| kept["colour"] = json!("red"), Some("colour is red there and absent now"));
        check(|kept| *kept = json!([]), Some("format is absent there and ctxbench-run/1 now"));
    }
}
