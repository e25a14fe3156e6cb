//! The scenario file format: YAML that compiles to a [`Scenario`].
//!
//! One file holds a scenario in up to three sizes, and its variants. `scenarios/README.md` is the page on the format;
//! [`schema`] is its JSON schema; the records in `form` are both's source.
//!
//! A file is read in four steps, each of which reports everything that it finds and lets the next one work on what is
//! sound: the YAML tree with places (`node`), parameters and repetition (`expand`), typed records (`form`), and the
//! compiled scenario with its rules (`build`). Nothing here counts tokens.

mod asked;
mod build;
mod errors;
mod expand;
mod expression;
mod form;
mod generate;
mod node;
mod record;
mod schema;
mod scripted;
mod settings;
mod text;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use self::errors::{ScenarioError, ScenarioErrors};
pub use self::schema::schema;
pub use self::text::Beside;

use self::errors::{Problems, suggest};
use self::node::{Node, Place, Value};
use self::record::Form;
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
    beside: Beside,
}

impl ScenarioFile {
    /// Parses a file's text. `name` is what errors call it. No other file is read.
    ///
    /// # Errors
    /// Where the text is no YAML, or no mapping.
    pub fn parse(text: &str, name: &str) -> Result<ScenarioFile, ScenarioErrors> {
        ScenarioFile::parse_beside(text, name, Arc::new(|_| Err("this scenario stands alone".to_owned())))
    }

    /// Parses a file's text whose texts may stand in files beside it (`{beside: PATH}`). These are read when a scenario
    /// is compiled, and only by paths that stay inside.
    ///
    /// # Errors
    /// Where the text is no YAML, or no mapping.
    pub fn parse_beside(text: &str, name: &str, beside: Beside) -> Result<ScenarioFile, ScenarioErrors> {
        let mut problems = Problems::default();
        let root = node::parse(text, &mut problems);
        if let Some(root) = root {
            if matches!(root.value, Value::Map(_)) {
                let settings = Settings::read(&root);
                return Ok(ScenarioFile { name: name.to_owned(), text: text.to_owned(), root, settings, found: problems, beside });
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

    /// The title of one of its scenarios; empty where it has none.
    pub fn title(&self, id: &str) -> String {
        let own = || self.root.get("title").and_then(|node| text::Line::read(node, &mut Problems::default())).unwrap_or_default();
        self.settings.variant(id).and_then(|variant| variant.title.clone()).unwrap_or_else(own).0
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

    /// Compiles every scenario of the file in every size, for the problems alone.
    ///
    /// # Errors
    /// Everything that is wrong with any of them.
    pub fn check(&self) -> Result<(), ScenarioErrors> {
        let mut problems = self.found.clone();
        for id in self.ids() {
            for size in self.sizes() {
                self.compile_into(id, *size, &BTreeMap::new(), &mut problems);
            }
        }
        problems.finish(&self.name, &self.text).map_or(Ok(()), Err)
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
        let mut scenario = build::build(&root, size, self.sizes(), &self.beside, problems)?;
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
