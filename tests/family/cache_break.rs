//! How much of a request was sent before. Caches are not priced here: what two requests have in common is.

use ctxbench::ledger::Row;

use super::*;

fn first_request(outcome: &Outcome, thread: u32) -> &Row {
    outcome.rows_of(ThreadId(thread)).next().expect("it was sent something")
}

/// The parent's request whose reply handed the work out.
fn delegating_request(outcome: &Outcome) -> &Row {
    let opened = first_request(outcome, 1).sent_ms;
    let is_it = |row: &&Row| row.done_ms.is_some_and(|done| done <= opened);
    outcome.rows_of(ThreadId::ROOT).rfind(is_it).expect("the parent delegated")
}

/// What two requests have in common.
#[derive(Debug, PartialEq)]
struct Common {
    system: bool,
    tools: bool,
    /// Items from the front.
    items: usize,
    /// Characters of the text of the first items that differ.
    characters: usize,
}

fn common(outcome: &Outcome, one: &Row, other: &Row) -> Common {
    let tools = |row: &Row| row.sent.tools.iter().map(|tool| (tool.name.clone(), tool.schema.clone())).collect::<Vec<_>>();
    let sent = |row: &Row| outcome.items_of(row).into_iter().filter(Item::is_sent).collect::<Vec<Item>>();
    let [a, b] = [sent(one), sent(other)];
    let items = a.iter().zip(&b).take_while(|(a, b)| a.reads_as(b)).count();
    let text = |items: &[Item], at: usize| items.get(at).map(Item::text).unwrap_or_default();
    let characters = text(&a, items).chars().zip(text(&b, items).chars()).take_while(|(a, b)| a == b).count();
    Common { system: one.sent.system == other.sent.system, tools: tools(one) == tools(other), items, characters }
}

const BLANK: [&str; 7] = [
    "opencode",
    "maf-dotnet",
    "maf-python",
    "codex-v1:fork_context=false",
    "deerflow:context_mode=isolated",
    "learn-claude-code",
    "spawn-agent",
];

#[test]
fn blank_children_share_their_task_down_to_the_word_that_differs() {
    for size in Size::ALL {
        for (name, word_first) in [("cache-break", false), ("cache-break-first-word", true)] {
            let bench = Bench::new(name, size);
            let task = bench.scenario().intents[0].task.chars().count();
            for spec in BLANK {
                let outcome = bench.play(spec).outcome;
                for sibling in 2..=3 {
                    let shared = common(&outcome, first_request(&outcome, 1), first_request(&outcome, sibling));
                    assert!(shared.system && shared.tools, "{name} {spec}: {shared:?}");
                    // In front of the task a protocol may have words of its own.
                    match word_first {
                        true => assert!(shared.characters < 120, "{name} {spec}: {shared:?}"),
                        false => assert!(shared.characters + 20 > task, "{name} {spec}: {shared:?} of {task}"),
                    }
                }
            }
        }
    }
}

/// A mail names whom it is for, in front of all that it says.
#[test]
fn a_task_under_the_child_s_name_differs_from_the_name_on() {
    for name in ["cache-break", "cache-break-first-word"] {
        let outcome = Bench::new(name, Size::Small).play("codex-v2@0.160:fork_turns=none").outcome;
        let shared = common(&outcome, first_request(&outcome, 1), first_request(&outcome, 2));
        assert!(shared.system && shared.tools && shared.items == 0 && shared.characters < 60, "{name}: {shared:?}");
    }
}

/// By how many items a child's first request begins as the parent's request did that handed it out. A talk is a user's
/// message, text beside a call, the call, its result, an answer.
#[test]
fn copies_share_the_history_down_to_the_first_item_that_is_left_out() {
    for size in Size::ALL {
        let bench = Bench::new("cache-break", size);
        let talks = bench.scenario().history.len() / 5;
        assert_eq!(bench.scenario().history.len(), 5 * talks);
        for (spec, items) in [
            ("full-copy", 5 * talks + 1),
            ("full-copy:in_flight=pop-message", 5 * talks + 1),
            ("full-copy:in_flight=placeholder", 5 * talks + 1),
            // All but the turn in progress.
            ("full-copy:in_flight=finished-turn", 5 * talks),
            // The first call is missing.
            ("full-copy:in_flight=drop-tools", 2),
            // The first text beside a call is missing.
            ("codex-v1:fork_context=true", 1),
            ("codex-v2@0.160:fork_turns=all", 1),
            ("codex-v2@0.171", 5 * talks + 1),
            ("claude-code:mode=fork", 5 * talks + 1),
            // Told as data, it is another text.
            ("deerflow:context_mode=snapshot", 0),
            ("opencode", 0),
        ] {
            let outcome = bench.play(spec).outcome;
            let shared = common(&outcome, delegating_request(&outcome), first_request(&outcome, 1));
            assert_eq!(shared.items, items, "{size:?} {spec}: {shared:?}");
        }
    }
}

/// Tools stand first in some providers' order: one tool fewer, and nothing after it is the same.
#[test]
fn a_copy_with_other_tools_shares_nothing_where_tools_come_first() {
    let bench = Bench::new("cache-break", Size::Small);
    for (spec, same) in [("full-copy", false), ("codex-v2@0.160:fork_turns=all", false), ("claude-code:mode=fork", true)] {
        let outcome = bench.play(spec).outcome;
        let shared = common(&outcome, delegating_request(&outcome), first_request(&outcome, 1));
        assert!(shared.system, "{spec}");
        assert_eq!(shared.tools, same, "{spec}");
    }
}

/// The longest time in milliseconds between the end of one request of the parent and its next one.
fn longest_silence(outcome: &Outcome) -> u64 {
    let rows: Vec<&Row> = outcome.rows_of(ThreadId::ROOT).collect();
    rows.windows(2).map(|pair| pair[1].sent_ms - pair[0].done_ms.expect("it answered")).max().unwrap_or(0)
}

#[test]
fn who_is_blocked_comes_back_to_a_cold_cache() {
    // Five minutes is what the shortest lifetime in use comes to.
    const LIFETIME_MS: u64 = 300_000;
    let bench = Bench::new("cache-break-slow", Size::Small);
    for spec in
        ["full-copy", "opencode", "opencode:background=true", "maf-dotnet", "maf-python", "learn-claude-code", "spawn-agent", "claude-code"]
    {
        let run = bench.play(spec);
        assert_eq!(figure(&run, "quality"), 1.0, "{spec}");
        assert!(longest_silence(&run.outcome) > LIFETIME_MS, "{spec}");
    }
    for spec in ["codex-v1:fork_context=false", "codex-v2@0.171", "codex-v2@0.160:fork_turns=none"] {
        let run = bench.play(spec);
        // It looks every half minute, and gives up after three.
        assert!(longest_silence(&run.outcome) < LIFETIME_MS / 9, "{spec}");
        assert_eq!(figure(&run, "quality"), 0.0, "{spec}");
    }
}
