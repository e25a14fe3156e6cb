//! `maf-python`: agents as tools in Microsoft Agent Framework, as `agent-framework-core` 1.23.0 (Python) behaves.
//!
//! The facts are from runs of that version and from `python/packages/core/agent_framework` of
//! microsoft/agent-framework at 5eb3eb745e. Every agent but the root's is one tool with one text, `task`; the child opens
//! with that text alone. What comes back is the text of *all* the child's messages joined with nothing, so whatever it
//! said between its tool calls reaches its parent too. Error texts are literal.
//!
//! Assumed, since it is not established: tools that are turned off are not sent; shared sessions take what children said
//! in the order in which they ended; of two agents with one tool name the first is kept. Not here: approval and other
//! requests to the user, streaming callbacks, detailed errors.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::transcript::{Body, Handle, Item, Means, Origin, Role, ToolCall};

use super::{
    Act, AssistantTurn, Call, End, Event, New, Order, ParentView, Report, Route, RunContext, Scope, Session, Strategy, ThreadId, To,
    ToolSpec, Turn, View, When,
};

/// Requests of a turn that may have their calls made.
const ITERATIONS: u32 = 40;
/// Iterations in a row with a failed call that are borne.
const ERRORS: u32 = 3;
/// What ends the turn of a model that still calls tools when it has none, and says nothing else.
const LIMIT: &str = "Function invocation limit reached before a final answer could be produced.";
/// A child that did not end well, or an exception.
const FAILED: &str = "Error: Function failed.";
/// A missing, extra or non-text argument.
const ARGUMENTS: &str = "Error: Argument parsing failed.";

/// MAF's Python agents as tools.
#[derive(Clone, Copy, Debug, Default)]
pub struct MafPython {
    /// The child gets a copy of the parent's stored session and adds to it. What the parent says in the turn in progress
    /// is stored at its end only, so a child of the first turn reads nothing of it.
    pub propagate_session: bool,
    /// One session an agent for the whole run, as an application keeps it; else a fresh one a call. Without effect where
    /// the parent's session is propagated: that is then the only one.
    pub kept: bool,
}

impl Strategy for MafPython {
    fn id(&self) -> String {
        let options = match (self.propagate_session, self.kept) {
            (false, false) => "",
            (true, false) => ":propagate_session=true",
            (false, true) => ":session=kept",
            (true, true) => ":propagate_session=true,session=kept",
        };
        format!("maf-python@1.23.0{options}")
    }

    fn hands_history_down(&self) -> bool {
        self.propagate_session
    }

    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        let mut tools = BTreeMap::new();
        for agent in run.agents.keys().filter(|name| **name != run.root) {
            tools.entry(tool_name(agent)).or_insert_with(|| agent.clone());
        }
        let kept = self.kept && !self.propagate_session;
        let shared = self.propagate_session.then(Shared::default);
        Box::new(MafSession { run: run.clone(), tools, kept, sessions: BTreeMap::new(), shared })
    }
}

/// An agent's name as a tool's: other characters become `_`, runs of `_` one, none at the ends; `agent` for nothing, `_`
/// before a digit.
pub fn tool_name(agent: &str) -> String {
    let words: Vec<&str> = agent.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let name = words.join("_");
    match name.chars().next() {
        None => "agent".into(),
        Some(first) if first.is_ascii_digit() => format!("_{name}"),
        Some(_) => name,
    }
}

/// The product's description is the agent's own, and agents have none here.
fn tool(name: &str) -> ToolSpec {
    let task = json!({"type": "string", "description": format!("Task for {name}")});
    let schema = json!({"type": "object", "properties": {"task": task}, "required": ["task"], "additionalProperties": false});
    ToolSpec::new(name, "", schema)
}

struct MafSession {
    run: RunContext,
    /// Agents by the name of their tool.
    tools: BTreeMap<String, String>,
    kept: bool,
    /// Kept sessions by the name of the tool.
    sessions: BTreeMap<String, ThreadId>,
    shared: Option<Shared>,
}

/// The stored session that the root and its children share. What a child says is stored when it ends, what the root says
/// when its turn ends: behind all that its children said meanwhile.
#[derive(Default)]
struct Shared {
    /// By turn of the root: where its items begin in the root's history, and what children left while it ran.
    turns: BTreeMap<u32, (usize, Vec<Item>)>,
}

impl Shared {
    /// What is stored while the newest turn runs, given the root's history.
    fn stored(&self, root: &[Item]) -> Vec<Item> {
        let mut items = Vec::new();
        let mut from = 0;
        for (begin, left) in self.turns.values() {
            items.extend(root.get(from..*begin).unwrap_or_default().iter().map(Item::inherited));
            items.extend(left.iter().map(Item::inherited));
            from = *begin;
        }
        items
    }

    /// What stands in the root's requests beside its history: what children left in its earlier turns.
    fn splices(&self, turn: u32) -> Vec<super::Splice> {
        let earlier = self.turns.range(..turn).filter(|(_, (_, left))| !left.is_empty());
        let of_child = |item: &Item| {
            let mut item = item.inherited();
            item.origin = Origin::Delegated;
            item
        };
        earlier
            .map(|(_, (begin, left))| super::Splice { at: *begin, remove: 0, items: left.iter().map(of_child).collect(), keep: false })
            .collect()
    }
}

/// Iterations at the end of a turn in which a call failed.
fn failing(turn: &[Item]) -> u32 {
    let mut row = 0;
    let mut iteration = None;
    for item in turn.iter().map(Some).chain([None]) {
        if let Some(Body::Result { failed, .. }) = item.map(Item::body) {
            iteration = Some(iteration.unwrap_or(false) || *failed);
            continue;
        }
        match iteration.take() {
            Some(true) => row += 1,
            Some(false) => row = 0,
            None => {}
        }
    }
    row
}

/// Whether tools are off for the request behind this history, of which the turn has sent so many before.
fn off(history: &[Item], own: usize, sent: u32) -> bool {
    sent >= ITERATIONS || failing(history.get(own..).unwrap_or_default()) >= ERRORS
}

/// All that the child said in its turn: the texts of a message joined by a blank, messages by nothing.
fn said(report: &Report<'_>) -> String {
    let own = report.items.get(report.own..).unwrap_or_default().iter();
    let messages = own.filter(|item| item.origin == Origin::Own && item.role() == Some(Role::Assistant));
    messages.map(|item| item.parts().iter().map(|part| part.as_text()).collect::<Vec<_>>().join(" ")).collect()
}

/// The one argument; anything else that the schema does not have is an error.
fn task(call: &ToolCall) -> Option<String> {
    let args = serde_json::from_str::<Value>(call.args.as_text()).ok()?;
    let fields = args.as_object().filter(|fields| fields.len() == 1)?;
    fields.get("task")?.as_str().map(str::to_owned)
}

impl MafSession {
    fn delegate(&mut self, call: &ToolCall, agent: &str, parent: ParentView<'_>) -> Order {
        let Some(task) = task(call) else { return Order::refuse(call, ARGUMENTS) };
        let mut items = self.shared.as_ref().map(|shared| shared.stored(parent.items)).unwrap_or_default();
        items.push(Item::user(Origin::Task, task));
        match self.sessions.get(&call.name) {
            Some(&thread) => Order::Put { to: To::Thread(thread), items, when: When::Overlap, by: Some(call.key) },
            None => Order::open(call.key, New { keep_failed: false, ..New::agent(agent) }, items),
        }
    }

    fn answer(&mut self, call: &ToolCall, report: &Report<'_>) -> Order {
        // A kept session goes by the name of its tool, which stands in the call.
        let handle = self.kept.then(|| Handle(call.name.clone()));
        if *report.end != End::Done {
            return Order::reply(call, FAILED).failed().meaning(Means::Failed(handle));
        }
        if let Some((_, left)) = self.shared.as_mut().and_then(|shared| shared.turns.values_mut().next_back()) {
            left.extend(report.items.iter().filter(|item| item.origin != Origin::Inherited).cloned());
        }
        Order::reply(call, said(report)).meaning(Means::Returned(handle))
    }
}

impl Session for MafSession {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        let call = |name: String, task: &str| Some(Call { name, args: json!({ "task": task }).to_string() });
        match act {
            Act::Delegate(intent) => {
                let name = tool_name(&intent.agent);
                (self.tools.get(&name) == Some(&intent.agent)).then(|| call(name, &intent.task)).flatten()
            }
            Act::Continue { child, text, wake: true, .. } if self.kept => call(child.0.clone(), text),
            Act::Continue { .. } | Act::Wait(_) | Act::Close(_) | Act::Back => None,
        }
    }

    fn view(&mut self, history: &[Item], at: &Scope<'_>) -> View {
        let mut view = View::of(&at.me().agent, &self.run);
        if at.me().depth == 0 {
            // A request cannot show two tools of one name.
            view.tools.retain(|tool| !self.tools.contains_key(&tool.name));
            view.tools.extend(self.tools.keys().map(|name| tool(name)));
            if let Some(shared) = &mut self.shared {
                shared.turns.entry(at.turn).or_insert_with(|| (at.own, Vec::new()));
                view.splices = shared.splices(at.turn);
            }
        }
        let names = super::names::of_earlier_turns(history, at.own, &view.agent);
        view.splices.extend(names);
        // What is put in before an item comes before what the item becomes.
        view.splices.sort_by_key(|splice| (splice.at, splice.remove));
        if off(history, at.own, at.exchange) {
            view.tools.clear();
        }
        view
    }

    fn turn(&mut self, reply: AssistantTurn, history: &[Item], at: &Scope<'_>) -> Turn {
        // The request of this reply is among those sent.
        if reply.calls.is_empty() || !off(history, at.own, at.exchange.saturating_sub(1)) {
            return reply.into();
        }
        // What it said stays; the fixed text stands only where it said nothing that can be seen.
        let text = if reply.text.trim().is_empty() { LIMIT.into() } else { reply.text };
        Turn { text, cut: reply.calls, finish: true, ..Turn::default() }
    }

    fn route(&mut self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Route {
        if at.me().depth == 0
            && let Some(agent) = self.tools.get(&call.name).cloned()
        {
            return Route::Do(vec![self.delegate(call, &agent, parent)]);
        }
        if self.run.agent(&at.me().agent).tools.iter().any(|tool| tool.name == call.name) {
            return Route::Tool;
        }
        Route::Do(vec![Order::reply(call, format!("Error: Requested function \"{}\" not found.", call.name)).failed()])
    }

    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => vec![Order::input(items, When::Turn, at)],
            Event::Opened { by: Some(call), child: Ok(thread) } => {
                if self.kept {
                    // Calls of one message are routed one after the other: the second one already finds the session.
                    self.sessions.insert(call.name.clone(), thread);
                }
                vec![]
            }
            Event::Opened { by: Some(call), child: Err(_) } => vec![Order::refuse(call, FAILED)],
            Event::Ended(report) => report.by.map(|call| self.answer(call, &report)).into_iter().collect(),
            Event::Opened { .. } | Event::Waiting { .. } | Event::Aside(_) => vec![],
        }
    }
}
