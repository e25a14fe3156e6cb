//! Objects of a vector, read strictly.

use indexmap::IndexMap;

use crate::strategy::deerflow::value::Value;

/// An object with the keys that it may have. A field that is `null` is as one that is not there.
#[derive(Clone, Copy, Default)]
pub struct Fields<'a> {
    what: &'a str,
    fields: Option<&'a IndexMap<String, Value>>,
}

impl<'a> Fields<'a> {
    /// An object.
    pub fn of(value: &'a Value, what: &'a str, keys: &[&str]) -> Result<Fields<'a>, String> {
        let fields = value.fields().ok_or_else(|| format!("{what} is no object"))?;
        match fields.keys().find(|key| !keys.contains(&key.as_str())) {
            Some(key) => Err(format!("{what} has an unknown key `{key}`")),
            None => Ok(Fields { what, fields: Some(fields) }),
        }
    }

    /// A field.
    pub fn get(&self, key: &str) -> Option<&'a Value> {
        self.fields?.get(key).filter(|value| **value != Value::None)
    }

    fn wrong(&self, key: &str, kind: &str) -> String {
        format!("`{key}` of {} is no {kind}", self.what)
    }

    /// A text.
    pub fn text(&self, key: &str) -> Result<Option<&'a str>, String> {
        self.get(key).map(|value| value.as_text().ok_or_else(|| self.wrong(key, "text"))).transpose()
    }

    /// A whole number.
    pub fn whole(&self, key: &str) -> Result<Option<i64>, String> {
        let number = |value: &Value| match value {
            Value::Int(digits) => digits.parse().map_err(|_| self.wrong(key, "number that is small enough")),
            _ => Err(self.wrong(key, "whole number")),
        };
        self.get(key).map(number).transpose()
    }

    /// A list; an absent one is empty.
    pub fn list(&self, key: &str) -> Result<&'a [Value], String> {
        self.get(key).map_or(Ok(&[][..]), |value| value.items().ok_or_else(|| self.wrong(key, "list")))
    }

    /// A list of texts.
    pub fn texts(&self, key: &str) -> Result<Option<Vec<String>>, String> {
        let text = |value: &Value| value.as_text().map(str::to_owned).ok_or_else(|| self.wrong(key, "list of texts"));
        self.get(key).map(|_| self.list(key)?.iter().map(text).collect()).transpose()
    }

    /// An object inside.
    pub fn object(&self, key: &'a str, keys: &[&str]) -> Result<Option<Fields<'a>>, String> {
        self.get(key).map(|value| Fields::of(value, key, keys)).transpose()
    }
}
