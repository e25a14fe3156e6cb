//! Messages as DeerFlow counts them (LangChain's): role, content, calls, and what a tool's message keeps beside its text.
//!
//! Snapshot, ledger and result text work on these. A run's own come from its items ([`of_items`]), where an assistant's
//! text and its calls are apart; vectors bring them as data ([`Message::read`]).

use std::borrow::Cow;
use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::transcript::{Body, CallKey, Content as Held, Item, Means, Part, Role, ToolCall};

use super::python::{self, strip};
use super::status::{Outcome, Status, Told};
use super::value::Value;

/// Who a message is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    User,
    Assistant,
    Tool,
    /// System, developer, chat and function messages: never part of a snapshot.
    Other,
}

/// What a message holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content<'a> {
    /// One text.
    Text(Cow<'a, str>),
    /// A list of texts and blocks.
    List(Vec<Value>),
    /// The parts of an item.
    Parts(&'a [Part]),
}

/// One entry of a message's content.
pub(crate) enum Block<'a> {
    /// A bare text.
    Text(&'a str),
    /// A block with a type.
    Typed(&'a IndexMap<String, Value>),
    /// A text part among several.
    Part(&'a str),
    /// Media of an item.
    Media(&'a Part),
}

impl Content<'_> {
    /// Its entries, in order. What only its maker can read is none.
    pub(crate) fn blocks(&self) -> Vec<Block<'_>> {
        match self {
            Content::Text(text) => vec![Block::Text(text)],
            Content::List(items) => items
                .iter()
                .filter_map(|item| match item {
                    Value::Text(text) => Some(Block::Text(text)),
                    other => other.fields().map(Block::Typed),
                })
                .collect(),
            Content::Parts([one]) => match one.content() {
                Held::Text(text) => vec![Block::Text(text)],
                Held::Image { .. } | Held::File { .. } => vec![Block::Media(one)],
                Held::Opaque { .. } => vec![],
            },
            Content::Parts(parts) => parts
                .iter()
                .filter_map(|part| match part.content() {
                    Held::Text(text) => Some(Block::Part(text)),
                    Held::Image { .. } | Held::File { .. } => Some(Block::Media(part)),
                    Held::Opaque { .. } => None,
                })
                .collect(),
        }
    }
}

/// A call's arguments.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Args<'a> {
    /// As the model wrote them.
    Written(&'a str),
    /// As data.
    Given(Value),
}

impl Args<'_> {
    /// The arguments as a value; `None`: no object. Blank text is an empty object (assumed).
    pub(crate) fn value(&self) -> Option<Cow<'_, Value>> {
        match self {
            Args::Written(text) if text.trim().is_empty() => Some(Cow::Owned(Value::Object(IndexMap::new()))),
            Args::Written(text) => Value::parse(text).filter(|value| value.fields().is_some()).map(Cow::Owned),
            Args::Given(value) => Some(Cow::Borrowed(value)),
        }
    }
}

/// A call of an assistant's message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Called<'a> {
    /// `None`: it has none, and nothing answers it.
    pub(crate) id: Option<Cow<'a, str>>,
    pub(crate) name: Cow<'a, str>,
    pub(crate) args: Args<'a>,
}

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Message<'a> {
    pub(crate) speaker: Speaker,
    pub(crate) content: Content<'a>,
    pub(crate) name: Option<Cow<'a, str>>,
    /// Not shown to people.
    pub(crate) hidden: bool,
    /// Hidden, and yet an answer that a person gave.
    pub(crate) is_reply: bool,
    pub(crate) calls: Vec<Called<'a>>,
    /// The id of the call that a tool's message answers; `None`: nobody knows it.
    pub(crate) answers: Option<Cow<'a, str>>,
    /// Its own id.
    pub(crate) id: Option<String>,
    /// What it tells of a delegation.
    pub(crate) told: Option<Told>,
    /// Where its first item, or it itself, stands.
    pub(crate) at: usize,
}

/// The name of a message that holds a summary: no person's.
const SUMMARY: &str = "summary";

impl Message<'_> {
    pub(super) fn new(speaker: Speaker, content: Content<'_>, at: usize) -> Message<'_> {
        let (name, answers, id, told) = (None, None, None, None);
        Message { speaker, content, name, hidden: false, is_reply: false, calls: vec![], answers, id, told, at }
    }

    /// Whether it is part of the conversation that people see: what a person wrote, an assistant's and a tool's visible
    /// messages.
    pub(crate) fn is_seen(&self) -> bool {
        match self.speaker {
            Speaker::User => self.name.as_deref() != Some(SUMMARY) && (!self.hidden || self.is_reply),
            Speaker::Assistant | Speaker::Tool => !self.hidden,
            Speaker::Other => false,
        }
    }
}

/// Whether a message's `additional_kwargs` hold a person's answer to a question of the agent.
fn is_reply(kwargs: &Value) -> bool {
    let Some(reply) = kwargs.get("human_input_response") else { return false };
    let is = |key: &str, expect: &str| reply.get(key).and_then(Value::as_text) == Some(expect);
    let says = |key: &str| reply.get(key).and_then(Value::as_text).is_some_and(|text| !strip(text).is_empty());
    reply.get("version").is_some_and(Value::is_one)
        && is("kind", "human_input_response")
        && ["source", "request_id", "value"].into_iter().all(says)
        && (is("response_kind", "text") || (is("response_kind", "option") && says("option_id")))
}

// ---- from data ---------------------------------------------------------------------------------------------------------

/// The keys of a message.
const KEYS: [&str; 11] = [
    "role",
    "content",
    "name",
    "hidden",
    "additional_kwargs",
    "tool_calls",
    "invalid_tool_calls",
    "tool_call_id",
    "status",
    "finish_reason",
    "id",
];

impl Message<'static> {
    /// The message that stands at a place of a history.
    ///
    /// # Errors
    /// A key that nobody knows, a value of another type, a message that LangChain would not build; the text says which.
    pub(crate) fn read(value: &Value, at: usize) -> Result<Message<'static>, String> {
        let Some(fields) = value.fields() else { return Err(format!("message {at} is no object")) };
        if let Some(key) = fields.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(format!("message {at} has an unknown key `{key}`"));
        }
        let text = |key: &str| match fields.get(key) {
            None | Some(Value::None) => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text.clone())),
            Some(_) => Err(format!("message {at}: `{key}` is no text")),
        };
        let list = |key: &str| match fields.get(key) {
            None | Some(Value::None) => Ok(&[][..]),
            Some(Value::List(items)) => Ok(&items[..]),
            Some(_) => Err(format!("message {at}: `{key}` is no list")),
        };
        let role = text("role")?.ok_or_else(|| format!("message {at} has no `role`"))?;
        let speaker = match role.as_str() {
            "user" => Speaker::User,
            "assistant" => Speaker::Assistant,
            "tool" => Speaker::Tool,
            "system" | "developer" | "chat" | "function" => Speaker::Other,
            _ => return Err(format!("message {at} has an unknown role `{role}`")),
        };
        let hidden = match fields.get("hidden") {
            None | Some(Value::None) => false,
            Some(Value::Bool(hidden)) => *hidden,
            Some(_) => return Err(format!("message {at}: `hidden` is neither true nor false")),
        };
        let kwargs = match fields.get("additional_kwargs") {
            None | Some(Value::None) => Value::Object(IndexMap::new()),
            Some(kwargs @ Value::Object(_)) => kwargs.clone(),
            Some(_) => return Err(format!("message {at}: `additional_kwargs` is no object")),
        };
        text("status")?;
        text("finish_reason")?;
        list("invalid_tool_calls")?;
        let content = content(fields.get("content"), speaker).map_err(|why| format!("message {at}: {why}"))?;
        let calls = list("tool_calls")?.iter().map(|call| called(call).map_err(|why| format!("message {at}: {why}")));
        let answers = match fields.get("tool_call_id") {
            Some(id @ (Value::Text(_) | Value::Int(_) | Value::Float(_))) => Some(python::str(id).into()),
            None | Some(Value::None) if speaker != Speaker::Tool => None,
            _ => return Err(format!("message {at}: a tool's message needs a `tool_call_id`")),
        };
        Ok(Message {
            name: text("name")?.map(Cow::Owned),
            hidden: hidden || kwargs.get("hide_from_ui").is_some_and(Value::is_true),
            is_reply: is_reply(&kwargs),
            calls: calls.collect::<Result<_, _>>()?,
            answers,
            id: text("id")?.filter(|id| !id.is_empty()),
            told: Told::read(&kwargs),
            ..Message::new(speaker, content, at)
        })
    }

    /// A whole history.
    pub(crate) fn read_all(values: &[Value]) -> Result<Vec<Message<'static>>, String> {
        values.iter().enumerate().map(|(at, value)| Message::read(value, at)).collect()
    }
}

/// A message's content as it is built: a tool's is made text, or a list of texts and objects.
fn content(value: Option<&Value>, speaker: Speaker) -> Result<Content<'static>, String> {
    let is_fit = |item: &Value| matches!(item, Value::Text(_) | Value::Object(_));
    match (value, speaker) {
        (Some(Value::Text(text)), _) => Ok(Content::Text(text.clone().into())),
        (Some(Value::List(items)), Speaker::Tool) => {
            let made = |item: &Value| if is_fit(item) { item.clone() } else { Value::Text(python::str(item)) };
            Ok(Content::List(items.iter().map(made).collect()))
        }
        (Some(other), Speaker::Tool) => Ok(Content::Text(python::str(other).into())),
        (None, Speaker::Tool) => Err("a tool's message needs `content`".into()),
        (Some(Value::List(items)), _) => match items.iter().position(|item| !is_fit(item)) {
            Some(place) => Err(format!("entry {place} of `content` is neither a text nor an object")),
            None => Ok(Content::List(items.clone())),
        },
        (None | Some(Value::None), _) => Ok(Content::Text("".into())),
        (Some(_), _) => Err("`content` is neither a text nor a list".into()),
    }
}

fn called(value: &Value) -> Result<Called<'static>, String> {
    let fields = value.fields().ok_or("a tool call is no object")?;
    if let Some(key) = fields.keys().find(|key| !["name", "args", "id", "type"].contains(&key.as_str())) {
        return Err(format!("a tool call has an unknown key `{key}`"));
    }
    let name = fields.get("name").and_then(Value::as_text).ok_or("a tool call has no `name`")?;
    let id = match fields.get("id") {
        None | Some(Value::None) => None,
        Some(Value::Text(id)) => Some(id.clone().into()),
        Some(_) => return Err("the `id` of a tool call is no text".into()),
    };
    let args = fields.get("args").cloned().unwrap_or_else(|| Value::Object(IndexMap::new()));
    Ok(Called { id, name: name.to_owned().into(), args: Args::Given(args) })
}

// ---- from items --------------------------------------------------------------------------------------------------------

/// The messages of a history. System and developer messages, records, reasoning and summaries are none. Calls join the
/// assistant's text before them; what is hidden and what is not are messages apart.
pub(crate) fn of_items<'a>(history: &'a [Item], told: &BTreeMap<CallKey, Told>) -> Vec<Message<'a>> {
    let calls: BTreeMap<CallKey, &ToolCall> = history.iter().filter_map(Item::as_call).map(|call| (call.key, call)).collect();
    let mut all: Vec<Message<'a>> = Vec::new();
    for (at, item) in history.iter().enumerate() {
        let speaker = match item.body() {
            Body::Message { role: Role::User, .. } | Body::Mail { .. } => Speaker::User,
            Body::Message { role: Role::Assistant, .. } => Speaker::Assistant,
            Body::Message { role: Role::Tool, .. } | Body::Result { .. } => Speaker::Tool,
            Body::Call(call) => {
                let called =
                    Called { id: Some(call.id.as_str().into()), name: call.name.as_str().into(), args: Args::Written(call.args.as_text()) };
                let joins = |last: &&mut Message<'_>| last.speaker == Speaker::Assistant && last.hidden == item.hidden;
                match all.last_mut().filter(joins) {
                    Some(last) => last.calls.push(called),
                    None => all.push(Message {
                        hidden: item.hidden,
                        calls: vec![called],
                        ..Message::new(Speaker::Assistant, Content::Parts(&[]), at)
                    }),
                }
                continue;
            }
            Body::Message { role: Role::System | Role::Developer, .. }
            | Body::Reasoning { .. }
            | Body::Context { .. }
            | Body::Compaction { .. } => continue,
        };
        let answered = item.answers().and_then(|key| calls.get(&key).copied());
        all.push(Message {
            name: answered.map(|call| call.name.as_str().into()),
            hidden: item.hidden,
            answers: answered.map(|call| call.id.as_str().into()),
            told: item.answers().and_then(|key| told.get(&key).cloned()).or_else(|| of_means(item)),
            ..Message::new(speaker, Content::Parts(item.parts()), at)
        });
    }
    all
}

/// What a result of an earlier session tells: how it stands is known, its text is not told apart from its frame.
fn of_means(item: &Item) -> Option<Told> {
    let status = item.means.iter().find_map(|means| match means {
        Means::Returned(_) => Some(Status::Completed),
        Means::Failed(_) | Means::Refused => Some(Status::Failed),
        Means::Started(_) | Means::Moved | Means::TimedOut | Means::Stored(_) => None,
    })?;
    Some(Told::of(&Outcome { status, cap: None, text: String::new() }))
}
