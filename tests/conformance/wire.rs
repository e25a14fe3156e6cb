//! What real clients sent: recorded runs of our own and, where they are at hand, of the reference. Every run agrees, with
//! its own texts and with others; a run that the product emits is read again and agrees; files are read strictly.

use ctxbench::conformance::{Refused, Why, emit, verify};
use serde_json::{Value, json};

use super::files::{wire_fixtures, wire_reference};

/// The differences of a run, or why it cannot be played.
pub fn differences(name: &str, text: &str) -> Vec<String> {
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

pub fn own(name: &str) -> Value {
    let (_, text) = wire_fixtures().into_iter().find(|(file, _)| *file == format!("{name}.json")).expect("the fixture is there");
    serde_json::from_str(&text).expect("it is JSON")
}

/// The items of request number `at` of the file.
pub fn items(run: &mut Value, at: usize) -> &mut Vec<Value> {
    run["requests"][at]["items"].as_array_mut().expect("a request has items")
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
    // The phase of that name stands alone between its quotes.
    (" commentary", " remark"),
    ("magic number", "secret word"),
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

/// Whatever one place of a file is replaced by, there is an answer.
#[test]
fn any_damage_is_answered() {
    let others = [json!(null), json!(7), json!(u64::MAX), json!("$UUID $T"), json!([]), json!({}), json!(["x"]), json!({"scaffold": 1})];
    for (name, text) in wire_fixtures() {
        let whole: Value = serde_json::from_str(&text).expect("it is JSON");
        let mut places = Vec::new();
        all_places(&whole, String::new(), &mut places);
        for (at, place) in places.iter().enumerate() {
            let mut run = whole.clone();
            *run.pointer_mut(place).expect("the place is there") = others[at % others.len()].clone();
            let _ = if at % 4 == 0 { emit(&run.to_string()).map(drop) } else { verify(&run.to_string()).map(drop) };
            let (above, last) = place.rsplit_once('/').expect("a place has a parent");
            let mut run = whole.clone();
            match run.pointer_mut(above).expect("the place is there") {
                Value::Object(fields) => drop(fields.remove(last)),
                Value::Array(items) => drop(items.remove(last.parse().expect("a position"))),
                other => panic!("{name}: {other} has no parts"),
            }
            let _ = verify(&run.to_string());
        }
    }
}

fn all_places(value: &Value, at: String, places: &mut Vec<String>) {
    let inside: Vec<(String, &Value)> = match value {
        Value::Array(items) => items.iter().enumerate().map(|(number, item)| (number.to_string(), item)).collect(),
        Value::Object(fields) => fields.iter().map(|(key, item)| (key.replace('~', "~0").replace('/', "~1"), item)).collect(),
        _ => vec![],
    };
    for (key, item) in inside {
        let place = format!("{at}/{key}");
        places.push(place.clone());
        all_places(item, place, places);
    }
}

/// Numbers of requests are names of an order; how far they are apart says nothing.
#[test]
fn any_numbers_will_do_that_ascend() {
    let mut run = own("wire-anthropic-fork");
    let requests = run["requests"].as_array_mut().expect("a list");
    let last = requests.len() - 1;
    for (at, request) in requests.iter_mut().enumerate() {
        request["n"] = (u64::MAX - (last - at) as u64).into();
    }
    agrees("wire-anthropic-fork", &run.to_string());
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
