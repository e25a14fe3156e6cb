//! v2: children under paths, mail between agents, a final answer for the parent after every turn of a child.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde_json::{Value, json};

use crate::strategy::{
    Act, AssistantTurn, Call, Event, Intent, New, Order, ParentView, Report, Route, RunContext, Scope, Session, Strategy, ThreadId, To,
    ToolSpec, Turn, View, When,
};
use crate::transcript::{Handle, Item, Means, Origin, Role, ToolCall};

use super::arguments::{self, EMPTY_MESSAGE, List, Message, SpawnV2, Target, WaitV2, decode};
use super::fork::{Extent, filtered, last_turns, verbatim};
use super::mail::{self, Kind};
use super::status::Status;
use super::{final_text, path, role, tools, wait};

/// Child turns that may run at once: four sessions, the root's included.
const RUNNING: usize = 3;

/// One release's facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name: the version of the npm package `@openai/codex`.
    pub name: &'static str,
    /// Whether a fork is verbatim, and a number of turns acts as `all`; else it is filtered, and the number is honoured.
    pub verbatim: bool,
}

/// Every profile of `codex-v2`, the default first.
pub const V2_PROFILES: [Profile; 2] = [Profile { name: "0.171", verbatim: true }, Profile { name: "0.160", verbatim: false }];

impl Profile {
    /// The profile of this name.
    pub fn named(name: &str) -> Option<&'static Profile> {
        V2_PROFILES.iter().find(|profile| profile.name == name)
    }

    /// What an argument `fork_turns` means. The error is the call's result.
    fn forks(&self, asked: Option<&str>) -> Result<Fork, String> {
        let asked = asked.unwrap_or_default().trim();
        if asked.is_empty() || asked.eq_ignore_ascii_case("all") {
            return Ok(Fork::All);
        }
        if asked.eq_ignore_ascii_case("none") {
            return Ok(Fork::None);
        }
        match u64::from_str(asked) {
            Ok(turns) if turns > 0 => Ok(if self.verbatim { Fork::All } else { Fork::Last(turns) }),
            _ if self.verbatim => Err("fork_turns must be `none` or `all`".into()),
            _ => Err("fork_turns must be `none`, `all`, or a positive integer string".into()),
        }
    }
}

/// How much of its parent's history a child opens with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fork {
    None,
    All,
    Last(u64),
}

/// What an agent writes into its calls as `fork_turns`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForkTurns {
    /// Nothing: as `all`.
    #[default]
    Absent,
    /// `none`: the child opens with its task alone.
    None,
    /// `all`.
    All,
    /// So many of the last turns.
    Last(u64),
}

impl ForkTurns {
    /// The words that stand for a value in strategy specs, the default first.
    pub const WORDS: [&str; 3] = ["absent", "none", "all"];

    /// The value that a spec's word or number stands for.
    pub fn named(name: &str) -> Option<ForkTurns> {
        match name {
            "absent" => Some(ForkTurns::Absent),
            "none" => Some(ForkTurns::None),
            "all" => Some(ForkTurns::All),
            number => number.parse().ok().filter(|&turns| turns > 0).map(ForkTurns::Last),
        }
    }
}

impl fmt::Display for ForkTurns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ForkTurns::Absent => f.write_str("absent"),
            ForkTurns::None => f.write_str("none"),
            ForkTurns::All => f.write_str("all"),
            ForkTurns::Last(turns) => write!(f, "{turns}"),
        }
    }
}

/// Codex v2 (`multi_agent_v2`) in one of its profiles.
///
/// Assumed, as neither source nor runs settle it: a follow-up to a child whose turn takes no more mail starts its next
/// turn, and is marked `NEW_TASK` like a first task; `list_agents` lists the root too.
#[derive(Clone, Copy, Debug)]
pub struct CodexV2 {
    /// The release's facts.
    pub profile: &'static Profile,
    /// What a simulated or held agent writes into its calls.
    pub fork_turns: ForkTurns,
}

impl Default for CodexV2 {
    fn default() -> CodexV2 {
        CodexV2 { profile: &V2_PROFILES[0], fork_turns: ForkTurns::Absent }
    }
}

impl Strategy for CodexV2 {
    fn id(&self) -> String {
        match self.fork_turns {
            ForkTurns::Absent => format!("codex-v2@{}", self.profile.name),
            value => format!("codex-v2@{}:fork_turns={value}", self.profile.name),
        }
    }

    fn hands_history_down(&self) -> bool {
        self.fork_turns != ForkTurns::None
    }

    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(Mailboxes {
            strategy: *self,
            run: run.clone(),
            tools: tools::v2(run, !self.profile.verbatim),
            agents: BTreeMap::new(),
            names: RefCell::default(),
        })
    }
}

struct Agent {
    path: String,
    /// How it stands while no turn of it runs.
    status: Status,
}

struct Mailboxes {
    strategy: CodexV2,
    run: RunContext,
    tools: Vec<ToolSpec>,
    /// Every child.
    agents: BTreeMap<ThreadId, Agent>,
    /// The names that were made for tasks, each with its intent: two intents never get the same one.
    names: RefCell<BTreeMap<String, String>>,
}

/// What a verbatim copy ends with: the product tells the child that it is one.
const CHILD_NOTE: &str = "You are a sub-agent that was started just now. All that stands above is the history of the agent that started you, \
                          its last call included. Your own task follows; your last message goes back to that agent.";

impl Mailboxes {
    fn path(&self, thread: ThreadId) -> &str {
        self.agents.get(&thread).map_or(path::ROOT, |agent| &agent.path)
    }

    fn at_path(&self, path: &str) -> Option<ThreadId> {
        if path == path::ROOT {
            return Some(ThreadId::ROOT);
        }
        self.agents.iter().find(|(_, agent)| agent.path == path).map(|(thread, _)| *thread)
    }

    /// The agent that a reference names for a thread, with its path.
    fn target(&self, reference: &str, at: &Scope<'_>) -> Result<(String, ThreadId), String> {
        let path = path::resolve(self.path(at.thread), reference)?;
        match self.at_path(&path) {
            Some(thread) => Ok((path, thread)),
            None => Err(format!("live agent path `{path}` not found")),
        }
    }

    fn full(at: &Scope<'_>) -> bool {
        at.below(ThreadId::ROOT).iter().filter(|&&thread| at.busy(thread)).count() >= RUNNING
    }

    fn status(&self, thread: ThreadId, at: &Scope<'_>) -> Status {
        match self.agents.get(&thread) {
            _ if at.busy(thread) => Status::Running,
            Some(agent) => agent.status.clone(),
            None => Status::Completed(None),
        }
    }

    /// A name for an intent's task that no other task has.
    fn task_name(&self, intent: &Intent) -> String {
        let plain = path::task_name([&intent.id, &intent.title]);
        let taken = |name: &str| self.agents.values().any(|agent| agent.path.rsplit('/').next() == Some(name));
        let mut names = self.names.borrow_mut();
        let mut name = plain.clone();
        let mut number = 2_u32;
        while taken(&name) || names.get(&name).is_some_and(|of| *of != intent.id) {
            name = format!("{plain}_{number}");
            number = number.saturating_add(1);
        }
        names.insert(name.clone(), intent.id.clone());
        name
    }

    /// The product's checks in the product's order; models and tiers are not judged. Nothing asks for the depth.
    fn spawn(&self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Result<Vec<Order>, String> {
        let asked: SpawnV2 = decode(call)?;
        if asked.fork_context.is_some() {
            return Err("fork_context is not supported in MultiAgentV2; use fork_turns instead".into());
        }
        let profile = self.strategy.profile;
        let fork = profile.forks(asked.fork_turns.as_deref())?;
        if asked.message.trim().is_empty() {
            return Err(EMPTY_MESSAGE.into());
        }
        let agent = role::agent(arguments::role(asked.agent_type.as_deref()), &self.run, at)?;
        let from = self.path(at.thread);
        let path = path::below(from, &asked.task_name)?;
        if Mailboxes::full(at) {
            return Err("collab spawn failed: agent thread limit reached".into());
        }
        if self.at_path(&path).is_some() {
            return Err(format!("agent path `{path}` already exists"));
        }
        let mut items = match fork {
            Fork::None => vec![],
            Fork::All if profile.verbatim => verbatim(parent.items),
            Fork::All => filtered(parent.items, Extent::Full),
            Fork::Last(turns) => filtered(last_turns(parent.items, turns), Extent::Last),
        };
        if fork == Fork::All && profile.verbatim {
            items.push(Item::message(Role::Developer, Origin::Task, CHILD_NOTE));
        }
        items.push(mail::by_tool(Kind::NewTask, from, &path, &asked.message));
        Ok(vec![Order::open(call.key, New { drain: false, ..New::agent(agent) }, items)])
    }

    fn send(&self, call: &ToolCall, wake: bool, at: &Scope<'_>) -> Result<Vec<Order>, String> {
        let asked: Message = decode(call)?;
        if asked.message.trim().is_empty() {
            return Err(EMPTY_MESSAGE.into());
        }
        let (path, thread) = self.target(&asked.target, at)?;
        if wake && thread == ThreadId::ROOT {
            return Err("Follow-up tasks can't target the root agent".into());
        }
        if wake && !at.busy(thread) && Mailboxes::full(at) {
            return Err("collab tool failed: agent thread limit reached".into());
        }
        let (kind, when) = if wake { (Kind::NewTask, When::Wake) } else { (Kind::Message, When::Mail) };
        let letter = mail::by_tool(kind, self.path(at.thread), &path, &asked.message);
        let put = Order::Put { to: To::Thread(thread), items: vec![letter], when, by: Some(call.key) };
        // The answer is empty: only the call itself names the child.
        let reply = Order::reply(call, "");
        let names_it = asked.target == path && thread != ThreadId::ROOT;
        Ok(vec![if names_it { reply.meaning(Means::Started(Handle(path))) } else { reply }, put])
    }

    fn wait(&self, call: &ToolCall) -> Result<Vec<Order>, String> {
        let asked: WaitV2 = decode(call)?;
        Ok(vec![Order::Wait { call: call.key, timeout_ms: wait::v2(asked.timeout_ms)? }])
    }

    /// A wait is over when anything has come; the user's input is told before mail.
    fn waited(call: &ToolCall, timed_out: bool, at: &Scope<'_>) -> Option<Order> {
        let ended = match () {
            () if at.me().input > 0 => wait::Ended::Input,
            () if at.me().mail > 0 => wait::Ended::Mail,
            () if timed_out => wait::Ended::Time,
            () => return None,
        };
        let asked = decode::<WaitV2>(call).ok().and_then(|asked| asked.timeout_ms);
        let order = Order::reply(call, wait::v2_output(ended, asked));
        Some(if ended == wait::Ended::Time { order.meaning(Means::TimedOut) } else { order })
    }

    fn interrupt(&self, call: &ToolCall, at: &Scope<'_>) -> Result<Vec<Order>, String> {
        let asked: Target = decode(call)?;
        let (_, thread) = self.target(&asked.target, at)?;
        if thread == ThreadId::ROOT {
            return Err("root is not a spawned agent".into());
        }
        if thread == at.thread {
            let why = "an agent cannot interrupt itself; return your result and let the parent interrupt you if needed";
            return Err(why.into());
        }
        let reply = Order::reply(call, json!({"previous_status": self.status(thread, at)}).to_string());
        Ok(vec![reply, Order::Stop { thread }])
    }

    fn list(&self, call: &ToolCall, at: &Scope<'_>) -> Result<Vec<Order>, String> {
        let asked: List = decode(call)?;
        let prefix = match asked.path_prefix.as_deref() {
            Some(reference) => path::resolve(self.path(at.thread), reference)?,
            None => path::ROOT.into(),
        };
        let below = |path: &str| path.strip_prefix(prefix.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let threads = [ThreadId::ROOT].into_iter().chain(self.agents.keys().copied()).filter(|&thread| below(self.path(thread)));
        let agents: Vec<Value> =
            threads.map(|thread| json!({"agent_name": self.path(thread), "agent_status": self.status(thread, at)})).collect();
        Ok(vec![Order::reply(call, json!({"agents": agents}).to_string())])
    }

    /// A turn of a child has ended: what it came to goes to its parent, unless it was interrupted.
    fn ended(&mut self, report: &Report<'_>, at: &Scope<'_>) -> Option<Order> {
        let parent = at.me().parent?;
        let to = self.path(parent).to_owned();
        let agent = self.agents.get_mut(&at.thread)?;
        agent.status = Status::of(report.end, final_text(report));
        let text = match &agent.status {
            Status::Completed(text) => text.clone().unwrap_or_default(),
            Status::Errored(why) => mail::errored(why),
            _ => return None,
        };
        let means = agent.status.meaning(Handle(agent.path.clone()));
        Some(Order::put(parent, When::Mail, mail::final_answer(&agent.path, &to, &text).meaning(means)))
    }
}

impl Session for Mailboxes {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        let (name, args) = match act {
            Act::Delegate(intent) => {
                let mut args = json!({"message": intent.task, "task_name": self.task_name(intent)});
                if self.strategy.fork_turns != ForkTurns::Absent {
                    args["fork_turns"] = self.strategy.fork_turns.to_string().into();
                }
                // The product tells its model that a full fork takes no role.
                let full = matches!(self.strategy.profile.forks(args["fork_turns"].as_str()), Ok(Fork::All));
                if !full && let Some(role) = role::phrased(&intent.agent, &self.run) {
                    args["agent_type"] = role.into();
                }
                ("spawn_agent", args)
            }
            Act::Wait(_) => ("wait_agent", json!({})),
            Act::Continue { child, text, wake, .. } => {
                (if *wake { "followup_task" } else { "send_message" }, json!({"target": child.0, "message": text}))
            }
            Act::Close(child) => ("interrupt_agent", json!({"target": child.0})),
            Act::Back => return None,
        };
        Some(Call { name: name.into(), args: args.to_string() })
    }

    fn view(&mut self, _: &[Item], at: &Scope<'_>) -> View {
        let mut view = View { phases: true, ..View::of(&at.me().agent, &self.run) };
        // A request cannot show two tools of one name.
        view.tools.retain(|tool| !tools::V2.contains(&tool.name.as_str()));
        if at.me().depth == 0 {
            view.tools.extend(self.tools.iter().cloned());
        }
        view
    }

    fn turn(&mut self, reply: AssistantTurn, _: &[Item], _: &Scope<'_>) -> Turn {
        // Text beside a call is commentary, and that leaves the mailbox open.
        let shut = !reply.text.trim().is_empty() && reply.calls.is_empty();
        Turn { shut, ..reply.into() }
    }

    fn route(&mut self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Route {
        let orders = match call.name.as_str() {
            "spawn_agent" => self.spawn(call, parent, at),
            "send_message" => self.send(call, false, at),
            "followup_task" => self.send(call, true, at),
            "wait_agent" => self.wait(call),
            "interrupt_agent" => self.interrupt(call, at),
            "list_agents" => self.list(call, at),
            _ => return Route::Tool,
        };
        let hands_out = matches!(call.name.as_str(), "spawn_agent" | "followup_task");
        Route::Do(orders.unwrap_or_else(|why| vec![if hands_out { Order::refuse(call, why) } else { Order::reply(call, why).failed() }]))
    }

    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => vec![Order::input(items, When::Notice, at)],
            Event::Opened { by: Some(call), child: Ok(thread) } => {
                // It was decoded when the call was routed.
                let name = decode::<SpawnV2>(call).map(|asked| asked.task_name).unwrap_or_default();
                let path = format!("{}/{name}", self.path(at.thread));
                self.agents.insert(thread, Agent { path: path.clone(), status: Status::PendingInit });
                vec![Order::reply(call, json!({"task_name": path}).to_string()).meaning(Means::Started(Handle(path)))]
            }
            Event::Opened { by: Some(call), child: Err(why) } => vec![Order::refuse(call, format!("collab spawn failed: {why}"))],
            Event::Ended(report) => self.ended(&report, at).into_iter().collect(),
            Event::Waiting { call, timed_out } => Mailboxes::waited(call, timed_out, at).into_iter().collect(),
            Event::Opened { .. } | Event::Aside(_) => vec![],
        }
    }
}
