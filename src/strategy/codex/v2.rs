//! v2: children under paths, mail between agents, a final answer for the parent after every turn of a child.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::strategy::{
    Act, AssistantTurn, Call, Event, Intent, New, Order, ParentView, Report, Route, RunContext, Scope, Session, Strategy, ThreadId, To,
    ToolSpec, Turn, View, When,
};
use crate::transcript::{Handle, Item, Means, Origin, Part, Role, ToolCall};

use super::arguments::{self, EMPTY_MESSAGE, List, Message, SpawnV2, Target, WaitV2, decode};
use super::fork::verbatim;
use super::fork_turns::ForkTurns;
use super::mail::{self, Kind};
use super::profile::{History, Mail, Profile, Turns, V2_PROFILES};
use super::residents::Residents;
use super::rollout::{Extent, Fork, opening};
use super::status::Status;
use super::{final_text, nickname, path, role, tools, wait};

/// Child turns that may run at once, and children that may be loaded: four sessions, the root's included.
const CHILDREN: usize = 3;
/// What a spawn and a task more than may run are answered.
const FULL: &str = "agent thread limit reached";

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

impl CodexV2 {
    /// How much the arguments of a `spawn_agent` call hand down; `None`: nothing. The error is the call's result.
    pub fn extent(&self, call: &ToolCall) -> Result<Option<Extent>, String> {
        self.asked(&decode(call)?)
    }

    fn asked(&self, asked: &SpawnV2) -> Result<Option<Extent>, String> {
        if asked.fork_context.is_some() {
            return Err("fork_context is not supported in MultiAgentV2; use fork_turns instead".into());
        }
        self.profile.extent(asked.fork_turns.as_deref())
    }
}

impl Strategy for CodexV2 {
    fn id(&self) -> String {
        match self.fork_turns {
            ForkTurns::Absent => format!("codex-v2@{}", self.profile.name),
            value => format!("codex-v2@{}:fork_turns={value}", self.profile.name),
        }
    }

    fn version(&self) -> u32 {
        2
    }

    fn hands_history_down(&self) -> bool {
        self.fork_turns != ForkTurns::None
    }

    fn has_scaffold(&self) -> bool {
        true
    }

    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(Mailboxes {
            strategy: *self,
            run: run.clone(),
            tools: tools::v2(run, self.profile.turns == Turns::Honoured),
            agents: BTreeMap::new(),
            paths: BTreeMap::new(),
            last_pieces: BTreeSet::new(),
            residents: Residents::default(),
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
    /// Every child. None is ever taken away.
    agents: BTreeMap<ThreadId, Agent>,
    /// Each by its path; of two the first.
    paths: BTreeMap<String, ThreadId>,
    /// The last pieces of their paths.
    last_pieces: BTreeSet<String>,
    /// Those that are loaded.
    residents: Residents,
    /// The names that were made for tasks, each with its intent: two intents never get the same one.
    names: RefCell<TaskNames>,
}

/// Names of tasks.
#[derive(Default)]
struct TaskNames {
    /// Each with the intent that it was made for.
    made: BTreeMap<String, String>,
    /// For a plain name and an intent, the first number behind it that may be free: names are never given back.
    from: BTreeMap<(String, String), u32>,
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
        self.paths.get(path).copied()
    }

    /// The agent that a reference names for a thread, with its path.
    fn target(&self, reference: &str, at: &Scope<'_>) -> Result<(String, ThreadId), String> {
        let path = path::resolve(self.path(at.thread), reference)?;
        match self.at_path(&path) {
            Some(thread) => Ok((path, thread)),
            None => Err(format!("live agent path `{path}` not found")),
        }
    }

    /// Whether no other child may run.
    fn full(at: &Scope<'_>) -> bool {
        at.below(ThreadId::ROOT).iter().filter(|&&thread| at.busy(thread)).count() >= CHILDREN
    }

    /// Makes room for one more loaded child. `false`: none of the loaded ones may go.
    fn make_room(&mut self, at: &Scope<'_>) -> bool {
        let agents = &self.agents;
        let rests = |thread: ThreadId| {
            let state = at.state(thread);
            let ended = agents.get(&thread).is_some_and(|agent| agent.status.is_at_rest());
            ended && !at.busy(thread) && state.waiting == 0 && state.mail == 0
        };
        self.residents.make_room(CHILDREN, rests)
    }

    /// A child is written to: it is loaded again if it was not. The error is the call's result.
    fn load(&mut self, thread: ThreadId, at: &Scope<'_>) -> Result<(), String> {
        if thread == ThreadId::ROOT {
            return Ok(());
        }
        if !self.residents.holds(thread) && !self.make_room(at) {
            return Err(format!("collab tool failed: {FULL}"));
        }
        self.residents.touch(thread);
        Ok(())
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
        let mut names = self.names.borrow_mut();
        let TaskNames { made, from } = &mut *names;
        let numbered = |number: u32| if number < 2 { plain.clone() } else { format!("{plain}_{number}") };
        let number = from.entry((plain.clone(), intent.id.clone())).or_insert(1);
        let mut name = numbered(*number);
        while self.last_pieces.contains(&name) || made.get(&name).is_some_and(|of| *of != intent.id) {
            *number = number.saturating_add(1);
            name = numbered(*number);
        }
        made.insert(name.clone(), intent.id.clone());
        name
    }

    /// The product's checks in the product's order; models, efforts and tiers are not judged. Nothing asks for the depth.
    fn spawn(&mut self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Result<Vec<Order>, String> {
        let asked: SpawnV2 = decode(call)?;
        let extent = self.strategy.asked(&asked)?;
        if asked.message.trim().is_empty() {
            return Err(EMPTY_MESSAGE.into());
        }
        let agent = role::agent(arguments::role(asked.agent_type.as_deref()), &self.run, at)?;
        let from = self.path(at.thread).to_owned();
        let path = path::below(&from, &asked.task_name)?;
        if Mailboxes::full(at) || !self.make_room(at) {
            return Err(format!("collab spawn failed: {FULL}"));
        }
        if self.at_path(&path).is_some() {
            return Err(format!("agent path `{path}` already exists"));
        }
        let mut items = self.inherited(extent, parent.items);
        items.push(mail::by_tool(self.strategy.profile.mail, Kind::NewTask, &from, &path, &asked.message));
        Ok(vec![Order::open(call.key, New { drain: false, ..New::agent(agent) }, items)])
    }

    /// What a child opens with before its task.
    fn inherited(&self, extent: Option<Extent>, items: &[Item]) -> Vec<Item> {
        let (profile, scaffold) = (self.strategy.profile, self.run.scaffold);
        let client = &profile.client;
        let Some(extent) = extent else {
            return if scaffold { client.new_thread(false) } else { vec![] };
        };
        if profile.history == History::Verbatim {
            let mut copy = verbatim(items);
            if scaffold {
                copy.extend(profile.behind_copy());
            } else {
                copy.push(Item::message(Role::Developer, Origin::Task, CHILD_NOTE));
            }
            return copy;
        }
        let hints: Vec<Part> = match client.agents {
            Some(agents) if scaffold => [agents.hint, agents.child_hint].iter().map(|piece| piece.part()).collect(),
            _ => vec![],
        };
        let rule = Fork { hints: &hints, child_hint: hints.last(), ..profile.fork(extent) };
        let mut opening = opening(items, &rule);
        if scaffold {
            let behind = profile.behind_fork(extent, &opening);
            opening.items.extend(behind);
        }
        opening.items
    }

    fn send(&mut self, call: &ToolCall, wake: bool, at: &Scope<'_>) -> Result<Vec<Order>, String> {
        let asked: Message = decode(call)?;
        if asked.message.trim().is_empty() {
            return Err(EMPTY_MESSAGE.into());
        }
        let (path, thread) = self.target(&asked.target, at)?;
        if wake && thread == ThreadId::ROOT {
            return Err("Follow-up tasks can't target the root agent".into());
        }
        if wake && !at.busy(thread) && Mailboxes::full(at) {
            return Err(format!("collab tool failed: {FULL}"));
        }
        self.load(thread, at)?;
        // A word to read is no delegation: nothing is owed for it.
        let (kind, when, by) = if wake { (Kind::NewTask, When::Wake, Some(call.key)) } else { (Kind::Message, When::Mail, None) };
        let letter = mail::by_tool(self.strategy.profile.mail, kind, self.path(at.thread), &path, &asked.message);
        let put = Order::Put { to: To::Thread(thread), items: vec![letter], when, by };
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
        let letter = mail::result(self.strategy.profile.mail, &agent.path, &to, &agent.status)?;
        let means = agent.status.meaning(Handle(agent.path.clone()));
        Some(Order::put(parent, When::Mail, letter.meaning(means)))
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
                let full = matches!(self.strategy.profile.extent(args["fork_turns"].as_str()), Ok(Some(Extent::Full)));
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
            Act::Back | Act::Store(_) | Act::Read(_) => return None,
        };
        Some(Call { name: name.into(), args: args.to_string() })
    }

    fn view(&mut self, history: &[Item], at: &Scope<'_>) -> View {
        let mut view = View { phases: true, ..View::of(&at.me().agent, &self.run) };
        // A request cannot show two tools of one name.
        view.tools.retain(|tool| !tools::V2.contains(&tool.name.as_str()));
        let profile = self.strategy.profile;
        if at.me().depth == 0 || profile.children_spawn {
            view.tools.extend(self.tools.iter().cloned());
        }
        if self.run.scaffold { profile.client.dress(view, history, at) } else { view }
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
                self.last_pieces.extend(path.rsplit('/').next().map(str::to_owned));
                self.paths.entry(path.clone()).or_insert(thread);
                self.residents.touch(thread);
                let mut told = json!({"task_name": path});
                if self.strategy.profile.mail == Mail::Json {
                    told["nickname"] = nickname(thread).into();
                }
                vec![Order::reply(call, told.to_string()).meaning(Means::Started(Handle(path)))]
            }
            Event::Opened { by: Some(call), child: Err(why) } => vec![Order::refuse(call, format!("collab spawn failed: {why}"))],
            Event::Ended(report) => self.ended(&report, at).into_iter().collect(),
            Event::Waiting { call, timed_out } => Mailboxes::waited(call, timed_out, at).into_iter().collect(),
            Event::Opened { .. } | Event::Aside(_) => vec![],
        }
    }
}
