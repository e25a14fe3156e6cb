//! OpenCode against the reference vectors, where they are at hand: the folder that `CTXBENCH_SHARED` names holds
//! `conformance/opencode.json`. Vectors on permissions, mentions, models and older profiles are out of scope here.

use ctxbench::strategy::opencode::{PROFILES, Profile};
use ctxbench::strategy::{AgentSpec, AssistantTurn, End, OpenCode, Order, Session, Strategy, ThreadId, To};
use ctxbench::transcript::{CallKey, Item, Origin, ToolCall};
use serde_json::Value;

use crate::hand::{Tree, call, put, reply};

/// What a vector of this file checks; the others are named when they are left out.
const IN_SCOPE: [&str; 24] = [
    "oc-last-message-only",
    "oc-interleaved-reasoning-openai-compatible",
    "oc-no-text-part",
    "oc-whitespace-kept",
    "oc-no-escaping",
    "oc-finish-length",
    "oc-recovered-tool-error",
    "oc-unknown-tool-in-child",
    "oc-child-api-error",
    "oc-child-error-without-message",
    "oc-error-beats-text",
    "oc-parent-abort",
    "oc-missing-prompt",
    "oc-empty-prompt",
    "oc-depth-zero",
    "oc-depth-two-ok",
    "oc-depth-two-limit",
    "oc-depth-before-unknown-agent",
    "oc-resume",
    "oc-resume-bad-prefix",
    "oc-bg-complete",
    "oc-bg-cancelled",
    "oc-bg-extend",
    "oc-truncate-exact",
];

/// What the product gave: the call's result, whether it is an error, and what comes later.
struct Given {
    opening: Vec<String>,
    text: String,
    failed: bool,
    injected: Option<String>,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Plays a child's messages to their end.
fn play(session: &mut dyn Session, tree: &Tree, child: ThreadId, result: &Value) -> (End, Vec<Item>) {
    let mut items = vec![];
    if result["cancelled"] == true {
        return (End::Aborted, items);
    }
    let mut end = End::Done;
    for (at, message) in result["messages"].as_array().into_iter().flatten().enumerate() {
        let parts = message["parts"].as_array().cloned().unwrap_or_default();
        let last_text = parts.iter().rfind(|part| part["type"] == "text").map(|part| match &part["text_gen"] {
            Value::Null => text(&part["text"]),
            made => vec![text(&made["format"]); made["lines"].as_u64().unwrap_or_default() as usize].join("\n"),
        });
        let tools: Vec<&Value> = parts.iter().filter(|part| part["type"] == "tool").collect();
        let key = |n: usize| 100 + (at * 10 + n) as u32;
        let calls: Vec<ToolCall> = tools.iter().enumerate().map(|(n, part)| call(key(n), &text(&part["tool"]), "{}")).collect();
        items.extend(calls.iter().cloned().map(Item::call));
        for (n, part) in tools.iter().enumerate() {
            items.push(Item::result(CallKey(key(n)), Origin::ToolResult, text(&part["error"]), part["status"] == "error"));
        }
        session.turn(AssistantTurn { text: last_text.unwrap_or_default(), calls, ..AssistantTurn::default() }, &[], &tree.scope(child, 0));
        let error = &message["error"];
        if !error.is_null() {
            let said = error["data"]["message"].as_str().map_or_else(|| text(&error["name"]), str::to_owned);
            end = End::Failed(said);
        }
    }
    (end, items)
}

fn give(vector: &Value) -> Given {
    let config = &vector["config"];
    let depth = config["subagent_depth"].as_u64().unwrap_or(1) as u32;
    let profile: &'static Profile = Box::leak(Box::new(Profile { depth, ..PROFILES[0] }));
    let mut run = crate::hand::run();
    for name in config["agents"].as_object().into_iter().flatten().map(|(name, _)| name) {
        run.agents.insert(name.clone(), AgentSpec::default());
    }
    let mut session = OpenCode { profile, background: config["background_flag"] == true }.start(&run);
    let mut tree = Tree::new("lead");
    let caller = (0..config["caller_depth"].as_u64().unwrap_or(0)).fold(ThreadId::ROOT, |thread, _| tree.open(thread, "plainsub"));
    let mut arguments = vector["call"]["arguments"].clone();
    let mut first = None;
    if arguments["task_id"] == "$CHILD" {
        // The child that the vector resumes or extends has run, or runs, under its first description.
        let background = config["child_running"] == true;
        let opener = serde_json::json!({
            "description": config["first_description"].as_str().unwrap_or("First"), "prompt": "first", "subagent_type": "plainsub",
        });
        let mut opener_args = opener.clone();
        if background {
            opener_args["background"] = true.into();
        }
        let opener = call(1, "task", &opener_args.to_string());
        tree.route(&mut *session, caller, &opener);
        let (child, acknowledged) = tree.opened(&mut *session, caller, &opener, "plainsub");
        let told = if background { reply(&acknowledged).0 } else { reply(&tree.ended(&mut *session, child, &opener, &End::Done, &[])).0 };
        arguments["task_id"] = told.split('"').nth(1).unwrap_or_default().into();
        first = Some((child, opener));
    }
    let call = call(2, "task", &arguments.to_string());
    let orders = tree.route(&mut *session, caller, &call);
    let opening = put(&orders).iter().map(Item::text).collect();
    let child = match orders.first() {
        Some(Order::Put { to: To::Thread(child), .. }) => *child,
        Some(Order::Put { to: To::New(_), .. }) => {
            let (child, acknowledged) = tree.opened(&mut *session, caller, &call, "plainsub");
            if !acknowledged.is_empty() {
                return finish(session, tree, child, &call, vector, opening, &acknowledged);
            }
            child
        }
        _ => {
            let (text, failed, _) = reply(&orders);
            return Given { opening, text, failed, injected: None };
        }
    };
    if let Some((child, opener)) = first.filter(|_| config["child_running"] == true) {
        tree.threads[child.0 as usize].waiting = 1;
        let outputs: Vec<String> = vector["child_result"]["outputs"].as_array().into_iter().flatten().map(text).collect();
        let mut later = vec![];
        for (at, output) in outputs.iter().enumerate() {
            session.turn(AssistantTurn { text: output.clone(), ..AssistantTurn::default() }, &[], &tree.scope(child, 0));
            tree.threads[child.0 as usize].waiting = (outputs.len() - 1 - at) as u32;
            later.extend(tree.ended(&mut *session, child, if at == 0 { &opener } else { &call }, &End::Done, &[]));
        }
        let (text, failed, _) = reply(&orders);
        assert_eq!(put(&later).len(), 1, "one notice");
        return Given { opening, text, failed, injected: put(&later).first().map(Item::text) };
    }
    let (end, items) = play(&mut *session, &tree, child, &vector["child_result"]);
    let (text, failed, _) = reply(&tree.ended(&mut *session, child, &call, &end, &items));
    Given { opening, text, failed, injected: None }
}

/// A background call: acknowledged, then played to its end.
fn finish(
    mut session: Box<dyn Session>,
    mut tree: Tree,
    child: ThreadId,
    call: &ToolCall,
    vector: &Value,
    opening: Vec<String>,
    acknowledged: &[Order],
) -> Given {
    let (text, failed, _) = reply(acknowledged);
    let (end, items) = play(&mut *session, &tree, child, &vector["child_result"]);
    let later = tree.ended(&mut *session, child, call, &end, &items);
    Given { opening, text, failed, injected: put(&later).first().map(Item::text) }
}

/// The session's id and the prose that a vector leaves open, as the vector writes them.
fn anonymous(given: &str, expect: &str) -> String {
    let id = given.split(['"', ' ', ')']).find(|word| word.starts_with("ses_"));
    let given = id.map_or_else(|| given.to_owned(), |id| given.replace(id, "$CHILD"));
    match (expect.find("{{"), expect.find("}}")) {
        (Some(from), Some(to)) => {
            let tail = &expect[to + 2..];
            assert!(given.starts_with(&expect[..from]) && given.ends_with(tail), "{given}");
            expect.to_owned()
        }
        _ => given,
    }
}

#[test]
fn main_path_vectors() {
    let Ok(shared) = std::env::var("CTXBENCH_SHARED") else {
        eprintln!("main_path_vectors: skipped, CTXBENCH_SHARED is not set");
        return;
    };
    let path = std::path::Path::new(&shared).join("conformance/opencode.json");
    let file: Value = serde_json::from_str(&std::fs::read_to_string(&path).expect("the file can be read")).expect("it is JSON");
    let mut checked = 0;
    for vector in file["vectors"].as_array().expect("a list of vectors") {
        let name = text(&vector["name"]);
        if !IN_SCOPE.contains(&name.as_str()) {
            eprintln!("main_path_vectors: {name} is out of scope");
            continue;
        }
        let given = give(vector);
        let expect = &vector["expected_parent_result"];
        let expected_text = text(if expect["status"] == "error" { &expect["error"] } else { &expect["output"] });
        assert_eq!(anonymous(&given.text, &expected_text), expected_text, "{name}");
        assert_eq!(given.failed, expect["status"] == "error", "{name}");
        let injected = expect["injected"]["text"].as_str();
        let given_injected = given.injected.map(|text| anonymous(&text, injected.unwrap_or_default()));
        assert_eq!(given_injected.as_deref(), injected, "{name}");
        let parts = vector["expected_child_request"]["user_parts"].as_array().into_iter().flatten();
        let expected_opening: Vec<String> = parts.map(|part| text(&part["text"])).collect();
        if !expected_opening.is_empty() {
            assert_eq!(given.opening, expected_opening, "{name}");
        } else if vector["expected_child_request"].is_null() {
            assert!(given.opening.is_empty(), "{name}");
        }
        checked += 1;
    }
    assert_eq!(checked, IN_SCOPE.len());
}
