//! Items of Anthropic's `/messages`: a message is a list of blocks; calls are the assistant's, results the user's.

use super::super::json::Json;
use super::entry::{Entry, Placed};
use super::family::{content, read_content};
use super::fields::Fields;
use super::text::Text;

/// Reads one message: its text blocks stay together where they stand together.
pub(super) fn read(item: &Json, at: &str) -> Result<Vec<Placed<Text>>, String> {
    let mut fields = Fields::of(item, at)?;
    let role = fields.text("role")?;
    if !["user", "assistant"].contains(&role.as_str()) {
        return Err(format!("{at}.role is `{role}`, not user or assistant"));
    }
    let said = fields.need("content")?;
    let content_at = fields.place("content");
    fields.done()?;
    let message = |parts, parts_at| Placed {
        at: at.to_owned(),
        parts_at,
        entry: Entry::Message { role: role.clone(), phase: None, name: None, parts },
    };
    let Some(list) = said.items() else {
        return Ok(vec![message(vec![Text::read(said, &content_at)?], vec![content_at])]);
    };
    let mut entries = Vec::new();
    for (number, block) in list.iter().enumerate() {
        let at = format!("{content_at}[{number}]");
        entries.push(match self::block(block, &at, &role)? {
            Block::Text(text) => message(vec![text], vec![at]),
            Block::Other(entry, parts_at) => Placed { at, parts_at, entry },
        });
    }
    Ok(merged(entries))
}

enum Block {
    Text(Text),
    Other(Entry<Text>, Vec<String>),
}

fn block(block: &Json, at: &str, role: &str) -> Result<Block, String> {
    let mut fields = Fields::of(block, at)?;
    let kind = fields.text("type")?;
    let text_at = fields.place("text");
    let said = fields.need("text")?;
    let read = match (kind.as_str(), role) {
        ("text", _) => Block::Text(Text::read(said, &text_at)?),
        ("thinking", "assistant") => Block::Other(Entry::Reasoning { parts: vec![Text::read(said, &text_at)?] }, vec![text_at]),
        ("tool_use", "assistant") => {
            let args = Text::read(said, &text_at)?;
            Block::Other(Entry::Call { id: fields.text("id")?, name: fields.text("name")?, speaker: None, args }, vec![text_at])
        }
        ("tool_result", "user") => {
            let (parts, places) = read_content(said, &text_at, &["text"])?;
            Block::Other(Entry::Result { id: fields.text("tool_use_id")?, parts }, places)
        }
        _ => return Err(format!("{at}.type is `{kind}`, which is no block of a message of the {role}")),
    };
    fields.done()?;
    Ok(read)
}

/// Texts of one role that stand side by side are one message, whatever messages they came in.
pub(super) fn merged(entries: Vec<Placed<Text>>) -> Vec<Placed<Text>> {
    let mut merged: Vec<Placed<Text>> = Vec::new();
    for mut next in entries {
        if let Some(Placed { parts_at, entry: Entry::Message { role, parts, .. }, .. }) = merged.last_mut()
            && let Entry::Message { role: same, parts: more, .. } = &mut next.entry
            && role == same
        {
            parts.append(more);
            parts_at.append(&mut next.parts_at);
            continue;
        }
        merged.push(next);
    }
    merged
}

/// Writes messages: blocks of one role in a row are one.
pub(super) fn write(entries: &[Entry<Json>]) -> Vec<Json> {
    let mut messages: Vec<(String, Vec<Json>)> = Vec::new();
    for entry in entries {
        let (role, blocks) = blocks(entry);
        match messages.last_mut() {
            Some((last, all)) if last == role => all.extend(blocks),
            _ => messages.push((role.to_owned(), blocks)),
        }
    }
    messages.into_iter().map(|(role, blocks)| Json::object([("role", role.into()), ("content", Json::List(blocks))])).collect()
}

fn blocks(entry: &Entry<Json>) -> (&str, Vec<Json>) {
    let of = |kind: &str, text: &Json| Json::object([("type", kind.into()), ("text", text.clone())]);
    match entry {
        Entry::Message { role, parts, .. } => (role, parts.iter().map(|part| of("text", part)).collect()),
        Entry::Reasoning { parts } => ("assistant", parts.iter().map(|part| of("thinking", part)).collect()),
        Entry::Call { id, name, args, .. } => {
            let named = [("type", "tool_use".into()), ("text", args.clone()), ("name", name.as_str().into()), ("id", id.as_str().into())];
            ("assistant", vec![Json::object(named)])
        }
        Entry::Result { id, parts } => {
            let told = [("type", "tool_result".into()), ("text", content(parts, "text")), ("tool_use_id", id.as_str().into())];
            ("user", vec![Json::object(told)])
        }
        // This wire has no mail: it is shown as what it is.
        Entry::Mail { from, to, parts } => {
            let told = [("author", from.as_str().into()), ("recipient", to.as_str().into()), ("content", content(parts, "text"))];
            ("user", vec![Json::object(told)])
        }
        Entry::UnseenCall { .. } | Entry::UnseenText => ("assistant", vec![]),
    }
}
