//! The one engine: an event queue and the agent loop. It alone acts, and it alone awaits a model.
//!
//! An instant is: arrivals in order of registration, then waits asked (by call key), then requests sent, then settle
//! (the next user turn, or the end). Every exchange and every tool lasts at least one millisecond, so nothing can go
//! round within an instant. Rows are opened when a request is sent.

mod caching;
mod calls;
mod instant;
mod log;
pub(crate) mod mutation;
mod orders;
#[cfg(test)]
mod proof;
mod queue;
mod send;
mod state;
#[cfg(test)]
mod tests;
mod turns;

pub use crate::setting::{Ceilings, UserInput, UserTime, World};

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::ledger::{Delegation, Failure, FailureKind, Fate, Outcome, Row, ThreadRecord};
use crate::model::{Agent, profile::Latency};
use crate::setting::PromptCache;
use crate::strategy::{ReturnContract, RunContext, Scope, Session, Splice, Strategy, ThreadId, ThreadState, ToolSpec};
use crate::tokens::{CountError, Meter};
use crate::transcript::{CallKey, Item, Origin, dangling};

use caching::Caching;

use log::Logs;
use queue::Queue;
use state::{Arrival, LiveTurn, OpenCall, Thread, TurnIndex};

/// Everything that one run is made of.
pub struct Run<'a> {
    /// The strategy.
    pub strategy: &'a dyn Strategy,
    /// The player of every thread.
    pub agent: Box<dyn Agent>,
    /// The agents.
    pub context: RunContext,
    /// What the root's history holds before the first turn.
    pub history: Vec<Item>,
    /// The user's messages, in order.
    pub user: Vec<UserInput>,
    /// Files and tools.
    pub world: Box<dyn World>,
    /// Counts tokens; shared with other runs.
    pub meter: Meter,
    /// The harness's limits.
    pub ceilings: Ceilings,
    /// The model's window in tokens; `None`: no limit.
    pub window: Option<u64>,
    /// How long an exchange lasts where the model does not say.
    pub latency: Latency,
    /// The provider's prompt cache; `None`: nothing is read from one.
    pub cache: Option<PromptCache>,
    /// The model of every thread but the root, where it is another one.
    pub children: Option<ChildModel>,
}

/// What a run takes of the model that plays its children.
#[derive(Clone, Debug)]
pub struct ChildModel {
    /// Its window in tokens; `None`: no limit.
    pub window: Option<u64>,
    /// How long an exchange lasts where the model does not say.
    pub latency: Latency,
    /// Its provider's prompt cache; without one of its own or of the root no thread meets any.
    pub cache: Option<PromptCache>,
}

/// Plays a run to its end. Whatever goes wrong is in [`Outcome::failure`]; rows already written stay.
pub async fn run(run: Run<'_>) -> Outcome {
    let mut engine = Engine::new(run);
    engine.play().await;
    engine.finish()
}

/// Why the engine stops at once.
#[derive(Debug)]
pub(crate) struct Stop;

/// Rounds of waits and requests within one instant: what a real system needs is a handful.
const ROUNDS: u32 = 1_000;

/// How deep orders may follow from orders: an opened child's answer is one, a stopped child's child another.
const NESTED: u32 = 100;

/// Most engine steps either go on or have set [`Engine::failure`].
type Step = Result<(), Stop>;

struct Engine {
    session: Box<dyn Session>,
    may_dangle: bool,
    return_contract: ReturnContract,
    agent: Box<dyn Agent>,
    world: Box<dyn World>,
    meter: Meter,
    ceilings: Ceilings,
    window: Option<u64>,
    latency: Latency,
    /// Window and latency of every thread but the root, where they are others.
    of_children: Option<(Option<u64>, Latency)>,
    caching: Option<Caching>,
    /// Items of the root's history that lie in the cache when the run begins.
    warm: Option<usize>,
    /// Calls and results that dangle in the scenario's own history: no strategy's fault.
    tolerated: BTreeSet<Option<CallKey>>,
    user: VecDeque<Vec<Item>>,
    now: u64,
    queue: Queue<Arrival>,
    /// What most requests have for splices, and turns for tools before they ask.
    no_splices: Arc<[Splice]>,
    no_tools: Arc<[ToolSpec]>,
    logs: Logs,
    threads: Vec<Thread>,
    states: Vec<ThreadState>,
    turns: Vec<LiveTurn>,
    calls: Vec<OpenCall>,
    /// Calls that wait, and whether their time is up.
    waiting: BTreeMap<CallKey, bool>,
    first_key: u32,
    rows: Vec<Row>,
    delegations: Vec<Delegation>,
    failure: Option<Failure>,
    /// Something changed since waits were last asked.
    changed: bool,
    /// Rounds of waits and requests in this instant.
    rounds: u32,
    /// Orders that follow from orders, as deep as now.
    nested: u32,
    /// The longest chain of work that led to what is being decided now.
    chain: u64,
    spent: u64,
    refusals: u32,
    late_replies: u32,
    tools_ms: u64,
    first_input_ms: Option<u64>,
    root_done: (u64, u64),
}

impl Engine {
    fn new(run: Run<'_>) -> Engine {
        let session = run.strategy.start(&run.context);
        let first_key = run
            .history
            .iter()
            .filter_map(|item| item.as_call().map(|call| call.key.0).or(item.answers().map(|key| key.0)))
            .max()
            .map_or(0, |key| key.saturating_add(1));
        let of_children = run.children.as_ref().map(|children| (children.window, children.latency));
        let (cache, child_cache) = match run.children {
            None => (run.cache, None),
            Some(children) => run.cache.zip(children.cache).map_or((None, None), |(cache, child)| (Some(cache), Some(child))),
        };
        let warm = cache.as_ref().filter(|cache| cache.warm).map(|_| run.history.len());
        let mut engine = Engine {
            session,
            caching: cache.map(|cache| Caching::new(cache, child_cache, run.meter.clone())),
            of_children,
            warm,
            may_dangle: run.strategy.may_dangle(),
            return_contract: run.strategy.return_contract(),
            agent: run.agent,
            world: run.world,
            meter: run.meter,
            ceilings: run.ceilings,
            window: run.window,
            latency: run.latency,
            tolerated: dangling(&run.history).into_iter().collect(),
            user: VecDeque::new(),
            now: 0,
            queue: Queue::new(),
            no_splices: Arc::from([]),
            no_tools: Arc::from([]),
            logs: Logs::default(),
            threads: Vec::new(),
            states: Vec::new(),
            turns: Vec::new(),
            calls: Vec::new(),
            waiting: BTreeMap::new(),
            first_key,
            rows: Vec::new(),
            delegations: Vec::new(),
            failure: None,
            changed: false,
            rounds: 0,
            nested: 0,
            chain: 0,
            spent: 0,
            refusals: 0,
            late_replies: 0,
            tools_ms: 0,
            first_input_ms: None,
            root_done: (0, 0),
        };
        engine.open_thread(None, run.context.root.clone(), true, true, None);
        for input in run.user {
            match input.when {
                UserTime::Settled => engine.user.push_back(input.items),
                UserTime::At(ms) => engine.queue.at(ms, Arrival::User { items: input.items }),
            }
        }
        for item in run.history {
            // Stopping here leaves the failure set: `play` then does nothing.
            if engine.record(ThreadId::ROOT, item).is_err() {
                break;
            }
        }
        engine
    }

    /// The window of a thread's model.
    fn window_of(&self, thread: ThreadId) -> Option<u64> {
        self.of_children.filter(|_| thread != ThreadId::ROOT).map_or(self.window, |(window, _)| window)
    }

    /// How long the exchanges of a thread's model last.
    fn latency_of(&self, thread: ThreadId) -> Latency {
        self.of_children.filter(|_| thread != ThreadId::ROOT).map_or(self.latency, |(_, latency)| latency)
    }

    /// Stops the run for a reason. The first reason stands.
    fn fail(&mut self, kind: FailureKind, message: impl Into<String>) -> Stop {
        if self.failure.is_none() {
            self.failure = Some(Failure { kind, message: message.into() });
        }
        Stop
    }

    /// Stops the run because the strategy broke a rule of the seam.
    fn fault(&mut self, thread: ThreadId, message: impl std::fmt::Display) -> Stop {
        let path = self.threads[thread.0 as usize].path.clone();
        self.fail(FailureKind::Strategy, format!("thread {path} at {} ms: {message}", self.now))
    }

    fn uncountable(&mut self, why: CountError) -> Stop {
        self.fail(FailureKind::Limit, why.to_string())
    }

    /// The state that strategies see, brought up to date.
    fn sync(&mut self, thread: ThreadId) {
        self.changed = true;
        if mutation::is(mutation::Mutation::ScopeStale) {
            return;
        }
        let one = &self.threads[thread.0 as usize];
        let input = one.inbox.iter().filter(|letter| letter.item.origin == Origin::User).count();
        let state = &mut self.states[thread.0 as usize];
        (state.id, state.parent, state.depth) = (thread, one.parent, one.depth);
        (state.running, state.waiting) = (one.live.len() as u32, one.queue.len() as u32);
        (state.mail, state.input) = (one.inbox.len() - input, input);
        state.last_used_ms = one.last_used_ms;
        // Both seldom change, and a copy is an allocation.
        if state.agent != one.agent {
            state.agent.clone_from(&one.agent);
        }
        if state.last != one.last {
            state.last.clone_from(&one.last);
        }
    }

    /// A scope for a decision about a turn.
    fn scope_of<'s>(states: &'s [ThreadState], world: &'s dyn World, turn: &LiveTurn, now_ms: u64) -> Scope<'s> {
        let (number, exchange) = (turn.number, turn.exchanges);
        Scope { thread: turn.thread, turn: number, exchange, own: turn.own, now_ms, threads: states, files: world.files() }
    }

    /// A scope for a decision about a thread between turns.
    fn scope_between(&self, thread: ThreadId) -> Scope<'_> {
        let turn = self.threads[thread.0 as usize].turns;
        Scope { thread, turn, exchange: 0, own: 0, now_ms: self.now, threads: &self.states, files: self.world.files() }
    }

    fn call(&self, key: CallKey) -> Option<&OpenCall> {
        self.calls.get(key.0.checked_sub(self.first_key)? as usize)
    }

    fn call_mut(&mut self, key: CallKey) -> Option<&mut OpenCall> {
        self.calls.get_mut(key.0.checked_sub(self.first_key)? as usize)
    }

    fn is_over(&self, turn: TurnIndex) -> bool {
        self.turns[turn].stage == state::Stage::Over
    }

    fn finish(mut self) -> Outcome {
        let finished = self.agent.finish();
        for row in &mut self.rows {
            if row.fate == Fate::Open {
                row.fate = Fate::Abandoned;
            }
        }
        if mutation::is(mutation::Mutation::OpenRowsDropped) {
            self.rows.retain(|row| row.fate != Fate::Abandoned);
        }
        let threads = self
            .threads
            .iter()
            .enumerate()
            .map(|(at, thread)| {
                // What a running turn had is the thread's history as far as it came.
                let live = thread.live.last().map(|&turn| self.turns[turn].log);
                let (log, length) = live.map_or((thread.base.log, thread.base.length), |log| (log, self.logs.0[log].len()));
                ThreadRecord {
                    id: ThreadId(at as u32),
                    parent: thread.parent,
                    path: thread.path.clone(),
                    depth: thread.depth,
                    agent: thread.agent.clone(),
                    intent: thread.intent.clone(),
                    opened_ms: thread.opened_ms,
                    last: thread.last.clone(),
                    abandoned: at > 0 && !thread.live.is_empty(),
                    log,
                    length,
                }
            })
            .collect();
        let start = self.first_input_ms.unwrap_or(0);
        let end = if self.failure.is_some() { self.now } else { self.root_done.0 };
        Outcome {
            rows: self.rows,
            threads,
            logs: self.logs.0.into_iter().map(|log| log.log).collect(),
            delegations: self.delegations,
            failure: self.failure,
            refusals: self.refusals,
            late_replies: self.late_replies,
            span_ms: (start, end.max(start)),
            tools_ms: self.tools_ms,
            critical_path_ms: self.root_done.1,
            wall: finished.wall,
            interrupted: finished.interrupted,
        }
    }

    fn open_thread(&mut self, parent: Option<ThreadId>, agent: String, drain: bool, keep_failed: bool, intent: Option<String>) -> ThreadId {
        let id = ThreadId(self.threads.len() as u32);
        let (path, depth): (Arc<str>, u32) = match parent {
            None => ("/".into(), 0),
            Some(parent) => {
                let parent = &mut self.threads[parent.0 as usize];
                parent.children += 1;
                let stem = if parent.depth == 0 { "" } else { &*parent.path };
                (format!("{stem}/{}", parent.children).into(), parent.depth + 1)
            }
        };
        let base = self.logs.open();
        self.threads.push(Thread {
            parent,
            path,
            depth,
            agent: agent.clone(),
            intent,
            opened_ms: self.now,
            drain,
            keep_failed,
            children: 0,
            base,
            commits: 0,
            turns: 0,
            live: Vec::new(),
            queue: VecDeque::new(),
            inbox: VecDeque::new(),
            last: None,
            last_used_ms: self.now,
            last_row: None,
            rendered: Vec::new(),
            rendered_row: None,
        });
        self.states.push(ThreadState {
            id,
            parent,
            depth,
            agent,
            running: 0,
            waiting: 0,
            mail: 0,
            input: 0,
            last: None,
            last_used_ms: self.now,
        });
        self.sync(id);
        id
    }
}
