//! DeerFlow: blocking tasks under a quota that cuts calls, polled every five seconds, and a ledger of them that stands
//! anew in every request of the parent.

use serde_json::json;

use crate::strategy::{
    Act, AssistantTurn, Call, End, Event, New, Order, ParentView, Route, RunContext, Scope, Session, Splice, Strategy, Turn, View, When,
};
use crate::transcript::{Item, Means, Origin, ToolCall};

use super::{call, task, text, tool};

/// How often a running task is looked at, in milliseconds.
const POLL_MS: u64 = 5_000;
/// What a reply says whose calls were cut because nothing is left.
const SPENT: &str = "The delegation limit of this run is reached.";

/// The system.
pub struct DeerFlow {
    /// Tasks of one reply.
    pub at_once: usize,
    /// Tasks of a run.
    pub in_all: usize,
}

impl Strategy for DeerFlow {
    fn id(&self) -> String {
        format!("deerflow@stub:at_once={},in_all={}", self.at_once, self.in_all)
    }
    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(Quota { run: run.clone(), at_once: self.at_once, in_all: self.in_all })
    }
}

/// Everything else that it knows stands in the parent's history.
struct Quota {
    run: RunContext,
    at_once: usize,
    in_all: usize,
}

fn tasks(history: &[Item]) -> impl Iterator<Item = &ToolCall> {
    history.iter().filter_map(Item::as_call).filter(|call| call.name == "task")
}

/// The ledger of a history, newest first; `None`: nothing was delegated.
fn ledger(history: &[Item]) -> Option<Item> {
    let mut lines: Vec<String> = vec![];
    for call in tasks(history) {
        let result = history.iter().find(|item| item.answers() == Some(call.key)).map(Item::text);
        let state = match &result {
            None => "in_progress",
            Some(text) if text.starts_with("Task Succeeded.") => "completed",
            Some(_) => "failed",
        };
        lines.push(format!("- [{state}] {}", text(call, "description")));
    }
    lines.reverse();
    (!lines.is_empty()).then(|| Item::user(Origin::Delegated, format!("## Work already delegated\n{}", lines.join("\n"))).hide())
}

impl Session for Quota {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        let Act::Delegate(intent) = act else { return None };
        call("task", json!({"description": intent.title, "prompt": intent.task, "subagent_type": intent.agent}))
    }

    fn view(&mut self, history: &[Item], at: &Scope<'_>) -> View {
        let view = View::of(&at.me().agent, &self.run);
        if at.me().depth > 0 {
            return view;
        }
        let splices = ledger(history).map(|ledger| Splice { at: 0, remove: 0, items: vec![ledger], keep: false });
        View { splices: splices.into_iter().collect(), ..view.tool(tool("task")) }
    }

    fn turn(&mut self, reply: AssistantTurn, history: &[Item], _: &Scope<'_>) -> Turn {
        let left = self.in_all.saturating_sub(tasks(history).count());
        let mut allowed = left.min(self.at_once);
        let mut turn = Turn::from(reply);
        let mut made = vec![];
        for call in std::mem::take(&mut turn.calls) {
            match (call.name == "task", allowed) {
                (true, 0) => turn.cut.push(call),
                (true, _) => {
                    allowed -= 1;
                    made.push(call);
                }
                (false, _) => made.push(call),
            }
        }
        turn.calls = made;
        if !turn.cut.is_empty() && left == 0 {
            turn.text = if turn.text.is_empty() { SPENT.into() } else { format!("{}\n\n{SPENT}", turn.text) };
        }
        turn
    }

    fn route(&mut self, call: &ToolCall, _: ParentView<'_>, _: &Scope<'_>) -> Route {
        if call.name != "task" {
            return Route::Tool;
        }
        Route::Do(vec![Order::open(call.key, New::agent(text(call, "subagent_type")), vec![task(text(call, "prompt"))])])
    }

    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => vec![Order::input(items, When::Turn, at)],
            Event::Opened { by: Some(call), child: Err(why) } => vec![Order::refuse(call, format!("Task failed. Error: {why}"))],
            Event::Ended(report) => {
                let Some(call) = report.by else { return vec![] };
                let order = match report.end {
                    End::Done => {
                        let text = report.last_text().unwrap_or_else(|| "No response generated".into());
                        Order::reply(call, format!("Task Succeeded. Result: {text}")).meaning(Means::Returned(None))
                    }
                    End::Aborted => Order::reply(call, "Task cancelled by user.").meaning(Means::Failed(None)),
                    End::Failed(why) | End::Stopped(why) | End::Ceiling(why) => {
                        Order::reply(call, format!("Task failed. Error: {why}")).meaning(Means::Failed(None))
                    }
                };
                vec![order.after((POLL_MS - report.elapsed_ms % POLL_MS) % POLL_MS)]
            }
            _ => vec![],
        }
    }
}
