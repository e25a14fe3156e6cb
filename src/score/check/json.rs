//! `json` and `json_schema`: the JSON value that an answer holds.
//!
//! That value is, in this order: the whole answer, if it is JSON; the first fenced block whose content is JSON; the first
//! object or list that stands anywhere in it, from the first `{` or `[` at which one begins and ends. Of a key that stands
//! twice in an object, the last counts.

use jsonschema::Validator;
use serde_json::{Number, Value};

/// What the value must be.
#[derive(Debug)]
pub(in crate::score) struct JsonIs {
    pub value: Value,
    /// A JSON pointer into the answer's value.
    pub path: String,
}

impl JsonIs {
    /// Whether the answer's value, or what the path finds in it, equals the wanted one.
    pub(super) fn stands_in(&self, answer: &str) -> bool {
        held(answer).is_some_and(|value| value.pointer(&self.path).is_some_and(|found| equal(found, &self.value)))
    }
}

/// What the value must keep to.
#[derive(Debug)]
pub(in crate::score) struct JsonKeeps(Box<Validator>);

impl JsonKeeps {
    pub(super) fn new(schema: &Value) -> Result<JsonKeeps, String> {
        let validator = crate::scenario::validator(schema);
        validator.map(|validator| JsonKeeps(Box::new(validator))).map_err(|why| format!("its JSON schema is none: {why}"))
    }

    /// Whether there is a value, and it keeps to the schema.
    pub(super) fn kept_by(&self, answer: &str) -> bool {
        held(answer).is_some_and(|value| self.0.is_valid(&value))
    }
}

/// What an answer says in its JSON value: all texts of it, keys aside, a line each, those of an object by its keys' order;
/// nothing where it holds none.
pub(in crate::score) fn texts(answer: &str) -> Option<String> {
    if !answer.contains(['{', '[']) && !answer.trim_start().starts_with('"') {
        return None;
    }
    let mut texts: Vec<String> = Vec::new();
    let mut open = vec![held(answer)?];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => texts.push(text),
            Value::Array(values) => open.extend(values.into_iter().rev()),
            Value::Object(fields) => open.extend(fields.into_iter().map(|(_, value)| value).rev()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The JSON value that an answer holds.
fn held(answer: &str) -> Option<Value> {
    let whole = || serde_json::from_str(answer).ok();
    whole().or_else(|| fenced(answer)).or_else(|| embedded(answer))
}

/// The first fenced block that is JSON. A fence is a line that begins with three or more backticks or tildes, whatever
/// language it names; it ends with a line of as many or more, or with the answer.
fn fenced(answer: &str) -> Option<Value> {
    let mark = |line: &str| {
        let line = line.trim_start();
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        Some((mark, line.chars().take_while(|c| *c == mark).count())).filter(|(_, count)| *count >= 3)
    };
    let mut open: Option<((char, usize), usize)> = None;
    let mut at = 0;
    for line in answer.split_inclusive('\n') {
        let begin = at;
        at += line.len();
        match (open, mark(line)) {
            (None, Some(fence)) => open = Some((fence, at)),
            (Some((fence, from)), Some(closing))
                if closing.0 == fence.0 && closing.1 >= fence.1 && line.trim().chars().all(|c| c == fence.0) =>
            {
                if let Ok(value) = serde_json::from_str(&answer[from..begin]) {
                    return Some(value);
                }
                open = None;
            }
            _ => {}
        }
    }
    open.and_then(|(_, from)| serde_json::from_str(&answer[from..]).ok())
}

/// So many times an answer's length is read again to look into what was begun and broken off.
const READ_AGAIN: usize = 4;

/// The first object or list in a text: each beginning is read until it ends or breaks off, and where one breaks off the next
/// beginning behind its own is tried. In an answer of many beginnings without ends (four times its length has been read
/// in vain) the search goes on behind each break instead, so that the time stays in proportion to the length.
fn embedded(answer: &str) -> Option<Value> {
    let mut left = answer.len().saturating_mul(READ_AGAIN);
    let mut from = 0;
    while let Some(at) = memchr::memchr2(b'{', b'[', answer.as_bytes().get(from..)?).map(|at| from + at) {
        let rest = &answer[at..];
        let read = match serde_json::Deserializer::from_str(rest).into_iter::<Value>().next()? {
            Ok(value) => return Some(value),
            Err(error) => broken_at(rest, &error).max(1),
        };
        from = at + if read <= left { 1 } else { read };
        left = left.saturating_sub(read);
    }
    None
}

/// The byte at which reading a text erred.
fn broken_at(text: &str, error: &serde_json::Error) -> usize {
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    let before: usize = lines.map(str::len).sum();
    (before + error.column()).saturating_sub(1).min(text.len())
}

/// Equal as JSON: keys in any order, numbers by value (`1` is `1.0`).
fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || same_number(one, other),
        (Value::Array(one), Value::Array(other)) => one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other)),
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len() && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| equal(value, other)))
        }
        _ => one == other,
    }
}

/// Whether a whole number and a fraction are equal; two whole numbers that differ are not, however large.
fn same_number(one: &Number, other: &Number) -> bool {
    (one.is_f64() || other.is_f64()) && one.as_f64() == other.as_f64()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// What a wrapper puts around an answer is none of it: the texts of its JSON stand by themselves.
    #[test]
    fn texts_of_an_answer_in_json() {
        #[track_caller]
        fn check(answer: &str, expect: Option<&str>) {
            assert_eq!(texts(answer).as_deref(), expect, "{answer}");
        }
        check(r#"{"findings":[{"where":"src/a.rs:1","severity":"high"},{"where":"src/b.rs:2"}]}"#, Some("high\nsrc/a.rs:1\nsrc/b.rs:2"));
        check(r#"{"answer":"It is \"40 a second\" at src/a.rs:1."}"#, Some("It is \"40 a second\" at src/a.rs:1."));
        check(r#" "It stands\nat src/a.rs:1." "#, Some("It stands\nat src/a.rs:1."));
        check("```json\n{\"where\": \"src/a.rs:1\"}\n```", Some("src/a.rs:1"));
        check("<task>{\"a\":[1,null,\"x\"]}</task>", Some("x"));
        check("no JSON at all", None);
        check("{}", None);
        check("[1, 2]", None);
    }

    #[test]
    fn the_value_of_an_answer() {
        let check = |answer: &str, expect: Option<Value>| assert_eq!(held(answer), expect, "{answer}");
        check(r#" {"a": 1} "#, Some(json!({"a": 1})));
        check("3", Some(json!(3)));
        check("null", Some(Value::Null));
        check("It is:\n```json\n{\"a\": [1]}\n```\nDone.", Some(json!({"a": [1]})));
        check("See [1] first.\n~~~\n\"text\"\n~~~", Some(json!("text"))); // a fence before what merely stands there
        check("```rust\nfn a() { [0; 4] }\n```\n```\n{\"b\": 2}\n```", Some(json!({"b": 2})));
        check("````\n```\n````\n```\n[5]", Some(json!([5]))); // a longer fence holds a shorter; the last one is open
        check("The answer {as asked} is {\"a\": {\"b\": 2}} and {\"a\": 3}.", Some(json!({"a": {"b": 2}})));
        check(r#"[[1, 2], [3]"#, Some(json!([1, 2]))); // the outer one never ends
        check(r#"{"a": 1, "a": 2}"#, Some(json!({"a": 2})));
        check("no value here", None);
        check("", None);
        check("{\"a\": 1", None);
    }

    #[test]
    fn equality() {
        let check = |one: Value, other: Value, expect: bool| assert_eq!(equal(&one, &other), expect, "{one} {other}");
        check(json!({"a": 1, "b": [true, null]}), json!({"b": [true, null], "a": 1}), true);
        check(json!({"a": 1}), json!({"a": 1, "b": 2}), false);
        check(json!([1, 2]), json!([2, 1]), false);
        check(json!(1), json!(1.0), true);
        check(json!(-1), json!(-1.0), true);
        check(json!(1), json!("1"), false);
        check(json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992_u64), false);
        check(json!(0), json!(false), false);
    }

    #[test]
    fn paths() {
        let check = |path: &str, expect: bool| {
            let wanted = JsonIs { value: json!(7), path: path.into() };
            assert_eq!(wanted.stands_in(r#"Here: {"a/b": [1, {"c~": 7}], "d": 7}"#), expect, "{path}");
        };
        check("/d", true);
        check("/a~1b/1/c~0", true);
        check("/a~1b/0", false);
        check("/x", false);
        check("", false);
    }

    #[test]
    fn schemas() {
        let schema =
            JsonKeeps::new(&json!({"type": "object", "required": ["cause"], "properties": {"cause": {"type": "string"}}})).unwrap();
        let check = |answer: &str, expect: bool| assert_eq!(schema.kept_by(answer), expect, "{answer}");
        check(r#"So: {"cause": "the lease"}"#, true);
        check(r#"So: {"cause": 4}"#, false);
        check("{}", false);
        check("no value", false);
        assert!(JsonKeeps::new(&json!({"type": "objekt"})).is_err());
        assert!(JsonKeeps::new(&json!({"$ref": "https://example.com/schema.json"})).is_err());
        assert!(JsonKeeps::new(&json!({"$ref": "file:///etc/schema.json"})).is_err());
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-1e9..1e9).prop_map(Value::from),
            "\\PC{0,6}".prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-c]{1,2}", inner, 0..4).prop_map(|map| map.into_iter().collect())
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_found(value in any_json(), before in "[a-z .,]{0,20}") {
            let wanted = JsonIs { value: value.clone(), path: String::new() };
            prop_assert!(wanted.stands_in(&value.to_string()));
            let fence = format!("{before}\n```\n{value:#}\n```\n");
            prop_assert!(wanted.stands_in(&fence));
            if value.is_object() || value.is_array() {
                let text = format!("{before}{value}{before}");
                prop_assert!(wanted.stands_in(&text));
            }
        }

        #[test]
        fn nothing_panics(text in "[\\[\\]{}\":,0-9a ~`\\n]{0,60}|\\PC{0,40}") {
            let _ = held(&text);
        }
    }

    /// Beginnings without ends, nested and flat: a search that reads on from each would take some 10^11 steps.
    #[test]
    fn long_answers_are_read_a_fixed_number_of_times() {
        for piece in ["[", "{\"a\":[", "[1,", "[\"a[\",", "{\"a\": {", "```\n[\n```\n"] {
            let text = piece.repeat(1_000_000 / piece.len());
            assert!(held(&text).is_none(), "{piece}");
        }
        assert_eq!(held(&"[] ".repeat(300_000)), Some(json!([])));
    }
}
