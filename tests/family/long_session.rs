//! A session of many turns.

use super::*;

const SPECS: [&str; 16] = [
    "full-copy",
    "opencode",
    "opencode:background=true",
    "maf-dotnet",
    "maf-python",
    "codex-v2@0.171",
    "codex-v2@0.160:fork_turns=none",
    "codex-v2@0.160:fork_turns=3",
    "codex-v2@0.160:fork_turns=all",
    "deerflow:context_mode=isolated",
    "deerflow:context_mode=snapshot",
    "learn-claude-code",
    "spawn-agent",
    "claude-code",
    "claude-code:mode=fork",
    "claude-code:background=true",
];

/// Children of this one that are done still count, and nobody closes them: six, and no more.
const OPEN_UNTIL_CLOSED: [&str; 3] = ["codex-v1:fork_context=false", "codex-v1:fork_context=true", "codex-v1@source-2026-08"];

#[test]
fn three_hundred_turns_and_forty_delegations_in_the_large_one() {
    let counts = Size::ALL.map(|size| {
        let scenario = compiled("long-session", size, &[]);
        (scenario.turns.len(), scenario.intents.len())
    });
    assert_eq!(counts, [(8, 3), (32, 9), (300, 40)]);
}

#[test]
fn who_still_delegates_in_the_evening() {
    for size in [Size::Small, Size::Medium] {
        let bench = Bench::new("long-session", size);
        let wanted = bench.scenario().intents.len() as f64;
        for spec in SPECS {
            let run = bench.play(spec);
            let shown = figures(&run, ["quality", "delegations", "refusals", "rescues"]);
            assert_eq!(shown, [1.0, wanted, 0.0, 0.0], "{size:?} {spec}");
        }
        for spec in OPEN_UNTIL_CLOSED {
            let run = bench.play(spec);
            let refused = (wanted - 6.0).max(0.0);
            let shown = figures(&run, ["quality", "delegations", "refusals", "rescues"]);
            assert_eq!(shown, [1.0, wanted - refused, refused, refused], "{size:?} {spec}");
        }
    }
}

#[test]
fn the_large_one_runs_to_its_end() {
    let bench = Bench::new("long-session", Size::Large);
    let run = bench.play("maf-python");
    assert_eq!(figures(&run, ["quality", "delegations", "rescues"]), [1.0, 40.0, 0.0]);
}

/// What a delegation leaves behind is paid for until the evening.
#[test]
fn a_report_that_stands_twice_is_paid_twice() {
    let bench = Bench::new("long-session", Size::Medium);
    let left = |spec: &str| figure(&bench.play(spec), "delegation.footprint") / figure(&bench.play(spec), "delegations");
    // The plain text; the text in a wrapper; the text once, with a wait; the text in a wait and in a notice.
    let [plain, wrapped, mail, twice] =
        ["maf-python", "opencode", "codex-v2@0.160:fork_turns=none", "codex-v1:fork_context=false"].map(left);
    assert!(plain < wrapped && wrapped < twice && plain < mail && mail < twice, "{plain} {wrapped} {mail} {twice}");
    let report = 160.0;
    assert!(twice - mail > report, "{twice} {mail}");
}

/// Twice the turns cost four times as much: all that went before is sent again.
#[test]
fn turns_add_up_with_their_square() {
    let parent = |last_turns: i64| {
        let bench = Bench::with("long-session", Size::Small, &[("last_turns", last_turns)]);
        figure(&bench.play("maf-python"), "parent.input_total")
    };
    let [one, two, four] = [20, 40, 80].map(parent);
    assert!(two > 2.4 * one && four > 3.0 * two, "{one} {two} {four}");
}
