//! Long things that are read once: probes, a change, a test run. Who carries them ever after, and who cuts them.

use super::*;

#[test]
fn what_a_child_reads_stays_out_of_its_parent() {
    for name in ["test-framework", "code-review-diff", "test-log-triage"] {
        // With what is to be read the one thread grows, and no parent of a child does.
        let benches = sizes(name);
        let contexts = |spec: &str| benches.each_ref().map(|bench| figure(&bench.play(spec), "parent.final_context"));
        let one_thread = contexts("inline");
        assert!(one_thread[1] > 2.0 * one_thread[0] && one_thread[2] > 2.0 * one_thread[1], "{name}: {one_thread:?}");
        // One of them cuts what its children read, and then has its parent read it: below.
        for spec in DELEGATING.into_iter().filter(|spec| *spec != "learn-claude-code") {
            let parents = contexts(spec);
            assert!(parents[2] < 2.0 * parents[0], "{name} {spec}: {parents:?}");
            assert!(parents[1] < one_thread[1] / 2.0, "{name} {spec}: {parents:?} and {one_thread:?}");
        }
    }
}

#[test]
fn all_is_found_where_nothing_is_cut() {
    for name in ["test-framework", "code-review-diff", "test-log-triage"] {
        for size in Size::ALL {
            let bench = Bench::new(name, size);
            for spec in DELEGATING.into_iter().chain(["inline"]) {
                if spec == "learn-claude-code" && size != Size::Small {
                    continue;
                }
                let run = bench.play(spec);
                assert_eq!(figures(&run, ["quality", "rescues"]), [1.0, 0.0], "{name} {size:?} {spec}");
                // A summary of forty words has room for two causes of three, and the last one has a check of its own (1 beside 3): the
                // parent reads the rest.
                let returned = if (name, spec) == ("test-log-triage", "artifact-ref") { 0.5 } else { 1.0 };
                if spec != "inline" {
                    assert_eq!(figures(&run, ["child.quality", "child.coverage"]), [returned, 1.0], "{name} {size:?} {spec}");
                }
            }
        }
    }
}

/// A tool's result is cut at 50,000 characters for a child of this one: what stands behind is not there.
#[test]
fn a_cut_result_hides_what_stands_behind_it() {
    // The share of three findings in the first 50,000 characters. Of 40,000 characters all, of 160,000 the first one; of
    // 1,200 lines two causes, of 5,000 none.
    for (name, size, share) in [
        ("code-review-diff", Size::Medium, 1.0),
        ("code-review-diff", Size::Large, 1.0 / 3.0),
        ("test-log-triage", Size::Medium, 2.0 / 3.0),
        ("test-log-triage", Size::Large, 0.0),
    ] {
        let bench = Bench::new(name, size);
        let coverage = figure(&bench.falling_back("learn-claude-code", Fallback::GiveUp), "child.coverage");
        assert!((coverage - share).abs() < 1e-9, "{name} {size:?}: {coverage}");
        let whole = figure(&bench.falling_back("spawn-agent", Fallback::GiveUp), "child.coverage");
        assert_eq!(whole, 1.0, "{name} {size:?}");
    }
}

/// A few short probes are cheaper to read than to have read.
#[test]
fn tiny_answers_pay_off_with_long_probes() {
    let benches = sizes("test-framework");
    let totals = |spec: &str| benches.each_ref().map(|bench| total(&bench.play(spec)));
    let inline = totals("inline");
    for spec in DELEGATING {
        let delegated = totals(spec);
        assert!(delegated[0] > inline[0] && delegated[1] < inline[1] && delegated[2] < inline[2], "{spec}: {delegated:?} and {inline:?}");
    }
}

#[test]
fn every_finding_of_the_review_stands_where_it_says() {
    for size in Size::ALL {
        let scenario = compiled("code-review-diff", size, &[]);
        for topic in &scenario.topics {
            let statement = &topic.facts[0].statement;
            let mut head = statement.splitn(3, ':');
            let (path, line) = (head.next().expect("a path"), head.next().expect("a line").parse::<usize>().expect("a number"));
            let quote = statement.split('`').nth(1).expect("the words of the line");
            let text = &scenario.world.files[path];
            assert!(text.lines().nth(line - 1).is_some_and(|found| found.contains(quote)), "{size:?} {statement}");
        }
        let run = Bench::new("code-review-diff", size).play("opencode");
        for topic in &scenario.topics {
            assert!(run.outcome.answer().contains(&topic.facts[0].statement), "{size:?}");
        }
    }
}

#[test]
fn the_long_texts_are_as_long_as_they_say() {
    let lines = |size: Size| compiled("test-log-triage", size, &[]).world.files["nightly/output.txt"].lines().count();
    assert!(lines(Size::Large) >= 5000, "{}", lines(Size::Large));
    assert!((100..200).contains(&lines(Size::Small)), "{}", lines(Size::Small));
}
