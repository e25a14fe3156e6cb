//! A body in its pieces: each is stored once in a cassette, and the first that differs can be named.

use std::fmt;

use serde_json::{Map, Value, json};

use super::Wire;
use crate::transcript::Digest;

/// What is sent, in pieces.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// The wire, which says how the pieces are put together.
    pub wire: Wire,
    /// The fields beside system text, tools and items.
    pub head: Map<String, Value>,
    /// The system text.
    pub system: Vec<Value>,
    /// The tools.
    pub tools: Vec<Value>,
    /// Messages, or input items.
    pub items: Vec<Value>,
    /// The digests of all input items, where only what is new of them is sent; empty: nobody needs them.
    pub inputs: Vec<Digest>,
}

/// A place in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// The fields beside the rest.
    Head,
    /// The system text.
    System,
    /// A tool, by its number from 0.
    Tool(usize),
    /// An item, by its number from 0.
    Item(usize),
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Section::Head => f.write_str("the fields beside the items"),
            Section::System => f.write_str("the system text"),
            Section::Tool(at) => write!(f, "tool {at}"),
            Section::Item(at) => write!(f, "item {at}"),
        }
    }
}

impl Body {
    /// The whole as the wire has it.
    pub fn json(&self) -> Value {
        let mut whole = self.head.clone();
        let mut set = |key: &str, value: Value| _ = whole.insert(key.to_owned(), value);
        if !self.tools.is_empty() {
            set("tools", self.tools.clone().into());
        }
        match self.wire {
            Wire::Chat => set("messages", self.system.iter().chain(&self.items).cloned().collect()),
            Wire::Responses => {
                if let Some(system) = self.system.first() {
                    set("instructions", system.clone());
                }
                set("input", self.items.clone().into());
            }
            Wire::Messages => {
                if !self.system.is_empty() {
                    set("system", self.system.clone().into());
                }
                set("messages", self.items.clone().into());
            }
        }
        Value::Object(whole)
    }

    /// The bytes that are sent. Keys are sorted, so equal bodies are equal bytes.
    pub fn bytes(&self) -> Vec<u8> {
        self.json().to_string().into_bytes()
    }

    /// The pieces with their places, in order.
    pub fn pieces(&self) -> impl Iterator<Item = (Section, Value)> {
        let head = [(Section::Head, Value::Object(self.head.clone()))];
        let system = self.system.iter().map(|one| (Section::System, one.clone()));
        let tools = self.tools.iter().enumerate().map(|(at, one)| (Section::Tool(at), one.clone()));
        let items = self.items.iter().enumerate().map(|(at, one)| (Section::Item(at), one.clone()));
        head.into_iter().chain(system).chain(tools).chain(items)
    }

    /// The digest of a request by the digests of its pieces.
    pub fn digest<'d>(pieces: impl IntoIterator<Item = &'d Digest>) -> Digest {
        Digest::chain(pieces.into_iter().copied())
    }
}

/// A tool's text as JSON.
pub(super) fn tool_json(schema: &crate::transcript::Part) -> Result<Value, String> {
    serde_json::from_str(schema.as_text()).map_err(|_| format!("a tool has no schema that could be sent (it is {schema:?})"))
}

/// A tool's name, description and parameters.
pub(super) fn tool_fields(schema: &crate::transcript::Part) -> Result<(Value, Value, Value), String> {
    let mut tool = tool_json(schema)?;
    let mut take = |key: &str, otherwise: Value| tool.get_mut(key).map_or(otherwise, Value::take);
    let parameters = take("parameters", json!({"type": "object", "properties": {}}));
    Ok((take("name", Value::Null), take("description", json!("")), parameters))
}
