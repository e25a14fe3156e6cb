//! What a replay costs, as comparisons by name: each a ratio of two measurements of one process, so that it says the same on any machine.
//!
//! `cargo bench --bench ratios`; add names (`cells`, `lengths`) for a part of it. BENCHMARKS.md says how to read it.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cpu_time::ProcessTime;
use ctxbench::cache::Profile;
use ctxbench::ledger::Outcome;
use ctxbench::runner::{RunDirectory, play, run};
use ctxbench::setting::{CacheKeys, PromptCache};
use ctxbench::strategy::{Registry, Strategy};
use ctxbench::tokens::{Encoding, Meter, counter};
use ctxbench::transcript::{Item, Origin};

#[path = "../tests/worlds/one_agent.rs"]
mod one_agent;
#[path = "../tests/worlds/session.rs"]
mod session;

use session::{EIGHT, Session, prose};

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let parts: [(&str, fn()); 4] = [("replay", replay), ("lengths", lengths), ("fork", fork), ("cells", cells)];
    // Loads the vocabulary, which belongs to no comparison.
    black_box(counter(Encoding::O200kBase).count("once").ok());
    for (name, part) in parts {
        if wanted.is_empty() || wanted.iter().any(|one| one == name) {
            part();
        }
    }
}

/// One line: a comparison, its value, and what it should be.
fn say(name: &str, value: f64, unit: &str, goal: &str) {
    println!("{name:<58} {value:>9.2} {unit:<4} {goal}");
}

/// The processor time of a call: the least of several.
fn cpu<T>(times: usize, mut call: impl FnMut() -> T) -> Duration {
    let mut least = Duration::MAX;
    for _ in 0..times {
        let start = ProcessTime::now();
        let result = call();
        least = least.min(start.elapsed());
        drop(black_box(result));
    }
    least
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn strategy(spec: &str) -> Arc<dyn Strategy> {
    let choices = Registry::builtin().parse(spec).unwrap_or_else(|why| panic!("{why}"));
    choices[0].build()
}

fn cache(rules: &str) -> Option<PromptCache> {
    let rules = Profile::builtin(rules).unwrap_or_else(|why| panic!("{why}"));
    Some(PromptCache { rules, model: "a model".into(), keys: CacheKeys::Run, warm: false })
}

fn meter() -> Meter {
    Meter::new(counter(Encoding::O200kBase))
}

/// Every distinct text of the outcomes' histories, once.
fn texts(outcomes: &[Outcome]) -> Vec<String> {
    let items = outcomes.iter().flat_map(|outcome| &outcome.logs).flat_map(|log| &log.items);
    let mut texts: Vec<String> = items.flat_map(|item| item.parts().iter().map(|part| part.as_text().to_owned())).collect();
    texts.sort();
    texts.dedup();
    texts
}

/// A session of 500 turns, each of which hands work to a child, under eight strategies.
fn replay() {
    let long = Session { turns: 500, children: 500, words: 240 };
    let outcomes: Vec<Outcome> = EIGHT.iter().map(|spec| long.play(&*strategy(spec), &meter(), None)).collect();
    let texts = texts(&outcomes);
    drop(outcomes);
    let counting = counter(Encoding::O200kBase);
    let bytes: usize = texts.iter().map(String::len).sum();
    let tokenised = cpu(3, || texts.iter().filter_map(|text| counting.count(text).ok()).sum::<u64>());
    println!("replay: {} KB of distinct text, tokenised once in {:.1} ms", bytes / 1024, tokenised.as_secs_f64() * 1e3);
    let (mut plain, mut cached, mut exchanges) = (Duration::ZERO, Duration::ZERO, 0);
    for spec in EIGHT {
        let strategy = strategy(spec);
        let meter = meter();
        let requests = long.play(&*strategy, &meter, None).rows.len();
        let [without, with] = [None, cache("openai")].map(|cache| cpu(3, || long.play(&*strategy, &meter, cache.clone())));
        say(&format!("replay/{spec}: an exchange"), micros(without) / requests as f64, "us", "");
        say(&format!("replay/{spec}: its prompt cache"), micros(with.saturating_sub(without)) / requests as f64, "us", "");
        (plain, cached, exchanges) = (plain + without, cached + with.saturating_sub(without), exchanges + requests);
    }
    say("replay: an exchange, all eight", micros(plain) / exchanges as f64, "us", "at most 15");
    say("replay: prompt caches against tokenising once", cached.as_secs_f64() / tokenised.as_secs_f64(), "x", "at most 0.5");
}

/// Forty children in sessions of three lengths: what an exchange costs should not depend on the length.
fn lengths() {
    for spec in EIGHT {
        let strategy = strategy(spec);
        let cost = |turns: u32| {
            let session = Session { turns, children: 40, words: 20 };
            let meter = meter();
            let exchanges = session.play(&*strategy, &meter, None).rows.len();
            micros(cpu(if turns > 3_000 { 1 } else { 3 }, || session.play(&*strategy, &meter, None))) / exchanges as f64
        };
        let short = cost(300);
        let middle = cost(3_000);
        say(&format!("lengths/{spec}: 3,000 turns against 300"), middle / short, "x", "at most 1.2");
        if middle / short > 3.0 {
            println!("lengths/{spec}: it writes every request anew, so 30,000 turns are left out");
            continue;
        }
        say(&format!("lengths/{spec}: 30,000 turns against 3,000"), cost(30_000) / middle, "x", "at most 1.2");
    }
}

/// One child beside a history of a million items.
fn fork() {
    const ITEMS: u32 = 1_000_000;
    let history: Vec<Item> = (0..ITEMS).map(|at| Item::user(Origin::User, prose(at, 3))).collect();
    let session = Session { turns: 2, children: 1, words: 20 };
    let meter = meter();
    let cost = |spec: &str| {
        let strategy = strategy(spec);
        drop(session.play_behind(history.clone(), &*strategy, &meter, None));
        cpu(3, || session.play_behind(history.clone(), &*strategy, &meter, None))
    };
    let isolated = cost("opencode");
    for spec in ["full-copy", "codex-v2@0.171", "claude-code:mode=fork"] {
        let nanos = cost(spec).saturating_sub(isolated).as_secs_f64() * 1e9 / f64::from(ITEMS);
        say(&format!("fork/{spec}: an item of a million"), nanos, "ns", "at most 50");
    }
}

/// Cells of one agent, results, ledger and threads written, against counting the texts of their requests anew.
fn cells() {
    let folder = std::env::temp_dir().join(format!("ctxbench-ratios-{}", std::process::id()));
    let written = |cells: u64| {
        let plan = one_agent::plan(cells);
        let meter = meter();
        let took = cpu(1, || {
            let directory = RunDirectory::create(&folder, &plan).unwrap_or_else(|why| panic!("{why}"));
            run(&plan, &meter, 1, &AtomicBool::new(false), &mut [Box::new(directory)]).map_err(|why| why.to_string())
        });
        let bytes = |name: &str| fs::metadata(Path::new(&folder).join(name)).map_or(0, |file| file.len());
        let bytes = bytes("results.jsonl") + bytes("ledger.jsonl");
        fs::remove_dir_all(&folder).unwrap_or_else(|why| panic!("{why}"));
        (micros(took) / cells as f64, bytes / cells)
    };
    let (few, bytes) = (0..5).map(|_| written(2_000)).min_by(|(one, _), (other, _)| one.total_cmp(other)).unwrap_or_default();
    let (many, _) = written(200_000);
    let texts = requests();
    let counting = counter(Encoding::O200kBase);
    let again =
        micros(cpu(5, || (0..200).map(|_| texts.iter().filter_map(|text| counting.count(text).ok()).sum::<u64>()).sum::<u64>())) / 200.0;
    println!("cells: {few:.0} us a cell, {bytes} bytes of results and ledger; counting its three requests anew: {again:.0} us");
    say("cells: a cell against counting its requests anew", few / again, "x", "at most 0.25");
    say("cells: 200,000 against 2,000, a cell", many / few, "x", "at most 1.25");
}

/// The texts of the three requests of a cell, each as often as it is sent.
fn requests() -> Vec<String> {
    let plan = one_agent::plan(1);
    let cell = plan.cells().next().unwrap_or_else(|| panic!("a plan of one cell"));
    let threads = play(&cell, &meter(), true).threads.unwrap_or_default();
    let text = |name| threads.parts.iter().find(|part| ctxbench::results::PartName::from(part.digest()) == name).map(|part| part.as_text());
    let mut held: Vec<String> = Vec::new();
    let mut texts: Vec<String> = Vec::new();
    for request in &threads.requests {
        held.truncate(request.same);
        held.extend(request.items.iter().map(|item| item.parts.iter().filter_map(|&name| text(name)).collect()));
        texts.extend(held.iter().cloned());
        texts.extend(request.system.iter().chain(&request.tools).filter_map(|&name| text(name)).map(str::to_owned));
    }
    texts
}
