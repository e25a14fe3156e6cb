//! Strict reading: every field is asked for by name, what is left over is a fault, and a fault says where it stands.

use indexmap::IndexMap;

use super::super::json::Json;

/// An object that is being read.
pub(super) struct Fields<'a> {
    at: String,
    fields: &'a IndexMap<String, Json>,
    asked: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// The fields of an object that stands at a place.
    pub(super) fn of(value: &'a Json, at: impl Into<String>) -> Result<Fields<'a>, String> {
        let at = at.into();
        match value.fields() {
            Some(fields) => Ok(Fields { at, fields, asked: Vec::new() }),
            None => Err(format!("{at} is {}, not an object", short(value))),
        }
    }

    /// A field, if it is there.
    pub(super) fn get(&mut self, key: &'static str) -> Option<&'a Json> {
        self.asked.push(key);
        self.fields.get(key)
    }

    /// Whether the object has a field; asking does not count as reading it.
    pub(super) fn has(&self, key: &str) -> bool {
        self.fields.contains_key(key)
    }

    /// The place of a field.
    pub(super) fn place(&self, key: &str) -> String {
        if self.at.is_empty() { key.to_owned() } else { format!("{}.{key}", self.at) }
    }

    /// A field that must be there.
    pub(super) fn need(&mut self, key: &'static str) -> Result<&'a Json, String> {
        self.get(key).ok_or_else(|| format!("{} has no `{key}`", self.named()))
    }

    /// A text that must be there.
    pub(super) fn text(&mut self, key: &'static str) -> Result<String, String> {
        let value = self.need(key)?;
        value.as_text().map(str::to_owned).ok_or_else(|| format!("{} is {}, not a text", self.place(key), short(value)))
    }

    /// A text that may be missing.
    pub(super) fn maybe_text(&mut self, key: &'static str) -> Result<Option<String>, String> {
        if self.has(key) { self.text(key).map(Some) } else { Ok(None) }
    }

    /// A whole number that must be there.
    pub(super) fn number(&mut self, key: &'static str) -> Result<u64, String> {
        let value = self.need(key)?;
        let number = if let Json::Number(number) = value { number.as_u64() } else { None };
        number.ok_or_else(|| format!("{} is {}, not a whole number", self.place(key), short(value)))
    }

    /// A whole number of 32 bits that may be missing.
    pub(super) fn maybe_small(&mut self, key: &'static str) -> Result<Option<u32>, String> {
        if !self.has(key) {
            return Ok(None);
        }
        let number = self.number(key)?;
        u32::try_from(number).map(Some).map_err(|_| format!("{} is {number}: more than {}", self.place(key), u32::MAX))
    }

    /// A flag; false where it is missing.
    pub(super) fn flag(&mut self, key: &'static str) -> Result<bool, String> {
        match self.get(key) {
            None => Ok(false),
            Some(Json::Bool(value)) => Ok(*value),
            Some(value) => Err(format!("{} is {}, not true or false", self.place(key), short(value))),
        }
    }

    /// A list that must be there.
    pub(super) fn list(&mut self, key: &'static str) -> Result<&'a [Json], String> {
        let value = self.need(key)?;
        value.items().ok_or_else(|| format!("{} is {}, not a list", self.place(key), short(value)))
    }

    /// A list of texts that may be missing.
    pub(super) fn maybe_texts(&mut self, key: &'static str) -> Result<Option<Vec<String>>, String> {
        if !self.has(key) {
            return Ok(None);
        }
        let list = self.list(key)?;
        let texts: Option<Vec<String>> = list.iter().map(|one| one.as_text().map(str::to_owned)).collect();
        texts.map(Some).ok_or_else(|| format!("{} is no list of texts", self.place(key)))
    }

    /// Nothing else may stand in the object.
    pub(super) fn done(self) -> Result<(), String> {
        match self.fields.keys().find(|key| !self.asked.contains(&key.as_str())) {
            Some(key) => Err(format!("{} has an unknown field `{key}`", self.named())),
            None => Ok(()),
        }
    }

    fn named(&self) -> &str {
        if self.at.is_empty() { "the file" } else { &self.at }
    }
}

/// A value for people, cut.
pub(super) fn short(value: &Json) -> String {
    let text = value.to_string();
    if text.chars().count() <= 60 { text } else { format!("{}…", text.chars().take(60).collect::<String>()) }
}
