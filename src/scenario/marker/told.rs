//! Facts in a model's own words.
//!
//! A reader states a fact by its statement, which holds its marker. A model says it in its own words, so in what models answer
//! a fact also counts as stated where the telling words of its value stand together in one sentence. What is *visible* is
//! always decided by markers alone.

use std::collections::BTreeSet;

use super::Found;
use crate::scenario::{Scenario, TopicIndex};

/// What of a topic tells it in a sentence.
#[derive(Clone, Debug)]
struct Form {
    topic: TopicIndex,
    /// The words of its label.
    label: BTreeSet<String>,
    /// For each fact the words of its value that do not stand in the label.
    facts: Vec<BTreeSet<String>>,
    /// What a deliverable is made of.
    made: Vec<TopicIndex>,
}

/// A scenario's facts, ready to be found in a model's words.
#[derive(Clone, Debug)]
pub struct Telling(Vec<Form>);

/// Words that say that something is not known.
const ADMITS: [&str; 12] = [
    "unknown",
    "not known",
    "not know",
    "not mentioned",
    "not specified",
    "not stated",
    "not given",
    "not there",
    "not provided",
    "no information",
    "cannot find",
    "not found",
];

/// Words that tell nothing, as long as they are.
const EMPTY: [&str; 16] =
    ["that", "this", "with", "from", "have", "were", "been", "will", "they", "them", "their", "there", "what", "which", "when", "where"];

impl Telling {
    /// The facts of a scenario.
    pub fn of(scenario: &Scenario) -> Telling {
        let form = |(topic, one): (TopicIndex, &crate::scenario::Topic)| {
            let label = words(&one.label);
            let telling = |value: &str| {
                let all = words(value);
                let own: BTreeSet<String> = all.difference(&label).cloned().collect();
                if own.is_empty() { all } else { own }
            };
            let facts = one.facts.iter().map(|fact| telling(&fact.value)).collect();
            Form { topic, label, facts, made: one.made.as_ref().map_or(vec![], |made| made.from.clone()) }
        };
        Telling(scenario.topics.iter().enumerate().map(form).collect())
    }

    /// Adds to what markers say of a text what its words tell: facts, deliverables by the values that they are made of, topics that it
    /// calls unknown, and topics of which it states something that is no fact.
    pub fn add(&self, text: &str, found: &mut Found) {
        for sentence in sentences(text) {
            let lower = sentence.to_lowercase();
            let said = words(sentence);
            let admits = ADMITS.iter().any(|words| lower.contains(words));
            for form in &self.0 {
                let tells = |(_, value): &(usize, &BTreeSet<String>)| !value.is_empty() && value.is_subset(&said);
                let told: Vec<usize> = form.facts.iter().enumerate().filter(tells).map(|(fact, _)| fact).collect();
                let is_about = form.label.intersection(&said).count() * 2 >= form.label.len().max(1);
                if !told.is_empty() {
                    found.facts.extend(told.into_iter().map(|fact| (form.topic, fact)));
                } else if is_about && admits {
                    found.unknown.push(form.topic);
                } else if is_about && !sentence.trim_end().ends_with('?') {
                    found.claimed.push((form.topic, sentence.trim().to_owned()));
                }
            }
        }
        found.facts.sort_unstable();
        found.facts.dedup();
        found.unknown.sort_unstable();
        found.unknown.dedup();
        found.claimed.sort();
        found.claimed.dedup_by_key(|(topic, _)| *topic);
        for form in self.0.iter().filter(|form| !form.made.is_empty()) {
            let newest = |source: &TopicIndex| found.facts.iter().filter(|(topic, _)| topic == source).map(|(_, fact)| *fact).max();
            let values: Vec<Option<usize>> = form.made.iter().map(newest).collect();
            let is_new = !found.made.iter().any(|(topic, _)| *topic == form.topic);
            if is_new && values.iter().any(Option::is_some) {
                found.made.push((form.topic, values));
            }
        }
        found.made.sort();
    }
}

/// The sentences of a text: they end at a line break, or at a full stop, a question mark or an exclamation mark before a blank.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let mut rest = line;
        std::iter::from_fn(move || {
            if rest.trim().is_empty() {
                return None;
            }
            let ends =
                rest.char_indices().zip(rest.chars().skip(1)).find(|((_, c), next)| matches!(c, '.' | '?' | '!') && next.is_whitespace());
            let end = ends.map_or(rest.len(), |((at, c), _)| at + c.len_utf8());
            let (sentence, behind) = rest.split_at(end);
            rest = behind;
            Some(sentence)
        })
    })
}

/// The words of a text that tell something: numbers, and words of four letters or more, in small letters and without a plural's s.
fn words(text: &str) -> BTreeSet<String> {
    let parts = |c: char| c.is_whitespace() || matches!(c, '"' | '{' | '}' | '[' | ']' | '<' | '>' | '\\');
    let trimmed = text.split(parts).map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
    let tells = |word: &String| {
        let has_digit = word.chars().any(|c| c.is_ascii_digit());
        has_digit || (word.chars().count() >= 4 && !EMPTY.contains(&word.as_str()))
    };
    let singular = |word: String| match word.strip_suffix('s') {
        Some(one) if one.chars().count() >= 4 && !one.ends_with('s') => one.to_owned(),
        _ => word,
    };
    trimmed.filter(tells).map(singular).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::sample::{made, scenario, topic, turn};

    /// The store was a cache and is the orders database for 36 hours; the plan is made of it; the port is 9187.
    fn world() -> Scenario {
        let store = topic(
            "home of the keys",
            &[
                ("Keys are kept in the cache.", "the cache", "kept in the cache"),
                ("Now a table.", "orders database for 36 hours", "Now a table"),
            ],
        );
        let port = topic("port of the metrics endpoint", &[("It is port 9187.", "port 9187", "It is port 9187")]);
        scenario(vec![store, made("the plan", 0, &[0]), port], vec![], vec![turn("ASK-1", &[0], &[])])
    }

    /// What the words of a text tell: facts, deliverables, topics called unknown, topics of which something else is said.
    fn check(text: &str, facts: &[(usize, usize)], made: &[usize], unknown: &[usize], claimed: &[usize]) {
        let mut found = Found::default();
        Telling::of(&world()).add(text, &mut found);
        assert_eq!(found.facts, facts, "{text}");
        assert_eq!(found.made.iter().map(|(topic, _)| *topic).collect::<Vec<_>>(), made, "{text}");
        assert_eq!(found.unknown, unknown, "{text}");
        assert_eq!(found.claimed.iter().map(|(topic, _)| *topic).collect::<Vec<_>>(), claimed, "{text}");
    }

    #[test]
    fn a_fact_is_told_by_the_words_of_its_value_in_one_sentence() {
        check("The port of the metrics endpoint is 9187.", &[(2, 0)], &[], &[], &[]);
        check("Use 9187", &[(2, 0)], &[], &[], &[]);
        check("They live for 36 hours in the database of orders.", &[(0, 1)], &[1], &[], &[]);
        // Not in one sentence, and not all of it.
        check("Kept in the orders database. That is 36 hours.", &[], &[], &[], &[]);
        check("The home of the keys is the orders database.", &[], &[], &[], &[0]);
        check("We use the cache.", &[(0, 0)], &[1], &[], &[]);
        check("91870", &[], &[], &[], &[]);
        // Inside what a product wraps around it.
        check(r#"{"completed":"The port of the metrics endpoint is 9187"},"timed_out":false}"#, &[(2, 0)], &[], &[], &[]);
        check("<task_result>It is 9187</task_result>", &[(2, 0)], &[], &[], &[]);
    }

    #[test]
    fn what_is_called_unknown_or_is_something_else_is_told_apart() {
        check("The home of the keys is unknown.", &[], &[], &[0], &[]);
        check("I do not know the home of the keys!", &[], &[], &[0], &[]);
        check("The home of the keys is src/edge/keys.rs. No idea more.", &[], &[], &[], &[0]);
        check("What is the home of the keys?", &[], &[], &[], &[]);
        check("Thank you.", &[], &[], &[], &[]);
        check("", &[], &[], &[], &[]);
    }
}
