//! Families of built-in scenarios: what each says that it separates, it separates, with the real engine and reader. A
//! strategy is one line in each table.

use std::collections::BTreeMap;
use std::sync::Arc;

use ctxbench::ledger::Outcome;
use ctxbench::model::reader::Reader;
use ctxbench::scenario::marker::stands_in;
use ctxbench::scenario::{Briefing, Fallback, Scenario, Size, compile_builtin};
use ctxbench::strategy::ThreadId;
use ctxbench::tokens::{Encoding, Meter, counter};
use ctxbench::transcript::{Item, Origin, Role};

#[path = "worlds/play.rs"]
mod play;

use play::{Played, play, strategy};

fn meter() -> Meter {
    Meter::new(counter(Encoding::O200kBase))
}

fn scenario(name: &str, size: Size) -> Scenario {
    compile_builtin(name, size, &BTreeMap::new()).expect("a built-in name").unwrap_or_else(|errors| panic!("{errors}"))
}

fn reader(name: &str, size: Size) -> Reader {
    Reader::new(Arc::new(scenario(name, size)))
}

/// A metric that must have a value.
fn figure(played: &Played, name: &str) -> f64 {
    played.measurement.get(name).unwrap_or_else(|why| panic!("{name}: {why}")).as_f64()
}

fn total(played: &Played) -> f64 {
    figure(played, "total.input") + figure(played, "total.output")
}

/// How often a thread itself called a tool.
fn calls(outcome: &Outcome, thread: usize, tool: &str) -> usize {
    let is_it = |item: &&Item| item.origin == Origin::Own && item.as_call().is_some_and(|call| call.name == tool);
    outcome.history_of(ThreadId(thread as u32)).iter().filter(is_it).count()
}

// ---- decisions ---------------------------------------------------------------------------------------------------------

/// Scenarios of a decision, and how many turns before the delegating one it was made.
const DECISIONS: [(&str, usize); 4] =
    [("recent-decision", 1), ("recent-decision-2", 2), ("recent-decision-beside-call", 0), ("old-decision", 10)];

/// Whether a strategy's child sees the decision, in the order of [`DECISIONS`].
const HANDED_DOWN: [(&str, [bool; 4]); 27] = [
    ("full-copy", [true, true, true, true]),
    // The decision of the delegating turn stands in a tool result and, word for word, in the text beside the call.
    ("full-copy:in_flight=pop-message", [true, true, true, true]),
    ("full-copy:in_flight=placeholder", [true, true, true, true]),
    ("full-copy:in_flight=forward", [true, true, true, true]),
    ("full-copy:in_flight=drop-tools", [true, true, true, true]),
    ("full-copy:in_flight=finished-turn", [true, true, false, true]),
    ("opencode", [false, false, false, false]),
    ("opencode:background=true", [false, false, false, false]),
    ("maf-dotnet", [false, false, false, false]),
    ("maf-python", [false, false, false, false]),
    ("codex-v1:fork_context=false", [false, false, false, false]),
    // The filter keeps what users and final answers say; text beside calls and tool results are dropped.
    ("codex-v1:fork_context=true", [true, true, false, true]),
    ("codex-v2@0.160:fork_turns=none", [false, false, false, false]),
    // The delegating turn is the first of N.
    ("codex-v2@0.160:fork_turns=1", [false, false, false, false]),
    ("codex-v2@0.160:fork_turns=2", [true, false, false, false]),
    ("codex-v2@0.160:fork_turns=3", [true, true, false, false]),
    ("codex-v2@0.160:fork_turns=10", [true, true, false, false]),
    ("codex-v2@0.160:fork_turns=11", [true, true, false, true]),
    ("codex-v2@0.160:fork_turns=all", [true, true, false, true]),
    // A verbatim fork, whatever N says.
    ("codex-v2@0.171:fork_turns=1", [true, true, true, true]),
    ("deerflow:context_mode=isolated", [false, false, false, false]),
    ("deerflow:context_mode=snapshot", [true, true, true, true]),
    ("deerflow@f1f4af9", [false, false, false, false]),
    ("learn-claude-code", [false, false, false, false]),
    ("spawn-agent", [false, false, false, false]),
    ("summary-return", [false, false, false, false]),
    ("artifact-ref", [false, false, false, false]),
];

const MADE: &str = "DONE plan of the migration: orders database for 36 hours";
const GUESSED: &str = "DONE plan of the migration: guess";

/// Every pair of a strategy and a scenario of a decision, with whether the child sees it.
fn decisions(mut each: impl FnMut(&str, &str, bool)) {
    for (spec, handed_down) in HANDED_DOWN {
        for ((name, _), seen) in DECISIONS.into_iter().zip(handed_down) {
            each(spec, name, seen);
        }
    }
}

fn played(name: &str, size: Size, spec: &str, briefing: Briefing, fallback: Option<Fallback>, meter: &Meter) -> Played {
    let mut reader = reader(name, size);
    (reader.briefing, reader.fallback) = (briefing, fallback);
    play(&reader, &*strategy(spec), meter)
}

#[test]
fn a_decision_stands_where_the_scenario_says_and_nowhere_else() {
    for size in Size::ALL {
        for (name, turns_ago) in DECISIONS {
            let scenario = scenario(name, size);
            let holds = |text: &str| stands_in("orders database for 36 hours", text);
            let places: Vec<usize> = (0..scenario.history.len()).filter(|&at| holds(&scenario.history[at].text())).collect();
            if turns_ago == 0 {
                assert!(places.is_empty(), "{name}");
            } else {
                let [place] = places[..] else { panic!("{name} says it {} times", places.len()) };
                // It is what a user said, and the turn that it opens is so many before the one that delegates.
                assert_eq!(scenario.history[place].role(), Some(Role::User), "{name}");
                let turns = scenario.history[place..].iter().filter(|item| item.role() == Some(Role::User)).count();
                assert_eq!(turns, turns_ago, "{name}");
            }
            assert!(!scenario.world.files.values().any(|text| holds(text)), "{name}");
            assert!(!scenario.agents.values().filter_map(|agent| agent.system.as_ref()).any(|text| holds(text.as_text())), "{name}");
            assert!(!scenario.intents.iter().any(|intent| holds(&intent.task) || holds(&intent.terse)), "{name}");
            assert!(!(0..scenario.turns.len()).any(|turn| holds(&scenario.turn_text(turn))), "{name}");
            assert_eq!(scenario.conduct.fallback, Fallback::GiveUp, "{name}");
        }
    }
}

#[test]
fn what_the_child_did_not_know_the_parent_s_memory_does_not_mend() {
    let meter = meter();
    for size in Size::ALL {
        decisions(|spec, name, seen| {
            let run = played(name, size, spec, Briefing::Same, None, &meter);
            let expect = f64::from(u8::from(seen));
            for metric in ["child.coverage", "child.quality", "quality"] {
                assert_eq!(figure(&run, metric), expect, "{name} {size:?} {spec} {metric}");
            }
            assert_eq!((figure(&run, "rescues"), figure(&run, "drift")), (0.0, 0.0), "{name} {spec}");
            let answer = run.outcome.answer();
            assert!(answer.contains(if seen { MADE } else { GUESSED }), "{name} {spec}: {answer}");
            // The parent knew it all along, and says so.
            assert!(answer.contains("Idempotency keys are kept in the orders database for 36 hours."), "{name} {spec}: {answer}");
            // A child that lacks the decision looks for it before it gives up.
            assert_eq!(calls(&run.outcome, 1, "search_files"), usize::from(!seen), "{name} {spec}");
        });
    }
}

#[test]
fn inline_the_one_thread_knows_what_was_decided() {
    let meter = meter();
    for size in Size::ALL {
        for (name, _) in DECISIONS {
            let run = played(name, size, "inline", Briefing::Same, None, &meter);
            assert_eq!((figure(&run, "quality"), run.outcome.threads.len()), (1.0, 1), "{name} {size:?}");
            assert!(run.outcome.answer().contains(MADE));
        }
    }
}

#[test]
fn taking_over_mends_it_and_is_paid_for() {
    let meter = meter();
    decisions(|spec, name, seen| {
        let [gave_up, took_over] = [Fallback::GiveUp, Fallback::Itself].map(|fallback| {
            let run = played(name, Size::Small, spec, Briefing::Same, Some(fallback), &meter);
            let rescues = if seen || fallback == Fallback::GiveUp { 0.0 } else { 1.0 };
            assert_eq!(figure(&run, "rescues"), rescues, "{name} {spec} {fallback:?}");
            run
        });
        assert_eq!(figure(&took_over, "quality"), 1.0, "{name} {spec}");
        // What came back is what it was.
        assert_eq!(figure(&took_over, "child.quality"), figure(&gave_up, "child.quality"), "{name} {spec}");
        match seen {
            true => assert_eq!(total(&took_over), total(&gave_up), "{name} {spec}"),
            false => {
                for metric in ["parent.input_total", "requests", "latency.end_to_end"] {
                    assert!(figure(&took_over, metric) > figure(&gave_up, metric), "{name} {spec} {metric}");
                }
                assert_eq!(figure(&took_over, "child.input_total"), figure(&gave_up, "child.input_total"), "{name} {spec}");
            }
        }
    });
}

#[test]
fn a_brief_of_what_is_known_lifts_a_child_that_sees_no_history() {
    let meter = meter();
    decisions(|spec, name, _| {
        let run = played(name, Size::Small, spec, Briefing::Known, None, &meter);
        for metric in ["child.coverage", "child.quality", "quality"] {
            assert_eq!(figure(&run, metric), 1.0, "{name} {spec} {metric}");
        }
    });
}

#[test]
fn what_the_parent_lost_nobody_gets() {
    let meter = meter();
    let specs = HANDED_DOWN.iter().map(|(spec, _)| *spec).chain(["inline"]);
    for spec in specs {
        for briefing in [Briefing::Same, Briefing::Known] {
            for fallback in [Fallback::GiveUp, Fallback::Itself] {
                let run = played("recent-decision-lost", Size::Small, spec, briefing, Some(fallback), &meter);
                assert_eq!(figure(&run, "quality"), 0.0, "{spec} {briefing:?} {fallback:?}");
                assert!(run.outcome.answer().contains(GUESSED), "{spec}: {}", run.outcome.answer());
                if run.outcome.threads.len() > 1 {
                    let child = ["child.coverage", "child.quality"].map(|metric| figure(&run, metric));
                    assert_eq!(child, [0.0, 0.0], "{spec} {briefing:?} {fallback:?}");
                }
            }
        }
    }
}

#[test]
fn what_lies_between_the_decision_and_the_call_weighs_on_a_copy_alone() {
    let meter = meter();
    let opening = |spec: &str, name: &str| figure(&played(name, Size::Medium, spec, Briefing::Same, None, &meter), "child.opening");
    assert!(opening("full-copy", "old-decision") > 1.5 * opening("full-copy", "recent-decision"));
    assert_eq!(opening("opencode", "old-decision"), opening("opencode", "recent-decision"));
}

// ---- follow-ups --------------------------------------------------------------------------------------------------------

/// Who is asked for a detail that was left out of the report.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Asks {
    /// The child that saw it.
    TheChild,
    /// A fresh child.
    AnotherChild,
    /// Nobody: the parent saw it.
    Nobody,
}

const FOLLOW_UPS: [(&str, Asks); 16] = [
    ("inline", Asks::Nobody),
    ("full-copy", Asks::AnotherChild),
    ("full-copy:in_flight=finished-turn", Asks::AnotherChild),
    ("opencode", Asks::TheChild),
    ("opencode:background=true", Asks::TheChild),
    ("codex-v1:fork_context=false", Asks::TheChild),
    ("codex-v2", Asks::TheChild),
    ("maf-dotnet", Asks::AnotherChild),
    ("maf-dotnet:session=kept", Asks::TheChild),
    ("maf-python", Asks::AnotherChild),
    ("deerflow:context_mode=isolated", Asks::AnotherChild),
    ("deerflow@f1f4af9", Asks::AnotherChild),
    ("learn-claude-code", Asks::AnotherChild),
    ("spawn-agent", Asks::AnotherChild),
    ("summary-return", Asks::AnotherChild),
    // What the first child has kept is read first, and does not say it.
    ("artifact-ref", Asks::AnotherChild),
];

/// The number of threads, and how often all of them called for the log.
fn threads_and_logs(played: &Played) -> (usize, usize) {
    let threads = played.outcome.threads.len();
    (threads, (0..threads).map(|thread| calls(&played.outcome, thread, "read_log")).sum())
}

#[test]
fn a_detail_is_asked_of_whoever_has_it() {
    let meter = meter();
    for size in Size::ALL {
        for (spec, asks) in FOLLOW_UPS {
            let run = played("follow-up-detail", size, spec, Briefing::Same, None, &meter);
            let expect = match asks {
                Asks::Nobody => (1, 1),
                Asks::TheChild => (2, 1),
                Asks::AnotherChild => (3, 2),
            };
            assert_eq!(threads_and_logs(&run), expect, "{size:?} {spec}");
            assert_eq!((figure(&run, "quality"), figure(&run, "rescues")), (1.0, 0.0), "{size:?} {spec}");
            assert_eq!(run.outcome.answer(), "After the stop there were 2,318 orders left open.", "{size:?} {spec}");
            let turns_of_the_child = run.outcome.rows.iter().filter(|row| &*row.path == "/1").map(|row| row.turn).max();
            let turns = match asks {
                Asks::Nobody => None,
                Asks::TheChild => Some(2),
                Asks::AnotherChild => Some(1),
            };
            assert_eq!(turns_of_the_child, turns, "{size:?} {spec}");
        }
    }
}

#[test]
fn a_source_that_is_gone_is_lost_to_a_fresh_child() {
    let meter = meter();
    for size in Size::ALL {
        for (spec, asks) in FOLLOW_UPS {
            let run = played("follow-up-detail-once", size, spec, Briefing::Same, None, &meter);
            let (quality, rescues, expect) = match asks {
                Asks::Nobody => (1.0, 0.0, (1, 1)),
                Asks::TheChild => (1.0, 0.0, (2, 1)),
                // The first child reads it; the second one and then the parent ask twice each for what is gone.
                Asks::AnotherChild => (0.0, 1.0, (3, 5)),
            };
            assert_eq!(threads_and_logs(&run), expect, "{size:?} {spec}");
            assert_eq!((figure(&run, "quality"), figure(&run, "rescues")), (quality, rescues), "{size:?} {spec}");
            if asks == Asks::AnotherChild {
                assert_eq!(run.outcome.answer(), "unknown: number of open orders", "{size:?} {spec}");
            }
        }
    }
}

// ---- fan-out -----------------------------------------------------------------------------------------------------------

const FAN_OUT: [&str; 12] = [
    "full-copy",
    "full-copy:in_flight=placeholder",
    "full-copy:in_flight=forward",
    "opencode",
    "opencode:background=true",
    "maf-python",
    "codex-v1:fork_context=false",
    "codex-v2",
    "codex-v2@0.160:fork_turns=none",
    "spawn-agent",
    "summary-return",
    "artifact-ref",
];

/// Milliseconds from each child's first request to its last reply.
fn spans(outcome: &Outcome) -> Vec<f64> {
    let span = |thread: ThreadId| {
        let rows: Vec<_> = outcome.rows_of(thread).collect();
        let (first, last) = (rows.first().expect("it was sent something"), rows.last().expect("it was sent something"));
        (last.done_ms.expect("it answered") - first.sent_ms) as f64
    };
    outcome.threads[1..].iter().map(|child| span(child.id)).collect()
}

#[test]
fn children_side_by_side_take_as_long_as_the_slowest() {
    let meter = meter();
    for size in Size::ALL {
        for spec in FAN_OUT {
            let [at_once, serial] = ["fan-out-3", "fan-out-3-serial"].map(|name| played(name, size, spec, Briefing::Same, None, &meter));
            for run in [&at_once, &serial] {
                let figures = ["quality", "child.quality", "child.coverage", "delegations", "drift"].map(|name| figure(run, name));
                assert_eq!(figures, [1.0, 1.0, 1.0, 3.0, 0.0], "{size:?} {spec}");
            }
            let critical = |run: &Played| figure(run, "latency.critical_path");
            let spans_at_once = spans(&at_once.outcome);
            let (sum, slowest) = (spans_at_once.iter().sum::<f64>(), spans_at_once.iter().copied().fold(0.0, f64::max));
            assert!((slowest..sum).contains(&critical(&at_once)), "{size:?} {spec}: {} of {spans_at_once:?}", critical(&at_once));
            assert!(critical(&serial) > spans(&serial.outcome).iter().sum(), "{size:?} {spec}: {}", critical(&serial));
            assert!(total(&at_once) < total(&serial), "{size:?} {spec}: the parent is asked once, not once a child");
        }
    }
}

/// .NET makes the calls of one message one after the other.
#[test]
fn children_one_after_the_other_take_as_long_as_all() {
    let meter = meter();
    for size in Size::ALL {
        let run = played("fan-out-3", size, "maf-dotnet", Briefing::Same, None, &meter);
        let figures = ["quality", "child.quality", "child.coverage", "delegations", "drift"].map(|name| figure(&run, name));
        assert_eq!(figures, [1.0, 1.0, 1.0, 3.0, 0.0], "{size:?}");
        let work = figure(&run, "latency.model") + figure(&run, "latency.tools");
        assert!(figure(&run, "latency.critical_path") > spans(&run.outcome).iter().sum(), "{size:?}");
        assert!(figure(&run, "latency.critical_path") <= work, "{size:?}");
    }
}

#[test]
fn inline_the_questions_are_answered_in_a_row() {
    let meter = meter();
    for size in Size::ALL {
        let [at_once, serial] = ["fan-out-3", "fan-out-3-serial"].map(|name| played(name, size, "inline", Briefing::Same, None, &meter));
        assert_eq!(figure(&at_once, "quality"), 1.0);
        // Nothing runs beside anything else, whatever the scenario hands out together.
        let work = figure(&at_once, "latency.model") + figure(&at_once, "latency.tools");
        assert_eq!(figure(&at_once, "latency.critical_path"), work, "{size:?}");
        assert_eq!(figure(&serial, "latency.critical_path"), work, "{size:?}");
        let isolated = played("fan-out-3", size, "opencode", Briefing::Same, None, &meter);
        assert!(figure(&isolated, "latency.critical_path") < work, "{size:?}");
        assert!(total(&isolated) < total(&at_once), "{size:?}: each file is sent again with every later one");
    }
}

// ---- reports without end -----------------------------------------------------------------------------------------------

/// What becomes of a report of thousands of lines: whether its last sentence reaches the parent, and the whole of it.
struct Flood {
    spec: &'static str,
    tail: bool,
    whole: bool,
}

const FLOODS: [Flood; 12] = [
    Flood { spec: "full-copy", tail: true, whole: true },
    Flood { spec: "maf-dotnet", tail: true, whole: true },
    Flood { spec: "maf-python", tail: true, whole: true },
    // Lines are kept from the head, up to 51,200 bytes.
    Flood { spec: "opencode", tail: false, whole: false },
    Flood { spec: "codex-v1:fork_context=false", tail: true, whole: true },
    Flood { spec: "codex-v1:fork_context=true", tail: true, whole: true },
    Flood { spec: "codex-v2@0.171", tail: true, whole: true },
    Flood { spec: "codex-v2@0.160:fork_turns=none", tail: true, whole: true },
    // Head and tail are shown, the rest is a file.
    Flood { spec: "deerflow:context_mode=isolated", tail: true, whole: false },
    Flood { spec: "deerflow:context_mode=snapshot", tail: true, whole: false },
    Flood { spec: "learn-claude-code", tail: true, whole: true },
    Flood { spec: "spawn-agent", tail: true, whole: true },
];

#[test]
fn a_report_without_end_is_carried_or_cut() {
    let meter = meter();
    for Flood { spec, tail, whole } in FLOODS {
        let [head, last] =
            ["flooding-report", "flooding-report-tail"].map(|name| played(name, Size::Small, spec, Briefing::Same, None, &meter));
        assert_eq!(figure(&head, "quality"), 1.0, "{spec}");
        let expect = f64::from(u8::from(tail));
        assert_eq!((figure(&last, "child.quality"), figure(&last, "quality")), (expect, expect), "{spec}");
        // The child did its work all the same.
        assert_eq!(figure(&last, "child.coverage"), 1.0, "{spec}");
        // Some 8,400 tokens of padding stay with a parent that is handed the whole.
        let context = figure(&head, "parent.final_context");
        assert_eq!(context > 10_700.0, whole, "{spec}: {context}");
        if !tail {
            // Asked for what it never got, the parent asks again, is sent as much again, and knows as little.
            let paid = figure(&last, "total.input") / figure(&head, "total.input");
            assert!(paid > 1.3, "{spec}: {paid}");
        }
    }
}

// ---- children that delegate --------------------------------------------------------------------------------------------

/// How many threads a task comes to that every child hands on, with five levels of it.
const LEVELS: [(&str, usize); 13] = [
    ("inline", 1),
    ("full-copy", 2),
    ("maf-dotnet", 2),
    ("maf-python", 2),
    ("opencode", 2),
    ("codex-v1:fork_context=false", 2),
    ("codex-v2@0.171", 2),
    ("codex-v2@0.160:fork_turns=all", 2),
    // These releases show their children the tools of the root: children have children, as long as not too many are at work.
    ("codex-v2@0.145:fork_turns=none", 4),
    ("codex-v2@0.130:fork_turns=none", 4),
    ("deerflow", 2),
    ("learn-claude-code", 2),
    ("spawn-agent", 2),
];

#[test]
fn who_stops_children_that_hand_their_task_on() {
    let meter = meter();
    for (spec, threads) in LEVELS {
        let run = played("recursion-bomb", Size::Medium, spec, Briefing::Same, None, &meter);
        assert_eq!((run.outcome.threads.len(), figure(&run, "quality")), (threads, 1.0), "{spec}");
    }
}
