//! Items: the entries of a thread.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use thin_vec::ThinVec;

use super::{CallKey, Digest, Part, ToolCall};

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

/// Tokens of a body with its frame, and who counted them.
#[derive(Clone, Copy, Debug)]
pub struct BodyWeight {
    /// Who counted: no two that count differently have one number.
    pub by: u64,
    /// Tokens, frame included, a name beside the role left out.
    pub tokens: u32,
    /// Parts whose tokens nobody knows.
    pub unknown_parts: u32,
}

/// A body, and what was found out about it.
struct Stored {
    body: Body,
    weight: OnceLock<BodyWeight>,
    digest: OnceLock<Digest>,
}

impl PartialEq for Stored {
    fn eq(&self, other: &Stored) -> bool {
        std::ptr::eq(self, other) || self.body == other.body
    }
}

impl Eq for Stored {}

/// One entry of a thread. Cloning copies a pointer and a few small fields.
#[derive(Clone, PartialEq, Eq)]
pub struct Item {
    stored: Arc<Stored>,
    /// Where its tokens come from, in the thread that holds it.
    pub origin: Origin,
    /// Marked as not for people (a framework's own message); the model reads it all the same.
    pub hidden: bool,
    /// What it tells about a delegation. Few items tell anything, so an empty list takes no more room than a pointer.
    pub means: ThinVec<Means>,
    name: Option<Name>,
}

/// A name beside a message's role. Cloning copies a pointer.
#[derive(Clone, Debug, Eq)]
pub struct Name(Arc<Box<str>>);

impl Name {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Name {
    fn from(name: &str) -> Name {
        Name(Arc::new(name.into()))
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Item {
    /// An item of any kind.
    pub fn new(body: Body, origin: Origin) -> Item {
        let stored = Stored { body, weight: OnceLock::new(), digest: OnceLock::new() };
        Item { stored: Arc::new(stored), origin, hidden: false, means: ThinVec::new(), name: None }
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
    pub fn named(mut self, name: impl Into<Name>) -> Item {
        self.name = Some(name.into());
        self
    }

    /// The same item without a name.
    pub fn unnamed(mut self) -> Item {
        self.name = None;
        self
    }

    /// The name beside its role, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_ref().map(Name::as_str)
    }

    /// Whether a model reads the same in both: body and name.
    pub fn reads_as(&self, other: &Item) -> bool {
        self.stored == other.stored && self.name == other.name
    }

    /// The same body as a fork hands it to a child: inherited, and no news of any delegation of its own.
    pub fn inherited(&self) -> Item {
        Item { stored: self.stored.clone(), origin: Origin::Inherited, hidden: self.hidden, means: ThinVec::new(), name: self.name.clone() }
    }

    /// What it is.
    pub fn body(&self) -> &Body {
        &self.stored.body
    }

    /// What it weighs: found out once for all items that share the body and read when it is asked for again. It depends on who weighs
    /// (an encoding and its memo), so whoever weighed differently finds nothing.
    pub fn weight(&self) -> &OnceLock<BodyWeight> {
        &self.stored.weight
    }

    /// A digest of what a model reads of its body: taken once, by whoever needs it first, for all items that share the body.
    pub fn digest_once(&self, take: impl FnOnce() -> Digest) -> Digest {
        *self.stored.digest.get_or_init(take)
    }

    /// Whether two items share their stored body.
    pub fn shares_body(&self, other: &Item) -> bool {
        Arc::ptr_eq(&self.stored, &other.stored)
    }

    /// Whether it weighs what the other does because it is the same: one body, one name.
    pub fn weighs_as(&self, other: &Item) -> bool {
        Arc::ptr_eq(&self.stored, &other.stored) && self.name == other.name
    }

    /// Its content: a call's is its arguments.
    pub fn parts(&self) -> &[Part] {
        match self.body() {
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
        match self.body() {
            Body::Message { role, .. } => Some(*role),
            _ => None,
        }
    }

    /// The call, of a call.
    pub fn as_call(&self) -> Option<&ToolCall> {
        match self.body() {
            Body::Call(call) => Some(call),
            _ => None,
        }
    }

    /// The key of the call that it answers, of a result.
    pub fn answers(&self) -> Option<CallKey> {
        match self.body() {
            Body::Result { key, .. } => *key,
            _ => None,
        }
    }

    /// Whether a model reads it at all.
    pub fn is_sent(&self) -> bool {
        !matches!(self.body(), Body::Context { .. })
    }
}

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}{}] {:?}", self.origin, if self.hidden { ", hidden" } else { "" }, self.body())?;
        self.name.iter().try_for_each(|name| write!(f, " named {:?}", name.as_str()))?;
        if self.means.is_empty() { Ok(()) } else { write!(f, " means {:?}", self.means.as_slice()) }
    }
}
