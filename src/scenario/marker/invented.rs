//! Values that nobody gave.

use memchr::memmem::Finder;

use crate::scenario::{Scenario, Topic, TopicIndex};

use super::text::places;
use super::{fold, readings};

/// The topics of which a text states a value that is none of their facts', ascending, each once: a line `LABEL: VALUE` in
/// which no marker and no value of the topic's facts stands behind the colon. A deliverable with a `guess` in it says that it is none. A line
/// that gives no value (`LABEL:`, `LABEL: unknown`, `unknown: LABEL`) invents none.
///
/// The text is read as it stands and with escapes undone. What stands before the label on its line may be a bullet, a quote
/// or a tag, and no word.
pub fn invented(text: &str, scenario: &Scenario) -> Vec<TopicIndex> {
    let readings = readings(text);
    let folded: Vec<_> = readings.iter().map(|reading| fold(reading)).collect();
    let mut found: Vec<TopicIndex> = Vec::new();
    for (at, topic) in scenario.topics.iter().enumerate().filter(|(_, topic)| !topic.facts.is_empty()) {
        let label = fold(topic.label.trim());
        // Most texts name no label, and most that do have no colon behind it.
        let may_claim =
            |reading: &str| reading.match_indices(&*label).any(|(at, _)| reading[at + label.len()..].trim_start().starts_with(':'));
        if label.is_empty() || !folded.iter().any(|reading| may_claim(reading)) {
            continue;
        }
        // Escapes that stand, or that were undone once too often, hide a value: each reading that has such a line must agree.
        let verdicts = readings.iter().filter_map(|reading| {
            let mut values = reading.lines().filter_map(|line| Some(is_none_of(topic, value_of(&label, &fold(line))?))).peekable();
            values.peek()?;
            Some(values.any(|invents| invents))
        });
        if verdicts.reduce(|all, one| all && one).unwrap_or(false) {
            found.push(at);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// What stands behind `LABEL:` on a folded line, up to its end; `None`: it is no such line, or says no value.
fn value_of(label: &str, line: &str) -> Option<String> {
    let at = places(&Finder::new(label), label.len(), line).find(|&at| {
        let before = line[..at].trim_end();
        line[at + label.len()..].trim_start().starts_with(':') && !before.ends_with(|c: char| c.is_alphanumeric() || c == ':')
    })?;
    let value = line[at + label.len()..].trim_start().trim_start_matches(':').trim();
    let word = value.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
    (value.chars().any(char::is_alphanumeric) && !["unknown", "none"].contains(&word.as_str())).then(|| value.to_owned())
}

fn is_none_of(topic: &Topic, value: String) -> bool {
    let holds = |text: &str| {
        let text = fold(text.trim());
        places(&Finder::new(text.as_bytes()), text.len(), &value).next().is_some()
    };
    !topic.facts.iter().any(|fact| holds(&fact.value) || fact.markers.iter().any(|marker| holds(marker)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::sample::{intent, made, scenario, topic, turn};

    fn world() -> Scenario {
        let port = topic("port", &[("The port is 8080 here.", "8080", "port is 8080"), ("The port is 9090 now.", "9090", "port is 9090")]);
        let store = topic("name of the store", &[("The caf\u{e9} is in sqlite.", "caf\u{e9}", "in sqlite")]);
        let plan = made("plan of ports", 0, &[0, 1]);
        scenario(vec![port, store, plan], vec![intent("first", "OPS-1", &[0], vec![])], vec![turn("ASK-1", &[0], &[0])])
    }

    #[test]
    fn values_that_nobody_gave() {
        #[track_caller]
        fn check(text: &str, expect: &[TopicIndex]) {
            assert_eq!(invented(text, &world()), expect, "{text}");
        }
        check("port: 7070", &[0]);
        check("port: 9090", &[]);
        check("port: 8080, as it was", &[]); // superseded, and not invented
        check("port: 90901", &[0]); // no word ends there
        check("the port is 7070", &[]); // no such line
        check("report: 7070", &[]); // another word
        check("port of the service: 7070", &[]); // another label
        check("unknown: port", &[]);
        check("unknown: port: 7070", &[]);
        check("port: unknown", &[]);
        check("port: ", &[]);
        check("port:\n7070", &[]); // its line ends at the colon
        check("- port: 7070\n\u{2022} name  of the\tstore : somewhere", &[0, 1]);
        check("The port: 7070", &[]); // a sentence
        check("<result>port: 7070</result>", &[0]);
        check(r#"{"done":"port: 7070\nname of the store: in sqlite"}"#, &[0]);
        check(r#"{"done":"name of the store: caf\u00e9"}"#, &[]); // a value behind an escape
        check("name of the store: the cafe\u{301}", &[]); // composed or not: the same text
        check("port: 7070\nport: 9090", &[0]);
        check("DONE plan of ports: 9090, caf\u{e9}", &[]);
        check("DONE plan of ports: guess, caf\u{e9}", &[]);
        check(r"said: DONE plan of ports: 9090, guess\nand a guess", &[]);
        check("DONE plan of ports: 9090, caf\u{e9}. Its colour is a guess", &[]);
        check("", &[]);
    }
}
