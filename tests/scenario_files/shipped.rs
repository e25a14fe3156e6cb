//! The built-in suite.

use ctxbench::scenario::Fact;

use super::*;

/// Those whose facts stand in what was said, and whose answers are judged by what the child made of them.
const DECISIONS: [&str; 13] = [
    "recent-decision",
    "recent-decision-2",
    "recent-decision-beside-call",
    "recent-decision-lost",
    "old-decision",
    "stale-decision",
    "stale-decision-final-answer",
    "stale-decision-beside-call",
    "stale-decision-tool-result",
    "stale-decision-hidden",
    "stale-decision-summary",
    "stale-decision-written-down",
    "compacted-parent",
];

/// Those whose children do more than explore, by what else: steps that are taken whatever is known, before or after the one
/// that shows the fact.
const DEEDS: [(&str, &str); 3] = [
    ("in-flight-calls-deed", "sends a letter first"),
    ("permission-narrowing", "looks at a record first"),
    ("research-artifacts", "reads all sources, then writes a page"),
];

#[test]
fn every_shipped_scenario_compiles_in_every_size() {
    for name in builtin_names() {
        for size in Size::ALL {
            let scenario =
                compile_builtin(name, size, &BTreeMap::new()).expect("a built-in name").unwrap_or_else(|errors| panic!("{errors}"));
            assert_eq!(scenario.id, name);
            assert_eq!(scenario.size, size);
        }
    }
}

/// Walks a work's plan on the world and gives what its steps show.
fn walk(scenario: &Scenario, plan: &[ctxbench::scenario::Step]) -> Vec<String> {
    use ctxbench::setting::World;
    use ctxbench::transcript::{CallKey, Part, ToolCall};
    let mut world = scenario.world.clone();
    let mut outputs = vec![];
    for step in plan {
        let args = Part::text(step.args.as_str());
        let answer =
            world.call(&ToolCall { key: CallKey(0), id: String::new(), name: step.tool.clone(), args, intent: None, recorded: None });
        assert!(!answer.failed, "{} {}", step.tool, step.args);
        outputs.push(answer.parts.iter().map(Part::as_text).collect());
    }
    outputs
}

#[test]
fn plans_of_the_shipped_scenarios_find_what_is_needed() {
    for name in builtin_names() {
        for size in Size::ALL {
            let scenario =
                compile_builtin(name, size, &BTreeMap::new()).expect("a built-in name").unwrap_or_else(|errors| panic!("{errors}"));
            for intent in &scenario.intents {
                let outputs = walk(&scenario, &intent.work.plan);
                let shows = |fact: &Fact| outputs.iter().position(|text| fact.markers.iter().any(|marker| text.contains(marker.as_str())));
                for &need in &intent.work.needs {
                    let Some(fact) = scenario.topics[need].facts.last() else { continue };
                    if DECISIONS.contains(&name) {
                        // What was decided stands nowhere that the child could look.
                        assert_eq!(shows(fact), None, "{name} {size:?}");
                        continue;
                    }
                    if DEEDS.iter().any(|(deed, _)| *deed == name) {
                        assert!(shows(fact).is_some(), "{name} {size:?}");
                        continue;
                    }
                    // Exploring ends with the step that shows the fact: what stands before it does not.
                    assert_eq!(shows(fact), Some(outputs.len() - 1), "{name} {size:?}");
                    assert!(intent.work.plan.iter().all(|step| step.seeks.contains(&need)), "{name} {size:?}");
                }
                // As long as real ones; a Chinese character says more than a letter.
                let long = if name == "chinese-codebase" { 130..=250 } else { 400..=550 };
                let characters = intent.task.chars().count();
                assert!(long.contains(&characters), "{name}: a task of {characters} characters");
                assert!(intent.work.plan.len() <= 53);
            }
            for turn in &scenario.turns {
                walk(&scenario, &turn.work.plan);
            }
            let sets_work = |turn: &&ctxbench::scenario::UserTurn| !turn.work.marker.is_empty();
            let last = scenario.turns.iter().rfind(sets_work).expect("a turn that sets work");
            let delegated = last.work.delegates.iter().flat_map(|&intent| &scenario.intents[intent].work.needs);
            let asked: Vec<_> = last.work.needs.iter().chain(delegated).map(|&topic| &scenario.topics[topic]).collect();
            match DECISIONS.contains(&name) {
                true => assert!(asked.iter().any(|topic| topic.made.is_some()), "{name}: the final answer states what was made"),
                false => assert!(!asked.is_empty(), "{name}: the final answer states what was found or made"),
            }
        }
    }
}

#[test]
fn overrides_change_what_they_name() {
    let with = |overrides: &[(&str, i64)]| {
        let overrides = overrides.iter().map(|(name, value)| (name.to_string(), *value)).collect();
        compile_builtin("auth-lookup", Size::Small, &overrides).expect("a built-in name").unwrap_or_else(|errors| panic!("{errors}"))
    };
    let usual = with(&[]);
    assert_eq!((usual.turns.len(), usual.intents[0].work.plan.len(), usual.world.files.len()), (5, 7, 18));
    let more = with(&[("files", 11)]);
    assert_eq!((more.turns.len(), more.intents[0].work.plan.len(), more.world.files.len()), (5, 12, 23));
    let short = with(&[("then_turns", 0)]);
    assert_eq!((short.turns.len(), short.intents[0].work.plan.len(), short.world.files.len()), (1, 7, 6));
    let long = with(&[("file_characters", 4000)]);
    assert_eq!(long.world.files["src/service/invoice.rs"].len(), 4000);
    let groups = |scenario: &Scenario| {
        let plan = &scenario.intents[0].work.plan;
        plan.chunk_by(|a, b| a.parallel.is_some() && a.parallel == b.parallel).map(<[_]>::len).collect::<Vec<_>>()
    };
    assert_eq!(groups(&usual), [1, 1, 1, 1, 1, 1, 1]);
    assert_eq!(groups(&with(&[("reads_at_once", 100)])), [1, 6]);
    assert_eq!(groups(&with(&[("reads_at_once", 4)])), [1, 4, 2]);
    let digests: std::collections::BTreeSet<_> = [&usual, &more, &short, &long].map(|scenario| scenario.digest).into();
    assert_eq!(digests.len(), 4);
}
