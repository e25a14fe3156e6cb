//! Children that come back without a report.

use super::*;

const UNKNOWN: &str = "unknown: time for which refused parcels are kept";
const FOUND: &str = "Parcels that are refused at the door are kept for six days.";

#[test]
fn nothing_of_a_failed_child_is_taken_for_an_answer() {
    for name in ["child-fails", "child-fails-empty", "child-fails-preamble"] {
        for size in Size::ALL {
            let bench = Bench::new(name, size);
            for spec in DELEGATING {
                // The child saw the fact, and nothing of it came back.
                let took_over = bench.falling_back(spec, Fallback::Itself);
                let shown = figures(&took_over, ["child.coverage", "child.quality", "rescues", "quality"]);
                assert_eq!(shown, [1.0, 0.0, 1.0, 1.0], "{name} {size:?} {spec}");
                let gave_up = bench.falling_back(spec, Fallback::GiveUp);
                let shown = figures(&gave_up, ["child.coverage", "child.quality", "rescues", "quality"]);
                assert_eq!(shown, [1.0, 0.0, 0.0, 0.0], "{name} {size:?} {spec}");
                assert_eq!(gave_up.outcome.answer(), UNKNOWN, "{name} {size:?} {spec}");
                assert!(total(&took_over) > total(&gave_up), "{name} {size:?} {spec}");
            }
            // Nobody delegates, nobody fails.
            assert_eq!(figures(&bench.play("inline"), ["quality", "rescues"]), [1.0, 0.0], "{name}");
        }
    }
}

#[test]
fn an_announcement_comes_back_as_a_report() {
    let bench = Bench::new("child-fails-preamble", Size::Small);
    for spec in DELEGATING {
        let run = bench.falling_back(spec, Fallback::GiveUp);
        assert!(was_told(&run.outcome, 0, "Let me put the report together."), "{spec}");
    }
}

/// Who ends a child that needs fifty-three rounds, and with how many requests.
const ROUNDS: [(&str, Option<usize>); 15] = [
    ("full-copy", None),
    ("opencode", None),
    ("codex-v1:fork_context=false", None),
    ("codex-v2@0.171", None),
    ("codex-v2@0.160:fork_turns=none", None),
    ("spawn-agent", None),
    ("claude-code", None),
    ("claude-code:mode=fork", None),
    // Fifty for agents of the application's own.
    ("deerflow:context_mode=isolated", Some(50)),
    ("deerflow:context_mode=snapshot", Some(50)),
    ("deerflow@f1f4af9", Some(50)),
    // Thirty rounds, the calls of the last one included.
    ("learn-claude-code", Some(30)),
    // Forty iterations, and one request more, without tools.
    ("maf-dotnet", Some(41)),
    ("maf-python", Some(41)),
    ("maf-python@2026-08", Some(41)),
];

#[test]
fn a_cap_on_rounds_ends_a_child_before_it_has_seen_the_fact() {
    for size in Size::ALL {
        let bench = Bench::new("child-fails-rounds", size);
        assert!(bench.scenario().intents[0].work.plan.len() > 51);
        for (spec, cap) in ROUNDS {
            let run = bench.falling_back(spec, Fallback::GiveUp);
            let found = f64::from(u8::from(cap.is_none()));
            assert_eq!(figures(&run, ["child.coverage", "child.quality", "quality"]), [found; 3], "{size:?} {spec}");
            let requests = run.outcome.rows_of(ThreadId(1)).count();
            assert_eq!(requests, cap.unwrap_or(bench.scenario().intents[0].work.plan.len() + 1), "{size:?} {spec}");
            if cap.is_some() {
                assert_eq!(run.outcome.answer(), UNKNOWN, "{size:?} {spec}");
            }
        }
        // A parent that takes over is capped by the same number, if the product has it for all its agents.
        for (spec, mended) in [("learn-claude-code", 1.0), ("maf-dotnet", 0.0), ("maf-python", 0.0)] {
            let run = bench.falling_back(spec, Fallback::Itself);
            assert_eq!(figures(&run, ["rescues", "quality"]), [1.0, mended], "{size:?} {spec}");
        }
    }
}

/// A child that never ends: the product's own cap ends it, or the harness's, and nothing of it is an answer.
#[test]
fn a_child_that_never_ends_is_ended() {
    let bench = Bench::new("child-fails-never", Size::Small);
    let rounds = bench.scenario().ceilings.rounds as usize;
    for (spec, cap) in ROUNDS {
        let run = bench.falling_back(spec, Fallback::GiveUp);
        assert_eq!(figures(&run, ["child.coverage", "child.quality", "quality"]), [1.0, 0.0, 0.0], "{spec}");
        assert_eq!(run.outcome.rows_of(ThreadId(1)).count(), cap.unwrap_or(rounds), "{spec}");
        assert_eq!(run.outcome.answer(), UNKNOWN, "{spec}");
    }
    // Nobody delegates, nobody never ends.
    assert_eq!(figure(&bench.play("inline"), "quality"), 1.0);
}

/// What becomes of a child that waits for half an hour.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wait {
    /// The caller sits it out.
    SatOut,
    /// The child is ended by a time-out, and the caller reads of it.
    TimedOut,
    /// The caller waits three times and goes on without it.
    GivenUp,
}

const WAITS: [(&str, Wait); 19] = [
    ("full-copy", Wait::SatOut),
    ("opencode", Wait::SatOut),
    ("opencode:background=true", Wait::SatOut),
    ("maf-dotnet", Wait::SatOut),
    ("maf-python", Wait::SatOut),
    ("learn-claude-code", Wait::SatOut),
    ("spawn-agent", Wait::SatOut),
    ("claude-code", Wait::SatOut),
    ("claude-code:mode=fork", Wait::SatOut),
    ("claude-code:background=true", Wait::SatOut),
    // Half a minute each time.
    ("codex-v1:fork_context=false", Wait::GivenUp),
    ("codex-v1:fork_context=true", Wait::GivenUp),
    ("codex-v2@0.171", Wait::GivenUp),
    ("codex-v2@0.160:fork_turns=none", Wait::GivenUp),
    ("codex-v2@0.160:fork_turns=3", Wait::GivenUp),
    ("codex-v2@0.130:fork_turns=none", Wait::GivenUp),
    // A quarter of an hour for agents of the application's own.
    ("deerflow:context_mode=isolated", Wait::TimedOut),
    ("deerflow:context_mode=snapshot", Wait::TimedOut),
    ("deerflow@f1f4af9", Wait::TimedOut),
];

#[test]
fn half_an_hour_is_sat_out_cut_off_or_given_up() {
    let bench = Bench::new("child-fails-slow", Size::Small);
    for (spec, wait) in WAITS {
        let run = bench.falling_back(spec, Fallback::GiveUp);
        let found = f64::from(u8::from(wait == Wait::SatOut));
        assert_eq!(figures(&run, ["child.quality", "quality", "rescues"]), [found, found, 0.0], "{spec}");
        let seconds = figure(&run, "latency.end_to_end") / 1000.0;
        let expect = match wait {
            Wait::SatOut => 1900.0..1915.0,
            Wait::TimedOut => 900.0..915.0,
            Wait::GivenUp => 90.0..100.0,
        };
        assert!(expect.contains(&seconds), "{spec}: {seconds} s");
        assert_eq!(figure(&run, "children.abandoned"), f64::from(u8::from(wait == Wait::GivenUp)), "{spec}");
        assert_eq!(run.outcome.answer(), if wait == Wait::SatOut { FOUND } else { UNKNOWN }, "{spec}");
        // Who was told that it failed does the work again; who waits in vain was told nothing.
        let took_over = bench.falling_back(spec, Fallback::Itself);
        assert_eq!(figure(&took_over, "rescues"), f64::from(u8::from(wait == Wait::TimedOut)), "{spec}");
    }
}
