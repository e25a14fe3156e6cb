//! DeerFlow's snapshots against the reference vectors, where they are at hand: the folder that `CTXBENCH_SHARED` names
//! holds `conformance/deerflow.json`. Limits, results and the ledger are checked by hand in `deerflow`.

use std::collections::BTreeMap;

use ctxbench::strategy::deerflow::Profile;
use ctxbench::transcript::{Body, CallKey, Content, Item, Origin, Part, Role, ToolCall};
use serde_json::Value;

use crate::hand::call;

/// What items here cannot say: a hidden message that a person wrote, media that JSON cannot hold, the id of a result
/// without a call, document blocks.
const OUT_OF_SCOPE: [&str; 4] = [
    "deerflow.snapshot.hidden_user_clarification_kept",
    "deerflow.snapshot.unserialisable_media_notice",
    "deerflow.snapshot.orphan_tool_result",
    "deerflow.snapshot_v3.document_text_kept",
];

fn string(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(fields) => match fields.get("$repeat").and_then(Value::as_array).map(Vec::as_slice) {
            Some([text, count]) => text.as_str().unwrap_or_default().repeat(count.as_u64().unwrap_or_default() as usize),
            // As the message is built: Python's `repr` of an object with one text.
            _ => value.to_string().replace('"', "'").replace("':", "': "),
        },
        _ => String::new(),
    }
}

/// A block: text, or media known by its type alone.
fn part(block: &Value) -> Part {
    match block["type"].as_str() {
        None | Some("text") => Part::text(if block["text"].is_null() { string(block) } else { string(&block["text"]) }),
        Some(kind) => Part::new(Content::Image { media: kind.into(), bytes: 0, tokens: None }),
    }
}

fn parts(content: &Value) -> Vec<Part> {
    content.as_array().map_or_else(|| vec![Part::text(string(content))], |blocks| blocks.iter().map(part).collect())
}

fn items(messages: &Value) -> Vec<Item> {
    let (mut items, mut keys, mut next) = (Vec::new(), BTreeMap::new(), 0);
    for message in messages.as_array().into_iter().flatten() {
        let parts = parts(&message["content"]);
        let mut new = Vec::new();
        match message["role"].as_str() {
            Some("tool") => {
                let key = keys.get(message["tool_call_id"].as_str().unwrap_or_default()).copied();
                new.push(Item::new(Body::Result { key, parts, failed: message["status"] == "error" }, Origin::ToolResult));
            }
            Some("assistant") => {
                if message["content"] != "" {
                    new.push(Item::new(Body::Message { role: Role::Assistant, phase: None, parts }, Origin::Own));
                }
                for one in message["tool_calls"].as_array().into_iter().flatten() {
                    let id = string(&one["id"]);
                    keys.insert(id.clone(), CallKey(next));
                    new.push(Item::call(ToolCall { id, ..call(next, &string(&one["name"]), &one["args"].to_string()) }));
                    next += 1;
                }
            }
            role => {
                let role = if role == Some("system") { Role::System } else { Role::User };
                new.push(Item::new(Body::Message { role, phase: None, parts }, Origin::User));
            }
        }
        items.extend(new.into_iter().map(|item| if message["hidden"] == true { item.hide() } else { item }));
    }
    items
}

#[test]
fn snapshot_vectors() {
    let Ok(shared) = std::env::var("CTXBENCH_SHARED") else {
        eprintln!("snapshot_vectors: skipped, since CTXBENCH_SHARED names no folder with conformance/deerflow.json");
        return;
    };
    let path = std::path::Path::new(&shared).join("conformance/deerflow.json");
    let file: Value = serde_json::from_str(&std::fs::read_to_string(&path).expect("the file can be read")).expect("it is JSON");
    let (mut checked, mut left_out) = (0, 0);
    for vector in file["vectors"].as_array().expect("a list of vectors").iter().filter(|vector| vector["mode"] == "snapshot") {
        let name = string(&vector["name"]);
        if OUT_OF_SCOPE.contains(&name.as_str()) {
            eprintln!("snapshot_vectors: {name} is out of scope");
            left_out += 1;
            continue;
        }
        let profile = string(&vector["strategy"]).rsplit('@').next().and_then(Profile::named).expect("a profile");
        let mut history = items(&vector["parent_items"]);
        if let Some(summary) = vector["summary"].as_str() {
            history.insert(0, Item::new(Body::Compaction { parts: vec![summary.into()] }, Origin::Compaction));
        }
        let messages = vector["expected_child_messages"].as_array().expect("a list of messages");
        let expected = messages.iter().find(|message| message["name"] == "parent_context_snapshot");
        let given = profile.snapshot(&history).map(|item| item.parts().to_vec());
        assert_eq!(given, expected.map(|message| parts(&message["content"])), "{name}");
        checked += 1;
    }
    assert_eq!((checked, left_out), (29, OUT_OF_SCOPE.len()));
}
