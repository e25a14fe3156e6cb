//! Checks: what is asked of the answer, and the rules that make a check one that can be passed and failed.

use crate::scenario::marker::fold;
use crate::scenario::{Ask, Check, Citation, Forbidden, IntentIndex, NumberAsk, ScenarioWorld, Topic, is_path_character, validator};

use super::super::asked::{
    Aliases, CheckForm, CitationForm, ForbiddenItem, JsonForm, LengthForm, NumberForm, NumberOrForm, TextsOrForm, TokenF1Form,
};
use super::super::errors::suggest;
use super::super::node::{Located, Node, Place, Value};
use super::super::record::OneOrMore;
use super::Builder;
use super::declared::Names;

const KINDS: &str = "write exactly one of `contains`, `contains_all`, `regex`, `equals`, `number`, `json`, `json_schema`, `token_f1`, \
    `ordered`, `recall`, `forbidden`, `citation` and `length`";

/// A check's weight, and the means in which it counts.
struct Weighed {
    weight: f64,
    at: Place,
    on_answer: bool,
    intent: Option<IntentIndex>,
}

impl Builder<'_> {
    /// The checks in the file's order.
    pub(super) fn checks(&mut self, topics: &[Topic], world: &ScenarioWorld) -> Vec<Check> {
        let file = self.file;
        let mut ids = Names::new("check");
        let mut checks = vec![];
        let mut weighed = vec![];
        for form in &file.checks {
            let CheckForm { id, intent, answer, weight, .. } = &form.value;
            ids.insert(id.value.clone(), id.at, self.problems);
            let mut asks = self.asks(form, topics, world);
            if asks.len() > 1 || (asks.is_empty() && !self.problems.incomplete) {
                let message = format!("the check `{}` asks {}", id.value, if asks.is_empty() { "nothing" } else { "several things" });
                self.problems.add(form.at, message, KINDS);
            }
            if intent.is_none() && !answer {
                self.problems.add(
                    form.at,
                    format!("the check `{}` is asked of nobody", id.value),
                    "name the `intent` whose return it scores, or remove `answer: false`",
                );
            }
            let intent_index = intent.as_ref().and_then(|id| self.intent_index(id));
            let at = weight.as_ref().map_or(form.at, |weight| weight.at);
            let weight = weight.as_ref().map_or(1.0, |weight| weight.value);
            if !(weight >= 0.0 && weight.is_finite()) {
                self.problems.add(
                    at,
                    format!("the weight {weight} is not 0 or above"),
                    "leave it out for 1; 0 reports a score without counting it",
                );
            } else if weight == 0.0 && !answer && intent.is_some() {
                let message = format!("the check `{}` is reported nowhere: it weighs 0, and scores returns alone", id.value);
                self.problems.add(at, message, "give it a weight, or remove `answer: false`: scores on the final answer are reported");
            }
            weighed.push(Weighed { weight, at, on_answer: *answer, intent: intent_index });
            if let Some(ask) = asks.pop() {
                checks.push(Check { id: id.value.as_str().into(), intent: intent_index, on_answer: *answer, weight, ask });
            }
        }
        self.weights(&weighed);
        checks
    }

    /// Reports means in which nothing counts. A check that could not be read might.
    fn weights(&mut self, weighed: &[Weighed]) {
        if self.problems.incomplete {
            return;
        }
        let mut nothing = |of: &dyn Fn(&&Weighed) -> bool, what: &str| {
            let mut all = weighed.iter().filter(of).peekable();
            let Some(first) = all.peek().map(|first| first.at) else { return };
            if all.all(|one| one.weight == 0.0) {
                self.problems.add(first, format!("all checks on {what} weigh 0"), "a mean needs one that counts: give it a weight above 0");
            }
        };
        nothing(&|one| one.on_answer, "the final answer");
        for (at, intent) in self.file.intents.iter().enumerate() {
            nothing(&|one| one.intent == Some(at), &format!("the return of `{}`", intent.value.id.value));
        }
    }

    /// Everything that one check asks; each kind reports what is wrong with it.
    fn asks(&mut self, form: &Located<CheckForm>, topics: &[Topic], world: &ScenarioWorld) -> Vec<Ask> {
        let CheckForm {
            id,
            intent: _,
            answer: _,
            weight: _,
            contains,
            contains_all,
            regex,
            equals,
            number,
            json,
            json_schema,
            token_f1,
            ordered,
            recall,
            forbidden,
            citation,
            length,
        } = &form.value;
        let mut asks = vec![];
        let mut empty = false;
        if let Some(form) = contains {
            empty |= lacks_text(form);
            asks.push(Ask::Contains(texts(form)));
        }
        if let Some(things) = contains_all {
            empty |= lacks_things(things, self.problems.incomplete);
            asks.push(Ask::ContainsAll(things.iter().map(|aliases| texts(&aliases.0)).collect()));
        }
        if let Some(pattern) = regex {
            self.pattern(pattern);
            asks.push(Ask::Regex(pattern.value.clone()));
        }
        asks.extend(equals.clone().map(Ask::Equals));
        asks.extend(number.as_ref().map(|form| self.number(form)));
        asks.extend(json.as_ref().map(|form| self.json(form)));
        if let Some(schema) = json_schema {
            self.json_schema(schema);
            asks.push(Ask::JsonSchema(schema.to_json()));
        }
        asks.extend(token_f1.as_ref().map(|form| self.token_f1(form)));
        if let Some(things) = ordered {
            empty |= lacks_things(things, self.problems.incomplete);
            asks.push(Ask::Ordered(things.iter().map(|aliases| texts(&aliases.0)).collect()));
        }
        if let Some(topics) = recall {
            empty |= topics.0.is_empty() && !self.problems.incomplete;
            asks.push(Ask::Recall(self.topic_indices(&topics.0)));
        }
        if let Some(list) = forbidden {
            let is_blank = |item: &ForbiddenItem| matches!(item, ForbiddenItem::Text(text) if text.trim().is_empty());
            empty |= (list.0.is_empty() && !self.problems.incomplete) || list.0.iter().any(is_blank);
            asks.push(Ask::Forbidden(list.0.iter().flat_map(|item| self.forbidden(item, topics)).collect()));
        }
        if let Some(places) = citation {
            empty |= places.is_empty() && !self.problems.incomplete;
            asks.push(Ask::Citation(places.iter().map(|place| self.citation(place, world)).collect()));
        }
        asks.extend(length.as_ref().map(|form| self.length(form)));
        if empty {
            let message = format!("the check `{}` asks for nothing", id.value);
            self.problems.add(form.at, message, "write at least one text, topic or place, none of them empty");
        }
        asks
    }

    fn pattern(&mut self, pattern: &Located<String>) {
        let Err(error) = regex::Regex::new(&pattern.value) else { return };
        let told = error.to_string();
        let why = told.lines().last().unwrap_or_default().trim_start_matches("error: ");
        // A pattern of one line is shown four columns in, with carets below it.
        let carets = told.lines().nth(2).filter(|_| !pattern.value.contains('\n')).and_then(|line| line.find('^'));
        let message = format!("this is no regular expression: {why}");
        let within = carets.and_then(|column| column.checked_sub(4));
        self.problems.add_within(pattern.at, within, message, "write it in the syntax of the Rust crate `regex`");
    }

    fn number(&mut self, form: &Located<NumberOrForm>) -> Ask {
        let NumberForm { value, tolerance, relative, which, unit } = &form.value.0;
        if !value.value.is_finite() {
            self.problems.add(value.at, format!("{} is no number that can stand in an answer", value.value), "write its digits");
        }
        let mut amount = |amount: &Option<Located<f64>>| {
            let Some(amount) = amount else { return 0.0 };
            if !(amount.value >= 0.0 && amount.value.is_finite()) {
                self.problems.add(amount.at, format!("the tolerance {} is not 0 or above", amount.value), "leave it out for 0");
            }
            amount.value
        };
        let (tolerance, relative) = (amount(tolerance), amount(relative));
        if let Some(unit) = unit.as_ref().filter(|unit| lacks_text(&unit.value)) {
            self.problems.add(unit.at, "this unit is empty", "write how it stands beside the number, or leave `unit` out");
        }
        let units = unit.as_ref().map_or(vec![], |unit| texts(&unit.value).iter().map(|unit| unit.trim().to_owned()).collect());
        Ask::Number(NumberAsk { value: value.value, tolerance, relative, which: *which, units })
    }

    fn json(&mut self, form: &JsonForm) -> Ask {
        let JsonForm { value, path } = form;
        if let Some(path) = path {
            let escapes = path.value.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
            if !(path.value.is_empty() || path.value.starts_with('/')) || !escapes {
                let message = format!("`{}` is no JSON pointer", path.value);
                self.problems.add(path.at, message, "begin each step with `/` (`/causes/0`); within a name `~1` is `/` and `~0` is `~`");
            }
        }
        let value = Node { value: value.clone(), at: Place::default() }.to_json();
        Ask::Json { value, path: path.as_ref().map(|path| path.value.clone()).unwrap_or_default() }
    }

    fn json_schema(&mut self, schema: &Node) {
        if !schema.is_sound() {
            return;
        }
        let mut references = vec![];
        find_references(schema, false, &mut references);
        let outside: Vec<_> = references.iter().filter(|(name, _)| !name.starts_with('#')).collect();
        for (name, at) in &outside {
            let message = format!("`{name}` lies outside of this schema");
            self.problems.add(*at, message, "write what it holds under `$defs`, and refer to it as `#/$defs/NAME`");
        }
        if !outside.is_empty() {
            return;
        }
        let json = schema.to_json();
        if let Err(error) = validator(&json) {
            let dangling = || {
                let missing = |(name, _): &&(String, Place)| name.strip_prefix('#').is_some_and(|path| json.pointer(path).is_none());
                references.iter().find(missing).map(|(_, at)| *at)
            };
            let pointed = place_at(schema, error.instance_path().as_str());
            let at = pointed.filter(|at| *at != schema.at).or_else(dangling).unwrap_or(schema.at);
            let why = error.to_string();
            let message = format!("this is no JSON schema: {}", why.lines().next().unwrap_or_default());
            self.problems.add(
                at,
                message,
                "write it as draft 2020-12 of JSON schema has it; patterns in the syntax of the Rust crate `regex`",
            );
        }
    }

    fn token_f1(&mut self, form: &Located<TextsOrForm>) -> Ask {
        let TokenF1Form { text, at_least } = &form.value.0;
        let is_word = |word: &str| {
            let letters: String = word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
            !matches!(letters.as_str(), "" | "a" | "an" | "the")
        };
        for text in text.0.iter().filter(|text| !text.value.split_whitespace().any(is_word)) {
            self.problems.add(
                text.at,
                "this text has no word to compare",
                "punctuation and articles do not count: write what an answer should say",
            );
        }
        if text.0.is_empty() && !self.problems.incomplete {
            self.problems.add(form.at, "there is no text to compare with", "write at least one");
        }
        if let Some(least) = at_least.as_ref().filter(|least| !(least.value > 0.0 && least.value <= 1.0)) {
            self.problems.add(least.at, format!("no F1 tells by {}", least.value), "write a number above 0, at most 1");
        }
        Ask::TokenF1 { texts: texts(text), at_least: at_least.as_ref().map(|least| least.value) }
    }

    fn forbidden(&mut self, item: &ForbiddenItem, topics: &[Topic]) -> Vec<Forbidden> {
        match item {
            ForbiddenItem::Text(text) => vec![Forbidden::Text(text.clone())],
            ForbiddenItem::Fact(id) => {
                let place = |(topic, one): (usize, &Topic)| Some((topic, one.facts.iter().position(|fact| fact.id == id.value)?));
                let found = topics.iter().enumerate().find_map(place);
                if found.is_none() && !self.problems.incomplete {
                    let known: Vec<&str> = topics.iter().flat_map(|topic| &topic.facts).map(|fact| fact.id.as_str()).collect();
                    self.problems.add(id.at, format!("there is no fact `{}`", id.value), suggest(&id.value, known));
                }
                found.into_iter().map(|(topic, fact)| Forbidden::Fact(topic, fact)).collect()
            }
            ForbiddenItem::Superseded(id) => {
                let Some(index) = self.topic_indices(std::slice::from_ref(id)).pop() else { return vec![] };
                let older = topics.get(index).map_or(0, |topic| topic.facts.len().saturating_sub(1));
                if older == 0 && !self.problems.incomplete {
                    let message = format!("nothing of the topic `{}` was superseded", id.value);
                    self.problems.add(id.at, message, "name a topic with several facts, or a fact");
                }
                (0..older).map(|fact| Forbidden::Fact(index, fact)).collect()
            }
        }
    }

    fn citation(&mut self, form: &Located<CitationForm>, world: &ScenarioWorld) -> Citation {
        let CitationForm { path, line, quote } = &form.value;
        if let Some(c) = path.value.chars().find(|&c| !is_path_character(c)) {
            let message = format!("`{}` cannot be told as a citation: it holds `{}`", path.value, c.escape_debug());
            self.problems.add(path.at, message, "a cited path has letters, digits and `_ - . / + @ ~`");
        }
        let is_declared = self.declared.files.check(path, self.problems);
        let lines: Vec<&str> = world.files.get(&path.value).map_or(vec![], |text| text.lines().collect());
        let number = u32::try_from(line.value).ok().filter(|line| *line > 0);
        let text = number.and_then(|line| lines.get(line as usize - 1));
        if number.is_none() || (text.is_none() && is_declared && !self.problems.incomplete) {
            let message = format!("there is no line {} in `{}`", line.value, path.value);
            let help = if lines.is_empty() { "lines count from 1".to_owned() } else { format!("its lines are 1 to {}", lines.len()) };
            self.problems.add(line.at, message, help);
        }
        if let Some(quote) = quote {
            let wanted = fold(&quote.value);
            if wanted.trim().is_empty() {
                self.problems.add(quote.at, "this quote is empty", "write words of the line, or leave `quote` out");
            } else if let Some(text) = text.filter(|text| !fold(text).contains(wanted.trim())) {
                let message = format!("line {} of `{}` does not hold this", line.value, path.value);
                self.problems.add(quote.at, message, format!("it reads `{}`", text.trim()));
            }
        }
        Citation { path: path.value.clone(), line: number.unwrap_or(1), quote: quote.as_ref().map(|quote| quote.value.clone()) }
    }

    fn length(&mut self, form: &Located<LengthForm>) -> Ask {
        let LengthForm { of, at_least, at_most } = &form.value;
        let least = at_least.as_ref().map(|least| least.value);
        if (at_most.is_none() && least.is_none_or(|least| least == 0)) && !self.problems.incomplete {
            let at = at_least.as_ref().map_or(form.at, |least| least.at);
            self.problems.add(at, "every answer is as long as that", "write `at_most`, or `at_least` with 1 or more");
        }
        if let (Some(least), Some(most)) = (at_least, at_most)
            && least.value > *most
        {
            let message = format!("no answer is at least {} and at most {most} long", least.value);
            self.problems.add(least.at, message, "write the smaller number as `at_least`");
        }
        Ask::Length { of: *of, at_least: least, at_most: *at_most }
    }
}

fn texts(form: &OneOrMore) -> Vec<String> {
    form.0.iter().map(|text| text.value.clone()).collect()
}

/// Whether there is no text, or an empty one.
fn lacks_text(form: &OneOrMore) -> bool {
    form.0.is_empty() || form.0.iter().any(|text| text.value.trim().is_empty())
}

fn lacks_things(things: &[Aliases], incomplete: bool) -> bool {
    (things.is_empty() && !incomplete) || things.iter().any(|aliases| lacks_text(&aliases.0))
}

/// Every reference of a JSON schema. Under `properties` and the like keys are names, and what `const` and the like hold is
/// data.
fn find_references(node: &Node, names: bool, found: &mut Vec<(String, Place)>) {
    match &node.value {
        Value::List(items) => items.iter().for_each(|item| find_references(item, false, found)),
        Value::Map(entries) => {
            for (key, value) in entries {
                match (key.value.as_str(), &value.value) {
                    ("$ref" | "$dynamicRef" | "$recursiveRef", Value::Text(name)) if !names => found.push((name.clone(), value.at)),
                    ("const" | "enum" | "default" | "examples", _) if !names => {}
                    (key, _) => {
                        let holds_names = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];
                        find_references(value, !names && holds_names.contains(&key), found);
                    }
                }
            }
        }
        _ => {}
    }
}

/// The place to which a JSON pointer leads; `None`: it leads nowhere.
fn place_at(node: &Node, pointer: &str) -> Option<Place> {
    let mut node = node;
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        node = match &node.value {
            Value::List(items) => items.get(step.parse::<usize>().ok()?)?,
            _ => node.get(&step)?,
        };
    }
    Some(node.at)
}
