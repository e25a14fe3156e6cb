//! One run under OpenCode: jobs, their children, and what comes back.

use std::collections::{BTreeMap, VecDeque};

use crate::strategy::{
    Act, AssistantTurn, Call, End, Event, Intent, New, Order, ParentView, Report, Route, RunContext, Scope, Session, ThreadId, To,
    ToolSpec, Turn, View, When,
};
use crate::transcript::{Body, CallKey, Handle, Item, Means, Origin, ToolCall};

use super::OpenCode;
use super::arguments::Arguments;
use super::scaffold;
use super::text::{self, State, TOOL};
use super::truncate::truncate;

/// A child at work, with all the turns that calls have queued on it. Its id is the child's.
struct Job {
    /// The call that started it.
    call: ToolCall,
    /// The thread of that call.
    caller: ThreadId,
    /// That call's description: the notice's title.
    description: String,
    /// Whether that call was answered at once.
    background: bool,
    /// The agents of the turns that later calls have queued.
    queued: VecDeque<String>,
}

/// A child's last message.
#[derive(Default)]
struct LastMessage {
    text: String,
    calls: Vec<CallKey>,
}

/// How a job ended.
enum Outcome {
    Completed(String),
    Failed(String),
    Cancelled,
}

pub(super) struct OpenCodeSession {
    strategy: OpenCode,
    run: RunContext,
    tool: ToolSpec,
    jobs: BTreeMap<ThreadId, Job>,
    /// Who speaks in a thread that was resumed with another agent than it was opened with.
    speakers: BTreeMap<ThreadId, String>,
    last: BTreeMap<ThreadId, LastMessage>,
}

/// A thread's session id, as its parent reads it.
pub(super) fn handle(thread: ThreadId) -> Handle {
    Handle(text::identifier("ses", thread.0))
}

impl OpenCodeSession {
    pub(super) fn new(strategy: OpenCode, run: RunContext) -> OpenCodeSession {
        let tool = text::tool(&run, strategy.background);
        OpenCodeSession { strategy, run, tool, jobs: BTreeMap::new(), speakers: BTreeMap::new(), last: BTreeMap::new() }
    }

    fn phrased(&self, intent: &Intent, prompt: &str, child: Option<&Handle>) -> Option<Call> {
        let arguments = Arguments {
            description: intent.title.clone(),
            prompt: prompt.into(),
            subagent_type: intent.agent.clone(),
            task_id: child.map(|child| child.0.clone()),
            command: None,
            background: self.strategy.background.then_some(true),
        };
        Some(Call { name: TOOL.into(), args: arguments.encode() })
    }

    /// The product's checks in the product's order; the error is the call's result.
    fn check(&self, call: &ToolCall, at: &Scope<'_>) -> Result<Arguments, String> {
        let arguments = Arguments::decode(call.args.as_text())?;
        if arguments.background == Some(true) && !self.strategy.background {
            return Err(text::NO_BACKGROUND.into());
        }
        let limit = self.strategy.profile.depth;
        if at.me().depth >= limit {
            return Err(text::too_deep(limit));
        }
        // The permission question stands here.
        if !self.run.agents.contains_key(&arguments.subagent_type) {
            return Err(text::unknown_agent(&arguments.subagent_type));
        }
        // An empty id is as good as none (read in `tool/task.ts` of a later source, not in 1.18.33: a test for truth).
        match &arguments.task_id {
            Some(id) if !id.is_empty() && !id.starts_with("ses") => Err(text::bad_session_id(id)),
            _ => Ok(arguments),
        }
    }

    /// The thread that a task id names. A well-formed id that names none means a fresh child. The caller itself and
    /// what is above it cannot work for it: no model was ever told those ids.
    fn named(&self, id: &str, at: &Scope<'_>) -> Option<ThreadId> {
        let mut above = Some(at.thread);
        let mut line = vec![];
        while let Some(thread) = above {
            line.push(thread);
            above = at.state(thread).parent;
        }
        at.threads.iter().map(|state| state.id).find(|thread| !line.contains(thread) && handle(*thread).0 == id)
    }

    fn delegate(&mut self, call: &ToolCall, at: &Scope<'_>) -> Vec<Order> {
        let arguments = match self.check(call, at) {
            Ok(arguments) => arguments,
            Err(why) => return vec![Order::refuse(call, why)],
        };
        let prompt = vec![Item::user(Origin::Task, arguments.prompt.as_str())];
        let Some(child) = arguments.task_id.as_deref().and_then(|id| self.named(id, at)) else {
            return vec![Order::open(call.key, New::agent(arguments.subagent_type), prompt)];
        };
        let mut orders = vec![Order::Put { to: To::Thread(child), items: prompt, when: When::Turn, by: Some(call.key) }];
        if let Some(job) = self.jobs.get_mut(&child) {
            job.queued.push_back(arguments.subagent_type);
            let handle = handle(child);
            let told = text::wrapper(&handle, State::Running, Some("Background task updated"), text::UPDATED);
            orders.push(Order::reply(call, told).meaning(Means::Started(handle)));
            return orders;
        }
        self.speakers.insert(child, arguments.subagent_type.clone());
        orders.extend(self.start(call, child, arguments, at.thread));
        orders
    }

    /// A job begins: a background one is acknowledged at once, any other leaves its call open.
    fn start(&mut self, call: &ToolCall, child: ThreadId, arguments: Arguments, caller: ThreadId) -> Option<Order> {
        let background = arguments.background == Some(true);
        let job = Job { call: call.clone(), caller, description: arguments.description, background, queued: VecDeque::new() };
        self.jobs.insert(child, job);
        background.then(|| {
            let handle = handle(child);
            let told = text::wrapper(&handle, State::Running, Some("Background task started"), text::STARTED);
            Order::reply(call, told).meaning(Means::Started(handle))
        })
    }

    /// A turn of a child has ended. Its job goes on while further turns are queued, unless this one failed: a failure
    /// ends the job and drops what is queued (read in `packages/core/src/background-job.ts` of anomalyco/opencode at
    /// 0b8571837b, not in 1.18.33).
    fn ended(&mut self, report: &Report<'_>, at: &Scope<'_>) -> Vec<Order> {
        let child = at.thread;
        let outcome = outcome(report, self.last.remove(&child).unwrap_or_default());
        let waiting = at.me().waiting > 0;
        if waiting && matches!(outcome, Outcome::Completed(_)) {
            if let Some(agent) = self.jobs.get_mut(&child).and_then(|job| job.queued.pop_front()) {
                self.speakers.insert(child, agent);
            }
            return vec![];
        }
        let Some(job) = self.jobs.remove(&child) else { return vec![] };
        let mut orders = Vec::new();
        if waiting {
            orders.push(Order::Stop { thread: child });
        }
        if job.background {
            orders.extend(notice(&job, child, outcome));
        } else {
            orders.extend(self.answer(&job, child, outcome));
        }
        orders
    }

    /// The result of a foreground call, cut if it is too large.
    fn answer(&self, job: &Job, child: ThreadId, outcome: Outcome) -> Vec<Order> {
        let handle = handle(child);
        let text = match outcome {
            Outcome::Completed(text) => text,
            Outcome::Failed(why) => {
                let told = text::failed(&handle, &why);
                return vec![Order::reply(&job.call, told).failed().meaning(Means::Failed(Some(handle)))];
            }
            Outcome::Cancelled => return vec![Order::reply(&job.call, text::CANCELLED).failed().meaning(Means::Failed(None))],
        };
        let whole = text::wrapper(&handle, State::Completed, None, &text);
        let profile = self.strategy.profile;
        let path = format!("{}/{}", profile.output_folder, text::identifier("tool", job.call.key.0));
        let returned = Means::Returned(Some(handle));
        match truncate(&whole, profile, &path) {
            None => vec![Order::reply(&job.call, whole).meaning(returned)],
            Some(cut) => vec![Order::Write { path, text: whole }, Order::reply(&job.call, cut).meaning(returned)],
        }
    }
}

/// What the caller of a background task reads at its end: a user message that starts a turn of its own if the caller is
/// idle. A cancelled task says nothing.
fn notice(job: &Job, child: ThreadId, outcome: Outcome) -> Option<Order> {
    let handle = handle(child);
    let (told, means) = match outcome {
        Outcome::Completed(text) => {
            let summary = format!("Background task completed: {}", job.description);
            (text::wrapper(&handle, State::Completed, Some(&summary), &text), Means::Returned(Some(handle)))
        }
        Outcome::Failed(why) => {
            let summary = format!("Background task failed: {}", job.description);
            let why = text::failed(&handle, &why);
            (text::wrapper(&handle, State::Error, Some(&summary), &why), Means::Failed(Some(handle)))
        }
        Outcome::Cancelled => return None,
    };
    Some(Order::put(job.caller, When::Wake, Item::user(Origin::Delegated, told).meaning(means)))
}

/// How a turn ended, by its last message: an error of the message itself, else the last failed tool call in it, else
/// its text, which may be empty. What earlier messages said or met does not count.
fn outcome(report: &Report<'_>, last: LastMessage) -> Outcome {
    match report.end {
        End::Aborted => return Outcome::Cancelled,
        End::Failed(why) | End::Stopped(why) | End::Ceiling(why) => return Outcome::Failed(why.clone()),
        End::Done => {}
    }
    let own = report.items.get(report.own..).unwrap_or_default();
    let failed = own.iter().rev().find(|item| match item.body() {
        Body::Result { key: Some(key), failed, .. } => *failed && last.calls.contains(key),
        _ => false,
    });
    match failed {
        Some(result) => Outcome::Failed(result.text()),
        None => Outcome::Completed(last.text),
    }
}

impl Session for OpenCodeSession {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        match act {
            Act::Delegate(intent) => self.phrased(intent, &intent.task, None),
            Act::Continue { child, intent, text, wake: _ } => self.phrased(intent, text, Some(child)),
            Act::Wait(_) | Act::Close(_) | Act::Back => None,
        }
    }

    fn view(&mut self, _: &[Item], at: &Scope<'_>) -> View {
        let speaker = self.speakers.get(&at.thread).unwrap_or(&at.me().agent);
        let mut view = View::of(speaker, &self.run);
        // A request cannot show two tools of one name.
        view.tools.retain(|tool| tool.name != TOOL);
        let mut view = if at.me().depth < self.strategy.profile.depth { view.tool(self.tool.clone()) } else { view };
        if self.run.scaffold {
            scaffold::dress(&mut view, at.me().depth == 0);
        }
        view
    }

    fn turn(&mut self, reply: AssistantTurn, _: &[Item], at: &Scope<'_>) -> Turn {
        if at.thread != ThreadId::ROOT {
            let calls = reply.calls.iter().map(|call| call.key).collect();
            self.last.insert(at.thread, LastMessage { text: reply.text.clone(), calls });
        }
        reply.into()
    }

    fn route(&mut self, call: &ToolCall, _: ParentView<'_>, at: &Scope<'_>) -> Route {
        if call.name == TOOL { Route::Do(self.delegate(call, at)) } else { Route::Tool }
    }

    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => vec![Order::input(items, When::Turn, at)],
            Event::Opened { by: Some(call), child: Ok(child) } => match Arguments::decode(call.args.as_text()) {
                Ok(arguments) => self.start(call, child, arguments, at.thread).into_iter().collect(),
                Err(_) => vec![],
            },
            Event::Ended(report) => self.ended(&report, at),
            // A ceiling of the harness is reported in the harness's words.
            Event::Opened { .. } | Event::Waiting { .. } | Event::Aside(_) => vec![],
        }
    }
}
