//! Two children change one file.

use super::*;

/// Whether the second child begins after the first one has written, though both were handed out in one message.
const ONE_AFTER_THE_OTHER: [(&str, bool); 22] = [
    ("full-copy", false),
    ("full-copy:in_flight=placeholder", false),
    ("full-copy:in_flight=forward", false),
    ("full-copy:in_flight=finished-turn", false),
    ("opencode", false),
    ("opencode:background=true", false),
    ("maf-python", false),
    ("codex-v1:fork_context=false", false),
    ("codex-v1:fork_context=true", false),
    ("codex-v2@0.160:fork_turns=none", false),
    ("codex-v2@0.160:fork_turns=3", false),
    ("codex-v2@0.160:fork_turns=all", false),
    ("codex-v2@0.171", false),
    ("deerflow:context_mode=isolated", false),
    ("deerflow:context_mode=snapshot", false),
    ("deerflow@f1f4af9", false),
    ("spawn-agent", false),
    ("claude-code", false),
    ("claude-code:mode=fork", false),
    ("claude-code:background=true", false),
    // These make the calls of one message in a row.
    ("maf-dotnet", true),
    ("learn-claude-code", true),
];

const FROM_TWELVE: &str = "DONE change of the labels: revision 12";
const FROM_THIRTEEN: &str = "DONE change of the labels: revision 13";

#[test]
fn side_by_side_the_second_works_from_what_stood_there_before() {
    for size in Size::ALL {
        let [at_once, serial] = ["conflicting-writes", "conflicting-writes-serial"].map(|name| Bench::new(name, size));
        for (spec, in_a_row) in ONE_AFTER_THE_OTHER {
            let run = at_once.play(spec);
            let (quality, child_quality, coverage, made) = match in_a_row {
                true => (1.0, 1.0, 1.0, FROM_THIRTEEN),
                false => (1.0 / 3.0, 0.5, 0.0, FROM_TWELVE),
            };
            let shown = figures(&run, ["quality", "child.quality", "child.coverage"]);
            assert!((shown[0] - quality).abs() < 1e-9 && shown[1..] == [child_quality, coverage], "{size:?} {spec}: {shown:?}");
            assert!(run.outcome.answer().contains(made), "{size:?} {spec}");
            // Both write, in any case.
            assert_eq!([1, 2].map(|child| calls(&run.outcome, child, "write_file")), [1, 1], "{size:?} {spec}");

            let run = serial.play(spec);
            assert_eq!(figures(&run, ["quality", "child.quality", "child.coverage"]), [1.0; 3], "{size:?} {spec}");
            assert!(run.outcome.answer().contains(FROM_THIRTEEN), "{size:?} {spec}");
        }
        for bench in [&at_once, &serial] {
            let run = bench.play("inline");
            assert!(run.outcome.answer().contains(FROM_THIRTEEN) && figure(&run, "quality") == 1.0, "{size:?}");
        }
    }
}

/// The price of the right order.
#[test]
fn one_after_the_other_takes_the_time_of_both() {
    let [at_once, serial] = ["conflicting-writes", "conflicting-writes-serial"].map(|name| Bench::new(name, Size::Medium));
    for (spec, in_a_row) in ONE_AFTER_THE_OTHER {
        let [one, both] = [&at_once, &serial].map(|bench| figure(&bench.play(spec), "latency.end_to_end"));
        assert!(both > if in_a_row { one } else { 1.2 * one }, "{spec}: {one} and {both}");
    }
}
