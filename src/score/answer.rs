//! What a check asks, and how a text answers it.

use regex::Regex;

use crate::scenario::marker::{Found, MarkerIndex, fold, readings};
use crate::scenario::{Ask, Scenario, TopicIndex};

/// A text with everything that checks look at, read once.
pub(super) struct Answer {
    /// As it stands and with escapes undone.
    readings: Vec<String>,
    /// The same in NFC with runs of white space as one blank.
    folded: Vec<String>,
    /// The facts and deliverables that it states.
    found: Found,
}

impl Answer {
    pub(super) fn new(text: &str, markers: &MarkerIndex) -> Answer {
        let readings: Vec<String> = readings(text).into_iter().map(|reading| reading.into_owned()).collect();
        let folded = readings.iter().map(|reading| fold(reading).into_owned()).collect();
        Answer { readings, folded, found: markers.scan(text) }
    }

    fn holds(&self, text: &str) -> bool {
        self.folded.iter().any(|reading| reading.contains(text))
    }

    /// Whether it states the newest fact of a topic, or its deliverable with the newest values. An older value beside it
    /// takes nothing away, an older value alone is nothing. A statement holds its marker, so markers tell both.
    fn states(&self, topic: TopicIndex, scenario: &Scenario) -> bool {
        let newest = |topic: TopicIndex| scenario.topics.get(topic).and_then(|topic| topic.facts.len().checked_sub(1));
        let stated = newest(topic).is_some_and(|newest| self.found.facts.contains(&(topic, newest)));
        let made = || scenario.topics.get(topic)?.made.as_ref();
        stated
            || made().is_some_and(|made| {
                let wanted: Vec<Option<usize>> = made.from.iter().map(|&source| newest(source)).collect();
                self.found.made.iter().any(|(found, values)| *found == topic && *values == wanted)
            })
    }
}

/// What a check asks, ready to be put to many answers.
#[derive(Debug)]
pub(super) enum Question {
    Contains(Vec<String>),
    Regex(Result<Box<Regex>, String>),
    Equals(String),
    Recall(Vec<TopicIndex>),
    Forbidden(Vec<String>),
}

impl Question {
    pub(super) fn new(ask: &Ask) -> Question {
        let folded = |texts: &[String]| texts.iter().map(|text| fold(text).into_owned()).collect();
        match ask {
            Ask::Contains(texts) => Question::Contains(folded(texts)),
            Ask::Regex(pattern) => {
                let compiled = Regex::new(pattern).map(Box::new);
                Question::Regex(compiled.map_err(|why| format!("the pattern `{pattern}` is no regular expression: {why}")))
            }
            Ask::Equals(text) => Question::Equals(fold(text).trim().to_owned()),
            Ask::Recall(topics) => Question::Recall(topics.clone()),
            Ask::Forbidden(texts) => Question::Forbidden(folded(texts)),
        }
    }

    /// What is wrong with the question itself.
    pub(super) fn validity(&self) -> Result<(), String> {
        match self {
            Question::Regex(Err(why)) => Err(why.clone()),
            Question::Recall(topics) if topics.is_empty() => Err("it recalls no topic".into()),
            _ => Ok(()),
        }
    }

    /// How well an answer answers, from 0 to 1.
    pub(super) fn score(&self, answer: &Answer, scenario: &Scenario) -> Result<f64, String> {
        self.validity()?;
        let passed = match self {
            Question::Contains(texts) => texts.iter().any(|text| answer.holds(text)),
            Question::Forbidden(texts) => !texts.iter().any(|text| answer.holds(text)),
            Question::Equals(text) => answer.folded.iter().any(|reading| reading.trim() == text),
            Question::Regex(pattern) => {
                let pattern = pattern.as_ref().map_err(String::clone)?;
                answer.readings.iter().any(|reading| pattern.is_match(reading))
            }
            Question::Recall(topics) => {
                let stated = topics.iter().filter(|&&topic| answer.states(topic, scenario)).count();
                return Ok(stated as f64 / topics.len() as f64);
            }
        };
        Ok(if passed { 1.0 } else { 0.0 })
    }
}
