//! Microsoft Agent Framework: agents as tools, each with a fresh or a kept session; serial in .NET, beside each other in
//! Python; a counter of failing iterations that ends the run in .NET and takes the tools away in Python.

use std::collections::BTreeMap;

use serde_json::json;

use crate::strategy::{
    Act, AssistantTurn, Call, End, Event, New, Order, ParentView, Report, Route, RunContext, Scope, Session, Strategy, ThreadId, To, Turn,
    View, When,
};
use crate::transcript::{Body, Handle, Item, Means, Role, ToolCall};

use super::{call, task, text, tool};

/// Failing iterations in a row that are borne.
const ERRORS: u32 = 3;
/// What Python answers when a model calls tools that it no longer has.
const LIMIT: &str = "Function invocation limit reached before a final answer could be produced.";

/// The system.
pub struct Maf {
    /// The Python flavour; else .NET's.
    pub python: bool,
    /// One session an agent for the whole run; else a fresh one a call.
    pub kept: bool,
}

impl Strategy for Maf {
    fn id(&self) -> String {
        format!("maf@stub:kept={},python={}", self.kept, self.python)
    }
    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(Sessions { run: run.clone(), python: self.python, kept: self.kept, sessions: BTreeMap::new() })
    }
}

struct Sessions {
    run: RunContext,
    python: bool,
    kept: bool,
    sessions: BTreeMap<String, ThreadId>,
}

/// Iterations at the end of a turn in which a call failed.
fn failing(turn: &[Item]) -> u32 {
    let (mut row, mut group) = (0, None);
    let close = |group: &mut Option<bool>, row: &mut u32| match group.take() {
        Some(true) => *row += 1,
        Some(false) => *row = 0,
        None => {}
    };
    for item in turn {
        match item.body() {
            Body::Result { failed, .. } => group = Some(group.unwrap_or(false) || *failed),
            _ => close(&mut group, &mut row),
        }
    }
    close(&mut group, &mut row);
    row
}

/// The texts of a turn: all of them.
fn said(report: &Report<'_>, between: &str) -> String {
    let texts = report.items[report.own..].iter().filter(|item| item.role() == Some(Role::Assistant)).map(Item::text);
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(between)
}

impl Session for Sessions {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        match act {
            Act::Delegate(intent) => call(&intent.agent, json!({"task": intent.task})),
            Act::Continue { child, text, wake: true, .. } if self.kept => call(&child.0, json!({"task": text})),
            _ => None,
        }
    }

    fn view(&mut self, history: &[Item], at: &Scope<'_>) -> View {
        let mut view = View::of(&at.me().agent, &self.run);
        if at.me().depth == 0 {
            let others = self.run.agents.keys().filter(|name| **name != self.run.root);
            view = others.fold(view, |view, name| view.tool(tool(name)));
        }
        match (failing(&history[at.own..]), self.python) {
            (ERRORS.., true) => view.tools.clear(),
            (errors, false) if errors > ERRORS => view.stop = Some(End::Failed("Error: Function failed.".into())),
            _ => {}
        }
        view
    }

    fn turn(&mut self, reply: AssistantTurn, history: &[Item], at: &Scope<'_>) -> Turn {
        if self.python && failing(&history[at.own..]) >= ERRORS && !reply.calls.is_empty() {
            return Turn { text: LIMIT.into(), cut: reply.calls, finish: true, ..Turn::default() };
        }
        Turn { serial: !self.python, ..reply.into() }
    }

    fn route(&mut self, call: &ToolCall, _: ParentView<'_>, at: &Scope<'_>) -> Route {
        if at.me().depth > 0 || call.name == self.run.root || !self.run.agents.contains_key(&call.name) {
            return Route::Tool;
        }
        let items = vec![task(text(call, "task"))];
        Route::Do(vec![match self.sessions.get(&call.name) {
            Some(&thread) => Order::Put { to: To::Thread(thread), items, when: When::Overlap, by: Some(call.key) },
            None => Order::open(call.key, New { keep_failed: false, ..New::agent(&call.name) }, items),
        }])
    }

    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => vec![Order::input(items, When::Turn, at)],
            Event::Opened { by: Some(call), child: Ok(thread) } => {
                if self.kept {
                    self.sessions.insert(call.name.clone(), thread);
                }
                vec![]
            }
            Event::Opened { by: Some(call), child: Err(_) } => vec![Order::refuse(call, "Error: Function failed.")],
            Event::Ended(report) => {
                let Some(call) = report.by else { return vec![] };
                let handle = self.kept.then(|| Handle(call.name.clone()));
                vec![match (report.end, self.python) {
                    (End::Done, true) => Order::reply(call, said(&report, "")).meaning(Means::Returned(handle)),
                    (End::Done, false) => Order::reply(call, json!(said(&report, "\n")).to_string()).meaning(Means::Returned(handle)),
                    _ => Order::reply(call, "Error: Function failed.").failed().meaning(Means::Failed(handle)),
                }]
            }
            _ => vec![],
        }
    }
}
