//! Turns, intents and checks: who wants what, and what is asked of the answer.

use crate::scenario::{Ask, Check, FollowUp, IntentIndex, IntentSpec, ReportForm, Step, Topic, TopicIndex, UserTurn, Work};
use crate::setting::UserTime;

use super::super::form::{CheckForm, IntentForm, StepForm};
use super::super::node::{Located, Node, Value};
use super::declared::Names;
use super::world::arguments;
use super::{Builder, Seat};

impl Builder<'_> {
    /// Everything that refers to topics and intents.
    pub(super) fn work(&mut self) -> (Vec<Topic>, Vec<IntentSpec>, Vec<UserTurn>, Vec<Check>) {
        let topics = self.topics();
        let intents = self.intents(&topics);
        let turns = self.turns(&intents);
        let checks = self.checks();
        (topics, intents, turns, checks)
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

    fn checks(&mut self) -> Vec<Check> {
        let file = self.file;
        let mut ids = Names::new("check");
        let mut checks = vec![];
        for form in &file.checks {
            let CheckForm { id, intent, answer, weight, contains, regex, equals, recall, forbidden } = &form.value;
            ids.insert(id.value.clone(), id.at, self.problems);
            let texts = |texts: &super::super::record::OneOrMore| texts.0.iter().map(|text| text.value.clone()).collect::<Vec<_>>();
            let mut asks: Vec<Ask> = vec![];
            asks.extend(contains.as_ref().map(|form| Ask::Contains(texts(form))));
            asks.extend(forbidden.as_ref().map(|form| Ask::Forbidden(texts(form))));
            asks.extend(equals.clone().map(Ask::Equals));
            if let Some(pattern) = regex {
                if let Err(error) = regex::Regex::new(&pattern.value) {
                    let why = error.to_string();
                    let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
                    self.problems.add(
                        pattern.at,
                        format!("this is no regular expression: {why}"),
                        "write it in the syntax of the Rust crate `regex`",
                    );
                }
                asks.push(Ask::Regex(pattern.value.clone()));
            }
            if let Some(topics) = recall {
                asks.push(Ask::Recall(self.topic_indices(&topics.0)));
            }
            let empty = asks.iter().any(|ask| match ask {
                Ask::Contains(texts) | Ask::Forbidden(texts) => texts.is_empty() || texts.iter().any(|text| text.trim().is_empty()),
                Ask::Recall(topics) => {
                    topics.is_empty() && !self.problems.incomplete && recall.as_ref().is_some_and(|topics| topics.0.is_empty())
                }
                Ask::Regex(_) | Ask::Equals(_) => false,
            });
            if empty {
                self.problems.add(
                    form.at,
                    format!("the check `{}` asks for nothing", id.value),
                    "write at least one text or topic, none of them empty",
                );
            }
            if asks.len() > 1 || (asks.is_empty() && !self.problems.incomplete) {
                let message = format!("the check `{}` asks {}", id.value, if asks.is_empty() { "nothing" } else { "several things" });
                self.problems.add(form.at, message, "write exactly one of `contains`, `regex`, `equals`, `recall` and `forbidden`");
            }
            if let Some(weight) = weight.as_ref().filter(|weight| !(weight.value > 0.0 && weight.value.is_finite())) {
                self.problems.add(weight.at, format!("the weight {} is not above 0", weight.value), "leave it out for 1");
            }
            if intent.is_none() && !answer {
                self.problems.add(
                    form.at,
                    format!("the check `{}` is asked of nobody", id.value),
                    "name the `intent` whose return it scores, or remove `answer: false`",
                );
            }
            let intent = intent.as_ref().and_then(|id| self.intent_index(id));
            let weight = weight.as_ref().map_or(1.0, |weight| weight.value);
            if let Some(ask) = asks.pop() {
                checks.push(Check { id: id.value.clone(), intent, on_answer: *answer, weight, ask });
            }
        }
        checks
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
