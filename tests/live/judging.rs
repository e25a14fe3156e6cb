//! Judges: the same wires and cassettes, their tokens apart, nothing of strategies before their eyes.

use super::provider::{Provider, Ran};
use super::say::{Says, text};

const PORT: &str = "The metrics endpoint listens on port 9187 of every host, as deploy/metrics.py sets it.";

fn says(verdict: &'static str) -> Says {
    Says { usage: (50, 0, 6, 0), ..text(verdict) }
}

#[test]
fn judges_score_apart_and_agree_or_not() {
    let verdicts = [r#"{"score": 1, "reason": "it states the port"}"#, r#"I think {"score": 0.25}"#, "no idea", r#"{"score": 7}"#];
    // Each cell asks its model once and then both judges.
    let cell = |at: usize| [text(PORT), says(verdicts[at]), says(verdicts[at + 1])];
    let provider = Provider::saying([cell(0), cell(2)].concat().iter().map(|says| says.on("chat", false)));
    let judges = ["--judge", "live:compatible/judge-a", "--judge", "live:compatible/judge-b"];
    let ran = provider.record("chat", &[&judges[..], &["--seeds", "2"]].concat()).exits(0);
    let judged = ran.cell()["judged"].clone();
    assert_eq!(
        (&judged[0]["judge"], judged[0]["score"].as_f64(), &judged[0]["reason"]),
        (&"compatible/judge-a".into(), Some(1.0), &"it states the port".into())
    );
    assert_eq!((judged[1]["score"].as_f64(), judged[1]["reported"]["output"].as_u64()), (Some(0.25), Some(6)));
    let second = ran.json()["cells"][1]["judged"].clone();
    assert!(second[0]["score"].is_null() && second[0]["reason"] == "the judge's reply holds no score");
    assert!(second[1]["score"].is_null() && second[1]["reason"].as_str().unwrap().contains("not from 0 to 1"));
    for words in [
        "the checks and compatible/judge-a on 1 answers: same verdict 100 %",
        "the checks and compatible/judge-b on 1 answers: same verdict 0 %",
        "judge-a and compatible/judge-b on 1 answers",
    ] {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    // Their tokens are in no figure of the run.
    assert_eq!(ran.cell()["metrics"]["requests"], 1);
    assert_eq!(provider.ledger().len(), 2);
    // What they were told: question, key and answer, and no strategy, tool or other answer.
    for body in provider.bodies().iter().filter(|body| body["model"].as_str().unwrap().starts_with("judge")) {
        let said = body["messages"][1]["content"].as_str().unwrap();
        assert!(said.contains("On which port does the metrics endpoint listen?") && said.contains(PORT), "{said}");
        assert!(!body.to_string().contains("full-copy") && !body.to_string().contains("delegate") && body.get("tools").is_none());
        assert_eq!(body["messages"].as_array().unwrap().len(), 2);
    }
    // From the cassette the same is said, and nobody is asked.
    provider.say([]);
    let replayed = Ran::of(provider.command(&["replay", "tape.jsonl", "--format", "json"]).output().unwrap()).exits(0);
    assert_eq!(replayed.cell()["judged"], judged);
    assert_eq!(replayed.cell()["fingerprint"], ran.cell()["fingerprint"]);
    assert!(replayed.err.contains("same verdict 100 %") && provider.asked().is_empty());
    Ran::of(provider.command(&["cassette", "verify", "tape.jsonl"]).output().unwrap()).exits(0);
    // A judge that is no model at a provider is refused.
    let ran = provider.record("chat", &["--judge", "reader", "--run-dir", "x"]).exits(2);
    assert!(ran.err.contains("a judge is a model at a provider"), "{}", ran.err);
}

#[test]
fn judges_ask_on_any_wire() {
    for wire in ["responses", "messages"] {
        let provider = Provider::saying([text(PORT), says(r#"{"score": 0.5}"#)].iter().map(|says| says.on(wire, true)));
        let ran = provider.record(wire, &["--stream", "--judge", "live:compatible/judge"]).exits(0);
        assert_eq!(ran.cell()["judged"][0]["score"].as_f64(), Some(0.5));
    }
}
