//! Tests of the reader, rule by rule: items in, the expected reply as text out.

mod bind;
mod know;
mod properties;
mod protocol;
mod runs;
mod say;

use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::json;

use super::*;
use crate::scenario::Scenario;
use crate::strategy::{Act, Call, ThreadId, ToolSpec};
use crate::transcript::{CallKey, Handle, Item, Means, Origin, Part, ToolCall};

/// A thread's items as they grow. Keys are minted in order.
#[derive(Clone, Debug, Default)]
struct Thread {
    items: Vec<Item>,
    calls: u32,
}

impl Thread {
    /// A thread whose first item is a message of the user.
    fn user(text: &str) -> Thread {
        Thread::default().item(Item::user(Origin::User, text))
    }

    /// A child's thread whose first item is its task.
    fn task(text: &str) -> Thread {
        Thread::default().item(Item::user(Origin::Task, text))
    }

    fn item(mut self, item: Item) -> Thread {
        self.items.push(item);
        self
    }

    fn then_user(self, text: &str) -> Thread {
        self.item(Item::user(Origin::User, text))
    }

    fn then_task(self, text: &str) -> Thread {
        self.item(Item::user(Origin::Task, text))
    }

    fn says(self, text: &str) -> Thread {
        self.item(Item::assistant(None, text))
    }

    fn makes(mut self, name: &str, args: &str, intent: Option<&str>) -> Thread {
        let call = ToolCall {
            key: CallKey(self.calls),
            id: format!("c{}", self.calls),
            name: name.into(),
            args: args.into(),
            intent: intent.map(str::to_owned),
            recorded: None,
        };
        self.calls += 1;
        self.item(Item::call(call))
    }

    /// The result of the call that was made so many calls ago (1: the last).
    fn result(self, ago: u32, text: &str, failed: bool) -> Thread {
        let key = CallKey(self.calls - ago);
        self.item(Item::result(key, Origin::ToolResult, text, failed))
    }

    /// A call that reads a file, with its result.
    fn reads(self, path: &str, text: &str) -> Thread {
        self.makes("read", &json!({ "path": path }).to_string(), None).result(1, text, false)
    }

    /// The same, failing.
    fn fails_to_read(self, path: &str) -> Thread {
        self.makes("read", &json!({ "path": path }).to_string(), None).result(1, "Error: no.", true)
    }

    /// A delegating call.
    fn delegates(self, intent: &str) -> Thread {
        self.makes("task", "{}", Some(intent))
    }

    /// What the delegating call of so many calls ago is told.
    fn told(self, ago: u32, text: &str, means: &[Means]) -> Thread {
        let key = CallKey(self.calls - ago);
        let mut item = Item::result(key, Origin::Delegated, text, false);
        item.means = means.into();
        self.item(item)
    }

    /// A delegation with what it brought.
    fn delegated(self, intent: &str, text: &str) -> Thread {
        self.delegates(intent).told(1, text, &[Means::Returned(handle(intent))])
    }

    /// A message of the protocol: a notice, a mail.
    fn notice(self, text: &str, means: &[Means]) -> Thread {
        let mut item = Item::user(Origin::Delegated, text);
        item.means = means.into();
        self.item(item)
    }

    /// These items as a fork hands them down, then a task.
    fn forked(&self, task: &str) -> Thread {
        Thread { items: self.items.iter().map(Item::inherited).collect(), calls: self.calls }.then_task(task)
    }
}

fn handle(name: &str) -> Option<Handle> {
    Some(Handle(name.into()))
}

/// What can be phrased.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Protocol {
    /// Nothing.
    Inline,
    /// `task`, and nothing else: a child cannot be continued.
    Fresh,
    /// `task`, also to continue a child.
    Blocking,
    /// `task`, `wait`, `send`.
    Waiting,
    /// `task`, `send`, and notices.
    Notices,
}

impl Protocol {
    fn phrase(self, act: &Act<'_>) -> Option<Call> {
        let call = |name: &str, args: serde_json::Value| Some(Call { name: name.into(), args: args.to_string() });
        match (self, act) {
            (Protocol::Inline, _) => None,
            (_, Act::Delegate(intent)) => call("task", json!({ "to": intent.agent, "what": intent.task })),
            (Protocol::Fresh, _) => None,
            (Protocol::Blocking, Act::Continue { child, text, wake: true, .. }) => call("task", json!({ "id": child.0, "what": text })),
            (Protocol::Waiting, Act::Wait(children)) => {
                call("wait", json!({ "ids": children.iter().map(|child| child.0.as_str()).collect::<Vec<_>>() }))
            }
            (Protocol::Waiting | Protocol::Notices, Act::Continue { child, text, wake, .. }) => {
                call("send", json!({ "id": child.0, "what": text, "wake": wake }))
            }
            _ => None,
        }
    }
}

/// A reader in a protocol.
#[derive(Clone)]
struct Bench {
    reader: Reader,
    protocol: Protocol,
    system: String,
    tools: Vec<ToolSpec>,
    seed: u64,
}

impl Bench {
    fn new(scenario: Scenario, protocol: Protocol) -> Bench {
        let tools = scenario.agents["root"].tools.clone();
        Bench { reader: Reader::new(Arc::new(scenario)), protocol, system: "You work.".into(), tools, seed: 0 }
    }

    fn reply_to(&self, agent: &mut dyn Agent, thread: &Thread, intent: Option<&str>) -> Reply {
        self.answer_to(agent, thread, intent).expect("it replies")
    }

    fn answer_to(&self, agent: &mut dyn Agent, thread: &Thread, intent: Option<&str>) -> Result<Reply, ModelError> {
        let protocol = self.protocol;
        let speak = |act: &Act<'_>| protocol.phrase(act);
        let system = Part::from(self.system.as_str());
        let request = Request {
            thread: ThreadId(0),
            path: "/",
            turn: 1,
            exchange: 0,
            agent: "root",
            intent,
            system: Some(&system),
            tools: &self.tools,
            items: &thread.items,
            aside: false,
            tokens: 0,
            now_ms: 0,
            speak: &speak,
        };
        agent.reply(&request).now_or_never().expect("a reader's reply is ready at once")
    }

    fn reply(&self, thread: &Thread) -> Reply {
        self.reply_to(&mut *self.reader.start(self.seed), thread, None)
    }

    /// The reply as lines: the text, each call with its intent, what is counted.
    #[track_caller]
    fn check(&self, thread: &Thread, expect: &str) {
        let expect = expect.lines().map(str::trim_start).collect::<Vec<_>>().join("\n");
        assert_eq!(shown(&self.reply(thread)), expect.trim(), "\n{:#?}", thread.items);
    }
}

fn shown(reply: &Reply) -> String {
    let mut lines: Vec<String> = Vec::new();
    if !reply.text.is_empty() {
        lines.push(reply.text.clone());
    }
    for call in &reply.calls {
        let intent = call.intent.as_ref().map_or(String::new(), |intent| format!(" [{intent}]"));
        lines.push(format!("> {} {}{intent}", call.name, call.args));
    }
    if reply.rescues > 0 {
        lines.push(format!("rescues {}", reply.rescues));
    }
    if reply.drift > 0 {
        lines.push(format!("drift {}", reply.drift));
    }
    lines.join("\n")
}
