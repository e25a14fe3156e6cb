//! A tool that the parent is denied and the child's own profile has.

use super::*;

/// Whether the child runs with its own profile's tools; else with those of its parent.
const OWN_PROFILE: [(&str, bool); 24] = [
    ("full-copy", false),
    ("full-copy:in_flight=placeholder", false),
    ("full-copy:in_flight=finished-turn", false),
    ("opencode", true),
    ("opencode:background=true", true),
    ("maf-dotnet", true),
    ("maf-python", true),
    ("codex-v1:fork_context=false", true),
    // A fork of the whole history is its parent once more, and takes no role.
    ("codex-v1:fork_context=true", false),
    ("codex-v2@0.160:fork_turns=none", true),
    ("codex-v2@0.160:fork_turns=1", true),
    ("codex-v2@0.160:fork_turns=3", true),
    ("codex-v2@0.160:fork_turns=all", false),
    ("codex-v2@0.171:fork_turns=none", true),
    ("codex-v2@0.171", false),
    ("deerflow:context_mode=isolated", true),
    ("deerflow:context_mode=snapshot", true),
    ("deerflow@f1f4af9", true),
    // These know no profiles: a child has what its parent has.
    ("learn-claude-code", false),
    ("spawn-agent", false),
    ("claude-code", true),
    ("claude-code:background=true", true),
    ("claude-code:mode=fork", false),
    ("full-copy:in_flight=drop-tools", false),
];

#[test]
fn a_child_with_a_profile_of_its_own_fetches_what_its_parent_may_not() {
    for size in Size::ALL {
        let bench = Bench::new("permission-narrowing", size);
        let root = &bench.scenario().agents[&bench.scenario().root];
        assert!(!root.tools.iter().any(|tool| tool.name == "read_record"));
        for (spec, own) in OWN_PROFILE {
            let run = bench.play(spec);
            assert_eq!(calls_of_all(&run.outcome, "read_record"), usize::from(own), "{size:?} {spec}");
            assert_eq!(calls(&run.outcome, 0, "read_record"), 0, "{size:?} {spec}");
            // It comes back in the report, and so reaches who may not look.
            assert_eq!(was_told(&run.outcome, 0, "bank of Okoye Farms"), own, "{size:?} {spec}");
            let kept = if own { 0.5 } else { 1.0 };
            assert_eq!(figures(&run, ["child.quality", "child.coverage", "quality"]), [kept, 1.0, 1.0], "{size:?} {spec}");
        }
    }
}
