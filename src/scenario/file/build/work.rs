//! Turns and intents: who wants what.

use crate::scenario::{FollowUp, IntentIndex, IntentSpec, ReportForm, Step, Topic, TopicIndex, UserTurn, Work};
use crate::setting::UserTime;

use super::super::form::{IntentForm, StepForm};
use super::super::node::{Located, Node, Value};
use super::world::arguments;
use super::{Builder, Seat};

impl Builder<'_> {
    /// Everything that refers to topics and intents.
    pub(super) fn work(&mut self) -> (Vec<Topic>, Vec<IntentSpec>, Vec<UserTurn>) {
        let topics = self.topics();
        let intents = self.intents(&topics);
        let turns = self.turns(&intents);
        (topics, intents, turns)
    }

    /// A topic's position; `None`, and reported, where there is none.
    fn topic_index(&mut self, id: &Located<String>) -> Option<TopicIndex> {
        self.declared.topics.check(id, self.problems);
        self.file.topics.iter().position(|topic| topic.value.id.value == id.value)
    }

    /// The positions of several topics; one that is named twice counts once.
    pub(super) fn topic_indices(&mut self, ids: &[Located<String>]) -> Vec<TopicIndex> {
        let mut found: Vec<TopicIndex> = vec![];
        for id in ids {
            if let Some(topic) = self.topic_index(id).filter(|topic| !found.contains(topic)) {
                found.push(topic);
            }
        }
        found
    }

    /// An intent's position; `None`, and reported, where there is none.
    pub(super) fn intent_index(&mut self, id: &Located<String>) -> Option<IntentIndex> {
        self.declared.intents.check(id, self.problems);
        self.file.intents.iter().position(|intent| intent.value.id.value == id.value)
    }

    fn intent_indices(&mut self, ids: &[Located<String>]) -> Vec<IntentIndex> {
        ids.iter().filter_map(|id| self.intent_index(id)).collect()
    }

    fn plan(&mut self, steps: &[Located<StepForm>]) -> Vec<Step> {
        let step = |step: &Located<StepForm>| {
            let StepForm { tool, args, target, seeks, parallel } = &step.value;
            let target = target.clone().or_else(|| args.as_ref().and_then(first_text)).unwrap_or_else(|| tool.value.clone());
            Step {
                tool: tool.value.clone(),
                args: arguments(args.as_ref()),
                target,
                seeks: self.topic_indices(seeks),
                parallel: parallel.clone(),
            }
        };
        steps.iter().map(step).collect()
    }

    fn intents(&mut self, topics: &[Topic]) -> Vec<IntentSpec> {
        let file = self.file;
        let mut intents = vec![];
        for (at, form) in file.intents.iter().enumerate() {
            let IntentForm { id, agent, title, marker, task, terse, known, needs, plan, delegate, group, background, report, follow_ups } =
                &form.value;
            self.declared.agents.check(agent, self.problems);
            let seat = Seat::Intent(id.value.clone());
            let task_text = self.plain(task, seat.clone(), &format!("intent {}", id.value));
            let terse_text = match terse {
                Some(text) => self.plain(text, seat.clone(), &format!("intent {} terse", id.value)),
                None => format!("{} ({})", title.0, marker.value),
            };
            let mut needs = self.topic_indices(needs);
            let mine = |(topic, one): (TopicIndex, &Topic)| one.made.as_ref().filter(|made| made.intent == at).map(|_| topic);
            needs.extend(topics.iter().enumerate().filter_map(mine).filter(|topic| !needs.contains(topic)).collect::<Vec<_>>());
            let work = Work { marker: marker.value.clone(), needs, plan: self.plan(plan), delegates: self.intent_indices(delegate) };
            let follow_ups = follow_ups.iter().filter_map(|form| {
                let task = self.plain(&form.value.task, seat.clone(), &format!("intent {} follow-up {}", id.value, form.value.topic.value));
                Some(FollowUp { topic: self.topic_index(&form.value.topic)?, task: task.trim_end().to_owned() })
            });
            let follow_ups = follow_ups.collect();
            let report = report.as_ref().map_or_else(ReportForm::default, |form| ReportForm {
                padding_words: form.padding_words,
                facts_at: form.facts_at,
                also: self.topic_indices(&form.also),
                evidence: form.evidence,
                ends: form.ends,
                max_words: form.max_words,
            });
            intents.push(IntentSpec {
                id: id.value.clone(),
                agent: agent.value.clone(),
                title: title.0.clone(),
                task: task_text.trim_end().to_owned(),
                terse: terse_text.trim_end().to_owned(),
                known: self.topic_indices(known),
                work,
                group: group.clone(),
                background: *background,
                report,
                follow_ups,
            });
        }
        intents
    }

    fn turns(&mut self, intents: &[IntentSpec]) -> Vec<UserTurn> {
        let file = self.file;
        let mut turns = vec![];
        for (at, form) in file.turns.iter().enumerate() {
            let items = self.turn_items(at);
            let turn = &form.value;
            let delegates = self.intent_indices(&turn.delegate);
            let mut needs = self.topic_indices(&turn.needs);
            for intent in delegates.iter().filter_map(|&intent| intents.get(intent)) {
                needs.extend(intent.work.needs.iter().copied().filter(|topic| !needs.contains(topic)).collect::<Vec<_>>());
            }
            let marker = turn.marker.as_ref().map(|marker| marker.value.clone()).unwrap_or_default();
            let work = Work { marker, needs, plan: self.plan(&turn.plan), delegates };
            let sets_work = !(work.needs.is_empty() && work.plan.is_empty() && work.delegates.is_empty());
            if sets_work && turn.marker.is_none() {
                self.problems.add(
                    form.at,
                    "this turn sets work and has no `marker`",
                    "name the text of the message that binds the root to it, a ticket number, say",
                );
            }
            let when = turn.at.map_or(UserTime::Settled, UserTime::At);
            turns.push(UserTurn { when, items, work });
        }
        turns
    }
}

/// The first argument that is a text.
fn first_text(args: &Node) -> Option<String> {
    let Value::Map(entries) = &args.value else { return None };
    entries.iter().find_map(|(_, node)| match &node.value {
        Value::Text(text) if !text.is_empty() => Some(text.clone()),
        _ => None,
    })
}
