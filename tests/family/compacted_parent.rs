//! The parent was summarised before it delegates.

use super::*;

/// Whether the child sees the summary.
const SEES: [(&str, bool); 23] = [
    ("full-copy", true),
    ("full-copy:in_flight=pop-message", true),
    ("full-copy:in_flight=placeholder", true),
    ("full-copy:in_flight=drop-tools", true),
    ("full-copy:in_flight=finished-turn", true),
    ("opencode", false),
    ("maf-dotnet", false),
    ("maf-python", false),
    ("codex-v1:fork_context=false", false),
    ("codex-v1:fork_context=true", true),
    ("codex-v2@0.160:fork_turns=none", false),
    ("codex-v2@0.160:fork_turns=1", false),
    // In every size a turn or more stands between the summary and the last two.
    ("codex-v2@0.160:fork_turns=2", false),
    ("codex-v2@0.160:fork_turns=all", true),
    // A release that takes any number for all.
    ("codex-v2@0.163:fork_turns=1", true),
    ("codex-v2@0.171", true),
    ("deerflow:context_mode=isolated", false),
    ("deerflow:context_mode=snapshot", true),
    ("deerflow@v1:context_mode=snapshot", true),
    ("learn-claude-code", false),
    ("spawn-agent", false),
    ("claude-code", false),
    ("claude-code:mode=fork", true),
];

#[test]
fn a_copy_holds_what_the_summary_holds_and_no_more() {
    for size in Size::ALL {
        let bench = Bench::new("compacted-parent", size);
        for (spec, sees) in SEES {
            let run = bench.play(spec);
            // One of two decisions; the check of the whole plan weighs two, the one of the number one.
            let (coverage, quality, plan) = match sees {
                true => (0.5, 1.0 / 3.0, "five times in all, guess"),
                false => (0.0, 0.0, "guess, guess"),
            };
            let [child_coverage, child_quality, answered] = figures(&run, ["child.coverage", "child.quality", "quality"]);
            assert_eq!(child_coverage, coverage, "{size:?} {spec}");
            assert!(
                (child_quality - quality).abs() < 1e-9 && (answered - quality).abs() < 1e-9,
                "{size:?} {spec}: {child_quality}, {answered}"
            );
            assert!(run.outcome.answer().contains(&format!("DONE plan of the retries: {plan}")), "{size:?} {spec}");
        }
    }
}

#[test]
fn what_the_summary_dropped_neither_brief_nor_fallback_brings_back() {
    let bench = Bench::new("compacted-parent", Size::Small);
    for (spec, _) in SEES.into_iter().chain([("inline", true)]) {
        for run in [bench.briefed(spec, Briefing::Known), bench.falling_back(spec, Fallback::Itself)] {
            let quality = figure(&run, "quality");
            assert!((quality - 1.0 / 3.0).abs() < 1e-9, "{spec}: {quality}");
            assert!(run.outcome.answer().contains("DONE plan of the retries: five times in all, guess"), "{spec}");
        }
    }
}
