//! What came back, by class.
//!
//! `ok`, `empty` and `failed` part the returns: each is exactly one of them. The other classes are marks, of which a return
//! bears any number, all on returns that are `ok` but two: `capped` is borne by returns of all three kinds, and
//! `error_as_success` by `ok` and `empty` ones. `preamble`, `see_earlier` and `stub` exclude each other. A return is judged
//! in its own parent, so children of children count like any other.
//!
//! Nothing here knows a strategy: what a protocol puts around a child's words is told from them by comparing what the child
//! wrote with what its parent got.

mod delivered;
mod entered;
#[cfg(test)]
mod tests;
mod wording;

use std::borrow::Cow;

use crate::ledger::{ByThread, Outcome};
use crate::scenario::marker::{UNKNOWN_TASK, fold, invented, words};
use crate::strategy::ReturnFormat;

use super::facts::Facts;
pub(super) use delivered::{Delivered, arguments, delivered};
use entered::{Entered, Text};

/// Returns by class. A delegation of which nothing came back is in none; refusals are counted apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Returns {
    /// Reported as done, with a text.
    pub ok: u64,
    /// Reported as done, without any: what entered the parent is blank, or the child wrote nothing after its last tool
    /// result (a wrapper around nothing is no return). The second can be told only where it is known which turn of the child
    /// came back.
    pub empty: u64,
    /// Reported as an error.
    pub failed: u64,
    /// Only announce what is to be done: a short text that ends with an announcement and states nothing that was needed.
    pub preamble: u64,
    /// Point to what the parent cannot see: `unknown: task`, or a short text such as "see my prior message" that states
    /// nothing that was needed.
    pub see_earlier: u64,
    /// Lack some of the child's last words although they hold their beginning or their end, or the child's last words were ended
    /// by a limit on output.
    pub truncated: u64,
    /// Of turns that met a limit of rounds: their system or the harness stopped them, or the last request showed none of the
    /// tools that the first one had.
    pub capped: u64,
    /// Reported as done although the child's turn ended by an error or by a limit of the harness.
    pub error_as_success: u64,
    /// What needs the scenario's facts; zeros without them.
    pub of_facts: FactReturns,
}

/// Returns by the classes that need a scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FactReturns {
    /// State none of the needed topics, admit none as unknown, and are neither empty nor a preamble nor a pointer back.
    pub stub: u64,
    /// Longer than the intent's contract allows.
    pub overlong: u64,
    /// State a superseded value of a needed topic and not the newest.
    pub stale: u64,
    /// State a value of a needed topic that is none of its facts'.
    pub invented: u64,
}

/// Counts the returns that the items of each thread tell of: one for each delegating call, by what was said last.
pub fn returns(outcome: &Outcome, facts: Option<&Facts<'_>>) -> Returns {
    returns_of(&delivered(outcome, &ByThread::of(outcome)), facts)
}

pub(super) fn returns_of(delivered: &[Delivered<'_>], facts: Option<&Facts<'_>>) -> Returns {
    let mut returns = Returns::default();
    for one in delivered {
        returns.add(one, facts);
    }
    returns
}

impl Returns {
    fn add(&mut self, one: &Delivered<'_>, facts: Option<&Facts<'_>>) {
        self.capped += u64::from(one.turn.as_ref().is_some_and(|turn| turn.capped));
        if !one.is_done {
            self.failed += 1;
            return;
        }
        self.error_as_success += u64::from(one.turn.as_ref().is_some_and(|turn| turn.failed));
        let is_blank = one.news.first().is_none_or(|item| item.text().trim().is_empty());
        if is_blank || one.turn.as_ref().is_some_and(|turn| turn.words.is_none()) {
            self.empty += 1;
            return;
        }
        self.ok += 1;
        let text = Text::of(&one.news);
        let words_of_child = one.turn.as_ref().and_then(|turn| turn.words);
        let entered = words_of_child.map(|words| text.entered(words));
        let is_limited = one.turn.as_ref().is_some_and(|turn| turn.limited);
        self.truncated += u64::from(entered == Some(Entered::Cut) || is_limited);
        let body = text.body(words_of_child.filter(|_| entered == Some(Entered::Whole)));
        // The form that was asked for is none of its words.
        let body = ReturnFormat::of(&body).map_or(body, |(_, inner)| Cow::Owned(inner));
        let told = facts.map(|facts| Told::of(one, &text, facts)).unwrap_or_default();
        let is_preamble = !told.states && wording::announces(&body);
        let is_pointer = !told.states && !is_preamble && (wording::points_back(&body) || says_unknown_task(&body));
        self.preamble += u64::from(is_preamble);
        self.see_earlier += u64::from(is_pointer);
        let is_overlong = told.most_words.is_some_and(|most| words(&body) > most as usize);
        let counts = &mut self.of_facts;
        counts.stub += u64::from(told.is_silent && !is_preamble && !is_pointer);
        counts.overlong += u64::from(is_overlong);
        counts.stale += u64::from(told.is_stale);
        counts.invented += u64::from(told.is_invented);
    }
}

/// Whether a text says that there is no task. The label of a topic that begins with the word is another matter.
fn says_unknown_task(text: &str) -> bool {
    text.lines().any(|line| fold(line).trim().trim_end_matches('.') == UNKNOWN_TASK)
}

/// What a return says of the topics that were asked for.
#[derive(Default)]
struct Told {
    /// Any value of any of them.
    states: bool,
    /// Something was needed, and it says nothing of it, not even that it is unknown.
    is_silent: bool,
    is_stale: bool,
    is_invented: bool,
    /// The most words that it may have.
    most_words: Option<u32>,
}

impl Told {
    fn of(one: &Delivered<'_>, text: &Text, facts: &Facts<'_>) -> Told {
        let Some(asked) = facts.asked(one) else { return Told::default() };
        let known = facts.known_of(one.parts());
        let invented = invented(&text.plain, facts.scenario());
        let is_invented = asked.topics.iter().any(|topic| invented.contains(topic));
        let states = is_invented || asked.topics.iter().any(|&topic| known.has(topic));
        let admits = asked.topics.iter().any(|&topic| known.is_said_unknown(topic));
        Told {
            states,
            is_silent: !asked.topics.is_empty() && !states && !admits,
            is_stale: asked.topics.iter().any(|&topic| facts.is_stale(topic, &known)),
            is_invented,
            most_words: asked.most_words,
        }
    }
}
