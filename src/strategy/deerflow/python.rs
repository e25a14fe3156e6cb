//! JSON as Python's `json.dumps(..., ensure_ascii=False)` writes it: `", "` and `": "`, keys in the order given.

use indexmap::IndexMap;
use serde_json::value::RawValue;

/// How deep values may be nested, as in `serde_json`.
const DEPTH: usize = 128;

/// An object in Python's spelling; of equal keys the last value holds. Numbers stay as they were written. `None`: the
/// text is no object, or nested too deeply. Blank text is an empty object (assumed: not established).
pub(super) fn object(text: &str) -> Option<String> {
    if text.trim().is_empty() {
        return Some("{}".into());
    }
    let raw = serde_json::from_str::<&RawValue>(text.trim()).ok()?;
    if raw.get().starts_with('{') { value(raw, 0) } else { None }
}

/// A text in quotes.
pub(super) fn string(text: &str) -> String {
    // Python and `serde_json` escape alike: quotes, backslashes, control characters.
    serde_json::Value::from(text).to_string()
}

fn value(raw: &RawValue, depth: usize) -> Option<String> {
    if depth == DEPTH {
        return None;
    }
    let text = raw.get();
    match text.chars().next()? {
        '{' => {
            let fields = serde_json::from_str::<IndexMap<String, &RawValue>>(text).ok()?;
            let fields: Option<Vec<String>> =
                fields.iter().map(|(key, raw)| Some(format!("{}: {}", string(key), value(raw, depth + 1)?))).collect();
            Some(format!("{{{}}}", fields?.join(", ")))
        }
        '[' => {
            let items = serde_json::from_str::<Vec<&RawValue>>(text).ok()?;
            let items: Option<Vec<String>> = items.iter().map(|raw| value(raw, depth + 1)).collect();
            Some(format!("[{}]", items?.join(", ")))
        }
        '"' => Some(string(&serde_json::from_str::<String>(text).ok()?)),
        _ => Some(text.to_owned()),
    }
}
