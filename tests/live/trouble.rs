//! Everything that can go wrong between here and a provider, a test each.

use std::time::Duration;

use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use super::provider::{Provider, Ran};
use super::say::{Says, call, events, text, whole};

const TASK: &str = r#"{"task":"OPS-77: find the port, please."}"#;
const PORT: &str = "The metrics endpoint listens on port 9187 of every host, as deploy/metrics.py sets it.";

fn error(status: u16, body: Value) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(body)
}

fn busy(status: u16) -> ResponseTemplate {
    error(status, json!({"error": {"message": "come again", "type": "overloaded_error"}}))
}

/// The root answers at once.
fn answered(wire: &str) -> ResponseTemplate {
    text(PORT).on(wire, false)
}

/// Thread, attempt, end and stop of every row.
fn rows(provider: &Provider) -> Vec<(String, u64, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let row = |row: &Value| (text(&row["thread"]), row["attempt"].as_u64().unwrap(), text(&row["end"]), text(&row["stop"]));
    provider.ledger().iter().map(row).collect()
}

#[track_caller]
fn check(provider: &Provider, expect: &[(&str, u64, &str, &str)]) {
    let rows = rows(provider);
    let rows: Vec<(&str, u64, &str, &str)> =
        rows.iter().map(|(thread, attempt, end, stop)| (&**thread, *attempt, &**end, &**stop)).collect();
    assert_eq!(rows, expect);
}

#[track_caller]
fn fails(ran: &Ran, kind: &str, words: &str) {
    let cell = ran.cell();
    assert_eq!((cell["status"].as_str(), cell["failure"]["kind"].as_str()), (Some("failed"), Some(kind)), "{cell}");
    let said = cell["failure"]["message"].as_str().unwrap();
    assert!(said.contains(words), "{said}");
}

#[test]
fn what_is_busy_is_asked_again_and_each_attempt_is_a_row() {
    for wire in ["chat", "responses", "messages"] {
        for status in [408, 429, 500, 502, 503, 529] {
            let provider = Provider::saying([busy(status), busy(status), answered(wire)]);
            let ran = provider.record(wire, &[]).exits(0);
            check(&provider, &[("/", 1, "failed", ""), ("/", 2, "failed", ""), ("/", 3, "replied", "")]);
            // Each is paid for: three times the same input.
            let ledger = provider.ledger();
            let inputs: Vec<u64> = ledger.iter().map(|row| row["input_total"].as_u64().unwrap()).collect();
            assert!(inputs.iter().all(|input| *input == inputs[0]));
            assert_eq!(ran.cell()["metrics"]["parent.input_total"].as_u64(), Some(3 * inputs[0]));
            // They stand one behind the other in time.
            let sent = |at: usize| ledger[at]["sent_ms"].as_u64().unwrap();
            assert!(sent(0) < sent(1) && sent(1) < sent(2) && ledger[0]["done_ms"].as_u64().unwrap() <= sent(1));
            // The same bytes each time.
            let asked = provider.asked();
            assert!(asked.iter().all(|request| request.body == asked[0].body));
        }
    }
}

#[test]
fn a_provider_that_stays_busy_fails_the_turn() {
    let provider = Provider::saying((0..3).map(|_| busy(503)));
    let ran = provider.record("chat", &["--attempts", "3"]).exits(13);
    fails(&ran, "model", "the provider answered 503: come again (3 attempts)");
    assert_eq!(provider.asked().len(), 3);
}

#[test]
fn a_child_that_fails_fails_as_its_system_says() {
    let provider = Provider::saying([call("c", "delegate", TASK).on("chat", false), busy(503), text("It failed.").on("chat", false)]);
    let ran = provider.record("chat", &["--attempts", "1"]).exits(0);
    assert_eq!(ran.cell()["status"], "ok");
    check(&provider, &[("/", 1, "replied", ""), ("/1", 1, "failed", ""), ("/", 1, "replied", "")]);
}

#[test]
fn a_provider_says_how_long_to_wait() {
    // A second is granted as it is asked for; here it is a few milliseconds of one.
    for (name, value, least) in [("retry-after-ms", "30", 30), ("retry-after", "0.03", 30), ("retry-after", "0", 0)] {
        let provider = Provider::saying([busy(429).insert_header(name, value), answered("chat")]);
        provider.record("chat", &[]).exits(0);
        let waited = provider.tape().iter().filter_map(|line| line["waited_ms"].as_u64()).max().unwrap();
        assert_eq!(waited, least, "{name}");
    }
    // Nobody waits for an hour.
    let provider = Provider::saying([busy(429).insert_header("retry-after", "3600"), answered("chat")]);
    fails(&provider.record("chat", &[]).exits(13), "model", "429");
}

#[test]
fn what_another_attempt_cannot_mend_is_not_tried_again() {
    for (status, code) in [(400, "invalid_request_error"), (401, "invalid_api_key"), (404, "model_not_found"), (429, "insufficient_quota")]
    {
        let provider = Provider::saying([error(status, json!({"error": {"message": "no", "code": code}})), answered("chat")]);
        fails(&provider.record("chat", &[]).exits(13), "model", &format!("the provider answered {status}: no"));
        assert_eq!(provider.asked().len(), 1);
    }
}

#[test]
fn a_silent_provider_is_given_up() {
    let slow = || answered("chat").set_delay(Duration::from_millis(400));
    // A loaded machine may let a quick reply wait as well: then it is asked once more.
    let provider = Provider::saying([slow(), answered("chat"), answered("chat"), answered("chat"), answered("chat")]);
    provider.record("chat", &["--patience", "0.04"]).exits(0);
    let ends: Vec<String> = rows(&provider).into_iter().map(|(_, _, end, _)| end).collect();
    assert!(ends.len() >= 2 && ends[0] == "failed" && ends.last().is_some_and(|end| end == "replied"), "{ends:?}");
    let provider = Provider::saying([slow(), slow()]);
    let ran = provider.record("chat", &["--patience", "0.04", "--attempts", "2"]).exits(13);
    fails(&ran, "model", "nothing was received for 40 ms (2 attempts)");
}

#[test]
fn nobody_there() {
    let provider = Provider::saying([]);
    let words = ["run", "tiny-task", "-s", "inline", "--model", "live:compatible/m", "--base-url", "http://127.0.0.1:1/v1"];
    let ran = Ran::of(provider.command(&words).args(["--attempts", "2", "--first-wait", "0.001", "--format", "json"]).output().unwrap());
    fails(&ran.exits(13), "model", "no connection");
}

#[test]
fn a_stream_that_breaks_off_is_tried_again_and_kept_if_nothing_better_comes() {
    for wire in ["chat", "responses", "messages"] {
        let cut = Says { ends: "cut", ..text("The port is 9187 and") }.on(wire, true);
        let provider = Provider::saying([cut.clone(), text(PORT).on(wire, true)]);
        provider.record(wire, &["--stream"]).exits(0);
        check(&provider, &[("/", 1, "failed", ""), ("/", 2, "replied", "")]);
        let provider = Provider::saying([cut.clone(), cut]);
        let ran = provider.record(wire, &["--stream", "--attempts", "2"]).exits(0);
        check(&provider, &[("/", 1, "failed", ""), ("/", 2, "replied", "partial")]);
        assert_eq!(ran.cell()["metrics"]["used"], 0, "the child was not asked, so its port is luck");
        assert!(provider.tape().iter().any(|line| line.to_string().contains("9187")), "what came is kept");
    }
}

#[test]
fn a_stream_that_says_nothing_is_broken() {
    for wire in ["chat", "responses", "messages"] {
        let provider = Provider::saying([events(&[]), text(PORT).on(wire, true)]);
        provider.record(wire, &["--stream"]).exits(0);
        check(&provider, &[("/", 1, "failed", ""), ("/", 2, "replied", "")]);
    }
}

#[test]
fn an_error_inside_a_stream() {
    let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "too much"}});
    let provider = Provider::saying([events(&[("error", overloaded)]), text(PORT).on("messages", true)]);
    provider.record("messages", &["--stream"]).exits(0);
    check(&provider, &[("/", 1, "failed", ""), ("/", 2, "replied", "")]);
    let failed = json!({"type": "response.failed", "response": {"error": {"code": "server_error", "message": "sorry"}}});
    let provider = Provider::saying([events(&[("response.failed", failed)])]);
    let ran = provider.record("responses", &["--stream", "--attempts", "1"]).exits(13);
    fails(&ran, "model", "the stream ended with an error: sorry");
    let chat = json!({"error": {"message": "no more", "type": "server_error"}});
    let provider = Provider::saying([events(&[("", chat)]), text(PORT).on("chat", true)]);
    provider.record("chat", &["--stream"]).exits(0);
}

#[test]
fn replies_that_are_none() {
    for wire in ["chat", "responses", "messages"] {
        for reply in [
            ResponseTemplate::new(200).set_body_raw("<html>hello</html>", "text/html"),
            ResponseTemplate::new(200).set_body_raw(r#"{"choices": [{"mess"#, "application/json"),
            whole(json!({})),
            whole(json!({"choices": [], "output": 3, "content": "x"})),
            whole(json!([1, 2])),
        ] {
            let provider = Provider::saying([reply, answered(wire)]);
            provider.record(wire, &[]).exits(0);
            check(&provider, &[("/", 1, "failed", ""), ("/", 2, "replied", "")]);
        }
    }
}

#[test]
fn limits_refusals_and_filters_are_marked() {
    let check_one = |wire: &str, ends: &'static str, stop: &str| {
        for stream in [false, true] {
            let provider = Provider::saying([Says { ends, ..text("I rather not") }.on(wire, stream)]);
            let words: &[&str] = if stream { &["--stream"] } else { &[] };
            provider.record(wire, words).exits(0);
            check(&provider, &[("/", 1, "replied", stop)]);
        }
    };
    check_one("chat", "length", "length");
    check_one("chat", "content_filter", "filter");
    check_one("chat", "refusal", "refusal");
    check_one("responses", "length", "length");
    check_one("responses", "content_filter", "filter");
    check_one("responses", "refusal", "refusal");
    check_one("messages", "length", "length");
    check_one("messages", "refusal", "refusal");
}

#[test]
fn a_filter_that_leaves_nothing_fails_the_turn() {
    for (wire, reply) in [
        ("chat", Says { ends: "content_filter", ..text("") }.on("chat", false)),
        ("responses", Says { ends: "content_filter", ..text("") }.on("responses", false)),
    ] {
        let provider = Provider::saying([reply]);
        fails(&provider.record(wire, &[]).exits(13), "model", "a content filter left nothing of the reply");
    }
    let provider = Provider::saying([error(400, json!({"error": {"code": "content_filter", "message": "not this"}}))]);
    fails(&provider.record("chat", &[]).exits(13), "model", "not this");
}

#[test]
fn a_request_over_the_window_is_an_overflow() {
    for (wire, body) in [
        ("chat", json!({"error": {"code": "context_length_exceeded", "message": "maximum context length is 128"}})),
        ("responses", json!({"error": {"code": "context_length_exceeded", "message": "too long"}})),
        (
            "messages",
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"}}),
        ),
    ] {
        let provider = Provider::saying([error(400, body)]);
        fails(&provider.record(wire, &[]).exits(13), "overflow", "the provider answered 400");
        assert_eq!(provider.asked().len(), 1);
    }
}

#[test]
fn calls_of_broken_json_go_back_to_the_model_and_are_counted() {
    for wire in ["chat", "responses", "messages"] {
        let broken = call("call_a", "read_file", r#"{"path": "deploy/met"#);
        let provider = Provider::saying([broken, text(PORT)].iter().map(|says| says.on(wire, true)));
        let url = provider.url();
        let words = ["run", "tiny-task", "-s", "inline", "--model", "live:compatible/m", "--wire", wire, "--base-url", &url, "--stream"];
        let output = provider.command(&words).args(["--run-dir", "run", "--format", "json"]).output().unwrap();
        Ran::of(output).exits(0);
        assert_eq!(provider.ledger()[0]["broken_calls"], 1);
        assert!(provider.ledger()[1].get("broken_calls").is_none());
        let back = provider.bodies()[1].to_string();
        assert!(back.contains("Error: the arguments are no JSON") && back.contains("deploy/met"), "{wire}: {back}");
    }
    // One that delegates, too: the strategy answers as its system does, and nothing breaks.
    let provider = Provider::saying([call("c", "delegate", r#"{"task": "#), text(PORT)].iter().map(|says| says.on("chat", false)));
    let ran = provider.record("chat", &[]).exits(0);
    assert_eq!((provider.ledger()[0]["broken_calls"].as_u64(), ran.cell()["metrics"]["refusals"].as_u64()), (Some(1), Some(1)));
}

#[test]
fn requests_of_one_moment_are_on_their_way_together_within_the_limit() {
    // Two children of one message: both are asked before either has answered.
    let both = Says { calls: vec![("a", "delegate", TASK), ("b", "delegate", TASK)], ..text("") };
    let slow = |says: Says| says.on("chat", false).set_delay(Duration::from_millis(50));
    for (at_once, together) in [("2", true), ("1", false)] {
        let provider = Provider::saying([both.on("chat", false), slow(text(PORT)), slow(text(PORT)), text(PORT).on("chat", false)]);
        provider.record("chat", &["--at-once", at_once]).exits(0);
        let tape = provider.tape();
        let kinds: Vec<&str> = tape.iter().filter_map(|line| line["line"].as_str()).filter(|kind| *kind != "piece").collect();
        let expect = match together {
            true => ["send", "delivery", "send", "send", "delivery", "delivery", "send", "delivery", "done"],
            false => ["send", "delivery", "send", "delivery", "send", "delivery", "send", "delivery", "done"],
        };
        assert_eq!(kinds, expect);
    }
}

#[test]
fn a_limit_a_minute_spaces_requests() {
    // 3,000 a minute is one in 20 ms.
    let provider = Provider::saying([call("c", "delegate", TASK), text(PORT), text(PORT)].iter().map(|says| says.on("chat", false)));
    let begun = std::time::Instant::now();
    provider.record("chat", &["--a-minute", "3000"]).exits(0);
    assert!(begun.elapsed() >= Duration::from_millis(40), "three requests take two gaps");
}
