//! An answer as checks read it.

use std::borrow::Cow;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::scenario::marker::{Found, MarkerIndex, fold, readings};
use crate::scenario::{Scenario, TopicIndex};

use super::check::texts;

/// A text with everything that checks look at, read once.
pub(super) struct Answer<'t> {
    /// As it stands and with escapes undone; behind these, what it says in JSON, without braces, keys and quotes.
    pub readings: SmallVec<[Cow<'t, str>; 1]>,
    /// The same in NFC with runs of white space as one blank.
    pub folded: SmallVec<[Cow<'t, str>; 1]>,
    /// The facts and deliverables that it states.
    found: Arc<Found>,
}

impl<'t> Answer<'t> {
    pub(super) fn new(text: &'t str, markers: &MarkerIndex) -> Answer<'t> {
        let mut readings = readings(text);
        // JSON in JSON is what a wrapper makes of an answer that was JSON before.
        let mut inner = texts(text);
        while let Some(said) = inner.filter(|said| !readings.iter().any(|reading| reading == said) && readings.len() < 8) {
            inner = texts(&said);
            readings.push(said.into());
        }
        let fold_one = |reading: &Cow<'t, str>| match reading {
            Cow::Borrowed(reading) => fold(reading),
            Cow::Owned(reading) => fold(reading).into_owned().into(),
        };
        let folded = readings.iter().map(fold_one).collect();
        Answer { readings, folded, found: markers.stated(text) }
    }

    /// Whether a folded text stands in it.
    pub(super) fn holds(&self, text: &str) -> bool {
        self.folded.iter().any(|reading| reading.contains(text))
    }

    /// Whether a marker of a fact stands in it, whatever else is said of the topic.
    pub(super) fn shows(&self, topic: TopicIndex, fact: usize) -> bool {
        self.found.facts.contains(&(topic, fact))
    }

    /// Whether it states the newest fact of a topic, or its deliverable with the newest values. An older value beside it
    /// takes nothing away, an older value alone is nothing. A statement holds its marker, so markers tell both.
    pub(super) fn states(&self, topic: TopicIndex, scenario: &Scenario) -> bool {
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
