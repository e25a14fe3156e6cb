//! Eight questions in one message.

use super::*;

/// What becomes of eight calls.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Eight {
    /// All begin at once.
    AtOnce,
    /// They are made one after the other.
    InARow,
    /// Three begin; a refused one is called again when another is done.
    ThreeAtATime,
    /// Six begin, and the two that are refused stay so: children that are done still count. The parent does their work.
    SixForGood,
    /// Three of a message are made and the rest is cut, six in all; then the turn is over, whatever is left of it.
    SixAndEnd,
    /// None begins: the parent does all of it.
    Inline,
}

use Eight::*;

const EIGHT: [(&str, Eight); 23] = [
    ("inline", Inline),
    ("full-copy", AtOnce),
    ("full-copy:in_flight=placeholder", AtOnce),
    ("opencode", AtOnce),
    ("opencode:background=true", AtOnce),
    ("maf-python", AtOnce),
    ("spawn-agent", AtOnce),
    ("claude-code", AtOnce),
    ("claude-code:mode=fork", AtOnce),
    ("claude-code:background=true", AtOnce),
    ("maf-dotnet", InARow),
    ("learn-claude-code", InARow),
    ("codex-v2@0.171", ThreeAtATime),
    ("codex-v2@0.160:fork_turns=none", ThreeAtATime),
    ("codex-v2@0.160:fork_turns=3", ThreeAtATime),
    ("codex-v2@0.160:fork_turns=all", ThreeAtATime),
    ("codex-v2@0.130:fork_turns=none", ThreeAtATime),
    ("codex-v1:fork_context=false", SixForGood),
    ("codex-v1:fork_context=true", SixForGood),
    ("codex-v1@source-2026-08", SixForGood),
    ("deerflow:context_mode=isolated", SixAndEnd),
    ("deerflow:context_mode=snapshot", SixAndEnd),
    ("deerflow@f1f4af9", SixAndEnd),
];

/// The most children that worked at the same time.
fn most_at_once(outcome: &Outcome) -> usize {
    let span = |thread: ThreadId| {
        let rows: Vec<_> = outcome.rows_of(thread).collect();
        (rows[0].sent_ms, rows[rows.len() - 1].done_ms.expect("it answered"))
    };
    let spans: Vec<(u64, u64)> = outcome.threads[1..].iter().map(|child| span(child.id)).collect();
    spans.iter().map(|(from, _)| spans.iter().filter(|(begin, end)| begin <= from && from < end).count()).max().unwrap_or(0)
}

#[test]
fn who_lets_eight_children_begin() {
    for size in [Size::Small, Size::Medium] {
        let bench = Bench::new("fan-out-8", size);
        for (spec, eight) in EIGHT {
            let run = bench.play(spec);
            let (children, at_once, quality, rescues) = match eight {
                AtOnce => (8, 8, 1.0, 0.0),
                InARow => (8, 1, 1.0, 0.0),
                ThreeAtATime => (8, 3, 1.0, 0.0),
                SixForGood => (6, 6, 1.0, 2.0),
                // What the six found is never told: the last message hands out, is cut, and ends the turn.
                SixAndEnd => (6, 3, 0.0, 0.0),
                Inline => (0, 0, 1.0, 0.0),
            };
            assert_eq!((run.outcome.threads.len() - 1, most_at_once(&run.outcome)), (children, at_once), "{size:?} {spec}");
            assert_eq!(figures(&run, ["quality", "rescues", "drift"]), [quality, rescues, 0.0], "{size:?} {spec}");
            let refused = figure(&run, "refusals") > 0.0;
            assert_eq!(refused, matches!(eight, ThreeAtATime | SixForGood), "{size:?} {spec}");
            if children > 0 {
                assert_eq!(figures(&run, ["child.quality", "child.coverage"]), [1.0, 1.0], "{size:?} {spec}");
            }
        }
    }
}

#[test]
fn eight_at_once_are_back_before_eight_in_a_row() {
    let bench = Bench::new("fan-out-8", Size::Medium);
    let took = |eight: Eight| -> Vec<f64> {
        let of = EIGHT.iter().filter(|(_, one)| *one == eight);
        of.map(|(spec, _)| figure(&bench.play(spec), "latency.end_to_end")).collect()
    };
    let slowest = |all: &[f64]| all.iter().copied().fold(0.0, f64::max);
    let quickest = |all: &[f64]| all.iter().copied().fold(f64::INFINITY, f64::min);
    let (at_once, three, in_a_row) = (took(AtOnce), took(ThreeAtATime), took(InARow));
    assert!(slowest(&at_once) < quickest(&three), "{at_once:?} {three:?}");
    assert!(slowest(&three) < quickest(&in_a_row), "{three:?} {in_a_row:?}");
}
