//! One run under DeerFlow.

use std::collections::BTreeMap;

use crate::strategy::{
    Act, AssistantTurn, Call, End, Event, New, Order, ParentView, Report, Route, RunContext, Scope, Session, Splice, ThreadId, ToolSpec,
    Turn, View, When,
};
use crate::transcript::{Body, CallKey, Item, Means, Origin, Part, Role, ToolCall};

use super::arguments::{Arguments, Written, WrittenEarlier};
use super::ledger::{self, Ledger};
use super::ledger_block::LedgerBlock;
use super::limit::{self, Limits};
use super::opening::{self, Opened, Opening, Policy, Refusal};
use super::settled::Snapshots;
use super::status::{Outcome, Status, Told};
use super::text::{self, TOOL};
use super::value::Value;
use super::{ContextMode, DeerFlow, Profile, budget, frame, message, report, scaffold};

/// How often a running task is looked at, in milliseconds.
const POLL_MS: u64 = 5_000;

/// What a type of sub-agent may take: seconds, and requests. Built-in types have limits of their own.
fn limits_of(agent: &str) -> (u64, u32) {
    match agent {
        "general-purpose" => (1_800, 150),
        "bash" => (1_800, 60),
        _ => (900, 50),
    }
}

/// A child at work.
struct Child {
    call: CallKey,
    agent: String,
    /// The text of its last message.
    last: String,
    /// The acceptance criteria of its task.
    criteria: Vec<String>,
}

pub(super) struct DeerFlowSession {
    strategy: DeerFlow,
    run: RunContext,
    tool: ToolSpec,
    policy: Policy,
    /// What results keep beside their text.
    told: BTreeMap<CallKey, Told>,
    ledger: Ledger,
    /// The root's turn that the ledger was last brought up to, and where its items begin.
    seen: Option<(u32, usize)>,
    children: BTreeMap<ThreadId, Child>,
    snapshots: Snapshots,
    block: LedgerBlock,
}

impl DeerFlowSession {
    pub(super) fn new(strategy: DeerFlow, run: RunContext) -> DeerFlowSession {
        let tool = text::tool(&run, strategy.profile);
        // The simulated world is no host: what runs in it harms nobody.
        let types = text::types(&run).into_iter().map(str::to_owned).collect();
        let policy = Policy { types: Some(types), host_bash: true };
        let (told, ledger, seen, children, snapshots, block) = Default::default();
        DeerFlowSession { strategy, run, tool, policy, told, ledger, seen, children, snapshots, block }
    }

    fn delegate(&mut self, call: &ToolCall, parent: ParentView<'_>, thread: ThreadId) -> Order {
        let args = Value::parse(call.args.as_text()).unwrap_or(Value::None);
        let profile = self.strategy.profile;
        let snapshots = &mut self.snapshots;
        let capture = || {
            // Calls of one reply see one state: what a sibling has been answered already is not in it.
            let reply_ends = parent.items.iter().rposition(|item| item.as_call().is_some()).map_or(parent.items.len(), |at| at + 1);
            snapshots.of(profile, thread, parent.items.get(..reply_ends).unwrap_or_default())
        };
        match opening::open(profile, &args, &self.policy, capture) {
            Ok(Opening { agent, snapshot, task, .. }) => {
                let task = Item::user(Origin::Task, task.join("\n\n"));
                let task = if self.frames() { task.named(frame::NAME) } else { task };
                let items = snapshot.into_iter().chain([task]).collect();
                Order::open(call.key, New::agent(agent), items)
            }
            Err(Refusal::Error(why)) => self.refuse(call, why),
            // Items hold nothing at which the product raises.
            Err(Refusal::Raised(raised)) => self.refuse(call, raised.0.to_owned()),
        }
    }

    fn refuse(&mut self, call: &ToolCall, why: String) -> Order {
        let outcome = Outcome::failed(why);
        self.told.insert(call.key, Told::of(&outcome));
        Order::refuse(call, outcome.message())
    }

    /// The result of a task: seen at the next look, and a preview if it is long.
    fn answer(&mut self, call: &ToolCall, outcome: &Outcome, criteria: &[String], elapsed_ms: u64) -> Vec<Order> {
        self.told.insert(call.key, Told::of(outcome));
        let completed = outcome.status == Status::Completed;
        let whole = outcome.message();
        let whole = if completed { text::with_checklist(whole, criteria) } else { whole };
        let path = budget::result_path(call.key);
        let mut orders = Vec::new();
        let shown = match budget::cut(&whole, Some(&path)) {
            Some(preview) => {
                orders.push(Order::Write { path, text: whole });
                preview
            }
            None => whole,
        };
        let reply = Order::reply(call, shown).after((POLL_MS - elapsed_ms % POLL_MS) % POLL_MS);
        orders.push(if completed { reply.meaning(Means::Returned(None)) } else { reply.failed().meaning(Means::Failed(None)) });
        orders
    }

    /// A child's turn has ended; one that was answered already says nothing.
    fn ended(&mut self, call: &ToolCall, child: ThreadId, report: &Report<'_>) -> Vec<Order> {
        let Some(Child { agent, last, criteria, .. }) = self.children.remove(&child) else { return vec![] };
        let outcome = match report.end {
            End::Done => report::finished(&last),
            End::Stopped(_) => report::used_up(&last, limits_of(&agent).1),
            End::Aborted => Outcome { status: Status::Cancelled, cap: None, text: text::CANCELLED.into() },
            End::Failed(why) | End::Ceiling(why) => Outcome::failed(why.as_str()),
        };
        self.answer(call, &outcome, &criteria, report.elapsed_ms)
    }

    /// A child has had as long as it may.
    fn timed_out(&mut self, call: &ToolCall) -> Vec<Order> {
        let Some(child) = self.children.iter().find(|(_, child)| child.call == call.key).map(|(&thread, _)| thread) else { return vec![] };
        // What it says from here on is nobody's.
        let Some(Child { agent, criteria, .. }) = self.children.remove(&child) else { return vec![] };
        let seconds = limits_of(&agent).0;
        let outcome = Outcome { status: Status::TimedOut, cap: None, text: text::timed_out(seconds) };
        let mut orders = vec![Order::Stop { thread: child }];
        orders.extend(self.answer(call, &outcome, &criteria, seconds * 1_000));
        orders
    }

    /// Brings the ledger up to a history of the root: a run is a turn of the user, and what came before the first one is of
    /// no run.
    fn learn(&mut self, history: &[Item], at: &Scope<'_>) {
        let (before, begins) = self.seen.unwrap_or((0, 0));
        let own = at.own.min(history.len());
        if before != at.turn {
            let earlier = history.get(begins.min(own)..own).unwrap_or_default();
            let run = (before > 0).then_some(before);
            self.ledger.learn(ledger::extract(&message::of_items(earlier, &self.told)), run);
            self.seen = Some((at.turn, own));
        }
        let now = history.get(own..).unwrap_or_default();
        self.ledger.learn(ledger::extract(&message::of_items(now, &self.told)), Some(at.turn));
    }

    /// What stands behind a child's own system text: notes on its snapshot and its criteria.
    fn child_notes(&self, opening: Option<&Item>, thread: ThreadId) -> Vec<&'static str> {
        let opened = Opened {
            snapshot: opening.is_some_and(|item| item.hidden && item.origin == Origin::Inherited),
            criteria: self.children.get(&thread).is_some_and(|child| !child.criteria.is_empty()),
        };
        opening::notes(false, opened)
    }

    /// Whether the last words of a person stand in a frame, as on the wire.
    fn frames(&self) -> bool {
        self.run.scaffold || self.strategy.profile == Profile::F1f4af9
    }
}

/// A system text with further ones behind it.
fn behind(system: Option<Part>, more: &[&str]) -> Option<Part> {
    if more.is_empty() {
        return system;
    }
    let first = system.iter().map(Part::as_text).filter(|text| !text.is_empty());
    Some(Part::text(first.chain(more.iter().copied()).collect::<Vec<_>>().join("\n\n")))
}

/// Where the ledger stands: behind what a history opens with for the system.
fn behind_system(history: &[Item]) -> usize {
    let leads = |item: &Item| matches!(item.role(), Some(Role::System | Role::Developer)) || matches!(item.body(), Body::Context { .. });
    history.iter().take_while(|item| leads(item)).count()
}

impl Session for DeerFlowSession {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        let Act::Delegate(intent) = act else { return None };
        // The root's own agent is none of the types that it is shown.
        if intent.agent == self.run.root {
            return None;
        }
        let (prompt, subagent_type, description) = (intent.task.as_str(), intent.agent.as_str(), intent.title.as_str());
        let mode = self.strategy.context_mode;
        let context_mode = (mode != ContextMode::Absent).then(|| mode.name());
        let args = match self.strategy.profile.has_modes() {
            true => serde_json::to_string(&Written { prompt, subagent_type, description, context_mode }),
            false => serde_json::to_string(&WrittenEarlier { description, prompt, subagent_type }),
        };
        Some(Call { name: TOOL.into(), args: args.ok()? })
    }

    fn view(&mut self, history: &[Item], at: &Scope<'_>) -> View {
        let mut view = View::of(&at.me().agent, &self.run);
        // A request cannot show two tools of one name.
        view.tools.retain(|tool| tool.name != TOOL);
        if at.me().depth > 0 {
            let most = limits_of(&at.me().agent).1;
            if at.exchange >= most {
                view.stop = Some(End::Stopped(text::turns_used_up(most)));
            }
            let notes = self.child_notes(history.first(), at.thread);
            if self.run.scaffold {
                scaffold::child(&mut view, &notes);
            } else {
                view.system = behind(view.system, &notes);
            }
        } else {
            self.learn(history, at);
            let block = self.block.of(self.ledger.entries());
            view = view.tool(self.tool.clone());
            if self.run.scaffold {
                scaffold::root(&mut view, block.is_some());
            } else if block.is_some() {
                view.system = behind(view.system, &[text::CONTRACT]);
            }
            if let Some(item) = block {
                view.splices.push(Splice { at: behind_system(history), remove: 0, items: vec![item], keep: false });
            }
        }
        if self.frames() {
            // Behind the system's messages, as the ledger: a person's message is none of them.
            view.splices.extend(frame::splice(history));
        }
        view
    }

    fn turn(&mut self, reply: AssistantTurn, history: &[Item], at: &Scope<'_>) -> Turn {
        if at.me().depth > 0 {
            if let Some(child) = self.children.get_mut(&at.thread) {
                child.last.clone_from(&reply.text);
            }
            return reply.into();
        }
        self.learn(history, at);
        let made = limit::made(self.ledger.entries().iter().map(|entry| (entry.id.as_str(), entry.run)), Some(&at.turn));
        let mut turn = Turn::from(reply);
        let Some(verdict) = Limits::default().judge(turn.calls.iter().map(|call| call.name.as_str()), made) else { return turn };
        let stays = verdict.keep.into_iter().zip(std::mem::take(&mut turn.calls));
        for (stays, call) in stays {
            if stays { turn.calls.push(call) } else { turn.cut.push(call) }
        }
        if verdict.used_up
            && let Value::Text(text) = limit::noted(&Value::Text(std::mem::take(&mut turn.text)))
        {
            turn.text = text;
        }
        turn
    }

    fn route(&mut self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Route {
        if call.name != TOOL || at.me().depth > 0 {
            return Route::Tool;
        }
        Route::Do(vec![self.delegate(call, parent, at.thread)])
    }

    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            // The last message that opens a run is named, unless it has a name.
            Event::Input([before @ .., last]) if self.frames() => {
                let last = if last.name().is_some() { last.clone() } else { last.clone().named(frame::NAME) };
                vec![Order::input(&[before, &[last]].concat(), When::Turn, at)]
            }
            Event::Input(items) => vec![Order::input(items, When::Turn, at)],
            Event::Opened { by: Some(call), child: Ok(child) } => {
                let agent = at.state(child).agent.clone();
                let timeout_ms = limits_of(&agent).0 * 1_000;
                let args = Value::parse(call.args.as_text()).unwrap_or(Value::None);
                let criteria = Arguments::decode(self.strategy.profile, &args).map(|asked| asked.criteria).unwrap_or_default();
                self.children.insert(child, Child { call: call.key, agent, last: String::new(), criteria });
                vec![Order::Wait { call: call.key, timeout_ms }]
            }
            Event::Opened { by: Some(call), child: Err(why) } => vec![self.refuse(call, why.to_owned())],
            Event::Ended(report) => report.by.map(|call| self.ended(call, at.thread, &report)).unwrap_or_default(),
            Event::Waiting { call, timed_out: true } => self.timed_out(call),
            Event::Opened { .. } | Event::Waiting { .. } | Event::Aside(_) => vec![],
        }
    }
}
