//! All figures of one run, folded once; the list reads its metrics from here.

use crate::ledger::{ByThread, Fate, Outcome, Row};
use crate::score::{NO_CHILD, Scored};
use crate::strategy::ThreadId;
use crate::transcript::Part;

use super::facts::{FollowUps, NO_FACTS, Survival, Uses};
use super::returns::{FactReturns, Returns, delivered, returns_of};
use super::spend::{Contexts, Spend};
use super::value::Value;
use super::{Subject, absorbed, delegation, reexplored};

/// Sums and extremes, before unknowns are told apart from zeros.
pub(crate) struct Figures<'a> {
    subject: &'a Subject<'a>,
    root_contexts: Option<Contexts>,
    child_contexts: Option<Contexts>,
    /// Whether any child was opened.
    has_children: bool,
    pub(super) parent: Spend,
    pub(super) child: Spend,
    pub(super) footprint: i64,
    pub(super) moved: u64,
    pub(super) absorbed: u64,
    pub(super) reexplored: u64,
    pub(super) overflow: u64,
    pub(super) delegations: u64,
    pub(super) refusals: u64,
    pub(super) abandoned: u64,
    pub(super) zero_action: u64,
    pub(super) rescues: u64,
    pub(super) drift: u64,
    pub(super) failures: u64,
    pub(super) end_to_end_ms: u64,
    pub(super) model_ms: u64,
    pub(super) tools_ms: u64,
    pub(super) critical_path_ms: u64,
    pub(super) returns: Returns,
    survival: Result<Survival, String>,
    uses: Result<Uses, String>,
    follow_ups: Result<FollowUps, String>,
}

impl<'a> Figures<'a> {
    pub(super) fn of(subject: &'a Subject<'a>) -> Figures<'a> {
        let outcome = subject.outcome;
        let by_thread = ByThread::of(outcome);
        let (mut parent, mut child) = (Spend::default(), Spend::default());
        for row in &outcome.rows {
            if is_root(row) { parent.add(row) } else { child.add(row) }
        }
        let delivered = delivered(outcome, &by_thread);
        let facts = subject.facts.as_ref().map_err(String::clone);
        let ending = facts.clone().map(|facts| (facts, facts.ending(outcome, &by_thread)));
        let ending = ending.as_ref().map_err(String::clone);
        let sum = |of: fn(&Row) -> u64| outcome.rows.iter().map(of).sum();
        Figures {
            subject,
            root_contexts: Contexts::of(outcome.rows.iter().filter(|row| is_root(row))),
            child_contexts: Contexts::of(outcome.rows.iter().filter(|row| !is_root(row))),
            has_children: outcome.threads.len() > 1,
            parent,
            child,
            footprint: delegation::footprint(&by_thread),
            moved: delegation::moved(outcome, &by_thread),
            absorbed: absorbed::absorbed(outcome, &by_thread),
            reexplored: reexplored::reexplored(outcome, &by_thread),
            overflow: sum(|row| row.overflow.into()),
            delegations: outcome.delegations.len() as u64,
            refusals: outcome.refusals.into(),
            abandoned: outcome.threads.iter().skip(1).filter(|record| record.abandoned).count() as u64,
            zero_action: zero_action(outcome, &by_thread),
            rescues: sum(|row| row.rescues.into()),
            drift: sum(|row| row.drift.into()),
            failures: outcome.failure.is_some().into(),
            end_to_end_ms: outcome.span_ms.1.saturating_sub(outcome.span_ms.0),
            model_ms: sum(|row| row.done_ms.map_or(0, |done| done.saturating_sub(row.sent_ms))),
            tools_ms: outcome.tools_ms,
            critical_path_ms: outcome.critical_path_ms,
            returns: returns_of(&delivered, facts.as_ref().ok().copied()),
            survival: ending.clone().and_then(|(facts, ending)| Survival::of(facts, outcome, &by_thread, &delivered, ending)),
            uses: ending.and_then(|(facts, ending)| Uses::of(facts, outcome, ending)),
            follow_ups: facts.and_then(|facts| FollowUps::of(facts, outcome, &by_thread, &delivered)),
        }
    }

    /// All requests.
    pub(super) fn requests(&self) -> u64 {
        self.parent.requests + self.child.requests
    }

    /// A context size of the root.
    pub(super) fn root_context(&self, of: fn(&Contexts) -> u64) -> Result<Value, String> {
        self.root_contexts.as_ref().map(|contexts| Value::Count(of(contexts))).ok_or_else(|| "the root sent no request".into())
    }

    /// A context size of the children.
    pub(super) fn child_context(&self, of: fn(&Contexts) -> u64) -> Result<Value, String> {
        self.with_children()?;
        self.child_contexts.as_ref().map(|contexts| Value::Count(of(contexts))).ok_or_else(|| "no child sent a request".into())
    }

    /// A sum over child threads: no child, no value.
    pub(super) fn child_count(&self, count: u64) -> Result<Value, String> {
        self.with_children()?;
        Ok(Value::Count(count))
    }

    /// A sum that children are part of: without any it stands, with unknown ones it is unknown.
    pub(super) fn of_children(&self, count: u64) -> Result<Value, String> {
        self.subject.children.clone()?;
        Ok(Value::Count(count))
    }

    /// Absorbed by footprint.
    pub(super) fn compression(&self) -> Result<Value, String> {
        self.subject.children.clone()?;
        match self.footprint {
            0 => Err("delegation.footprint is 0".into()),
            below if below < 0 => Err("delegation.footprint is below 0".into()),
            footprint => Ok(Value::Ratio(self.absorbed as f64 / footprint as f64)),
        }
    }

    /// A score.
    pub(super) fn scored(&self, of: fn(&Scored) -> Result<f64, String>) -> Result<Value, String> {
        of(self.subject.scored.as_ref().map_err(String::clone)?).map(Value::Ratio)
    }

    /// A score of children.
    pub(super) fn scored_children(&self, of: fn(&Scored) -> Result<f64, String>) -> Result<Value, String> {
        self.with_children()?;
        self.scored(of)
    }

    /// A class of returns that needs the scenario's facts.
    pub(super) fn fact_returns(&self, of: fn(&FactReturns) -> u64) -> Result<Value, String> {
        self.subject.children.clone()?;
        let facts = self.subject.facts.as_ref().map_err(String::clone)?;
        if facts.scenario().topics.is_empty() {
            return Err(NO_FACTS.into());
        }
        Ok(Value::Count(of(&self.returns.of_facts)))
    }

    /// Returns that are longer than their contract: it takes one.
    pub(super) fn overlong(&self) -> Result<Value, String> {
        self.subject.children.clone()?;
        let facts = self.subject.facts.as_ref().map_err(String::clone)?;
        if facts.scenario().intents.iter().all(|intent| intent.report.max_words.is_none()) {
            return Err("the scenario limits no return".into());
        }
        Ok(Value::Count(self.returns.of_facts.overlong))
    }

    /// How far the needed facts came.
    pub(super) fn survived(&self, of: fn(&Survival) -> u64) -> Result<Value, String> {
        self.survival().map(|survival| Value::Count(of(survival)))
    }

    fn survival(&self) -> Result<&Survival, String> {
        self.subject.children.clone()?;
        self.survival.as_ref().map_err(String::clone)
    }

    /// Of the facts that children saw, the share that the final answer states.
    pub(super) fn survival_share(&self) -> Result<Value, String> {
        let survival = self.survival()?;
        if survival.seen == 0 {
            return Err("survival.seen is 0".into());
        }
        Ok(Value::Ratio(survival.answered as f64 / survival.seen as f64))
    }

    /// All tokens for each token of the statements of surviving facts.
    pub(super) fn amplification(&self) -> Result<Value, String> {
        let statements = &self.survival()?.statements;
        let mut useful = 0;
        for statement in statements {
            let tokens = self.subject.meter.part(&Part::text(statement.as_str())).map_err(|why| why.to_string())?;
            useful += u64::from(tokens.unwrap_or_default());
        }
        if useful == 0 {
            return Err("no fact that a child saw is in the final answer".into());
        }
        Ok(Value::Ratio(self.spent() as f64 / useful as f64))
    }

    /// All tokens for each needed fact that the final answer states.
    pub(super) fn tokens_per_fact(&self) -> Result<Value, String> {
        self.subject.children.clone()?;
        match self.uses.as_ref().map_err(String::clone)?.stated {
            0 => Err("the final answer states no needed fact in its newest form".into()),
            stated => Ok(Value::Ratio(self.spent() as f64 / stated as f64)),
        }
    }

    fn spent(&self) -> u64 {
        self.parent.input.total() + self.child.input.total() + self.parent.output + self.child.output
    }

    /// What the final answer made of what stood before it.
    pub(super) fn uses(&self, of: fn(&Uses) -> u64) -> Result<Value, String> {
        self.uses.as_ref().map(|uses| Value::Count(of(uses))).map_err(String::clone)
    }

    /// What became of follow-ups.
    pub(super) fn follow_ups(&self, of: fn(&FollowUps) -> u64) -> Result<Value, String> {
        self.follow_ups.as_ref().map(|counts| Value::Count(of(counts))).map_err(String::clone)
    }

    fn with_children(&self) -> Result<(), String> {
        self.subject.children.clone()?;
        if self.has_children { Ok(()) } else { Err(NO_CHILD.into()) }
    }
}

fn is_root(row: &Row) -> bool {
    row.thread == ThreadId::ROOT
}

/// Children that replied and never called anything. One whose only request was abandoned has not had its say and is no
/// such child.
fn zero_action(outcome: &Outcome, by_thread: &ByThread<'_>) -> u64 {
    let is_idle = |rows: &[&Row]| rows.iter().any(|row| row.fate == Fate::Replied) && rows.iter().all(|row| row.calls == 0);
    outcome.threads.iter().skip(1).filter(|record| is_idle(by_thread.rows(record.id))).count() as u64
}
