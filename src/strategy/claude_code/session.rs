//! One run under Claude Code: its children, and what comes back.

use std::collections::BTreeMap;

use crate::strategy::filter::ROOM;
use crate::strategy::{
    Act, Call, End, Event, New, Order, ParentView, Report, Route, RunContext, Scope, Session, ThreadId, To, ToolSpec, View, When,
};
use crate::transcript::{Body, CallKey, Item, Means, Origin, Role, ToolCall};

use super::arguments::{Agent, SendMessage};
use super::scaffold::{self, Kind};
use super::text::{self, AGENT, FORK, SEND_MESSAGE, Usage};
use super::{ClaudeCode, Mode};

/// The deepest child: assumed.
const DEPTH: u32 = 5;

struct Child {
    kind: Kind,
    /// The thread that is told of it.
    parent: ThreadId,
    /// The description that it was started with.
    description: String,
    /// The wire id of the call that it works for.
    call: String,
    /// The call that waits for it.
    waits: Option<CallKey>,
}

pub(super) struct ClaudeCodeSession {
    strategy: ClaudeCode,
    run: RunContext,
    tools: [ToolSpec; 2],
    children: BTreeMap<ThreadId, Child>,
    /// Whether the user has spoken.
    begun: bool,
}

impl ClaudeCodeSession {
    pub(super) fn new(strategy: ClaudeCode, run: RunContext) -> ClaudeCodeSession {
        let tools = [text::agent_tool(&run, strategy.mode), text::message_tool()];
        ClaudeCodeSession { strategy, run, tools, children: BTreeMap::new(), begun: false }
    }

    fn kind(&self, thread: ThreadId) -> Kind {
        self.children.get(&thread).map_or(Kind::Root, |child| child.kind)
    }

    /// What a call asks for.
    fn asked(&self, agent: &Agent) -> Kind {
        match (self.strategy.mode, agent.subagent_type.as_str()) {
            (Mode::Fork, FORK) => Kind::Fork,
            _ if agent.background => Kind::Background,
            _ => Kind::Child,
        }
    }

    fn delegate(&self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Result<Order, String> {
        let agent = Agent::decode(call)?;
        if at.me().depth >= DEPTH {
            return Err(text::too_deep(DEPTH));
        }
        if self.asked(&agent) == Kind::Fork {
            if self.kind(at.thread) == Kind::Fork {
                return Err(text::FORK_IN_FORK.into());
            }
            let mut items = forked(parent.items, call);
            items.push(Item::user(Origin::Task, text::directive(&agent.prompt)));
            return Ok(Order::open(call.key, New::agent(at.me().agent.as_str()), items));
        }
        let known = text::types(&self.run);
        if !known.contains(&agent.subagent_type.as_str()) {
            return Err(text::unknown_type(&agent.subagent_type, &known));
        }
        let mut items = if self.run.scaffold { vec![scaffold::before_prompt()] } else { vec![] };
        items.push(Item::user(Origin::Task, agent.prompt));
        Ok(Order::open(call.key, New::agent(agent.subagent_type), items))
    }

    /// A child was opened: whoever does not wait for it is told its name.
    fn opened(&mut self, call: &ToolCall, thread: ThreadId, at: &Scope<'_>) -> Option<Order> {
        let agent = Agent::decode(call).ok()?;
        let kind = self.asked(&agent);
        let waits = (kind == Kind::Child).then_some(call.key);
        let child = Child { kind, parent: at.thread, description: agent.description, call: call.id.clone(), waits };
        self.children.insert(thread, child);
        let handle = text::handle(thread);
        let told = match kind {
            Kind::Background => text::launched(&handle),
            Kind::Fork => text::fork_launched(&handle),
            Kind::Child | Kind::Root => return None,
        };
        Some(Order::reply(call, told).meaning(Means::Started(handle)))
    }

    fn message(&mut self, call: &ToolCall, at: &Scope<'_>) -> Result<Vec<Order>, String> {
        let SendMessage { to, message } = SendMessage::decode(call)?;
        let named = |(thread, child): &(&ThreadId, &mut Child)| child.parent == at.thread && text::handle(**thread).0 == to;
        let (&thread, child) = self.children.iter_mut().find(named).ok_or_else(|| text::unknown_id(&to))?;
        child.call = call.id.clone();
        let handle = text::handle(thread);
        let told = Order::reply(call, text::sent(&handle)).meaning(Means::Started(handle));
        let item = Item::user(Origin::Task, message);
        Ok(vec![told, Order::Put { to: To::Thread(thread), items: vec![item], when: When::Wake, by: Some(call.key) }])
    }

    /// A child's turn has ended: whoever waits gets the result, else its parent is told in a message.
    fn ended(&mut self, report: &Report<'_>, at: &Scope<'_>) -> Option<Order> {
        let child = self.children.get_mut(&at.thread)?;
        let handle = text::handle(at.thread);
        let own = report.items.get(report.own..).unwrap_or_default();
        let calls = own.iter().filter(|item| item.origin == Origin::Own && item.as_call().is_some()).count();
        let usage = Usage { tokens: report.tokens, calls, ms: report.elapsed_ms };
        let result = match report.end {
            End::Done => Ok(report.last_text().unwrap_or_else(|| text::EMPTY.to_owned())),
            End::Failed(why) | End::Stopped(why) | End::Ceiling(why) => Err(text::failed(why)),
            End::Aborted => Err(text::failed("it was stopped")),
        };
        if let Some(key) = child.waits.take() {
            // The call that waits is the one that opened the turn.
            let call = report.by.filter(|call| call.key == key)?;
            return Some(match result {
                Ok(text) => Order::reply(call, text).and(text::trailer(&handle, usage)).meaning(Means::Returned(Some(handle))),
                Err(why) => Order::reply(call, why).failed().meaning(Means::Failed(None)),
            });
        }
        let (status, text, means) = match result {
            Ok(text) => ("completed", text, Means::Returned(Some(handle.clone()))),
            Err(why) => ("failed", why, Means::Failed(Some(handle.clone()))),
        };
        let told = text::notification(&handle, &child.call, &child.description, status, &text, usage);
        Some(Order::put(child.parent, When::Wake, Item::user(Origin::Delegated, told).meaning(means)))
    }
}

/// The parent's history for a fork: all of it, but of the reply that forks only the call, with a placeholder for its
/// result.
fn forked(items: &[Item], call: &ToolCall) -> Vec<Item> {
    let at = items.iter().rposition(|item| item.as_call().is_some_and(|one| one.key == call.key)).unwrap_or(items.len());
    let written = |item: &&Item| {
        item.origin == Origin::Own
            && match item.body() {
                Body::Message { role, .. } => *role == Role::Assistant,
                Body::Call(_) | Body::Reasoning { .. } => true,
                _ => false,
            }
    };
    // The reply begins behind the last thing that the model did not write.
    let begin = at - items[..at].iter().rev().take_while(written).count();
    let mut fork: Vec<Item> = Vec::with_capacity(begin + ROOM);
    fork.extend(items[..begin].iter().map(Item::inherited));
    fork.push(items.get(at).cloned().unwrap_or_else(|| Item::call(call.clone())).inherited());
    fork.push(Item::result(call.key, Origin::Inherited, text::FORKED, false));
    fork
}

impl Session for ClaudeCodeSession {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        let (name, args) = match act {
            Act::Delegate(intent) => {
                let kind = match self.strategy.mode {
                    Mode::Fork => FORK,
                    Mode::Isolated => text::types(&self.run).into_iter().find(|name| *name == intent.agent)?,
                };
                let mut args = serde_json::json!({"description": intent.title, "prompt": intent.task, "subagent_type": kind});
                if self.strategy.background && self.strategy.mode == Mode::Isolated {
                    args["run_in_background"] = true.into();
                }
                (AGENT, args)
            }
            Act::Continue { child, intent, text, wake: _ } => {
                (SEND_MESSAGE, serde_json::json!({"to": child.0, "summary": intent.title, "message": text}))
            }
            Act::Wait(_) | Act::Close(_) | Act::Back | Act::Store(_) | Act::Read(_) => return None,
        };
        Some(Call { name: name.into(), args: args.to_string() })
    }

    fn view(&mut self, _: &[Item], at: &Scope<'_>) -> View {
        let mut view = View::of(&at.me().agent, &self.run);
        // A request cannot show two tools of one name.
        view.tools.retain(|tool| self.tools.iter().all(|own| own.name != tool.name));
        if at.me().depth < DEPTH {
            view.tools.extend(self.tools.iter().cloned());
        }
        if self.run.scaffold {
            scaffold::dress(&mut view, self.kind(at.thread), self.strategy.mode);
        }
        view
    }

    fn route(&mut self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Route {
        Route::Do(match call.name.as_str() {
            AGENT => vec![self.delegate(call, parent, at).unwrap_or_else(|why| Order::refuse(call, why))],
            SEND_MESSAGE => self.message(call, at).unwrap_or_else(|why| vec![Order::reply(call, why).failed()]),
            _ => return Route::Tool,
        })
    }

    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => {
                let first = !std::mem::replace(&mut self.begun, true) && self.run.scaffold;
                let before = first.then(scaffold::before_user);
                vec![Order::input(&before.into_iter().chain(items.iter().cloned()).collect::<Vec<Item>>(), When::Notice, at)]
            }
            Event::Opened { by: Some(call), child: Ok(thread) } => self.opened(call, thread, at).into_iter().collect(),
            Event::Opened { by: Some(call), child: Err(why) } => vec![Order::refuse(call, text::failed(why))],
            Event::Ended(report) => self.ended(&report, at).into_iter().collect(),
            Event::Opened { .. } | Event::Waiting { .. } | Event::Aside(_) => vec![],
        }
    }
}
