//! What came back from children, and what they could see.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::ledger::{ByThread, Outcome, ThreadRecord};
use crate::scenario::marker::MarkerIndex;
use crate::scenario::{IntentIndex, TopicIndex};
use crate::strategy::ThreadId;
use crate::transcript::{CallKey, Item, Part};

use super::answer::Answer;
use super::{NO_CHILD, Scorer, weighted_mean};

impl Scorer {
    pub(super) fn child_quality(&self, outcome: &Outcome, by_thread: &ByThread<'_>, markers: &MarkerIndex) -> Result<f64, String> {
        let first_returns = first_returns(outcome, by_thread);
        let mut scores = ByIntent::default();
        for (record, intent) in self.children(outcome)? {
            if self.asked(|check| check.intent == Some(intent)).next().is_none() {
                continue;
            }
            let score = match first_returns.get(&record.id) {
                None => 0.0,
                Some(item) => {
                    // Parts are segments of their own: words do not grow together across them.
                    let text = item.parts().iter().map(Part::as_text).collect::<Vec<_>>().join("\n");
                    let answer = Answer::new(&text, markers);
                    let asked = self.asked(|check| check.intent == Some(intent));
                    let scores = asked.map(|(check, question)| (check, question.score(&answer, &self.scenario))).collect();
                    weighted_mean(scores, "the checks of an intent have no weight")?
                }
            };
            scores.add(intent, score);
        }
        scores.mean("no delegated intent has a check")
    }

    pub(super) fn child_coverage(&self, outcome: &Outcome, by_thread: &ByThread<'_>, markers: &MarkerIndex) -> Result<f64, String> {
        let mut scores = ByIntent::default();
        for (record, intent) in self.children(outcome)? {
            let needed = self.needed(intent);
            if needed.is_empty() {
                continue;
            }
            // A request beside the turn (a summary, say) is not the child's own.
            let last = by_thread.rows(record.id).iter().rev().find(|row| !row.aside);
            let covered = last.map_or(0, |row| {
                let known = markers.visible(row.sent.system.as_ref(), &outcome.items_of(row));
                let newest = |topic: TopicIndex| self.scenario.topics.get(topic).and_then(|topic| topic.facts.len().checked_sub(1));
                let is_covered = |&&topic: &&TopicIndex| newest(topic).is_some() && known.facts.get(topic) == Some(&newest(topic));
                needed.iter().filter(is_covered).count()
            });
            scores.add(intent, covered as f64 / needed.len() as f64);
        }
        scores.mean("no delegated intent needs anything")
    }

    /// Children with an intent of this scenario.
    fn children<'a>(&self, outcome: &'a Outcome) -> Result<Vec<(&'a ThreadRecord, IntentIndex)>, String> {
        if outcome.threads.len() < 2 {
            return Err(NO_CHILD.into());
        }
        let with_intent = |record: &'a ThreadRecord| Some((record, self.scenario.intent(record.intent.as_deref()?)?));
        Ok(outcome.threads.iter().skip(1).filter_map(with_intent).collect())
    }

    /// The topics that a child must have seen: an intent's needs, with what its deliverables are made of in their place.
    fn needed(&self, intent: IntentIndex) -> BTreeSet<TopicIndex> {
        let mut needed = BTreeSet::new();
        let mut unfolded = BTreeSet::new();
        let mut open = self.scenario.intents.get(intent).map_or_else(Vec::new, |intent| intent.work.needs.clone());
        while let Some(topic) = open.pop() {
            match self.scenario.topics.get(topic).and_then(|topic| topic.made.as_ref()) {
                // A deliverable that is made of itself is the validator's to refuse; here it ends nothing.
                Some(made) if unfolded.insert(topic) => open.extend(&made.from),
                Some(_) => {}
                None => _ = needed.insert(topic),
            }
        }
        needed
    }
}

/// The item that first brought a child's work or failure to its parent. A child that was spoken to again before it
/// returned answers under the last call: the first return counts, whichever call it answers.
fn first_returns<'a>(outcome: &Outcome, by_thread: &ByThread<'a>) -> FxHashMap<ThreadId, &'a Item> {
    let children: FxHashMap<CallKey, ThreadId> = outcome.delegations.iter().map(|one| (one.call, one.child)).collect();
    let mut first: FxHashMap<ThreadId, (usize, &Item)> = FxHashMap::default();
    for parent in outcome.threads.iter().map(|record| record.id) {
        for told in by_thread.told(parent) {
            if let (Some(&child), Some(news)) = (children.get(&told.call), by_thread.first_news(parent, &told)) {
                let known = first.entry(child).or_insert(news);
                if news.0 < known.0 {
                    *known = news;
                }
            }
        }
    }
    first.into_iter().map(|(child, (_, item))| (child, item)).collect()
}

/// Scores of children, by intent.
#[derive(Default)]
struct ByIntent(BTreeMap<IntentIndex, Vec<f64>>);

impl ByIntent {
    fn add(&mut self, intent: IntentIndex, score: f64) {
        self.0.entry(intent).or_default().push(score);
    }

    /// The mean of the intents' means.
    fn mean(&self, without: &str) -> Result<f64, String> {
        let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len() as f64;
        let of_intents: Vec<f64> = self.0.values().map(|scores| mean(scores)).collect();
        if of_intents.is_empty() { Err(without.to_owned()) } else { Ok(mean(&of_intents)) }
    }
}
