//! More families of built-in scenarios, a file each: what each says that it separates, it separates, with the real engine and
//! reader. A strategy is one line in each table; what it must show is stated by hand, from what the system hands down, when it
//! listens, and where it stops.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use ctxbench::ledger::Outcome;
use ctxbench::model::reader::Reader;
use ctxbench::scenario::{Briefing, Fallback, Scenario, Size, compile_builtin};
use ctxbench::strategy::ThreadId;
use ctxbench::tokens::{Encoding, Meter, counter};
use ctxbench::transcript::{Item, Origin, Part};

#[path = "../worlds/play.rs"]
mod play;

mod artifacts;
mod cache_break;
mod child_fails;
mod chinese;
mod compacted_parent;
mod conflicting_writes;
mod continue_debugging;
mod correction;
mod every_row;
mod fan_out_8;
mod firewall;
mod in_flight;
mod long_session;
mod mutated;
mod noisy_history;
mod permissions;
mod reader_profiles;
mod return_forms;
mod returns;
mod stale_decision;
mod vague_brief;

use play::{Played, play, play_seeded, strategy};

/// Every kind of strategy that delegates, the options that change what goes down or comes back among them.
const DELEGATING: [&str; 23] = [
    "full-copy",
    "full-copy:in_flight=placeholder",
    "full-copy:in_flight=finished-turn",
    "opencode",
    "opencode:background=true",
    "maf-dotnet",
    "maf-python",
    "codex-v1:fork_context=false",
    "codex-v1:fork_context=true",
    "codex-v2@0.171",
    "codex-v2@0.160:fork_turns=none",
    "codex-v2@0.160:fork_turns=3",
    "codex-v2@0.160:fork_turns=all",
    "deerflow:context_mode=isolated",
    "deerflow:context_mode=snapshot",
    "deerflow@f1f4af9",
    "learn-claude-code",
    "spawn-agent",
    "summary-return",
    "artifact-ref",
    "claude-code",
    "claude-code:mode=fork",
    "claude-code:background=true",
];

/// One for all tests: a text that many scenarios hold is counted once.
fn meter() -> Meter {
    static METER: OnceLock<Meter> = OnceLock::new();
    METER.get_or_init(|| Meter::new(counter(Encoding::O200kBase))).clone()
}

fn compiled(name: &str, size: Size, overrides: &[(&str, i64)]) -> Scenario {
    let overrides: BTreeMap<String, i64> = overrides.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    compile_builtin(name, size, &overrides).expect("a built-in name").unwrap_or_else(|errors| panic!("{errors}"))
}

/// A scenario, ready to be played under many strategies.
struct Bench {
    reader: Reader,
    meter: Meter,
}

impl Bench {
    fn new(name: &str, size: Size) -> Bench {
        Bench::with(name, size, &[])
    }

    fn with(name: &str, size: Size, overrides: &[(&str, i64)]) -> Bench {
        Bench { reader: Reader::new(Arc::new(compiled(name, size, overrides))), meter: meter() }
    }

    fn scenario(&self) -> &Scenario {
        self.reader.scenario()
    }

    fn play(&self, spec: &str) -> Played {
        play(&self.reader, &*strategy(spec), &self.meter)
    }

    fn briefed(&self, spec: &str, briefing: Briefing) -> Played {
        let mut reader = self.reader.clone();
        reader.briefing = briefing;
        play(&reader, &*strategy(spec), &self.meter)
    }

    /// Read by a reader that falls short of the ideal one.
    fn read_by(&self, profile: &str, spec: &str, seed: u64) -> Played {
        let mut reader = self.reader.clone();
        reader.profile = profile.parse().unwrap_or_else(|why| panic!("{why}"));
        reader.fallback = Some(Fallback::Itself);
        play_seeded(&reader, &*strategy(spec), &self.meter, false, seed)
    }

    fn falling_back(&self, spec: &str, fallback: Fallback) -> Played {
        let mut reader = self.reader.clone();
        reader.fallback = Some(fallback);
        play(&reader, &*strategy(spec), &self.meter)
    }
}

/// A scenario in every size.
fn sizes(name: &str) -> [Bench; 3] {
    Size::ALL.map(|size| Bench::new(name, size))
}

/// A metric that must have a value.
fn figure(played: &Played, name: &str) -> f64 {
    played.measurement.get(name).unwrap_or_else(|why| panic!("{name}: {why}")).as_f64()
}

/// Several of them.
fn figures<const N: usize>(played: &Played, names: [&str; N]) -> [f64; N] {
    names.map(|name| figure(played, name))
}

fn total(played: &Played) -> f64 {
    figure(played, "total.input") + figure(played, "total.output")
}

/// How often a thread itself called a tool.
fn calls(outcome: &Outcome, thread: usize, tool: &str) -> usize {
    let is_it = |item: &&Item| item.origin == Origin::Own && item.as_call().is_some_and(|call| call.name == tool);
    outcome.history_of(ThreadId(thread as u32)).iter().filter(is_it).count()
}

/// How often all threads did.
fn calls_of_all(outcome: &Outcome, tool: &str) -> usize {
    (0..outcome.threads.len()).map(|thread| calls(outcome, thread, tool)).sum()
}

/// Whether a text stands anywhere in what a thread was sent, its own words aside.
fn was_told(outcome: &Outcome, thread: usize, text: &str) -> bool {
    let last = outcome.rows_of(ThreadId(thread as u32)).last().expect("it was sent something");
    let items = outcome.items_of(last);
    items.iter().filter(|item| item.origin != Origin::Own).flat_map(Item::parts).any(|part: &Part| part.as_text().contains(text))
}
