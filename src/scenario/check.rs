//! What is asked of the final answer and of returns, as compiled from a file. How an answer is judged stands in the room
//! `score`, one file a kind.

use std::sync::Arc;

use std::fmt;

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

use super::{IntentIndex, TopicIndex};

/// Something asked of the final answer or of a return.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Its id.
    pub id: Arc<str>,
    /// The intent whose return is scored too (READER rule 16); `None`: the final answer alone.
    pub intent: Option<IntentIndex>,
    /// Whether the final answer is scored by it (a check may be for returns alone).
    pub on_answer: bool,
    /// Its weight in the mean, 0 or above; 0: its score is reported and not counted. Of the checks in one mean (those on the
    /// final answer, those on one intent's return) at least one weighs more than 0.
    pub weight: f64,
    /// What it asks.
    pub ask: Ask,
}

/// What a check asks; every score lies between 0 and 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// One of these texts stands in the answer, white space runs as one blank.
    Contains(Vec<String>),
    /// The share of these things that stand in the answer; each by one of its aliases.
    ContainsAll(Vec<Vec<String>>),
    /// The pattern matches.
    Regex(String),
    /// The answer is this text, trimmed and with white space runs as one blank.
    Equals(String),
    /// The number stands in the answer.
    Number(NumberAsk),
    /// The answer's JSON value, or what a JSON pointer finds in it, is this value.
    Json {
        /// The value.
        value: Value,
        /// The JSON pointer (RFC 6901); empty: the whole value.
        path: String,
    },
    /// The answer's JSON value keeps to this JSON schema.
    JsonSchema(Value),
    /// Overlap of words with the nearest of these texts.
    TokenF1 {
        /// The texts.
        texts: Vec<String>,
        /// The F1 from which on the score is 1, below which it is 0; `None`: the score is the F1.
        at_least: Option<f64>,
    },
    /// The share of these things that stand in the answer one behind the other; each by one of its aliases.
    Ordered(Vec<Vec<String>>),
    /// The share of these topics whose newest fact, or deliverable with the newest values, is stated.
    Recall(Vec<TopicIndex>),
    /// None of these stands in the answer.
    Forbidden(Vec<Forbidden>),
    /// These places of the world's files are cited, and nothing is cited that does not stand there.
    Citation(Vec<Citation>),
    /// The answer's length lies within bounds.
    Length {
        /// What is counted.
        of: Measure,
        /// The least.
        at_least: Option<u64>,
        /// The most.
        at_most: Option<u64>,
    },
}

/// A number that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberAsk {
    /// The number.
    pub value: f64,
    /// How far off it may be; the larger one of the two tolerances counts.
    pub tolerance: f64,
    /// The same as a share of the number's size.
    pub relative: f64,
    /// Which of several numbers are looked at.
    pub which: Which,
    /// Only numbers beside one of these units are looked at; empty: all numbers.
    pub units: Vec<String>,
}

/// Which of the numbers in an answer are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// One of them must be near enough.
    #[default]
    Any,
    /// The first one must be.
    First,
    /// The last one must be.
    Last,
    /// Each of them must be, and there must be one.
    Every,
}

/// What must not stand in an answer.
#[derive(Clone, PartialEq, Eq)]
pub enum Forbidden {
    /// A text.
    Text(String),
    /// A fact: any of its markers, as a reader would know it by.
    Fact(TopicIndex, usize),
}

impl fmt::Debug for Forbidden {
    /// A text as the text itself: a scenario that forbids texts alone keeps its digest.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Forbidden::Text(text) => text.fmt(f),
            Forbidden::Fact(topic, fact) => write!(f, "fact {fact} of topic {topic}"),
        }
    }
}

/// A place of a file that an answer must cite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    /// The file's path.
    pub path: String,
    /// The line at which the citation begins, from 1.
    pub line: u32,
    /// Words of that line that must stand beside the citation.
    pub quote: Option<String>,
}

/// What a length counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// Texts between white space.
    #[default]
    Words,
    /// Characters of the text in Unicode's NFC, without white space at its ends.
    Characters,
    /// Lines that hold more than white space.
    Lines,
}

/// Whether a character stands in a path that a citation can name.
pub(crate) fn is_path_character(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | '@' | '~')
}

/// A validator that reads nothing but the schema, and whose patterns take linear time.
pub(crate) fn validator(schema: &Value) -> Result<Validator, ValidationError<'static>> {
    jsonschema::options().offline().with_pattern_options(PatternOptions::regex()).build(schema)
}
