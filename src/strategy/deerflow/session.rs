//! One run under DeerFlow.

use std::collections::{BTreeMap, BTreeSet};

use crate::strategy::{
    Act, AssistantTurn, Call, End, Event, New, Order, ParentView, Report, Route, RunContext, Scope, Session, Splice, ThreadId, ToolSpec,
    Turn, View, When,
};
use crate::transcript::{Body, CallKey, Item, Means, Origin, Part, Role, ToolCall};

use super::arguments::{Arguments, Written};
use super::ledger::{self, Status, Told};
use super::text::{self, TOOL};
use super::{ContextMode, DeerFlow};

/// Delegations of one reply (`MAX_CONCURRENT_SUBAGENTS`).
const AT_ONCE: usize = 3;
/// Delegations of a run, which is one turn of the user.
const IN_ALL: usize = 6;
/// How often a running task is looked at, in milliseconds.
const POLL_MS: u64 = 5_000;

pub(super) struct DeerFlowSession {
    strategy: DeerFlow,
    run: RunContext,
    tool: ToolSpec,
    told: BTreeMap<CallKey, Told>,
    /// The text of each child's last message.
    last: BTreeMap<ThreadId, String>,
    /// Children whose task has acceptance criteria.
    with_criteria: BTreeSet<ThreadId>,
}

impl DeerFlowSession {
    pub(super) fn new(strategy: DeerFlow, run: RunContext) -> DeerFlowSession {
        let tool = text::tool(&run);
        DeerFlowSession { strategy, run, tool, told: BTreeMap::new(), last: BTreeMap::new(), with_criteria: BTreeSet::new() }
    }

    /// The product's checks in the product's order, then the capture.
    fn delegate(&self, call: &ToolCall, parent: ParentView<'_>) -> Result<Order, String> {
        let arguments = Arguments::decode(call.args.as_text())?;
        let known = text::types(&self.run);
        if !known.contains(&arguments.subagent_type.as_str()) {
            return Err(text::unknown_type(&arguments.subagent_type, &known));
        }
        let mut items = Vec::new();
        if arguments.snapshot {
            // Calls of one reply see one state: what a sibling has been answered already is not in it.
            let reply_ends = parent.items.iter().rposition(|item| item.as_call().is_some()).map_or(parent.items.len(), |at| at + 1);
            items.extend(self.strategy.profile.snapshot(&parent.items[..reply_ends]));
        }
        items.push(Item::user(Origin::Task, text::task(&arguments.prompt, &arguments.criteria)));
        Ok(Order::open(call.key, New::agent(arguments.subagent_type), items))
    }

    fn refuse(&mut self, call: &ToolCall, why: String) -> Order {
        let error = why.strip_prefix("Task failed. Error: ").unwrap_or(&why).to_owned();
        self.told.insert(call.key, Told { status: Status::Failed, text: error });
        Order::refuse(call, why)
    }

    /// The result of a task whose turn has ended: seen at the next look, and a preview if it is long.
    fn answer(&mut self, call: &ToolCall, child: ThreadId, report: &Report<'_>) -> Vec<Order> {
        let last = self.last.remove(&child).unwrap_or_default();
        let (told, whole, means) = match report.end {
            End::Done => {
                // White space is an answer; nothing is looked for in earlier messages.
                let text = if last.is_empty() { "No response generated".to_owned() } else { last };
                let whole = text::succeeded(&text);
                (Told { status: Status::Completed, text }, whole, Means::Returned(None))
            }
            End::Aborted => {
                let whole = text::cancelled().to_owned();
                (Told { status: Status::Cancelled, text: whole.clone() }, whole, Means::Failed(None))
            }
            End::Failed(why) | End::Stopped(why) | End::Ceiling(why) => {
                let error = if why.trim().is_empty() { text::FAILED } else { why };
                (Told { status: Status::Failed, text: error.to_owned() }, text::failed(why), Means::Failed(None))
            }
        };
        let failed = told.status != Status::Completed;
        self.told.insert(call.key, told);
        let path = text::result_path(call.key);
        let mut orders = Vec::new();
        let shown = match text::preview(&whole, &path) {
            Some(preview) => {
                orders.push(Order::Write { path, text: whole });
                preview
            }
            None => whole,
        };
        let reply = Order::reply(call, shown).meaning(means).after((POLL_MS - report.elapsed_ms % POLL_MS) % POLL_MS);
        orders.push(if failed { reply.failed() } else { reply });
        orders
    }

    /// A child's system text: its prompt, and notes on what stands in its opening.
    fn child_system(&self, system: Option<Part>, opening: Option<&Item>, thread: ThreadId) -> Option<Part> {
        let snapshot = opening.is_some_and(|item| item.hidden && item.origin == Origin::Inherited);
        let note = snapshot.then_some(text::SNAPSHOT_NOTE);
        let pointer = self.with_criteria.contains(&thread).then_some(text::CRITERIA_POINTER);
        behind(system, note.into_iter().chain(pointer))
    }
}

/// A system text with further ones behind it.
fn behind<'a>(system: Option<Part>, more: impl Iterator<Item = &'a str>) -> Option<Part> {
    let more: Vec<&str> = more.collect();
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
        let mode = self.strategy.context_mode;
        let written = Written {
            prompt: &intent.task,
            subagent_type: &intent.agent,
            description: &intent.title,
            context_mode: (mode != ContextMode::Absent).then(|| mode.name()),
        };
        Some(Call { name: TOOL.into(), args: serde_json::to_string(&written).ok()? })
    }

    fn view(&mut self, history: &[Item], at: &Scope<'_>) -> View {
        let mut view = View::of(&at.me().agent, &self.run);
        // A request cannot show two tools of one name.
        view.tools.retain(|tool| tool.name != TOOL);
        if at.me().depth > 0 {
            view.system = self.child_system(view.system, history.first(), at.thread);
            return view;
        }
        if let Some(ledger) = ledger::ledger(history, &self.told) {
            view.system = behind(view.system, std::iter::once(text::CONTRACT));
            view.splices.push(Splice { at: behind_system(history), remove: 0, items: vec![ledger], keep: false });
        }
        view.tool(self.tool.clone())
    }

    fn turn(&mut self, reply: AssistantTurn, history: &[Item], at: &Scope<'_>) -> Turn {
        if at.me().depth > 0 {
            self.last.insert(at.thread, reply.text.clone());
            return reply.into();
        }
        let left = IN_ALL.saturating_sub(ledger::made(history, at.own));
        let mut turn = Turn::from(reply);
        let mut allowed = left.min(AT_ONCE);
        for call in std::mem::take(&mut turn.calls) {
            if call.name != TOOL {
                turn.calls.push(call);
            } else if allowed > 0 {
                allowed -= 1;
                turn.calls.push(call);
            } else {
                turn.cut.push(call);
            }
        }
        if !turn.cut.is_empty() && left == 0 {
            let gap = if turn.text.is_empty() { "" } else { "\n\n" };
            turn.text = format!("{}{gap}{}", turn.text, text::LIMIT_NOTE);
        }
        turn
    }

    fn route(&mut self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Route {
        if call.name != TOOL || at.me().depth > 0 {
            return Route::Tool;
        }
        Route::Do(vec![match self.delegate(call, parent) {
            Ok(order) => order,
            Err(why) => self.refuse(call, why),
        }])
    }

    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => vec![Order::input(items, When::Turn, at)],
            Event::Opened { by: Some(call), child: Ok(child) } => {
                if Arguments::decode(call.args.as_text()).is_ok_and(|arguments| !arguments.criteria.is_empty()) {
                    self.with_criteria.insert(child);
                }
                vec![]
            }
            Event::Opened { by: Some(call), child: Err(why) } => vec![self.refuse(call, text::failed(why))],
            Event::Ended(report) => report.by.map(|call| self.answer(call, at.thread, &report)).unwrap_or_default(),
            Event::Opened { .. } | Event::Waiting { .. } | Event::Aside(_) => vec![],
        }
    }
}
