//! Values as the product's program holds them: what JSON can say, and bytes, which it cannot.

use indexmap::IndexMap;
use serde_json::value::RawValue;

/// A value. Objects keep the order of their keys: it is part of some texts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// `null`.
    None,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number of any size, in its digits.
    Int(String),
    /// Any other number.
    Float(f64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list.
    List(Vec<Value>),
    /// An object; of equal keys the last value holds, at the first one's place.
    Object(IndexMap<String, Value>),
}

/// How deep values may be nested, as in `serde_json`.
const DEPTH: usize = 128;

impl Value {
    /// The value of a JSON text; `None`: it is no JSON, or nested too deeply.
    pub(crate) fn parse(text: &str) -> Option<Value> {
        read(serde_json::from_str::<&RawValue>(text.trim()).ok()?, 0)
    }

    /// A field of an object; `None` where there is no such field.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.fields()?.get(key)
    }

    /// The fields, of an object.
    pub(crate) fn fields(&self) -> Option<&IndexMap<String, Value>> {
        match self {
            Value::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// The text, of a text.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items, of a list.
    pub(crate) fn items(&self) -> Option<&[Value]> {
        match self {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// Whether Python takes it for true.
    pub(crate) fn is_true(&self) -> bool {
        match self {
            Value::None => false,
            Value::Bool(value) => *value,
            Value::Int(digits) => digits != "0",
            Value::Float(number) => *number != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::Bytes(bytes) => !bytes.is_empty(),
            Value::List(items) => !items.is_empty(),
            Value::Object(fields) => !fields.is_empty(),
        }
    }

    /// Whether Python finds it equal to 1.
    pub(crate) fn is_one(&self) -> bool {
        match self {
            Value::Bool(value) => *value,
            Value::Int(digits) => digits == "1",
            Value::Float(number) => *number == 1.0,
            _ => false,
        }
    }
}

fn read(raw: &RawValue, depth: usize) -> Option<Value> {
    if depth == DEPTH {
        return None;
    }
    let text = raw.get();
    Some(match text.chars().next()? {
        '{' => {
            let fields = serde_json::from_str::<IndexMap<String, &RawValue>>(text).ok()?;
            Value::Object(fields.into_iter().map(|(key, raw)| Some((key, read(raw, depth + 1)?))).collect::<Option<_>>()?)
        }
        '[' => {
            let items = serde_json::from_str::<Vec<&RawValue>>(text).ok()?;
            Value::List(items.into_iter().map(|raw| read(raw, depth + 1)).collect::<Option<_>>()?)
        }
        '"' => Value::Text(serde_json::from_str(text).ok()?),
        'n' => Value::None,
        't' => Value::Bool(true),
        'f' => Value::Bool(false),
        _ if text.contains(['.', 'e', 'E']) => Value::Float(text.parse().ok()?),
        _ if text == "-0" => Value::Int("0".into()),
        _ => Value::Int(text.into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_json_says() {
        let check = |text: &str, expect: Option<Value>| assert_eq!(Value::parse(text), expect, "{text}");
        check("null", Some(Value::None));
        check(" 12345678901234567890123 ", Some(Value::Int("12345678901234567890123".into())));
        check("-0", Some(Value::Int("0".into())));
        check("1e400", Some(Value::Float(f64::INFINITY)));
        check(r#"[true, "a\u00e9"]"#, Some(Value::List(vec![Value::Bool(true), Value::Text("aé".into())])));
        check("{", None);
        check("", None);
        check(r#""\ud800""#, None);
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        check(&deep, None);
        let keys = |text: &str| Value::parse(text).and_then(|value| Some(value.fields()?.keys().cloned().collect::<Vec<_>>()));
        assert_eq!(keys(r#"{"b":1,"a":2,"b":3}"#), Some(vec!["b".to_owned(), "a".to_owned()]));
    }

    #[test]
    fn what_is_true_and_what_is_one() {
        let check = |text: &str, is_true: bool, is_one: bool| {
            let value = Value::parse(text).expect("it is JSON");
            assert_eq!((value.is_true(), value.is_one()), (is_true, is_one), "{text}");
        };
        check("null", false, false);
        check("true", true, true);
        check("0", false, false);
        check("1", true, true);
        check("1.0", true, true);
        check("0.0", false, false);
        check("\"\"", false, false);
        check("\"1\"", true, false);
        check("[]", false, false);
        check("{\"a\":0}", true, false);
    }
}
