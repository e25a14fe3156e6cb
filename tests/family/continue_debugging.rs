//! A search that is half done.

use super::*;

/// Whether a child sees what was tried: calls with their results, not what was said of them.
const SEES: [(&str, bool); 24] = [
    ("full-copy", true),
    ("full-copy:in_flight=pop-message", true),
    ("full-copy:in_flight=placeholder", true),
    ("full-copy:in_flight=forward", true),
    ("full-copy:in_flight=finished-turn", true),
    ("full-copy:in_flight=drop-tools", false),
    ("opencode", false),
    ("opencode:background=true", false),
    ("maf-dotnet", false),
    ("maf-python", false),
    ("codex-v1:fork_context=false", false),
    // Users and final answers are handed down: that each attempt failed, and not its output.
    ("codex-v1:fork_context=true", false),
    ("codex-v2@0.160:fork_turns=none", false),
    ("codex-v2@0.160:fork_turns=3", false),
    ("codex-v2@0.160:fork_turns=all", false),
    ("codex-v2@0.171", true),
    ("deerflow:context_mode=isolated", false),
    // Finished calls are listed, with their results.
    ("deerflow:context_mode=snapshot", true),
    ("deerflow@v1:context_mode=snapshot", true),
    ("deerflow@f1f4af9", false),
    ("learn-claude-code", false),
    ("spawn-agent", false),
    ("claude-code", false),
    ("claude-code:mode=fork", true),
];

#[test]
fn what_was_tried_is_not_tried_again_by_who_sees_it() {
    for name in ["continue-debugging", "continue-debugging-late"] {
        for size in Size::ALL {
            let bench = Bench::new(name, size);
            let attempts = bench.scenario().intents[0].work.plan.len();
            let made = bench.scenario().history.iter().filter(|item| item.as_call().is_some_and(|call| call.name == "run_tests")).count();
            assert_eq!(made, attempts - 1, "the parent has made all but the last one");
            for (spec, sees) in SEES {
                let run = bench.play(spec);
                assert_eq!(figures(&run, ["quality", "child.quality", "child.coverage", "rescues"]), [1.0, 1.0, 1.0, 0.0], "{name} {spec}");
                assert_eq!(calls(&run.outcome, 1, "run_tests"), if sees { 1 } else { attempts }, "{name} {size:?} {spec}");
                assert_eq!(figure(&run, "reexplored") > 0.0, !sees, "{name} {size:?} {spec}");
                // An attempt takes two seconds.
                let tools = figure(&run, "latency.tools");
                assert_eq!((tools / 2000.0).floor() as usize, if sees { 1 } else { attempts }, "{name} {size:?} {spec}: {tools}");
            }
            let run = bench.play("inline");
            assert_eq!((calls(&run.outcome, 0, "run_tests"), figure(&run, "quality")), (1 + made, 1.0), "{name} {size:?}");
        }
    }
}

/// Everything that is sent, by the number of attempts and of turns on other matters before them.
fn totals(specs: [&str; 2], attempts: i64, talk_turns: i64) -> [f64; 2] {
    let bench = Bench::with("continue-debugging", Size::Small, &[("attempts", attempts), ("talk_turns", talk_turns)]);
    specs.map(|spec| total(&bench.play(spec)))
}

/// The fewest attempts with which a copy of the history costs less than trying again.
fn crossing(specs: [&str; 2], talk_turns: i64) -> i64 {
    let cheaper = |attempts: &i64| {
        let [copy, blank] = totals(specs, *attempts, talk_turns);
        copy < blank
    };
    (1..16).find(cheaper).unwrap_or_else(|| panic!("{specs:?} never cross with {talk_turns} turns before"))
}

#[test]
fn with_more_attempts_a_copy_pays_and_with_more_history_it_pays_later() {
    let pairs = [
        ["full-copy", "maf-python"],
        ["deerflow:context_mode=snapshot", "deerflow:context_mode=isolated"],
        ["codex-v2@0.171", "codex-v2@0.171:fork_turns=none"],
        ["claude-code:mode=fork", "claude-code:background=true"],
    ];
    for specs in pairs {
        let [early, late] = [0, 12].map(|talk| crossing(specs, talk));
        assert!(early < late, "{specs:?}: {early} and {late}");
        // Before the crossing trying again is cheaper, after it never again.
        for attempts in [late, late + 3, late + 6] {
            let [copy, blank] = totals(specs, attempts, 12);
            assert!(copy < blank, "{specs:?} with {attempts} attempts: {copy} and {blank}");
        }
        // The scenarios stand on either side.
        let [copy, blank] = ["continue-debugging", "continue-debugging-late"].map(|name| {
            let bench = Bench::new(name, Size::Small);
            specs.map(|spec| total(&bench.play(spec)))
        });
        assert!(copy[0] < copy[1] && blank[0] > blank[1], "{specs:?}: {copy:?} and {blank:?}");
    }
}

/// A filtered fork pays for the history and for trying again.
#[test]
fn a_copy_without_results_pays_twice() {
    for size in Size::ALL {
        let bench = Bench::new("continue-debugging", size);
        let [all, none] = ["codex-v2@0.160:fork_turns=all", "codex-v2@0.160:fork_turns=none"].map(|spec| total(&bench.play(spec)));
        assert!(all > none, "{size:?}: {all} and {none}");
    }
}
