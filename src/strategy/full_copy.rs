//! `full-copy`: the child begins with all that its parent knows.

use serde_json::Value;

use crate::transcript::{Item, Means, Origin, ToolCall};

use super::filter::{self, Rule};
use super::{Act, Call, Event, New, Order, ParentView, Report, Route, RunContext, Scope, Session, Strategy, ToolSpec, View, When};

/// The tool that delegates.
const TOOL: &str = "delegate";

/// The baseline that hands everything down. The child is the parent once more: same system prompt, same tools but the
/// one that delegates, a copy of all items up to the delegating turn with an in-flight [`Rule`] applied, then the task
/// as a user message. The call blocks; its result is the child's last assistant text.
///
/// A child that fails, is stopped or ends without any text gives an error result: nothing is passed off as an answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct FullCopy {
    /// What becomes of the calls in flight.
    pub in_flight: Rule,
}

impl Strategy for FullCopy {
    fn id(&self) -> String {
        match self.in_flight {
            Rule::DropCall => "full-copy@1".into(),
            rule => format!("full-copy@1:in_flight={rule}"),
        }
    }

    fn hands_history_down(&self) -> bool {
        true
    }

    fn may_dangle(&self) -> bool {
        self.in_flight.may_dangle()
    }

    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(FullCopySession { in_flight: self.in_flight, run: run.clone(), tool: tool() })
    }
}

fn tool() -> ToolSpec {
    let about = "Starts a sub-agent that knows this whole conversation and has your other tools. It works on the task by itself and \
                 cannot start sub-agents; its last message comes back as this call's result.";
    ToolSpec::of_strings(TOOL, about, &[("task", "What the sub-agent should do and report.", true)])
}

struct FullCopySession {
    in_flight: Rule,
    run: RunContext,
    tool: ToolSpec,
}

impl Session for FullCopySession {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        match act {
            Act::Delegate(intent) => Some(Call { name: TOOL.into(), args: serde_json::json!({ "task": intent.task }).to_string() }),
            Act::Wait(_) | Act::Continue { .. } | Act::Close(_) | Act::Back | Act::Store(_) | Act::Read(_) => None,
        }
    }

    fn view(&mut self, _: &[Item], at: &Scope<'_>) -> View {
        let mut view = View::of(&at.me().agent, &self.run);
        // A request cannot show two tools of one name.
        view.tools.retain(|tool| tool.name != TOOL);
        if at.me().depth == 0 { view.tool(self.tool.clone()) } else { view }
    }

    fn route(&mut self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Route {
        if call.name != TOOL {
            return Route::Tool;
        }
        Route::Do(vec![self.delegate(call, parent, at)])
    }

    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => vec![Order::input(items, When::Turn, at)],
            Event::Ended(report) => report.by.map(|call| answer(call, &report)).into_iter().collect(),
            Event::Opened { .. } | Event::Waiting { .. } | Event::Aside(_) => vec![],
        }
    }
}

impl FullCopySession {
    fn delegate(&self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Order {
        if at.me().depth > 0 {
            return Order::refuse(call, "Error: a sub-agent cannot start sub-agents; do the work here.");
        }
        let args = serde_json::from_str::<Value>(call.args.as_text()).unwrap_or_default();
        let Some(task) = args.get("task").and_then(Value::as_str) else {
            return Order::refuse(call, "Error: `delegate` needs the argument `task`, a text.");
        };
        let mut items = filter::apply(self.in_flight, parent.items, parent.in_flight, at.own);
        items.push(Item::user(Origin::Task, task));
        Order::open(call.key, New::agent(at.me().agent.as_str()), items)
    }
}

/// The call's result when its child's turn has ended.
fn answer(call: &ToolCall, report: &Report<'_>) -> Order {
    match report.answer() {
        Ok(text) => Order::reply(call, text).meaning(Means::Returned(None)),
        Err(why) => Order::reply(call, format!("Error: {why}")).failed().meaning(Means::Failed(None)),
    }
}
