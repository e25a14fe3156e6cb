//! A hand-off: control moves to another agent on the same thread, which forgets the tool items of the time before.

use serde_json::json;

use crate::strategy::{Act, Call, Order, ParentView, Route, RunContext, Scope, Session, Splice, Strategy, View};
use crate::transcript::{Item, Means, ToolCall};

use super::{call, tool};

const TRANSFER: &str = "transfer_to_";

/// The system.
pub struct HandOff;

impl Strategy for HandOff {
    fn id(&self) -> String {
        "hand-off@stub".into()
    }
    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(Line { run: run.clone(), active: run.root.clone(), came_from: vec![], moved: None, filter: false })
    }
}

/// The root's line of control.
struct Line {
    run: RunContext,
    active: String,
    came_from: Vec<String>,
    /// Turn and exchange of the last hand-off: the second one of a reply is refused.
    moved: Option<(u32, u32)>,
    /// The next request drops the tool items that stand now.
    filter: bool,
}

/// Splices that drop all calls but hand-offs, with their results.
fn without_tools(history: &[Item]) -> Vec<Splice> {
    let mut dropped = vec![];
    let mut splices: Vec<Splice> = vec![];
    for (at, item) in history.iter().enumerate() {
        match item.as_call() {
            Some(call) if !call.name.starts_with(TRANSFER) => dropped.push(call.key),
            _ if item.answers().is_some_and(|key| dropped.contains(&key)) => {}
            _ => continue,
        }
        match splices.last_mut() {
            Some(last) if last.at + last.remove == at => last.remove += 1,
            _ => splices.push(Splice { at, remove: 1, items: vec![], keep: true }),
        }
    }
    splices
}

impl Session for Line {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        let to = match act {
            Act::Delegate(intent) => &intent.agent,
            Act::Back => self.came_from.last()?,
            _ => return None,
        };
        call(&format!("{TRANSFER}{to}"), json!({}))
    }

    fn view(&mut self, history: &[Item], _: &Scope<'_>) -> View {
        let others = self.run.agents.keys().filter(|name| **name != self.active);
        let view = others.fold(View::of(&self.active, &self.run), |view, name| view.tool(tool(&format!("{TRANSFER}{name}"))));
        let splices = if std::mem::take(&mut self.filter) { without_tools(history) } else { vec![] };
        View { splices, ..view }
    }

    fn route(&mut self, call: &ToolCall, _: ParentView<'_>, at: &Scope<'_>) -> Route {
        let Some(to) = call.name.strip_prefix(TRANSFER) else { return Route::Tool };
        if self.moved.replace((at.turn, at.exchange)) == Some((at.turn, at.exchange)) {
            return Route::Do(vec![Order::refuse(call, "Multiple handoffs detected, ignoring this one.")]);
        }
        if self.came_from.last().is_some_and(|last| last == to) {
            self.came_from.pop();
        } else {
            self.came_from.push(self.active.clone());
        }
        self.active = to.into();
        self.filter = true;
        Route::Do(vec![Order::reply(call, json!({"assistant": to}).to_string()).meaning(Means::Moved)])
    }
}
