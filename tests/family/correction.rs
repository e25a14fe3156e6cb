//! The user corrects the task while the child works.

use super::*;

/// Whether the correction reaches the child before it is done: where its work takes seconds, and where it takes a minute.
const HEARD: [(&str, [bool; 2]); 25] = [
    // The parent is in the call until the child is done.
    ("full-copy", [false, false]),
    ("full-copy:in_flight=placeholder", [false, false]),
    ("full-copy:in_flight=finished-turn", [false, false]),
    ("opencode", [false, false]),
    ("maf-dotnet", [false, false]),
    ("maf-python", [false, false]),
    ("deerflow:context_mode=isolated", [false, false]),
    ("deerflow:context_mode=snapshot", [false, false]),
    ("deerflow@f1f4af9", [false, false]),
    ("learn-claude-code", [false, false]),
    ("spawn-agent", [false, false]),
    ("claude-code", [false, false]),
    // The turn has ended, the correction starts one, and the running child is given it as one more prompt.
    ("opencode:background=true", [true, true]),
    ("claude-code:background=true", [true, true]),
    ("claude-code:mode=fork", [true, true]),
    // A wait is deaf, and runs out after half a minute.
    ("codex-v1:fork_context=false", [false, true]),
    ("codex-v1:fork_context=true", [false, true]),
    ("codex-v1@source-2026-08", [false, true]),
    // A wait ends when the user speaks.
    ("codex-v2@0.171", [true, true]),
    ("codex-v2@0.163", [true, true]),
    ("codex-v2@0.160:fork_turns=none", [true, true]),
    ("codex-v2@0.160:fork_turns=3", [true, true]),
    ("codex-v2@0.160:fork_turns=all", [true, true]),
    ("codex-v2@0.145:fork_turns=none", [true, true]),
    ("codex-v2@0.130:fork_turns=none", [true, true]),
];

const NAMES: [&str; 2] = ["correction-after-dispatch", "correction-after-dispatch-slow"];

#[test]
fn who_still_hears_a_correction() {
    for size in Size::ALL {
        for (at, name) in NAMES.into_iter().enumerate() {
            let bench = Bench::new(name, size);
            for (spec, heard) in HEARD {
                let run = bench.play(spec);
                let expect = f64::from(u8::from(heard[at]));
                assert_eq!(figures(&run, ["quality", "child.coverage", "rescues"]), [expect, expect, 0.0], "{name} {size:?} {spec}");
                let planned = if heard[at] { "25 requests a second" } else { "40 requests a second" };
                let answer = run.outcome.answer();
                assert!(answer.contains(&format!("DONE plan of the limit: {planned}")), "{name} {size:?} {spec}: {answer}");
                // It was at work when the user spoke, and the parent has heard it in the end.
                let scenario = bench.scenario();
                let ctxbench::setting::UserTime::At(at_ms) = scenario.turns[1].when else { panic!("the correction has a time") };
                let rows: Vec<_> = run.outcome.rows_of(ThreadId(1)).collect();
                assert!(rows[0].sent_ms < at_ms && at_ms < rows[rows.len() - 1].sent_ms, "{name} {size:?} {spec}");
                assert!(was_told(&run.outcome, 0, "25 requests a second"), "{name} {size:?} {spec}");
            }
        }
    }
}

#[test]
fn the_one_thread_hears_it_at_its_next_request() {
    for size in Size::ALL {
        for name in NAMES {
            let run = Bench::new(name, size).play("inline");
            assert!(run.outcome.answer().contains("DONE plan of the limit: 25 requests a second"), "{name} {size:?}");
            assert_eq!(figure(&run, "quality"), 1.0);
        }
    }
}
