//! Only what a vector expects is compared: the product may say more.

use super::super::difference::{self, Difference};
use super::super::json::Json;

const REQUEST: &str = "expected_child_request";
const RESULT: &str = "expected_parent_result";

/// What may be expected of a child's first request.
const OF_REQUEST: [&str; 8] = [
    "history_from_parent",
    "instructions",
    "messages",
    "additional_properties",
    "tool_name_prefix",
    "tool_description",
    "children",
    "overlap",
];
/// What may be expected of what the parent gets.
const OF_RESULT: [&str; 5] = ["text", "openai_tool_message", "parent_final_text", "tool_name", "throws"];

/// Where an answer differs. `null` for a request: no child may start; `null` for a result: it is not the subject.
///
/// # Errors
/// An expectation that nobody knows.
pub fn differences(expected: &Json, got: &Json) -> Result<Vec<Difference>, String> {
    let mut found = Vec::new();
    for (key, value) in expected.fields().into_iter().flatten() {
        let given = got.get(key);
        match key.as_str() {
            REQUEST => {
                known(key, value, &OF_REQUEST)?;
                found.extend(difference::differences(key, value, &with_prefix(value, given), &|path| path == REQUEST));
            }
            RESULT if value.is_null() => {}
            RESULT => {
                for one in value.items().unwrap_or(std::slice::from_ref(value)) {
                    known(key, one, &OF_RESULT)?;
                }
                let open = |path: &str| !path.contains('.');
                found.extend(difference::differences(key, value, given, &open));
            }
            _ => return Err(format!("`{key}` is no expectation of this system; known: {REQUEST}, {RESULT}")),
        }
    }
    Ok(found)
}

fn known(place: &str, value: &Json, keys: &[&str]) -> Result<(), String> {
    match value.fields().into_iter().flatten().map(|(key, _)| key).find(|key| !keys.contains(&key.as_str())) {
        Some(key) => Err(format!("`{place}` has an unknown key `{key}`; known: {}", keys.join(", "))),
        None => Ok(()),
    }
}

/// The request with the expected beginning of the tool's name in place of the name, where it begins so.
fn with_prefix(expected: &Json, got: &Json) -> Json {
    const KEY: &str = "tool_name_prefix";
    let mut got = got.clone();
    if let (Some(prefix), Json::Object(fields)) = (expected.get(KEY).as_text(), &mut got)
        && let Some(name) = fields.get_mut(KEY).filter(|name| name.as_text().is_some_and(|name| name.starts_with(prefix)))
    {
        *name = prefix.into();
    }
    got
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: &str, got: &str, expect: Result<&[&str], &str>) {
        let read = |text: &str| serde_json::from_str::<Json>(text).expect("it is JSON");
        let found = differences(&read(expected), &read(got));
        let found = found.map(|found| found.iter().map(|one| one.path.clone()).collect::<Vec<_>>());
        assert_eq!(found, expect.map(|paths| paths.iter().map(|&path| path.to_owned()).collect()).map_err(str::to_owned), "{expected}");
    }

    #[test]
    fn only_what_is_expected_is_compared() {
        let got = r#"{"expected_child_request":{"messages":[],"children":1,"tool_name_prefix":"Sub_1"},
            "expected_parent_result":{"text":"a","tool_name":"Sub"}}"#;
        check("{}", got, Ok(&[]));
        check(r#"{"expected_child_request":{"children":1},"expected_parent_result":{"text":"a"}}"#, got, Ok(&[]));
        check(r#"{"expected_child_request":{"children":2}}"#, got, Ok(&["expected_child_request.children"]));
        check(r#"{"expected_child_request":{"messages":[{"role":"user"}]}}"#, got, Ok(&["expected_child_request.messages[0]"]));
        check(r#"{"expected_child_request":{"tool_name_prefix":"Su"}}"#, got, Ok(&[]));
        check(r#"{"expected_child_request":{"tool_name_prefix":"So"}}"#, got, Ok(&["expected_child_request.tool_name_prefix"]));
        check(r#"{"expected_parent_result":{"throws":"a"}}"#, got, Ok(&["expected_parent_result.throws"]));
        check(r#"{"expected_parent_result":[{"text":"a"}]}"#, got, Ok(&["expected_parent_result"]));
        let list = r#"{"expected_child_request":null,"expected_parent_result":[{"text":"a","tool_name":"Sub"},{"text":"b"}]}"#;
        check(r#"{"expected_parent_result":[{"text":"a"},{"text":"c"}]}"#, list, Ok(&["expected_parent_result[1].text"]));
        check(r#"{"expected_parent_result":[{"text":"a"}]}"#, list, Ok(&["expected_parent_result[1]"]));
    }

    #[test]
    fn null_says_two_things() {
        let started = r#"{"expected_child_request":{},"expected_parent_result":{"text":"a"}}"#;
        check(r#"{"expected_child_request":null}"#, started, Ok(&["expected_child_request"]));
        check(r#"{"expected_child_request":{}}"#, r#"{"expected_child_request":null}"#, Ok(&["expected_child_request"]));
        check(r#"{"expected_parent_result":null}"#, started, Ok(&[]));
    }

    #[test]
    fn unknown_expectations_are_faults() {
        check(
            r#"{"expected_x":1}"#,
            "{}",
            Err("`expected_x` is no expectation of this system; known: expected_child_request, expected_parent_result"),
        );
        check(
            r#"{"expected_parent_result":{"texts":1}}"#,
            "{}",
            Err(
                "`expected_parent_result` has an unknown key `texts`; known: text, openai_tool_message, parent_final_text, tool_name, throws",
            ),
        );
    }
}
