//! What comes back, and in which form: limits that the child knows of and limits that it does not, references, wrappers.

use super::*;

/// A limit that nobody told the child of falls where it falls; one that it knows of leaves room for what matters.
#[test]
fn a_limit_is_harmless_if_the_child_knows_of_it() {
    for size in Size::ALL {
        let (head, tail) = (Bench::new("flooding-report", size), Bench::new("flooding-report-tail", size));
        let quality = |bench: &Bench, spec: &str| figure(&bench.falling_back(spec, Fallback::GiveUp), "child.quality");
        for spec in ["full-copy:return_max=200", "opencode:return_max=200", "spawn-agent:return_max=200"] {
            assert_eq!((quality(&head, spec), quality(&tail, spec)), (1.0, 0.0), "{size:?} {spec}");
        }
        for spec in ["summary-return", "summary-return:max_words=30", "artifact-ref", "full-copy", "full-copy:return_max=1000000"] {
            assert_eq!((quality(&head, spec), quality(&tail, spec)), (1.0, 1.0), "{size:?} {spec}");
        }
    }
}

/// Whatever the report's length, a short return costs the parent the same; only one of the two ways to a short return spares
/// the child the writing.
#[test]
fn who_pays_for_a_long_report() {
    let benches = sizes("flooding-report");
    let of = |spec: &str, name: &str| benches.each_ref().map(|bench| figure(&bench.play(spec), name));
    let whole = of("full-copy", "parent.final_context");
    assert!(whole[1] > 2.0 * whole[0] && whole[2] > 2.0 * whole[1], "{whole:?}");
    for spec in ["summary-return", "artifact-ref", "full-copy:return_max=200"] {
        let parents = of(spec, "parent.final_context");
        assert!(parents[2] < 1.2 * parents[0] && parents[0] < whole[0] / 3.0, "{spec}: {parents:?}");
    }
    let output = |spec: &str| of(spec, "child.output_total");
    let (whole, short, kept) = (output("full-copy"), output("summary-return"), output("artifact-ref"));
    for size in 0..3 {
        assert!(short[size] < whole[size] / 10.0 && kept[size] > whole[size], "{short:?} {whole:?} {kept:?}");
    }
}

/// A summary of one line leaves causes out; the parent reads the artefact for them, once, and asks nobody again.
#[test]
fn the_parent_reads_on_demand_what_the_summary_left_out() {
    for bench in sizes("test-log-triage") {
        let size = bench.scenario().size;
        let whole = bench.play("artifact-ref:summary_words=1000");
        let cut = bench.play("artifact-ref:summary_words=1");
        for (run, reads) in [(&whole, 0), (&cut, 1)] {
            assert_eq!(calls(&run.outcome, 0, "read_artifact"), reads, "{size:?}");
            assert_eq!(figures(run, ["quality", "rescues", "delegations"]), [1.0, 0.0, 1.0], "{size:?}");
        }
        // What came back at first is scored as it came back: one cause of three in a check that weighs 3, none in one that weighs 1.
        assert_eq!((figure(&whole, "child.quality"), figure(&cut, "child.quality")), (1.0, 0.25), "{size:?}");
        // Without a reference there is nothing to read: what was left out stays unknown, and is admitted or not.
        let quality = |spec: &str| figure(&bench.falling_back(spec, Fallback::GiveUp), "quality");
        assert_eq!(quality("summary-return:max_words=20"), 0.25, "{size:?}");
        // Nobody can say a cause in a word: what is over the limit is cut.
        assert_eq!(quality("summary-return:max_words=1"), 0.0, "{size:?}");
    }
}

/// The whole report in JSON is one line: who cuts by lines keeps it or loses it whole.
#[test]
fn a_wrapper_changes_what_a_cut_takes() {
    let bench = Bench::new("flooding-report", Size::Small);
    let give_up = |spec: &str| bench.falling_back(spec, Fallback::GiveUp);
    assert_eq!(figure(&give_up("opencode"), "child.quality"), 1.0);
    assert_eq!(figure(&give_up("opencode:return_format=json"), "child.quality"), 0.0);
    assert_eq!(figure(&give_up("opencode:return_format=tagged"), "child.quality"), 1.0);
    // Whoever cuts nothing reads it in any form, and pays for the escapes.
    let (text, json) = (give_up("full-copy"), give_up("full-copy:return_format=json"));
    assert_eq!(figure(&json, "child.quality"), 1.0);
    assert!(figure(&json, "parent.final_context") > figure(&text, "parent.final_context"));
}
