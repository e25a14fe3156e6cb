//! What came back, by class, and what became of the facts: under which strategy each class shows.

use super::*;

const MARKS: [&str; 8] = [
    "returns.preamble",
    "returns.see_earlier",
    "returns.stub",
    "returns.truncated",
    "returns.capped",
    "returns.error_as_success",
    "returns.stale",
    "returns.invented",
];
const PARTS: [&str; 3] = ["returns.ok", "returns.empty", "returns.failed"];
const SURVIVAL: [&str; 4] = ["survival.seen", "survival.returned", "survival.kept", "survival.answered"];

#[test]
fn a_child_without_a_report_is_failed_empty_or_a_preamble() {
    for (name, parts, preambles) in
        [("child-fails", [0.0, 0.0, 1.0], 0.0), ("child-fails-empty", [0.0, 1.0, 0.0], 0.0), ("child-fails-preamble", [1.0, 0.0, 0.0], 1.0)]
    {
        for bench in sizes(name) {
            for spec in DELEGATING {
                let run = bench.falling_back(spec, Fallback::GiveUp);
                assert_eq!(figures(&run, PARTS), parts, "{name} {spec}");
                // No product passes the error off as a result, and what only announces is no stub.
                assert_eq!(figures(&run, MARKS), [preambles, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], "{name} {spec}");
                // The child saw it, and nothing came of it.
                assert_eq!(figures(&run, SURVIVAL), [1.0, 0.0, 0.0, 0.0], "{name} {spec}");
                assert_eq!(figures(&run, ["survival", "used", "admitted"]), [0.0, 0.0, 1.0], "{name} {spec}");
            }
        }
    }
}

#[test]
fn whoever_has_a_cap_on_rounds_is_seen_to_have_met_it() {
    for bench in sizes("child-fails-rounds") {
        for (spec, capped) in [
            ("full-copy", 0.0),
            ("opencode", 0.0),
            ("codex-v2@0.171", 0.0),
            ("claude-code", 0.0),
            ("deerflow:context_mode=isolated", 1.0),
            ("deerflow@f1f4af9", 1.0),
            ("learn-claude-code", 1.0),
            // The last request of the turn shows no tools.
            ("maf-dotnet", 1.0),
            ("maf-python", 1.0),
        ] {
            let run = bench.falling_back(spec, Fallback::GiveUp);
            assert_eq!(figures(&run, ["returns.capped"]), [capped], "{spec}");
            assert_eq!(figure(&run, "survival.answered"), 1.0 - capped, "{spec}");
        }
    }
}

#[test]
fn a_blank_child_points_to_what_nobody_can_see() {
    for (name, children) in [("vague-brief", 1.0), ("vague-brief-two", 2.0)] {
        for bench in sizes(name) {
            for spec in ["opencode", "maf-dotnet", "codex-v2@0.160:fork_turns=none", "deerflow@f1f4af9", "learn-claude-code", "claude-code"]
            {
                let run = bench.play(spec);
                let shown = figures(&run, ["returns.see_earlier", "returns.stub", "children.zero_action", "admitted"]);
                assert_eq!(shown, [children, 0.0, children, children], "{name} {spec}");
            }
            // Who sees the history finds the ticket that was named last: the other child's report is about that one.
            let run = bench.play("full-copy");
            let shown = figures(&run, ["returns.see_earlier", "returns.stub", "children.zero_action", "admitted"]);
            assert_eq!(shown, [0.0, children - 1.0, 0.0, children - 1.0], "{name}");
        }
    }
}

/// Who cuts a report of thousands of lines, and whether the answer at its end is lost with the rest.
const CUTS: [(&str, bool, bool); 9] = [
    ("full-copy", false, false),
    ("codex-v1:fork_context=true", false, false),
    ("codex-v2@0.171", false, false),
    ("maf-dotnet", false, false),
    ("learn-claude-code", false, false),
    ("claude-code", false, false),
    ("spawn-agent", false, false),
    // The first two thousand lines.
    ("opencode", true, true),
    // A preview of head and tail.
    ("deerflow:context_mode=isolated", true, false),
];

#[test]
fn a_report_is_cut_by_those_who_cut_and_too_long_for_all() {
    let [head, tail] = ["flooding-report", "flooding-report-tail"].map(|name| Bench::new(name, Size::Small));
    for (spec, cuts, loses_end) in CUTS {
        let run = head.play(spec);
        let cut = f64::from(u8::from(cuts));
        assert_eq!(figures(&run, ["returns.ok", "returns.truncated", "returns.stub"]), [1.0, cut, 0.0], "{spec}");
        assert_eq!(figures(&run, SURVIVAL), [1.0; 4], "{spec}");
        let run = tail.play(spec);
        if loses_end {
            // It is asked for again in the last turn, and cut again: a text without anything that was needed.
            assert_eq!(
                figures(&run, ["returns.ok", "returns.truncated", "returns.stub", "followups.lost"]),
                [2.0, 2.0, 2.0, 1.0],
                "{spec}"
            );
            assert_eq!(figures(&run, SURVIVAL), [1.0, 0.0, 0.0, 0.0], "{spec}");
        } else {
            assert_eq!(
                figures(&run, ["returns.ok", "returns.truncated", "returns.stub", "followups.lost"]),
                [1.0, cut, 0.0, 0.0],
                "{spec}"
            );
            assert_eq!(figures(&run, SURVIVAL), [1.0; 4], "{spec}");
        }
    }
    // What the task allowed is what entered the parent only where a preview is short enough.
    for (spec, overlong) in [("full-copy", 1.0), ("opencode", 1.0), ("deerflow:context_mode=isolated", 0.0)] {
        assert_eq!(figure(&head.play(spec), "returns.overlong"), overlong, "{spec}");
    }
}

#[test]
fn no_wrapper_and_no_escape_is_taken_for_a_cut() {
    for name in [
        "auth-lookup",
        "chinese-codebase",
        "code-review-diff",
        "correction-after-dispatch",
        "correction-after-dispatch-slow",
        "fan-out-3",
        "follow-up-detail",
        "noisy-history",
        "recursion-bomb",
        "research-artifacts",
    ] {
        let bench = Bench::new(name, Size::Small);
        for spec in DELEGATING {
            let run = bench.play(spec);
            let [ok, empty, failed] = figures(&run, PARTS);
            assert!(ok > 0.0 && (empty, failed) == (0.0, 0.0), "{name} {spec}: {ok} {empty} {failed}");
            let marks = ["returns.preamble", "returns.see_earlier", "returns.stub", "returns.truncated", "returns.capped"];
            assert_eq!(figures(&run, marks), [0.0; 5], "{name} {spec}");
        }
    }
}

/// How a detail that only the child saw is found afterwards, where its source still answers and where it is gone.
const FOLLOW_UPS: [(&str, &str, &str); 9] = [
    ("inline", "from_context", "from_context"),
    ("full-copy", "redelegated", "lost"),
    ("opencode", "resumed", "resumed"),
    ("maf-dotnet", "redelegated", "lost"),
    ("codex-v2@0.171", "resumed", "resumed"),
    ("codex-v1:fork_context=false", "resumed", "resumed"),
    ("deerflow:context_mode=snapshot", "redelegated", "lost"),
    ("learn-claude-code", "redelegated", "lost"),
    ("claude-code:background=true", "resumed", "resumed"),
];

#[test]
fn a_detail_is_known_resumed_sent_for_again_looked_up_or_lost() {
    #[track_caller]
    fn check(run: &Played, class: &str, spec: &str) {
        for one in ["from_context", "resumed", "redelegated", "self", "lost"] {
            assert_eq!(figure(run, &format!("followups.{one}")), f64::from(u8::from(one == class)), "{spec} {one}");
        }
    }
    for size in Size::ALL {
        let [detail, once] = ["follow-up-detail", "follow-up-detail-once"].map(|name| Bench::new(name, size));
        for (spec, there, gone) in FOLLOW_UPS {
            check(&detail.play(spec), there, spec);
            check(&once.play(spec), gone, spec);
        }
        // To have it costs one request of the root. To send for it again costs a child's whole way, which can still be the
        // cheaper one where the root has to carry all that was read.
        let inline = detail.play("inline");
        let last = inline.outcome.rows.last().map(|row| (row.input.total() + row.output) as f64);
        assert_eq!(last, Some(figure(&inline, "followups.tokens")));
        assert!(figure(&detail.play("full-copy"), "followups.tokens") > 3000.0);
    }
    // What a child wrote down the parent reads itself.
    for spec in ["full-copy", "opencode", "codex-v2@0.171", "deerflow:context_mode=snapshot"] {
        let run = Bench::new("research-artifacts", Size::Small).play(spec);
        assert_eq!(figures(&run, ["followups.self", "followups.from_context"]), [1.0, 1.0], "{spec}");
    }
}

#[test]
fn what_a_fact_costs_is_all_tokens_by_what_is_left_of_them() {
    let bench = Bench::new("tiny-task", Size::Small);
    for spec in ["full-copy", "opencode", "codex-v2@0.171"] {
        let run = bench.play(spec);
        assert_eq!(figure(&run, "tokens.per_fact"), total(&run), "{spec}: one fact");
        let known = &bench.scenario().topics[0].facts;
        let tokens = bench.meter.part(&Part::text(known.last().expect("a fact").statement.as_str()));
        assert_eq!(figure(&run, "amplification"), total(&run) / f64::from(tokens.expect("short").expect("text")), "{spec}");
    }
    let inline = bench.play("inline");
    assert_eq!(figure(&inline, "tokens.per_fact"), total(&inline));
    assert_eq!(inline.measurement.get("amplification"), Err("no child opened".into()));
}
