//! A file of vectors, and what of a vector its answer may depend on.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde_json::value::RawValue;

use super::dialect::{self, Dialect};
use super::json::Json;
use super::words::{Words, WordsFault};

/// The format's name and version.
pub const FORMAT: &str = "ctxbench-conformance/1";

/// Why a file is not played at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is no file of this format; the text says where and what.
    #[error("{0}")]
    Unreadable(String),
    /// It is a recorded run of a strategy that is not built here; the text names it and the known ones.
    #[error("{0}")]
    UnknownStrategy(String),
    /// Its system is not built here.
    #[error("the system `{system}` is not built here; known systems: {known}")]
    UnknownSystem {
        /// As the file names it.
        system: String,
        /// Those that are.
        known: String,
    },
}

/// A file of vectors of one system.
pub struct File {
    /// How its vectors are read and answered.
    pub dialect: &'static Dialect,
    /// The file's own head, in its order: all but the vectors.
    head: IndexMap<String, Json>,
    /// The product's words for the placeholders that the file names.
    words: Words,
    /// Its vectors, in order.
    pub vectors: Vec<Vector>,
}

/// What stands in every head.
const HEAD: [&str; 5] = ["format", "system", "upstream", "notes", "vectors"];
/// What says where a vector comes from and why it is so: nothing that an answer may depend on.
const LABELS: [&str; 4] = ["name", "why", "note", "basis"];
/// What a vector may rest on.
const BASES: [&str; 5] = ["executed", "measured", "read", "upstream-test", "reconstructed"];
/// What the keys of expectations begin with.
const EXPECTED: &str = "expected_";

impl File {
    /// Reads a file.
    ///
    /// # Errors
    /// No JSON, another format, an unknown system, an unknown key in the head, a placeholder without words.
    pub fn read(text: &str) -> Result<File, Refused> {
        let unreadable = |why: String| Refused::Unreadable(why);
        let raw: IndexMap<String, &RawValue> =
            serde_json::from_str(text).map_err(|why| unreadable(format!("it is no JSON object: {why}")))?;
        let mut head = IndexMap::new();
        for (key, value) in &raw {
            if key != "vectors" {
                head.insert(key.clone(), serde_json::from_str(value.get()).map_err(|why| unreadable(format!("`{key}`: {why}")))?);
            }
        }
        match head.get("format").and_then(Json::as_text) {
            Some(FORMAT) => {}
            Some(other) => return Err(unreadable(format!("its format is `{other}`, not `{FORMAT}`"))),
            None => return Err(unreadable(format!("it has no `format`; a file of vectors says \"format\": \"{FORMAT}\""))),
        }
        let system = head.get("system").and_then(Json::as_text).ok_or_else(|| unreadable("it has no `system`".into()))?;
        let Some(dialect) = dialect::named(system) else {
            return Err(Refused::UnknownSystem { system: system.to_owned(), known: dialect::known() });
        };
        if let Some(key) = raw.keys().find(|key| !HEAD.contains(&key.as_str()) && !dialect.head.contains(&key.as_str())) {
            return Err(unreadable(format!("its head has an unknown key `{key}`")));
        }
        let notes = head.get("notes").cloned().unwrap_or_default();
        let words = Words::of(&notes).map_err(|WordsFault(why)| unreadable(why))?;
        let list = raw.get("vectors").ok_or_else(|| unreadable("it has no `vectors`".into()))?;
        let list: Vec<IndexMap<String, Box<RawValue>>> =
            serde_json::from_str(list.get()).map_err(|why| unreadable(format!("`vectors`: {why}")))?;
        let mut names = BTreeSet::new();
        let mut vectors = Vec::with_capacity(list.len());
        for (at, fields) in list.into_iter().enumerate() {
            let name = fields.get("name").map(|name| serde_json::from_str::<String>(name.get()));
            let name = match name {
                None => format!("#{}", at + 1),
                Some(Ok(name)) => name,
                Some(Err(_)) => return Err(unreadable(format!("the name of vector {} is no text", at + 1))),
            };
            if !names.insert(name.clone()) {
                return Err(unreadable(format!("two vectors are named `{name}`")));
            }
            vectors.push(Vector { name, fields, words: words.clone() });
        }
        Ok(File { dialect, head, words, vectors })
    }

    /// The file with these vectors in place of its own; of each placeholder it says what the product's words are.
    pub fn emitted(mut self, vectors: Vec<Json>) -> String {
        self.head.insert("notes".into(), self.words.notes());
        self.head.insert("vectors".into(), Json::List(vectors));
        // It was read as JSON, and what was added is JSON.
        serde_json::to_string_pretty(&Json::Object(self.head)).unwrap_or_default() + "\n"
    }
}

/// One vector.
pub struct Vector {
    /// Its name; `#N` where it has none.
    pub name: String,
    fields: IndexMap<String, Box<RawValue>>,
    words: Words,
}

impl Vector {
    /// What the answer may depend on, as a JSON object: all but names, reasons and expectations, with the product's words
    /// for placeholders.
    ///
    /// # Errors
    /// A basis that nobody knows, a placeholder that the head does not name.
    pub fn given(&self) -> Result<String, String> {
        if let Some(basis) = self.fields.get("basis") {
            let known = serde_json::from_str::<String>(basis.get()).is_ok_and(|basis| BASES.contains(&basis.as_str()));
            if !known {
                return Err(format!("`basis` is {}, not one of {}", basis.get(), BASES.join(", ")));
            }
        }
        self.some(|key| !LABELS.contains(&key) && !key.starts_with(EXPECTED))
    }

    /// What is expected, as an object of the `expected_*` keys, with the product's words for placeholders.
    ///
    /// # Errors
    /// As [`Vector::given`].
    pub fn expected(&self) -> Result<Json, String> {
        serde_json::from_str(&self.some(|key| key.starts_with(EXPECTED))?).map_err(|why| why.to_string())
    }

    fn some(&self, wanted: impl Fn(&str) -> bool) -> Result<String, String> {
        let fields: IndexMap<&String, &RawValue> =
            self.fields.iter().filter(|(key, _)| wanted(key)).map(|(key, value)| (key, value.as_ref())).collect();
        let text = serde_json::to_string(&fields).map_err(|why| why.to_string())?;
        self.words.put_in(&text)
    }

    /// What was given of the vector, and the answer beside it, with placeholders for the product's words.
    pub fn emitted(&self, answer: Json) -> Json {
        let given = self
            .fields
            .iter()
            .filter(|(key, _)| key.as_str() == "basis" || (!LABELS.contains(&key.as_str()) && !key.starts_with(EXPECTED)));
        let mut fields: IndexMap<String, Json> =
            given.map(|(key, value)| (key.clone(), serde_json::from_str(value.get()).unwrap_or_default())).collect();
        let answer = serde_json::to_string(&answer).unwrap_or_default();
        let answer: Json = serde_json::from_str(&self.words.take_out(&answer)).unwrap_or_default();
        fields.extend(answer.fields().cloned().unwrap_or_default());
        Json::Object(fields)
    }
}
