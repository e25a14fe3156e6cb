//! The product's own words where a vector has a placeholder: `{{NAME}}` stands for prose that a system shows its model.

use indexmap::IndexMap;

use crate::strategy::{deerflow, opencode};

use super::json::Json;

/// Every placeholder with the words that the strategies use in its place.
pub(super) const WORDS: &[(&str, &str)] = &[
    ("OPENCODE_AGENT_MENTION", opencode::AGENT_MENTION),
    ("OPENCODE_BACKGROUND_STARTED", opencode::STARTED),
    ("OPENCODE_BACKGROUND_UPDATED", opencode::UPDATED),
    ("DEERFLOW_LIMIT_NOTE", deerflow::text::LIMIT_NOTE),
    ("DEERFLOW_MEDIA_NOTICE", deerflow::text::MEDIA_NOTICE),
    ("DEERFLOW_SNAPSHOT_NOTE", deerflow::text::SNAPSHOT_NOTE),
];

/// Why a file's placeholders cannot be filled.
pub struct WordsFault(pub String);

/// The words for the placeholders of one file.
#[derive(Clone)]
pub struct Words(Vec<(String, &'static str)>);

impl Words {
    /// The words for a head's `notes`: an object of `{tokens, meaning}` by name.
    pub fn of(notes: &Json) -> Result<Words, WordsFault> {
        let mut words = Vec::new();
        for name in notes.fields().into_iter().flat_map(IndexMap::keys) {
            let note = notes.get(name).fields().into_iter().flat_map(IndexMap::keys);
            if let Some(key) = note.into_iter().find(|key| !["tokens", "meaning", "words"].contains(&key.as_str())) {
                return Err(WordsFault(format!("the note on `{name}` has an unknown key `{key}`")));
            }
            let Some((_, text)) = WORDS.iter().find(|(known, _)| known == name) else {
                return Err(WordsFault(format!("`notes` names the placeholder `{name}`, for which nothing here has words")));
            };
            words.push((name.clone(), *text));
        }
        Ok(Words(words))
    }

    /// A JSON text with words for its placeholders.
    pub fn put_in(&self, json: &str) -> Result<String, String> {
        let mut text = json.to_owned();
        for (name, words) in &self.0 {
            text = text.replace(&placeholder(name), &inside(words));
        }
        match text.split_once("{{").and_then(|(_, rest)| rest.split_once("}}")) {
            Some((name, _)) if !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_') => {
                Err(format!("the placeholder `{{{{{name}}}}}` is not among the file's `notes`"))
            }
            _ => Ok(text),
        }
    }

    /// A JSON text with placeholders for the words.
    pub fn take_out(&self, json: &str) -> String {
        let mut text = json.to_owned();
        for (name, words) in &self.0 {
            text = text.replace(&inside(words), &placeholder(name));
        }
        text
    }

    /// The words, as `notes` of an emitted file.
    pub fn notes(&self) -> Json {
        Json::Object(self.0.iter().map(|(name, words)| (name.clone(), Json::object([("words", (*words).into())]))).collect())
    }
}

fn placeholder(name: &str) -> String {
    format!("{{{{{name}}}}}")
}

/// A text as it stands between the quotes of a JSON string.
fn inside(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
