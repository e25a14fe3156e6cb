//! Items of `/chat/completions`: a message holds its text and its calls.

use super::super::json::Json;
use super::entry::{Entry, Placed};
use super::family::{content, object, read_content};
use super::fields::Fields;
use super::text::Text;

/// Reads one message.
pub(super) fn read(item: &Json, at: &str) -> Result<Vec<Placed<Text>>, String> {
    let mut fields = Fields::of(item, at)?;
    let role = fields.text("role")?;
    if !["system", "developer", "user", "assistant", "tool"].contains(&role.as_str()) {
        return Err(format!("{at}.role is `{role}`, not system, developer, user, assistant or tool"));
    }
    let name = fields.maybe_text("name")?;
    let written = fields.get("content").cloned().unwrap_or_default();
    let (parts, parts_at) = read_content(&written, &fields.place("content"), &["text"])?;
    if role == "tool" {
        let id = fields.text("tool_call_id")?;
        fields.done()?;
        return Ok(vec![Placed { at: at.to_owned(), parts_at, entry: Entry::Result { id, parts } }]);
    }
    let calls = if role == "assistant" && fields.has("tool_calls") { fields.list("tool_calls")? } else { &[] };
    fields.done()?;
    let mut entries = Vec::new();
    let says = parts.iter().any(|part| part.plain() != Some(""));
    if says || calls.is_empty() {
        let message = Entry::Message { role, phase: None, name: name.clone(), parts };
        entries.push(Placed { at: at.to_owned(), parts_at, entry: message });
    }
    for (number, call) in calls.iter().enumerate() {
        let at = format!("{at}.tool_calls[{number}]");
        let mut fields = Fields::of(call, at.as_str())?;
        let args_at = fields.place("arguments");
        let entry = Entry::Call {
            id: fields.text("id")?,
            name: fields.text("name")?,
            speaker: name.clone().filter(|_| number == 0 && !says),
            args: Text::read(fields.need("arguments")?, &args_at)?,
        };
        fields.done()?;
        entries.push(Placed { at, parts_at: vec![args_at], entry });
    }
    Ok(entries)
}

/// Writes messages: calls belong to the assistant's text before them.
pub(super) fn write(entries: &[Entry<Json>]) -> Vec<Json> {
    let mut items = Vec::new();
    let mut at = 0;
    while let Some(entry) = entries.get(at) {
        let mut calls = Vec::new();
        let (mut text, mut speaker) = (None, None);
        if let Entry::Message { role, name, parts, .. } = entry {
            at += 1;
            let said = (!parts.is_empty()).then(|| content(parts, "text"));
            if role != "assistant" {
                items.push(object([("role", Some(role.as_str().into())), ("name", name.clone().map(Json::from)), ("content", said)]));
                continue;
            }
            (text, speaker) = (said, name.clone());
        }
        while let Some(Entry::Call { id, name, speaker: by, args }) = entries.get(at) {
            at += 1;
            speaker = speaker.or_else(|| by.clone());
            calls.push(Json::object([("id", id.as_str().into()), ("name", name.as_str().into()), ("arguments", args.clone())]));
        }
        if text.is_some() || !calls.is_empty() {
            let calls = (!calls.is_empty()).then_some(Json::List(calls));
            let role = Some("assistant".into());
            items.push(object([("role", role), ("name", speaker.map(Json::from)), ("content", text), ("tool_calls", calls)]));
            continue;
        }
        at += usize::from(!matches!(entry, Entry::Message { .. }));
        match entry {
            Entry::Result { id, parts } => {
                let id = Some(id.as_str().into());
                items.push(object([("role", Some("tool".into())), ("tool_call_id", id), ("content", Some(content(parts, "text")))]));
            }
            // This wire has no item for them: they are shown as what they are.
            Entry::Reasoning { parts } => items.push(Json::object([("reasoning", content(parts, "text"))])),
            Entry::Mail { from, to, parts } => items.push(Json::object([
                ("author", from.as_str().into()),
                ("recipient", to.as_str().into()),
                ("content", content(parts, "text")),
            ])),
            Entry::Message { .. } | Entry::Call { .. } | Entry::UnseenCall { .. } | Entry::UnseenText => {}
        }
    }
    items
}
