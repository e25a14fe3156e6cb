//! What became of a scenario's facts: on their way from a child to the answer, in the answer, and when the user asked again.
//!
//! One notion of knowing for all of them, that of markers: a topic is **known in its newest form** where a marker of its
//! newest fact stands; a deliverable where it stands with the newest value of everything that it is made of.

mod follow_ups;
mod survival;
#[cfg(test)]
mod tests;
mod uses;

use crate::ledger::{ByThread, Outcome, Row};
use crate::scenario::marker::{Known, MarkerIndex, Task, Values, deliverable};
use crate::scenario::{IntentIndex, Scenario, TopicIndex};
use crate::strategy::ThreadId;
use crate::transcript::Part;

use super::returns::Delivered;
pub(super) use follow_ups::FollowUps;
pub(super) use survival::Survival;
pub(super) use uses::Uses;

/// Why figures of facts have no value in a scenario that states none.
pub(super) const NO_FACTS: &str = "the scenario states no facts";

/// A scenario's facts, ready to be looked for in one run.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    scenario: &'a Scenario,
    markers: &'a MarkerIndex,
}

/// What one delegating call asked for.
pub(super) struct Asked {
    /// The topics.
    pub topics: Vec<TopicIndex>,
    /// The most words that the answer may have.
    pub most_words: Option<u32>,
}

/// What the root had at the end of a run, and what it said.
pub(super) struct Ending {
    /// What stood before it in its last request, those beside a turn left out; nothing without one.
    pub visible: Known,
    /// What the final answer states. A failed run has none, whatever text it left.
    pub stated: Known,
    /// The final answer.
    pub text: String,
}

impl<'a> Facts<'a> {
    /// The facts of a scenario, with its index of markers.
    pub fn new(scenario: &'a Scenario, markers: &'a MarkerIndex) -> Facts<'a> {
        Facts { scenario, markers }
    }

    pub(super) fn scenario(&self) -> &'a Scenario {
        self.scenario
    }

    /// What some parts hold, read in order.
    pub(super) fn known_of<'p>(&self, parts: impl Iterator<Item = &'p Part>) -> Known {
        let mut known = Known::nothing(self.scenario.topics.len());
        parts.for_each(|part| known.add(&self.markers.of_part(part)));
        known
    }

    /// What stood before a thread in one request.
    fn visible(&self, outcome: &Outcome, row: &Row) -> Known {
        self.markers.visible(row.sent.system.as_ref(), &outcome.items_of(row))
    }

    /// What the root had at the end, and what it said.
    pub(super) fn ending(&self, outcome: &Outcome, by_thread: &ByThread<'_>) -> Ending {
        let nothing = || Known::nothing(self.scenario.topics.len());
        let last = by_thread.rows(ThreadId::ROOT).iter().rev().find(|row| !row.aside);
        let visible = last.map_or_else(nothing, |row| self.visible(outcome, row));
        let text = if outcome.failure.is_some() { String::new() } else { outcome.answer() };
        let mut stated = nothing();
        stated.add(&self.markers.stated(&text));
        Ending { visible, stated, text }
    }

    /// The position of a topic's newest fact.
    fn newest(&self, topic: TopicIndex) -> Option<usize> {
        self.scenario.topics.get(topic)?.facts.len().checked_sub(1)
    }

    /// The values of a deliverable made by someone who knows the newest fact of each source; `None`: it is no deliverable.
    fn newest_values(&self, topic: TopicIndex) -> Option<Values> {
        let made = self.scenario.topics.get(topic)?.made.as_ref()?;
        Some(made.from.iter().map(|&source| self.newest(source)).collect())
    }

    /// Whether a topic is there in its newest form.
    fn is_newest(&self, topic: TopicIndex, known: &Known) -> bool {
        let fact = self.newest(topic).is_some_and(|newest| known.fact(topic) == Some(newest));
        fact || self.newest_values(topic).is_some_and(|values| known.made(topic) == Some(&values))
    }

    /// Whether everything that a deliverable is made of is there in its newest form; false for any other topic.
    fn can_make(&self, topic: TopicIndex, known: &Known) -> bool {
        let made = self.scenario.topics.get(topic).and_then(|topic| topic.made.as_ref());
        made.is_some_and(|made| made.from.iter().all(|&source| self.newest(source).is_some() && self.is_newest(source, known)))
    }

    /// Whether a topic is there by a superseded value and not by the newest.
    pub(super) fn is_stale(&self, topic: TopicIndex, known: &Known) -> bool {
        let older = |source: TopicIndex, fact: Option<usize>| fact.is_some() && fact < self.newest(source);
        let fact = older(topic, known.fact(topic));
        let made = self.scenario.topics.get(topic).and_then(|topic| topic.made.as_ref());
        let values = known.made(topic);
        fact || made.zip(values).is_some_and(|(made, values)| made.from.iter().zip(values).any(|(&source, &fact)| older(source, fact)))
    }

    /// The sentence that states a topic in its newest form.
    fn statement(&self, topic: TopicIndex) -> Option<String> {
        match self.newest_values(topic) {
            Some(values) => Some(deliverable(self.scenario, topic, &values)),
            None => Some(self.scenario.topics.get(topic)?.facts.last()?.statement.clone()),
        }
    }

    /// The follow-ups of an intent that a call's arguments ask for; none: it asks for the intent itself.
    fn follow_ups_of(&self, args: &Part, intent: IntentIndex) -> Vec<TopicIndex> {
        let found = self.markers.of_part(args);
        let topic = |task: &Task| match *task {
            Task::FollowUp(of, nth) if of == intent => Some(self.scenario.intents.get(intent)?.follow_ups.get(nth)?.topic),
            _ => None,
        };
        found.tasks.iter().filter_map(topic).collect()
    }

    /// What the call behind a return asked for; `None`: it was phrased from no intent of this scenario.
    pub(super) fn asked(&self, one: &Delivered<'_>) -> Option<Asked> {
        let intent = self.scenario.intent(&one.intent)?;
        let follow_ups = one.args.map_or_else(Vec::new, |args| self.follow_ups_of(args, intent));
        let spec = &self.scenario.intents[intent];
        Some(match follow_ups.is_empty() {
            true => Asked { topics: spec.work.needs.clone(), most_words: spec.report.max_words },
            false => Asked { topics: follow_ups, most_words: None },
        })
    }
}
