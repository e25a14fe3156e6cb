//! Codex forks against the reference vectors, where they are at hand: the folder that `CTXBENCH_SHARED` names holds
//! `conformance/codex.json`. Vectors on checkpoints, rollbacks, usage hints and instructions of the child are out of scope.

use ctxbench::strategy::codex::{ForkContext, ForkTurns, Profile};
use ctxbench::strategy::{CodexV1, CodexV2, Order, ParentView, Route, Strategy, ThreadId};
use ctxbench::transcript::{Body, CallKey, Item, Origin, Part, Phase, Role};
use serde_json::Value;

use crate::hand::{Tree, call, put, reply, run};

/// Words of vectors that are about what is not here.
const OUT_OF_SCOPE: [&str; 5] =
    ["\"compacted\"", "thread_rolled_back", "legacy_inter_agent_envelope", "\"world_state\"", "custom_tool_call"];

fn parts(item: &Value) -> Vec<Part> {
    match item["parts"].as_array() {
        Some(parts) => parts.iter().map(|part| part["text"].as_str().unwrap_or_default().into()).collect(),
        None => vec![item["text"].as_str().or(item["summary"].as_str()).unwrap_or_default().into()],
    }
}

/// A parent's items; whether mail starts a turn stands in the line before it, or in the line itself.
fn items(parent: &[Value]) -> Vec<Item> {
    let mut keys: Vec<String> = vec![];
    let mut key = |id: &Value| {
        let id = id.as_str()?;
        let at = keys.iter().position(|known| known == id).unwrap_or_else(|| {
            keys.push(id.into());
            keys.len() - 1
        });
        Some(CallKey(at as u32))
    };
    let mut triggers = false;
    let mut made = vec![];
    for item in parent {
        let kind = item["type"].as_str().unwrap_or_default();
        let role = [Role::System, Role::Developer, Role::User, Role::Assistant].into_iter().find(|role| item["role"] == role.name());
        let phase = match item["phase"].as_str() {
            Some("final_answer") => Some(Phase::FinalAnswer),
            Some("commentary") => Some(Phase::Commentary),
            _ => None,
        };
        let body = match kind {
            "message" => Body::Message { role: role.unwrap_or(Role::Tool), phase, parts: parts(item) },
            "reasoning" => Body::Reasoning { parts: parts(item) },
            "function_call" => {
                let key = key(&item["call_id"]).unwrap_or(CallKey(999));
                Body::Call(ctxbench::transcript::ToolCall { key, ..call(0, "shell", "{}") })
            }
            "function_call_output" => Body::Result { key: key(&item["call_id"]), parts: parts(item), failed: false },
            "agent_message" | "inter_agent_communication" => {
                let starts = triggers || item["trigger_turn"] == true;
                let text = format!("Message Type: {}\nx", if starts { "NEW_TASK" } else { "MESSAGE" });
                Body::Mail { from: "/root/a".into(), to: "/root".into(), parts: vec![text.into()] }
            }
            kind => Body::Context { kind: kind.into(), parts: parts(item) },
        };
        triggers = kind == "inter_agent_communication_metadata" && item["trigger_turn"] == true;
        made.push(Item::new(body, Origin::User));
    }
    made
}

/// What the model of the child is to see of the parent; the injected parts are left out.
fn expected(vector: &Value) -> Vec<String> {
    let joined = |texts: &Value| texts.as_array().into_iter().flatten().filter_map(Value::as_str).collect::<String>();
    let visible = vector["expected_model_visible"].as_array().into_iter().flatten();
    let texts = visible.filter(|item| item["injected"].is_null()).map(|item| match item.as_u64() {
        Some(at) => parts(&vector["parent_items"][at as usize]).iter().map(Part::as_text).collect(),
        None => joined(&item["content"]),
    });
    texts.collect()
}

#[test]
fn forks_of_the_vectors() {
    let Ok(shared) = std::env::var("CTXBENCH_SHARED") else {
        eprintln!("skipped: codex forks_of_the_vectors, CTXBENCH_SHARED is not set");
        return;
    };
    let path = format!("{shared}/conformance/codex.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{path}: {why}"));
    let file: Value = serde_json::from_str(&text).expect("it is JSON");
    let (mut checked, mut wrong) = (0, vec![]);
    for vector in file["vectors"].as_array().into_iter().flatten() {
        let name = vector["name"].as_str().unwrap_or_default();
        let all = vector["parent_items"].to_string();
        let hints = vector["config"]["parent_usage_hints"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let is_out = OUT_OF_SCOPE.iter().any(|word| all.contains(word))
            || hints.clone().any(|hint| all.contains(hint))
            || !vector["config"]["child_developer_override"].is_null();
        if is_out {
            eprintln!("out of scope: {name}");
            continue;
        }
        let strategy: Box<dyn Strategy> = if vector["strategy"].as_str().unwrap_or_default().starts_with("codex-v1") {
            Box::new(CodexV1 { fork_context: ForkContext::Absent })
        } else {
            Box::new(CodexV2 { profile: Profile::named("0.160").expect("known"), fork_turns: ForkTurns::Absent })
        };
        let items = items(vector["parent_items"].as_array().map(Vec::as_slice).unwrap_or_default());
        let (tree, call) = (Tree::new("lead"), call(77, "spawn_agent", &vector["call"].to_string()));
        let mut session = strategy.start(&run());
        let orders = session.route(&call, ParentView { items: &items, in_flight: &[] }, &tree.scope(ThreadId::ROOT, 0));
        let Route::Do(orders) = orders else { panic!("{name}: not routed") };
        checked += 1;
        if let Some(error) = vector["expected_error"].as_str() {
            if !matches!(orders[..], [Order::Reply { .. }]) || reply(&orders).0 != error {
                wrong.push(format!("{name}: {orders:?} is not {error}"));
            }
            continue;
        }
        let mut opening = put(&orders);
        opening.pop();
        // A system message among the items stays in the file; the product never shows it to a model.
        let seen = opening.iter().filter(|item| item.is_sent() && item.role() != Some(Role::System));
        let seen: Vec<String> = seen.map(Item::text).collect();
        if seen != expected(vector) {
            wrong.push(format!("{name}:\n  {seen:?}\n  {:?}", expected(vector)));
        }
    }
    assert!(checked > 40 && wrong.is_empty(), "{checked} checked, {} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
