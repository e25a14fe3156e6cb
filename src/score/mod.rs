//! Scores of a run: what the final answer and each return are worth, and what each child could have known.
//!
//! Everything here looks at texts alone, and only at those that their reader got: the final answer as the user reads it,
//! a return as it entered the parent, a child's last request as it was sent. A text is read as it stands and with the
//! escapes of JSON and tags undone, since a return often arrives inside one of them.

mod answer;
mod check;
mod child;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::ledger::{ByThread, Outcome};
use crate::reason::Reason;
use crate::scenario::marker::{MarkerIndex, Telling};
use crate::scenario::{Check, Scenario};

use answer::Answer;
use check::Question;

/// Why figures of children have no value when nothing was delegated.
pub const NO_CHILD: &str = "no child opened";

/// The scores of a run; each lies between 0 and 1, `Err` says why there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// Weighted mean of the checks on the final answer; 0 for a failed run.
    pub quality: Result<f64, Reason>,
    /// Each check on the final answer, in the scenario's order. A failed run has no final answer, whatever text it left:
    /// each scores 0.
    pub checks: Vec<CheckScore>,
    /// Each child's first return on each intent that it was given, scored by the intent's own checks on the text as it entered
    /// the parent; where nothing came back it is 0. What a child that was continued with the same intent reports later
    /// answers another question, and is scored where that question is. The mean of an intent's children, then of the
    /// intents that have checks.
    pub child_quality: Result<f64, Reason>,
    /// Share of the needed topics whose newest fact was visible at a child's last request for the intent; a deliverable, which the child
    /// makes itself, stands for the topics that it is made of. The mean of an intent's children, then of the intents that
    /// need something. Without deliverables, and with a check of every intent that recalls its needs, returns that state
    /// what their child knew have this very number as their quality.
    pub child_coverage: Result<f64, Reason>,
}

/// One check on the final answer.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckScore {
    /// The check's id.
    pub id: Arc<str>,
    /// Its score, or what is wrong with the check.
    pub score: Result<f64, Reason>,
}

/// Scores the runs of one scenario: patterns are compiled and markers indexed once.
#[derive(Debug)]
pub struct Scorer {
    scenario: Arc<Scenario>,
    markers: MarkerIndex,
    /// What each check asks, in the scenario's order.
    questions: Vec<Question>,
}

impl Scorer {
    /// A scorer of this scenario's runs.
    pub fn new(scenario: Arc<Scenario>) -> Scorer {
        let markers = MarkerIndex::new(&scenario);
        Scorer::with_markers(scenario, &markers)
    }

    /// The same with the scenario's index of markers at hand: building it reads all of the scenario's texts.
    pub fn with_markers(scenario: Arc<Scenario>, markers: &MarkerIndex) -> Scorer {
        let questions = scenario.checks.iter().map(|check| Question::new(&check.ask)).collect();
        Scorer { markers: markers.for_run(), questions, scenario }
    }

    /// The same for answers of models, which say facts in words of their own.
    pub fn telling(self) -> Scorer {
        let telling = Telling::of(&self.scenario);
        Scorer { markers: self.markers.telling(telling), ..self }
    }

    /// The scenario whose runs it scores.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// An index of its markers for one run: what is read in one score is not read again by whoever looks at the same run.
    pub fn markers_for_run(&self) -> MarkerIndex {
        self.markers.for_run()
    }

    /// Scores a run.
    pub fn score(&self, outcome: &Outcome) -> Scored {
        self.score_with(outcome, &self.markers_for_run())
    }

    /// The same with an index of [`Scorer::markers_for_run`].
    pub fn score_with(&self, outcome: &Outcome, markers: &MarkerIndex) -> Scored {
        self.score_by_thread(outcome, &ByThread::of(outcome), markers)
    }

    /// The same with the ledger seen by thread at hand.
    pub(crate) fn score_by_thread(&self, outcome: &Outcome, by_thread: &ByThread<'_>, markers: &MarkerIndex) -> Scored {
        let answer = outcome.answer();
        let answer = outcome.failure.is_none().then(|| Answer::new(&answer, markers));
        let asked = || self.asked(|check| check.on_answer);
        let mut checks = Vec::with_capacity(self.questions.len());
        checks.extend(asked().map(|(check, question)| {
            let score = match &answer {
                Some(answer) => question.score(answer, &self.scenario),
                None => question.validity().map(|()| 0.0).map_err(Reason::from),
            };
            CheckScore { id: check.id.clone(), score }
        }));
        let without =
            if checks.is_empty() { "no check looks at the final answer" } else { "no check on the final answer weighs more than 0" };
        Scored {
            quality: weighted_mean(asked().zip(&checks).map(|((check, _), scored)| (check, scored.score.clone())), without),
            checks,
            child_quality: self.child_quality(outcome, by_thread, markers),
            child_coverage: self.child_coverage(outcome, by_thread, markers),
        }
    }

    fn asked(&self, of: impl Fn(&Check) -> bool) -> impl Iterator<Item = (&Check, &Question)> {
        self.scenario.checks.iter().zip(&self.questions).filter(move |(check, _)| of(check))
    }
}

/// Weighted mean of some checks; one that is at fault spoils it, and is named.
fn weighted_mean<'c>(scores: impl Iterator<Item = (&'c Check, Result<f64, Reason>)>, without: &'static str) -> Result<f64, Reason> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (check, score) in scores {
        sum += check.weight * score.map_err(|why| format!("check `{}`: {why}", check.id))?;
        weights += check.weight;
    }
    if weights > 0.0 && f64::is_finite(sum / weights) { Ok(sum / weights) } else { Err(without.into()) }
}
