//! v1: children under ids, a wait for any of them, and a notice for the parent once a child.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::strategy::{
    Act, Call, End, Event, New, Order, ParentView, Report, Route, RunContext, Scope, Session, Strategy, ThreadId, To, ToolSpec, View, When,
};
use crate::transcript::{Body, Digest, Handle, Item, Means, Origin, Part, Role, ToolCall};

use super::arguments::{self, Resume, SendInput, SpawnV1, Target, WaitV1, decode};
use super::profile::{Profile, V1_PROFILES};
use super::rollout::{Extent, opening};
use super::status::Status;
use super::{final_text, mail, nickname, role, tools, wait};

/// Children that may be open at once, in the whole tree; finished ones count until they are closed.
const OPEN: usize = 6;
/// The deepest child.
const DEPTH: u32 = 1;
/// What a thread that is too deep is told.
const TOO_DEEP: &str = "Agent depth limit reached. Solve the task yourself.";

/// What an agent writes into its calls as `fork_context`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForkContext {
    /// Nothing: as `false`.
    #[default]
    Absent,
    /// `false`.
    False,
    /// `true`: the child begins with the filtered history of its parent.
    True,
}

impl ForkContext {
    /// Every value, the default first.
    pub const ALL: [ForkContext; 3] = [ForkContext::Absent, ForkContext::False, ForkContext::True];

    /// Its name in strategy specs.
    pub const fn name(self) -> &'static str {
        match self {
            ForkContext::Absent => "absent",
            ForkContext::False => "false",
            ForkContext::True => "true",
        }
    }

    /// The value of this name.
    pub fn named(name: &str) -> Option<ForkContext> {
        ForkContext::ALL.into_iter().find(|value| value.name() == name)
    }
}

/// Codex v1 (`multi_agent_v1`) in one of its profiles.
///
/// Assumed, as neither source nor runs settle it: a closed child answers `shutdown`, a closed child that was at work still
/// sends its notice, a child that was opened again is `pending_init` until it gets input.
#[derive(Clone, Copy, Debug)]
pub struct CodexV1 {
    /// The release's facts.
    pub profile: &'static Profile,
    /// What a simulated or held agent writes into its calls.
    pub fork_context: ForkContext,
}

impl Default for CodexV1 {
    fn default() -> CodexV1 {
        CodexV1 { profile: &V1_PROFILES[0], fork_context: ForkContext::Absent }
    }
}

impl CodexV1 {
    /// How much the arguments of a `spawn_agent` call hand down; `None`: nothing. The error is the call's result.
    pub fn extent(&self, call: &ToolCall) -> Result<Option<Extent>, String> {
        decode(call).map(|asked: SpawnV1| asked.extent())
    }
}

impl Strategy for CodexV1 {
    fn id(&self) -> String {
        match self.fork_context {
            ForkContext::Absent => format!("codex-v1@{}", self.profile.name),
            value => format!("codex-v1@{}:fork_context={}", self.profile.name, value.name()),
        }
    }

    fn has_scaffold(&self) -> bool {
        true
    }

    fn version(&self) -> u32 {
        2
    }

    fn hands_history_down(&self) -> bool {
        self.fork_context == ForkContext::True
    }

    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        let tools = tools::v1(run);
        Box::new(Agents { strategy: *self, run: run.clone(), tools, children: BTreeMap::new(), inputs: 0 })
    }
}

struct Child {
    /// How it stands while no turn of it runs.
    status: Status,
    /// Closed children take no input and no slot.
    closed: bool,
    /// Whether its next final status is told to the parent: once a spawn or resume.
    armed: bool,
}

struct Agents {
    strategy: CodexV1,
    run: RunContext,
    tools: Vec<ToolSpec>,
    children: BTreeMap<ThreadId, Child>,
    inputs: u32,
}

/// A thread's id in the product's form (a UUID of version 7). The real one holds a time; this one is made of a number
/// alone, so that equal runs have equal ids.
fn id(thread: ThreadId) -> String {
    let digits = format!("{:032x}", Digest::of(&format!("codex thread {}", thread.0)).0);
    format!("019a{}-{}-7{}-8{}-{}", &digits[..4], &digits[4..8], &digits[8..11], &digits[11..14], &digits[14..26])
}

fn not_found(id: &str) -> String {
    format!("agent with id {id} not found")
}

/// What a wait, a notice and a call's result say of a child.
fn handle(id: &str) -> Handle {
    Handle(id.into())
}

impl Agents {
    /// The child that an id names. Text that is no id at all is told apart; the reason is in this project's words.
    fn find(&self, id: &str) -> Result<Option<ThreadId>, String> {
        let form = [8, 4, 4, 4, 12];
        let groups: Vec<&str> = id.split('-').collect();
        let is_id = groups.len() == form.len()
            && groups.iter().zip(form).all(|(group, digits)| group.len() == digits && group.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if !is_id {
            return Err(format!("invalid agent id {id}: it is no UUID"));
        }
        Ok(self.children.keys().copied().find(|&thread| self::id(thread) == id))
    }

    /// The child that a call must name.
    fn child(&self, id: &str) -> Result<ThreadId, String> {
        self.find(id)?.ok_or_else(|| not_found(id))
    }

    /// Whether no other child may be open.
    fn full(&self) -> bool {
        self.children.values().filter(|child| !child.closed).count() >= OPEN
    }

    fn status(&self, thread: ThreadId, at: &Scope<'_>) -> Status {
        match self.children.get(&thread) {
            None => Status::NotFound,
            Some(child) if !child.closed && at.busy(thread) => Status::Running,
            Some(child) => child.status.clone(),
        }
    }

    /// The product's checks in the product's order; models and tiers are not judged.
    fn spawn(&self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Result<Vec<Order>, String> {
        let asked: SpawnV1 = decode(call)?;
        let extent = asked.extent();
        let task = arguments::input(asked.message, asked.items)?;
        if at.me().depth >= DEPTH {
            return Err(TOO_DEEP.into());
        }
        let role = arguments::role(asked.agent_type.as_deref());
        if extent.is_some() && role.is_some() {
            let why = "Full-history forked agents inherit the parent agent type; omit agent_type, or spawn without a full-history fork.";
            return Err(why.into());
        }
        let agent = role::agent(role, &self.run, at)?;
        if self.full() {
            return Err("collab spawn failed: agent thread limit reached".into());
        }
        let mut items = self.inherited(extent, parent.items);
        items.push(message(task));
        Ok(vec![Order::open(call.key, New { drain: false, ..New::agent(agent) }, items)])
    }

    /// What a child opens with before its task.
    fn inherited(&self, extent: Option<Extent>, items: &[Item]) -> Vec<Item> {
        let profile = self.strategy.profile;
        let Some(extent) = extent else {
            return if self.run.scaffold { profile.client.new_thread(false) } else { vec![] };
        };
        let mut opening = opening(items, &profile.fork(extent));
        if self.run.scaffold {
            let behind = profile.behind_fork(extent, &opening);
            opening.items.extend(behind);
        }
        opening.items
    }

    fn send_input(&mut self, call: &ToolCall) -> Result<Vec<Order>, String> {
        let asked: SendInput = decode(call)?;
        let thread = self.child(&asked.target)?;
        let input = arguments::input(asked.message, asked.items)?;
        if self.children.get(&thread).is_some_and(|child| child.closed) {
            return Err(format!("agent with id {} is closed", asked.target));
        }
        self.inputs += 1;
        let submission = format!("{:032x}", Digest::of(&format!("codex submission {}", self.inputs)).0);
        let reply = Order::reply(call, json!({"submission_id": submission}).to_string()).meaning(Means::Started(handle(&asked.target)));
        let put = Order::Put { to: To::Thread(thread), items: vec![message(input)], when: When::Wake, by: Some(call.key) };
        let stop = asked.interrupt.then_some(Order::Stop { thread });
        Ok([reply].into_iter().chain(stop).chain([put]).collect())
    }

    fn wait(&self, call: &ToolCall) -> Result<Vec<Order>, String> {
        let asked: WaitV1 = decode(call)?;
        if asked.targets.is_empty() {
            return Err("agent ids must be non-empty".into());
        }
        for target in &asked.targets {
            self.find(target)?;
        }
        Ok(vec![Order::Wait { call: call.key, timeout_ms: wait::v1(asked.timeout_ms)? }])
    }

    /// A wait is over when any of its targets is final; then all that are final at that instant are told.
    fn waited(&self, call: &ToolCall, timed_out: bool, at: &Scope<'_>) -> Option<Order> {
        let targets = decode::<WaitV1>(call).map(|asked| asked.targets).unwrap_or_default();
        let mut told = Map::new();
        let mut means = vec![];
        for target in targets {
            let status = self.find(&target).ok().flatten().map_or(Status::NotFound, |thread| self.status(thread, at));
            if status.is_final() && !told.contains_key(&target) {
                means.push(status.meaning(handle(&target)));
                told.insert(target, status.value());
            }
        }
        if told.is_empty() && !timed_out {
            return None;
        }
        if told.is_empty() {
            means.push(Means::TimedOut);
        }
        let timed_out = told.is_empty();
        let order = Order::reply(call, json!({"status": Value::Object(told), "timed_out": timed_out}).to_string());
        Some(means.into_iter().fold(order, Order::meaning))
    }

    fn close(&mut self, call: &ToolCall, at: &Scope<'_>) -> Result<Vec<Order>, String> {
        let asked: Target = decode(call)?;
        let thread = self.child(&asked.target)?;
        let mut orders = vec![Order::reply(call, json!({"previous_status": self.status(thread, at)}).to_string())];
        for one in [vec![thread], at.below(thread)].concat() {
            if let Some(child) = self.children.get_mut(&one) {
                (child.closed, child.status) = (true, Status::Shutdown);
            }
            orders.push(Order::Stop { thread: one });
        }
        Ok(orders)
    }

    fn resume(&mut self, call: &ToolCall, at: &Scope<'_>) -> Result<Vec<Order>, String> {
        let asked: Resume = decode(call)?;
        let found = self.find(&asked.id)?;
        if at.me().depth >= DEPTH {
            return Err(TOO_DEEP.into());
        }
        let thread = found.ok_or_else(|| not_found(&asked.id))?;
        let full = self.full();
        if let Some(child) = self.children.get_mut(&thread).filter(|child| child.closed) {
            if full {
                return Err("collab tool failed: agent thread limit reached".into());
            }
            *child = Child { status: Status::PendingInit, closed: false, armed: true };
        }
        Ok(vec![Order::reply(call, json!({"status": self.status(thread, at)}).to_string())])
    }

    /// A turn of a child has ended: its status, and the notice if one is due.
    fn ended(&mut self, report: &Report<'_>, at: &Scope<'_>) -> Option<Order> {
        let parent = at.me().parent?;
        let child = self.children.get_mut(&at.thread)?;
        let closed = child.closed && *report.end == End::Aborted;
        child.status = if closed { Status::Shutdown } else { Status::of(report.end, final_text(report)) };
        if !child.status.is_final() || !std::mem::take(&mut child.armed) {
            return None;
        }
        let id = id(at.thread);
        let notice = Item::user(Origin::Delegated, mail::notification(&id, &child.status));
        Some(Order::put(parent, When::Notice, notice.meaning(child.status.meaning(Handle(id)))))
    }
}

/// A task or a message, as a child reads it.
fn message(parts: Vec<Part>) -> Item {
    Item::new(Body::Message { role: Role::User, phase: None, parts }, Origin::Task)
}

impl Session for Agents {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        let (name, args) = match act {
            Act::Delegate(intent) => {
                let mut args = json!({"message": intent.task});
                match self.strategy.fork_context {
                    ForkContext::Absent => {}
                    value => args["fork_context"] = (value == ForkContext::True).into(),
                }
                // A fork takes no role.
                if self.strategy.fork_context != ForkContext::True
                    && let Some(role) = role::phrased(&intent.agent, &self.run)
                {
                    args["agent_type"] = role.into();
                }
                ("spawn_agent", args)
            }
            Act::Wait(children) => ("wait_agent", json!({"targets": children.iter().map(|child| child.0.as_str()).collect::<Vec<_>>()})),
            Act::Continue { child, text, .. } => ("send_input", json!({"target": child.0, "message": text})),
            Act::Close(child) => ("close_agent", json!({"target": child.0})),
            Act::Back | Act::Store(_) | Act::Read(_) => return None,
        };
        Some(Call { name: name.into(), args: args.to_string() })
    }

    fn view(&mut self, history: &[Item], at: &Scope<'_>) -> View {
        let mut view = View { phases: true, ..View::of(&at.me().agent, &self.run) };
        // A request cannot show two tools of one name.
        view.tools.retain(|tool| !tools::V1.contains(&tool.name.as_str()));
        if at.me().depth < DEPTH {
            view.tools.extend(self.tools.iter().cloned());
        }
        if self.run.scaffold { self.strategy.profile.client.dress(view, history, at) } else { view }
    }

    fn route(&mut self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Route {
        let orders = match call.name.as_str() {
            "spawn_agent" => self.spawn(call, parent, at),
            "send_input" => self.send_input(call),
            "resume_agent" => self.resume(call, at),
            "wait_agent" => self.wait(call),
            "close_agent" => self.close(call, at),
            _ => return Route::Tool,
        };
        let spawns = call.name == "spawn_agent";
        Route::Do(orders.unwrap_or_else(|why| vec![if spawns { Order::refuse(call, why) } else { Order::reply(call, why).failed() }]))
    }

    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => vec![Order::input(items, When::Notice, at)],
            Event::Opened { by: Some(call), child: Ok(thread) } => {
                self.children.insert(thread, Child { status: Status::PendingInit, closed: false, armed: true });
                let id = id(thread);
                let told = json!({"agent_id": id, "nickname": nickname(thread)}).to_string();
                vec![Order::reply(call, told).meaning(Means::Started(Handle(id)))]
            }
            Event::Opened { by: Some(call), child: Err(why) } => vec![Order::refuse(call, format!("collab spawn failed: {why}"))],
            Event::Ended(report) => self.ended(&report, at).into_iter().collect(),
            Event::Waiting { call, timed_out } => self.waited(call, timed_out, at).into_iter().collect(),
            Event::Opened { .. } | Event::Aside(_) => vec![],
        }
    }
}
