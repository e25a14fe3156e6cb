//! JSON schemas as far as the renderings of tools read them, in the order of their text.

use std::fmt;

use indexmap::IndexMap;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A schema. Whatever a text holds, it is read without a panic; texts nested deeper than the JSON reader's 128 levels are refused.
#[derive(Debug, Default)]
pub(super) struct Schema {
    /// The types: none, one or several.
    pub(super) types: Vec<String>,
    pub(super) description: Option<String>,
    /// Properties with whether each is required.
    pub(super) properties: Vec<(String, bool, Schema)>,
    pub(super) items: Option<Box<Schema>>,
    pub(super) any_of: Vec<Schema>,
    pub(super) values: Vec<Enumerated>,
    /// Whether it holds a keyword that the renderings do not read.
    pub(super) more: bool,
}

/// A value that an `enum` allows.
#[derive(Debug)]
pub(super) enum Enumerated {
    Text(String),
    /// As JSON writes it.
    Other(String),
}

impl Schema {
    /// Reads a schema; `None` if the text is no JSON object, or nested too deep.
    pub(super) fn parse(text: &str) -> Option<Schema> {
        match serde_json::from_str(text) {
            Ok(Json::Object(members)) => Some(Schema::of(members)),
            _ => None,
        }
    }

    fn of(members: IndexMap<String, Json>) -> Schema {
        let mut schema = Schema::default();
        let mut required = Vec::new();
        for (keyword, value) in members {
            match (keyword.as_str(), value) {
                ("type", Json::Text(name)) => schema.types.push(name),
                ("type", Json::List(names)) => schema.types.extend(names.into_iter().filter_map(Json::into_text)),
                ("description", Json::Text(text)) => schema.description = Some(text),
                ("properties", Json::Object(properties)) => {
                    schema.properties.extend(properties.into_iter().map(|(name, value)| (name, false, Schema::of_value(value))));
                }
                ("required", Json::List(names)) => required.extend(names.into_iter().filter_map(Json::into_text)),
                ("items", value) => schema.items = Some(Box::new(Schema::of_value(value))),
                ("anyOf", Json::List(variants)) => schema.any_of.extend(variants.into_iter().map(Schema::of_value)),
                ("enum", Json::List(values)) => schema.values.extend(values.into_iter().map(Json::into_enumerated)),
                // Neither is rendered: bills with and without them were the same.
                ("const" | "additionalProperties", _) => {}
                _ => schema.more = true,
            }
        }
        for (name, is_required, _) in &mut schema.properties {
            *is_required = required.contains(name);
        }
        schema
    }

    fn of_value(value: Json) -> Schema {
        match value {
            Json::Object(members) => Schema::of(members),
            // `true` and `false` are schemas too; no rendering of them is known.
            _ => Schema { more: true, ..Schema::default() },
        }
    }
}

/// JSON in the order of its text, which `serde_json::Value` does not keep.
enum Json {
    Text(String),
    /// Null, a truth value or a number, as JSON writes it.
    Other(String),
    List(Vec<Json>),
    Object(IndexMap<String, Json>),
}

impl Json {
    fn into_text(self) -> Option<String> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    fn into_enumerated(self) -> Enumerated {
        match self {
            Json::Text(text) => Enumerated::Text(text),
            Json::Other(text) => Enumerated::Other(text),
            Json::List(_) => Enumerated::Other("[]".into()),
            Json::Object(_) => Enumerated::Other("{}".into()),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Other("null".into()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Other(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Other(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Other(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Other(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(Json::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut members = IndexMap::new();
        while let Some((key, value)) = map.next_entry()? {
            members.insert(key, value);
        }
        Ok(Json::Object(members))
    }
}
