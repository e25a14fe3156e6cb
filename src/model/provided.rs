//! A model at a provider, or what it once said: the same player, with or without somebody to ask.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt;

use super::cassette::{Attempt, Cassette, Lane};
use super::wire::{Answer, Asking, Body, Calls, Delivery, Memory, Rendering, Trouble, TroubleKind};
use super::{Agent, FailedAttempt, FailureKind, Finished, Model, ModelError, Pending, Reply, Request, Stop, Took, Wall, ready};
use crate::scenario::marker::stands_in;
use crate::scenario::{Scenario, TopicIndex};
use crate::strategy::ThreadId;
use crate::transcript::Digest;

/// Sends what no cassette answers.
pub trait Line: Send + Sync {
    /// Sends a request, again where it may help, and writes down every attempt. The work begins at once, whoever polls.
    fn send(&self, sending: Sending) -> Heard;
}

/// What will have come back.
pub type Heard = Pin<Box<dyn Future<Output = Result<Vec<Attempt>, Unsent>> + Send>>;

/// A request that is about to be sent.
#[derive(Clone, Debug)]
pub struct Sending {
    /// Where it belongs.
    pub at: Lane,
    /// With what it is asked.
    pub asking: Asking,
    /// What is sent.
    pub body: Body,
    /// Its tokens as they are counted here: what a spending cap reckons with.
    pub tokens: u64,
}

/// Why nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsent {
    /// The spending cap would be passed.
    Cap(String),
    /// Somebody stopped the run.
    Interrupted,
    /// It cannot be sent, or what came could not be kept.
    Failed(String),
}

/// A model of a provider under one strategy.
#[derive(Clone)]
pub struct Provided {
    /// Its name in cell ids.
    pub name: String,
    /// With what it is asked.
    pub asking: Asking,
    /// What was recorded, and where to record.
    pub cassette: Option<Arc<Cassette>>,
    /// Whom to ask; `None`: nobody, the cassette is all there is.
    pub line: Option<Arc<dyn Line>>,
    /// What it plays.
    pub scenario: Arc<Scenario>,
    /// Who makes the calls, where the model does not.
    pub reader: Option<Arc<dyn Model>>,
    /// What its cells are called in a cassette, without the seed: `SCENARIO/STRATEGY`.
    pub cell: String,
}

impl Provided {
    fn cell_of(&self, seed: u64) -> String {
        format!("{}/{seed}", self.cell)
    }
}

impl Model for Provided {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn start(&self, seed: u64) -> Box<dyn Agent> {
        Box::new(Player {
            model: self.clone(),
            cell: self.cell_of(seed),
            seed,
            reader: self.reader.as_ref().map(|reader| reader.start(seed)),
            run: Rc::default(),
            used: vec![],
            begun: None,
            wall: Wall::default(),
        })
    }

    fn content(&self, seed: u64) -> Option<Digest> {
        let asking = Digest::of(&serde_json::to_string(&self.asking).unwrap_or_default());
        let replies = self.cassette.as_ref().and_then(|cassette| cassette.content(&self.cell_of(seed)));
        Some(Digest::chain(std::iter::once(asking).chain(replies)))
    }
}

/// What replies leave behind while requests go on.
#[derive(Default)]
struct RunState {
    memory: Memory,
    interrupted: bool,
    /// Trouble that may pass, or a cap: the cell is not at its end, whatever the engine made of it.
    unfinished: bool,
    sent: u64,
}

struct Player {
    model: Provided,
    cell: String,
    seed: u64,
    reader: Option<Box<dyn Agent>>,
    run: Rc<RefCell<RunState>>,
    /// The exchanges of the cassette that have answered.
    used: Vec<bool>,
    begun: Option<Instant>,
    wall: Wall,
}

impl Agent for Player {
    fn reply(&mut self, request: &Request<'_>) -> Pending {
        if let Some(reader) = &mut self.reader {
            match reader.reply(request).now_or_never() {
                Some(Ok(reply)) if reply.calls.is_empty() && !reply.text.trim().is_empty() && !request.aside => {}
                Some(other) => return ready(other),
                None => return ready(Err(ModelError::of_run("a reader always has its reply at once"))),
            }
        }
        let question = (self.model.asking.rendering == Rendering::Probe).then(|| probe(&self.model.scenario, request)).flatten();
        let body = self.model.asking.body(request, self.seed, &self.run.borrow().memory, question.as_deref());
        let body = match body {
            Ok(body) => body,
            Err(why) => return ready(Err(ModelError::of_run(format!("thread {}: {why}", request.path)))),
        };
        let (cell, lane) = (self.cell.clone(), request.path.to_owned());
        let at = Lane { cell, lane, turn: request.turn, exchange: request.exchange };
        let concluding = Concluding {
            asking: self.model.asking.clone(),
            scenario: self.model.scenario.clone(),
            run: self.run.clone(),
            inputs: body.inputs.clone(),
            at: at.clone(),
            tools: request.tools.iter().map(|tool| tool.name.to_string()).collect(),
        };
        if let Some(cassette) = &self.model.cassette {
            let (pieces, digest) = cassette.pieces(&body);
            let is_reply = |delivery: &Delivery| self.model.asking.read(delivery).is_ok_and(|answer| answer.stop != Stop::Partial);
            if let Some(attempts) = cassette.answer(&at, &digest, &mut self.used, is_reply) {
                self.wall.replayed += 1;
                return ready(concluding.conclude(attempts));
            }
            if self.model.line.is_none() {
                let miss = cassette.miss(&at, &pieces, &body, &self.used);
                return ready(Err(ModelError::of_run(format!("cassette {}: {}", cassette.name(), miss.in_a_line()))));
            }
        }
        let Some(line) = &self.model.line else {
            return ready(Err(ModelError::of_run("there is nobody to ask and no cassette: give a provider or a cassette")));
        };
        self.begun.get_or_insert_with(Instant::now);
        let heard = line.send(Sending { at, asking: self.model.asking.clone(), body, tokens: request.tokens });
        Box::pin(async move {
            match heard.await {
                Ok(attempts) => {
                    concluding.run.borrow_mut().sent += attempts.len() as u64;
                    concluding.conclude(attempts)
                }
                Err(unsent) => Err(concluding.unsent(unsent)),
            }
        })
    }

    fn finish(&mut self) -> Finished {
        let run = self.run.borrow();
        if self.model.line.is_none() {
            return Finished::default();
        }
        if let Some(cassette) = self.model.cassette.as_ref().filter(|_| !run.unfinished && !run.interrupted) {
            cassette.done(&self.cell);
        }
        let ms = self.begun.map_or(0, |begun| u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX));
        Finished { wall: Some(Wall { ms, sent: run.sent, ..self.wall }), interrupted: run.interrupted }
    }
}

/// What is needed to make a reply of what came back.
struct Concluding {
    asking: Asking,
    scenario: Arc<Scenario>,
    run: Rc<RefCell<RunState>>,
    inputs: Vec<Digest>,
    at: Lane,
    tools: Vec<String>,
}

impl Concluding {
    /// The reply of the last attempt, with the ones before it.
    fn conclude(&self, mut attempts: Vec<Attempt>) -> Result<Reply, ModelError> {
        let Some(last) = attempts.pop() else { return Err(ModelError::of_turn("nothing came back")) };
        let waits = attempts.iter().skip(1).map(|one| one.waited_ms).chain([last.waited_ms]);
        let failed = attempts.iter().zip(waits).map(|(one, then_ms)| FailedAttempt {
            ms: one.delivery.ms,
            then_ms,
            reported: self.asking.read(&one.delivery).ok().and_then(|answer| answer.usage),
        });
        let failed: Vec<FailedAttempt> = failed.collect();
        let ms = last.delivery.ms;
        match self.asking.read(&last.delivery) {
            Ok(answer) => Ok(self.reply(answer, ms, failed)),
            Err(trouble) => Err(self.trouble(&trouble, ms, failed)),
        }
    }

    fn reply(&self, answer: Answer, ms: u64, attempts: Vec<FailedAttempt>) -> Reply {
        self.run.borrow_mut().memory.remember(&answer, &self.inputs);
        let broken_calls = answer.broken_calls();
        // Where the reader makes the calls, the model's own are no answer.
        let mut calls = if wants_reader(&self.asking) { vec![] } else { answer.calls };
        for call in &mut calls {
            call.intent = self.intent_of(&call.name, &call.args);
        }
        // Plain renderings have no place to hand reasoning back in.
        let hands_back = self.asking.rendering == Rendering::Native;
        let reasoning = answer.reasoning.into_iter().filter(|_| hands_back).map(|one| one.part).collect();
        let (stop, reported) = (answer.stop, answer.usage);
        Reply { reasoning, text: answer.text, calls, took: Took::Ms(ms), reported, stop, broken_calls, attempts, ..Reply::default() }
    }

    fn trouble(&self, trouble: &Trouble, ms: u64, attempts: Vec<FailedAttempt>) -> ModelError {
        if trouble.kind.may_pass() {
            self.run.borrow_mut().unfinished = true;
        }
        let tried = attempts.len() + 1;
        let times = if tried > 1 { format!(" ({tried} attempts)") } else { String::new() };
        let message = format!("thread {}: {trouble}{times}", self.at.lane);
        let kind = if trouble.kind == TroubleKind::Overflow { FailureKind::Overflow } else { FailureKind::Model };
        ModelError { kind, ms, attempts, ..ModelError::of_turn(message) }
    }

    fn unsent(&self, why: Unsent) -> ModelError {
        let mut run = self.run.borrow_mut();
        run.unfinished = true;
        match why {
            Unsent::Cap(message) => ModelError { kind: FailureKind::Cap, ..ModelError::of_run(message) },
            Unsent::Interrupted => {
                run.interrupted = true;
                ModelError::of_run("the run was stopped")
            }
            Unsent::Failed(message) => ModelError::of_run(message),
        }
    }

    /// The intent that a call delegates, as far as its words tell: the one whose marker stands in its arguments, else the scenario's
    /// only one. Calls of the world's own tools delegate nothing.
    fn intent_of(&self, name: &str, args: &str) -> Option<String> {
        if self.scenario.world.tools.contains_key(name) || !self.tools.iter().any(|tool| tool == name) {
            return None;
        }
        let intents = &self.scenario.intents;
        let named = intents.iter().find(|intent| !intent.work.marker.is_empty() && stands_in(&intent.work.marker, args));
        named.or(if intents.len() == 1 { intents.first() } else { None }).map(|intent| intent.id.clone())
    }
}

/// What the answer to a request needs, as questions; `None`: nothing that the scenario knows of.
fn probe(scenario: &Scenario, request: &Request<'_>) -> Option<String> {
    let needs: Vec<TopicIndex> = match request.intent.and_then(|id| scenario.intent(id)) {
        Some(intent) => scenario.intents[intent].work.needs.clone(),
        None if request.thread == ThreadId::ROOT => scenario.needs_of_turn(scenario.turns.get((request.turn as usize).checked_sub(1)?)?),
        None => vec![],
    };
    // A deliverable is asked for by what it is made of.
    let topics = scenario.sources_of(&needs);
    let questions: Vec<String> = topics.into_iter().map(|topic| format!("What is the {}?", scenario.topics[topic].label)).collect();
    (!questions.is_empty()).then(|| questions.join(" "))
}

/// Whether somebody else makes the calls.
pub fn wants_reader(asking: &Asking) -> bool {
    asking.calls == Calls::Reader
}
