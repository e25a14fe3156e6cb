//! Images, reasoning, reminders, and a ticket that gives orders.

use super::*;

/// Whether a child sees what people do not: the reminder at the very beginning of the history.
const SEES_HIDDEN: [(&str, bool); 25] = [
    ("full-copy", true),
    ("full-copy:in_flight=pop-message", true),
    ("full-copy:in_flight=placeholder", true),
    ("full-copy:in_flight=forward", true),
    ("full-copy:in_flight=drop-tools", true),
    ("full-copy:in_flight=finished-turn", true),
    ("opencode", false),
    ("opencode:background=true", false),
    ("maf-dotnet", false),
    ("maf-python", false),
    ("codex-v1:fork_context=false", false),
    // It is a message of the user's role, and that is all the filter asks.
    ("codex-v1:fork_context=true", true),
    ("codex-v2@0.160:fork_turns=none", false),
    ("codex-v2@0.160:fork_turns=1", false),
    // In every size two turns or more lie between.
    ("codex-v2@0.160:fork_turns=2", false),
    ("codex-v2@0.160:fork_turns=all", true),
    ("codex-v2@0.171", true),
    ("deerflow:context_mode=isolated", false),
    ("deerflow:context_mode=snapshot", false),
    ("deerflow@v3:context_mode=snapshot", false),
    ("deerflow@v1:context_mode=snapshot", true),
    ("learn-claude-code", false),
    ("spawn-agent", false),
    ("claude-code", false),
    ("claude-code:mode=fork", true),
];

/// Whether a text stands in what delegations brought into the root.
fn came_back(outcome: &Outcome, text: &str) -> bool {
    let back = |item: &&Item| item.origin == Origin::Delegated && item.text().contains(text);
    outcome.history_of(ThreadId::ROOT).iter().filter(back).count() > 0
}

#[test]
fn what_was_hidden_comes_back_from_who_saw_it() {
    for size in Size::ALL {
        let bench = Bench::new("noisy-history", size);
        for (spec, sees) in SEES_HIDDEN {
            let run = bench.play(spec);
            // Two intents: the purge is right in any case, the report on the flash is right and may say too much.
            let child_quality = if sees { 0.75 } else { 1.0 };
            let shown = figures(&run, ["quality", "child.quality", "child.coverage", "rescues", "drift"]);
            assert_eq!(shown, [1.0, child_quality, 1.0, 0.0, 0.0], "{size:?} {spec}");
            assert_eq!(came_back(&run.outcome, "northgate-internal"), sees, "{size:?} {spec}");
        }
        assert_eq!(figures(&bench.play("inline"), ["quality", "drift"]), [1.0, 0.0], "{size:?}");
    }
}

/// A child that is told two words looks for its task in the history. The last marker there is the ticket's order.
#[test]
fn nobody_takes_the_order_of_a_ticket_for_a_task() {
    for size in Size::ALL {
        let bench = Bench::new("noisy-history", size);
        for (spec, _) in SEES_HIDDEN {
            let run = bench.briefed(spec, Briefing::Terse);
            // A copy that ends before the turn in progress lacks what is asked; of the second delegation's it has the first's.
            let strays = spec == "full-copy:in_flight=finished-turn";
            assert_eq!(figure(&run, "drift"), f64::from(u8::from(strays)), "{size:?} {spec}");
            // The first child writes nothing, and the whole run no more than the one purge that the user asks for.
            assert_eq!(calls(&run.outcome, 1, "write_file"), 0, "{size:?} {spec}");
            assert_eq!(calls_of_all(&run.outcome, "write_file"), 1, "{size:?} {spec}");
        }
    }
}

/// What an image more weighs in a child's first request.
#[test]
fn copies_carry_images() {
    let opening = |spec: &str, images: i64| {
        let bench = Bench::with("noisy-history", Size::Small, &[("images", images)]);
        figure(&bench.play(spec), "child.opening")
    };
    for (spec, carries) in [
        ("full-copy", true),
        ("full-copy:in_flight=drop-tools", true),
        ("codex-v2@0.160:fork_turns=all", true),
        ("codex-v2@0.171", true),
        ("deerflow:context_mode=snapshot", true),
        ("claude-code:mode=fork", true),
        ("opencode", false),
        ("maf-python", false),
        ("codex-v2@0.160:fork_turns=1", false),
        ("deerflow:context_mode=isolated", false),
        ("claude-code", false),
    ] {
        let more = opening(spec, 4) - opening(spec, 3);
        // The fourth one is declared to be of 704 tokens.
        assert_eq!(more >= 704.0, carries, "{spec}: {more}");
        assert!(carries || more == 0.0, "{spec}: {more}");
    }
}
