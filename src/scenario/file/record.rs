//! Records: one declaration gives a mapping's type, its reading (all problems, not only the first) and its JSON schema.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::errors::{Problems, suggest};
use super::node::{Located, Node, Place, Value};

/// What can be read from a node.
pub(super) trait Form: Sized + JsonSchema {
    /// Reads it. `None`: it is not this, and the problem has been added.
    fn read(node: &Node, problems: &mut Problems) -> Option<Self>;
    /// What an absent key means; `None`: the key is required.
    fn absent() -> Option<Self> {
        None
    }
    /// What stands for a value that is missing or wrong, so that the rest of its mapping is still read. The file is
    /// refused all the same.
    fn stand_in() -> Option<Self> {
        Self::absent()
    }
    /// Its JSON schema where it is a key's value.
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Self>()
    }
}

/// Adds a problem of a wrong type.
pub(super) fn wrong<T>(node: &Node, wanted: &str, help: &str, problems: &mut Problems) -> Option<T> {
    problems.incomplete = true;
    if node.value != Value::Broken {
        problems.add(node.at, format!("this must be {wanted}, not {}", node.value.kind()), help);
    }
    None
}

/// Declares records. A field with a default is optional; so is one whose type may be absent (an `Option`, a list, a map).
macro_rules! record {
    ($($(#[doc = $doc:literal])* $vis:vis struct $name:ident {
        $( $(#[doc = $about:literal])* $field:ident : $type:ty $(= $default:expr)? , )*
    })*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug)]
        #[allow(dead_code, reason = "some keys are read before the record is, and stand here for the schema")]
        $vis struct $name {
            $( $(#[doc = $about])* pub $field: $type, )*
        }

        impl $crate::scenario::file::record::Form for $name {
            fn read(node: &$crate::scenario::file::node::Node, problems: &mut $crate::scenario::file::errors::Problems) -> Option<$name> {
                let keys = [$(stringify!($field)),*];
                let entries = $crate::scenario::file::record::entries(node, &keys, problems)?;
                // Every field is read before any missing one gives up, so that all problems are found.
                $( let $field: Option<$type> = match entries.get(stringify!($field)) {
                    Some(node) => <$type as $crate::scenario::file::record::Form>::read(node, problems),
                    None => {
                        #[allow(unused_mut, unused_assignments)]
                        let mut absent = <$type as $crate::scenario::file::record::Form>::absent();
                        $( absent = Some($default); )?
                        if absent.is_none() {
                            problems.incomplete = true;
                            problems.add(node.at, concat!("the key `", stringify!($field), "` is missing here"), $crate::scenario::file::record::about(&[$($about),*]));
                        }
                        absent
                    }
                }; )*
                Some($name { $( $field: $field.or_else(<$type as $crate::scenario::file::record::Form>::stand_in)?, )* })
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let mut properties = serde_json::Map::new();
                #[allow(unused_mut)]
                let mut required: Vec<&str> = vec![];
                $(
                    let mut property = <$type as $crate::scenario::file::record::Form>::schema(generator);
                    property.insert("description".to_owned(), $crate::scenario::file::record::about(&[$($about),*]).into());
                    properties.insert(stringify!($field).to_owned(), property.to_value());
                    #[allow(unused_mut, unused_assignments)]
                    let mut optional = <$type as $crate::scenario::file::record::Form>::absent().is_some();
                    $( let _ = || $default; optional = true; )?
                    if !optional {
                        required.push(stringify!($field));
                    }
                )*
                let about = $crate::scenario::file::record::about(&[$($doc),*]);
                let mut schema = schemars::json_schema!({"type": "object", "description": about, "properties": properties, "additionalProperties": false});
                if !required.is_empty() {
                    schema.insert("required".to_owned(), required.into());
                }
                schema
            }
        }
    )*};
}
pub(super) use record;

/// Declares how an enum's values are named in a file.
macro_rules! names {
    ($type:ty: $($name:literal => $value:expr),+ $(,)?) => {
        impl $crate::scenario::file::record::Form for $type {
            fn read(node: &$crate::scenario::file::node::Node, problems: &mut $crate::scenario::file::errors::Problems) -> Option<$type> {
                $crate::scenario::file::record::named(node, &[$(($name, $value)),+], problems)
            }
        }
    };
}
pub(super) use names;

/// The text of doc lines.
pub(super) fn about(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// One of a few names.
pub(super) fn named<T: Clone>(node: &Node, known: &[(&'static str, T)], problems: &mut Problems) -> Option<T> {
    let all = known.iter().map(|(name, _)| *name);
    let Value::Text(text) = &node.value else {
        let list: Vec<String> = all.map(|name| format!("`{name}`")).collect();
        return wrong(node, "a word", &format!("known: {}", list.join(", ")), problems);
    };
    let found = known.iter().find(|(name, _)| name == text);
    if found.is_none() {
        problems.incomplete = true;
        problems.add(node.at, format!("`{text}` is not known here"), suggest(text, all));
    }
    found.map(|(_, value)| value.clone())
}

/// A mapping's entries by key, with the unknown ones reported.
pub(super) fn entries<'a>(node: &'a Node, keys: &[&'static str], problems: &mut Problems) -> Option<BTreeMap<&'a str, &'a Node>> {
    let Value::Map(entries) = &node.value else {
        let list: Vec<String> = keys.iter().map(|name| format!("`{name}`")).collect();
        return wrong(node, "a mapping", &format!("its keys: {}", list.join(", ")), problems);
    };
    let mut found = BTreeMap::new();
    for (key, value) in entries {
        if keys.contains(&key.value.as_str()) {
            found.insert(key.value.as_str(), value);
        } else {
            problems.incomplete = true;
            problems.add(key.at, format!("unknown key `{}`", key.value), suggest(&key.value, keys.iter().copied()));
        }
    }
    Some(found)
}

impl Form for String {
    fn read(node: &Node, problems: &mut Problems) -> Option<String> {
        match &node.value {
            Value::Text(text) => Some(text.clone()),
            Value::Int(number) => Some(number.to_string()),
            Value::Null => wrong(node, "a text", "write a text, or remove the key", problems),
            Value::Bool(_) | Value::Float(_) => wrong(node, "a text", "put it in quotes", problems),
            _ => wrong(node, "a text", "write one text here", problems),
        }
    }
}

impl Form for bool {
    fn read(node: &Node, problems: &mut Problems) -> Option<bool> {
        match &node.value {
            Value::Bool(flag) => Some(*flag),
            // Expressions give numbers: `once: ${variant == 2}`.
            Value::Int(0) => Some(false),
            Value::Int(1) => Some(true),
            _ => wrong(node, "true or false", "write `true` or `false`", problems),
        }
    }
}

macro_rules! whole_numbers {
    ($($type:ty),*) => {$(
        impl Form for $type {
            fn read(node: &Node, problems: &mut Problems) -> Option<$type> {
                match &node.value {
                    Value::Int(number) => {
                        let fits = <$type>::try_from(*number).ok();
                        if fits.is_none() {
                            problems.incomplete = true;
                            problems.add(node.at, format!("{number} is out of range here"), format!("write a whole number from {} to {}", <$type>::MIN, <$type>::MAX));
                        }
                        fits
                    }
                    _ => wrong(node, "a whole number", "write a number or a `$parameter`", problems),
                }
            }
        }
    )*};
}
whole_numbers!(u32, u64, i64);

impl Form for f64 {
    fn read(node: &Node, problems: &mut Problems) -> Option<f64> {
        match &node.value {
            Value::Int(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            _ => wrong(node, "a number", "write a number or a `$parameter`", problems),
        }
    }
}

impl<T: Form> Form for Option<T> {
    fn read(node: &Node, problems: &mut Problems) -> Option<Option<T>> {
        T::read(node, problems).map(Some)
    }
    fn absent() -> Option<Option<T>> {
        Some(None)
    }
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        // An absent key is no null.
        T::schema(generator)
    }
}

impl<T: Form> Form for Box<T> {
    fn read(node: &Node, problems: &mut Problems) -> Option<Box<T>> {
        T::read(node, problems).map(Box::new)
    }
}

impl<T: Form> Form for Vec<T> {
    /// Items that are wrong are left out: the rest is still worth a look.
    fn read(node: &Node, problems: &mut Problems) -> Option<Vec<T>> {
        match &node.value {
            Value::List(items) => Some(items.iter().filter_map(|item| T::read(item, problems)).collect()),
            _ => wrong(node, "a list", "write its items in `[...]`, or each in a line of its own after `- `", problems),
        }
    }
    fn absent() -> Option<Vec<T>> {
        Some(vec![])
    }
}

/// A mapping of names to values, in the file's order.
#[derive(Clone, Debug)]
pub(super) struct Map<T>(pub Vec<(Located<String>, T)>);

impl<T> Map<T> {
    /// The value of a name.
    pub(super) fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(key, _)| key.value == name).map(|(_, value)| value)
    }

    /// The names.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.iter().map(|(key, _)| key.value.as_str())
    }
}

impl<T: Form> Form for Map<T> {
    fn read(node: &Node, problems: &mut Problems) -> Option<Map<T>> {
        match &node.value {
            Value::Map(entries) => {
                let read = |(key, node): &(Located<String>, Node)| T::read(node, problems).map(|value| (key.clone(), value));
                Some(Map(entries.iter().filter_map(read).collect()))
            }
            _ => wrong(node, "a mapping", "write `name: value` pairs", problems),
        }
    }
    fn absent() -> Option<Map<T>> {
        Some(Map(vec![]))
    }
}

impl<T: JsonSchema> JsonSchema for Map<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("MapOf{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<T>();
        json_schema!({"type": "object", "additionalProperties": value})
    }
}

impl<T: Form> Form for Located<T> {
    fn read(node: &Node, problems: &mut Problems) -> Option<Located<T>> {
        T::read(node, problems).map(|value| Located { value, at: node.at })
    }
    fn stand_in() -> Option<Located<T>> {
        T::stand_in().map(|value| Located { value, at: Place::default() })
    }
}

impl<T: JsonSchema> JsonSchema for Located<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }
    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// A name or a list of names.
#[derive(Clone, Debug)]
pub(super) struct OneOrMore(pub Vec<Located<String>>);

impl Form for OneOrMore {
    fn read(node: &Node, problems: &mut Problems) -> Option<OneOrMore> {
        match &node.value {
            Value::List(_) => Vec::read(node, problems).map(OneOrMore),
            _ => Located::read(node, problems).map(|one| OneOrMore(vec![one])),
        }
    }
    fn absent() -> Option<OneOrMore> {
        Some(OneOrMore(vec![]))
    }
}

impl JsonSchema for OneOrMore {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "OneOrMore".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
    }
}

/// Any value, kept as it stands (tool arguments, a raw schema).
impl Form for Value {
    fn read(node: &Node, _: &mut Problems) -> Option<Value> {
        Some(node.value.clone())
    }
}

impl JsonSchema for Value {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Any".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({})
    }
}
