//! One run under OpenCode: sessions, jobs, and what comes back.

use std::collections::{BTreeMap, VecDeque};

use crate::strategy::{
    Act, AssistantTurn, Call, End, Event, Intent, New, Order, ParentView, Report, Route, RunContext, Scope, Session, ThreadId, To,
    ToolSpec, Turn, View, When,
};
use crate::transcript::{CallKey, Handle, Item, Means, ToolCall};

use super::OpenCode;
use super::agents::Agents;
use super::arguments::Arguments;
use super::compaction::{self, Compaction};
use super::configuration::{Answer, SessionRecord};
use super::job::{self, Job, LastMessage, Outcome, Speaker};
use super::path::Place;
use super::permission::{self, Action, Rule};
use super::profile::Scaffold;
use super::prompt::{self, UserPart};
use super::text::{self, State, TOOL};
use super::truncate::truncate;

/// See the module. Its records can be looked into: the ledger has no place for titles, rules and models.
pub struct OpenCodeSession {
    strategy: OpenCode,
    run: RunContext,
    agents: Agents,
    jobs: BTreeMap<ThreadId, Job>,
    /// Of the threads that were opened or resumed here, and of those that were there before.
    sessions: BTreeMap<ThreadId, SessionRecord>,
    last: BTreeMap<ThreadId, LastMessage>,
    compactions: BTreeMap<ThreadId, Compaction>,
    /// What calls with mentions have put into their children.
    prompts: BTreeMap<CallKey, Vec<UserPart>>,
    /// The delegating tool as each agent is shown it.
    tools: BTreeMap<String, ToolSpec>,
}

/// A thread's session id, as its parent reads it.
pub fn handle(thread: ThreadId) -> Handle {
    Handle(text::identifier("ses", thread.0))
}

impl OpenCodeSession {
    pub(super) fn new(strategy: OpenCode, run: RunContext) -> OpenCodeSession {
        let agents = Agents::new(&strategy.configuration, &run, strategy.profile);
        let sessions = strategy.configuration.sessions.clone();
        let (jobs, last, compactions, prompts, tools) = Default::default();
        OpenCodeSession { strategy, run, agents, jobs, sessions, last, compactions, prompts, tools }
    }

    /// Whether calls may return at once.
    fn in_background(&self) -> bool {
        self.strategy.background && self.strategy.profile.background
    }

    /// A thread's session. The root's is made by nobody: it has no rules. A child that no call has opened is taken for one
    /// of a root without rules.
    fn record(&self, thread: ThreadId, at: &Scope<'_>) -> SessionRecord {
        self.sessions.get(&thread).cloned().unwrap_or_else(|| {
            let configuration = &self.strategy.configuration;
            let agent = at.state(thread).agent.clone();
            let derived = || self.derived(&[], &agent);
            let permission = if thread == ThreadId::ROOT { vec![] } else { derived() };
            let (model, variant) = (configuration.model.clone(), configuration.variant.clone());
            SessionRecord { title: String::new(), agent, permission, model, variant }
        })
    }

    /// The rules of a session for an agent, under a session with these.
    fn derived(&self, parent: &[Rule], agent: &str) -> Vec<Rule> {
        permission::derive(parent, self.agents.rules(agent), &self.strategy.configuration.primary_tools, self.strategy.profile)
    }

    /// The session of a thread that a call has opened, or that was there before.
    pub fn stored(&self, thread: ThreadId) -> Option<&SessionRecord> {
        self.sessions.get(&thread)
    }

    /// The user message that a call has put into its child, where it is more than the prompt.
    pub fn prompt_of(&self, call: CallKey) -> Option<&[UserPart]> {
        self.prompts.get(&call).map(Vec::as_slice)
    }

    fn phrased(&self, intent: &Intent, prompt: &str, child: Option<&Handle>) -> Option<Call> {
        let arguments = Arguments {
            description: intent.title.clone(),
            prompt: prompt.into(),
            subagent_type: intent.agent.clone(),
            task_id: child.map(|child| child.0.clone()),
            command: None,
            background: self.in_background().then_some(true),
        };
        Some(Call { name: TOOL.into(), args: arguments.encode() })
    }

    /// The product's checks in the product's order; the error is the call's result.
    fn check(&self, call: &ToolCall, at: &Scope<'_>) -> Result<Arguments, String> {
        let (profile, configuration) = (self.strategy.profile, &self.strategy.configuration);
        let mut arguments = Arguments::decode(call.args.as_text())?;
        if !profile.background {
            arguments.background = None;
        }
        if arguments.background == Some(true) && !self.in_background() {
            return Err(text::NO_BACKGROUND.into());
        }
        let limit = profile.depth.map(|default| configuration.subagent_depth.unwrap_or(default));
        if let Some(limit) = limit.filter(|limit| at.me().depth >= *limit) {
            return Err(text::too_deep(limit));
        }
        let caller = self.record(at.thread, at);
        let asked = permission::may_delegate(&arguments.subagent_type, self.agents.rules(&caller.agent), &caller.permission);
        match (asked.map_err(|rules| text::denied(&rules))?, &configuration.answer) {
            (Action::Ask, Answer::Reject(comment)) => return Err(text::rejected(comment.as_deref())),
            (Action::Ask | Action::Allow | Action::Deny, _) => {}
        }
        if self.agents.get(&arguments.subagent_type).is_none() {
            return Err(text::unknown_agent(&arguments.subagent_type));
        }
        // An empty id is as good as none (read in `tool/task.ts` of sources around 1.18.33: a test for truth).
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

    /// Whom a call's prompt is for. A model of its own takes an agent's variant with it; else both are the caller's.
    fn speaker(&self, agent: &str, caller: &SessionRecord) -> Speaker {
        let own = self.agents.get(agent);
        let (model, variant) = (own.and_then(|own| own.model.clone()), own.and_then(|own| own.variant.clone()));
        let inherited = caller.variant.clone().filter(|_| model.is_none() && self.strategy.profile.variants);
        Speaker { agent: agent.to_owned(), model: model.or_else(|| caller.model.clone()), variant: inherited.or(variant) }
    }

    fn delegate(&mut self, call: &ToolCall, at: &Scope<'_>) -> Vec<Order> {
        let arguments = match self.check(call, at) {
            Ok(arguments) => arguments,
            Err(why) => return vec![Order::refuse(call, why)],
        };
        let configuration = &self.strategy.configuration;
        let place = Place { worktree: &configuration.worktree, home: &configuration.home, files: at.files };
        let parts = prompt::parts(&arguments.prompt, &place, &self.agents, self.agents.rules(&arguments.subagent_type));
        let items = vec![prompt::message(&parts)];
        if parts.len() > 1 {
            self.prompts.insert(call.key, parts);
        }
        let Some(child) = arguments.task_id.as_deref().and_then(|id| self.named(id, at)) else {
            return vec![Order::open(call.key, New::agent(arguments.subagent_type), items)];
        };
        let mut orders = vec![Order::Put { to: To::Thread(child), items, when: When::Turn, by: Some(call.key) }];
        let caller = self.record(at.thread, at);
        let speaker = self.speaker(&arguments.subagent_type, &caller);
        if let Some(job) = self.jobs.get_mut(&child) {
            job.queued.push_back(speaker);
            if self.strategy.profile.background {
                let handle = handle(child);
                let told = text::wrapper(&handle, State::Running, Some("Background task updated"), text::UPDATED);
                orders.push(Order::reply(call, told).meaning(Means::Started(handle)));
            } else {
                job.calls.push(call.clone());
            }
            return orders;
        }
        let record = self.record(child, at);
        self.sessions.insert(child, record);
        self.speaks(child, speaker);
        orders.extend(self.start(call, child, arguments, at.thread));
        orders
    }

    /// A session that was created for a call, and its job.
    fn opened(&mut self, call: &ToolCall, child: ThreadId, at: &Scope<'_>) -> Option<Order> {
        let arguments = Arguments::decode(call.args.as_text()).ok()?;
        let caller = self.record(at.thread, at);
        let permission = self.derived(&caller.permission, &arguments.subagent_type);
        let title = text::title(&arguments.description, &arguments.subagent_type);
        let Speaker { agent, model, variant } = self.speaker(&arguments.subagent_type, &caller);
        self.sessions.insert(child, SessionRecord { title, agent, permission, model, variant });
        self.start(call, child, arguments, at.thread)
    }

    /// The next turn of a session is this agent's. Title and rules stay.
    fn speaks(&mut self, child: ThreadId, speaker: Speaker) {
        if let Some(record) = self.sessions.get_mut(&child) {
            (record.agent, record.model, record.variant) = (speaker.agent, speaker.model, speaker.variant);
        }
    }

    /// A job begins: a background one is acknowledged at once, any other leaves its call open.
    fn start(&mut self, call: &ToolCall, child: ThreadId, arguments: Arguments, caller: ThreadId) -> Option<Order> {
        let background = arguments.background == Some(true) && self.strategy.profile.background;
        let (calls, description) = (vec![call.clone()], arguments.description);
        self.jobs.insert(child, Job { calls, caller, description, background, queued: VecDeque::new() });
        background.then(|| {
            let handle = handle(child);
            let told = text::wrapper(&handle, State::Running, Some("Background task started"), text::STARTED);
            Order::reply(call, told).meaning(Means::Started(handle))
        })
    }

    /// A turn of a child has ended. Its job goes on while further turns are queued, unless this one failed: a failure
    /// ends the job and drops what is queued (read in `packages/core/src/background-job.ts` of anomalyco/opencode at
    /// 0b8571837b, not in 1.18.33). Whoever is aborted takes its own children along.
    fn ended(&mut self, report: &Report<'_>, at: &Scope<'_>) -> Vec<Order> {
        let child = at.thread;
        self.compactions.remove(&child);
        let outcome = job::outcome(report, self.last.remove(&child).unwrap_or_default(), self.strategy.profile);
        let mut orders: Vec<Order> = Vec::new();
        if *report.end == End::Aborted {
            let children = at.threads.iter().filter(|state| state.parent == Some(child) && state.running + state.waiting > 0);
            orders.extend(children.map(|state| Order::Stop { thread: state.id }));
        }
        let waiting = at.me().waiting > 0;
        if waiting && matches!(outcome, Outcome::Completed(_)) {
            if let Some(speaker) = self.jobs.get_mut(&child).and_then(|job| job.queued.pop_front()) {
                self.speaks(child, speaker);
            }
            return orders;
        }
        let Some(job) = self.jobs.remove(&child) else { return orders };
        if waiting {
            orders.push(Order::Stop { thread: child });
        }
        if job.background {
            orders.extend(job::notice(&job, handle(child), outcome));
        } else {
            orders.extend(self.answer(&job, child, &outcome, at));
        }
        orders
    }

    /// The results of a foreground job's calls, cut if they are too large.
    fn answer(&self, job: &Job, child: ThreadId, outcome: &Outcome, at: &Scope<'_>) -> Vec<Order> {
        let handle = handle(child);
        let text = match outcome {
            Outcome::Completed(text) => text,
            Outcome::Failed(why) => {
                let (told, means) = (text::failed(&handle, why), Means::Failed(Some(handle)));
                return job.calls.iter().map(|call| Order::reply(call, told.as_str()).failed().meaning(means.clone())).collect();
            }
            Outcome::Cancelled => {
                let cancelled = |call| Order::reply(call, text::CANCELLED).failed().meaning(Means::Failed(None));
                return job.calls.iter().map(cancelled).collect();
            }
        };
        let profile = self.strategy.profile;
        let whole = text::finished(&handle, text, profile);
        let caller = self.record(job.caller, at).agent;
        let delegates = permission::decide(TOOL, "*", self.agents.rules(&caller).iter()) != Action::Deny;
        let returned = Means::Returned(Some(handle));
        let mut orders = Vec::new();
        for call in &job.calls {
            let path = format!("{}/{}", profile.output_folder, text::identifier("tool", call.key.0));
            match truncate(&whole, profile, &path, delegates) {
                None => orders.push(Order::reply(call, whole.as_str()).meaning(returned.clone())),
                Some(cut) => {
                    orders.push(Order::Write { path, text: whole.clone() });
                    orders.push(Order::reply(call, cut).meaning(returned.clone()));
                }
            }
        }
        orders
    }

    /// What an agent is shown: its prompt and its tools, less those that a rule hides. A built-in agent that the run does
    /// not know works with the root's. Where what the real client sends is asked for and known, that stands for both.
    fn shown(&mut self, record: &SessionRecord, at: &Scope<'_>) -> View {
        let known = self.run.agents.contains_key(&record.agent);
        let mut view = View::of(if known { &record.agent } else { &self.run.root }, &self.run);
        view.agent = record.agent.clone();
        let rules = || self.agents.rules(&record.agent).iter().chain(&record.permission);
        // A request cannot show two tools of one name.
        view.tools.retain(|tool| tool.name != TOOL && !permission::hides(&tool.name, rules()));
        if !permission::hides(TOOL, rules()) {
            let background = self.in_background();
            let tool = self.tools.entry(record.agent.clone());
            let tool = tool.or_insert_with(|| text::tool(&self.run, self.agents.offered(&record.agent), background));
            view.tools.push(tool.clone());
        }
        let Some(Scaffold { system, root, child }) = self.strategy.profile.scaffold.filter(|_| self.run.scaffold) else { return view };
        let tools = if at.thread == ThreadId::ROOT { root } else { child };
        View { system: Some(system.part()), tools: tools.measured(view.tools), ..view }
    }
}

impl Session for OpenCodeSession {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        match act {
            Act::Delegate(intent) => self.phrased(intent, &intent.task, None),
            Act::Continue { child, intent, text, wake: _ } => self.phrased(intent, text, Some(child)),
            Act::Wait(_) | Act::Close(_) | Act::Back | Act::Store(_) | Act::Read(_) => None,
        }
    }

    fn view(&mut self, history: &[Item], at: &Scope<'_>) -> View {
        let record = self.record(at.thread, at);
        match self.compactions.remove(&at.thread) {
            Some(Compaction::Due) => {
                self.compactions.insert(at.thread, Compaction::Due);
                Compaction::asked(&record.agent, history)
            }
            Some(Compaction::Summarised(summary)) => {
                let splices = vec![Compaction::replaced(summary, history)];
                View { splices, ..self.shown(&record, at) }
            }
            None => self.shown(&record, at),
        }
    }

    fn turn(&mut self, reply: AssistantTurn, _: &[Item], at: &Scope<'_>) -> Turn {
        // The product compacts every session alike. Here only children are, as it was measured: what a root's history
        // becomes is the scenario's to compare.
        if at.thread == ThreadId::ROOT {
            return reply.into();
        }
        let calls = reply.calls.iter().map(|call| call.key).collect();
        self.last.insert(at.thread, LastMessage { text: reply.text.clone(), calls });
        let more = compaction::is_due(&reply);
        if more {
            self.compactions.insert(at.thread, Compaction::Due);
        }
        Turn { more, ..reply.into() }
    }

    fn route(&mut self, call: &ToolCall, _: ParentView<'_>, at: &Scope<'_>) -> Route {
        if call.name == TOOL { Route::Do(self.delegate(call, at)) } else { Route::Tool }
    }

    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => vec![Order::input(items, When::Turn, at)],
            Event::Opened { by: Some(call), child: Ok(child) } => self.opened(call, child, at).into_iter().collect(),
            Event::Ended(report) => self.ended(&report, at),
            Event::Aside(reply) => {
                self.compactions.insert(at.thread, Compaction::Summarised(reply.text.into()));
                vec![]
            }
            // A ceiling of the harness is reported in the harness's words.
            Event::Opened { .. } | Event::Waiting { .. } => vec![],
        }
    }
}
