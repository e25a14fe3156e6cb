//! Every wire, in one piece and streamed: what is sent, and what is made of what comes.

use serde_json::{Value, json};

use super::provider::Provider;
use super::say::{Says, call, text};

const READ: &str = r#"{"path":"deploy/metrics.py"}"#;
const MISSING: &str = r#"{"path":"deploy/none.py"}"#;
const TASK: &str = r#"{"task":"OPS-77: find the port, please."}"#;

/// The parent delegates, the child reads two files at once with a word on it, and both answer.
fn conversation() -> [Says; 4] {
    let reads = Says {
        reasoning: Some(("Two files to read.", "sealed-by-the-provider")),
        text: "I read both.",
        calls: vec![("call_a", "read_file", READ), ("call_b", "read_file", MISSING)],
        ..text("")
    };
    let answer =
        Says { usage: (300, 0, 14, 5), ..text("The metrics endpoint listens on port 9187 of every host, as deploy/metrics.py sets it.") };
    [call("call_root", "delegate", TASK), reads, answer, text("It is port 9187.")]
}

/// Plays the conversation and gives the requests' bodies. What is the same on all wires is checked here.
#[track_caller]
fn played(wire: &str, stream: bool, more: &[&str]) -> Vec<Value> {
    let provider = Provider::saying(conversation().iter().map(|says| says.on(wire, stream)));
    let words: Vec<&str> = more.iter().copied().chain(stream.then_some("--stream")).collect();
    let ran = provider.record(wire, &words).exits(0);
    let cell = ran.cell();
    assert_eq!((cell["status"].as_str(), cell["evidence"].as_str()), (Some("ok"), Some("live")));
    assert_eq!(cell["cell"], "tiny-task/full-copy@1/cassette:tape/0");
    assert_eq!(cell["threads"], json!([{"path": "/", "requests": 2}, {"path": "/1", "requests": 2}]));
    assert_eq!((cell["wall"]["sent"].as_u64(), cell["wall"]["replayed"].as_u64()), (Some(4), Some(0)));
    // The child was given the intent whose marker stands in its task, saw the port, and said it.
    let figure = |name: &str| cell["metrics"][name].as_f64();
    assert_eq!((figure("child.coverage"), figure("used"), figure("invented")), (Some(1.0), Some(1.0), Some(0.0)));
    assert_eq!(figure("quality"), Some(1.0));
    let ledger = provider.ledger();
    let threads: Vec<&str> = ledger.iter().map(|row| row["thread"].as_str().unwrap()).collect();
    assert_eq!(threads, ["/", "/1", "/1", "/"]);
    assert!(ledger.iter().all(|row| row["end"] == "replied" && row["attempt"] == 1 && row.get("stop").is_none()));
    let write = if wire == "messages" { Some(7) } else { None };
    let reported = &ledger[0]["reported"];
    let class = |name: &str| reported[name].as_u64();
    assert_eq!(
        (class("uncached_input"), class("cache_read"), class("cache_write"), class("output")),
        (Some(100), Some(20), write, Some(9))
    );
    let asked = provider.asked();
    let path = match wire {
        "chat" => "/v1/chat/completions",
        "responses" => "/v1/responses",
        _ => "/v1/messages",
    };
    assert!(asked.iter().all(|request| request.url.path() == path && request.method.as_str() == "POST"));
    // The bytes that were sent are those whose pieces were kept: their digests are checked when the cassette is read.
    let pieces: Vec<Value> = provider.tape().into_iter().filter(|line| line["line"] == "piece").map(|line| line["json"].clone()).collect();
    let bodies = provider.bodies();
    let list = if wire == "responses" { "input" } else { "messages" };
    for body in &bodies {
        assert!(body[list].as_array().unwrap().iter().all(|item| pieces.contains(item)), "{wire}: an item was sent and not kept");
        assert!(body["tools"].as_array().is_none_or(|tools| tools.iter().all(|tool| pieces.contains(tool))));
        assert_eq!(body.get("stream"), stream.then_some(&json!(true)));
        assert_eq!(body["model"], "a-model");
    }
    bodies
}

fn names(tools: &Value) -> Vec<&str> {
    tools.as_array().unwrap().iter().map(|tool| tool["function"]["name"].as_str().or(tool["name"].as_str()).unwrap()).collect()
}

#[test]
fn chat_completions() {
    for stream in [false, true] {
        let bodies = played("chat", stream, &[]);
        let root = &bodies[0];
        assert_eq!((root["max_tokens"].as_u64(), root["seed"].as_u64()), (Some(4096), Some(0)));
        assert_eq!(root.get("stream_options"), stream.then_some(&json!({"include_usage": true})));
        assert_eq!(root["messages"][0]["role"], "system");
        assert!(root["messages"][0]["content"].as_str().unwrap().starts_with("You look after the deployment of Harbour"));
        assert_eq!(names(&root["tools"]), ["read_file", "list_files", "delegate"]);
        assert_eq!(root["tools"][2]["type"], "function");
        assert_eq!(root["tools"][2]["function"]["parameters"]["required"], json!(["task"]));
        let child = bodies[2]["messages"].as_array().unwrap();
        let said = child.iter().find(|message| message["tool_calls"].is_array()).unwrap();
        let calls = json!([
            {"id": "call_a", "type": "function", "function": {"name": "read_file", "arguments": READ}},
            {"id": "call_b", "type": "function", "function": {"name": "read_file", "arguments": MISSING}},
        ]);
        assert_eq!(*said, json!({"role": "assistant", "content": "I read both.", "tool_calls": calls}));
        let results = &child[child.len() - 2..];
        assert_eq!((&results[0]["role"], &results[0]["tool_call_id"]), (&json!("tool"), &json!("call_a")));
        assert!(results[0]["content"].as_str().unwrap().contains("METRICS_PORT = 9187"));
        assert_eq!(results[1], json!({"role": "tool", "tool_call_id": "call_b", "content": "Error: there is no file `deploy/none.py`."}));
        let back = bodies[3]["messages"].as_array().unwrap().last().unwrap();
        assert_eq!((&back["role"], &back["tool_call_id"]), (&json!("tool"), &json!("call_root")));
        assert!(back["content"].as_str().unwrap().contains("port 9187 of every host"));
    }
}

#[test]
fn responses() {
    for stream in [false, true] {
        let bodies = played("responses", stream, &["--temperature", "0.5"]);
        let root = &bodies[0];
        assert_eq!(
            (root["max_output_tokens"].as_u64(), root["store"].as_bool(), root["temperature"].as_f64()),
            (Some(4096), Some(false), Some(0.5))
        );
        assert_eq!(root["include"], json!(["reasoning.encrypted_content"]));
        assert!(root["instructions"].as_str().unwrap().starts_with("You look after"));
        assert_eq!(names(&root["tools"]), ["read_file", "list_files", "delegate"]);
        let child = bodies[2]["input"].as_array().unwrap();
        let tail: Vec<&Value> = child.iter().rev().take(6).rev().collect();
        // Reasoning goes back as it came.
        let summary = json!([{"type": "summary_text", "text": "Two files to read."}]);
        assert_eq!(*tail[0], json!({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "sealed-by-the-provider"}));
        assert_eq!((&tail[1]["role"], &tail[1]["content"][0]["text"]), (&json!("assistant"), &json!("I read both.")));
        assert_eq!(*tail[2], json!({"type": "function_call", "call_id": "call_a", "name": "read_file", "arguments": READ}));
        assert_eq!((&tail[4]["type"], &tail[4]["call_id"]), (&json!("function_call_output"), &json!("call_a")));
        assert_eq!(tail[5]["output"], "Error: there is no file `deploy/none.py`.");
    }
}

#[test]
fn a_kept_response_is_gone_on_from() {
    for stream in [false, true] {
        let bodies = played("responses", stream, &["--previous-response"]);
        assert_eq!(bodies[0]["store"], true);
        assert!(bodies[0].get("previous_response_id").is_none() && bodies[0].get("include").is_none());
        // The child's second request holds the results alone, and its instructions and tools again.
        assert_eq!(bodies[2]["previous_response_id"], "resp_1");
        let kinds: Vec<&str> = bodies[2]["input"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["function_call_output", "function_call_output"]);
        assert_eq!(bodies[2]["instructions"], bodies[1]["instructions"]);
    }
}

#[test]
fn phases_go_back_where_a_product_keeps_them() {
    // Codex keeps phases: its parent's commentary is handed to the fork as commentary.
    let says =
        Says { text: "I hand it on.", ..call("call_root", "spawn_agent", r#"{"task_name":"look","message":"OPS-77: find the port."}"#) };
    let provider = Provider::saying([says, text("Nothing yet."), text("Nothing more.")].iter().map(|says| says.on("responses", false)));
    let url = provider.url();
    let words = ["run", "tiny-task", "-s", "codex-v2", "--model", "live:compatible/m", "--wire", "responses", "--base-url", &url];
    provider.command(&words).output().unwrap();
    let bodies = provider.bodies();
    let phases: Vec<&Value> =
        bodies.iter().flat_map(|body| body["input"].as_array().unwrap()).filter_map(|item| item.get("phase")).collect();
    assert!(phases.contains(&&json!("commentary")), "{phases:?}");
}

#[test]
fn messages() {
    for stream in [false, true] {
        let bodies = played("messages", stream, &[]);
        let root = &bodies[0];
        assert_eq!(root["max_tokens"], 4096);
        // Breakpoints: behind the system text and behind the last message.
        assert_eq!(root["system"][0]["cache_control"], json!({"type": "ephemeral"}));
        assert_eq!(root["messages"][0]["content"][0]["cache_control"], json!({"type": "ephemeral"}));
        assert_eq!(names(&root["tools"]), ["read_file", "list_files", "delegate"]);
        assert_eq!(root["tools"][2]["input_schema"]["required"], json!(["task"]));
        let child = bodies[2]["messages"].as_array().unwrap();
        let said = &child[child.len() - 2];
        let blocks = json!([
            {"type": "thinking", "thinking": "Two files to read.", "signature": "sealed-by-the-provider"},
            {"type": "text", "text": "I read both."},
            {"type": "tool_use", "id": "call_a", "name": "read_file", "input": {"path": "deploy/metrics.py"}},
            {"type": "tool_use", "id": "call_b", "name": "read_file", "input": {"path": "deploy/none.py"}},
        ]);
        assert_eq!(*said, json!({"role": "assistant", "content": blocks}));
        let results = &child[child.len() - 1];
        assert_eq!((&results["role"], &results["content"][0]["tool_use_id"]), (&json!("user"), &json!("call_a")));
        assert_eq!(results["content"][1]["is_error"], true);
        assert_eq!(results["content"][1]["cache_control"], json!({"type": "ephemeral"}));
        // Roles take turns, as the wire wants it.
        let roles: Vec<&str> = child.iter().map(|message| message["role"].as_str().unwrap()).collect();
        assert!(roles.windows(2).all(|pair| pair[0] != pair[1]), "{roles:?}");
    }
    let bodies = played("messages", false, &["--field", r#"thinking={"type":"enabled","budget_tokens":2000}"#]);
    assert!(bodies.iter().all(|body| body["thinking"]["budget_tokens"] == 2000));
    let bodies = played("messages", false, &["--no-breakpoints"]);
    assert!(!serde_json::to_string(&bodies).unwrap().contains("cache_control"));
}

#[test]
fn sealed_reasoning_goes_back_as_it_came() {
    let sealed = Says { reasoning: Some(("", "nobody-reads-this")), ..call("call_a", "read_file", READ) };
    for (wire, key) in [("messages", "data"), ("responses", "encrypted_content")] {
        let provider = Provider::saying([sealed.clone(), text("Port 9187.")].iter().map(|says| says.on(wire, false)));
        let url = provider.url();
        let words = ["run", "tiny-task", "-s", "inline", "--model", "live:compatible/m", "--wire", wire, "--base-url", &url];
        assert!(provider.command(&words).output().unwrap().status.success());
        let body = provider.bodies()[1].to_string();
        assert!(body.contains(&format!(r#""{key}":"nobody-reads-this""#)), "{body}");
    }
}

#[test]
fn plain_renderings_send_no_tools() {
    for (rendering, last) in [
        ("text", None),
        ("flat", Some("Say \"unknown\" if it is not there.")),
        ("probe", Some("What is the port of the metrics endpoint? Answer in one short sentence.")),
    ] {
        for wire in ["chat", "responses", "messages"] {
            let provider = Provider::saying([text("It is port 9187."), text("It is port 9187.")].iter().map(|says| says.on(wire, false)));
            let ran = provider.record(wire, &["--rendering", rendering, "--calls", "reader"]).exits(0);
            let cell = ran.cell();
            // The reader makes the calls and the model both answers.
            assert_eq!(cell["threads"], json!([{"path": "/", "requests": 2}, {"path": "/1", "requests": 2}]));
            assert_eq!((cell["metrics"]["used"].as_u64(), cell["wall"]["sent"].as_u64()), (Some(1), Some(2)));
            for body in provider.bodies() {
                assert!(body.get("tools").is_none());
                let said = body.to_string();
                assert!(last.is_none_or(|last| body.to_string().contains(&last.replace('"', "\\\""))), "{rendering}: {said}");
            }
        }
    }
}
