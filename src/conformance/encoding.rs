//! How some files write what JSON cannot say, or would say at length: `$repeat`, `$bytes`, `$concat`, `$parts` and `$join`.

use indexmap::IndexMap;

use crate::strategy::deerflow::value::Value;

use super::json::Json;

/// Characters that an encoded text may have: more than any file needs, and little enough to hold.
const MOST: usize = 64 << 20;

/// A JSON text with its encodings read. `$parts` become one text.
///
/// # Errors
/// No JSON, an encoding of another form.
pub fn read(text: &str) -> Result<Value, String> {
    decoded(Value::parse(text).ok_or("it is no JSON, or nested too deeply")?, &|parts, join| Ok(Value::Text(parts.join(join))))
}

/// The same of an expectation: `$parts` stay, since they may hold texts of the host.
pub fn expectation(value: &Json) -> Result<Json, String> {
    let value = Value::parse(&value.to_string()).ok_or("an expectation is nested too deeply")?;
    let kept = |parts: &[String], join: &str| Ok(in_parts(parts, join));
    decoded(value, &kept).map(|value| json(&value))
}

/// A text in parts.
pub fn in_parts(parts: &[String], join: &str) -> Value {
    let parts = Value::List(parts.iter().cloned().map(Value::Text).collect());
    let fields = [("$parts", parts), ("$join", Value::Text(join.to_owned()))];
    Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

type Parts<'a> = dyn Fn(&[String], &str) -> Result<Value, String> + 'a;

fn decoded(value: Value, parts: &Parts<'_>) -> Result<Value, String> {
    match value {
        Value::List(items) => Ok(Value::List(items.into_iter().map(|item| decoded(item, parts)).collect::<Result<_, _>>()?)),
        Value::Object(fields) => match fields.keys().map(String::as_str).collect::<Vec<_>>()[..] {
            ["$repeat"] => repeated(&fields).map(Value::Text),
            ["$bytes"] => match fields.get("$bytes") {
                Some(Value::Text(text)) => Ok(Value::Bytes(text.clone().into_bytes())),
                _ => Err("`$bytes` is no text".into()),
            },
            ["$concat"] => Ok(Value::Text(texts(fields.get("$concat"), "$concat")?.concat())),
            ["$parts", "$join"] | ["$join", "$parts"] => {
                let join = fields.get("$join").and_then(Value::as_text).ok_or("`$join` is no text")?;
                parts(&texts(fields.get("$parts"), "$parts")?, join)
            }
            _ => {
                let fields = fields.into_iter().map(|(key, value)| Ok::<_, String>((key, decoded(value, parts)?)));
                Ok(Value::Object(fields.collect::<Result<_, _>>()?))
            }
        },
        other => Ok(other),
    }
}

fn repeated(fields: &IndexMap<String, Value>) -> Result<String, String> {
    let [Value::Text(text), Value::Int(count)] = fields.get("$repeat").and_then(Value::items).unwrap_or_default() else {
        return Err("`$repeat` is not a text and a whole number".into());
    };
    let count = count.parse::<usize>().map_err(|_| format!("`$repeat` says {count} times"))?;
    if count.saturating_mul(text.len()) > MOST {
        return Err(format!("`$repeat` makes a text of more than {MOST} bytes"));
    }
    Ok(text.repeat(count))
}

fn texts(value: Option<&Value>, key: &str) -> Result<Vec<String>, String> {
    let items = value.and_then(Value::items).ok_or_else(|| format!("`{key}` is no list"))?;
    let text = |item: &Value| match item {
        Value::Text(text) => Ok(text.clone()),
        Value::Object(fields) if fields.contains_key("$repeat") => repeated(fields),
        _ => Err(format!("an entry of `{key}` is no text")),
    };
    items.iter().map(text).collect()
}

/// A value as JSON. What JSON cannot hold is `null`.
pub fn json(value: &Value) -> Json {
    match value {
        Value::None | Value::Bytes(_) => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Int(digits) => serde_json::from_str(digits).map_or(Json::Null, Json::Number),
        Value::Float(number) => serde_json::Number::from_f64(*number).map_or(Json::Null, Json::Number),
        Value::Text(text) => Json::Text(text.clone()),
        Value::List(items) => Json::List(items.iter().map(json).collect()),
        Value::Object(fields) => Json::Object(fields.iter().map(|(key, value)| (key.clone(), json(value))).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_read() {
        let check = |text: &str, expect: &str| assert_eq!(read(text).map(|value| json(&value).to_string()), Ok(expect.to_owned()));
        check(r#"{"a":[{"$repeat":["xy",2]},{"$concat":["a",{"$repeat":["b",2]}]}]}"#, r#"{"a":["xyxy","abb"]}"#);
        check(r#"{"$join":"-","$parts":["a","<b>"]}"#, r#""a-<b>""#);
        check(r#"{"$repeat":["x",1],"b":1}"#, r#"{"$repeat":["x",1],"b":1}"#);
        assert_eq!(read(r#"{"$bytes":"RAW"}"#), Ok(Value::Bytes(b"RAW".to_vec())));
        for wrong in
            [r#"{"$repeat":["x",-1]}"#, r#"{"$repeat":[1,1]}"#, r#"{"$bytes":1}"#, r#"{"$concat":[1]}"#, r#"{"$repeat":["x",99999999]}"#]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
