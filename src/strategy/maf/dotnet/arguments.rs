//! The argument of a tool, and what is thrown where there is none (Microsoft.Extensions.AI, `AIFunctionFactory`; read).

use indexmap::IndexMap;
use serde_json::value::RawValue;

/// The query; the error is the exception's message. Arguments that are no JSON object are none at all, other keys are
/// ignored, of equal keys the last one holds.
pub(super) fn query(args: &str, argument: &str) -> Result<String, String> {
    let fields: IndexMap<String, &RawValue> = serde_json::from_str(args).unwrap_or_default();
    let Some(value) = fields.get(argument).map(|value| value.get()) else {
        return Err(format!(
            "The arguments dictionary is missing a value for the required parameter '{argument}'. (Parameter 'arguments')"
        ));
    };
    // A token is read to its end, of an object or a list only the bracket.
    let read = match value.chars().next() {
        Some('"') => return blank(serde_json::from_str(value).unwrap_or_default()),
        Some('n') => return Err("Value cannot be null. (Parameter 'message')".into()),
        Some('{' | '[') => 1,
        _ => value.len(),
    };
    Err(format!("The JSON value could not be converted to System.String. Path: $ | LineNumber: 0 | BytePositionInLine: {read}."))
}

/// `RunAsync` takes no text that is only white space.
fn blank(query: String) -> Result<String, String> {
    if query.trim().is_empty() { Err("Argument is whitespace (Parameter 'message')".into()) } else { Ok(query) }
}
