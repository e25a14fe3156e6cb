//! A table's file: all that is wrong with it at once, each with its line and a caret.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::caret::{Pointed, pointed};
use crate::error::nearest::suggestion;

use super::date::Date;
use super::model::{ModelPrices, Rates, Step};
use super::table::PriceTable;
use super::usd::Price;

/// Everything that is wrong with a table's file.
#[derive(Clone, Debug)]
pub struct PriceErrors {
    file: String,
    source: Arc<str>,
    found: Vec<Problem>,
}

#[derive(Clone, Debug)]
struct Problem {
    span: Range<usize>,
    message: String,
    help: String,
}

impl PriceErrors {
    /// For people: each with its line of the file and a caret.
    pub fn render(&self, colour: bool) -> String {
        let points = self.found.iter().map(|one| Pointed { span: (one.span.start, one.span.end), message: &one.message, help: &one.help });
        pointed(&self.file, &self.source, points, colour)
    }

    /// Line and column of each, from 1, with what is wrong: columns count characters.
    pub fn places(&self) -> impl Iterator<Item = (usize, usize, &str)> {
        self.found.iter().map(|one| {
            let before = self.source.get(..one.span.start).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            (line, column, one.message.as_str())
        })
    }
}

impl fmt::Display for PriceErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for PriceErrors {}

type Value<'a> = Spanned<DeValue<'a>>;
type Key<'a> = Spanned<Cow<'a, str>>;

impl PriceTable {
    /// Reads a table. `file` names it, and its problems; the table's name is the file's without folders and ending.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn parse(source: &str, file: &str) -> Result<PriceTable, PriceErrors> {
        let mut reading = Reading { found: vec![] };
        let table = reading.document(source, file);
        let mut found = reading.found;
        match table {
            Some(table) if found.is_empty() => Ok(table),
            _ => {
                found.sort_by_key(|one| one.span.start);
                Err(PriceErrors { file: file.to_owned(), source: source.into(), found })
            }
        }
    }
}

const TOP: [&str; 4] = ["version", "dated", "source", "model"];
const MODEL: [&str; 12] =
    ["name", "provider", "aliases", "source", "note", "input", "read", "write", "output", "step", "batch", "off_peak"];
const RATES: [&str; 4] = ["input", "read", "write", "output"];
const STEP: [&str; 5] = ["above", "input", "read", "write", "output"];

struct Reading {
    found: Vec<Problem>,
}

impl Reading {
    fn problem(&mut self, span: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.found.push(Problem { span, message: message.into(), help: help.into() });
    }

    fn document(&mut self, source: &str, file: &str) -> Option<PriceTable> {
        let document = match DeTable::parse(source) {
            Ok(document) => document,
            Err(why) => {
                self.problem(why.span().unwrap_or(0..0), format!("this is no TOML: {}", why.message()), "mend the file");
                return None;
            }
        };
        let top = document.get_ref();
        self.keys(top, &TOP);
        match top.get("version").map(|version| (version.span(), whole(version))) {
            Some((_, Some(1))) => {}
            Some((span, _)) => self.problem(span, "this version of price tables is not known", "write `version = 1`"),
            None => self.problem(0..0, "the file does not say its version", "begin it with `version = 1`"),
        }
        let dated = self.required(top, "dated", 0..0).and_then(|(value, text)| {
            let date = Date::parse(&text);
            if date.is_none() {
                self.problem(value, format!("`{text}` is no day"), "write the day of the prices as \"2026-11-30\"");
            }
            date
        });
        let source_said = self.required(top, "source", 0..0).map(|(_, text)| text);
        let models = self.models(top);
        let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let name = name.strip_suffix(".toml").unwrap_or(name).to_owned();
        let digest = Sha256::digest(source.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        Some(PriceTable { name, dated: dated?, source: source_said?, digest, models })
    }

    fn models(&mut self, top: &DeTable<'_>) -> Vec<ModelPrices> {
        let Some(value) = top.get("model") else {
            self.problem(0..0, "the table has no model", "add a `[[model]]`");
            return vec![];
        };
        let DeValue::Array(tables) = value.get_ref() else {
            self.problem(value.span(), "`model` is no list of tables", "begin each model with `[[model]]`");
            return vec![];
        };
        let mut models: Vec<ModelPrices> = vec![];
        for table in tables {
            let Some(model) = self.model(table) else { continue };
            for name in std::iter::once(&model.name).chain(&model.aliases) {
                if models.iter().any(|known| &known.name == name || known.aliases.contains(name)) {
                    self.problem(table.span(), format!("`{name}` stands in the table twice"), "keep one of them");
                }
            }
            models.push(model);
        }
        models
    }

    fn model(&mut self, value: &Value<'_>) -> Option<ModelPrices> {
        let table = self.table(value)?;
        self.keys(table, &MODEL);
        let name = self.required(table, "name", value.span()).map(|(_, text)| text);
        let provider = self.required(table, "provider", value.span()).map(|(_, text)| text);
        let rates = self.rates(table, value.span());
        let batch_percent = table.get("batch").and_then(|batch| self.percent(batch));
        let off_peak = table.get("off_peak").and_then(|value| {
            let table = self.table(value)?;
            self.keys(table, &RATES);
            self.rates(table, value.span())
        });
        let steps = table.get("step").map_or(vec![], |steps| self.steps(steps));
        let aliases = table.get("aliases").map_or(vec![], |aliases| self.names(aliases));
        let source = table.get("source").and_then(|value| self.text(value));
        let note = table.get("note").and_then(|value| self.text(value));
        Some(ModelPrices { name: name?, provider: provider?, aliases, source, note, rates: rates?, steps, batch_percent, off_peak })
    }

    fn rates(&mut self, table: &DeTable<'_>, whole_span: Range<usize>) -> Option<Rates> {
        let must = |reading: &mut Reading, key: &str| match table.get(key) {
            Some(value) => reading.price(value),
            None => {
                reading.problem(whole_span.clone(), format!("`{key}` is missing"), "say its dollars for a million tokens");
                None
            }
        };
        let (input, output) = (must(self, "input"), must(self, "output"));
        let read = table.get("read").and_then(|read| self.price(read));
        let writes = table.get("write").map_or(vec![], |write| self.writes(write));
        Some(Rates { input: input?, read, writes, output: output? })
    }

    fn writes(&mut self, value: &Value<'_>) -> Vec<(String, Price)> {
        let Some(table) = self.table(value) else { return vec![] };
        let mut writes = vec![];
        for (key, price) in table {
            match seconds(key.get_ref()) {
                Some(seconds) => writes.extend(self.price(price).map(|price| (seconds, key.get_ref().to_string(), price))),
                None => {
                    self.problem(key.span(), format!("`{}` is no lifetime", key.get_ref()), "write minutes or hours: \"5m\", \"12h\"");
                }
            }
        }
        writes.sort_by_key(|(seconds, ..)| *seconds);
        if writes.len() > 2 {
            self.problem(value.span(), "more than two lifetimes", "a provider has a shorter and a longer one");
        }
        writes.into_iter().map(|(_, lifetime, price)| (lifetime, price)).collect()
    }

    fn steps(&mut self, value: &Value<'_>) -> Vec<Step> {
        let DeValue::Array(tables) = value.get_ref() else {
            self.problem(value.span(), "`step` is no list of tables", "begin each step with `[[model.step]]`");
            return vec![];
        };
        let mut steps: Vec<Step> = vec![];
        for value in tables {
            let Some(table) = self.table(value) else { continue };
            self.keys(table, &STEP);
            let above = table.get("above").and_then(whole);
            if above.is_none() {
                let span = table.get("above").map_or(value.span(), Spanned::span);
                self.problem(span, "a step says above how many input tokens it holds", "write `above = 272000`");
            }
            let rates = self.rates(table, value.span());
            let (Some(above), Some(rates)) = (above, rates) else { continue };
            if steps.last().is_some_and(|before| before.above >= above) {
                self.problem(value.span(), "the steps are out of order", "write the lower step first");
            }
            steps.push(Step { above, rates });
        }
        steps
    }

    fn names(&mut self, value: &Value<'_>) -> Vec<String> {
        let DeValue::Array(names) = value.get_ref() else {
            self.problem(value.span(), "`aliases` is no list", "write `aliases = [\"name\"]`");
            return vec![];
        };
        names.iter().filter_map(|name| self.text(name)).collect()
    }

    fn keys(&mut self, table: &DeTable<'_>, known: &[&str]) {
        let unknown = |key: &&Key<'_>| !known.contains(&key.get_ref().as_ref());
        for key in table.keys().filter(unknown) {
            let name = key.get_ref().as_ref();
            let help = format!("known here: {}{}", known.join(", "), suggestion(name, known.iter().copied()));
            self.problem(key.span(), format!("there is no key `{name}`"), help);
        }
    }

    fn table<'v, 'a>(&mut self, value: &'v Value<'a>) -> Option<&'v DeTable<'a>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.problem(value.span(), "this is no table", "write keys with values here");
        }
        table
    }

    fn required(&mut self, table: &DeTable<'_>, key: &str, whole_span: Range<usize>) -> Option<(Range<usize>, String)> {
        match table.get(key) {
            Some(value) => self.text(value).map(|text| (value.span(), text)),
            None => {
                self.problem(whole_span, format!("`{key}` is missing"), format!("write `{key} = \"...\"`"));
                None
            }
        }
    }

    fn text(&mut self, value: &Value<'_>) -> Option<String> {
        match value.get_ref() {
            DeValue::String(text) if !text.trim().is_empty() => Some(text.to_string()),
            _ => {
                self.problem(value.span(), "a text is expected here", "write it in quotes");
                None
            }
        }
    }

    fn price(&mut self, value: &Value<'_>) -> Option<Price> {
        let price = match value.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => Price::parse(number.as_str()),
            DeValue::Float(number) => Price::parse(number.as_str()),
            _ => None,
        };
        if price.is_none() {
            let help = "write dollars for a million tokens as a plain decimal, at most six digits behind the point";
            self.problem(value.span(), "this is no price", help);
        }
        price
    }

    fn percent(&mut self, value: &Value<'_>) -> Option<u64> {
        let percent = whole(value).filter(|percent| (1..=100).contains(percent));
        if percent.is_none() {
            self.problem(value.span(), "this is no percentage", "write what batch requests cost of the listed prices: 50");
        }
        percent
    }
}

fn whole(value: &Value<'_>) -> Option<u64> {
    match value.get_ref() {
        DeValue::Integer(number) => u64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok(),
        _ => None,
    }
}

/// `5m`, `12h` in seconds.
fn seconds(lifetime: &str) -> Option<u64> {
    let (number, unit) = lifetime.split_at_checked(lifetime.len().checked_sub(1)?)?;
    let unit = match unit {
        "m" => 60,
        "h" => 3600,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}
