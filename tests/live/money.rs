//! Spending caps: looked at before every request.

use super::provider::{Provider, Ran};
use super::say::{Says, text};

const PORT: &str = "The metrics endpoint listens on port 9187 of every host, as deploy/metrics.py sets it.";

fn answers(count: usize) -> Provider {
    let says = Says { usage: (400, 0, 100, 0), ..text(PORT) };
    Provider::saying((0..count).map(|_| says.on("chat", false)))
}

#[test]
fn a_run_that_could_pass_its_tokens_stops_before_it_and_keeps_what_it_has() {
    let provider = answers(10);
    // Each cell asks once: 500 tokens as reported. A request may cost its counted input of 342 and 50 out.
    let more = ["--seeds", "5", "--max-tokens", "1200", "--max-output-tokens", "50"];
    let ran = provider.record("chat", &more).exits(14);
    assert_eq!(provider.asked().len(), 2, "500 + 500 are spent, and 392 more would be more than 1,200");
    assert!(ran.err.contains("the spending cap ended the run after 3 of 5 cells; spent so far: 1000 tokens in 2 requests"), "{}", ran.err);
    let cells = ran.json()["cells"].as_array().unwrap().clone();
    let ends: Vec<&str> = cells.iter().map(|cell| cell["failure"]["kind"].as_str().unwrap_or("ok")).collect();
    assert_eq!(ends, ["ok", "ok", "cap"]);
    assert!(cells[2]["failure"]["message"].as_str().unwrap().contains("could pass --max-tokens 1200"));
    // What was paid is in the cassette: with more to spend, the rest is asked for and nothing twice.
    let more = ["--seeds", "5", "--max-tokens", "9000", "--max-output-tokens", "50", "--resume"];
    let ran = provider.record("chat", &more).exits(0);
    assert_eq!(provider.asked().len(), 5);
    assert!(ran.json()["cells"].as_array().unwrap().iter().all(|cell| cell["status"] == "ok"));
}

#[test]
fn a_run_that_could_pass_its_dollars_stops_before_it() {
    let provider = answers(10);
    let url = provider.url();
    let words = ["run", "tiny-task", "-s", "inline", "--model", "live:compatible/gpt-4.1", "--base-url", &url, "--seeds", "9"];
    let more = ["--max-usd", "0.004", "--max-output-tokens", "100", "--format", "json"];
    let ran = Ran::of(provider.command(&words).args(more).output().unwrap()).exits(14);
    // gpt-4.1: 2 $ a million in, 8 out: 0.0016 a request as reported, and at most about 0.0013 more for the next.
    assert_eq!(provider.asked().len(), 2);
    assert!(ran.err.contains("spent so far: 1000 tokens in 2 requests, 0.0032 $"), "{}", ran.err);
}

#[test]
fn attempts_are_paid_for_and_count() {
    let says = Says { usage: (400, 0, 100, 0), ..text(PORT) };
    let busy = || wiremock::ResponseTemplate::new(503).set_body_json(serde_json::json!({"error": {"message": "busy"}}));
    let provider = Provider::saying([busy(), busy(), busy(), says.on("chat", false)]);
    // What reported nothing counts as it was counted here.
    let ran = provider.record("chat", &["--max-tokens", "800", "--max-output-tokens", "50"]).exits(14);
    assert_eq!(provider.asked().len(), 2, "{}", ran.err);
}
