//! The argument of a tool, and what is thrown where there is none (1.23.0, run).

use serde_json::{Map, Value};

/// The one text that the schema has; the error is the exception's message: missing, then unexpected, then of another type.
pub(super) fn text(args: &str, argument: &str, tool: &str) -> Result<String, String> {
    let mut fields = fields(args);
    let Some(value) = fields.remove(argument) else {
        return Err(format!("Missing required argument(s) for '{tool}': {argument}"));
    };
    if !fields.is_empty() {
        // A map without `preserve_order` is sorted.
        let names: Vec<&str> = fields.keys().map(String::as_str).collect();
        return Err(format!("Unexpected argument(s) for '{tool}': {}", names.join(", ")));
    }
    match value {
        Value::String(text) => Ok(text),
        other => Err(format!("Invalid type for '{argument}' in '{tool}': expected string, got {}", kind(&other))),
    }
}

/// What is no JSON object is one argument named `raw`; nothing is none.
fn fields(args: &str) -> Map<String, Value> {
    match serde_json::from_str::<Value>(args) {
        _ if args.is_empty() => Map::new(),
        Ok(Value::Object(fields)) => fields,
        Ok(other) => Map::from_iter([("raw".to_owned(), other)]),
        Err(_) => Map::from_iter([("raw".to_owned(), Value::from(args))]),
    }
}

/// A value's type, as Python calls it.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}
