//! Judges: models that score final answers.
//!
//! A judge is told what was asked, what a right answer states and what would be outdated, and the answer: nothing of strategies,
//! and of one run at a time, so that no order can sway it. What it says stands in the cassette, in a lane of its own.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::cassette::{Attempt, Cassette, Lane};
use super::provided::{Line, Sending, Unsent};
use super::wire::{Asking, Memory};
use super::{Request, Usage};
use crate::scenario::Scenario;
use crate::strategy::ThreadId;
use crate::transcript::{Item, Origin, Part};

/// A model that scores answers.
#[derive(Clone)]
pub struct Judge {
    /// Its name in results and cassettes.
    pub name: String,
    /// With what it is asked.
    pub asking: Asking,
    /// What was recorded, and where to record.
    pub cassette: Option<Arc<Cassette>>,
    /// Whom to ask; `None`: nobody.
    pub line: Option<Arc<dyn Line>>,
}

/// What a judge said of one answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// From 0 to 1, or why there is no score.
    pub score: Result<f64, String>,
    /// Its reason, if it gave one.
    pub reason: String,
    /// Tokens of what it was asked, as reported; `None`: unknown.
    pub reported: Option<Usage>,
}

/// What judges are told first.
const INSTRUCTIONS: &str = "You grade one answer of an assistant. You are told what was asked, what a right answer states, and what \
would be outdated. Only the content counts, not wording, length or form. Reply with JSON alone: {\"score\": S, \"reason\": \"...\"}. \
S is a number from 0 to 1: the share of what a right answer states that this answer states; 0 where it states something outdated or \
invented in its place.";

/// What a judge is told of a scenario and an answer.
pub fn rubric(scenario: &Scenario, answer: &str) -> String {
    let last = scenario.turns.iter().enumerate().rev().find(|(_, turn)| !turn.work.marker.is_empty());
    let question = last.map_or(String::new(), |(at, _)| scenario.turn_text(at));
    // A deliverable is right where what it is made of is.
    let needs = last.map_or_else(BTreeSet::new, |(_, turn)| scenario.sources_of(&scenario.needs_of_turn(turn)));
    let facts = || needs.iter().map(|&topic| &scenario.topics[topic].facts);
    let right: Vec<&str> = facts().filter_map(|facts| facts.last()).map(|fact| fact.statement.as_str()).collect();
    let outdated: Vec<&str> = facts().flat_map(|facts| facts.iter().rev().skip(1)).map(|fact| fact.statement.as_str()).collect();
    let list = |lines: &[&str]| {
        if lines.is_empty() { "- nothing".to_owned() } else { lines.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n") }
    };
    format!(
        "What was asked:\n{}\n\nA right answer states:\n{}\n\nOutdated would be:\n{}\n\nThe answer:\n{}",
        question.trim(),
        list(&right),
        list(&outdated),
        answer.trim()
    )
}

impl Judge {
    /// Scores an answer. `cell` is the cell's name in a cassette, `tokens` what the question counts.
    pub async fn judge(&self, cell: &str, question: &str, seed: u64, tokens: u64) -> Judgement {
        let none = |why: String| Judgement { score: Err(why), reason: String::new(), reported: None };
        let (system, items) = (Part::text(INSTRUCTIONS), [Item::user(Origin::User, question)]);
        let request = Request {
            thread: ThreadId::ROOT,
            path: "judge",
            turn: 1,
            exchange: 0,
            agent: "judge",
            intent: None,
            system: Some(&system),
            tools: &[],
            items: &items,
            tokens,
            aside: false,
            now_ms: 0,
            speak: &|_| None,
        };
        let body = match self.asking.body(&request, seed, &Memory::default(), None) {
            Ok(body) => body,
            Err(why) => return none(why),
        };
        let at = Lane { cell: cell.to_owned(), lane: format!("judge {}", self.name), turn: 1, exchange: 0 };
        if let Some(cassette) = &self.cassette {
            let (pieces, digest) = cassette.pieces(&body);
            let is_reply = |delivery: &super::wire::Delivery| self.asking.read(delivery).is_ok();
            if let Some(attempts) = cassette.answer(&at, &digest, &mut vec![], is_reply) {
                return self.conclude(&attempts);
            }
            if self.line.is_none() {
                return none(format!("cassette {}: {}", cassette.name(), cassette.miss(&at, &pieces, &body, &[]).in_a_line()));
            }
        }
        let Some(line) = &self.line else { return none("there is nobody to ask and no cassette".to_owned()) };
        match line.send(Sending { at, asking: self.asking.clone(), body, tokens }).await {
            Ok(attempts) => self.conclude(&attempts),
            Err(Unsent::Cap(why) | Unsent::Failed(why)) => none(why),
            Err(Unsent::Interrupted) => none("the run was stopped".to_owned()),
        }
    }

    fn conclude(&self, attempts: &[Attempt]) -> Judgement {
        let read = attempts.last().map(|last| self.asking.read(&last.delivery));
        match read {
            Some(Ok(answer)) => {
                let (score, reason) = verdict(&answer.text);
                Judgement { score, reason, reported: answer.usage }
            }
            Some(Err(why)) => Judgement { score: Err(why.to_string()), reason: String::new(), reported: None },
            None => Judgement { score: Err("nothing came back".to_owned()), reason: String::new(), reported: None },
        }
    }
}

/// The score in a judge's reply: the first JSON object in it that has one.
fn verdict(text: &str) -> (Result<f64, String>, String) {
    for (at, _) in text.match_indices('{') {
        let mut objects = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        let Some(Ok(object)) = objects.next() else { continue };
        let Some(score) = object.get("score").and_then(Value::as_f64) else { continue };
        let reason = object.get("reason").and_then(Value::as_str).unwrap_or_default().to_owned();
        let within = (0.0..=1.0).contains(&score);
        return (if within { Ok(score) } else { Err(format!("the judge gave {score}, which is not from 0 to 1")) }, reason);
    }
    (Err("the judge's reply holds no score".to_owned()), String::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::sample::{made, scenario, topic, turn};

    #[test]
    fn a_score_is_found_in_what_judges_write() {
        let check = |text: &str, expect: Result<f64, &str>| {
            let (score, _) = verdict(text);
            match (score, expect) {
                (Ok(score), Ok(expect)) => assert_eq!(score, expect, "{text}"),
                (Err(why), Err(expect)) => assert!(why.contains(expect), "{text}: {why}"),
                (score, expect) => panic!("{text}: {score:?}, not {expect:?}"),
            }
        };
        check(r#"{"score": 0.5, "reason": "half of it"}"#, Ok(0.5));
        check("Sure:\n```json\n{\"score\": 1}\n```", Ok(1.0));
        check(r#"{"thoughts": {}} {"score": 0}"#, Ok(0.0));
        check(r#"{"score": 70}"#, Err("not from 0 to 1"));
        check(r#"{"score": "high"}"#, Err("no score"));
        check("I would say 0.8.", Err("no score"));
        check("{{{", Err("no score"));
        assert_eq!(verdict(r#"{"score": 0.5, "reason": "half of it"}"#).1, "half of it");
    }

    #[test]
    fn a_rubric_says_what_is_right_and_what_is_outdated_and_nothing_of_strategies() {
        let port = topic("the port", &[("The port was 8080.", "8080", "was 8080"), ("The port is 9090.", "9090", "is 9090")]);
        let world = scenario(vec![port, made("the plan", 0, &[0])], vec![], vec![turn("ASK-1", &[1], &[])]);
        let text = rubric(&world, "  It is 9090. ");
        assert!(text.contains("A right answer states:\n- The port is 9090.\n"), "{text}");
        assert!(text.contains("Outdated would be:\n- The port was 8080.\n"), "{text}");
        assert!(text.ends_with("The answer:\nIt is 9090."), "{text}");
        assert!(text.contains("ASK-1"), "{text}");
    }
}
