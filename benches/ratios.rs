//! What a replay costs, as ratios of one process: against tokenising the same texts once, against a tenth of the length, against no cache.
//!
//! `cargo bench --bench ratios`; BENCHMARKS.md says how to read it.

use std::hint::black_box;
use std::time::Duration;

use cpu_time::ProcessTime;
use ctxbench::cache::Profile;
use ctxbench::ledger::Outcome;
use ctxbench::setting::{CacheKeys, PromptCache};
use ctxbench::strategy::{Registry, Strategy};
use ctxbench::tokens::{Encoding, Meter, counter};

#[path = "../tests/worlds/one_agent.rs"]
mod one_agent;
#[path = "../tests/worlds/session.rs"]
mod session;

use session::Session;

/// The processor time of one call, the least of several.
fn cpu<T>(times: usize, mut call: impl FnMut() -> T) -> Duration {
    let once = |call: &mut dyn FnMut() -> T| {
        let start = ProcessTime::now();
        let result = call();
        let took = start.elapsed();
        drop(black_box(result));
        took
    };
    (0..times).map(|_| once(&mut call)).min().unwrap_or_default()
}

fn strategy(spec: &str) -> std::sync::Arc<dyn Strategy> {
    let choices = Registry::builtin().parse(spec).unwrap_or_else(|why| panic!("{why}"));
    choices[0].build()
}

const EIGHT: [&str; 8] = [
    "inline",
    "full-copy",
    "opencode",
    "codex-v2@0.171",
    "codex-v2@0.160:fork_turns=3",
    "deerflow@v2:context_mode=snapshot",
    "maf-python",
    "claude-code:mode=fork",
];

fn cache(rules: &str) -> PromptCache {
    let rules = Profile::builtin(rules).unwrap_or_else(|why| panic!("{why}"));
    PromptCache { rules, model: "a model".into(), keys: CacheKeys::Run, warm: false }
}

fn meter() -> Meter {
    Meter::new(counter(Encoding::O200kBase))
}

/// Every distinct text of an outcome, once.
fn texts(outcomes: &[Outcome]) -> Vec<String> {
    let items = outcomes.iter().flat_map(|outcome| &outcome.logs).flat_map(|log| &log.items);
    let mut texts: Vec<String> = items.flat_map(|item| item.parts().iter().map(|part| part.as_text().to_owned())).collect();
    texts.sort();
    texts.dedup();
    texts
}

fn main() {
    let spec_only = std::env::var("S").ok();
    let only: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let wanted = |name: &str| only.is_empty() || only.iter().any(|only| name.contains(only.as_str()));
    counter(Encoding::O200kBase).count("warm up").expect("short");
    if wanted("sizing") {
        let n: u32 = std::env::var("N").map_or(500, |n| n.parse().unwrap());
        let long = Session { turns: n, children: n, words: 240 };
        let outcomes: Vec<Outcome> = EIGHT
            .iter()
            .filter(|spec| spec_only.as_ref().is_none_or(|only| only == *spec))
            .map(|spec| {
                let o = long.play(&*strategy(spec), &meter(), None);
                println!(
                    "{spec} {} rows {} logs {} items",
                    o.rows.len(),
                    o.logs.len(),
                    o.logs.iter().map(|l| l.items.len()).sum::<usize>()
                );
                o
            })
            .collect();
        let exchanges: usize = outcomes.iter().map(|outcome| outcome.rows.len()).sum();
        let texts = texts(&outcomes);
        drop(outcomes);
        let counting = counter(Encoding::O200kBase);
        let tokenised = cpu(3, || texts.iter().map(|text| counting.count(text).expect("short")).sum::<u64>());
        for rules in [None, Some("openai"), Some("anthropic")] {
            let mut all = Duration::ZERO;
            for spec in EIGHT.into_iter().filter(|spec| spec_only.as_ref().is_none_or(|only| only == spec)) {
                let strategy = strategy(spec);
                let shared = meter();
                long.play(&*strategy, &shared, None);
                let mut rows = 0;
                let took = cpu(3, || {
                    let o = long.play(&*strategy, &shared, rules.map(cache));
                    rows = o.rows.len();
                    o
                });
                all += took;
                println!("{rules:?} {spec}: {rows} {took:?} {:.2} us", took.as_secs_f64() * 1e6 / rows as f64);
            }
            println!(
                "{rules:?}: tokenised {tokenised:?}; replays {all:?}, {exchanges} exchanges, {:.2} us each",
                all.as_secs_f64() * 1e6 / exchanges as f64
            );
        }
    }
    if wanted("cells") {
        let n: u64 = std::env::var("N").map_or(2_000, |n| n.parse().unwrap());
        for cells in [n, n * 10] {
            let plan = one_agent::plan(cells);
            let meter = meter();
            let folder = std::env::temp_dir().join(format!("ctxbench-ratios-{}", std::process::id()));
            let mut bytes = 0;
            let took = cpu(1, || {
                let directory = ctxbench::runner::RunDirectory::create(&folder, &plan).expect("written");
                let stop = std::sync::atomic::AtomicBool::new(false);
                let tally = ctxbench::runner::run(&plan, &meter, 1, &stop, &mut [Box::new(directory)]).expect("run");
                bytes = ["results.jsonl", "ledger.jsonl", "threads/requests.jsonl"]
                    .iter()
                    .map(|name| std::fs::metadata(folder.join(name)).map_or(0, |file| file.len()))
                    .sum::<u64>();
                std::fs::remove_dir_all(&folder).expect("removed");
                tally
            });
            let quiet = cpu(1, || {
                let stop = std::sync::atomic::AtomicBool::new(false);
                ctxbench::runner::run(&plan, &meter, 1, &stop, &mut []).expect("run")
            });
            println!(
                "{cells} cells: {:.1} us each written, {:.1} us each quiet, {} bytes each",
                took.as_secs_f64() * 1e6 / cells as f64,
                quiet.as_secs_f64() * 1e6 / cells as f64,
                bytes / cells
            );
        }
        let plan = one_agent::plan(1);
        let cell = plan.cells().next().expect("one");
        let record = ctxbench::runner::play(&cell, &meter(), true);
        let threads = record.threads.expect("wanted");
        let mut texts: Vec<String> = vec![];
        let parts: std::collections::BTreeMap<String, String> =
            threads.parts.iter().map(|part| (part.digest().to_string(), part.as_text().to_owned())).collect();
        let mut so_far: Vec<String> = vec![];
        for request in &threads.requests {
            let value = serde_json::to_value(request).expect("json");
            so_far.truncate(value["same"].as_u64().unwrap_or(0) as usize);
            for item in value["items"].as_array().into_iter().flatten() {
                so_far.push(
                    item["parts"].as_array().into_iter().flatten().filter_map(|digest| parts.get(digest.as_str()?)).cloned().collect(),
                );
            }
            texts.extend(so_far.iter().cloned());
            texts.push(value["system"].as_str().and_then(|digest| parts.get(digest)).cloned().unwrap_or_default());
            texts.extend(value["tools"].as_array().into_iter().flatten().filter_map(|digest| parts.get(digest.as_str()?)).cloned());
        }
        let counting = counter(Encoding::O200kBase);
        let bytes: usize = texts.iter().map(String::len).sum();
        let took = cpu(5, || (0..200).map(|_| texts.iter().map(|text| counting.count(text).expect("short")).sum::<u64>()).sum::<u64>());
        println!("recounting its requests: {:.1} us ({bytes} bytes)", took.as_secs_f64() * 1e6 / 200.0);
    }
    if wanted("lengths") {
        for spec in EIGHT {
            for rules in [None, Some("openai")] {
                let strategy = strategy(spec);
                let mut last = 0.0;
                for turns in [300, 3_000, 30_000] {
                    let session = Session { turns, children: 40, words: 20 };
                    let shared = meter();
                    let first = session.play(&*strategy, &shared, rules.map(cache));
                    let exchanges = first.rows.len();
                    drop(first);
                    let took = cpu(if turns > 3000 { 1 } else { 3 }, || session.play(&*strategy, &shared, rules.map(cache))).as_secs_f64()
                        * 1e6
                        / exchanges as f64;
                    println!("{spec} {rules:?} {turns}: {exchanges} exchanges, {took:.2} us each, {:.2}x", took / last);
                    last = took;
                    if took > 400.0 {
                        break;
                    }
                }
            }
        }
    }
}
