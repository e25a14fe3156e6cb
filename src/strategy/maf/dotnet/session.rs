//! One run under .NET's agents as tools.

use crate::strategy::{
    Act, AssistantTurn, Call, End, Event, Order, ParentView, Report, Route, RunContext, Scope, Session, Turn, View, When,
};
use crate::transcript::{Item, Means, Origin, ToolCall};

use super::super::child::{Ended, said};
use super::super::failing::{Exceptions, failed, iterations};
use super::super::offer::Offer;
use super::super::{ERRORS, FAILED, ITERATIONS, Joining, not_found, told};
use super::{MafDotNet, arguments, message};

pub(super) struct DotNetSession {
    joining: Joining,
    detailed: bool,
    offer: Offer,
    exceptions: Exceptions,
}

/// Whether the request behind this history is the last one of its turn.
fn is_last(history: &[Item], at: &Scope<'_>) -> bool {
    iterations(history.get(at.own..).unwrap_or_default()).count() >= ITERATIONS
}

impl DotNetSession {
    pub(super) fn new(strategy: MafDotNet, run: &RunContext) -> DotNetSession {
        let offer = Offer::new(run, strategy.kept, |agent| Some(strategy.offered(agent, &run.agent(agent))));
        let joining = Joining::DotNet(strategy.platform);
        DotNetSession { joining, detailed: strategy.application.detailed_errors, offer, exceptions: Exceptions::default() }
    }

    /// Whether a failed result stands for an exception: an unknown tool is none.
    fn threw(&self, result: &Item, turn: &[Item], at: &Scope<'_>) -> bool {
        let called = turn.iter().filter_map(Item::as_call).find(|call| result.answers() == Some(call.key));
        failed(result) && called.is_none_or(|call| self.offer.knows(&call.name, at))
    }

    /// How the run ends by an exception: the first one of an iteration behind three failing ones, or one that is never
    /// captured.
    fn leaving(&self, history: &[Item], at: &Scope<'_>) -> Option<End> {
        let turn = history.get(at.own..).unwrap_or_default();
        let mut row = 0;
        for results in iterations(turn) {
            let thrown = results.iter().find(|result| self.threw(result, turn, at));
            let one_too_many = thrown.filter(|_| row >= ERRORS).map(|result| End::Failed(self.exceptions.message(result)));
            if let Some(end) = self.exceptions.end(results).or(one_too_many) {
                return Some(end);
            }
            row = if thrown.is_some() { row + 1 } else { 0 };
        }
        None
    }

    /// The result of a call that threw.
    fn caught(&mut self, call: &ToolCall, message: &str) -> Order {
        self.exceptions.captured(call.key, message);
        Order::reply(call, told(FAILED, message, self.detailed)).failed()
    }

    fn answer(&mut self, call: &ToolCall, report: &Report<'_>) -> Order {
        let handle = self.offer.handle(call);
        match Ended::of(report.end) {
            // A request to the user is a content without text, and goes no further.
            Ended::Answered | Ended::Asks(_) => {
                Order::reply(call, message(Some(&said(report, self.joining)))).meaning(Means::Returned(handle))
            }
            Ended::Threw(why) => self.caught(call, why).meaning(Means::Failed(handle)),
            Ended::Cancelled => {
                self.exceptions.leaves(call.key, End::Failed("OperationCanceledException".into()));
                Order::reply(call, FAILED).failed().meaning(Means::Failed(handle))
            }
        }
    }
}

impl Session for DotNetSession {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        self.offer.phrase(act)
    }

    fn view(&mut self, history: &[Item], at: &Scope<'_>) -> View {
        let mut view = self.offer.view(at);
        view.stop = self.leaving(history, at);
        if is_last(history, at) {
            view.tools.clear();
        }
        view
    }

    fn turn(&mut self, reply: AssistantTurn, history: &[Item], at: &Scope<'_>) -> Turn {
        // What is called in reply to the last one, nobody makes.
        if is_last(history, at) && !reply.calls.is_empty() {
            return Turn { text: reply.text, cut: reply.calls, finish: true, ..Turn::default() };
        }
        Turn { serial: true, ..reply.into() }
    }

    fn route(&mut self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Route {
        if self.leaving(parent.items, at).is_some() {
            // An exception of an earlier call of this message is on its way out: nobody reads this.
            return Route::Do(vec![Order::refuse(call, FAILED)]);
        }
        let offered = self.offer.called(call, at).map(|one| (one.agent.clone(), arguments::query(call.args.as_text(), &one.argument)));
        match offered {
            Some((agent, Ok(query))) => Route::Do(vec![self.offer.open(call, &agent, vec![Item::user(Origin::Task, query)])]),
            Some((_, Err(why))) => Route::Do(vec![self.caught(call, &why).meaning(Means::Refused)]),
            None if self.offer.is_ordinary(&call.name, at) => Route::Tool,
            None => Route::Do(vec![Order::reply(call, not_found(&call.name)).failed()]),
        }
    }

    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => vec![Order::input(items, When::Turn, at)],
            Event::Opened { by: Some(call), child: Ok(thread) } => {
                self.offer.opened(call, thread);
                vec![]
            }
            Event::Opened { by: Some(call), child: Err(why) } => vec![self.caught(call, why).meaning(Means::Refused)],
            Event::Ended(report) => report.by.map(|call| self.answer(call, &report)).into_iter().collect(),
            Event::Opened { .. } | Event::Waiting { .. } | Event::Aside(_) => vec![],
        }
    }
}
