//! Readers that fall short of the ideal one: what each assumption makes of strategies that look alike without it.

use super::*;

/// Who invents what it does not know raises no alarm: the parent does not notice, and does not mend.
#[test]
fn a_guess_is_not_rescued() {
    for size in Size::ALL {
        let bench = Bench::new("recent-decision", size);
        for spec in ["opencode", "maf-dotnet", "spawn-agent", "learn-claude-code", "summary-return", "artifact-ref"] {
            let told = |profile: &str| figures(&bench.read_by(profile, spec, 0), ["quality", "rescues", "child.coverage"]);
            let ideal = told("reader");
            assert_eq!((ideal[0], ideal[1]), (1.0, 1.0), "{size:?} {spec}");
            assert_eq!(told("reader:unknown=guess"), [0.0, 0.0, ideal[2]], "{size:?} {spec}");
        }
        // Who sees the decision has nothing to guess.
        for spec in ["inline", "full-copy", "codex-v2@0.171", "codex-v2@0.160:fork_turns=3", "claude-code:mode=fork"] {
            assert_eq!(figure(&bench.read_by("reader:unknown=guess", spec, 0), "quality"), 1.0, "{size:?} {spec}");
        }
    }
}

/// Of an old and a new decision, both visible: the newest in order, the one that stands first, the one that stands last.
#[test]
fn which_of_two_values_is_taken() {
    for bench in sizes("stale-decision") {
        let quality = |profile: &str, spec: &str| figure(&bench.read_by(profile, spec, 0), "quality");
        for spec in ["inline", "full-copy", "codex-v2@0.171", "deerflow:context_mode=snapshot"] {
            let size = bench.scenario().size;
            assert_eq!(quality("reader", spec), 1.0, "{size:?} {spec}");
            assert_eq!(quality("reader:stale=first", spec), 0.0, "{size:?} {spec}");
            assert_eq!(quality("reader:stale=last", spec), 1.0, "{size:?} {spec}");
        }
    }
}

/// With attention, what is visible is used less often the longer the request is, and coverage does not move.
#[test]
fn a_fork_pays_for_its_length_in_attention() {
    const SEEDS: u64 = 120;
    let share = |bench: &Bench, spec: &str| {
        let runs = (0..SEEDS).map(|seed| bench.read_by("reader:attention=nolima-gpt-4o-mini", spec, seed));
        let mut right = 0.0;
        for run in runs {
            right += figure(&run, "quality");
            if spec != "inline" {
                assert_eq!(figure(&run, "child.coverage"), 1.0);
            }
        }
        right / SEEDS as f64
    };
    let benches = [Size::Small, Size::Large].map(|size| Bench::new("recent-decision", size));
    let whole = benches.each_ref().map(|bench| share(bench, "full-copy"));
    // The curve: 0.85 to 0.68 at up to 1,000 tokens, 0.21 and less from 16,000 on.
    assert!(whole[0] > 0.5 && whole[1] < whole[0] - 0.1, "{whole:?}");
}

/// The same seed is the same luck: a strategy that sends a thread the same request makes it answer the same.
#[test]
fn equal_seeds_are_equal_luck() {
    let bench = Bench::new("recent-decision", Size::Medium);
    let profile = "reader:attention=trial-smollm2-135m,unknown=guess";
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let runs = [0, 1].map(|_| format!("{:?}", bench.read_by(profile, "full-copy", seed).outcome));
        assert_eq!(runs[0], runs[1], "{seed}");
        seen.insert(figure(&bench.read_by(profile, "full-copy", seed), "quality") as u64);
    }
    assert_eq!(seen.len(), 2, "some seeds notice, some do not");
}
