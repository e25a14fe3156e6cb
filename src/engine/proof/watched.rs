//! A strategy with somebody looking over its shoulder: is what the engine shows it true?

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use crate::strategy::{
    Act, AssistantTurn, Call, End, Event, Order, ParentView, Route, RunContext, Scope, Session, Strategy, ThreadId, Turn, View,
};
use crate::transcript::{CallKey, Item, ToolCall, dangling};

/// What was not true.
pub type Lies = Arc<Mutex<Vec<String>>>;

/// The strategy, watched.
pub struct Watched<'a> {
    /// Which.
    pub strategy: &'a dyn Strategy,
    /// What dangles in the scenario's own history.
    pub tolerated: BTreeSet<Option<CallKey>>,
    /// Where it is written down.
    pub lies: Lies,
}

impl Strategy for Watched<'_> {
    fn id(&self) -> String {
        self.strategy.id()
    }
    fn hands_history_down(&self) -> bool {
        self.strategy.hands_history_down()
    }
    fn may_dangle(&self) -> bool {
        self.strategy.may_dangle()
    }
    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        let tolerated = if self.strategy.may_dangle() { None } else { Some(self.tolerated.clone()) };
        Box::new(WatchedSession { session: self.strategy.start(run), tolerated, lies: self.lies.clone() })
    }
}

struct WatchedSession {
    session: Box<dyn Session>,
    /// `None`: anything may dangle.
    tolerated: Option<BTreeSet<Option<CallKey>>>,
    lies: Lies,
}

impl WatchedSession {
    fn ensure(&self, holds: bool, why: impl FnOnce() -> String) {
        if !holds && let Ok(mut lies) = self.lies.lock() {
            lies.push(why());
        }
    }

    /// Ids are dense, parents are older than children, the thread in question exists.
    fn scope(&self, what: &str, at: &Scope<'_>) {
        let dense = at.threads.iter().enumerate().all(|(place, state)| state.id.0 as usize == place);
        let older = at.threads.iter().all(|state| match state.parent {
            None => state.id == ThreadId::ROOT && state.depth == 0,
            Some(parent) => parent < state.id && at.state(parent).depth + 1 == state.depth,
        });
        self.ensure(dense && older && (at.thread.0 as usize) < at.threads.len(), || format!("{what}: threads {:?}", at.threads));
    }

    /// Exactly these calls lack a result.
    fn loose(&self, what: &str, items: &[Item], expected: &[CallKey]) {
        let Some(tolerated) = &self.tolerated else { return };
        let found: BTreeSet<CallKey> = dangling(items).into_iter().filter(|key| !tolerated.contains(key)).flatten().collect();
        self.ensure(found == expected.iter().copied().collect(), || format!("{what}: {found:?} lack a result, not {expected:?}"));
    }
}

impl Session for WatchedSession {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        self.session.phrase(act)
    }

    fn view(&mut self, history: &[Item], at: &Scope<'_>) -> View {
        self.scope("view", at);
        self.ensure(at.busy(at.thread) && at.turn > 0 && at.own <= history.len(), || format!("view: {at:?}"));
        self.loose("view", history, &[]);
        self.session.view(history, at)
    }

    fn turn(&mut self, reply: AssistantTurn, history: &[Item], at: &Scope<'_>) -> Turn {
        self.scope("turn", at);
        // The request that is replied to has been sent.
        self.ensure(at.busy(at.thread) && at.exchange > 0, || format!("turn: {at:?}"));
        self.loose("turn", history, &[]);
        self.session.turn(reply, history, at)
    }

    /// All of the parent up to and including the delegating turn, each call answered or in flight, and nothing later.
    fn route(&mut self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Route {
        self.scope("route", at);
        self.loose("route", parent.items, parent.in_flight);
        let called = parent.items.iter().skip(at.own).filter_map(Item::as_call).any(|one| one == call);
        self.ensure(called && parent.in_flight.contains(&call.key), || format!("route: {call:?} is not in flight in its parent"));
        self.session.route(call, parent, at)
    }

    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        self.scope("deliver", at);
        match &event {
            Event::Input(_) => self.ensure(at.thread == ThreadId::ROOT, || "input for another thread than the root".into()),
            Event::Opened { child: Ok(child), .. } => {
                let known = at.threads.get(child.0 as usize).is_some_and(|state| state.parent == Some(at.thread));
                self.ensure(known && at.busy(*child), || format!("opened: {child:?} is no running child of {:?}", at.thread));
            }
            Event::Ended(report) => {
                self.ensure(at.me().last.as_ref() == Some(report.end), || {
                    format!("ended: {:?}, the state says {:?}", report.end, at.me().last)
                });
                self.ensure(at.thread != ThreadId::ROOT && report.own <= report.items.len(), || format!("ended: {at:?}"));
                self.loose("ended", report.items, &[]);
            }
            Event::Waiting { call, .. } => {
                let aborted = at.me().last == Some(End::Aborted);
                self.ensure(at.busy(at.thread) || aborted, || format!("waiting: {} of an idle thread", call.name));
            }
            Event::Opened { .. } | Event::Aside(_) => {}
        }
        self.session.deliver(event, at)
    }
}
