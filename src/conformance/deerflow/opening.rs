//! Calls: what a child opens with, or why none starts.

use crate::strategy::deerflow::message::Message;
use crate::strategy::deerflow::opening::{Opening, Policy, Refusal, notes, open};
use crate::strategy::deerflow::snapshot::{NAME, Shown, capture};
use crate::strategy::deerflow::status::Outcome;
use crate::strategy::deerflow::value::Value;

use super::super::encoding::{in_parts, json};
use super::super::json::Json;
use super::{Vector, result};

/// The child's first request, and what the parent is told if there is none.
pub fn answer(vector: &Vector<'_>) -> Result<(Json, Json), String> {
    let config = vector.fields.object("config", &["available_subagents"])?.unwrap_or_default();
    let types = config.texts("available_subagents")?;
    // Where commands on the host are not allowed, their type is not among those that are available.
    let host_bash = types.as_ref().is_none_or(|types| types.iter().any(|name| name == "bash"));
    vector.call()?;
    let call = vector.fields.get("call").ok_or("there is no `call`")?;
    let (mut messages, mut summary) = (vector.messages()?, vector.fields.text("summary")?);
    let opened = open(vector.profile, call, &Policy { types, host_bash }, || capture(vector.profile, summary, &messages));
    // What becomes of the parent from here on.
    if let Some(mutation) = vector.fields.object("mutation", &["when", "parent_items", "summary", "message", "content"])? {
        match mutation.text("when")? {
            Some("after_capture") => {
                messages = Message::read_all(mutation.list("parent_items")?)?;
                summary = mutation.text("summary")?;
            }
            Some("in_child") => {
                mutation.whole("message")?.ok_or("`mutation` names no `message`")?;
            }
            _ => return Err("`when` of `mutation` is neither after_capture nor in_child".into()),
        }
    }
    drop((messages, summary));
    match opened {
        Ok(opening) => {
            let result = if vector.fields.get("child").is_some() { result::answer(vector)? } else { Json::Null };
            Ok((Json::List(request(&opening)), result))
        }
        Err(Refusal::Error(why)) => Ok((Json::Null, Outcome::failed(why).message().into())),
        Err(Refusal::Raised(raised)) => Ok((Json::Null, Json::object([("raises", raised.0.into())]))),
    }
}

/// The messages of a child's first request. Its role is the host's.
fn request(opening: &Opening<Vec<Shown>>) -> Vec<Json> {
    let role = ["<child role prompt>".to_owned()];
    let system: Vec<String> = role.into_iter().chain(notes(true, opening.opened()).into_iter().map(str::to_owned)).collect();
    let task = match &opening.task[..] {
        [prompt] => Json::Text(prompt.clone()),
        parts => json(&in_parts(parts, "\n\n")),
    };
    let snapshot = opening.snapshot.as_ref().map(|shown| {
        let content = Json::List(shown.iter().map(block).collect());
        Json::object([("role", "user".into()), ("name", NAME.into()), ("hidden", true.into()), ("content", content)])
    });
    let message = |role: &str, content: Json| Json::object([("role", role.into()), ("content", content)]);
    let system = message("system", json(&in_parts(&system, "\n\n")));
    [Some(system), snapshot, Some(message("user", task))].into_iter().flatten().collect()
}

fn block(shown: &Shown) -> Json {
    match shown {
        Shown::Text(text) => Json::object([("type", "text".into()), ("text", text.as_str().into())]),
        Shown::Block(fields) => json(&Value::Object(fields.clone())),
        // Vectors bring no items.
        Shown::Media(_) => Json::Null,
    }
}
