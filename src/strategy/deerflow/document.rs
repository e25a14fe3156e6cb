//! Documents in a snapshot (`v3`; bytedance/deer-flow at 14e18fb): the texts of a document are made harmless, what it
//! refers to and what is encoded stays.

use indexmap::IndexMap;

use super::tags::neutralise;
use super::value::Value;

type Fields = IndexMap<String, Value>;

/// A document block with harmless texts: title, context, and its source where that is text.
pub(super) fn neutralised(mut document: Fields) -> Fields {
    in_texts(&mut document, &["title", "context"]);
    if let Some(Value::Object(source)) = document.get_mut("source") {
        match source.get("type").and_then(Value::as_text) {
            Some("text") => in_texts(source, &["data"]),
            Some("content") => match source.get_mut("content") {
                Some(Value::List(blocks)) => blocks.iter_mut().for_each(in_block),
                _ => in_texts(source, &["content"]),
            },
            _ => {}
        }
    }
    document
}

/// A text block inside a document: its text, and the prose of its citations.
fn in_block(block: &mut Value) {
    let Value::Object(fields) = block else { return };
    if fields.get("type").and_then(Value::as_text) != Some("text") {
        return;
    }
    in_texts(fields, &["text"]);
    if let Some(Value::List(citations)) = fields.get_mut("citations") {
        for citation in citations {
            if let Value::Object(fields) = citation {
                in_texts(fields, &["cited_text", "document_title", "title"]);
            }
        }
    }
}

fn in_texts(fields: &mut Fields, keys: &[&str]) {
    for key in keys {
        if let Some(Value::Text(text)) = fields.get_mut(*key) {
            *text = neutralise(text);
        }
    }
}
