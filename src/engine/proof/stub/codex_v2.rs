//! Codex v2: children under paths, mail between agents, a final answer for the parent after every turn of a child.

use std::collections::BTreeMap;

use serde_json::json;

use crate::strategy::AssistantTurn;
use crate::strategy::{
    Act, Call, End, Event, New, Order, ParentView, Report, Route, RunContext, Scope, Session, Strategy, ThreadId, To, Turn, View, When,
};
use crate::transcript::{Body, Handle, Item, Means, Origin, Part, ToolCall};

use super::{argument, call, text, tool};

/// Child turns that may run at once: four sessions, the root's included.
const RUNNING: usize = 3;
/// Shortest, longest and default wait, in milliseconds.
const WAIT_MS: (u64, u64, u64) = (10_000, 3_600_000, 30_000);

/// The system. `phases`: the wire says which text is commentary; without it, text beside a call looks final too.
pub struct CodexV2 {
    /// See above.
    pub phases: bool,
}

impl Strategy for CodexV2 {
    fn id(&self) -> String {
        format!("codex-v2@stub:phases={}", self.phases)
    }
    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        let paths = BTreeMap::from([("/root".to_owned(), ThreadId::ROOT)]);
        Box::new(Mailboxes { run: run.clone(), phases: self.phases, paths })
    }
}

struct Mailboxes {
    run: RunContext,
    phases: bool,
    paths: BTreeMap<String, ThreadId>,
}

fn mail(from: &str, to: &str, kind: &str, body: &str, origin: Origin) -> Item {
    let head = format!("Message Type: {kind}\nTask name: {to}\nSender: {from}\nPayload:\n{body}");
    Item::new(Body::Mail { from: from.into(), to: to.into(), parts: vec![Part::text(head)] }, origin)
}

impl Mailboxes {
    fn path(&self, thread: ThreadId) -> String {
        self.paths.iter().find(|(_, one)| **one == thread).map(|(path, _)| path.clone()).unwrap_or_default()
    }

    /// A target as named by a thread: absolute, or below its own path.
    fn target(&self, call: &ToolCall, at: &Scope<'_>) -> (String, Option<ThreadId>) {
        let name = text(call, "target");
        let path = if name.starts_with('/') { name } else { format!("{}/{name}", self.path(at.thread)) };
        let thread = self.paths.get(&path).copied();
        (path, thread)
    }

    fn full(at: &Scope<'_>) -> bool {
        at.below(ThreadId::ROOT).iter().filter(|&&thread| at.busy(thread)).count() >= RUNNING
    }

    fn spawn(&self, call: &ToolCall, at: &Scope<'_>) -> Order {
        let from = self.path(at.thread);
        let path = format!("{from}/{}", text(call, "task_name"));
        if text(call, "message").trim().is_empty() {
            return Order::refuse(call, "Empty message can't be sent to an agent");
        }
        if Mailboxes::full(at) {
            return Order::refuse(call, "collab spawn failed: agent thread limit reached");
        }
        if self.paths.contains_key(&path) {
            return Order::refuse(call, format!("agent path `{path}` already exists"));
        }
        let new = New { drain: false, ..New::agent(text(call, "agent_type")) };
        Order::open(call.key, new, vec![mail(&from, &path, "NEW_TASK", &text(call, "message"), Origin::Task)])
    }

    fn send(&self, call: &ToolCall, wake: bool, at: &Scope<'_>) -> Vec<Order> {
        let (path, Some(thread)) = self.target(call, at) else {
            return vec![Order::reply(call, format!("live agent path `{}` not found", self.target(call, at).0)).failed()];
        };
        if wake && thread == ThreadId::ROOT {
            return vec![Order::reply(call, "Follow-up tasks can't target the root agent").failed()];
        }
        if wake && !at.busy(thread) && Mailboxes::full(at) {
            return vec![Order::refuse(call, "collab tool failed: agent thread limit reached")];
        }
        let (kind, when) = if wake { ("NEW_TASK", When::Wake) } else { ("MESSAGE", When::Mail) };
        let items = vec![mail(&self.path(at.thread), &path, kind, &text(call, "message"), Origin::Task)];
        let put = Order::Put { to: To::Thread(thread), items, when, by: Some(call.key) };
        vec![Order::reply(call, "").meaning(Means::Started(Handle(text(call, "target")))), put]
    }

    /// `None`: nothing to report yet. Input wins over mail; neither's content is told.
    fn waited(call: &ToolCall, timed_out: bool, at: &Scope<'_>) -> Option<Order> {
        let said = match () {
            () if at.me().input > 0 => "Wait interrupted by new input.",
            () if at.me().mail > 0 => "Wait completed.",
            () if timed_out => "Wait timed out.",
            () => return None,
        };
        let asked = argument(call, "timeout_ms").as_u64().unwrap_or(WAIT_MS.2);
        let least = WAIT_MS.0;
        let clamped = format!("\n\nRequested timeout of {asked}ms was clamped to the minimum of {least}ms.");
        let order = Order::reply(call, format!("{said}{}", if asked < least { clamped.as_str() } else { "" }));
        Some(if said == "Wait timed out." { order.meaning(Means::TimedOut) } else { order })
    }

    fn ended(&self, report: Report<'_>, at: &Scope<'_>) -> Vec<Order> {
        let Some(parent) = at.me().parent else { return vec![] };
        let (from, to) = (self.path(at.thread), self.path(parent));
        let handle = Some(Handle(from.clone()));
        let (said, means) = match report.end {
            End::Done => (report.last_text().unwrap_or_default(), Means::Returned(handle)),
            End::Aborted => return vec![],
            End::Failed(why) | End::Stopped(why) | End::Ceiling(why) => (format!("Agent errored: {why}"), Means::Failed(handle)),
        };
        vec![Order::put(parent, When::Mail, mail(&from, &to, "FINAL_ANSWER", &said, Origin::Delegated).meaning(means))]
    }
}

impl Session for Mailboxes {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        match act {
            Act::Delegate(intent) => {
                let name = intent.id.to_ascii_lowercase();
                call("spawn_agent", json!({"message": intent.task, "task_name": name, "agent_type": intent.agent}))
            }
            Act::Wait(_) => call("wait_agent", json!({})),
            Act::Continue { child, text, wake, .. } => {
                call(if *wake { "followup_task" } else { "send_message" }, json!({"target": child.0, "message": text}))
            }
            Act::Close(child) => call("interrupt_agent", json!({"target": child.0})),
            Act::Back | Act::Store(_) | Act::Read(_) => None,
        }
    }

    fn view(&mut self, _: &[Item], at: &Scope<'_>) -> View {
        let tools = ["spawn_agent", "send_message", "followup_task", "wait_agent", "interrupt_agent"];
        tools.into_iter().fold(View::of(&at.me().agent, &self.run), |view, name| view.tool(tool(name)))
    }

    fn turn(&mut self, reply: AssistantTurn, _: &[Item], _: &Scope<'_>) -> Turn {
        let shut = !reply.text.trim().is_empty() && (reply.calls.is_empty() || !self.phases);
        Turn { shut, ..reply.into() }
    }

    fn route(&mut self, call: &ToolCall, _: ParentView<'_>, at: &Scope<'_>) -> Route {
        Route::Do(match call.name.as_str() {
            "spawn_agent" => vec![self.spawn(call, at)],
            "send_message" => self.send(call, false, at),
            "followup_task" => self.send(call, true, at),
            "wait_agent" => match argument(call, "timeout_ms").as_u64().unwrap_or(WAIT_MS.2) {
                ms if ms > WAIT_MS.1 => vec![Order::reply(call, "timeout_ms must be at most 3600000").failed()],
                ms => vec![Order::Wait { call: call.key, timeout_ms: ms.max(WAIT_MS.0) }],
            },
            "interrupt_agent" => match self.target(call, at) {
                (_, Some(thread)) if thread != ThreadId::ROOT => {
                    let status = if at.busy(thread) { "running" } else { "completed" };
                    vec![Order::reply(call, json!({"previous_status": status}).to_string()), Order::Stop { thread }]
                }
                (_, Some(_)) => vec![Order::reply(call, "root is not a spawned agent").failed()],
                (path, None) => vec![Order::reply(call, format!("live agent path `{path}` not found")).failed()],
            },
            _ => return Route::Tool,
        })
    }

    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => vec![Order::input(items, When::Notice, at)],
            Event::Opened { by: Some(call), child: Ok(thread) } => {
                let path = format!("{}/{}", self.path(at.thread), text(call, "task_name"));
                self.paths.insert(path.clone(), thread);
                vec![Order::reply(call, json!({"task_name": path}).to_string()).meaning(Means::Started(Handle(path)))]
            }
            Event::Opened { by: Some(call), child: Err(why) } => vec![Order::refuse(call, format!("collab spawn failed: {why}"))],
            Event::Ended(report) => self.ended(report, at),
            Event::Waiting { call, timed_out } => Mailboxes::waited(call, timed_out, at).into_iter().collect(),
            _ => vec![],
        }
    }
}
