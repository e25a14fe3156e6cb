//! A decision that was reversed: who sees the first word, who the last one, and what follows.

use super::*;
use Child::{Ignorant as I, Right as R, Wrong as W};

/// What a child makes of its task.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Child {
    /// It saw the last word.
    Right,
    /// It saw the first word and not the last one, and does not know it.
    Wrong,
    /// It saw neither, and says so.
    Ignorant,
}

impl Child {
    fn plan(self) -> &'static str {
        match self {
            R => "DONE plan of the clean-up: 30 days",
            W => "DONE plan of the clean-up: 90 days",
            I => "DONE plan of the clean-up: guess",
        }
    }
}

/// The scenarios, by where the last word stands.
const CHANNELS: [&str; 7] = [
    "stale-decision",
    "stale-decision-final-answer",
    "stale-decision-beside-call",
    "stale-decision-tool-result",
    "stale-decision-hidden",
    "stale-decision-summary",
    "stale-decision-written-down",
];

/// Whoever gets the task alone knows neither word, unless the first one is written down.
const BLANK: [Child; 7] = [I, I, I, I, I, I, W];
const WHOLE: [Child; 7] = [R; 7];

/// In the order of [`CHANNELS`]. In all of them but the one of the summary the first word is a user's turn, the last one
/// stands in the turn after it, and the delegating turn follows.
const CHILDREN: [(&str, [Child; 7]); 26] = [
    ("full-copy", WHOLE),
    ("full-copy:in_flight=pop-message", WHOLE),
    ("full-copy:in_flight=placeholder", WHOLE),
    ("full-copy:in_flight=forward", WHOLE),
    ("full-copy:in_flight=finished-turn", WHOLE),
    // Text beside a call is kept, its result is not.
    ("full-copy:in_flight=drop-tools", [R, R, R, W, R, R, R]),
    ("opencode", BLANK),
    ("opencode:background=true", BLANK),
    ("maf-dotnet", BLANK),
    ("maf-python", BLANK),
    ("codex-v1:fork_context=false", BLANK),
    // The filter goes by roles and phases: it keeps users, hidden or not, final answers and summaries.
    ("codex-v1:fork_context=true", [R, R, W, W, R, R, R]),
    ("codex-v2@0.160:fork_turns=none", BLANK),
    ("codex-v2@0.160:fork_turns=1", BLANK),
    // The delegating turn and the one of the last word. A hidden message of the user's role is a turn by itself, and the
    // summary stands before all turns.
    ("codex-v2@0.160:fork_turns=2", [R, R, I, I, I, I, R]),
    ("codex-v2@0.160:fork_turns=3", [R, R, W, W, R, W, R]),
    ("codex-v2@0.160:fork_turns=all", [R, R, W, W, R, R, R]),
    ("codex-v2@0.171", WHOLE),
    ("deerflow:context_mode=isolated", BLANK),
    // What people do not see is left out of the snapshot; the first release of it did not look.
    ("deerflow:context_mode=snapshot", [R, R, R, R, W, R, R]),
    ("deerflow@v1:context_mode=snapshot", WHOLE),
    ("deerflow@f1f4af9", BLANK),
    ("learn-claude-code", BLANK),
    ("spawn-agent", BLANK),
    ("claude-code", BLANK),
    ("claude-code:mode=fork", WHOLE),
];

fn each(size: Size, mut check: impl FnMut(&Bench, &str, Child)) {
    for (at, name) in CHANNELS.into_iter().enumerate() {
        let bench = Bench::new(name, size);
        for (spec, children) in CHILDREN {
            check(&bench, spec, children[at]);
        }
    }
}

#[test]
fn who_sees_the_first_word_alone_is_wrong() {
    for size in Size::ALL {
        each(size, |bench, spec, child| {
            let run = bench.play(spec);
            let expect = f64::from(u8::from(child == R));
            let name = &bench.scenario().id;
            assert_eq!(figures(&run, ["child.coverage", "child.quality", "quality"]), [expect; 3], "{name} {size:?} {spec}");
            assert_eq!(figures(&run, ["rescues", "drift"]), [0.0, 0.0], "{name} {size:?} {spec}");
            // The return is stale or says that it guesses, and the answer hands on what it got; the time itself the parent has right.
            let [wrong, guessed] = [W, I].map(|what| f64::from(u8::from(child == what)));
            assert_eq!(figures(&run, ["returns.stale", "returns.invented"]), [wrong, 0.0], "{name} {size:?} {spec}");
            assert_eq!(figures(&run, ["stale", "invented"]), [wrong, 0.0], "{name} {size:?} {spec}");
            assert_eq!(figures(&run, ["used", "ignored", "admitted"]), [1.0 + expect, 0.0, guessed], "{name} {size:?} {spec}");
            let answer = run.outcome.answer();
            assert!(answer.contains(child.plan()), "{name} {size:?} {spec}: {answer}");
            // The parent has both words, and goes by the last one.
            assert!(answer.contains("Delivery photos have a retention of 30 days."), "{name} {spec}: {answer}");
            // Only who knows nothing looks for it.
            assert_eq!(calls(&run.outcome, 1, "search_files"), usize::from(child == I), "{name} {spec}");
        });
    }
}

#[test]
fn a_fallback_mends_ignorance_and_never_a_wrong_word() {
    each(Size::Small, |bench, spec, child| {
        let run = bench.falling_back(spec, Fallback::Itself);
        let (quality, rescues) = match child {
            R => (1.0, 0.0),
            W => (0.0, 0.0),
            I => (1.0, 1.0),
        };
        assert_eq!(figures(&run, ["quality", "rescues"]), [quality, rescues], "{} {spec}", bench.scenario().id);
    });
}

#[test]
fn a_brief_of_what_is_known_brings_the_last_word_to_everybody() {
    each(Size::Small, |bench, spec, _| {
        let run = bench.briefed(spec, Briefing::Known);
        assert_eq!(figures(&run, ["child.quality", "quality"]), [1.0, 1.0], "{} {spec}", bench.scenario().id);
    });
}

#[test]
fn the_one_thread_goes_by_the_last_word() {
    for size in Size::ALL {
        for name in CHANNELS {
            let run = Bench::new(name, size).play("inline");
            assert_eq!((figure(&run, "quality"), run.outcome.threads.len()), (1.0, 1), "{name}");
            assert!(run.outcome.answer().contains(R.plan()), "{name}");
        }
    }
}
