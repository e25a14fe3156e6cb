//! The promises hold in random worlds under every strategy, and each of them can be broken.

use std::collections::BTreeMap;

use crate::engine::mutation::{Mutation, with};
use crate::ledger::{FailureKind, Fate, Row, ThreadRecord};
use crate::strategy::{
    Act, Call, End, Event, FullCopy, Order, ParentView, Registry, Route, RunContext, Scope, Session, Strategy, ThreadId, View,
};
use crate::transcript::{Handle, Item, Means, Origin, ToolCall};

use super::promises::{self, Nature, Record};
use super::stub::{CodexV1, CodexV2, DeerFlow, Grace, HandOff, Maf, OpenCode};
use super::worlds::{random_world, walk};

/// How many worlds are played: more by the environment variable `CTXBENCH_WORLDS`.
fn worlds() -> u64 {
    std::env::var("CTXBENCH_WORLDS").ok().and_then(|count| count.parse().ok()).unwrap_or(256)
}

/// The stubs, then every strategy of the registry: each of its profiles, and the default one with each word of each option.
fn strategies() -> Vec<(Box<dyn Strategy>, Nature)> {
    let plain = Nature::default();
    let rewrites = Nature { rewrites: true, ..plain };
    let mut all: Vec<(Box<dyn Strategy>, Nature)> = vec![
        (Box::new(CodexV1), plain),
        (Box::new(CodexV2 { phases: true }), plain),
        (Box::new(CodexV2 { phases: false }), plain),
        (Box::new(OpenCode { drain: true }), plain),
        (Box::new(OpenCode { drain: false }), plain),
        (Box::new(DeerFlow { at_once: 3, in_all: 6 }), plain),
        (Box::new(DeerFlow { at_once: 1, in_all: 2 }), plain),
        (Box::new(HandOff), rewrites),
        (Box::new(Maf { python: true, kept: true }), plain),
        (Box::new(Maf { python: true, kept: false }), plain),
        (Box::new(Maf { python: false, kept: true }), Nature { fails: true, ..plain }),
        (Box::new(Maf { python: false, kept: false }), Nature { fails: true, ..plain }),
        (Box::new(Grace { rounds: 3, compact_at: 0 }), plain),
        (Box::new(Grace { rounds: 2, compact_at: 12 }), rewrites),
    ];
    let registry = Registry::builtin();
    for one in registry.list() {
        let options =
            one.options.iter().flat_map(|option| option.words.iter().map(move |word| format!("{}:{}={word}", one.id, option.key)));
        for spec in std::iter::once(format!("{}@*", one.id)).chain(options) {
            for choice in registry.parse(&spec).unwrap_or_else(|why| panic!("{spec}: {why}")) {
                let shared = Shared(choice.build());
                if all.iter().all(|(known, _)| known.id() != shared.id()) {
                    // A fourth iteration with errors ends the run of .NET's agents, an exception that nobody catches the course's.
                    let fails = matches!(one.id, "maf-dotnet" | "learn-claude-code");
                    all.push((Box::new(shared), Nature { fails, ..plain }));
                }
            }
        }
    }
    for (strategy, nature) in &mut all {
        (nature.hands_down, nature.dangles) = (strategy.hands_history_down(), strategy.may_dangle());
    }
    all
}

/// A strategy out of the registry.
struct Shared(std::sync::Arc<dyn Strategy>);

impl Strategy for Shared {
    fn id(&self) -> String {
        self.0.id()
    }
    fn hands_history_down(&self) -> bool {
        self.0.hands_history_down()
    }
    fn has_scaffold(&self) -> bool {
        self.0.has_scaffold()
    }
    fn may_dangle(&self) -> bool {
        self.0.may_dangle()
    }
    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        self.0.start(run)
    }
}

fn record(seed: u64, strategy: &dyn Strategy, nature: Nature) -> Result<Record, String> {
    let world = random_world(seed);
    let (outcome, notes) = walk(&world, strategy)?;
    Ok(Record { world, nature, outcome, notes })
}

/// What a run met: the promises are empty where nothing of it happens.
fn met(record: &Record, met: &mut BTreeMap<&'static str, u64>) {
    let outcome = &record.outcome;
    let rows = |is: &dyn Fn(&Row) -> bool| outcome.rows.iter().filter(|row| is(row)).count() as u64;
    let threads = |is: &dyn Fn(&ThreadRecord) -> bool| outcome.threads.iter().filter(|thread| is(thread)).count() as u64;
    let failed = |kind: FailureKind| u64::from(outcome.failure.as_ref().is_some_and(|failure| failure.kind == kind));
    let ended = |is: fn(&End) -> bool| threads(&|thread| thread.parent.is_some() && thread.last.as_ref().is_some_and(is));
    for (what, count) in [
        ("children", threads(&|thread| thread.depth == 1)),
        ("grandchildren", threads(&|thread| thread.depth == 2)),
        ("abandoned children", threads(&|thread| thread.abandoned)),
        ("abandoned exchanges", rows(&|row| row.fate == Fate::Abandoned)),
        ("aborted exchanges", rows(&|row| row.fate == Fate::Aborted)),
        ("failed exchanges", rows(&|row| row.fate == Fate::Failed)),
        ("asides", rows(&|row| row.aside)),
        ("spliced requests", rows(&|row| !row.sent.splices.is_empty())),
        ("cut calls", rows(&|row| row.cut > 0)),
        ("requests of unknown parts", rows(&|row| row.unknown_parts > 0)),
        ("requests that equal the last one", rows(&|row| row.moved == 0)),
        ("later turns of children", rows(&|row| row.thread != ThreadId::ROOT && row.turn > 1)),
        ("refusals", outcome.refusals.into()),
        ("late answers", outcome.late_replies.into()),
        ("continuations", outcome.delegations.iter().filter(|one| !one.opened).count() as u64),
        ("failed children", ended(|end| matches!(end, End::Failed(_)))),
        ("stopped children", ended(|end| matches!(end, End::Stopped(_)))),
        ("children at a ceiling", ended(|end| matches!(end, End::Ceiling(_)))),
        ("runs at a ceiling", failed(FailureKind::Limit)),
        ("runs over the window", failed(FailureKind::Overflow)),
        ("runs without a model", failed(FailureKind::Model)),
        ("runs that the strategy ends", failed(FailureKind::Strategy)),
    ] {
        *met.entry(what).or_default() += count;
    }
}

#[test]
fn promises_hold_in_random_worlds() {
    let strategies = strategies();
    let mut broken = Vec::new();
    let mut happened = BTreeMap::new();
    for seed in 0..worlds() {
        for (at, (strategy, nature)) in strategies.iter().enumerate() {
            let held = record(seed, &**strategy, *nature).and_then(|record| {
                met(&record, &mut happened);
                promises::hold(&record)?;
                // Equal runs are equal; a part of them, since it costs another run.
                if (seed + at as u64).is_multiple_of(4) { equal(&record, &**strategy) } else { Ok(()) }
            });
            if let Err(why) = held {
                broken.push(format!("world {seed} under {}: {why}", strategy.id()));
            }
        }
    }
    assert!(broken.is_empty(), "{} broken promises, the first ones:\n{}", broken.len(), broken[..broken.len().min(8)].join("\n\n"));
    println!("{happened:#?}");
    let never: Vec<&str> = happened.iter().filter(|(_, count)| **count == 0).map(|(what, _)| *what).collect();
    assert!(never.is_empty() || worlds() < 256, "no world has {never:?}");
}

fn equal(record: &Record, strategy: &dyn Strategy) -> Result<(), String> {
    let (again, _) = walk(&record.world, strategy)?;
    if format!("{again:?}") == format!("{:?}", record.outcome) { Ok(()) } else { Err("two runs are equal: a second run differs".into()) }
}

/// One way in which a promise is broken.
enum Break {
    /// By the engine.
    Engine(Mutation),
    /// By a strategy that does what it was said not to do.
    Strategy(Box<dyn Strategy>),
    /// By whoever writes the record; false: nothing here to falsify.
    Record(fn(&mut Record) -> bool),
}

/// The first row that is not the first of its thread.
fn later_row(record: &mut Record) -> Option<&mut Row> {
    record.outcome.rows.iter_mut().find(|row| row.exchange > 0 && !row.overflow)
}

fn breaks() -> Vec<(&'static str, Break)> {
    use Break::{Engine, Record as Falsified, Strategy as Liar};
    vec![
        ("rows are opened at send", Engine(Mutation::OpenRowsDropped)),
        ("the ledger renders every request", Falsified(|record| later_row(record).map(|row| row.sent.length -= 1).is_some())),
        ("results stand in call order", Engine(Mutation::ResultsReversed)),
        (
            "nothing dangles",
            Falsified(|record| {
                let mut seen = record.notes.seen.iter_mut();
                let found = seen.find_map(|seen| {
                    seen.items.iter().position(|item| item.origin == Origin::Delegated && item.answers().is_some()).map(|at| (seen, at))
                });
                found.map(|(seen, at)| seen.items.remove(at)).is_some()
            }),
        ),
        ("every call has one result", Engine(Mutation::AbortedCallsDangle)),
        ("threads are isolated", Liar(Box::new(FullCopy::default()))),
        ("origins sum to the input", Falsified(|record| later_row(record).map(|row| row.input.add(Origin::Own, 1)).is_some())),
        (
            "a request grows by what came",
            Falsified(|record| {
                record.outcome.rows.iter_mut().filter(|row| row.fate == Fate::Replied).map(|row| row.output += 1).count() > 0
            }),
        ),
        ("histories are append-only", Liar(Box::new(HandOff))),
        ("ceilings hold", Engine(Mutation::RoundsUnlimited)),
        ("delegations are recorded", Falsified(|record| record.outcome.delegations.pop().is_some())),
        (
            "times add up",
            Falsified(|record| {
                record.outcome.critical_path_ms = record.outcome.span_ms.1 + 1;
                true
            }),
        ),
        (
            "what an item means stands in it",
            Falsified(|record| {
                let root = &record.outcome.threads[0];
                let items = &mut record.outcome.logs[root.log].items[..root.length];
                items
                    .iter_mut()
                    .find(|item| !item.means.is_empty())
                    .map(|item| item.means = vec![Means::Started(Handle("ghost".into()))].into())
                    .is_some()
            }),
        ),
        ("a strategy is shown what is so", Engine(Mutation::ScopeStale)),
        ("no rule is broken", Liar(Box::new(Mute))),
    ]
}

/// Each promise is seen broken, in at least one of the first worlds.
#[test]
fn every_promise_can_be_broken() {
    let breaks = breaks();
    let names: Vec<&str> = breaks.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, promises::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>(), "a promise that nobody tried to break");
    for ((name, how), (_, promise)) in breaks.iter().zip(promises::ALL) {
        let falls = |strategy: &dyn Strategy, nature: Nature, seed: u64| -> bool {
            let Ok(mut record) = record(seed, strategy, nature) else { return false };
            if let Break::Record(falsify) = how {
                assert!(promise(&record).is_ok(), "{name}, world {seed} under {}", strategy.id());
                return falsify(&mut record) && promise(&record).is_err();
            }
            promise(&record).is_err()
        };
        let found = (0..64).any(|seed| match how {
            Break::Strategy(liar) => falls(&**liar, Nature::default(), seed),
            Break::Engine(mutation) => strategies().iter().any(|(strategy, nature)| with(*mutation, || falls(&**strategy, *nature, seed))),
            Break::Record(_) => strategies().iter().any(|(strategy, nature)| falls(&**strategy, *nature, seed)),
        });
        assert!(found, "`{name}` was never seen broken");
    }
}

/// A strategy that does not answer the calls of children that have ended.
struct Mute;

impl Strategy for Mute {
    fn id(&self) -> String {
        "mute@proof".into()
    }
    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(MuteSession(DeerFlow { at_once: 3, in_all: 6 }.start(run)))
    }
}

struct MuteSession(Box<dyn Session>);

impl Session for MuteSession {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        self.0.phrase(act)
    }
    fn view(&mut self, history: &[Item], at: &Scope<'_>) -> View {
        self.0.view(history, at)
    }
    fn route(&mut self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Route {
        self.0.route(call, parent, at)
    }
    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        if matches!(event, Event::Ended(_)) { vec![] } else { self.0.deliver(event, at) }
    }
}

/// A strategy that is another one at every second start.
struct Fickle(std::sync::atomic::AtomicU32);

impl Strategy for Fickle {
    fn id(&self) -> String {
        "fickle@proof".into()
    }
    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        match self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 2 {
            0 => CodexV1.start(run),
            _ => HandOff.start(run),
        }
    }
}

#[test]
fn unequal_runs_are_noticed() {
    let fickle = Fickle(0.into());
    let first = record(0, &fickle, Nature::default()).unwrap_or_else(|why| panic!("{why}"));
    assert!(equal(&first, &fickle).is_err());
}
