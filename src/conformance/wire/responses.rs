//! Items of `/responses`: each entry is one.

use super::super::json::Json;
use super::entry::{Entry, Placed};
use super::family::{blocks, content, object, read_content};
use super::fields::Fields;
use super::text::Text;

/// Reads one item.
pub(super) fn read(item: &Json, at: &str) -> Result<Vec<Placed<Text>>, String> {
    let mut fields = Fields::of(item, at)?;
    let kind = fields.text("type")?;
    // An item's own id says nothing: clients issue it anew.
    fields.maybe_text("id")?;
    let mut parts_at = Vec::new();
    let mut parts = |fields: &mut Fields<'_>, key, kinds: &[&str]| -> Result<Vec<Text>, String> {
        let at = fields.place(key);
        let (parts, places) = read_content(fields.get(key).unwrap_or(&Json::Null), &at, kinds)?;
        parts_at.extend(places);
        Ok(parts)
    };
    let entry = match kind.as_str() {
        "message" => Entry::Message {
            role: fields.text("role")?,
            phase: fields.maybe_text("phase")?,
            name: None,
            parts: parts(&mut fields, "content", &["input_text", "output_text"])?,
        },
        "reasoning" => {
            let mut all = parts(&mut fields, "summary", &["summary_text"])?;
            all.extend(parts(&mut fields, "content", &["reasoning_text", "text"])?);
            Entry::Reasoning { parts: all }
        }
        "function_call" => {
            // The namespace belongs to the tool's schema.
            fields.maybe_text("namespace")?;
            let args_at = fields.place("arguments");
            let args = Text::read(fields.need("arguments")?, &args_at)?;
            parts_at.push(args_at);
            Entry::Call { id: fields.text("call_id")?, name: fields.text("name")?, speaker: None, args }
        }
        "function_call_output" => {
            Entry::Result { id: fields.text("call_id")?, parts: parts(&mut fields, "output", &["input_text", "output_text"])? }
        }
        "agent_message" => Entry::Mail {
            from: fields.text("author")?,
            to: fields.text("recipient")?,
            parts: parts(&mut fields, "content", &["input_text", "encrypted_content"])?,
        },
        _ => {
            let known = "message, reasoning, function_call, function_call_output, agent_message";
            return Err(format!("{at}.type is `{kind}`, not one of {known}"));
        }
    };
    fields.done()?;
    Ok(vec![Placed { at: at.to_owned(), parts_at, entry }])
}

/// Writes one item.
pub(super) fn write(entry: &Entry<Json>) -> Json {
    let text = |text: &str| Some(Json::from(text));
    match entry {
        Entry::Message { role, phase, parts, .. } => {
            let kind = if role == "assistant" { "output_text" } else { "input_text" };
            let phase = phase.as_deref().map(Json::from);
            object([("type", text("message")), ("role", text(role)), ("phase", phase), ("content", Some(blocks(parts, kind)))])
        }
        Entry::Reasoning { parts } => {
            object([("type", text("reasoning")), ("content", Some(Json::Null)), ("summary", Some(blocks(parts, "summary_text")))])
        }
        Entry::Call { id, name, args, .. } => {
            object([("type", text("function_call")), ("name", text(name)), ("call_id", text(id)), ("arguments", Some(args.clone()))])
        }
        Entry::Result { id, parts } => {
            object([("type", text("function_call_output")), ("call_id", text(id)), ("output", Some(content(parts, "input_text")))])
        }
        Entry::Mail { from, to, parts } => object([
            ("type", text("agent_message")),
            ("author", text(from)),
            ("recipient", text(to)),
            ("content", Some(blocks(parts, "input_text"))),
        ]),
        // A run has none of these.
        Entry::UnseenCall { .. } | Entry::UnseenText => Json::Null,
    }
}
