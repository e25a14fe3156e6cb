//! One run under Python's agents as tools.

use crate::strategy::{
    Act, AssistantTurn, Call, End, Event, Order, ParentView, Report, Route, RunContext, Scope, Session, Turn, View, When,
};
use crate::transcript::{Item, Means, Origin, ToolCall};

use super::super::child::{Ended, said, unanswered};
use super::super::earlier_names::EarlierNames;
use super::super::failing::{Exceptions, failed, iterations};
use super::super::offer::Offer;
use super::super::{ERRORS, FAILED, ITERATIONS, Joining, not_found, told};
use super::stored::Stored;
use super::{MafPython, Profile, arguments};

/// A missing, extra or non-text argument.
const ARGUMENTS: &str = "Error: Argument parsing failed.";
/// What ends the turn of a model that still calls tools when they are off, and says nothing else.
const LIMIT: &str = "Function invocation limit reached before a final answer could be produced.";
/// The request of a tool that a person must approve.
const APPROVAL: &str = "function_approval_request";

pub(super) struct PythonSession {
    profile: &'static Profile,
    detailed: bool,
    offer: Offer,
    exceptions: Exceptions,
    /// The parent's session, where it is propagated.
    stored: Option<Stored>,
    names: EarlierNames,
}

/// Whether tools are off for the request behind this history.
fn off(history: &[Item], at: &Scope<'_>) -> bool {
    let turn = history.get(at.own..).unwrap_or_default();
    let row = iterations(turn).fold(0, |row, results| if results.iter().any(failed) { row + 1 } else { 0 });
    iterations(turn).count() >= ITERATIONS || row >= ERRORS
}

/// Why a child that asks for approvals is an error: which tools it asks for, and advice in this project's own words.
fn unapproved(tool: &str, asked: &[&str]) -> String {
    let names = if asked.is_empty() { "<unknown>".to_owned() } else { asked.join(", ") };
    format!(
        "Agent tool '{tool}' cannot continue because its sub-agent requested approval for {names}. Give the sub-agent a \
         ToolApprovalMiddleware whose auto_approval_rules decide on the spot. An approval that a person gives, that takes \
         time or that must be kept calls for a workflow."
    )
}

impl PythonSession {
    pub(super) fn new(strategy: MafPython, run: &RunContext) -> PythonSession {
        let kept = strategy.kept && !strategy.propagate_session;
        let offer = Offer::new(run, kept, |agent| strategy.offered(agent, &run.agent(agent)));
        let stored = strategy.propagate_session.then(Stored::default);
        let (profile, detailed) = (strategy.profile, strategy.application.detailed_errors);
        PythonSession { profile, detailed, offer, exceptions: Exceptions::default(), stored, names: EarlierNames::default() }
    }

    fn caught(&self, call: &ToolCall, message: &str) -> Order {
        Order::reply(call, told(FAILED, message, self.detailed)).failed()
    }

    fn answer(&mut self, call: &ToolCall, report: &Report<'_>) -> Order {
        let handle = self.offer.handle(call);
        let failed = Means::Failed(handle.clone());
        match Ended::of(report.end) {
            Ended::Answered => {
                if let Some(stored) = &mut self.stored {
                    stored.leave(report.items);
                }
                Order::reply(call, said(report, Joining::Python)).meaning(Means::Returned(handle))
            }
            Ended::Threw(why) => self.caught(call, why).meaning(failed),
            Ended::Cancelled => {
                self.exceptions.leaves(call.key, End::Failed("CancelledError".into()));
                Order::reply(call, FAILED).failed().meaning(failed)
            }
            Ended::Asks(requests) => {
                if self.profile.approvals_stay && requests.iter().all(|request| *request == APPROVAL) {
                    return self.caught(call, &unapproved(&call.name, &unanswered(report))).meaning(failed);
                }
                // The caller's run ends with the request in its hands, and goes on when it is answered.
                self.exceptions.leaves(call.key, End::Stopped("UserInputRequiredException".into()));
                Order::reply(call, FAILED).failed().meaning(failed)
            }
        }
    }
}

impl Session for PythonSession {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        self.offer.phrase(act)
    }

    fn view(&mut self, history: &[Item], at: &Scope<'_>) -> View {
        let mut view = self.offer.view(at);
        if let Some(stored) = self.stored.as_mut().filter(|_| at.me().depth == 0) {
            stored.turn(at.turn, at.own);
            view.splices = stored.splices(at.turn);
        }
        view.splices.extend(self.names.splices(history, &view.agent, at));
        // What is put in before an item comes before what the item becomes.
        view.splices.sort_by_key(|splice| (splice.at, splice.remove));
        view.stop = iterations(history.get(at.own..).unwrap_or_default()).find_map(|results| self.exceptions.end(results));
        if off(history, at) {
            view.tools.clear();
        }
        view
    }

    fn turn(&mut self, reply: AssistantTurn, history: &[Item], at: &Scope<'_>) -> Turn {
        let view = self.offer.view(at);
        let name = Some(self.names.of(&view.agent));
        let finished = |text| Turn { text, finish: true, name: name.clone(), ..Turn::default() };
        if reply.calls.is_empty() {
            return Turn { name, ..reply.into() };
        }
        // An agent without tools is not run in the loop that makes calls: what it called, nobody makes.
        if view.tools.is_empty() {
            return Turn { cut: reply.calls, ..finished(reply.text) };
        }
        if off(history, at) {
            // What it said stays; the fixed text stands only where it said nothing that can be seen.
            let text = if reply.text.trim().is_empty() { LIMIT.into() } else { reply.text };
            return Turn { cut: reply.calls, ..finished(text) };
        }
        Turn { name, ..reply.into() }
    }

    fn route(&mut self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Route {
        let offered =
            self.offer.called(call, at).map(|one| (one.agent.clone(), arguments::text(call.args.as_text(), &one.argument, &one.tool.name)));
        match offered {
            Some((agent, Ok(task))) => {
                let mut items = self.stored.as_ref().map(|stored| stored.read(parent.items)).unwrap_or_default();
                items.push(Item::user(Origin::Task, task));
                Route::Do(vec![self.offer.open(call, &agent, items)])
            }
            Some((_, Err(why))) => Route::Do(vec![Order::refuse(call, told(ARGUMENTS, &why, self.detailed))]),
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
