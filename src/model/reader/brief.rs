//! What a delegating thread writes into a task (rule 8).

use std::borrow::Cow;

use crate::scenario::marker::{claim, deliverable};
use crate::scenario::{Briefing, IntentIndex, IntentSpec, TopicIndex};
use crate::strategy::Intent;

use super::sight::Sight;

/// The intent as this thread would hand it out now; `follow_ups` are asked for behind the task.
pub(super) fn intent<'a>(sight: &Sight<'a>, intent: IntentIndex, follow_ups: &[usize]) -> Cow<'a, Intent> {
    let spec = &sight.scenario().intents[intent];
    let [full, terse] = &sight.tables.briefs[intent];
    let known: Vec<String> = match sight.manner.briefing {
        Briefing::Terse | Briefing::Same => vec![],
        // The run's start has made `auto` one of the others.
        Briefing::Known | Briefing::Auto => {
            spec.known.iter().filter_map(|&topic| Some(format!("- {}", statement(sight, topic)?))).collect()
        }
    };
    let plain = if sight.manner.briefing == Briefing::Terse { terse } else { full };
    if known.is_empty() && follow_ups.is_empty() {
        return Cow::Borrowed(plain);
    }
    let mut task = match known.is_empty() {
        true => plain.task.clone(),
        false => format!("{}\n\nKnown:\n{}", plain.task.trim_end(), known.join("\n")),
    };
    for &nth in follow_ups {
        task = format!("{}\n\n{}", task.trim_end(), spec.follow_ups[nth].task);
    }
    Cow::Owned(Intent { task, ..plain.clone() })
}

/// An intent that is handed out with this text.
pub(super) fn plain(spec: &IntentSpec, task: &str) -> Intent {
    let (id, agent, title) = (spec.id.clone(), spec.agent.clone(), spec.title.clone());
    Intent { id, agent, title, task: task.to_owned(), background: spec.background }
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
    let known = sight.known.of(topic)?;
    if let Some(values) = &known.made {
        return Some(deliverable(scenario, topic, values));
    }
    if let Some(fact) = known.fact {
        return Some(scenario.topics[topic].facts.get(fact)?.statement.clone());
    }
    // Whoever was told an invented value takes it for one.
    Some(claim(scenario, topic, known.claimed.as_ref()?))
}
