//! The agents of a run as tools of its root, and their sessions.

use std::collections::BTreeMap;

use serde_json::json;

use crate::strategy::{Act, Call, New, Order, RunContext, Scope, ThreadId, To, ToolSpec, View, When};
use crate::transcript::{Handle, Item, ToolCall, ToolName};

/// One agent as a tool.
pub(super) struct Offered {
    /// The agent.
    pub(super) agent: String,
    /// The name of the tool's one argument.
    pub(super) argument: String,
    /// The tool as the model sees it.
    pub(super) tool: ToolSpec,
}

impl Offered {
    /// The schema of one required text and nothing else.
    pub(super) fn new(agent: &str, name: &str, about: &str, argument: &str, argument_about: &str) -> Offered {
        let text = json!({"type": "string", "description": argument_about});
        let schema = json!({"type": "object", "properties": {argument: text}, "required": [argument], "additionalProperties": false});
        Offered { agent: agent.into(), argument: argument.into(), tool: ToolSpec::new(name, about, schema) }
    }
}

/// All that a run offers.
pub(super) struct Offer {
    pub(super) run: RunContext,
    /// By the name of the tool.
    tools: BTreeMap<ToolName, Offered>,
    /// One session an agent for the whole run, else a fresh one a call.
    pub(super) kept: bool,
    /// Kept sessions by the name of the tool.
    sessions: BTreeMap<String, ThreadId>,
}

impl Offer {
    /// Offers every agent but the root's. Of two tools with one name the first is kept.
    pub(super) fn new(run: &RunContext, kept: bool, offered: impl Fn(&str) -> Option<Offered>) -> Offer {
        let mut tools = BTreeMap::new();
        for one in run.agents.keys().filter(|name| **name != run.root).filter_map(|agent| offered(agent)) {
            tools.entry(one.tool.name.clone()).or_insert(one);
        }
        Offer { run: run.clone(), tools, kept, sessions: BTreeMap::new() }
    }

    /// The agent that a call of this thread delegates to: the root alone has them as tools.
    pub(super) fn called(&self, call: &ToolCall, at: &Scope<'_>) -> Option<&Offered> {
        if at.me().depth == 0 { self.tools.get(call.name.as_str()) } else { None }
    }

    /// Whether a thread has a tool of this name at all.
    pub(super) fn knows(&self, tool: &str, at: &Scope<'_>) -> bool {
        (at.me().depth == 0 && self.tools.contains_key(tool)) || self.is_ordinary(tool, at)
    }

    /// Whether a thread has an ordinary tool of this name.
    pub(super) fn is_ordinary(&self, tool: &str, at: &Scope<'_>) -> bool {
        self.run.agent(&at.me().agent).tools.iter().any(|known| known.name == tool)
    }

    /// The agent's prompt and tools; for the root with its agents, of which one name is shown once.
    pub(super) fn view(&self, at: &Scope<'_>) -> View {
        let mut view = View::of(&at.me().agent, &self.run);
        if at.me().depth == 0 {
            view.tools.retain(|tool| !self.tools.contains_key(&tool.name));
            view.tools.extend(self.tools.values().map(|one| one.tool.clone()));
        }
        view
    }

    pub(super) fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        let call =
            |one: &Offered, text: &str| Call { name: one.tool.name.to_string(), args: json!({one.argument.as_str(): text}).to_string() };
        match act {
            Act::Delegate(intent) => self.tools.values().find(|one| one.agent == intent.agent).map(|one| call(one, &intent.task)),
            // A kept session goes by the name of its tool.
            Act::Continue { child, text, wake: true, .. } if self.kept => self.tools.get(child.0.as_str()).map(|one| call(one, text)),
            Act::Continue { .. } | Act::Wait(_) | Act::Close(_) | Act::Back | Act::Store(_) | Act::Read(_) => None,
        }
    }

    /// Runs the agent of a call: on its kept session, or on a new one. A session keeps nothing of a run that failed, and is
    /// locked by nobody.
    pub(super) fn open(&self, call: &ToolCall, agent: &str, items: Vec<Item>) -> Order {
        match self.sessions.get(&call.name) {
            Some(&thread) => Order::Put { to: To::Thread(thread), items, when: When::Overlap, by: Some(call.key) },
            None => Order::open(call.key, New { keep_failed: false, ..New::agent(agent) }, items),
        }
    }

    /// Calls of one message are routed one after the other: the second one already finds the session.
    pub(super) fn opened(&mut self, call: &ToolCall, thread: ThreadId) {
        if self.kept {
            self.sessions.insert(call.name.clone(), thread);
        }
    }

    /// What a kept session goes by, which stands in the call.
    pub(super) fn handle(&self, call: &ToolCall) -> Option<Handle> {
        self.kept.then(|| Handle(call.name.clone()))
    }
}
