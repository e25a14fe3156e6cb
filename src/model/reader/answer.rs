//! What the reader says (rules 14 and 15).

use crate::scenario::marker::{Task, UNKNOWN_TASK, claim, deliverable, invention};
use crate::scenario::{FactsAt, ReportForm, TopicIndex};
use crate::transcript::{Digest, Means, Origin};

use super::brief::statement;
use super::delegate::Delegations;
use super::limit;
use super::padding::sentences;
use super::plan::plan;
use super::profile::Unknown;
use super::sight::Sight;
use super::task::Bound;

/// The sentence beside a call.
pub(super) fn looking(sight: &Sight<'_>, target: &str, topics: &[TopicIndex]) -> String {
    let label = |topic: TopicIndex| sight.scenario().topics[topic].label.as_str();
    let mut text = String::with_capacity(target.len() + 16 + topics.iter().map(|&topic| label(topic).len() + 2).sum::<usize>());
    text.push_str("Looking at ");
    text.push_str(target);
    let mut joint = " for ";
    for (at, &topic) in topics.iter().enumerate() {
        if !topics[..at].iter().any(|&before| label(before) == label(topic)) {
            text.push_str(joint);
            text.push_str(label(topic));
            joint = ", ";
        }
    }
    text.push('.');
    text
}

/// The whole text beside calls: what it looks at and, where the scenario narrates, the statements that tools or
/// delegations have brought since the last reply.
pub(super) fn beside_calls(sight: &Sight<'_>, bound: &Bound<'_>, sentences: impl IntoIterator<Item = String>) -> String {
    let found = if sight.manner.conduct.narrate_findings { findings(sight, bound) } else { vec![] };
    let mut all = sentences.into_iter().chain(found);
    let mut text = all.next().unwrap_or_default();
    for sentence in all {
        text.push(' ');
        text.push_str(&sentence);
    }
    text
}

fn findings(sight: &Sight<'_>, bound: &Bound<'_>) -> Vec<String> {
    let scenario = sight.scenario();
    let from = sight.last_reply(0).map_or(bound.from, |reply| reply.end);
    let brings = |at: &usize| matches!(sight.items[*at].origin, Origin::ToolResult | Origin::Delegated);
    let news: Vec<usize> = (from..sight.items.len()).filter(brings).collect();
    let new = sight.known_of(&news);
    let before = sight.known_before(from);
    let mut matters = bound.needs.clone();
    matters.extend(bound.work.plan.iter().flat_map(|step| step.seeks.iter().copied()));
    matters.extend(bound.work.delegates.iter().flat_map(|&intent| scenario.intents[intent].work.needs.iter().copied()));
    let made = |topic: &TopicIndex| scenario.topics[*topic].made.as_ref().map_or(vec![], |made| made.from.clone());
    matters.extend(matters.clone().iter().flat_map(made));
    matters.sort_unstable();
    matters.dedup();
    let learnt = |&topic: &TopicIndex| new.fact(topic).filter(|&fact| Some(fact) > before.fact(topic)).map(|fact| (topic, fact));
    matters.iter().filter_map(learnt).map(|(topic, fact)| scenario.topics[topic].facts[fact].statement.clone()).collect()
}

/// The answer: a line for each needed topic (its statement, the deliverable, or that it is unknown), then what the
/// report's form adds. Of so many words at most, if there is a limit: padding goes first, then lines from the end; then
/// comes where the thread has kept the rest.
pub(super) fn answer(sight: &Sight<'_>, bound: &Bound<'_>, delegations: &Delegations<'_, '_>, limit: Option<usize>) -> String {
    let scenario = sight.scenario();
    let mut lines: Vec<String> = bound.needs.iter().map(|&topic| line(sight, delegations, topic)).collect();
    let root_form = ReportForm::default();
    let form = bound.carries_out().map_or(&root_form, |intent| &scenario.intents[intent].report);
    lines.extend(form.also.iter().filter(|topic| !bound.needs.contains(topic)).filter_map(|&topic| statement(sight, topic)));
    if form.evidence {
        let seen = plan(sight, bound.task).into_iter().filter(|planned| planned.is_completed(sight));
        lines.extend(seen.map(|planned| format!("Seen: {}", planned.step.target)));
    }
    if lines.is_empty() {
        lines.push("Done.".into());
    }
    let mut padding_words = form.padding_words;
    if let Some(limit) = limit {
        let left = limit::keep(&mut lines, limit);
        padding_words = padding_words.min(u32::try_from(left).unwrap_or(u32::MAX));
    }
    if padding_words > 0 {
        lines = placed(lines, sentences(scenario, padding_words, sight.manner.seed, &bound.work.marker), form.facts_at);
    }
    lines.extend(kept(sight, bound).map(|artifact| format!("Report: {artifact}")));
    lines.join("\n")
}

/// The name of what this thread has kept last in this turn.
fn kept<'s>(sight: &Sight<'s>, bound: &Bound<'_>) -> Option<&'s str> {
    let stored = |means: &'s Means| match means {
        Means::Stored(artifact) => Some(artifact.0.as_str()),
        _ => None,
    };
    sight.items[bound.from..].iter().rev().flat_map(|item| &item.means).find_map(stored)
}

fn placed(lines: Vec<String>, padding: Vec<String>, at: FactsAt) -> Vec<String> {
    match at {
        FactsAt::Head => lines.into_iter().chain(padding).collect(),
        FactsAt::Tail => padding.into_iter().chain(lines).collect(),
        FactsAt::Spread => {
            let (count, sentences) = (lines.len(), padding.len());
            let mut out = Vec::with_capacity(count + sentences);
            let mut padding = padding.into_iter();
            for (nth, line) in lines.into_iter().enumerate() {
                // Line k of n stands behind k / n of the padding, and a rest follows the last one.
                let due = (nth * sentences).div_ceil(count) - (sentences - padding.len());
                out.extend(padding.by_ref().take(due));
                out.push(line);
            }
            out.extend(padding);
            out
        }
    }
}

/// The line of a needed topic.
fn line(sight: &Sight<'_>, delegations: &Delegations<'_, '_>, topic: TopicIndex) -> String {
    let scenario = sight.scenario();
    let made_here = scenario.topics[topic].made.as_ref().filter(|made| delegations.makes(topic, made.intent));
    made_here.map(|made| deliverable(scenario, topic, &sight.values(&made.from))).or_else(|| statement(sight, topic)).unwrap_or_else(|| {
        match sight.manner.profile.unknown {
            Unknown::Admit => format!("unknown: {}", scenario.topics[topic].label),
            Unknown::Guess => {
                let drawn = Digest::of(&format!("{} {}", sight.manner.seed, scenario.topics[topic].id)).0 as u64;
                claim(scenario, topic, &invention(drawn))
            }
        }
    })
}

/// What the thread says when it is asked for a summary of itself: its task's marker and the statement of every topic
/// that it knows.
pub(super) fn summary(sight: &Sight<'_>, bound: Option<&Bound<'_>>) -> String {
    let marker = bound.map(|bound| match bound.task {
        Task::FollowUp(intent, nth) => &sight.scenario().intents[intent].follow_ups[nth].task,
        Task::Turn(_) | Task::Intent(_) => &bound.work.marker,
    });
    let task = marker.map_or(UNKNOWN_TASK.to_owned(), |marker| format!("Task: {marker}"));
    std::iter::once(task)
        .chain((0..sight.scenario().topics.len()).filter_map(|topic| statement(sight, topic)))
        .collect::<Vec<_>>()
        .join("\n")
}
