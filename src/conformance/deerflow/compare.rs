//! How answers are compared with expectations: texts of the host stand for themselves, an exception is its type.

use super::super::difference::{self, Difference};
use super::super::encoding;
use super::super::json::Json;

/// What may be expected.
const EXPECTED: [&str; 2] = ["expected_child_messages", "expected_parent_result"];

/// Where an answer differs. A result that is `null` is not the subject.
pub fn differences(expected: &Json, got: &Json) -> Result<Vec<Difference>, String> {
    let mut found = Vec::new();
    for (key, wanted) in expected.fields().into_iter().flatten() {
        if !EXPECTED.contains(&key.as_str()) {
            return Err(format!("an unknown expectation `{key}`"));
        }
        if key == "expected_parent_result" && wanted.is_null() {
            continue;
        }
        let (wanted, given) = agreed(&encoding::expectation(wanted)?, &encoding::expectation(got.get(key))?);
        found.extend(difference::differences(key, &wanted, &given, &|_| false));
    }
    Ok(found)
}

/// Both sides with what agrees in another form written alike.
fn agreed(expected: &Json, got: &Json) -> (Json, Json) {
    let (expected, got) = match (expected, got) {
        (Json::List(wanted), Json::List(given)) if wanted.len() == given.len() => {
            let pairs = wanted.iter().zip(given).map(|(wanted, given)| agreed(wanted, given));
            let (wanted, given): (Vec<Json>, Vec<Json>) = pairs.unzip();
            (Json::List(wanted), Json::List(given))
        }
        (Json::Object(wanted), Json::Object(given)) => {
            let system = wanted.get("role").and_then(Json::as_text) == Some("system");
            let mut given = given.clone();
            let wanted = wanted.iter().map(|(key, wanted)| {
                let Some(other) = given.get(key) else { return (key.clone(), wanted.clone()) };
                let agrees = match key.as_str() {
                    "content" => reads_as(wanted, other, system),
                    "raises" => kind(wanted).is_some() && kind(wanted) == kind(other),
                    _ => false,
                };
                let (wanted, other) = if agrees { (wanted.clone(), wanted.clone()) } else { agreed(wanted, other) };
                given.insert(key.clone(), other);
                (key.clone(), wanted)
            });
            let wanted = wanted.collect();
            (Json::Object(wanted), Json::Object(given))
        }
        _ => (expected.clone(), got.clone()),
    };
    (expected, got)
}

/// An exception's type.
fn kind(raised: &Json) -> Option<&str> {
    raised.as_text().and_then(|text| text.split(':').next())
}

/// Whether a text that holds texts of the host agrees with one that is there.
fn reads_as(expected: &Json, got: &Json, system: bool) -> bool {
    let Some(text) = whole(got) else { return false };
    match (expected, in_parts(expected)) {
        (_, Some((parts, join))) => matches(&parts, join, &text),
        (Json::Text(expected), None) => (system && is_host(expected) && !text.is_empty()) || *expected == text,
        _ => false,
    }
}

fn in_parts(value: &Json) -> Option<(Vec<&str>, &str)> {
    let parts = value.get("$parts").items()?.iter().map(Json::as_text).collect::<Option<Vec<_>>>()?;
    Some((parts, value.get("$join").as_text()?))
}

/// A text, whole or in parts.
fn whole(value: &Json) -> Option<String> {
    match in_parts(value) {
        Some((parts, join)) => Some(parts.join(join)),
        None => value.as_text().map(str::to_owned),
    }
}

/// `<...>`: something of the host.
fn is_host(part: &str) -> bool {
    part.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).is_some_and(|inner| !inner.contains(['<', '>']))
}

/// Whether a text is made of these parts, those of the host of any text that is not empty.
fn matches(parts: &[&str], join: &str, text: &str) -> bool {
    let Some((first, rest)) = parts.split_first() else { return text.is_empty() };
    if !is_host(first) {
        return match text.strip_prefix(first) {
            Some(left) if rest.is_empty() => left.is_empty(),
            Some(left) => left.strip_prefix(join).is_some_and(|left| matches(rest, join, left)),
            None => false,
        };
    }
    if rest.is_empty() {
        return !text.is_empty();
    }
    let ends = text.match_indices(join).filter(|(end, _)| *end > 0);
    ends.into_iter().any(|(end, _)| matches(rest, join, &text[end + join.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: &str, got: &str, expect: &[&str]) {
        let read = |text: &str| serde_json::from_str::<Json>(text).expect("it is JSON");
        let found = differences(&read(expected), &read(got)).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(found.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(), expect, "{expected}");
    }

    #[test]
    fn texts_of_the_host_stand_for_themselves() {
        let got = |content: &str| format!(r#"{{"expected_child_messages":[{{"role":"system","content":{content}}}]}}"#);
        let parts = |parts: &str| got(&format!(r#"{{"$parts":[{parts}],"$join":"\n\n"}}"#));
        let check = |expected: &str, given: &str, agree: bool| {
            check(expected, given, if agree { &[] } else { &["expected_child_messages[0].content"] });
        };
        check(&parts(r#""<role>","NOTE""#), &got(r#""You work.\n\nAlways.\n\nNOTE""#), true);
        check(&parts(r#""<role>","NOTE""#), &got(r#""NOTE""#), false);
        check(&parts(r#""<role>","NOTE""#), &got(r#""You work.\n\nNOTE\n\nmore""#), false);
        check(&parts(r#""<role>","NOTE","<contract>""#), &got(r#""You work.\n\nNOTE\n\nmore""#), true);
        check(&parts(r#""<role>","NOTE","<contract>""#), &got(r#""You work.\n\nmore""#), false);
        check(&got(r#""<role>""#), &got(r#""You work.""#), true);
        check(&got(r#""role""#), &got(r#""You work.""#), false);
    }

    #[test]
    fn exceptions_are_types_and_encodings_are_read() {
        let result = |text: &str| format!(r#"{{"expected_parent_result":{text}}}"#);
        check(&result(r#"{"raises":"TypeError: bytes"}"#), &result(r#"{"raises":"TypeError"}"#), &[]);
        check(&result(r#"{"raises":"ValueError"}"#), &result(r#"{"raises":"TypeError"}"#), &["expected_parent_result.raises"]);
        check(&result(r#"{"content":[{"text":{"$repeat":["x",3]}}]}"#), &result(r#"{"content":[{"text":"xxx"}]}"#), &[]);
        check(&result("null"), &result(r#""anything""#), &[]);
        check(&result(r#""a""#), &result("null"), &["expected_parent_result"]);
        assert!(differences(&Json::object([("expected_nothing", Json::Null)]), &Json::Null).is_err());
    }
}
