//! The YAML document as a tree in which every key and value knows where it stands.
//!
//! The typed records are read from this tree ([`record`](super::record)), not from the parser: a parser that reads into
//! types stops at the first wrong one, and a scenario's author wants all of them.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{DuplicateKeyPolicy, Location, Spanned};

use super::errors::Problems;

/// Where something stands in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
    /// First byte.
    pub start: usize,
    /// Length in bytes; 0 where the parser does not say.
    pub length: usize,
}

impl From<Location> for Place {
    fn from(location: Location) -> Place {
        let size = |bytes: Option<u64>| bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0);
        let span = location.span();
        Place { line: location.line(), column: location.column(), start: size(span.byte_offset()), length: size(span.byte_len()) }
    }
}

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Located<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub at: Place,
}

/// A YAML node.
pub(super) type Node = Located<Value>;

/// What a node holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// What could not be expanded; the problem is known, and nothing is to follow from it.
    Broken,
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Located<String>, Node)>),
}

impl Value {
    /// What it is, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::Null | Value::Broken => "nothing",
            Value::Bool(_) => "true or false",
            Value::Int(_) => "a whole number",
            Value::Float(_) => "a number with a fraction",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }
}

impl Node {
    /// The entry of a mapping.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|(name, _)| name.value == key).map(|(_, node)| node),
            _ => None,
        }
    }

    /// Whether all of it could be expanded.
    pub(super) fn is_sound(&self) -> bool {
        match &self.value {
            Value::Broken => false,
            Value::List(items) => items.iter().all(Node::is_sound),
            Value::Map(entries) => entries.iter().all(|(_, node)| node.is_sound()),
            _ => true,
        }
    }

    /// The value as JSON, for tool arguments and raw schemas.
    pub(super) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null | Value::Broken => serde_json::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Int(value) => (*value).into(),
            Value::Float(value) => (*value).into(),
            Value::Text(value) => value.as_str().into(),
            Value::List(items) => items.iter().map(Node::to_json).collect(),
            Value::Map(entries) => {
                entries.iter().map(|(key, node)| (key.value.clone(), node.to_json())).collect::<serde_json::Map<_, _>>().into()
            }
        }
    }
}

/// A document nests this deep at most.
const DEEPEST: usize = 32;

/// Parses a document. Syntax errors are the one kind that comes alone.
pub(super) fn parse(text: &str, problems: &mut Problems) -> Option<Node> {
    // YAML 1.2: `y` and `no` are words, `007` and `1_000` are texts.
    let options = serde_saphyr::options! {
        // Reading a level takes some 40 KB of stack in a debug build; no scenario nests half as deep.
        budget: serde_saphyr::budget! { max_depth: DEEPEST },
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
    };
    match serde_saphyr::from_str_with_options::<Spanned<Raw>>(text, options) {
        Ok(root) => Some(locate(root, problems)),
        Err(error) => {
            let mut place = error.location().map(Place::from).unwrap_or_default();
            // The scanner knows lines and columns alone.
            place.start = byte_of(text, place.line, place.column);
            let message = error.without_snippet().to_string();
            let message = message.split_once(" at line ").map_or(message.as_str(), |(what, _)| what);
            problems.add(
                place,
                message,
                "this is no YAML: look here and at the lines before it for a bracket, a quote or blanks too many or too few",
            );
            None
        }
    }
}

/// The byte at which a column of a line begins; both from 1.
fn byte_of(text: &str, line: u64, column: u64) -> usize {
    let mut rest = text;
    for _ in 1..line {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    }
    let before = usize::try_from(column).unwrap_or(1).saturating_sub(1);
    let within = rest.char_indices().nth(before).map_or(rest.len(), |(at, _)| at);
    text.len() - rest.len() + within
}

/// A value as the parser hands it over.
enum Raw {
    Leaf(Value),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<Raw>, Spanned<Raw>)>),
}

fn locate(raw: Spanned<Raw>, problems: &mut Problems) -> Node {
    let at = Place::from(raw.referenced);
    let value = match raw.value {
        Raw::Leaf(value) => value,
        Raw::List(items) => Value::List(items.into_iter().map(|item| locate(item, problems)).collect()),
        Raw::Map(entries) => {
            let mut known: Vec<(Located<String>, Node)> = Vec::with_capacity(entries.len());
            for (key, value) in entries {
                let at = Place::from(key.referenced);
                let node = locate(value, problems);
                let name = match key.value {
                    Raw::Leaf(Value::Text(name)) => name,
                    Raw::Leaf(Value::Int(number)) => number.to_string(),
                    Raw::Leaf(Value::Bool(flag)) => flag.to_string(),
                    _ => {
                        problems.add(at, "a key must be a text", "write a plain name before the colon");
                        continue;
                    }
                };
                match known.iter().find(|(key, _)| key.value == name) {
                    Some((first, _)) => {
                        problems.add(
                            at,
                            format!("the key `{name}` stands twice in this mapping"),
                            format!("it stands first in line {}: keep one of them", first.at.line),
                        );
                    }
                    None => known.push((Located { value: name, at }, node)),
                }
            }
            Value::Map(known)
        }
    };
    Node { value, at }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Raw, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any YAML value")
    }
    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Leaf(Value::Null))
    }
    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Leaf(Value::Null))
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
        deserializer.deserialize_any(self)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Leaf(Value::Bool(value)))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Leaf(Value::Int(value)))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        // Beyond 63 bits no number of a scenario has a meaning; as a fraction it is refused where a whole number is due.
        Ok(Raw::Leaf(i64::try_from(value).map_or(Value::Float(value as f64), Value::Int)))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
        Ok(Raw::Leaf(Value::Float(value)))
    }
    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::Leaf(Value::Text(value.to_owned())))
    }
    fn visit_string<E>(self, value: String) -> Result<Raw, E> {
        Ok(Raw::Leaf(Value::Text(value)))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Raw::List(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Raw::Map(map))
    }
}
