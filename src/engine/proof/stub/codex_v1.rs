//! Codex v1: spawned children under ids, a wait for any of them, and a notice for the parent once a child.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::strategy::{
    Act, Call, End, Event, New, Order, ParentView, Report, Route, RunContext, Scope, Session, Strategy, ThreadId, To, View, When,
};
use crate::transcript::{Handle, Item, Means, Origin, ToolCall};

use super::{argument, call, task, text, tool};

/// Children that may be open at once.
const OPEN: usize = 6;
/// The deepest child.
const DEPTH: u32 = 1;
/// Bounds and default of a wait, in milliseconds.
const WAIT_MS: (i64, i64, i64) = (10_000, 3_600_000, 30_000);

/// The system; it has no options here.
pub struct CodexV1;

impl Strategy for CodexV1 {
    fn id(&self) -> String {
        "codex-v1@stub".into()
    }
    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(Agents { run: run.clone(), children: BTreeMap::new(), inputs: 0 })
    }
}

struct Child {
    /// The status of its last turn, as the model reads it.
    status: Value,
    /// Closed children take no input and no slot.
    closed: bool,
    /// Whether the next end of a turn is told to the parent: once a spawn or resume.
    armed: bool,
}

struct Agents {
    run: RunContext,
    children: BTreeMap<ThreadId, Child>,
    inputs: u32,
}

fn id(thread: ThreadId) -> String {
    format!("a{}", thread.0)
}

impl Agents {
    fn find(&self, name: &str) -> Option<ThreadId> {
        self.children.keys().copied().find(|&thread| id(thread) == name)
    }

    /// Whether another child may be open, seen from the threads of this very moment.
    fn full(&self, at: &Scope<'_>) -> bool {
        let closed = |thread: &ThreadId| self.children.get(thread).is_some_and(|child| child.closed);
        at.below(ThreadId::ROOT).iter().filter(|thread| !closed(thread)).count() >= OPEN
    }

    fn status(&self, thread: ThreadId, at: &Scope<'_>) -> Value {
        if at.busy(thread) { json!("running") } else { self.children.get(&thread).map_or(json!("not_found"), |child| child.status.clone()) }
    }

    fn spawn(&self, call: &ToolCall, at: &Scope<'_>) -> Order {
        if text(call, "message").trim().is_empty() {
            return Order::refuse(call, "Empty message can't be sent to an agent");
        }
        if at.me().depth >= DEPTH {
            return Order::refuse(call, "Agent depth limit reached. Solve the task yourself.");
        }
        if self.full(at) {
            return Order::refuse(call, "collab spawn failed: agent thread limit reached");
        }
        let new = New { drain: false, ..New::agent(text(call, "agent_type")) };
        Order::open(call.key, new, vec![task(text(call, "message"))])
    }

    fn targets(call: &ToolCall) -> Vec<String> {
        let names = argument(call, "targets");
        names.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// All targets that are final now.
    fn waited(&self, call: &ToolCall, timed_out: bool, at: &Scope<'_>) -> Option<Order> {
        let mut final_ones = Map::new();
        let mut means = vec![];
        for name in Agents::targets(call) {
            let status = self.find(&name).map_or(json!("not_found"), |thread| self.status(thread, at));
            if status == "running" || status == "pending_init" {
                continue;
            }
            means.extend(meaning(&name, &status));
            final_ones.insert(name, status);
        }
        let nothing = final_ones.is_empty();
        let order = Order::reply(call, json!({"status": final_ones, "timed_out": nothing}).to_string());
        match (nothing, timed_out) {
            (false, _) => Some(means.into_iter().fold(order, Order::meaning)),
            (true, true) => Some(order.meaning(Means::TimedOut)),
            (true, false) => None,
        }
    }

    fn ended(&mut self, report: Report<'_>, at: &Scope<'_>) -> Vec<Order> {
        let status = match report.end {
            End::Done => json!({"completed": report.last_text()}),
            End::Aborted => json!("shutdown"),
            End::Failed(why) | End::Stopped(why) | End::Ceiling(why) => json!({"errored": why}),
        };
        let name = id(at.thread);
        let (Some(child), Some(parent)) = (self.children.get_mut(&at.thread), at.me().parent) else { return vec![] };
        child.status = status.clone();
        if !std::mem::take(&mut child.armed) {
            return vec![];
        }
        let body = json!({"agent_path": name, "status": status});
        let notice = Item::user(Origin::Delegated, format!("<subagent_notification>\n{body}\n</subagent_notification>"));
        vec![Order::put(parent, When::Notice, meaning(&name, &status).into_iter().fold(notice, Item::meaning))]
    }
}

/// What a final status tells about a child.
fn meaning(name: &str, status: &Value) -> Option<Means> {
    let handle = Some(Handle(name.into()));
    match status {
        Value::Object(one) if one.contains_key("completed") => Some(Means::Returned(handle)),
        _ => Some(Means::Failed(handle)),
    }
}

impl Session for Agents {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        match act {
            Act::Delegate(intent) => call("spawn_agent", json!({"message": intent.task, "agent_type": intent.agent})),
            Act::Wait(children) => {
                call("wait_agent", json!({"targets": children.iter().map(|child| child.0.as_str()).collect::<Vec<_>>()}))
            }
            Act::Continue { child, text, .. } => call("send_input", json!({"target": child.0, "message": text})),
            Act::Close(child) => call("close_agent", json!({"target": child.0})),
            Act::Back | Act::Store(_) | Act::Read(_) => None,
        }
    }

    fn view(&mut self, _: &[Item], at: &Scope<'_>) -> View {
        let tools = ["spawn_agent", "wait_agent", "send_input", "close_agent", "resume_agent"];
        tools.into_iter().fold(View::of(&at.me().agent, &self.run), |view, name| view.tool(tool(name)))
    }

    fn route(&mut self, call: &ToolCall, _: ParentView<'_>, at: &Scope<'_>) -> Route {
        let name = text(call, if call.name == "resume_agent" { "id" } else { "target" });
        let found = self.find(&name);
        let missing = Order::reply(call, format!("agent with id {name} not found")).failed();
        let orders = match (call.name.as_str(), found) {
            ("spawn_agent", _) => vec![self.spawn(call, at)],
            ("wait_agent", _) if Agents::targets(call).is_empty() => vec![Order::reply(call, "agent ids must be non-empty").failed()],
            ("wait_agent", _) => match argument(call, "timeout_ms").as_i64().unwrap_or(WAIT_MS.2) {
                ..=0 => vec![Order::reply(call, "timeout_ms must be greater than zero").failed()],
                ms => vec![Order::Wait { call: call.key, timeout_ms: ms.clamp(WAIT_MS.0, WAIT_MS.1).unsigned_abs() }],
            },
            ("send_input" | "close_agent", None) => vec![missing],
            ("send_input", Some(thread)) if self.children.get(&thread).is_some_and(|child| child.closed) => {
                vec![Order::reply(call, format!("agent with id {name} is closed")).failed()]
            }
            ("send_input", Some(thread)) => {
                self.inputs += 1;
                let reply = Order::reply(call, json!({"submission_id": format!("s{}", self.inputs)}).to_string());
                let items = vec![task(text(call, "message"))];
                let put = Order::Put { to: To::Thread(thread), items, when: When::Wake, by: Some(call.key) };
                vec![reply.meaning(Means::Started(Handle(name))), put]
            }
            ("close_agent", Some(thread)) => {
                let mut orders = vec![Order::reply(call, json!({"previous_status": self.status(thread, at)}).to_string())];
                for one in [vec![thread], at.below(thread)].concat() {
                    if let Some(child) = self.children.get_mut(&one) {
                        (child.closed, child.status) = (true, json!("shutdown"));
                    }
                    orders.push(Order::Stop { thread: one });
                }
                orders
            }
            ("resume_agent", None) => vec![Order::reply(call, json!({"status": "not_found"}).to_string())],
            ("resume_agent", Some(thread)) => {
                let status = json!({"status": self.status(thread, at)}).to_string();
                let full = self.full(at);
                match self.children.get_mut(&thread) {
                    Some(child) if child.closed && full => vec![Order::refuse(call, "collab tool failed: agent thread limit reached")],
                    Some(child) => {
                        (child.closed, child.armed) = (false, true);
                        vec![Order::reply(call, status)]
                    }
                    None => vec![missing],
                }
            }
            _ => return Route::Tool,
        };
        Route::Do(orders)
    }

    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => vec![Order::input(items, When::Notice, at)],
            Event::Opened { by: Some(call), child: Ok(thread) } => {
                self.children.insert(thread, Child { status: json!("pending_init"), closed: false, armed: true });
                vec![Order::reply(call, json!({"agent_id": id(thread)}).to_string()).meaning(Means::Started(Handle(id(thread))))]
            }
            Event::Opened { by: Some(call), child: Err(why) } => vec![Order::refuse(call, format!("collab spawn failed: {why}"))],
            Event::Ended(report) => self.ended(report, at),
            Event::Waiting { call, timed_out } => self.waited(call, timed_out, at).into_iter().collect(),
            _ => vec![],
        }
    }
}
