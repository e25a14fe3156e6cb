//! OpenCode: one tool, `task`; blocking, or in the background with a notice that opens a turn of the parent.

use std::collections::BTreeMap;

use serde_json::json;

use crate::strategy::{
    Act, Call, End, Event, New, Order, ParentView, Report, Route, RunContext, Scope, Session, Strategy, ThreadId, To, View, When,
};
use crate::transcript::{CallKey, Handle, Item, Means, Origin, ToolCall};

use super::{argument, call, task, text, tool};

/// The system.
pub struct OpenCode {
    /// The run waits for background children.
    pub drain: bool,
}

impl Strategy for OpenCode {
    fn id(&self) -> String {
        format!("opencode@stub:drain={}", self.drain)
    }
    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(Jobs { run: run.clone(), drain: self.drain, jobs: BTreeMap::new() })
    }
}

/// Work that runs in a child: over when no turn of it is left.
struct Job {
    /// The call that gets the result; `None`: background, a notice tells it.
    call: Option<CallKey>,
    title: String,
}

struct Jobs {
    run: RunContext,
    drain: bool,
    jobs: BTreeMap<ThreadId, Job>,
}

fn id(thread: ThreadId) -> String {
    format!("ses_{}", thread.0)
}

/// The wrapper around all that a child says.
fn wrap(id: &str, state: &str, summary: Option<String>, body: &str) -> String {
    let summary = summary.map(|line| format!("<summary>{line}</summary>\n")).unwrap_or_default();
    let tag = if state == "error" { "task_error" } else { "task_result" };
    format!("<task id=\"{id}\" state=\"{state}\">\n{summary}<{tag}>\n{body}\n</{tag}>\n</task>")
}

impl Jobs {
    fn open(&mut self, call: &ToolCall, at: &Scope<'_>) -> Vec<Order> {
        if at.me().depth >= 1 {
            let why = "Subagent depth limit reached (1). Increase \"subagent_depth\" to allow nested subagents.";
            return vec![Order::refuse(call, why)];
        }
        let background = argument(call, "background") == true;
        let (wanted, items) = (text(call, "task_id"), vec![task(text(call, "prompt"))]);
        let Some(thread) = at.threads.iter().skip(1).map(|state| state.id).find(|&thread| id(thread) == wanted) else {
            let new = New { drain: self.drain || !background, ..New::agent(text(call, "subagent_type")) };
            return vec![Order::open(call.key, new, items)];
        };
        let put = Order::Put { to: To::Thread(thread), items, when: When::Turn, by: Some(call.key) };
        if self.jobs.contains_key(&thread) {
            return vec![self.started(call, thread, "updated"), put];
        }
        let mut orders = self.begin(call, thread);
        orders.push(put);
        orders
    }

    fn started(&self, call: &ToolCall, thread: ThreadId, word: &str) -> Order {
        let said = wrap(&id(thread), "running", Some(format!("Background task {word}")), "It goes on by itself.");
        Order::reply(call, said).meaning(Means::Started(Handle(id(thread))))
    }

    /// A job begins; in the background the call is answered at once.
    fn begin(&mut self, call: &ToolCall, thread: ThreadId) -> Vec<Order> {
        let background = argument(call, "background") == true;
        self.jobs.insert(thread, Job { call: (!background).then_some(call.key), title: text(call, "description") });
        if background { vec![self.started(call, thread, "started")] } else { vec![] }
    }

    /// A turn of a child is over; the job is, too, unless another turn is queued.
    fn ended(&mut self, report: Report<'_>, at: &Scope<'_>) -> Vec<Order> {
        if at.me().waiting > 0 {
            return vec![];
        }
        let (Some(job), Some(parent)) = (self.jobs.remove(&at.thread), at.me().parent) else { return vec![] };
        let (name, handle) = (id(at.thread), Some(Handle(id(at.thread))));
        let result = match report.end {
            End::Done => Ok(report.last_text().unwrap_or_default()),
            End::Aborted => Err(None),
            End::Failed(why) | End::Stopped(why) | End::Ceiling(why) => Err(Some(format!("Subagent failed (task_id: {name}): {why}"))),
        };
        let reply = |text: String, failed: bool, means: Means| {
            job.call.map(|call| Order::Reply { call, text: text.into(), more: vec![], failed, means: vec![means], after_ms: 0 })
        };
        let notice = |state: &str, word: &str, text: &str, means: Means| {
            let body = wrap(&name, state, Some(format!("Background task {word}: {}", job.title)), text);
            Order::put(parent, When::Wake, Item::user(Origin::Delegated, body).meaning(means))
        };
        let order = match result {
            Ok(text) if job.call.is_some() => reply(wrap(&name, "completed", None, &text), false, Means::Returned(handle)),
            Ok(text) => Some(notice("completed", "completed", &text, Means::Returned(handle))),
            Err(None) => reply("Task cancelled".into(), true, Means::Failed(None)),
            Err(Some(why)) if job.call.is_some() => reply(why, true, Means::Failed(handle)),
            Err(Some(why)) => Some(notice("error", "failed", &why, Means::Failed(handle))),
        };
        order.into_iter().collect()
    }
}

impl Session for Jobs {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        let (intent, prompt, id) = match act {
            Act::Delegate(intent) => (intent, intent.task.as_str(), None),
            Act::Continue { child, intent, text, .. } => (intent, *text, Some(child.0.as_str())),
            _ => return None,
        };
        let mut args = json!({"description": intent.title, "prompt": prompt, "subagent_type": intent.agent});
        if let Some(id) = id {
            args["task_id"] = json!(id);
        }
        if intent.background {
            args["background"] = json!(true);
        }
        call("task", args)
    }

    fn view(&mut self, _: &[Item], at: &Scope<'_>) -> View {
        View::of(&at.me().agent, &self.run).tool(tool("task"))
    }

    fn route(&mut self, call: &ToolCall, _: ParentView<'_>, at: &Scope<'_>) -> Route {
        if call.name == "task" { Route::Do(self.open(call, at)) } else { Route::Tool }
    }

    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => vec![Order::input(items, When::Turn, at)],
            Event::Opened { by: Some(call), child: Ok(thread) } => self.begin(call, thread),
            Event::Opened { by: Some(call), child: Err(why) } => vec![Order::refuse(call, why)],
            Event::Ended(report) => self.ended(report, at),
            _ => vec![],
        }
    }
}
