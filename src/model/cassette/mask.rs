//! What of a request is not compared, and what is not kept.

use regex::Regex;
use serde_json::Value;

use crate::model::wire::Section;
use crate::transcript::Digest;

/// What stands where a text was masked.
const MASKED: &str = "<masked>";
/// What stands where a text was redacted.
const REDACTED: &str = "<redacted>";

/// Masks and redactions, compiled.
#[derive(Clone, Debug, Default)]
pub struct Masks {
    fields: Vec<Vec<String>>,
    texts: Vec<Regex>,
    redacted: Vec<Regex>,
    /// Texts that are never kept: keys.
    secrets: Vec<String>,
}

/// A pattern that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the pattern `{pattern}` is no regular expression: {why}. A field is written /NAME/NAME, with * for any name or number")]
pub struct MasksError {
    pattern: String,
    why: String,
}

impl Masks {
    /// Masks that begin with `/` are fields of a piece, all others regular expressions.
    ///
    /// # Errors
    /// A pattern is none.
    pub fn new(masked: &[String], redacted: &[String]) -> Result<Masks, MasksError> {
        let compiled = |pattern: &String| {
            Regex::new(pattern).map_err(|why| MasksError {
                pattern: pattern.clone(),
                why: why.to_string().lines().last().unwrap_or_default().trim().to_owned(),
            })
        };
        let (fields, texts): (Vec<&String>, Vec<&String>) = masked.iter().partition(|mask| mask.starts_with('/'));
        Ok(Masks {
            fields: fields.into_iter().map(|field| field[1..].split('/').map(str::to_owned).collect()).collect(),
            texts: texts.into_iter().map(compiled).collect::<Result<_, _>>()?,
            redacted: redacted.iter().map(compiled).collect::<Result<_, _>>()?,
            secrets: vec![],
        })
    }

    /// The same, with a text that is never kept.
    pub fn hiding(mut self, secret: Option<&str>) -> Masks {
        self.secrets.extend(secret.filter(|secret| !secret.is_empty()).map(str::to_owned));
        self
    }

    /// A value without what is redacted.
    pub fn redact(&self, value: &mut Value) {
        if !self.redacted.is_empty() || !self.secrets.is_empty() {
            each_text(value, &|text| *text = self.redact_text(text));
        }
    }

    /// A text without what is redacted.
    pub fn redact_text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            text = text.replace(secret.as_str(), REDACTED);
        }
        for pattern in &self.redacted {
            text = pattern.replace_all(&text, REDACTED).into_owned();
        }
        text
    }

    /// The digest of a piece by what is compared of it.
    pub fn digest(&self, section: Section, value: &Value) -> Digest {
        let kind = match section {
            Section::Head => "head",
            Section::System => "system",
            Section::Tool(_) => "tool",
            Section::Item(_) => "item",
        };
        if self.fields.is_empty() && self.texts.is_empty() {
            return Digest::of_pieces([kind, "\n", &value.to_string()]);
        }
        let mut value = value.clone();
        self.fields.iter().for_each(|field| mask_field(&mut value, field));
        each_text(&mut value, &|text| {
            for pattern in &self.texts {
                *text = pattern.replace_all(text, MASKED).into_owned();
            }
        });
        Digest::of_pieces([kind, "\n", &value.to_string()])
    }
}

fn each_text(value: &mut Value, change: &dyn Fn(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(values) => values.iter_mut().for_each(|value| each_text(value, change)),
        Value::Object(fields) => fields.values_mut().for_each(|value| each_text(value, change)),
        _ => {}
    }
}

fn mask_field(value: &mut Value, path: &[String]) {
    let Some((name, rest)) = path.split_first() else {
        *value = MASKED.into();
        return;
    };
    match value {
        Value::Object(fields) => {
            fields.iter_mut().filter(|(key, _)| name == "*" || key == &name).for_each(|(_, value)| mask_field(value, rest));
        }
        Value::Array(values) => {
            let is_meant = |at: usize| name == "*" || name.parse() == Ok(at);
            values.iter_mut().enumerate().filter(|(at, _)| is_meant(*at)).for_each(|(_, value)| mask_field(value, rest));
        }
        _ => {}
    }
}
