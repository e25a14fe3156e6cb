//! The scenario file format: YAML that compiles to a [`Scenario`].
//!
//! One file holds a scenario in up to three sizes, and its variants. `scenarios/README.md` is the page on the format;
//! [`schema`] is its JSON schema; the records in `form` are both's source.
//!
//! A file is read in four steps, each of which reports everything that it finds and lets the next one work on what is
//! sound: the YAML tree with places (`node`), parameters and repetition (`expand`), typed records (`form`), and the
//! compiled scenario with its rules (`build`). Nothing here counts tokens.

mod build;
mod errors;
mod expand;
mod expression;
mod form;
mod generate;
mod node;
mod record;
mod settings;
mod text;

use std::collections::BTreeMap;

pub use self::errors::{ScenarioError, ScenarioErrors};

use self::errors::{Problems, suggest};
use self::node::{Node, Place, Value};
use self::settings::{Settings, UNEXPANDED};
use super::{Scenario, Size};

/// A parsed scenario file: what it offers can be asked, and each of its scenarios compiled in each size.
pub struct ScenarioFile {
    name: String,
    text: String,
    root: Node,
    settings: Settings,
    /// What the parser's tree says already: keys that stand twice.
    found: Problems,
}

impl ScenarioFile {
    /// Parses a file's text. `name` is what errors call it.
    ///
    /// # Errors
    /// Where the text is no YAML, or no mapping.
    pub fn parse(text: &str, name: &str) -> Result<ScenarioFile, ScenarioErrors> {
        let mut problems = Problems::default();
        let root = node::parse(text, &mut problems);
        if let Some(root) = root {
            if matches!(root.value, Value::Map(_)) {
                let settings = Settings::read(&root);
                return Ok(ScenarioFile { name: name.to_owned(), text: text.to_owned(), root, settings, found: problems });
            }
            problems.add(root.at, format!("a scenario is a mapping, not {}", root.value.kind()), "begin with `id:`, `title:` and `why:`");
        }
        match problems.finish(name, text) {
            Some(errors) => Err(errors),
            // The parser gave no document and no reason.
            None => Err(ScenarioErrors::of(name, text, "there is no document in this file", "write a scenario into it")),
        }
    }

    /// The ids of its scenarios: its own, then its variants'.
    pub fn ids(&self) -> &[String] {
        &self.settings.ids
    }

    /// The sizes that it offers.
    pub fn sizes(&self) -> &[Size] {
        &self.settings.sizes
    }

    /// The parameters of one of its scenarios in a size, as they stand without overrides.
    pub fn parameters(&self, id: &str, size: Size) -> BTreeMap<String, i64> {
        self.settings.names(id, size, &BTreeMap::new(), &mut Problems::default())
    }

    /// Compiles one of its scenarios.
    ///
    /// # Errors
    /// Everything that is wrong with it, not only the first.
    pub fn compile(&self, id: &str, size: Size, overrides: &BTreeMap<String, i64>) -> Result<Scenario, ScenarioErrors> {
        let mut problems = self.found.clone();
        let compiled = self.compile_into(id, size, overrides, &mut problems);
        match (problems.finish(&self.name, &self.text), compiled) {
            (Some(errors), _) => Err(errors),
            (None, Some(scenario)) => Ok(scenario),
            (None, None) => Err(ScenarioErrors::of(
                &self.name,
                &self.text,
                "this scenario cannot be compiled",
                "report this file: its problem has no name yet",
            )),
        }
    }

    fn compile_into(&self, id: &str, size: Size, overrides: &BTreeMap<String, i64>, problems: &mut Problems) -> Option<Scenario> {
        let start = Place { line: 1, column: 1, start: 0, length: 0 };
        if !self.ids().iter().any(|known| known == id) {
            problems.add(start, format!("there is no scenario `{id}` in this file"), suggest(id, self.ids().iter().map(String::as_str)));
            return None;
        }
        if !self.sizes().contains(&size) {
            let message = format!("this scenario has no size `{}`", size.name());
            problems.add(start, message, suggest(size.name(), self.sizes().iter().map(|size| size.name())));
            return None;
        }
        let names = self.settings.names(id, size, overrides, problems);
        let Value::Map(entries) = &self.root.value else { return None };
        let expanded = entries.iter().map(|(key, node)| {
            let keep = UNEXPANDED.contains(&key.value.as_str());
            (key.clone(), if keep { node.clone() } else { expand::expand(node, &names, problems) })
        });
        let root = Node { value: Value::Map(expanded.collect()), at: self.root.at };
        let mut scenario = build::build(&root, size, self.sizes(), problems)?;
        if let Some(variant) = self.settings.variant(id) {
            scenario.id = id.to_owned();
            if let Some(title) = &variant.title {
                scenario.title = title.0.clone();
            }
            if let Some(why) = &variant.why {
                scenario.why = why.0.clone();
            }
        }
        scenario.digest = build::digest(&scenario);
        Some(scenario)
    }
}

/// Compiles a scenario file's text in one size. `name` is what errors call the file; where it is the id of one of the
/// file's variants, that variant is compiled, else the file's own scenario. `overrides` replaces parameters by name.
///
/// # Errors
/// Everything that is wrong with the file, each with its line, column and what to do.
pub fn compile(text: &str, name: &str, size: Size, overrides: &BTreeMap<String, i64>) -> Result<Scenario, ScenarioErrors> {
    let file = ScenarioFile::parse(text, name)?;
    let id = file.ids().iter().find(|id| *id == name).or(file.ids().first()).cloned().unwrap_or_default();
    file.compile(&id, size, overrides)
}

/// The JSON schema of the file format.
pub fn schema() -> serde_json::Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    let mut schema = settings.into_generator().into_root_schema_for::<form::File>().to_value();
    allow_expressions(&mut schema);
    if let Some(object) = schema.as_object_mut() {
        object.insert("$id".to_owned(), "https://ctxbench.dev/schema/scenario-1.json".into());
        object.insert("title".to_owned(), "ctxbench scenario".into());
    }
    schema
}

/// What [`expand`] takes away stands in the file that the schema describes: a text in place of a number, a repeat in
/// place of an item.
fn allow_expressions(schema: &mut serde_json::Value) {
    match schema {
        serde_json::Value::Object(object) => {
            object.values_mut().for_each(allow_expressions);
            let is_number = object.get("type").is_some_and(|kind| ["integer", "number", "boolean"].iter().any(|number| kind == number));
            if is_number {
                let description = object.remove("description");
                let number = serde_json::Value::Object(std::mem::take(object));
                let expression = serde_json::json!({"type": "string", "pattern": "^\\$"});
                object.insert("anyOf".to_owned(), serde_json::json!([number, expression]));
                object.extend(description.map(|text| ("description".to_owned(), text)));
            }
            if let Some(items) = object.remove("items") {
                let repeat = serde_json::json!({
                    "type": "object",
                    "description": "Becomes what `each` holds, `repeat` times, with the name `as` counting from `from`.",
                    "properties": {
                        "repeat": {"type": ["integer", "string"]},
                        "as": {"type": "string", "default": "i"},
                        "from": {"type": ["integer", "string"], "default": 1},
                        "each": {}
                    },
                    "required": ["repeat", "each"],
                    "additionalProperties": false
                });
                object.insert("items".to_owned(), serde_json::json!({"anyOf": [items, repeat]}));
            }
        }
        serde_json::Value::Array(values) => values.iter_mut().for_each(allow_expressions),
        _ => {}
    }
}
