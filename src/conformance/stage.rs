//! A session driven by hand: the threads, calls and events that the engine would bring, at whatever state a vector asks
//! for. It executes orders as the engine does (depth first, each before the next decision) but knows no clock and no model:
//! turns end when [`Stage::end`] says so.

use std::collections::{BTreeMap, VecDeque};

use crate::strategy::{
    AssistantTurn, End, Event, New, Order, ParentView, Report, Route, RunContext, Scope, Session, Strategy, ThreadId, ThreadState, To,
    Turn, View, When,
};
use crate::transcript::{CallKey, Item, Means, Origin, ToolCall};

/// What a call was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// The text.
    pub text: String,
    /// Whether it is an error.
    pub failed: bool,
    /// What it means.
    pub means: Vec<Means>,
    /// How much later it comes, in milliseconds.
    pub after_ms: u64,
}

/// Items that an order put into a thread.
#[derive(Clone, Debug)]
pub struct Put {
    /// The thread.
    pub thread: ThreadId,
    /// The call that did it, if one did.
    pub by: Option<CallKey>,
    /// Whether the thread was opened by it.
    pub opened: bool,
    /// When they enter.
    pub when: When,
    /// The items.
    pub items: Vec<Item>,
}

/// See the module.
pub struct Stage {
    session: Box<dyn Session>,
    threads: Vec<ThreadState>,
    calls: BTreeMap<CallKey, ToolCall>,
    said: BTreeMap<CallKey, Said>,
    puts: Vec<Put>,
    written: Vec<(String, String)>,
    waiting: Vec<CallKey>,
    /// Turns queued behind a running one, by thread: the call that opens each.
    queued: BTreeMap<ThreadId, VecDeque<Option<CallKey>>>,
    /// The call that opened each thread's running turn.
    opener: BTreeMap<ThreadId, CallKey>,
    /// Virtual milliseconds.
    pub now_ms: u64,
    /// The world's files by path.
    pub files: BTreeMap<String, String>,
}

/// How deep orders may follow from orders, as in the engine.
const NESTED: u32 = 100;

impl Stage {
    /// A run with its root in its first turn.
    pub fn new(strategy: &dyn Strategy, run: &RunContext) -> Stage {
        Stage::of(strategy.start(run), &run.root)
    }

    /// The same with a session that its owner can look into.
    pub fn of(session: Box<dyn Session>, root: &str) -> Stage {
        let mut stage = Stage {
            session,
            threads: vec![],
            calls: BTreeMap::new(),
            said: BTreeMap::new(),
            puts: vec![],
            written: vec![],
            waiting: vec![],
            queued: BTreeMap::new(),
            opener: BTreeMap::new(),
            now_ms: 0,
            files: BTreeMap::new(),
        };
        stage.push(None, root);
        stage
    }

    fn push(&mut self, parent: Option<ThreadId>, agent: &str) -> ThreadId {
        // The stage holds a handful of threads.
        let id = ThreadId(self.threads.len() as u32);
        let depth = parent.map_or(0, |parent| self.threads[parent.0 as usize].depth + 1);
        self.threads.push(ThreadState {
            id,
            parent,
            depth,
            agent: agent.to_owned(),
            running: 1,
            waiting: 0,
            mail: 0,
            input: 0,
            last: None,
            last_used_ms: self.now_ms,
        });
        id
    }

    /// A thread that no call of this stage opened, running: an ancestor of the caller, say.
    pub fn open(&mut self, parent: ThreadId, agent: &str) -> ThreadId {
        self.push(Some(parent), agent)
    }

    /// A thread's state, to be set as a vector asks.
    pub fn state(&mut self, thread: ThreadId) -> &mut ThreadState {
        // Ids are minted by `push` alone.
        &mut self.threads[thread.0 as usize]
    }

    /// A call without its turn: keys are minted in order.
    pub fn draft(&mut self, id: &str, name: &str, args: &str) -> ToolCall {
        let used = self.calls.keys().next_back().map_or(CALLS, |key| key.0 + 1);
        let call = ToolCall {
            key: CallKey(used),
            id: if id.is_empty() { format!("call_{used}") } else { id.to_owned() },
            name: name.to_owned(),
            args: args.into(),
            intent: None,
            recorded: None,
        };
        self.calls.insert(call.key, call.clone());
        call
    }

    /// What a thread's next request is made of: the view, and the history with the view's splices.
    pub fn request(&mut self, thread: ThreadId, history: &[Item], own: usize) -> (View, Vec<Item>) {
        let view = self.session.view(history, &scope(&self.threads, &self.files, thread, own, self.now_ms));
        let items = crate::ledger::splice(history, &view.splices);
        (view, items)
    }

    /// What becomes of a thread's reply.
    pub fn reply(&mut self, thread: ThreadId, reply: AssistantTurn, history: &[Item], own: usize) -> Turn {
        self.session.turn(reply, history, &scope(&self.threads, &self.files, thread, own, self.now_ms))
    }

    /// The reply to a thread's aside.
    pub fn aside(&mut self, thread: ThreadId, reply: AssistantTurn) {
        let orders = self.session.deliver(Event::Aside(reply), &scope(&self.threads, &self.files, thread, 0, self.now_ms));
        self.execute(thread, orders, 0);
    }

    /// Makes a call of a thread with this history (the call itself among it, or not); `None`: it is an ordinary tool's.
    pub fn call(&mut self, caller: ThreadId, call: &ToolCall, history: &[Item], own: usize) -> Option<()> {
        let parent = ParentView { items: history, in_flight: &[call.key] };
        match self.session.route(call, parent, &scope(&self.threads, &self.files, caller, own, self.now_ms)) {
            Route::Tool => None,
            Route::Do(orders) => {
                self.execute(caller, orders, 0);
                self.ask();
                Some(())
            }
        }
    }

    /// Ends a thread's running turn, whose items begin at `own` in its history.
    pub fn end(&mut self, thread: ThreadId, end: &End, history: &[Item], own: usize, elapsed_ms: u64) {
        let by = self.opener.get(&thread).and_then(|key| self.calls.get(key)).cloned();
        let state = self.state(thread);
        state.running = state.running.saturating_sub(1);
        state.last = Some(end.clone());
        let report = Report { by: by.as_ref(), end, items: history, own, elapsed_ms, tokens: 0 };
        let orders = self.session.deliver(Event::Ended(report), &scope(&self.threads, &self.files, thread, 0, self.now_ms));
        self.execute(thread, orders, 0);
        // What is queued behind it begins, unless the session has stopped the thread.
        if let Some(by) = self.queued.get_mut(&thread).and_then(VecDeque::pop_front) {
            if let Some(by) = by {
                self.opener.insert(thread, by);
            }
            let state = self.state(thread);
            (state.running, state.waiting) = (1, state.waiting.saturating_sub(1));
        }
        self.ask();
    }

    /// Asks every wait whether it is over, as the engine does at the end of an instant.
    fn ask(&mut self) {
        for key in self.waiting.clone() {
            self.ask_one(key, false);
        }
        let said = &self.said;
        self.waiting.retain(|key| !said.contains_key(key));
    }

    fn ask_one(&mut self, key: CallKey, timed_out: bool) {
        let Some(call) = self.calls.get(&key).cloned() else { return };
        // Only the root waits in vectors.
        let event = Event::Waiting { call: &call, timed_out };
        let orders = self.session.deliver(event, &scope(&self.threads, &self.files, ThreadId::ROOT, 0, self.now_ms));
        self.execute(ThreadId::ROOT, orders, 0);
    }

    fn execute(&mut self, caller: ThreadId, orders: Vec<Order>, nested: u32) {
        if nested == NESTED {
            return;
        }
        for order in orders {
            match order {
                Order::Reply { call, text, more: _, failed, means, after_ms } => {
                    self.said.insert(call, Said { text: text.as_text().to_owned(), failed, means, after_ms });
                }
                Order::Put { to: To::New(New { agent, .. }), items, when, by } => {
                    let child = self.push(Some(caller), &agent);
                    if let Some(by) = by {
                        self.opener.insert(child, by);
                    }
                    self.puts.push(Put { thread: child, by, opened: true, when, items });
                    let call = by.and_then(|key| self.calls.get(&key)).cloned();
                    let event = Event::Opened { by: call.as_ref(), child: Ok(child) };
                    let follow = self.session.deliver(event, &scope(&self.threads, &self.files, caller, 0, self.now_ms));
                    self.execute(caller, follow, nested + 1);
                }
                Order::Put { to: To::Thread(thread), items, when, by } => {
                    self.enter(thread, when, by, &items);
                    self.puts.push(Put { thread, by, opened: false, when, items });
                }
                Order::Wait { call, .. } => self.waiting.push(call),
                Order::Stop { thread } => {
                    self.queued.remove(&thread);
                    let state = self.state(thread);
                    let was = std::mem::take(&mut state.running);
                    state.waiting = 0;
                    if was > 0 {
                        state.last = Some(End::Aborted);
                        let by = self.opener.get(&thread).and_then(|key| self.calls.get(key)).cloned();
                        let report = Report { by: by.as_ref(), end: &End::Aborted, items: &[], own: 0, elapsed_ms: 0, tokens: 0 };
                        let follow = self.session.deliver(Event::Ended(report), &scope(&self.threads, &self.files, thread, 0, self.now_ms));
                        self.execute(thread, follow, nested + 1);
                    }
                }
                Order::Write { path, text } => self.written.push((path, text)),
            }
        }
    }

    /// What items do to a thread that exists.
    fn enter(&mut self, thread: ThreadId, when: When, by: Option<CallKey>, items: &[Item]) {
        let user = items.iter().filter(|item| item.origin == Origin::User).count();
        let state = &mut self.threads[thread.0 as usize];
        let busy = state.running > 0;
        let starts = match when {
            When::Turn | When::Overlap => true,
            When::Wake => !busy,
            When::Notice | When::Mail => false,
        };
        if !starts {
            state.mail += items.len() - user;
            state.input += user;
        } else if busy && when == When::Turn {
            state.waiting += 1;
            self.queued.entry(thread).or_default().push_back(by);
        } else {
            state.running += 1;
            if let Some(by) = by {
                self.opener.insert(thread, by);
            }
        }
    }

    /// What a call was answered; `None`: it is open.
    pub fn said(&self, call: CallKey) -> Option<&Said> {
        self.said.get(&call)
    }

    /// Everything that was put into threads, in order.
    pub fn puts(&self) -> &[Put] {
        &self.puts
    }

    /// What a call opened a thread with, or put into one.
    pub fn put_by(&self, call: CallKey) -> Option<&Put> {
        self.puts.iter().find(|put| put.by == Some(call))
    }

    /// Files that were written, in order: path and text.
    pub fn written(&self) -> &[(String, String)] {
        &self.written
    }
}

/// The first key that a stage mints: what a vector's own history uses lies below.
const CALLS: u32 = 1_000_000;

fn scope<'a>(threads: &'a [ThreadState], files: &'a BTreeMap<String, String>, thread: ThreadId, own: usize, now_ms: u64) -> Scope<'a> {
    Scope { thread, turn: 1, exchange: 1, own, now_ms, threads, files }
}
