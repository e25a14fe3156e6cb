//! What came back from children, and what they could see.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::ledger::{ByThread, Outcome, Row};
use crate::reason::Reason;
use crate::scenario::marker::MarkerIndex;
use crate::scenario::{IntentIndex, TopicIndex};
use crate::strategy::ThreadId;
use crate::transcript::{CallKey, Item, Part};

use super::answer::Answer;
use super::{NO_CHILD, Scorer, weighted_mean};

impl Scorer {
    pub(super) fn child_quality(&self, outcome: &Outcome, by_thread: &ByThread<'_>, markers: &MarkerIndex) -> Result<f64, Reason> {
        let first_returns = self.first_returns(outcome, by_thread);
        let mut scores = ByIntent::default();
        for (child, intent) in self.children(outcome)? {
            if self.asked(|check| check.intent == Some(intent)).next().is_none() {
                continue;
            }
            let score = match first_returns.get(&(child, intent)) {
                None => 0.0,
                Some(item) => {
                    // Parts are segments of their own: words do not grow together across them.
                    let text = item.parts().iter().map(Part::as_text).collect::<Vec<_>>().join("\n");
                    let answer = Answer::new(&text, markers);
                    let asked = self.asked(|check| check.intent == Some(intent));
                    let scores = asked.map(|(check, question)| (check, question.score(&answer, &self.scenario)));
                    weighted_mean(scores, "the checks of an intent have no weight")?
                }
            };
            scores.add(intent, score);
        }
        scores.mean("no delegated intent has a check")
    }

    pub(super) fn child_coverage(&self, outcome: &Outcome, by_thread: &ByThread<'_>, markers: &MarkerIndex) -> Result<f64, Reason> {
        let mut scores = ByIntent::default();
        for (child, intent) in self.children(outcome)? {
            let needed = self.needed(intent);
            if needed.is_empty() {
                continue;
            }
            // A request beside the turn (a summary, say) is not the child's own. A turn that nobody's call opened goes on
            // with what the child was opened for.
            let opened_for = outcome.threads.get(child.0 as usize).and_then(|record| record.intent.as_deref());
            let of_intent = |row: &Row| row.intent.as_deref().or(opened_for).and_then(|id| self.scenario.intent(id)) == Some(intent);
            let last = by_thread.rows(child).iter().rev().find(|row| !row.aside && of_intent(row));
            let covered = last.map_or(0, |row| {
                let known = markers.visible(row.sent.system.as_ref(), &outcome.items_of(row));
                let newest = |topic: TopicIndex| self.scenario.topics.get(topic).and_then(|topic| topic.facts.len().checked_sub(1));
                let is_covered = |&&topic: &&TopicIndex| newest(topic).is_some() && known.fact(topic) == newest(topic);
                needed.iter().filter(is_covered).count()
            });
            scores.add(intent, covered as f64 / needed.len() as f64);
        }
        scores.mean("no delegated intent needs anything")
    }

    /// Every child with each intent of this scenario that it was given, by being opened with it or by being continued.
    fn children(&self, outcome: &Outcome) -> Result<Vec<(ThreadId, IntentIndex)>, Reason> {
        if outcome.threads.len() < 2 {
            return Err(NO_CHILD.into());
        }
        let opened = outcome.threads.iter().map(|record| (record.id, record.intent.as_deref()));
        let continued = outcome.delegations.iter().map(|one| (one.child, one.intent.as_deref()));
        let mut given = Vec::new();
        for (child, intent) in opened.chain(continued).filter(|(child, _)| *child != ThreadId::ROOT) {
            let pair = intent.and_then(|id| self.scenario.intent(id)).map(|intent| (child, intent));
            given.extend(pair.filter(|pair| !given.contains(pair)));
        }
        Ok(given)
    }

    /// The topics that a child must have seen: an intent's needs, with what its deliverables are made of in their place.
    fn needed(&self, intent: IntentIndex) -> BTreeSet<TopicIndex> {
        self.scenario.intents.get(intent).map_or_else(BTreeSet::new, |intent| self.scenario.sources_of(&intent.work.needs))
    }

    /// The item that first brought a child's work on an intent, or its failure, to its parent. A child that was spoken to
    /// again before it returned answers under the last call: the first return counts, whichever call it answers.
    fn first_returns<'a>(&self, outcome: &Outcome, by_thread: &ByThread<'a>) -> FxHashMap<(ThreadId, IntentIndex), &'a Item> {
        let children: FxHashMap<CallKey, ThreadId> = outcome.delegations.iter().map(|one| (one.call, one.child)).collect();
        let mut first: FxHashMap<(ThreadId, IntentIndex), (usize, &Item)> = FxHashMap::default();
        for parent in outcome.threads.iter().map(|record| record.id) {
            for told in by_thread.told(parent) {
                let (Some(&child), Some(intent)) = (children.get(&told.call), self.scenario.intent(&told.intent)) else { continue };
                if let Some(news) = by_thread.first_news(parent, &told) {
                    let known = first.entry((child, intent)).or_insert(news);
                    if news.0 < known.0 {
                        *known = news;
                    }
                }
            }
        }
        first.into_iter().map(|(of, (_, item))| (of, item)).collect()
    }
}

/// Scores of children, by intent.
#[derive(Default)]
struct ByIntent(BTreeMap<IntentIndex, Vec<f64>>);

impl ByIntent {
    fn add(&mut self, intent: IntentIndex, score: f64) {
        self.0.entry(intent).or_default().push(score);
    }

    /// The mean of the intents' means.
    fn mean(&self, without: &'static str) -> Result<f64, Reason> {
        let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len() as f64;
        let of_intents: Vec<f64> = self.0.values().map(|scores| mean(scores)).collect();
        if of_intents.is_empty() { Err(without.into()) } else { Ok(mean(&of_intents)) }
    }
}
