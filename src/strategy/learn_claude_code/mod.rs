//! `learn-claude-code`: the sub-agents of step 4 of a course that builds a coding agent (shareAI-lab/learn-claude-code at
//! 0f691a0, `agents/s04_subagent.py`; its loop was run against a fake client).
//!
//! `task(prompt)` starts a loop of its own with the prompt alone, a one-sentence system text, and the parent's tools but
//! this one. Thirty requests at most; the text of the last response comes back, whatever ended the loop. Calls run one after
//! another, children too. Nothing is caught: a call without an argument that its tool requires ends the whole run, in a
//! child as in the parent.
//!
//! The course's four tools (bash, read, write, edit) are the agent's own here. Assumed: a child whose exchange fails, or
//! that meets a ceiling of the harness, gives an error result (in the course the client's exception would end the run).
//! Not here: `max_tokens` of 8,000, which no scenario's model meets (vectors bring it as a reason to stop).

pub(crate) mod rounds;

use std::collections::BTreeMap;

use crate::transcript::{Body, Item, Means, Origin, Part, ToolCall};

use super::{
    Act, AssistantTurn, Call, End, Event, New, Order, ParentView, Report, Route, RunContext, Scope, Session, Splice, Strategy, ThreadId,
    ToolSpec, Turn, View, When,
};

use rounds::Rounds;

/// The tool that delegates.
pub(crate) const TOOL: &str = "task";

/// A child's whole system text: about 20 tokens. The folder is the one that every scenario's files are in.
const SYSTEM: &str = "You are a coding sub-agent at /workspace. Do the given task, then sum up what you found.";

/// The course's sub-agents.
#[derive(Clone, Copy, Debug, Default)]
pub struct LearnClaudeCode;

impl Strategy for LearnClaudeCode {
    fn id(&self) -> String {
        "learn-claude-code@0f691a0".into()
    }

    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(CourseSession { run: run.clone(), tool: tool(), children: BTreeMap::new(), raised: None })
    }
}

fn tool() -> ToolSpec {
    let about = "Starts a sub-agent with a fresh context. It has the same files and tools, but none of this conversation.";
    let schema = serde_json::json!({"type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"]});
    ToolSpec::new(TOOL, about, schema)
}

struct CourseSession {
    run: RunContext,
    tool: ToolSpec,
    children: BTreeMap<ThreadId, Rounds>,
    /// An exception on its way out: no thread sends anything any more.
    raised: Option<String>,
}

impl CourseSession {
    /// The tools of a thread.
    fn tools(&self, at: &Scope<'_>) -> Vec<ToolSpec> {
        let mut tools = self.run.agent(&at.me().agent).tools;
        // A request cannot show two tools of one name.
        tools.retain(|tool| tool.name != TOOL);
        if at.me().depth == 0 {
            tools.push(self.tool.clone());
        }
        tools
    }

    /// An exception that nobody catches: the call's result is never read.
    fn raise(&mut self, call: &ToolCall, why: String) -> Order {
        self.raised = Some(why.clone());
        Order::reply(call, why).failed()
    }

    /// The call's result when its child's turn has ended.
    fn answer(&mut self, call: &ToolCall, child: ThreadId, report: &Report<'_>) -> Order {
        let rounds = self.children.remove(&child).unwrap_or_default();
        let why = match report.end {
            End::Done | End::Stopped(_) => return Order::reply(call, rounds.summary()).meaning(Means::Returned(None)),
            End::Failed(why) | End::Ceiling(why) => format!("Error: {why}"),
            End::Aborted => "Error: the sub-agent was aborted.".to_owned(),
        };
        Order::reply(call, why).failed().meaning(Means::Failed(None))
    }
}

/// Changes of a child's history: outputs that are too long stay cut.
fn cuts(history: &[Item]) -> Vec<Splice> {
    let cut = |(at, item): (usize, &Item)| {
        let Body::Result { key, failed, .. } = item.body() else { return None };
        let text = item.text();
        let parts = vec![Part::text(rounds::cut(&text)?)];
        let mut shorter = Item::new(Body::Result { key: *key, parts, failed: *failed }, item.origin);
        (shorter.hidden, shorter.means) = (item.hidden, item.means.clone());
        Some(Splice { at, remove: 1, items: vec![shorter], keep: true })
    };
    history.iter().enumerate().filter_map(cut).collect()
}

impl Session for CourseSession {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        match act {
            Act::Delegate(intent) => Some(Call { name: TOOL.into(), args: serde_json::json!({ "prompt": intent.task }).to_string() }),
            Act::Wait(_) | Act::Continue { .. } | Act::Close(_) | Act::Back | Act::Store(_) | Act::Read(_) => None,
        }
    }

    fn view(&mut self, history: &[Item], at: &Scope<'_>) -> View {
        let mut view = View { tools: self.tools(at), ..View::of(&at.me().agent, &self.run) };
        view.stop = self.raised.clone().map(End::Failed);
        if at.me().depth > 0 {
            view.system = Some(SYSTEM.into());
            view.splices = cuts(history);
            if view.stop.is_none() && !self.children.entry(at.thread).or_default().asks() {
                view.stop = Some(End::Stopped("its rounds are over".into()));
            }
        }
        view
    }

    fn turn(&mut self, reply: AssistantTurn, _: &[Item], at: &Scope<'_>) -> Turn {
        if at.me().depth > 0 {
            self.children.entry(at.thread).or_default().replied(reply.text.clone());
        }
        Turn { serial: true, ..Turn::from(reply) }
    }

    fn route(&mut self, call: &ToolCall, _: ParentView<'_>, at: &Scope<'_>) -> Route {
        let tools = self.tools(at);
        let Some(tool) = tools.iter().find(|tool| tool.name == call.name) else {
            return Route::Do(vec![Order::reply(call, rounds::unknown_tool(&call.name))]);
        };
        let args = call.args.as_text();
        if call.name != TOOL {
            return match rounds::missing(tool.schema.as_text(), args) {
                Some(key) => Route::Do(vec![self.raise(call, rounds::key_error(&key))]),
                None => Route::Tool,
            };
        }
        Route::Do(vec![match rounds::prompt(args) {
            Ok(prompt) => Order::open(call.key, New::agent(at.me().agent.as_str()), vec![Item::user(Origin::Task, prompt)]),
            Err(why) => self.raise(call, why).meaning(Means::Refused),
        }])
    }

    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => vec![Order::input(items, When::Turn, at)],
            Event::Ended(report) => report.by.map(|call| self.answer(call, at.thread, &report)).into_iter().collect(),
            Event::Opened { .. } | Event::Waiting { .. } | Event::Aside(_) => vec![],
        }
    }
}
