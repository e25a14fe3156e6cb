//! A count, how far it can be trusted, and how it is summed.

use std::collections::BTreeSet;

use crate::transcript::{Content, Part};

use super::super::{CountError, TokenCounter};

/// How far from the bill a count may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accuracy {
    /// Bills of requests of this shape were reproduced to the token.
    Exact,
    /// The difference that was seen between count and bill, in tokens.
    Tokens(u32),
    /// The typical difference for requests of some kilobytes, in percent; single short texts may lie further off.
    Percent(u32),
    /// Nobody states one.
    Unstated,
}

/// What a figure rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The rule was run by its author against the API and both numbers were published.
    Executed,
    /// The API's own numbers were recorded and a rule was fitted to them.
    Measured,
    /// The vendor's text was read.
    Read,
    /// Somebody else's account of it.
    Secondary,
}

impl Basis {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Executed => "executed",
            Basis::Measured => "measured",
            Basis::Read => "read",
            Basis::Secondary => "secondary",
        }
    }
}

/// The input tokens of a request as a family bills them.
#[derive(Clone, Debug, PartialEq)]
pub struct FramedCount {
    /// Tokens of all that can be counted. The bill's tokens only if nothing is unknown.
    pub counted: u64,
    /// What nobody can count: each with its place.
    pub unknown: Vec<String>,
    /// How far the count may lie from the bill, what is unknown left aside.
    pub accuracy: Accuracy,
    /// Why it is not exact, where the family's figures say nothing about a shape.
    pub doubts: Vec<&'static str>,
    /// What the family's figures rest on.
    pub basis: Basis,
}

impl FramedCount {
    /// The request's tokens; `None` if some of them are unknown.
    pub fn tokens(&self) -> Option<u64> {
        self.unknown.is_empty().then_some(self.counted)
    }

    /// Whether it is the bill to the token, as far as bills were published.
    pub fn exact(&self) -> bool {
        self.accuracy == Accuracy::Exact && self.unknown.is_empty()
    }

    /// The stated error in percent of the count: 0 if exact, `None` if nobody states one or if something is unknown.
    pub fn error_percent(&self) -> Option<f64> {
        if !self.unknown.is_empty() {
            return None;
        }
        match self.accuracy {
            Accuracy::Exact => Some(0.0),
            Accuracy::Tokens(tokens) => Some(f64::from(tokens) * 100.0 / self.counted.max(1) as f64),
            Accuracy::Percent(percent) => Some(f64::from(percent)),
            Accuracy::Unstated => None,
        }
    }
}

/// A sum that is being made.
pub(super) struct Tally<'a> {
    counter: &'a dyn TokenCounter,
    /// Signed: some published figures are corrections.
    tokens: i64,
    unknown: Vec<String>,
    doubts: BTreeSet<&'static str>,
}

impl<'a> Tally<'a> {
    pub(super) fn new(counter: &'a dyn TokenCounter) -> Tally<'a> {
        Tally { counter, tokens: 0, unknown: Vec::new(), doubts: BTreeSet::new() }
    }

    /// The tokens of a text, which are not added.
    pub(super) fn measure(&self, text: &str) -> Result<i64, CountError> {
        Ok(i64::try_from(self.counter.count(text)?).unwrap_or(i64::MAX))
    }

    pub(super) fn add(&mut self, tokens: i64) {
        self.tokens = self.tokens.saturating_add(tokens);
    }

    pub(super) fn text(&mut self, text: &str) -> Result<(), CountError> {
        let tokens = self.measure(text)?;
        self.add(tokens);
        Ok(())
    }

    /// Content that is no text: what its source declares, or unknown.
    pub(super) fn declared(&mut self, part: &Part, place: &str) {
        let (what, tokens) = match part.content() {
            Content::Text(_) => return,
            Content::Image { media, tokens, .. } | Content::File { media, tokens, .. } => (media, tokens),
            Content::Opaque { kind, tokens, .. } => (kind, tokens),
        };
        match tokens {
            Some(tokens) => {
                self.add(i64::from(*tokens));
                self.doubt("content that is no text counts as its source declares");
            }
            None => self.unknown(format!("{what} in {place}, which declares no tokens")),
        }
    }

    pub(super) fn unknown(&mut self, what: String) {
        self.unknown.push(what);
    }

    /// Why the count is not exact. One reason is kept once.
    pub(super) fn doubt(&mut self, why: &'static str) {
        self.doubts.insert(why);
    }

    pub(super) fn has_doubts(&self) -> bool {
        !self.doubts.is_empty()
    }

    pub(super) fn count(self, accuracy: Accuracy, basis: Basis) -> FramedCount {
        let counted = u64::try_from(self.tokens).unwrap_or(0);
        FramedCount { counted, unknown: self.unknown, accuracy, doubts: self.doubts.into_iter().collect(), basis }
    }
}
