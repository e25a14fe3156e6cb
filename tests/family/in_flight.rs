//! A call that is still running when the history is copied.

use super::*;

const SPECS: [&str; 26] = [
    "full-copy",
    "full-copy:in_flight=pop-message",
    "full-copy:in_flight=placeholder",
    "full-copy:in_flight=forward",
    "full-copy:in_flight=drop-tools",
    "full-copy:in_flight=finished-turn",
    "opencode",
    "opencode:background=true",
    "maf-dotnet",
    "maf-python",
    "codex-v1:fork_context=false",
    "codex-v1:fork_context=true",
    "codex-v2@0.160:fork_turns=none",
    "codex-v2@0.160:fork_turns=1",
    "codex-v2@0.160:fork_turns=3",
    "codex-v2@0.160:fork_turns=all",
    "codex-v2@0.171",
    "deerflow:context_mode=isolated",
    "deerflow:context_mode=snapshot",
    "deerflow@v1:context_mode=snapshot",
    "deerflow@f1f4af9",
    "learn-claude-code",
    "spawn-agent",
    "claude-code",
    "claude-code:mode=fork",
    "claude-code:background=true",
];

#[test]
fn a_call_in_flight_stands_in_the_delegating_message() {
    for (name, tool) in [("in-flight-calls", "read_log"), ("in-flight-calls-deed", "send_letter")] {
        let run = Bench::new(name, Size::Small).play("full-copy:in_flight=forward");
        let history = run.outcome.history_of(ThreadId::ROOT);
        let position = |wanted: &dyn Fn(&Item) -> bool| history.iter().position(wanted).expect("it was called");
        let call = position(&|item| item.as_call().is_some_and(|call| call.name == tool));
        let delegation = position(&|item| item.as_call().is_some_and(|call| call.intent.is_some()));
        assert_eq!(delegation, call + 1, "{name}: side by side, in one message");
    }
}

#[test]
fn what_has_not_come_back_is_asked_for_again() {
    for size in Size::ALL {
        let bench = Bench::new("in-flight-calls", size);
        for spec in SPECS {
            let run = bench.play(spec);
            assert_eq!(figures(&run, ["quality", "child.quality", "child.coverage", "rescues"]), [1.0, 1.0, 1.0, 0.0], "{size:?} {spec}");
            let logs = [0, 1].map(|thread| calls(&run.outcome, thread, "read_log"));
            assert_eq!(logs, [1, 1], "{size:?} {spec}");
        }
        let run = bench.play("inline");
        assert_eq!((calls(&run.outcome, 0, "read_log"), figure(&run, "quality")), (1, 1.0), "{size:?}");
    }
}

#[test]
fn what_the_call_in_flight_has_taken_no_child_can_get() {
    for size in Size::ALL {
        let bench = Bench::new("in-flight-calls-once", size);
        for spec in SPECS {
            let run = bench.play(spec);
            // The parent has it, and the child has not.
            assert_eq!(figures(&run, ["quality", "child.quality", "child.coverage"]), [1.0, 0.0, 0.0], "{size:?} {spec}");
            assert!(was_told(&run.outcome, 0, "unknown: cause of the lost hand-over"), "{size:?} {spec}");
        }
        assert_eq!(figure(&bench.play("inline"), "quality"), 1.0);
    }
}

/// A letter that is sent again is read twice in 214 shops.
#[test]
fn a_deed_is_done_again_by_who_does_not_see_that_it_is_under_way() {
    for size in Size::ALL {
        let bench = Bench::new("in-flight-calls-deed", size);
        for spec in SPECS {
            let run = bench.play(spec);
            // Of all the ways to copy a call in flight, only a word on it tells. `aborted` says that it was not done.
            let letters = if spec == "full-copy:in_flight=placeholder" { 1 } else { 2 };
            assert_eq!(calls_of_all(&run.outcome, "send_letter"), letters, "{size:?} {spec}");
            assert_eq!(figures(&run, ["quality", "child.quality"]), [1.0, 1.0], "{size:?} {spec}");
        }
        assert_eq!(calls_of_all(&bench.play("inline").outcome, "send_letter"), 1, "{size:?}");
    }
}
