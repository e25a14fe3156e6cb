//! A request as plain data: what a wire sends, before anybody frames it.

use serde::Deserialize;

use crate::transcript::{Body, Item, Part, Role, ToolSpec};

/// A request to a chat model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The messages, in order; a system prompt is the first of them.
    pub messages: Vec<Message>,
    /// The tools that are offered.
    pub tools: Vec<Tool>,
    /// Which of them may or must be called.
    pub choice: ToolChoice,
}

impl Request {
    /// The request that a thread's items are. What an assistant thinks, says and calls in a row is one message; mail and summaries
    /// arrive as the user's; what no model reads is left out.
    pub fn of_items<'a>(items: impl IntoIterator<Item = &'a Item>, tools: &[ToolSpec]) -> Request {
        let mut messages: Vec<Message> = Vec::new();
        for item in items {
            let role = match item.body() {
                Body::Message { role, .. } => role.name(),
                Body::Reasoning { .. } | Body::Call(_) => Role::Assistant.name(),
                Body::Result { .. } => Role::Tool.name(),
                Body::Mail { .. } | Body::Compaction { .. } => Role::User.name(),
                Body::Context { .. } => continue,
            };
            let name = item.name().map(str::to_owned);
            let goes_on = |last: &mut Message| last.role == "assistant" && role == "assistant" && last.name == name;
            let message = match messages.pop_if(|last| goes_on(last)) {
                Some(last) => last,
                None => Message { role: role.into(), name, ..Message::default() },
            };
            messages.push(match item.body() {
                Body::Call(call) => message.calling(&call.name, call.args.as_text()),
                _ => Message { content: [message.content.as_slice(), item.parts()].concat(), ..message },
            });
        }
        Request { messages, tools: tools.iter().map(Tool::of_spec).collect(), choice: ToolChoice::Auto }
    }
}

/// One message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// The role, as the wire spells it: `system`, `user`, `assistant`, `tool`, `function`.
    pub role: String,
    /// The name beside the role.
    pub name: Option<String>,
    /// The content; what is no text counts as it declares, or is unknown.
    pub content: Vec<Part>,
    /// The calls that it makes.
    pub calls: Vec<Call>,
}

impl Message {
    /// A message of one text.
    pub fn new(role: &str, text: &str) -> Message {
        Message { role: role.into(), content: vec![text.into()], ..Message::default() }
    }

    /// The same message under a name.
    pub fn named(self, name: &str) -> Message {
        Message { name: Some(name.into()), ..self }
    }

    /// The same message making one call more; `arguments` as sent.
    pub fn calling(mut self, name: &str, arguments: &str) -> Message {
        self.calls.push(Call { name: name.into(), arguments: arguments.into() });
        self
    }
}

/// A call that a message makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The tool's name.
    pub name: String,
    /// The arguments, as sent.
    pub arguments: String,
}

/// A tool that is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tool {
    /// One that the request describes.
    Function {
        /// Its name.
        name: String,
        /// What it is for.
        description: Option<String>,
        /// The JSON schema of its parameters, as text: the order of properties is the text's.
        parameters: String,
    },
    /// One that the provider knows by name and describes itself: `bash`, `text_editor`.
    Provided(String),
}

impl Tool {
    /// A tool with a description and a parameter schema.
    pub fn function(name: &str, description: Option<&str>, parameters: &str) -> Tool {
        Tool::Function { name: name.into(), description: description.map(Into::into), parameters: parameters.into() }
    }

    /// A tool as runs hold it. A schema text that is not name, description and parameters is taken as the parameters.
    pub fn of_spec(spec: &ToolSpec) -> Tool {
        #[derive(Deserialize)]
        struct Spec<'a> {
            description: Option<String>,
            #[serde(borrow)]
            parameters: &'a serde_json::value::RawValue,
        }
        match serde_json::from_str::<Spec<'_>>(spec.schema.as_text()) {
            Ok(read) => Tool::function(&spec.name, read.description.as_deref(), read.parameters.get()),
            Err(_) => Tool::function(&spec.name, None, spec.schema.as_text()),
        }
    }
}

/// Which tools may or must be called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// None may be called.
    None,
    /// At least one must be.
    Any,
    /// This one must be.
    Named(String),
}
