//! `budgets.toml`, which people own: all that is wrong with it at once, each with its line and a caret.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::caret::{Pointed, pointed};
use crate::error::nearest::nearest as nearest_name;
use crate::metrics::{METRICS, Metric, metric};
use crate::results::Number;
use crate::strategy::Registry;
use crate::tokens::Encoding;

use super::allowance::{Allowance, decimal, plain};
use super::budget::{Budget, Budgets, Level, MetricBudget, Stated};
use super::pattern::{Pattern, Patterns};
use super::possible::impossible;

/// The version of the file.
pub const BUDGETS_VERSION: i64 = 1;

/// A budgets file to begin with.
pub const STARTER: &str = r#"version = 1
tokenizer = "o200k_base"

[defaults]
grow = "1%"     # tokens, requests, milliseconds: from the accepted value
drop = 0        # scores

[[budget]]
scenario = "*"
strategy = "*"
"parent.input_total" = {}
"#;

/// Everything that is wrong with a budgets file.
#[derive(Clone, Debug)]
pub struct BudgetErrors {
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

impl BudgetErrors {
    /// For people: each with its line of the file and a caret.
    pub fn render(&self, colour: bool) -> String {
        let points = self.found.iter().map(|one| Pointed { span: (one.span.start, one.span.end), message: &one.message, help: &one.help });
        pointed(&self.file, &self.source, points, colour)
    }
}

impl fmt::Display for BudgetErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for BudgetErrors {}

/// Reads a budgets file. Plain names of strategies are looked up in the registry.
///
/// # Errors
/// All that is wrong with it.
pub fn parse(source: &str, file: &str, registry: &Registry) -> Result<Budgets, BudgetErrors> {
    let mut reading = Reading { source, registry, found: vec![] };
    let budgets = reading.document(file);
    let mut found = reading.found;
    match budgets {
        Some(budgets) if found.is_empty() => Ok(budgets),
        _ => {
            found.sort_by_key(|one| one.span.start);
            Err(BudgetErrors { file: file.to_owned(), source: source.into(), found })
        }
    }
}

type Entry<'a, 'v> = (&'v Spanned<std::borrow::Cow<'a, str>>, &'v Spanned<DeValue<'a>>);

struct Reading<'s> {
    source: &'s str,
    registry: &'s Registry,
    found: Vec<Problem>,
}

impl<'s> Reading<'s> {
    fn problem(&mut self, span: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.found.push(Problem { span, message: message.into(), help: help.into() });
    }

    fn line(&self, at: usize) -> u32 {
        let before = self.source.get(..at).unwrap_or(self.source);
        u32::try_from(before.matches('\n').count()).unwrap_or(u32::MAX).saturating_add(1)
    }

    fn document(&mut self, file: &str) -> Option<Budgets> {
        let document = match DeTable::parse(self.source) {
            Ok(document) => document,
            Err(why) => {
                let span = why.span().unwrap_or(0..0);
                self.problem(
                    span,
                    format!("this is no TOML: {}", why.message()),
                    "mend the file; a budgets file to begin with:\n".to_owned() + STARTER,
                );
                return None;
            }
        };
        let mut budgets =
            Budgets { file: file.to_owned(), tokenizer: Encoding::default().name().to_owned(), grow: None, drop: None, budgets: vec![] };
        let mut version = false;
        for (key, value) in document.get_ref() {
            match key.get_ref().as_ref() {
                "version" => version = self.version(value),
                "tokenizer" => {
                    if let Some(name) = self.text(value, "the name of an encoding") {
                        match name.parse::<Encoding>() {
                            Ok(encoding) => budgets.tokenizer = encoding.name().to_owned(),
                            Err(why) => self.problem(value.span(), why.to_string(), "name the encoding that runs count with"),
                        }
                    }
                }
                "defaults" => self.defaults(value, &mut budgets),
                "budget" => budgets.budgets = self.budgets(value),
                other => {
                    let help = nearest(other, ["version", "tokenizer", "defaults", "budget"]);
                    self.problem(key.span(), format!("there is no key `{other}`"), help);
                }
            }
        }
        if !version && !document.get_ref().contains_key("version") {
            self.problem(0..0, "the file does not say its version", "begin it with `version = 1`");
        }
        // A default that could not be read was meant.
        let defaults = document.get_ref().get("defaults").and_then(|defaults| defaults.get_ref().as_table());
        let states = |key: &str| defaults.is_some_and(|defaults| defaults.contains_key(key));
        self.toothless(&budgets, states("grow"), states("drop"));
        Some(budgets)
    }

    /// A metric without any limit is a gate that cannot fail.
    fn toothless(&mut self, budgets: &Budgets, grow: bool, drop: bool) {
        use crate::metrics::Better;
        let mut found = Vec::new();
        for one in budgets.budgets.iter().flat_map(|budget| &budget.metrics) {
            let by_default = match one.metric.better {
                Better::Lower => grow,
                Better::Higher => drop,
                Better::Neither => false,
            };
            let own = one.max.is_some() || one.min.is_some() || one.grow.is_some() || one.drop.is_some();
            if !own && !by_default {
                found.push((one.line, one.metric.name));
            }
        }
        for (line, name) in found {
            // A limit that could not be read was meant to be one.
            if self.found.iter().any(|one| self.line(one.span.start) == line) {
                continue;
            }
            let span = self.span_of_line(line);
            self.problem(
                span,
                format!("nothing limits `{name}`, so it could never fail"),
                "give it max, min, grow or drop, or a [defaults] with grow (for what is better lower) or drop (for scores)",
            );
        }
    }

    fn span_of_line(&self, line: u32) -> Range<usize> {
        let mut start = 0;
        for (at, text) in self.source.split_inclusive('\n').enumerate() {
            if at + 1 == line as usize {
                let indent = text.len() - text.trim_start().len();
                return start + indent..start + text.trim_end().len().max(indent);
            }
            start += text.len();
        }
        0..0
    }

    fn version(&mut self, value: &Spanned<DeValue<'_>>) -> bool {
        let right = integer(value.get_ref()) == Some(BUDGETS_VERSION);
        if !right {
            self.problem(value.span(), "this version of the file is not known", format!("write `version = {BUDGETS_VERSION}`"));
        }
        right
    }

    fn text<'v>(&mut self, value: &'v Spanned<DeValue<'_>>, what: &str) -> Option<&'v str> {
        match value.get_ref() {
            DeValue::String(text) => Some(text),
            _ => {
                self.problem(value.span(), format!("here stands {what}, in quotes"), "write it as a string");
                None
            }
        }
    }

    fn defaults(&mut self, value: &Spanned<DeValue<'_>>, budgets: &mut Budgets) {
        let DeValue::Table(table) = value.get_ref() else {
            return self.problem(value.span(), "`defaults` is a table", "write [defaults] on a line of its own");
        };
        for (key, value) in table {
            let line = self.line(key.span().start);
            match key.get_ref().as_ref() {
                "grow" => budgets.grow = self.allowance(value).map(|allowance| Stated { allowance, line }),
                "drop" => budgets.drop = self.allowance(value).map(|allowance| Stated { allowance, line }),
                other => {
                    self.problem(key.span(), format!("there is no default `{other}`"), nearest(other, ["grow", "drop"]));
                }
            }
        }
    }

    fn budgets(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<Budget> {
        let wrong = "`budget` is a list of tables";
        let DeValue::Array(array) = value.get_ref() else {
            self.problem(value.span(), wrong, "write [[budget]], with two brackets, before each");
            return vec![];
        };
        let mut budgets = Vec::new();
        for one in array {
            match one.get_ref() {
                DeValue::Table(table) => budgets.push(self.budget(one.span(), table)),
                _ => self.problem(one.span(), wrong, "write [[budget]], with two brackets, before each"),
            }
        }
        budgets
    }

    fn budget(&mut self, span: Range<usize>, table: &DeTable<'_>) -> Budget {
        let all = || Patterns::new(vec![]);
        let mut budget = Budget { line: self.line(span.start), scenario: all(), strategy: all(), model: all(), why: None, metrics: vec![] };
        let mut level = Level::Error;
        if let Some((_, value)) = table.iter().find(|(key, _)| key.get_ref() == "level") {
            level = self.level(value);
        }
        let plain = |name: &str| Ok(vec![name.to_owned()]);
        for entry @ (key, value) in table {
            match key.get_ref().as_ref() {
                "scenario" => budget.scenario = self.patterns(value, &plain),
                "strategy" => {
                    let registry = self.registry;
                    budget.strategy = self.patterns(value, &|name| {
                        let choices = registry.parse(name).map_err(|why| why.to_string())?;
                        Ok(choices.iter().map(|choice| choice.build().id()).collect())
                    });
                }
                "model" => budget.model = self.patterns(value, &plain),
                "why" => budget.why = self.text(value, "a sentence").map(one_line),
                "level" => {}
                _ => budget.metrics.extend(self.metric(entry, level)),
            }
        }
        if budget.metrics.is_empty() && self.found.iter().all(|one| one.span.start < span.start) {
            self.problem(span, "this budget names no metric", "add one, quoted: \"parent.input_total\" = { max = 12000 }");
        }
        budget.metrics.sort_by_key(|one| one.line);
        budget
    }

    fn patterns(&mut self, value: &Spanned<DeValue<'_>>, names: &dyn Fn(&str) -> Result<Vec<String>, String>) -> Patterns {
        let texts: Vec<&Spanned<DeValue<'_>>> = match value.get_ref() {
            DeValue::Array(many) => many.iter().collect(),
            _ => vec![value],
        };
        if texts.is_empty() {
            self.problem(value.span(), "an empty list matches nothing", "write \"*\" for all");
        }
        let mut patterns = Vec::new();
        for one in texts {
            let Some(text) = self.text(one, "a glob or a list of globs") else { continue };
            match Pattern::parse(text, names) {
                Ok(pattern) => patterns.push(pattern),
                Err(why) => {
                    self.problem(one.span(), why, "write a name or a glob: * any text, ? one character, {a,b} either, !x without x")
                }
            }
        }
        Patterns::new(patterns)
    }

    fn level(&mut self, value: &Spanned<DeValue<'_>>) -> Level {
        match value.get_ref() {
            DeValue::String(text) if text == Level::Error.name() => Level::Error,
            DeValue::String(text) if text == Level::Warn.name() => Level::Warn,
            _ => {
                self.problem(value.span(), "this level is not known", "write \"error\" (fails the check) or \"warn\" (is told)");
                Level::Error
            }
        }
    }

    fn metric(&mut self, (key, value): Entry<'_, '_>, level: Level) -> Option<MetricBudget> {
        let name: &str = key.get_ref();
        let Some(known) = metric(name) else {
            let dotted =
                |inner: &DeTable<'_>| inner.iter().map(|(key, _)| format!("{name}.{}", key.get_ref())).find(|full| metric(full).is_some());
            let unquoted = if let DeValue::Table(inner) = value.get_ref() { dotted(inner) } else { None };
            match unquoted {
                Some(full) => {
                    self.problem(key.span(), format!("`{full}` is not quoted"), format!("quote the metric: \"{full}\" = {{ ... }}"))
                }
                None => {
                    let keys = ["scenario", "strategy", "model", "why", "level"];
                    let help = nearest(name, METRICS.iter().map(|metric| metric.name).chain(keys));
                    self.problem(key.span(), format!("there is no metric `{name}`"), help + " (`ctxbench list metrics` names all)");
                }
            }
            return None;
        };
        let DeValue::Table(table) = value.get_ref() else {
            let example = format!("write \"{name}\" = {{ max = 12000 }}, or {{ grow = \"1%\" }}");
            self.problem(value.span(), format!("the limits of `{name}` are a table"), example);
            return None;
        };
        Some(self.limits(known, self.line(key.span().start), table, level))
    }

    fn limits(&mut self, metric: &'static Metric, line: u32, table: &DeTable<'_>, level: Level) -> MetricBudget {
        let mut one = MetricBudget { metric, line, max: None, min: None, grow: None, drop: None, level };
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "max" => one.max = self.bound(metric, value),
                "min" => one.min = self.bound(metric, value),
                "grow" => one.grow = self.allowance(value),
                "drop" => one.drop = self.allowance(value),
                "level" => one.level = self.level(value),
                other => {
                    let help = nearest(other, ["max", "min", "grow", "drop", "level"]);
                    self.problem(key.span(), format!("there is no limit `{other}`"), help);
                }
            }
        }
        if let (Some(min), Some(max)) = (one.min, one.max)
            && min.value() > max.value()
        {
            let span = self.span_of_line(line);
            self.problem(span, format!("min {min} is above max {max}: no value passes"), "swap them");
        }
        one
    }

    /// An absolute limit, which must be a value that the metric can have.
    fn bound(&mut self, metric: &'static Metric, value: &Spanned<DeValue<'_>>) -> Option<Number> {
        let number = self.number(value)?;
        if let Some(why) = impossible(metric, number) {
            self.problem(value.span(), why, "write a value that it can have (`ctxbench list metrics` says what each counts)");
            return None;
        }
        Some(number)
    }

    fn number(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Number> {
        let number = match value.get_ref() {
            whole @ DeValue::Integer(_) => integer(whole).map(Number::Whole),
            DeValue::Float(float) => float.as_str().replace('_', "").parse::<f64>().ok().and_then(Number::real),
            _ => None,
        };
        if number.is_none() {
            self.problem(value.span(), "here stands a number", "write it without quotes, units or a percent sign: max = 12000");
        }
        number
    }

    fn allowance(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Allowance> {
        let read = match value.get_ref() {
            DeValue::String(text) => Allowance::parse(text),
            whole @ DeValue::Integer(_) => integer(whole)
                .map(|whole| Allowance::By(i128::from(whole) * 1_000_000))
                .ok_or_else(|| "this number is too large".to_owned()),
            DeValue::Float(float) => decimal(&float.as_str().replace('_', ""))
                .map(Allowance::By)
                .ok_or_else(|| "this number has more than six decimals".to_owned()),
            _ => Err("here stands an allowance".to_owned()),
        };
        match read {
            Ok(Allowance::By(amount)) if amount < 0 => {
                self.problem(value.span(), "an allowance is not below 0", format!("write {}", plain(-amount)));
                None
            }
            Ok(allowance) => Some(allowance),
            Err(why) => {
                self.problem(value.span(), why, "write \"1%\" (of the accepted value), \"+200\" (more than it) or 0");
                None
            }
        }
    }
}

/// A text on one line, without what would steer a terminal.
fn one_line(text: &str) -> String {
    let words = text.split_whitespace().map(|word| word.chars().filter(|c| !c.is_control()).collect::<String>());
    words.collect::<Vec<_>>().join(" ")
}

fn integer(value: &DeValue<'_>) -> Option<i64> {
    let DeValue::Integer(integer) = value else { return None };
    i64::from_str_radix(&integer.as_str().replace('_', ""), integer.radix()).ok()
}

/// `did you mean ...?`, or all.
fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest_name(wrong, known.clone()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => {
            let all: Vec<&str> = known.into_iter().take(12).collect();
            format!("known: {}", all.join(", "))
        }
    }
}
