//! Results: what comes back of a child.

use crate::strategy::deerflow::message::Message;
use crate::strategy::deerflow::report;
use crate::strategy::deerflow::status::{Cap, Outcome, Status};
use crate::strategy::deerflow::value::Value;

use super::super::json::Json;
use super::Vector;
use super::data::Fields;

/// The call's result, before its length is looked at.
pub fn answer(vector: &Vector<'_>) -> Result<Json, String> {
    let end = vector.fields.object("child_end", &["status", "stop_reason", "error"])?.unwrap_or_default();
    let status = end.text("status")?.unwrap_or("completed");
    let status = Status::ended(status).ok_or_else(|| format!("the status `{status}` is not known"))?;
    let cap = match end.text("stop_reason")? {
        None => None,
        Some(name) => Some(Cap::named(name).ok_or_else(|| format!("the stop reason `{name}` is not known"))?),
    };
    let messages = messages(vector)?;
    let text = match status {
        Status::Completed => report::answer(&messages),
        _ => end.text("error")?.unwrap_or_default().to_owned(),
    };
    Ok(Outcome { status, cap, text }.message().into())
}

/// The child's final messages.
fn messages(vector: &Vector<'_>) -> Result<Vec<Message<'static>>, String> {
    if let Some(Value::Object(state)) = vector.fields.get("child_state")
        && let Some(messages) = state.get("messages")
    {
        return match messages {
            Value::None => Ok(vec![]),
            Value::List(messages) => Message::read_all(messages),
            _ => Err("`messages` of `child_state` is no list".into()),
        };
    }
    let Some(child) = vector.fields.get("child") else { return Ok(vec![]) };
    let child = child.items().ok_or("`child` is no list")?;
    let prompt = vector.call()?.and_then(|call| call.get("prompt").cloned());
    let task = message("user", prompt.unwrap_or(Value::Text(String::new())));
    let replies = child.iter().enumerate().map(|(at, reply)| blocks(reply).map_err(|why| format!("response {at} of the child: {why}")));
    let replies = replies.map(|blocks| Ok::<_, String>(message("assistant", Value::List(blocks?)))).collect::<Result<Vec<_>, _>>()?;
    // What tools gave stands between them; a message of the assistant is behind it, or nothing is.
    Message::read_all(&[vec![task], replies].concat())
}

fn message(role: &str, content: Value) -> Value {
    let fields = [("role", Value::Text(role.to_owned())), ("content", content)];
    Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// The blocks of one response.
fn blocks(reply: &Value) -> Result<Vec<Value>, String> {
    let reply = Fields::of(reply, "it", &["blocks", "stop_reason", "tool_outputs"])?;
    reply.text("stop_reason")?;
    reply.list("tool_outputs")?;
    for block in reply.list("blocks")? {
        let keys: &[&str] = match block.get("type").and_then(Value::as_text) {
            Some("text" | "reasoning") => &["type", "text"],
            Some("tool_use") => &["type", "id", "name", "input"],
            _ => return Err("a block is neither text, reasoning nor tool_use".into()),
        };
        Fields::of(block, "a block", keys)?;
    }
    Ok(reply.list("blocks")?.to_vec())
}
