//! Every strategy of the default rows runs on every scenario.

use ctxbench::scenario::builtin_names;
use ctxbench::strategy::Registry;

use super::*;

/// The families of the design, by their first scenario.
const FAMILIES: [&str; 25] = [
    "auth-lookup",
    "test-framework",
    "tiny-task",
    "continue-debugging",
    "recent-decision",
    "stale-decision",
    "correction-after-dispatch",
    "fan-out-3",
    "fan-out-8",
    "follow-up-detail",
    "flooding-report",
    "vague-brief",
    "in-flight-calls",
    "compacted-parent",
    "recursion-bomb",
    "child-fails",
    "permission-narrowing",
    "code-review-diff",
    "test-log-triage",
    "chinese-codebase",
    "research-artifacts",
    "long-session",
    "cache-break",
    "conflicting-writes",
    "noisy-history",
];

#[test]
fn every_family_ships_in_three_sizes_and_says_what_it_separates() {
    let names = builtin_names();
    for family in FAMILIES {
        assert!(names.contains(&family), "{family}");
    }
    let mut reasons = std::collections::BTreeSet::new();
    for name in names {
        let scenario = compiled(name, Size::Small, &[]);
        assert_eq!(scenario.sizes, Size::ALL, "{name}");
        assert!(scenario.why.len() > 80 && scenario.why.ends_with('.'), "{name}: {}", scenario.why);
        assert!(reasons.insert(scenario.why.clone()), "{name} says what another one says");
        assert!(FAMILIES.iter().any(|family| name.starts_with(family)) || name == "old-decision", "{name} is of no family");
    }
}

#[test]
fn every_default_row_runs_on_every_scenario() {
    let rows = Registry::builtin().default_rows();
    assert!(rows.len() >= 15);
    for name in builtin_names() {
        let bench = Bench::new(name, Size::Small);
        for row in &rows {
            // `play` fails on a run that failed.
            let played = play(&bench.reader, &*row.build(), &bench.meter);
            assert!(!played.outcome.answer().trim().is_empty(), "{name} {}", row.id());
            let [quality, requests] = figures(&played, ["quality", "requests"]);
            assert!((0.0..=1.0).contains(&quality), "{name} {}: {quality}", row.id());
            // Small is cheap: the suite is run whole.
            assert!(requests <= 110.0, "{name} {}: {requests} requests", row.id());
        }
    }
}

/// The other sizes of those that `tests/measures.rs` does not play in all of theirs.
#[test]
fn every_default_row_runs_in_the_other_sizes_too() {
    for name in ["fan-out-8", "cache-break", "cache-break-first-word", "cache-break-slow"] {
        for size in [Size::Medium, Size::Large] {
            let bench = Bench::new(name, size);
            for row in Registry::builtin().default_rows() {
                let played = play(&bench.reader, &*row.build(), &bench.meter);
                assert!(!played.outcome.answer().trim().is_empty(), "{name} {size:?} {}", row.id());
            }
        }
    }
}

/// Families of real work: what comes back is as long as what real sub-agents send.
const WORK: [&str; 14] = [
    "auth-lookup",
    "test-framework",
    "continue-debugging",
    "stale-decision",
    "correction-after-dispatch",
    "vague-brief",
    "in-flight-calls",
    "compacted-parent",
    "permission-narrowing",
    "code-review-diff",
    "test-log-triage",
    "research-artifacts",
    "conflicting-writes",
    "noisy-history",
];

#[test]
fn returns_are_as_long_as_real_ones() {
    for name in WORK {
        for bench in sizes(name) {
            // It hands the child's text on as it is, and sees the history.
            let outcome = bench.play("full-copy").outcome;
            let back: Vec<usize> = outcome
                .history_of(ThreadId::ROOT)
                .iter()
                .filter(|item| item.origin == Origin::Delegated && !item.means.is_empty())
                .map(|item| item.text().chars().count())
                .collect();
            let [first, ..] = back[..] else { panic!("{name}: nothing came back") };
            assert!((1000..=2200).contains(&first), "{name} {:?}: {first} characters", bench.scenario().size);
        }
    }
}
