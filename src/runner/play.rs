//! One cell: a fresh run, on a runtime of its own where one is needed, folded into its record. Nothing that happens inside reaches another.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::engine::{ChildModel, Run, run};
use crate::ledger::{Failure, FailureKind, Outcome};
use crate::model::judge::{Judge, Judgement, rubric};
use crate::plan::{Cell, Stage};
use crate::results::{CellResult, FailureNote, JudgeNote, Number, Status, ThreadNote};
use crate::tokens::Meter;

use super::measure::{Measured, measure};
use super::threads::{Threads, threads_of};

/// What a cell leaves behind: its outcome is folded into this and dropped.
#[derive(Clone, Debug)]
pub struct CellRecord {
    /// Its line of the results.
    pub result: CellResult,
    /// What its threads were sent, if anybody wants it.
    pub threads: Option<Threads>,
    /// Whether somebody stopped it before its end: then it is told to nobody.
    pub interrupted: bool,
}

impl CellRecord {
    /// Roughly how many bytes it holds while it waits.
    pub fn weight(&self) -> usize {
        let threads = self.threads.as_ref().map_or(0, |threads| {
            let items: usize = threads.requests.iter().map(|request| request.items.len()).sum();
            threads.ledger.len() * 512 + items * 256 + threads.parts.len() * 64
        });
        4096 + threads
    }
}

/// Plays a cell to its end. Whatever goes wrong, a panic included, is in the record.
pub fn play(cell: &Cell, meter: &Meter, with_threads: bool) -> CellRecord {
    let played = catch_unwind(AssertUnwindSafe(|| {
        let outcome = outcome_of(cell, meter);
        let measured = measure(cell, &outcome, meter);
        let threads = with_threads.then(|| threads_of(&cell.name, &outcome, meter));
        let judged = if outcome.interrupted { vec![] } else { judged(cell, &outcome, meter) };
        CellRecord { result: result_of(cell, &outcome, measured, judged), threads, interrupted: outcome.interrupted }
    }));
    played.unwrap_or_else(|payload| {
        let message = format!("a panic inside the cell: {}", panic_words(payload.as_ref()));
        let failure = Failure { kind: FailureKind::Panic, message };
        let outcome = Outcome { failure: Some(failure), ..Outcome::default() };
        CellRecord {
            result: result_of(cell, &outcome, Measured::broken_off(cell, "the cell panicked"), vec![]),
            threads: with_threads.then(Threads::default),
            interrupted: false,
        }
    })
}

/// What judges say of the final answer. A failed run has none.
fn judged(cell: &Cell, outcome: &Outcome, meter: &Meter) -> Vec<JudgeNote> {
    if cell.judges.is_empty() {
        return vec![];
    }
    let Ok(scorer) = &cell.scorer else { return vec![] };
    let question = rubric(scorer.scenario(), &outcome.answer());
    let tokens = meter.text(&question).map_or(0, u64::from);
    let name = cell.name_in_cassettes();
    let one = |judge: &Arc<Judge>| {
        if outcome.failure.is_some() {
            return JudgeNote { judge: judge.name.clone(), score: None, reason: "the run failed".to_owned(), reported: None };
        }
        let judging = judge.judge(&name, &question, cell.id.seed, tokens);
        let judgement = tokio::runtime::Builder::new_current_thread().build().map(|runtime| runtime.block_on(judging));
        let Judgement { score, reason, reported } = judgement.unwrap_or_else(|why| Judgement {
            score: Err(format!("no runtime could be started: {why}")),
            reason: String::new(),
            reported: None,
        });
        let (score, reason) = match score {
            Ok(score) => (Number::real(score), reason),
            Err(why) => (None, why),
        };
        JudgeNote { judge: judge.name.clone(), score, reason, reported: reported.map(Into::into) }
    };
    cell.judges.iter().map(one).collect()
}

fn outcome_of(cell: &Cell, meter: &Meter) -> Outcome {
    let Stage { context, history, user, world, ceilings } = (cell.staging)();
    let running = run(Run {
        strategy: cell.strategy.as_ref(),
        agent: cell.model.start(cell.id.seed),
        context,
        history,
        user,
        world,
        meter: meter.clone(),
        ceilings,
        window: cell.window,
        latency: cell.latency,
        cache: cell.cache.as_ref().ok().cloned(),
        children: cell.children_model.as_ref().map(|child| ChildModel {
            window: child.window,
            latency: child.latency,
            cache: child.cache.as_ref().ok().cloned(),
        }),
    });
    let mut running = pin!(running);
    // A virtual model has its answers at once; only one that waits for somebody needs a runtime.
    if let Poll::Ready(outcome) = running.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        return outcome;
    }
    match tokio::runtime::Builder::new_current_thread().build() {
        Ok(runtime) => runtime.block_on(running),
        Err(why) => {
            let message = format!("no runtime could be started for this cell: {why}");
            Outcome { failure: Some(Failure { kind: FailureKind::Limit, message }), ..Outcome::default() }
        }
    }
}

fn result_of(cell: &Cell, outcome: &Outcome, measured: Measured, judged: Vec<JudgeNote>) -> CellResult {
    let expected = cell.expects_failure.as_deref();
    let status = match &outcome.failure {
        None => Status::Ok,
        Some(failure) if expected == Some(failure.kind.name()) => Status::ExpectedFailure,
        Some(_) => Status::Failed,
    };
    let mut requests: IndexMap<&Arc<str>, u64, FxBuildHasher> = outcome.threads.iter().map(|thread| (&thread.path, 0)).collect();
    for row in &outcome.rows {
        *requests.entry(&row.path).or_default() += 1;
    }
    CellResult {
        cell: cell.name.clone(),
        scenario: cell.id.scenario.clone(),
        size: cell.id.size,
        strategy: cell.id.strategy.clone(),
        model: cell.id.model.clone(),
        seed: cell.id.seed,
        evidence: cell.evidence,
        status,
        failure: outcome.failure.as_ref().map(|why| FailureNote { kind: why.kind.name().to_owned(), message: why.message.clone() }),
        fingerprint: cell.fingerprint().to_string(),
        metrics: measured.metrics,
        unmeasured: measured.unmeasured,
        checks: measured.checks,
        threads: requests.into_iter().map(|(path, requests)| ThreadNote { path: path.clone(), requests }).collect(),
        family: cell.family.clone(),
        notes: measured.notes,
        judged,
        wall: outcome.wall.map(Into::into),
    }
}

/// What a panic said; never where, since source paths differ from machine to machine.
fn panic_words(payload: &(dyn Any + Send)) -> String {
    let said = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    said.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it said nothing".to_owned())
}
