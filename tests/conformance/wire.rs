//! What real clients sent: recorded runs of our own and, where they are at hand, of the reference. Every run agrees, with
//! its own texts and with others; whatever is changed in one is noticed and named; a run that the product emits is read
//! again and agrees.

use ctxbench::conformance::{Refused, Why, emit, verify};
use serde_json::{Value, json};

use super::files::{wire_fixtures, wire_reference};

/// The differences of a run, or why it cannot be played.
fn differences(name: &str, text: &str) -> Vec<String> {
    let verdicts = verify(text).unwrap_or_else(|why| panic!("{name}: {why}"));
    assert_eq!(verdicts.passed + verdicts.failed.len(), 1, "{name}: a file is one case");
    verdicts
        .failed
        .iter()
        .flat_map(|failed| match &failed.why {
            Why::Unplayable(fault) => vec![format!("it cannot be played: {fault}")],
            Why::Differs(differences) => differences.iter().map(ToString::to_string).collect(),
        })
        .collect()
}

#[track_caller]
fn agrees(name: &str, text: &str) {
    let differences = differences(name, text);
    assert!(differences.is_empty(), "{name}\n{}", differences.join("\n"));
}

fn own(name: &str) -> Value {
    let (_, text) = wire_fixtures().into_iter().find(|(file, _)| *file == format!("{name}.json")).expect("the fixture is there");
    serde_json::from_str(&text).expect("it is JSON")
}

#[test]
fn our_own_runs_agree() {
    let files = wire_fixtures();
    assert!(files.len() >= 6);
    for (name, text) in files {
        agrees(&name, &text);
    }
}

#[test]
fn the_reference_runs_agree() {
    for (name, text) in wire_reference("the_reference_runs_agree") {
        agrees(&name, &text);
    }
}

/// What the product sent, read as a recording: it does the same again.
#[test]
fn what_is_emitted_agrees() {
    for (name, text) in wire_fixtures().into_iter().chain(wire_reference("what_is_emitted_agrees")) {
        let emitted = emit(&text).unwrap_or_else(|why| panic!("{name}: {why}"));
        agrees(&format!("{name}, as emitted"), &emitted);
    }
}

/// Words of the runs' own texts, each with another one.
const WORDS: [(&str, &str); 22] = [
    ("CHILDRESULT", "Ergebnis"),
    ("CHILDTASK", "Auftrag"),
    ("ROOTTASK", "Anliegen"),
    ("commentary", "remark"),
    ("magic number", "secret \\\"word\\\""),
    ("filler", "stuffing"),
    ("notes", "papers"),
    ("coordinator", "chief"),
    ("researcher", "scout"),
    ("root_lookup", "consult"),
    ("letter", "poem"),
    ("Ottilie Brand", "Wanda <Weiß>"),
    ("4 May", "§ 9"),
    ("harbour-master", "warden"),
    ("berth", "gate"),
    ("pilot", "guard"),
    ("noon", "dusk & dawn"),
    ("chairs", "stools"),
    ("look", "peer"),
    ("cellar", "tower"),
    ("porter", "mason"),
    ("Key B", "Neither"),
];

#[test]
fn other_texts_change_nothing() {
    for (name, text) in wire_fixtures().into_iter().chain(wire_reference("other_texts_change_nothing")) {
        let other = WORDS.iter().fold(text.clone(), |text, (word, other)| text.replace(word, other));
        assert_ne!(other, text, "{name}: no word was replaced");
        // Inside arguments, which are JSON in JSON, quotes need one escape more.
        let other = inside_arguments(&other);
        agrees(&format!("{name}, with other texts"), &other);
    }
}

/// Repairs quotes that came into the JSON text of arguments.
fn inside_arguments(text: &str) -> String {
    let mut file: Value = serde_json::from_str(text).expect("it is JSON");
    fn walk(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(walk),
            Value::Object(fields) => {
                let is_call = fields.get("type").is_some_and(|kind| kind == "tool_use");
                for (key, value) in fields.iter_mut() {
                    match value {
                        Value::String(text) if key == "arguments" || (is_call && key == "text") => {
                            *text = text.replace("secret \"word\"", "secret \\\"word\\\"");
                        }
                        value => walk(value),
                    }
                }
            }
            _ => {}
        }
    }
    walk(&mut file);
    file.to_string()
}

/// Changes one place of a recorded run and says which difference must be found: its place, what was expected, what came.
#[track_caller]
fn notices(file: &str, change: impl Fn(&mut Value), expect: &[(&str, &str, &str)]) {
    let mut run = own(file);
    change(&mut run);
    let found = differences(file, &run.to_string());
    assert_eq!(found.len(), expect.len(), "{}", found.join("\n"));
    for (found, (at, expected, got)) in found.iter().zip(expect) {
        let lines: Vec<&str> = found.lines().collect();
        assert!(lines[0] == *at && lines[1].contains(expected) && lines[2].contains(got), "{found}\nnot {at}: {expected} | {got}");
    }
}

/// The items of request number `at` of the file.
fn items(run: &mut Value, at: usize) -> &mut Vec<Value> {
    run["requests"][at]["items"].as_array_mut().expect("a request has items")
}

#[test]
fn an_item_that_a_child_lacks_or_has_too_many() {
    // The child of the copying baseline: reasoning, text, call, result, text, user, text, task behind the first message.
    notices(
        "wire-responses-history",
        |run| drop(items(run, 3).remove(3)),
        &[
            ("request 4 (child), before items[3]", "nothing", "\"name\":\"look\""),
            ("request 4 (child), items[3].the call that it answers", "no call", "a call"),
        ],
    );
    notices(
        "wire-responses-history",
        |run| {
            items(run, 3)
                .insert(2, json!({"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "mind the gap"}]}))
        },
        &[("request 4 (child), items[2]", "mind the gap", "nothing")],
    );
}

#[test]
fn an_item_in_another_place() {
    notices(
        "wire-responses-history",
        |run| items(run, 3).swap(1, 2),
        &[
            ("request 4 (child), items[1]", "I look at the list.", "nothing"),
            ("request 4 (child), before items[3]", "nothing", "I look at the list."),
        ],
    );
}

#[test]
fn another_role_phase_name_or_text() {
    notices(
        "wire-responses-history",
        |run| items(run, 3)[0]["role"] = "developer".into(),
        &[("request 4 (child), items[0].role", "developer", "user")],
    );
    notices(
        "wire-responses-history",
        |run| items(run, 3)[5]["phase"] = "final_answer".into(),
        &[("request 4 (child), items[5].phase", "final_answer", "(none)")],
    );
    notices(
        "wire-responses-history",
        |run| items(run, 3)[3]["name"] = "peek".into(),
        &[("request 4 (child), items[3].name", "peek", "look"), ("request 4 (child), items[4].the call that it answers", "peek", "look")],
    );
    notices(
        "wire-responses-history",
        |run| items(run, 3)[3]["arguments"] = "{\"at\": \"lists\"}".into(),
        &[
            ("request 4 (child), items[3].arguments", "lists", "list"),
            ("request 4 (child), items[4].the call that it answers", "lists", "list"),
        ],
    );
    notices(
        "wire-responses-history",
        |run| items(run, 3)[4]["output"]["sha"] = "c4a126".into(),
        &[("request 4 (child), items[4].output", "c4a126", "row one")],
    );
    notices(
        "wire-chat",
        |run| items(run, 3)[1]["content"] = "Read it.".into(),
        &[("request 4 (child), items[1].content", "Read it.", "Read letters/third.txt")],
    );
    notices(
        "wire-chat-names",
        |run| drop(items(run, 4)[2].as_object_mut().map(|item| item.remove("name"))),
        &[("request 5 (root), items[2].name", "(none)", "harbour-master")],
    );
    // Arguments are compared as JSON, so blanks and order are none of the child's business.
    notices("wire-responses-history", |run| items(run, 3)[3]["arguments"] = "{ \"at\" : \"list\" }".into(), &[]);
}

#[test]
fn what_the_root_gained() {
    notices(
        "wire-chat",
        |run| items(run, 6)[7]["content"] = "<task id=\"$SES\" state=\"completed\">\nIt is dated.\n</task>".into(),
        &[("request 8 (root), items[7].content", "It is dated", "task_result")],
    );
    // The notice stands where it was gained, not elsewhere; what it was put before came in place of it.
    notices(
        "wire-anthropic-fork",
        |run| {
            let gained = items(run, 5).remove(6);
            items(run, 5).insert(0, gained);
        },
        &[
            ("request 7 (root), items[0], its parts", "\"holds\"", "\"scaffold\":1786"),
            ("request 7 (root), at the end", "nothing", "<task-notification>"),
        ],
    );
    notices("wire-anthropic-fork", |run| drop(items(run, 5).pop()), &[("request 7 (root), at the end", "nothing", "<task-notification>")]);
}

#[test]
fn prose_is_what_it_was_and_holds_what_it_held() {
    // The child's skills are the parent's: another digest would be another text.
    notices(
        "wire-anthropic",
        |run| items(run, 2)[0]["content"][0]["text"]["sha"] = "6f".into(),
        &[("request 3 (child), items[0].content[0]", "6f: another part than where 6b stood", "skills")],
    );
    // And the same digest is the same text.
    notices(
        "wire-anthropic",
        |run| items(run, 2)[0]["content"][1]["text"]["sha"] = "6a".into(),
        &[("request 3 (child), items[0].content[1]", "the same part as where 6a stood before", "date")],
    );
    notices(
        "wire-anthropic-fork",
        |run| items(run, 2)[4]["content"][1]["text"]["holds"] = json!(["Try one key."]),
        &[("request 3 (child), items[4].content[1]", "Try one key.", "fork-boilerplate")],
    );
    notices(
        "wire-anthropic",
        |run| items(run, 2)[0]["content"][0]["text"]["is"] = "base".into(),
        &[("request 3 (child), items[0].content[0]", "base", "skills")],
    );
    notices("wire-anthropic", |run| items(run, 2)[0]["content"][0]["text"]["is"] = "skills".into(), &[]);
    // The child's prompt is not its parent's.
    notices(
        "wire-anthropic",
        |run| run["requests"][2]["system"] = run["requests"][0]["system"].clone(),
        &[("request 3 (child), system", "the same part as where 5a 5b 5c stood before", "system")],
    );
}

#[test]
fn results_of_several_blocks() {
    notices(
        "wire-anthropic",
        |run| drop(items(run, 4)[4]["content"][0]["text"].as_array_mut().map(Vec::pop)),
        &[("request 6 (root), items[4].content[0], its parts", "Key B opens it", "agentId")],
    );
    notices(
        "wire-anthropic",
        |run| {
            let text = items(run, 4)[4]["content"][0]["text"][1]["text"].as_str().map(|text| text.replace("tool_uses: 1", "tool_uses: 2"));
            items(run, 4)[4]["content"][0]["text"][1]["text"] = text.into();
        },
        &[("request 6 (root), items[4].content[0].text[1]", "tool_uses: 2", "tool_uses: 1")],
    );
}

#[test]
fn numbers_of_tools() {
    notices("wire-chat", |run| run["requests"][3]["tools"]["count"] = 10.into(), &[("request 4 (child), tools.count", "10", "9")]);
    notices("wire-chat", |run| run["requests"][6]["tools"]["count"] = 9.into(), &[("request 8 (root), tools.count", "9", "10")]);
    // A library shows the application's tools: more than were called there may be, fewer not.
    notices("wire-chat-names", |run| run["requests"][1]["tools"]["count"] = 3.into(), &[]);
    notices("wire-chat-names", |run| run["requests"][1]["tools"]["count"] = 0.into(), &[("request 2 (child), tools.count", "0", "1")]);
}

#[test]
fn a_request_that_is_not_sent_and_one_that_is() {
    // Without its result the second child's call is open, so the root cannot have gone on.
    notices(
        "wire-chat-names",
        |run| {
            let first = run["requests"][1].clone();
            let mut second = first.clone();
            second["n"] = 10.into();
            second["items"][1]["content"] = "Nobody asked for this.".into();
            run["requests"].as_array_mut().expect("a list").push(second);
        },
        &[("request 10 (child)", "Nobody asked for this.", "nothing")],
    );
    notices(
        "wire-responses-history",
        |run| {
            run["requests"].as_array_mut().expect("a list").remove(3);
        },
        &[("a further child", "nothing", "Count the chairs in the hall.")],
    );
}

#[test]
fn a_file_is_read_strictly() {
    fn refused(file: &str, change: impl Fn(&mut Value), expect: &str) {
        let mut run = own(file);
        change(&mut run);
        assert_eq!(verify(&run.to_string()).map(|_| ()), Err(Refused::Unreadable(expect.to_owned())));
    }
    refused("wire-chat", |run| run["note"] = "x".into(), "the file has an unknown field `note`");
    refused("wire-chat", |run| run["requests"][1]["model"] = "x".into(), "requests[1] has an unknown field `model`");
    refused("wire-chat", |run| run["requests"][1]["instructions"] = "x".into(), "requests[1] has an unknown field `instructions`");
    refused("wire-chat", |run| run["requests"][1]["path"] = "/v1/embeddings".into(), {
        "requests[1].path is `/v1/embeddings`, which is no path of a known API: /chat/completions, /responses, /messages"
    });
    refused("wire-chat", |run| run["requests"][1]["thread"] = "other".into(), "requests[1].thread is `other`, not root, child or title");
    refused("wire-chat", |run| run["requests"][2]["n"] = 2.into(), "request 2 stands before request 2: their numbers ascend");
    refused("wire-chat", |run| items(run, 2)[0]["role"] = "boss".into(), {
        "requests[2].items[0].role is `boss`, not system, developer, user, assistant or tool"
    });
    refused("wire-chat", |run| items(run, 2)[2]["tool_calls"][0]["type"] = "function".into(), {
        "requests[2].items[2].tool_calls[0] has an unknown field `type`"
    });
    refused(
        "wire-chat",
        |run| items(run, 2)[3]["content"]["text"] = "x".into(),
        "requests[2].items[3].content has an unknown field `text`",
    );
    refused("wire-responses-history", |run| items(run, 1)[3]["type"] = "call".into(), {
        "requests[1].items[3].type is `call`, not one of message, reasoning, function_call, function_call_output, agent_message"
    });
    refused("wire-responses-history", |run| items(run, 1)[0]["name"] = "x".into(), "requests[1].items[0] has an unknown field `name`");
    refused("wire-anthropic", |run| items(run, 1)[1]["content"][2]["input"] = json!({}), {
        "requests[1].items[1].content[2] has an unknown field `input`"
    });
    refused("wire-anthropic", |run| items(run, 1)[1]["content"][2]["type"] = "tool_result".into(), {
        "requests[1].items[1].content[2].type is `tool_result`, which is no block of a message of the assistant"
    });
    refused("wire-chat", |run| run["requests"] = json!([]), "it has no request of the root");
    refused("wire-chat", |run| run["strategy"] = "codex-v2@*".into(), "`strategy` is `codex-v2@*`: it must be one, with one profile");
}

#[test]
fn a_run_of_something_else_is_refused_by_name() {
    for (strategy, expect) in [
        ("closed-code@1", "there is no strategy `closed-code`"),
        ("opencode@9.9", "`opencode` has no profile `9.9`"),
        ("opencode@1.18.33:fork=true", "has no option `fork`"),
    ] {
        let mut run = own("wire-chat");
        run["strategy"] = strategy.into();
        match verify(&run.to_string()) {
            Err(Refused::UnknownStrategy(why)) => assert!(why.contains(expect), "{why}"),
            other => panic!("{strategy}: {other:?}"),
        }
    }
}

/// A recording that leaves open what was said is no case, and it is said why.
#[test]
fn what_cannot_be_played_is_said() {
    let mut run = own("wire-responses");
    run["requests"][0]["previous_response_id"] = true.into();
    let found = differences("wire-responses", &run.to_string());
    assert_eq!(found, ["it cannot be played: request 1 goes on behind a response, but it is the first one of its thread"]);
    let mut run = own("wire-chat");
    run["requests"].as_array_mut().expect("a list").drain(..2);
    let found = differences("wire-chat", &run.to_string());
    let expect = "it cannot be played: request 3: items[2].tool_calls[0] was written by a model before the run began";
    assert_eq!(found, [expect]);
}
