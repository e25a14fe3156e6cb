//! Two words as the whole task.

use super::*;
use Child::{Asks, OnCourse, Strays};

/// What a child does that is told to go on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Child {
    /// What is meant: it sees the turn that says it.
    OnCourse,
    /// Nothing: it has no task, and says so.
    Asks,
    /// What was asked for in the turn before: its copy ends there.
    Strays,
}

const CHILDREN: [(&str, Child); 24] = [
    ("full-copy", OnCourse),
    ("full-copy:in_flight=pop-message", OnCourse),
    ("full-copy:in_flight=placeholder", OnCourse),
    ("full-copy:in_flight=forward", OnCourse),
    ("full-copy:in_flight=drop-tools", OnCourse),
    ("full-copy:in_flight=finished-turn", Strays),
    ("opencode", Asks),
    ("opencode:background=true", Asks),
    ("maf-dotnet", Asks),
    ("maf-python", Asks),
    ("codex-v1:fork_context=false", Asks),
    ("codex-v1:fork_context=true", OnCourse),
    ("codex-v2@0.160:fork_turns=none", Asks),
    // The delegating turn is enough.
    ("codex-v2@0.160:fork_turns=1", OnCourse),
    ("codex-v2@0.160:fork_turns=3", OnCourse),
    ("codex-v2@0.160:fork_turns=all", OnCourse),
    ("codex-v2@0.171", OnCourse),
    ("deerflow:context_mode=isolated", Asks),
    ("deerflow:context_mode=snapshot", OnCourse),
    ("deerflow@f1f4af9", Asks),
    ("learn-claude-code", Asks),
    ("spawn-agent", Asks),
    ("claude-code", Asks),
    ("claude-code:mode=fork", OnCourse),
];

#[test]
fn two_words_mean_what_the_history_says() {
    for size in Size::ALL {
        let bench = Bench::new("vague-brief", size);
        for (spec, child) in CHILDREN {
            let run = bench.play(spec);
            let found = f64::from(u8::from(child == OnCourse));
            let shown = figures(&run, ["quality", "child.quality", "child.coverage", "rescues"]);
            assert_eq!(shown, [found, found, found, 0.0], "{size:?} {spec}");
            let lost = figures(&run, ["drift", "children.zero_action"]);
            assert_eq!(lost, [f64::from(u8::from(child == Strays)), 1.0 - found], "{size:?} {spec}");
            match child {
                OnCourse => assert!(run.outcome.answer().contains("on the sixteenth day"), "{size:?} {spec}"),
                Asks => assert!(was_told(&run.outcome, 0, "unknown: task"), "{size:?} {spec}"),
                // It reports, and nothing in the report says that this was not asked.
                Strays => assert!(was_told(&run.outcome, 0, "void after eleven days"), "{size:?} {spec}"),
            }
        }
    }
}

#[test]
fn two_children_with_the_same_words_do_the_same_work() {
    let bench = Bench::new("vague-brief-two", Size::Small);
    for (spec, child) in CHILDREN {
        let run = bench.play(spec);
        let (quality, drift) = match child {
            // The first of them does what the second one does.
            OnCourse => (0.5, 1.0),
            Asks => (0.0, 0.0),
            // Both answer the turn before.
            Strays => (0.0, 2.0),
        };
        assert_eq!(figures(&run, ["quality", "child.quality", "drift"]), [quality, quality, drift], "{spec}");
    }
}

#[test]
fn a_whole_task_is_understood_by_everybody() {
    for name in ["vague-brief", "vague-brief-two"] {
        let bench = Bench::new(name, Size::Small);
        for (spec, _) in CHILDREN.into_iter().chain([("inline", OnCourse)]) {
            // The brief `known` is the task in full.
            let run = bench.briefed(spec, Briefing::Known);
            assert_eq!(figures(&run, ["quality", "drift"]), [1.0, 0.0], "{name} {spec}");
        }
    }
}
