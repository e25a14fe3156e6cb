//! Pages that children write, and that the parent reads when it needs one.

use super::*;

#[test]
fn a_page_is_read_when_it_is_asked_for() {
    for size in Size::ALL {
        let bench = Bench::new("research-artifacts", size);
        for spec in DELEGATING {
            let run = bench.play(spec);
            assert_eq!(figures(&run, ["quality", "child.quality", "rescues", "drift"]), [1.0, 1.0, 0.0, 0.0], "{size:?} {spec}");
            // Three children, each of which wrote one page; the parent reads one of the three.
            assert_eq!([1, 2, 3].map(|child| calls(&run.outcome, child, "write_file")), [1, 1, 1], "{size:?} {spec}");
            assert_eq!((calls(&run.outcome, 0, "read_file"), run.outcome.threads.len()), (1, 4), "{size:?} {spec}");
            // It reads what the child has written, not the page of before.
            assert!(was_told(&run.outcome, 0, "The locks close on 14 Sundays a year (summary.md)."), "{size:?} {spec}");
            // What stands in the other two never comes up.
            for detail in ["05:20", "11 percent"] {
                assert!(!was_told(&run.outcome, 0, detail), "{size:?} {spec}: {detail}");
            }
        }
    }
}

#[test]
fn the_one_thread_has_every_source_in_it_and_needs_no_page() {
    for bench in sizes("research-artifacts") {
        let size = bench.scenario().size;
        let sources = bench.scenario().intents.iter().map(|intent| intent.work.plan.len() - 1).sum::<usize>();
        let run = bench.play("inline");
        assert_eq!((figure(&run, "quality"), calls(&run.outcome, 0, "read_file")), (1.0, sources), "{size:?}");
        assert!(was_told(&run.outcome, 0, "05:20") && was_told(&run.outcome, 0, "11 percent"), "{size:?}");
    }
    let benches = sizes("research-artifacts");
    let contexts = |spec: &str| benches.each_ref().map(|bench| figure(&bench.play(spec), "parent.final_context"));
    let inline = contexts("inline");
    for spec in DELEGATING {
        let parents = contexts(spec);
        assert!(parents[2] < 1.6 * parents[0] && parents[2] < inline[2] / 8.0, "{spec}: {parents:?} and {inline:?}");
    }
}
