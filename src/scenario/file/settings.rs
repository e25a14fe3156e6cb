//! Which scenarios, sizes and parameters a file offers.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::scenario::Size;

use super::errors::{Problems, suggest};
use super::expression::{Names, evaluate, is_name};
use super::form::Variant;
use super::node::{Located, Node, Place, Value};
use super::record::{Form, Map, wrong};
use super::text::Line;

/// The keys that stand outside of expansion.
pub(super) const UNEXPANDED: [&str; 3] = ["sizes", "parameters", "variants"];

/// What the head of a file says.
pub(super) struct Settings {
    /// The ids of its scenarios: its own, then the variants'.
    pub ids: Vec<String>,
    /// The sizes that it offers.
    pub sizes: Vec<Size>,
    parameters: Map<Amount>,
    variants: Map<Variant>,
    at: Place,
}

impl Settings {
    /// Reads them. Wrong types are not reported here but when the whole file is read.
    pub(super) fn read(root: &Node) -> Settings {
        let mut unheard = Problems::default();
        let id = root.get("id").and_then(|node| Line::read(node, &mut unheard)).unwrap_or_default().0;
        let parameters = section(root, "parameters").unwrap_or(Map(vec![]));
        let variants: Map<Variant> = section(root, "variants").unwrap_or(Map(vec![]));
        let ids = std::iter::once(id).chain(variants.keys().map(str::to_owned)).collect();
        let variant_parameters = variants.0.iter().flat_map(|(_, variant)| &variant.parameters.0);
        let varies = parameters.0.iter().chain(variant_parameters).any(|(_, amount)| matches!(amount, Amount::BySize(_)));
        let stated: Option<Vec<Located<Size>>> = section(root, "sizes");
        let sizes = match stated.filter(|sizes| !sizes.is_empty()) {
            Some(sizes) => Size::ALL.into_iter().filter(|size| sizes.iter().any(|stated| stated.value == *size)).collect(),
            None if varies => Size::ALL.to_vec(),
            None => vec![Size::Small],
        };
        let at = root.get("parameters").map_or(root.at, |node| node.at);
        Settings { ids, sizes, parameters, variants, at }
    }

    /// The variant of an id; `None` for the file's own.
    pub(super) fn variant(&self, id: &str) -> Option<&Variant> {
        self.variants.get(id)
    }

    /// The parameters of a scenario in a size.
    pub(super) fn names(&self, id: &str, size: Size, overrides: &BTreeMap<String, i64>, problems: &mut Problems) -> Names {
        let no_variant = Map(vec![]);
        let variant = self.variant(id).map_or(&no_variant, |variant| &variant.parameters);
        for (key, _) in self.variants.0.iter().flat_map(|(_, variant)| &variant.parameters.0) {
            if self.parameters.get(&key.value).is_none() {
                problems.add(key.at, format!("there is no parameter `{}`", key.value), suggest(&key.value, self.parameters.keys()));
            }
        }
        for name in overrides.keys() {
            if self.parameters.get(name).is_none() {
                problems.add(self.at, format!("there is no parameter `{name}` to override"), suggest(name, self.parameters.keys()));
            }
        }
        let mut names = Names::new();
        for (key, amount) in &self.parameters.0 {
            if !is_name(&key.value) {
                let message = format!("`{}` cannot name a parameter", key.value);
                problems.add(key.at, message, "use letters, digits and `_`, a letter first");
            }
            let value = match overrides.get(&key.value) {
                Some(value) => *value,
                None => {
                    let amount = variant.get(&key.value).unwrap_or(amount);
                    self.value(amount, key, size, &names, problems)
                }
            };
            names.insert(key.value.clone(), value);
        }
        names
    }

    fn value(&self, amount: &Amount, key: &Located<String>, size: Size, names: &Names, problems: &mut Problems) -> i64 {
        let number = match amount {
            Amount::Same(number) => number,
            Amount::BySize(by_size) => {
                for missing in self.sizes.iter().filter(|size| by_size.get(size.name()).is_none()) {
                    let message = format!("the parameter `{}` has no value for the size `{}`", key.value, missing.name());
                    problems.add(key.at, message, "give it one, or leave that size out of `sizes`");
                }
                match by_size.get(size.name()) {
                    Some(number) => number,
                    None => return 1,
                }
            }
        };
        match &number.value {
            Number::Is(value) => *value,
            Number::Expression(text) => evaluate(text, names).unwrap_or_else(|message| {
                problems.add(number.at, message, "a parameter may use those before it");
                1
            }),
        }
    }
}

fn section<T: Form>(root: &Node, key: &str) -> Option<T> {
    root.get(key).and_then(|node| T::read(node, &mut Problems::default()))
}

/// A parameter's value: one for all sizes, or one a size. Texts are expressions over the parameters before it.
#[derive(Clone, Debug)]
pub(super) enum Amount {
    /// For all sizes.
    Same(Located<Number>),
    /// By size.
    BySize(Map<Located<Number>>),
}

/// A number or an expression that gives one.
#[derive(Clone, Debug)]
pub(super) enum Number {
    /// A number.
    Is(i64),
    /// An expression, without its dollar and braces.
    Expression(String),
}

impl Form for Number {
    fn read(node: &Node, problems: &mut Problems) -> Option<Number> {
        let expression = |text: &str| {
            let inner = text.strip_prefix("${").and_then(|text| text.strip_suffix('}'));
            inner.or_else(|| text.strip_prefix('$')).map(str::to_owned)
        };
        match &node.value {
            Value::Int(number) => Some(Number::Is(*number)),
            Value::Text(text) if expression(text).is_some() => expression(text).map(Number::Expression),
            _ => wrong(node, "a whole number", "write a number or an expression like `${2 * files}`", problems),
        }
    }
}

impl Form for Amount {
    fn read(node: &Node, problems: &mut Problems) -> Option<Amount> {
        let Value::Map(entries) = &node.value else {
            return Located::read(node, problems).map(Amount::Same);
        };
        for (key, _) in entries {
            if !Size::ALL.iter().any(|size| size.name() == key.value) {
                let known = Size::ALL.map(Size::name);
                problems.add(key.at, format!("`{}` is no size", key.value), suggest(&key.value, known));
            }
        }
        Map::read(node, problems).map(Amount::BySize)
    }
}

impl JsonSchema for Number {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Number".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer"})
    }
}

impl JsonSchema for Amount {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Amount".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let number = generator.subschema_for::<Number>();
        json_schema!({
            "description": "A whole number or an expression over the parameters before it; or one by size.",
            "anyOf": [
                number,
                {"type": "object", "properties": {"small": number, "medium": number, "large": number}, "additionalProperties": false, "minProperties": 1}
            ]
        })
    }
}
