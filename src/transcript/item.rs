//! Items: the entries of a thread.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{CallKey, Part, ToolCall};

/// The name under which a *model* knows a child (agent id, task id, path): minted by the strategy, stands in the text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(pub String);

/// Where an item's tokens come from: the one list, used everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The scenario's or agent's prompt.
    System,
    /// Tool schemas.
    Tools,
    /// A real client's fixed text and schemas, as opaque sizes.
    Scaffold,
    /// User turns of the root.
    User,
    /// The delegated task, framing included.
    Task,
    /// What the thread's own model wrote.
    Own,
    /// Results of ordinary tools.
    ToolResult,
    /// History from the parent, in whatever form.
    Inherited,
    /// All that delegation put into this thread: call results, acknowledgements, notices, mail, ledgers.
    Delegated,
    /// Summaries.
    Compaction,
}

impl Origin {
    /// Every origin, in the order of the ledger.
    pub const ALL: [Origin; 10] = [
        Origin::System,
        Origin::Tools,
        Origin::Scaffold,
        Origin::User,
        Origin::Task,
        Origin::Own,
        Origin::ToolResult,
        Origin::Inherited,
        Origin::Delegated,
        Origin::Compaction,
    ];

    /// The origin's name in every file.
    pub fn name(self) -> &'static str {
        match self {
            Origin::System => "system",
            Origin::Tools => "tools",
            Origin::Scaffold => "scaffold",
            Origin::User => "user",
            Origin::Task => "task",
            Origin::Own => "own",
            Origin::ToolResult => "tool_result",
            Origin::Inherited => "inherited",
            Origin::Delegated => "delegated",
            Origin::Compaction => "compaction",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Who speaks in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The platform's or scenario's prompt.
    System,
    /// The application's instructions.
    Developer,
    /// The person, or whoever sets a task.
    User,
    /// The model.
    Assistant,
    /// A tool's message outside a call's result (some real files hold such).
    Tool,
}

impl Role {
    /// The role's name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::Developer => "developer",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }
}

/// Which kind of text an assistant message is. `None` on the message: the wire had no phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Text beside a call.
    Commentary,
    /// Text without a call.
    FinalAnswer,
}

/// What an item tells its reader about a delegation. Whatever it says must also stand in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Means {
    /// Only an acknowledgement; the child goes by this name.
    Started(Handle),
    /// Its work is here; `None`: nothing names it, it cannot be continued.
    Returned(Option<Handle>),
    /// It failed.
    Failed(Option<Handle>),
    /// No child was opened.
    Refused,
    /// A hand-off: the work is this thread's now.
    Moved,
    /// A wait brought nothing.
    TimedOut,
    /// A text is kept under this name, for whoever asks for it.
    Stored(Handle),
}

/// What an item is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A message.
    Message {
        /// Who speaks.
        role: Role,
        /// Commentary or final answer; `None` where nobody says.
        phase: Option<Phase>,
        /// Its content, each part a segment of its own.
        parts: Vec<Part>,
    },
    /// A model's reasoning that stands in the history.
    Reasoning {
        /// Its content; often opaque.
        parts: Vec<Part>,
    },
    /// A tool call.
    Call(ToolCall),
    /// A tool call's result, paired by the call's key (wire ids repeat).
    Result {
        /// The call that it answers; `None`: a result whose call stands nowhere.
        key: Option<CallKey>,
        /// Its content.
        parts: Vec<Part>,
        /// Whether the tool reported an error.
        failed: bool,
    },
    /// A message between agents.
    Mail {
        /// Author, as the model reads it.
        from: String,
        /// Recipient, as the model reads it.
        to: String,
        /// Its content.
        parts: Vec<Part>,
    },
    /// A summary that stands for history that was dropped.
    Compaction {
        /// The summary.
        parts: Vec<Part>,
    },
    /// A record that a product keeps in its history and that no model reads (a turn's settings, say).
    Context {
        /// What the source calls it.
        kind: String,
        /// Its content.
        parts: Vec<Part>,
    },
}

/// One entry of a thread. Cloning copies a pointer and a few small fields.
#[derive(Clone, PartialEq, Eq)]
pub struct Item {
    body: Arc<Body>,
    /// Where its tokens come from, in the thread that holds it.
    pub origin: Origin,
    /// Marked as not for people (a framework's own message); the model reads it all the same.
    pub hidden: bool,
    /// What it tells about a delegation.
    pub means: Vec<Means>,
    name: Option<Arc<str>>,
}

impl Item {
    /// An item of any kind.
    pub fn new(body: Body, origin: Origin) -> Item {
        Item { body: Arc::new(body), origin, hidden: false, means: Vec::new(), name: None }
    }

    /// A message of one text.
    pub fn message(role: Role, origin: Origin, text: impl Into<Part>) -> Item {
        Item::new(Body::Message { role, phase: None, parts: vec![text.into()] }, origin)
    }

    /// A user message of one text.
    pub fn user(origin: Origin, text: impl Into<Part>) -> Item {
        Item::message(Role::User, origin, text)
    }

    /// An assistant message of one text and a phase.
    pub fn assistant(phase: Option<Phase>, text: impl Into<Part>) -> Item {
        Item::new(Body::Message { role: Role::Assistant, phase, parts: vec![text.into()] }, Origin::Own)
    }

    /// A call.
    pub fn call(call: ToolCall) -> Item {
        Item::new(Body::Call(call), Origin::Own)
    }

    /// A call's result of one text.
    pub fn result(key: CallKey, origin: Origin, text: impl Into<Part>, failed: bool) -> Item {
        Item::new(Body::Result { key: Some(key), parts: vec![text.into()], failed }, origin)
    }

    /// The same item saying one thing more about a delegation.
    pub fn meaning(mut self, means: Means) -> Item {
        self.means.push(means);
        self
    }

    /// The same item, marked as hidden.
    pub fn hide(mut self) -> Item {
        self.hidden = true;
        self
    }

    /// The same item under a name beside its role, as chat wires know it (`name` of a message).
    pub fn named(mut self, name: impl Into<Arc<str>>) -> Item {
        self.name = Some(name.into());
        self
    }

    /// The name beside its role, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Whether a model reads the same in both: body and name.
    pub fn reads_as(&self, other: &Item) -> bool {
        (self.shares_body(other) || self.body == other.body) && self.name == other.name
    }

    /// The same body as a fork hands it to a child: inherited, and no news of any delegation of its own.
    pub fn inherited(&self) -> Item {
        Item { body: self.body.clone(), origin: Origin::Inherited, hidden: self.hidden, means: Vec::new(), name: self.name.clone() }
    }

    /// What it is.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// Whether two items share their stored body.
    pub fn shares_body(&self, other: &Item) -> bool {
        Arc::ptr_eq(&self.body, &other.body)
    }

    /// Its content: a call's is its arguments.
    pub fn parts(&self) -> &[Part] {
        match &*self.body {
            Body::Message { parts, .. }
            | Body::Reasoning { parts }
            | Body::Result { parts, .. }
            | Body::Mail { parts, .. }
            | Body::Compaction { parts }
            | Body::Context { parts, .. } => parts,
            Body::Call(call) => std::slice::from_ref(&call.args),
        }
    }

    /// The text of its parts, joined with nothing.
    pub fn text(&self) -> String {
        self.parts().iter().map(Part::as_text).collect()
    }

    /// The role, of a message.
    pub fn role(&self) -> Option<Role> {
        match &*self.body {
            Body::Message { role, .. } => Some(*role),
            _ => None,
        }
    }

    /// The call, of a call.
    pub fn as_call(&self) -> Option<&ToolCall> {
        match &*self.body {
            Body::Call(call) => Some(call),
            _ => None,
        }
    }

    /// The key of the call that it answers, of a result.
    pub fn answers(&self) -> Option<CallKey> {
        match &*self.body {
            Body::Result { key, .. } => *key,
            _ => None,
        }
    }

    /// Whether a model reads it at all.
    pub fn is_sent(&self) -> bool {
        !matches!(&*self.body, Body::Context { .. })
    }
}

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}{}] {:?}", self.origin, if self.hidden { ", hidden" } else { "" }, self.body)?;
        self.name.iter().try_for_each(|name| write!(f, " named {name:?}"))?;
        if self.means.is_empty() { Ok(()) } else { write!(f, " means {:?}", self.means) }
    }
}

/// The keys of calls without a result and of results without a call (before them), in order. Empty: nothing dangles.
pub fn dangling(items: &[Item]) -> Vec<Option<CallKey>> {
    // By key, the positions of its open calls: a key should stand once, but a history from elsewhere may repeat it.
    let mut open: BTreeMap<CallKey, Vec<usize>> = BTreeMap::new();
    let mut orphans: Vec<Option<CallKey>> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        match item.body() {
            Body::Call(call) => open.entry(call.key).or_default().push(at),
            Body::Result { key, .. } => {
                let answered = key.and_then(|key| open.get_mut(&key)).and_then(Vec::pop);
                if answered.is_none() {
                    orphans.push(*key);
                }
            }
            _ => {}
        }
    }
    let mut unanswered: Vec<(usize, CallKey)> =
        open.into_iter().flat_map(|(key, places)| places.into_iter().map(move |at| (at, key))).collect();
    unanswered.sort();
    unanswered.into_iter().map(|(_, key)| Some(key)).chain(orphans).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `c1` a call, `r1` its result, `r?` a result of nothing.
    fn check(history: &str, expect: &[Option<u32>]) {
        let item = |word: &str| {
            let key = word[1..].parse().ok().map(CallKey);
            match (&word[..1], key) {
                ("c", Some(key)) => {
                    let call = ToolCall { key, id: String::new(), name: "t".into(), args: "{}".into(), intent: None, recorded: None };
                    Item::call(call)
                }
                _ => Item::new(Body::Result { key, parts: vec![], failed: false }, Origin::ToolResult),
            }
        };
        let items: Vec<Item> = history.split_whitespace().map(item).collect();
        let expect: Vec<Option<CallKey>> = expect.iter().map(|key| key.map(CallKey)).collect();
        assert_eq!(dangling(&items), expect, "{history}");
    }

    #[test]
    fn what_dangles_is_named_in_order() {
        check("", &[]);
        check("c1 c2 r2 r1", &[]);
        check("c2 c1", &[Some(2), Some(1)]);
        check("r1 c1", &[Some(1), Some(1)]);
        check("c1 r1 r1 r?", &[Some(1), None]);
        check("c1 c1 r1", &[Some(1)]);
    }
}
