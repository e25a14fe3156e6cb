//! Every expectation of OpenCode's vectors is compared: none can be changed without being missed.

use ctxbench::conformance::verify;
use indexmap::IndexMap;
use serde_json::Value;
use serde_json::value::RawValue;

use super::files::fixtures;

/// Keys whose values are conditions, not values.
const CONDITIONS: [&str; 1] = ["output_not_contains"];

/// Every way to change one leaf of a value into another.
fn changed(value: &Value) -> Vec<Value> {
    match value {
        Value::Object(fields) => {
            let open = fields.iter().filter(|(key, _)| !CONDITIONS.contains(&key.as_str()));
            let with = |key: &String, other: Value| {
                let mut fields = fields.clone();
                fields.insert(key.clone(), other);
                Value::Object(fields)
            };
            open.flat_map(|(key, value)| changed(value).into_iter().map(move |other| with(key, other))).collect()
        }
        Value::Array(items) => {
            let with = |at: usize, other: Value| {
                let mut items = items.clone();
                items[at] = other;
                Value::Array(items)
            };
            let items = items.iter().enumerate();
            items.flat_map(|(at, value)| changed(value).into_iter().map(move |other| with(at, other))).collect()
        }
        Value::Null => vec!["something".into()],
        Value::Bool(value) => vec![(!value).into()],
        Value::Number(number) => vec![(number.as_u64().unwrap_or_default() + 1).into()],
        // In the middle, so that a beginning is no beginning any more.
        Value::String(text) => {
            let middle = text.char_indices().nth(text.chars().count() / 2).map_or(text.len(), |(at, _)| at);
            let (head, tail) = text.split_at(middle);
            vec![format!("{head}\u{1}{tail}").into()]
        }
    }
}

type Fields = IndexMap<String, Box<RawValue>>;
/// Vectors, each with all ways to change one expectation.
type Changes<'a> = Vec<(&'a Fields, Vec<Value>)>;

#[test]
fn no_expectation_can_be_changed() {
    let (_, text) = fixtures().into_iter().find(|(name, _)| name == "opencode.json").expect("it is there");
    let mut file: Fields = serde_json::from_str(&text).expect("it is a JSON object");
    let vectors: Vec<Fields> = serde_json::from_str(file["vectors"].get()).expect("vectors are a list of objects");
    let raw = |text: String| RawValue::from_string(text).expect("it is JSON");
    let mut tried = 0;
    for key in ["expected_child_request", "expected_parent_result"] {
        // Long texts are compared like short ones, and cost more.
        let short = vectors.iter().filter(|vector| vector.values().map(|value| value.get().len()).sum::<usize>() < 4_000);
        let changes: Changes<'_> =
            short.map(|vector| (vector, changed(&serde_json::from_str(vector[key].get()).expect("it is JSON")))).collect();
        // In each round another leaf of every vector that has so many.
        for round in 0.. {
            let others = changes.iter().filter_map(|(vector, changes)| {
                let mut vector = (*vector).clone();
                vector.insert(key.into(), raw(changes.get(round)?.to_string()));
                Some(vector)
            });
            let others: Vec<Fields> = others.collect();
            if others.is_empty() {
                break;
            }
            file.insert("vectors".into(), raw(serde_json::to_string(&others).expect("it was JSON")));
            let verdicts = verify(&serde_json::to_string(&file).expect("it was JSON")).expect("it is a file of vectors");
            assert_eq!(verdicts.failed.len(), others.len(), "round {round} of {key}");
            tried += others.len();
        }
    }
    assert!(tried > 2_000, "{tried} changes");
}
