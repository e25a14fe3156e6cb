//! `spawn-agent`: the fan-out tool of a teaching coding agent (daiw.org's manual, chapter 18).
//!
//! One argument, `task`. The tool runs a whole fresh agent in the parent's folder, with its tools but this one, so that
//! children cannot spawn. What comes back is *all* text that the child's model wrote, over all its rounds, each piece
//! behind the last one with nothing between; a child that wrote nothing gives an empty result. Calls of one message run
//! side by side, and results stand in call order. What children spend counts for the parent: the inclusive figures are
//! that sum, and no budget is set here.
//!
//! The article states no round cap, no time-out, no cut of long results and no error texts. Chosen: the harness's ceilings
//! alone, results whole, and an error result that says what happened, without what the child had written by then. The
//! child has its agent's own system text.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::transcript::{Item, Means, Origin, ToolCall};

use super::{
    Act, AssistantTurn, Call, End, Event, New, Order, ParentView, Report, Route, RunContext, Scope, Session, Strategy, ThreadId, ToolSpec,
    Turn, View, When,
};

/// The tool that delegates.
const TOOL: &str = "spawn_agent";

/// The article's fan-out tool.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpawnAgent;

impl Strategy for SpawnAgent {
    fn id(&self) -> String {
        "spawn-agent@article-18".into()
    }

    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(SpawnSession { run: run.clone(), tool: tool(), written: BTreeMap::new() })
    }
}

fn tool() -> ToolSpec {
    let about = "Runs a sub-agent on a task of its own and returns what it wrote. It starts fresh, in the same folder and with the \
                 same tools, but cannot start sub-agents itself. Independent tasks can run at the same time.";
    ToolSpec::of_strings(TOOL, about, &[("task", "The task, with all that the sub-agent has to know.", true)])
}

struct SpawnSession {
    run: RunContext,
    tool: ToolSpec,
    /// What each child has written so far.
    written: BTreeMap<ThreadId, String>,
}

impl SpawnSession {
    fn spawn(call: &ToolCall, agent: &str) -> Order {
        let args = serde_json::from_str::<Value>(call.args.as_text()).unwrap_or_default();
        match args.get("task").and_then(Value::as_str) {
            Some(task) => Order::open(call.key, New::agent(agent), vec![Item::user(Origin::Task, task)]),
            None => Order::refuse(call, "Error: `spawn_agent` needs the argument `task`, a text."),
        }
    }

    /// The call's result when its child's turn has ended.
    fn answer(&mut self, call: &ToolCall, child: ThreadId, report: &Report<'_>) -> Order {
        let written = self.written.remove(&child).unwrap_or_default();
        let why = match report.end {
            End::Done => return Order::reply(call, written).meaning(Means::Returned(None)),
            End::Failed(why) => format!("Error: the sub-agent failed: {why}"),
            End::Stopped(why) | End::Ceiling(why) => format!("Error: the sub-agent was stopped: {why}"),
            End::Aborted => "Error: the sub-agent was cancelled.".to_owned(),
        };
        Order::reply(call, why).failed().meaning(Means::Failed(None))
    }
}

impl Session for SpawnSession {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        match act {
            Act::Delegate(intent) => Some(Call { name: TOOL.into(), args: json!({ "task": intent.task }).to_string() }),
            Act::Wait(_) | Act::Continue { .. } | Act::Close(_) | Act::Back | Act::Store(_) | Act::Read(_) => None,
        }
    }

    fn view(&mut self, _: &[Item], at: &Scope<'_>) -> View {
        let mut view = View::of(&at.me().agent, &self.run);
        // A request cannot show two tools of one name.
        view.tools.retain(|tool| tool.name != TOOL);
        if at.me().depth == 0 { view.tool(self.tool.clone()) } else { view }
    }

    fn turn(&mut self, reply: AssistantTurn, _: &[Item], at: &Scope<'_>) -> Turn {
        if at.me().depth > 0 {
            self.written.entry(at.thread).or_default().push_str(&reply.text);
        }
        reply.into()
    }

    fn route(&mut self, call: &ToolCall, _: ParentView<'_>, at: &Scope<'_>) -> Route {
        match call.name == TOOL && at.me().depth == 0 {
            true => Route::Do(vec![SpawnSession::spawn(call, &at.me().agent)]),
            false => Route::Tool,
        }
    }

    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => vec![Order::input(items, When::Turn, at)],
            Event::Ended(report) => report.by.map(|call| self.answer(call, at.thread, &report)).into_iter().collect(),
            Event::Opened { .. } | Event::Waiting { .. } | Event::Aside(_) => vec![],
        }
    }
}
