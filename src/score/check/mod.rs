//! What a check asks, ready to be put to many answers: one file a kind.
//!
//! An answer has several readings: as it stands, and with the escapes of JSON and tags undone. A check is put to each of
//! them, and the best score counts; what is forbidden may stand in none. A length is that of the answer as it stands.

mod citation;
mod json;
mod length;
mod number;
mod ordered;
mod overlap;

use std::borrow::Cow;

use regex::Regex;

use crate::reason::Reason;
use crate::scenario::marker::fold;
use crate::scenario::{Ask, Forbidden, Scenario, TopicIndex};

use super::answer::Answer;
use citation::Citations;
pub(in crate::score) use json::texts;
use json::{JsonIs, JsonKeeps};
use length::Bounds;
use number::Wanted;
use ordered::Chain;
use overlap::Overlap;

/// What a check asks.
#[derive(Debug)]
pub(super) enum Question {
    Contains(Vec<String>),
    ContainsAll(Vec<Vec<String>>),
    Regex(Result<Box<Regex>, String>),
    Equals(String),
    Number(Wanted),
    Json(JsonIs),
    JsonSchema(Result<JsonKeeps, String>),
    TokenF1(Overlap),
    Ordered(Chain),
    Recall(Vec<TopicIndex>),
    Forbidden(Vec<Forbidden>),
    Citation(Citations),
    Length(Bounds),
}

impl Question {
    pub(super) fn new(ask: &Ask) -> Question {
        match ask {
            Ask::Contains(texts) => Question::Contains(folded(texts)),
            Ask::ContainsAll(things) => Question::ContainsAll(things.iter().map(|aliases| folded(aliases)).collect()),
            Ask::Regex(pattern) => {
                let compiled = Regex::new(pattern).map(Box::new);
                Question::Regex(compiled.map_err(|why| format!("the pattern `{pattern}` is no regular expression: {why}")))
            }
            Ask::Equals(text) => Question::Equals(fold(text).trim().to_owned()),
            Ask::Number(number) => Question::Number(Wanted::new(number)),
            Ask::Json { value, path } => Question::Json(JsonIs { value: value.clone(), path: path.clone() }),
            Ask::JsonSchema(schema) => Question::JsonSchema(JsonKeeps::new(schema)),
            Ask::TokenF1 { texts, at_least } => Question::TokenF1(Overlap::new(texts, *at_least)),
            Ask::Ordered(things) => Question::Ordered(Chain::new(things)),
            Ask::Recall(topics) => Question::Recall(topics.clone()),
            Ask::Forbidden(things) => Question::Forbidden(things.iter().map(folded_thing).collect()),
            Ask::Citation(required) => Question::Citation(Citations::new(required)),
            Ask::Length { of, at_least, at_most } => Question::Length(Bounds { of: *of, at_least: *at_least, at_most: *at_most }),
        }
    }

    /// What is wrong with the question itself.
    pub(super) fn validity(&self) -> Result<(), String> {
        let nothing = |is_empty: bool, what: &str| if is_empty { Err(what.to_owned()) } else { Ok(()) };
        match self {
            Question::Regex(Err(why)) | Question::JsonSchema(Err(why)) => Err(why.clone()),
            Question::Recall(topics) => nothing(topics.is_empty(), "it recalls no topic"),
            Question::ContainsAll(things) => nothing(things.is_empty(), "it asks for nothing"),
            Question::Ordered(chain) => nothing(chain.is_empty(), "it asks for nothing"),
            Question::Citation(citations) => nothing(citations.is_empty(), "it asks for no citation"),
            Question::TokenF1(overlap) => nothing(overlap.is_empty(), "its text has no word"),
            _ => Ok(()),
        }
    }

    /// How well an answer answers, from 0 to 1.
    pub(super) fn score(&self, answer: &Answer<'_>, scenario: &Scenario) -> Result<f64, Reason> {
        self.validity()?;
        let passed = |passed: bool| Ok(if passed { 1.0 } else { 0.0 });
        match self {
            Question::Contains(texts) => passed(texts.iter().any(|text| answer.holds(text))),
            Question::ContainsAll(things) => {
                Ok(share(things.iter().filter(|aliases| aliases.iter().any(|text| answer.holds(text))).count(), things.len()))
            }
            Question::Forbidden(things) => passed(!things.iter().any(|thing| match thing {
                Forbidden::Text(text) => answer.holds(text),
                Forbidden::Fact(topic, fact) => answer.shows(*topic, *fact),
            })),
            Question::Equals(text) => passed(answer.folded.iter().any(|reading| reading.trim() == text)),
            Question::Regex(pattern) => {
                let pattern = pattern.as_ref().map_err(String::clone)?;
                passed(answer.readings.iter().any(|reading| pattern.is_match(reading)))
            }
            Question::Number(wanted) => passed(answer.readings.iter().any(|reading| wanted.stands_in(reading))),
            Question::Json(wanted) => passed(answer.readings.iter().any(|reading| wanted.stands_in(reading))),
            Question::JsonSchema(schema) => {
                let schema = schema.as_ref().map_err(String::clone)?;
                passed(answer.readings.iter().any(|reading| schema.kept_by(reading)))
            }
            Question::TokenF1(overlap) => Ok(best(&answer.readings, |reading| overlap.score(reading))),
            Question::Ordered(chain) => Ok(best(&answer.folded, |reading| chain.score(reading))),
            Question::Recall(topics) => Ok(share(topics.iter().filter(|&&topic| answer.states(topic, scenario)).count(), topics.len())),
            Question::Citation(citations) => Ok(best(&answer.readings, |reading| citations.score(reading, &scenario.world.files))),
            Question::Length(bounds) => passed(answer.readings.first().is_some_and(|text| bounds.hold(text))),
        }
    }
}

fn folded(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| fold(text).into_owned()).collect()
}

fn folded_thing(thing: &Forbidden) -> Forbidden {
    match thing {
        Forbidden::Text(text) => Forbidden::Text(fold(text).into_owned()),
        Forbidden::Fact(topic, fact) => Forbidden::Fact(*topic, *fact),
    }
}

/// So many of so many; of nothing, nothing.
fn share(found: usize, of: usize) -> f64 {
    if of == 0 { 0.0 } else { found as f64 / of as f64 }
}

fn best(readings: &[Cow<'_, str>], score: impl Fn(&str) -> f64) -> f64 {
    readings.iter().map(|reading| score(reading)).fold(0.0, f64::max)
}
