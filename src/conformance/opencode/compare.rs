//! Where an answer differs from what a vector expects: only the keys that stand in it are compared.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::conformance::difference::{self, Difference};
use crate::conformance::json::Json;
use crate::strategy::opencode::ID_LINE;

use super::given::read_model;
use super::parts::{children, groups, message, renamed};

/// Keys of a child's request that are compared as they stand.
const PLAIN: [&str; 8] =
    ["history_from_parent", "variant", "session_permission", "title", "parent_link", "new_session", "agent_after", "children"];
/// Keys of a result that are compared as they stand.
const RESULT: [&str; 7] =
    ["status", "output", "error", "output_line_count_kept", "injected", "parent_message_error", "child_message_error"];

/// See [`Dialect::differences`](crate::conformance::dialect::Dialect::differences).
pub fn differences(expected: &Json, got: &Json) -> Result<Vec<Difference>, String> {
    let fields = expected.fields().cloned().unwrap_or_default();
    if let Some(key) = fields.keys().find(|key| !["expected_child_request", "expected_parent_result"].contains(&key.as_str())) {
        return Err(format!("unknown expectation `{key}`"));
    }
    let expected = &same_children(expected, got);
    let mut found = Vec::new();
    if fields.contains_key("expected_child_request") {
        let path = "expected_child_request";
        found.extend(request(path, expected.get(path), got.get(path), got)?);
    }
    if fields.contains_key("expected_parent_result") {
        let path = "expected_parent_result";
        found.extend(results(path, expected.get(path), got.get(path))?);
    }
    Ok(found)
}

/// `null`: no child starts; of the older wrapper the opening is not the subject.
fn request(path: &str, expected: &Json, got: &Json, answer: &Json) -> Result<Vec<Difference>, String> {
    let result = first(answer.get("expected_parent_result"));
    let Some(fields) = expected.fields() else {
        let is_older = result.get("output").as_text().is_some_and(|output| output.starts_with(ID_LINE));
        let differs = !expected.is_null() || !(got.is_null() || is_older);
        return Ok(if differs { vec![Difference::new(path, Some(expected), Some(got))] } else { vec![] });
    };
    if got.is_null() {
        return Ok(vec![Difference::new(path, Some(expected), Some(got))]);
    }
    let mut found = Vec::new();
    for (key, expected) in fields {
        let path = format!("{path}.{key}");
        let got = got.get(key);
        match key.as_str() {
            "user_parts" => found.extend(user_parts(&path, expected, got)),
            "messages" | "after_compaction_messages" => {
                let all = |list: &Json| list.items().map_or(list.clone(), |items| Json::List(items.iter().map(message).collect()));
                found.extend(difference::differences(&path, &all(expected), got, &|_| false));
            }
            "model" => found.extend(model(&path, expected, got, result.get("metadata").get("model"))),
            key if PLAIN.contains(&key) => found.extend(difference::differences(&path, expected, got, &|_| false)),
            _ => return Err(format!("unknown expectation `{path}`")),
        }
    }
    Ok(found)
}

/// Behind the first part, the groups of mentions have no order.
fn user_parts(path: &str, expected: &Json, got: &Json) -> Vec<Difference> {
    let (Some(wanted), Some(given)) = (expected.items(), got.items()) else {
        return difference::differences(path, expected, got, &|_| false);
    };
    let mut found = match (wanted.first(), given.first()) {
        (Some(one), Some(other)) => difference::differences(&format!("{path}[0]"), one, other, &|_| false),
        (None, None) => vec![],
        (one, other) => vec![Difference::new(&format!("{path}[0]"), one, other)],
    };
    let mut left = groups(given);
    let mut missing = Vec::new();
    for group in groups(wanted) {
        match left.iter().position(|other| *other == group) {
            Some(at) => {
                left.remove(at);
            }
            None => missing.push(group),
        }
    }
    let whole = |group: Option<&Vec<&Json>>| group.map(|group| Json::List(group.iter().map(|part| (*part).clone()).collect()));
    for at in 0..missing.len().max(left.len()) {
        let (one, other) = (whole(missing.get(at)), whole(left.get(at)));
        found.push(Difference::new(&format!("{path}, mention"), one.as_ref(), other.as_ref()));
    }
    found
}

/// `inherit` is the caller's model, which may be written out as well: it stands beside the call.
fn model(path: &str, expected: &Json, got: &Json, callers: &Json) -> Vec<Difference> {
    let is_inherited = |model: &Json| model.as_text() == Some("inherit");
    let agrees = match (is_inherited(expected), is_inherited(got)) {
        (true, true) => true,
        (false, true) => read_model(expected).is_some() && read_model(expected) == read_model(callers),
        (false, false) => read_model(expected).is_some() && read_model(expected) == read_model(got),
        (true, false) => false,
    };
    if agrees { vec![] } else { vec![Difference::new(path, Some(expected), Some(got))] }
}

/// One result, or a list of them; `null`: what comes back is not the subject.
fn results(path: &str, expected: &Json, got: &Json) -> Result<Vec<Difference>, String> {
    match (expected, got) {
        (Json::Null, _) => Ok(vec![]),
        (Json::List(wanted), Json::List(given)) if wanted.len() == given.len() => {
            let mut found = Vec::new();
            for (at, (expected, got)) in wanted.iter().zip(given).enumerate() {
                found.extend(result(&format!("{path}[{at}]"), expected, got)?);
            }
            Ok(found)
        }
        (Json::List(wanted), Json::Object(_)) if wanted.len() == 1 => result(&format!("{path}[0]"), &wanted[0], got),
        (Json::Object(_), Json::Object(_)) => result(path, expected, got),
        _ => Ok(vec![Difference::new(path, Some(expected), Some(got))]),
    }
}

fn result(path: &str, expected: &Json, got: &Json) -> Result<Vec<Difference>, String> {
    let mut found = Vec::new();
    let output = got.get("output");
    for (key, expected) in expected.fields().into_iter().flat_map(IndexMap::iter) {
        let path = format!("{path}.{key}");
        let text = || expected.as_text().unwrap_or_default();
        let output_text = || output.as_text().unwrap_or_default();
        let agrees = match key.as_str() {
            "output_prefix" => output_text().starts_with(text()),
            "output_contains" => texts(expected).iter().all(|text| output_text().contains(text)),
            "output_not_contains" => texts(expected).iter().all(|text| !output_text().contains(text)),
            "metadata" => {
                found.extend(difference::differences(&path, &plain_model(expected), &plain_model(got.get(key)), &|at| at == path));
                continue;
            }
            key if RESULT.contains(&key) => {
                found.extend(difference::differences(&path, expected, got.get(key), &|_| false));
                continue;
            }
            _ => return Err(format!("unknown expectation `{path}`")),
        };
        if !agrees {
            found.push(Difference::new(&path, Some(expected), Some(output)));
        }
    }
    Ok(found)
}

/// One text, or several.
fn texts(value: &Json) -> Vec<&str> {
    value.items().map_or_else(|| value.as_text().into_iter().collect(), |items| items.iter().filter_map(Json::as_text).collect())
}

/// Metadata with its model in one form.
fn plain_model(metadata: &Json) -> Json {
    let Json::Object(mut fields) = metadata.clone() else { return metadata.clone() };
    if let Some(model) = fields.get("model").and_then(read_model) {
        fields.insert("model".into(), Json::object([("providerID", model.provider.into()), ("modelID", model.id.into())]));
    }
    Json::Object(fields)
}

fn first(results: &Json) -> &Json {
    results.items().and_then(<[Json]>::first).unwrap_or(results)
}

/// The expectation with the answer's names for children: which number a child has in a vector is the vector's choice.
fn same_children(expected: &Json, got: &Json) -> Json {
    let mut names = BTreeMap::new();
    pair(expected, got, &mut names);
    rename(expected, &names)
}

fn pair(expected: &Json, got: &Json, names: &mut BTreeMap<String, String>) {
    match (expected, got) {
        (Json::Text(one), Json::Text(other)) => {
            for (one, other) in children(one).into_iter().zip(children(other)) {
                if !names.values().any(|taken| taken == other) {
                    names.entry(one.to_owned()).or_insert_with(|| other.to_owned());
                }
            }
        }
        (Json::List(one), Json::List(other)) => one.iter().zip(other).for_each(|(one, other)| pair(one, other, names)),
        (Json::Object(one), _) => {
            for (key, value) in one {
                let key = if ["output_prefix", "output_contains"].contains(&key.as_str()) { "output" } else { key };
                pair(value, got.get(key), names);
            }
        }
        _ => {}
    }
}

fn rename(json: &Json, names: &BTreeMap<String, String>) -> Json {
    match json {
        Json::Text(text) => Json::Text(renamed(text, |child| names.get(child).cloned().unwrap_or_else(|| child.to_owned()))),
        Json::List(items) => Json::List(items.iter().map(|item| rename(item, names)).collect()),
        Json::Object(fields) => Json::Object(fields.iter().map(|(key, value)| (key.clone(), rename(value, names))).collect()),
        other => other.clone(),
    }
}
