//! What a delegating thread writes into a task (rule 8).

use crate::scenario::marker::{claim, deliverable};
use crate::scenario::{Briefing, IntentIndex, TopicIndex};
use crate::strategy::Intent;

use super::sight::Sight;

/// The intent as this thread would hand it out now; `follow_ups` are asked for behind the task.
pub(super) fn intent(sight: &Sight<'_>, intent: IntentIndex, follow_ups: &[usize]) -> Intent {
    let spec = &sight.scenario().intents[intent];
    let mut task = match sight.manner.briefing {
        Briefing::Terse => spec.terse.clone(),
        Briefing::Same => spec.task.clone(),
        // The run's start has made `auto` one of the others.
        Briefing::Known | Briefing::Auto => {
            let known: Vec<String> = spec.known.iter().filter_map(|&topic| Some(format!("- {}", statement(sight, topic)?))).collect();
            match known.is_empty() {
                true => spec.task.clone(),
                false => format!("{}\n\nKnown:\n{}", spec.task.trim_end(), known.join("\n")),
            }
        }
    };
    for &nth in follow_ups {
        task = format!("{}\n\n{}", task.trim_end(), spec.follow_ups[nth].task);
    }
    Intent { id: spec.id.clone(), agent: spec.agent.clone(), title: spec.title.clone(), task, background: spec.background }
}

/// What an idle child is told to do about these follow-ups.
pub(super) fn follow_up_text(sight: &Sight<'_>, intent: IntentIndex, follow_ups: &[usize]) -> String {
    let spec = &sight.scenario().intents[intent];
    follow_ups.iter().map(|&nth| spec.follow_ups[nth].task.as_str()).collect::<Vec<_>>().join("\n\n")
}

/// What this thread can state of a topic: its newest visible fact, the visible deliverable, or what somebody
/// invented.
pub(super) fn statement(sight: &Sight<'_>, topic: TopicIndex) -> Option<String> {
    let scenario = sight.scenario();
    if let Some(values) = sight.known.made.get(topic)? {
        return Some(deliverable(scenario, topic, values));
    }
    if let Some(fact) = sight.known.facts.get(topic)? {
        return Some(scenario.topics[topic].facts.get(*fact)?.statement.clone());
    }
    // Whoever was told an invented value takes it for one.
    Some(claim(scenario, topic, sight.known.claimed.get(topic)?.as_ref()?))
}
