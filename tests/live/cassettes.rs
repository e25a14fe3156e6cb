//! Cassettes: replayed to the byte, strict, continued, looked at.

use serde_json::{Value, json};

use super::provider::{Provider, Ran, lines};
use super::say::{Says, call, text};

const PORT: &str = "The metrics endpoint listens on port 9187 of every host, as deploy/metrics.py sets it.";
const TASK: &str = r#"{"task":"OPS-77: find the port, please."}"#;
const READ: &str = r#"{"path":"deploy/metrics.py"}"#;

fn conversation() -> Vec<Says> {
    let reads = Says { reasoning: Some(("I read.", "sealed")), ..call("call_a", "read_file", READ) };
    vec![call("call_root", "delegate", TASK), reads, text(PORT), text("It is port 9187.")]
}

/// A provider whose conversation was recorded, with what the recording printed.
fn recorded(wire: &str, more: &[&str]) -> (Provider, Ran) {
    let stream = more.contains(&"--stream");
    let provider = Provider::saying(conversation().iter().map(|says| says.on(wire, stream)));
    let ran = provider.record(wire, more).exits(0);
    provider.say([]);
    (provider, ran)
}

fn replay(provider: &Provider, more: &[&str]) -> Ran {
    Ran::of(provider.command(&[&["replay", "tape.jsonl", "--format", "json"], more].concat()).output().unwrap())
}

#[test]
fn a_replay_is_the_recording_but_for_evidence_and_wall() {
    for (wire, stream) in
        [("chat", false), ("chat", true), ("responses", false), ("responses", true), ("messages", false), ("messages", true)]
    {
        let more: &[&str] = if stream { &["--stream"] } else { &[] };
        let (provider, ran) = recorded(wire, more);
        let (first, second) =
            (replay(&provider, &["--run-dir", "a"]).exits(0), replay(&provider, &["--run-dir", "b", "--jobs", "2"]).exits(0));
        assert_eq!(first.out, second.out);
        for file in ["results.jsonl", "ledger.jsonl", "threads/requests.jsonl", "threads/parts.jsonl"] {
            let read = |run: &str| std::fs::read_to_string(provider.path(run).join(file)).unwrap();
            assert_eq!(read("a"), read("b"), "{file}");
            if file != "results.jsonl" {
                assert_eq!(read("run"), read("a"), "{file}");
            }
        }
        let without = |mut document: Value| {
            for cell in document["cells"].as_array_mut().unwrap() {
                let cell = cell.as_object_mut().unwrap();
                cell.remove("evidence");
                cell.remove("wall");
            }
            for row in document["summary"].as_array_mut().unwrap() {
                row.as_object_mut().unwrap().remove("evidence");
            }
            document
        };
        let (live, cassette) = (ran.json(), first.json());
        assert_eq!((&live["cells"][0]["evidence"], &cassette["cells"][0]["evidence"]), (&json!("live"), &json!("cassette")));
        assert!(live["cells"][0]["wall"].is_object() && cassette["cells"][0].get("wall").is_none());
        assert_eq!(without(live), without(cassette));
        assert!(provider.asked().is_empty());
    }
}

#[test]
fn attempts_are_replayed_with_their_times() {
    let busy = wiremock::ResponseTemplate::new(503).set_body_json(json!({"error": {"message": "busy"}}));
    let provider = Provider::saying([busy, text(PORT).on("chat", false)]);
    provider.record("chat", &[]).exits(0);
    replay(&provider, &["--run-dir", "a"]).exits(0);
    let read = |run: &str| std::fs::read_to_string(provider.path(run).join("ledger.jsonl")).unwrap();
    assert_eq!(read("run"), read("a"));
    assert_eq!(lines(&provider.path("a/ledger.jsonl"))[1]["attempt"], 2);
}

#[test]
fn run_takes_a_cassette_as_a_model_and_show_recomputes_its_cells() {
    let (provider, _) = recorded("chat", &[]);
    let words = ["run", "tiny-task", "-s", "full-copy", "--model", "cassette:tape", "--format", "json"];
    let ran = Ran::of(provider.command(&words).output().unwrap()).exits(0);
    assert_eq!(ran.out, replay(&provider, &[]).exits(0).out);
    let shown = Ran::of(provider.command(&["show", "tiny-task/full-copy@1/cassette:tape/0"]).output().unwrap()).exits(0);
    assert!(shown.out.contains("evidence cassette") && shown.out.contains("OPS-77: find the port, please."), "{}", shown.out);
}

/// The tiny task as a file, changed.
fn changed(provider: &Provider, from: &str, to: &str) {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/tiny-task.yaml")).unwrap();
    assert!(text.contains(from));
    std::fs::write(provider.path("tiny-task.yaml"), text.replace(from, to)).unwrap();
}

#[test]
fn one_character_changed_is_a_miss_that_names_the_item() {
    let (provider, _) = recorded("chat", &[]);
    let check = |from: &str, to: &str, says: &[&str]| {
        changed(&provider, from, to);
        let ran = replay(&provider, &["./tiny-task.yaml"]).exits(3);
        for words in says {
            assert!(ran.err.contains(words), "{words}: {}", ran.err);
        }
        assert!(provider.asked().is_empty());
    };
    let first = "tiny-task/full-copy@1/0, thread /, turn 1, request 0: the cassette has no such request";
    check(
        "which port does",
        "which Port does",
        &[first, "parts first at item 0", "recorded: ", "which port does", "now: ", "which Port does"],
    );
    check("You look after", "You look  after", &[first, "parts first at the system text"]);
    check("Reads a file of", "Reads a File of", &[first, "parts first at tool 0"]);
    // What only the child sees is missed there.
    let child = "thread /1, turn 1, request 1: the cassette has no such request. The nearest is that of thread /1, turn 1, request 1";
    check("METRICS_PORT = 9187", "METRICS_PORT  = 9187", &[child, "parts first at item", "METRICS_PORT  = 9187"]);
    // As it was, it plays.
    changed(&provider, "You look after", "You look after");
    replay(&provider, &["./tiny-task.yaml"]).exits(0);
}

#[test]
fn a_cassette_of_one_strategy_does_not_answer_another() {
    let (provider, _) = recorded("chat", &[]);
    let ran = Ran::of(provider.command(&["run", "tiny-task", "-s", "opencode", "--model", "cassette:tape"]).output().unwrap()).exits(3);
    assert!(ran.err.contains("Nothing was recorded for this cell: record it, or leave it out"), "{}", ran.err);
    let ran = replay(&provider, &["-s", "opencode"]).exits(2);
    assert!(ran.err.contains("no cell is left to run"), "{}", ran.err);
}

#[test]
fn what_is_masked_is_not_compared() {
    let (provider, _) = recorded("chat", &["--mask", "which \\w+ does", "--mask", "/seed"]);
    changed(&provider, "which port does", "which door does");
    replay(&provider, &["./tiny-task.yaml"]).exits(0);
    changed(&provider, "which port does", "at which port does");
    replay(&provider, &["./tiny-task.yaml"]).exits(3);
    let ran = provider.record("chat", &["--mask", "("]).exits(2);
    assert!(ran.err.contains("the pattern `(` is no regular expression"), "{}", ran.err);
}

#[test]
fn what_is_redacted_stands_nowhere_and_plays() {
    let (provider, ran) = recorded("chat", &["--redact", "9187|Harbour"]);
    let tape = std::fs::read_to_string(provider.path("tape.jsonl")).unwrap();
    let (_, behind) = tape.split_once('\n').unwrap();
    assert!(!behind.contains("9187") && !behind.contains("Harbour") && behind.contains("<redacted>"));
    assert!(!ran.cell()["metrics"]["quality"].is_null());
    let replayed = replay(&provider, &[]).exits(0);
    assert_eq!(replayed.cell()["metrics"], ran.cell()["metrics"]);
    Ran::of(provider.command(&["cassette", "verify", "tape.jsonl"]).output().unwrap()).exits(0);
}

#[test]
fn recording_goes_on_and_pays_nothing_twice() {
    let (provider, _) = recorded("chat", &[]);
    let again = provider.record("chat", &["--run-dir", "again"]).exits(0);
    assert!(provider.asked().is_empty());
    assert_eq!(again.cell()["wall"]["replayed"], 4);
    // Another seed is asked for, the first is not.
    provider.say(conversation().iter().map(|says| says.on("chat", false)));
    provider.record("chat", &["--run-dir", "more", "--seeds", "2"]).exits(0);
    assert_eq!(provider.asked().len(), 4);
    // All seeds are replayed, or as many as are asked for.
    for (more, cells) in [(&[][..], 2), (&["--seeds", "1"][..], 1)] {
        assert_eq!(replay(&provider, more).exits(0).json()["cells"].as_array().unwrap().len(), cells);
    }
    assert!(replay(&provider, &["--seeds", "3"]).exits(3).err.contains("were not recorded to their end"));
    // With other settings it is another recording.
    for (more, what) in
        [("--temperature=0.5", "temperature"), ("--max-output-tokens=9", "limit of output tokens"), ("--stream", "way of streaming")]
    {
        let ran = provider.record("chat", &[more, "--run-dir", "other"]).exits(2);
        assert!(ran.err.contains(&format!("recorded with another {what}")), "{}", ran.err);
    }
}

#[test]
fn what_failed_in_passing_is_asked_again_and_then_counts() {
    let busy = wiremock::ResponseTemplate::new(503).set_body_json(json!({"error": {"message": "busy"}}));
    let provider = Provider::saying([busy]);
    provider.record("chat", &["--attempts", "1"]).exits(13);
    let ran = replay(&provider, &[]).exits(3);
    assert!(ran.err.contains("no cell was recorded to its end"), "{}", ran.err);
    provider.say([text(PORT).on("chat", false)]);
    provider.record("chat", &["--attempts", "1", "--run-dir", "again"]).exits(0);
    assert_eq!(replay(&provider, &[]).exits(0).cell()["status"], "ok");
    // Pruned, the failure is gone, and the replay is the same.
    let before = replay(&provider, &[]).out;
    let pruned = Ran::of(provider.command(&["cassette", "prune", "tape.jsonl"]).output().unwrap()).exits(0);
    assert!(pruned.out.contains("kept 1 of 1 cells, 1 of 2 requests"), "{}", pruned.out);
    assert_eq!(replay(&provider, &[]).out, before);
    assert_eq!(provider.tape().iter().filter(|line| line["line"] == "send").count(), 1);
}

#[test]
fn cassettes_are_looked_at() {
    let (provider, _) = recorded("chat", &["--seeds", "1"]);
    let stat = Ran::of(provider.command(&["cassette", "stat", "tape.jsonl", "--format", "json"]).output().unwrap()).exits(0);
    let stat = stat.json()["files"][0]["stat"].clone();
    assert_eq!(
        (stat["cells"].as_u64(), stat["requests"].as_u64(), stat["attempts"].as_u64(), stat["failed"].as_u64()),
        (Some(1), Some(4), Some(4), Some(0))
    );
    assert_eq!(stat["reported"], json!({"uncached_input": 400, "cache_read": 80, "cache_write": null, "output": 36, "reasoning": 0}));
    let verify = || Ran::of(provider.command(&["cassette", "verify", "tape.jsonl"]).output().unwrap());
    assert!(verify().exits(0).out.contains("sound, 1 cells"));
    let whole = std::fs::read_to_string(provider.path("tape.jsonl")).unwrap();
    let damaged = |text: String| std::fs::write(provider.path("tape.jsonl"), text).unwrap();
    // A piece that somebody changed.
    damaged(whole.replacen("You look after", "You look around", 1));
    assert!(verify().exits(3).out.contains("was changed"));
    // A line that is gone, a line that is none, another format, nothing.
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let gone = lines.iter().position(|line| line.contains("\"delivery\"")).unwrap();
    damaged(lines.iter().enumerate().filter(|(at, _)| *at != gone).map(|(_, line)| *line).collect());
    assert!(verify().exits(3).err.contains("lines are missing or stand twice"));
    damaged(whole.replacen("{\"line\":\"send\"", "{\"line\":\"sent\"", 1));
    assert!(verify().exits(3).err.contains("tape.jsonl:"));
    damaged(whole.replacen("ctxbench-cassette/1", "ctxbench-cassette/9", 1));
    assert!(verify().exits(3).err.contains("its format is ctxbench-cassette/9"));
    damaged(String::new());
    assert!(verify().exits(3).err.contains("it is empty"));
    // A torn last line was never there.
    damaged(format!("{whole}{{\"line\":\"se"));
    verify().exits(0);
}

#[test]
fn every_line_holds_to_the_schema() {
    let (provider, _) = recorded("messages", &["--stream"]);
    let schema = Ran::of(provider.command(&["schema", "cassette"]).output().unwrap()).exits(0).json();
    let schema = jsonschema::validator_for(&schema).unwrap();
    for line in provider.tape() {
        assert!(schema.is_valid(&line), "{line}");
    }
    assert!(!schema.is_valid(&json!({"line": "send", "order": "first"})));
}

#[test]
fn a_table_says_what_the_model_made_of_what_it_saw() {
    let (provider, _) = recorded("chat", &[]);
    for format in ["human", "markdown"] {
        let ran = Ran::of(provider.command(&["replay", "tape.jsonl", "--format", format]).output().unwrap()).exits(0);
        assert!(ran.out.contains("what the model made of what it could see"), "{}", ran.out);
        assert!(ran.out.lines().all(|line| format == "markdown" || line.chars().count() <= 80), "{}", ran.out);
    }
    let reader = Ran::of(provider.command(&["run", "tiny-task", "-s", "full-copy"]).output().unwrap()).exits(0);
    assert!(!reader.out.contains("what the model made of"));
}
