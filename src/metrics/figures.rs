//! All figures of one run, folded once; the list reads its metrics from here.

use crate::cache;
use crate::ledger::{ByThread, Fate, Outcome, Row};
use crate::prices::{Tokens, Usd};
use crate::reason::Reason;
use crate::score::{NO_CHILD, Scored};
use crate::strategy::ThreadId;
use crate::transcript::Part;

use super::cached::Cached;
use super::facts::{FollowUps, NO_FACTS, Survival, Uses};
use super::forked::Forked;
use super::redundancy::{Redundancy, Shared};
use super::returns::{FactReturns, Returns, delivered, returns_of};
use super::spend::{Contexts, Spend};
use super::totals::Totals;
use super::value::Value;
use super::{Subject, absorbed, cached, delegation, reexplored, reread, totals};

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
    survival: Result<Survival, Reason>,
    uses: Result<Uses, Reason>,
    follow_ups: Result<FollowUps, Reason>,
    pub(super) reread: u64,
    redundancy: Redundancy,
    totals: Result<Totals, Reason>,
    cached: Result<Cached, Reason>,
    cost: Result<(Usd, Usd), Reason>,
    forked: Result<Forked, Reason>,
}

impl<'a> Figures<'a> {
    pub(super) fn of(subject: &'a Subject<'a>, by_thread: &ByThread<'_>) -> Figures<'a> {
        let outcome = subject.outcome;
        let (mut parent, mut child) = (Spend::default(), Spend::default());
        for row in &outcome.rows {
            if is_root(row) { parent.add(row) } else { child.add(row) }
        }
        let delivered = delivered(outcome, by_thread);
        let facts = subject.facts.as_ref().map_err(Reason::clone);
        let ending = facts.clone().map(|facts| (facts, facts.ending(outcome, by_thread)));
        let ending = ending.as_ref().map_err(Reason::clone);
        let sum = |of: fn(&Row) -> u64| outcome.rows.iter().map(of).sum();
        Figures {
            subject,
            root_contexts: Contexts::of(outcome.rows.iter().filter(|row| is_root(row))),
            child_contexts: Contexts::of(outcome.rows.iter().filter(|row| !is_root(row))),
            has_children: outcome.threads.len() > 1,
            parent,
            child,
            footprint: delegation::footprint(by_thread),
            moved: delegation::moved(outcome, by_thread),
            absorbed: absorbed::absorbed(outcome, by_thread, subject.meter),
            reexplored: reexplored::reexplored(outcome, by_thread),
            overflow: sum(|row| row.overflow.into()),
            delegations: outcome.delegations.len() as u64,
            refusals: outcome.refusals.into(),
            abandoned: outcome.threads.iter().skip(1).filter(|record| record.abandoned).count() as u64,
            zero_action: zero_action(outcome, by_thread),
            rescues: sum(|row| row.rescues.into()),
            drift: sum(|row| row.drift.into()),
            failures: outcome.failure.is_some().into(),
            end_to_end_ms: outcome.span_ms.1.saturating_sub(outcome.span_ms.0),
            model_ms: sum(|row| row.done_ms.map_or(0, |done| done.saturating_sub(row.sent_ms))),
            tools_ms: outcome.tools_ms,
            critical_path_ms: outcome.critical_path_ms,
            returns: returns_of(&delivered, facts.as_ref().ok().copied()),
            survival: ending.clone().and_then(|(facts, ending)| Survival::of(facts, outcome, by_thread, &delivered, ending)),
            uses: ending.and_then(|(facts, ending)| Uses::of(facts, outcome, ending)),
            reread: reread::reread(outcome, by_thread),
            redundancy: Redundancy::of(outcome, by_thread, &delivered),
            totals: totals::totals(outcome, subject.meter).map_err(|why| why.to_string().into()),
            cached: cached::cached(outcome).ok_or_else(|| subject.no_cache.to_owned().into()),
            cost: cached::cost(outcome, subject),
            forked: Forked::of(outcome).map_err(|why| why.unwrap_or_else(|| subject.no_cache.to_owned().into())),
            follow_ups: facts.and_then(|facts| FollowUps::of(facts, outcome, by_thread, &delivered)),
        }
    }

    /// All requests.
    pub(super) fn requests(&self) -> u64 {
        self.parent.requests + self.child.requests
    }

    /// A context size of the root.
    pub(super) fn root_context(&self, of: fn(&Contexts) -> u64) -> Result<Value, Reason> {
        self.root_contexts.as_ref().map(|contexts| Value::Count(of(contexts))).ok_or_else(|| "the root sent no request".into())
    }

    /// A context size of the children.
    pub(super) fn child_context(&self, of: fn(&Contexts) -> u64) -> Result<Value, Reason> {
        self.with_children()?;
        self.child_contexts.as_ref().map(|contexts| Value::Count(of(contexts))).ok_or_else(|| "no child sent a request".into())
    }

    /// A sum over child threads: no child, no value.
    pub(super) fn child_count(&self, count: u64) -> Result<Value, Reason> {
        self.with_children()?;
        Ok(Value::Count(count))
    }

    /// A sum that children are part of: without any it stands, with unknown ones it is unknown.
    pub(super) fn of_children(&self, count: u64) -> Result<Value, Reason> {
        self.subject.children.clone()?;
        Ok(Value::Count(count))
    }

    /// Absorbed by footprint.
    pub(super) fn compression(&self) -> Result<Value, Reason> {
        self.subject.children.clone()?;
        match self.footprint {
            0 => Err("delegation.footprint is 0".into()),
            below if below < 0 => Err("delegation.footprint is below 0".into()),
            footprint => Ok(Value::Ratio(self.absorbed as f64 / footprint as f64)),
        }
    }

    /// The share of a text that stands in another.
    pub(super) fn redundant(&self, of: fn(&Redundancy) -> Shared) -> Result<Value, Reason> {
        self.with_children()?;
        match of(&self.redundancy) {
            Shared { of: 0, .. } => Err("no text of eight words to compare".into()),
            Shared { shared, of } => Ok(Value::Ratio(shared as f64 / of as f64)),
        }
    }

    /// A score.
    pub(super) fn scored(&self, of: fn(&Scored) -> Result<f64, Reason>) -> Result<Value, Reason> {
        of(self.subject.scored.as_ref().map_err(Reason::clone)?).map(Value::Ratio)
    }

    /// A score of children.
    pub(super) fn scored_children(&self, of: fn(&Scored) -> Result<f64, Reason>) -> Result<Value, Reason> {
        self.with_children()?;
        self.scored(of)
    }

    /// A class of returns that needs the scenario's facts.
    pub(super) fn fact_returns(&self, of: fn(&FactReturns) -> u64) -> Result<Value, Reason> {
        self.subject.children.clone()?;
        let facts = self.subject.facts.as_ref().map_err(Reason::clone)?;
        if facts.scenario().topics.is_empty() {
            return Err(NO_FACTS.into());
        }
        Ok(Value::Count(of(&self.returns.of_facts)))
    }

    /// Returns that are longer than their contract: it takes one.
    pub(super) fn overlong(&self) -> Result<Value, Reason> {
        self.subject.children.clone()?;
        let facts = self.subject.facts.as_ref().map_err(Reason::clone)?;
        if facts.scenario().intents.iter().all(|intent| intent.report.max_words.is_none()) {
            return Err("no limit on returns".into());
        }
        Ok(Value::Count(self.returns.of_facts.overlong))
    }

    /// How far the needed facts came.
    pub(super) fn survived(&self, of: fn(&Survival) -> u64) -> Result<Value, Reason> {
        self.survival().map(|survival| Value::Count(of(survival)))
    }

    fn survival(&self) -> Result<&Survival, Reason> {
        self.subject.children.clone()?;
        self.survival.as_ref().map_err(Reason::clone)
    }

    /// Of the facts that children saw, the share that the final answer states.
    pub(super) fn survival_share(&self) -> Result<Value, Reason> {
        let survival = self.survival()?;
        if survival.seen == 0 {
            return Err("survival.seen is 0".into());
        }
        Ok(Value::Ratio(survival.answered as f64 / survival.seen as f64))
    }

    /// All tokens for each token of the statements of surviving facts.
    pub(super) fn amplification(&self) -> Result<Value, Reason> {
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
    pub(super) fn tokens_per_fact(&self) -> Result<Value, Reason> {
        self.subject.children.clone()?;
        match self.uses.as_ref().map_err(Reason::clone)?.stated {
            0 => Err("the final answer states no needed fact in its newest form".into()),
            stated => Ok(Value::Ratio(self.spent() as f64 / stated as f64)),
        }
    }

    fn spent(&self) -> u64 {
        self.parent.input.total() + self.child.input.total() + self.parent.output + self.child.output
    }

    /// What the final answer made of what stood before it.
    pub(super) fn uses(&self, of: fn(&Uses) -> u64) -> Result<Value, Reason> {
        self.uses.as_ref().map(|uses| Value::Count(of(uses))).map_err(Reason::clone)
    }

    /// What became of follow-ups.
    pub(super) fn follow_ups(&self, of: fn(&FollowUps) -> u64) -> Result<Value, Reason> {
        self.follow_ups.as_ref().map(|counts| Value::Count(of(counts))).map_err(Reason::clone)
    }

    /// A way of counting input.
    pub(super) fn totals(&self, of: fn(&Totals) -> u64) -> Result<Value, Reason> {
        self.subject.children.clone()?;
        self.totals.as_ref().map(|totals| Value::Count(of(totals))).map_err(Reason::clone)
    }

    /// A class of input to a prompt cache; a range is no value.
    pub(super) fn cached(&self, of: fn(&cache::Usage) -> u64) -> Result<Value, Reason> {
        let (low, high) = self.cached_range(of)?;
        if low == high { Ok(Value::Count(low)) } else { Err(format!("the provider's rules leave a range: {low} to {high}").into()) }
    }

    /// The smaller or the larger end of the range that the rules leave.
    pub(super) fn cached_end(&self, of: fn(&cache::Usage) -> u64, end: fn(u64, u64) -> u64) -> Result<Value, Reason> {
        self.cached_range(of).map(|(low, high)| Value::Count(end(low, high)))
    }

    fn cached_range(&self, of: fn(&cache::Usage) -> u64) -> Result<(u64, u64), Reason> {
        self.subject.children.clone()?;
        self.cached.as_ref().map(|cached| (of(&cached.low), of(&cached.high))).map_err(Reason::clone)
    }

    /// What a cache gained or lost at the border between a parent and its children.
    pub(super) fn forked(&self, of: fn(&Forked) -> u64) -> Result<Value, Reason> {
        self.with_children()?;
        self.forked.as_ref().map(|forked| Value::Count(of(forked))).map_err(Reason::clone)
    }

    /// What the root's context costs once more, in dollars: read from the cache where one is simulated, else as new input.
    pub(super) fn next_turn(&self) -> Result<Value, Reason> {
        let prices = self.subject.prices.clone()?;
        let context = self.root_contexts.as_ref().map(|contexts| contexts.last).ok_or("the root sent no request")?;
        let tokens = match &self.cached {
            Ok(cached) if cached.low != cached.high => return Err("the provider's cache rules leave a range".into()),
            Ok(cached) if cached.low.read > 0 => Tokens { read: context, ..Tokens::default() },
            _ => Tokens { uncached: context, ..Tokens::default() },
        };
        prices.cost(&tokens).map(dollars).map_err(|why| why.to_string().into())
    }

    /// What all requests cost, in dollars; a range is no value.
    pub(super) fn cost(&self) -> Result<Value, Reason> {
        let (low, high) = self.cost_range()?;
        match low == high {
            true => Ok(dollars(low)),
            false => Err(format!("the provider's cache rules leave a range: {low} to {high} dollars").into()),
        }
    }

    /// The smaller or the larger end of that range.
    pub(super) fn cost_end(&self, end: fn(Usd, Usd) -> Usd) -> Result<Value, Reason> {
        self.cost_range().map(|(low, high)| dollars(end(low, high)))
    }

    fn cost_range(&self) -> Result<(Usd, Usd), Reason> {
        self.subject.children.clone()?;
        let (one, other) = self.cost.clone()?;
        Ok((one.min(other), one.max(other)))
    }

    fn with_children(&self) -> Result<(), Reason> {
        self.subject.children.clone()?;
        if self.has_children { Ok(()) } else { Err(NO_CHILD.into()) }
    }
}

/// Figures have six decimals; the sum itself is exact.
fn dollars(usd: Usd) -> Value {
    Value::Ratio(usd.trillionths() as f64 / 1e12)
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
