//! Where an answer differs from what is expected.

use std::fmt;

use super::json::Json;

/// One place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Where: keys joined by dots, positions in brackets.
    pub path: String,
    /// What is expected there, as JSON; `nothing` if it should not be there.
    pub expected: String,
    /// What the product gives, as JSON; `nothing` if it is not there.
    pub got: String,
}

/// Characters of a text that are shown around its first difference.
const SHOWN: usize = 60;

impl Difference {
    /// Two values at a place.
    pub fn new(path: &str, expected: Option<&Json>, got: Option<&Json>) -> Difference {
        let shown = |value: Option<&Json>| value.map_or("nothing".to_owned(), Json::to_string);
        Difference { path: path.to_owned(), expected: shown(expected), got: shown(got) }
    }
}

impl fmt::Display for Difference {
    /// Two lines under a path; long texts from a little before the first character that differs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let same = self.expected.chars().zip(self.got.chars()).take_while(|(a, b)| a == b).count();
        let from = if same > SHOWN { same - SHOWN / 3 } else { 0 };
        let cut = |text: &str| {
            let head = if from > 0 { "…" } else { "" };
            let shown: String = text.chars().skip(from).take(2 * SHOWN).collect();
            let tail = if text.chars().count() > from + 2 * SHOWN { "…" } else { "" };
            format!("{head}{shown}{tail}")
        };
        write!(f, "{}\n  expected {}\n  got      {}", self.path, cut(&self.expected), cut(&self.got))
    }
}

/// Where two values differ, keys of objects in any order. `open`: whether an object of the answer may have more keys than
/// the expected one at a path.
pub fn differences(path: &str, expected: &Json, got: &Json, open: &dyn Fn(&str) -> bool) -> Vec<Difference> {
    let mut found = Vec::new();
    collect(path, expected, got, open, &mut found);
    found
}

fn collect(path: &str, expected: &Json, got: &Json, open: &dyn Fn(&str) -> bool, found: &mut Vec<Difference>) {
    match (expected, got) {
        (Json::Object(wanted), Json::Object(given)) => {
            for (key, value) in wanted {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                match given.get(key) {
                    Some(other) => collect(&path, value, other, open, found),
                    None => found.push(Difference::new(&path, Some(value), None)),
                }
            }
            if !open(path) {
                let more = given.iter().filter(|(key, _)| !wanted.contains_key(*key));
                found.extend(more.map(|(key, value)| Difference::new(&format!("{path}.{key}"), None, Some(value))));
            }
        }
        (Json::List(wanted), Json::List(given)) => {
            for at in 0..wanted.len().max(given.len()) {
                let path = format!("{path}[{at}]");
                match (wanted.get(at), given.get(at)) {
                    (Some(value), Some(other)) => collect(&path, value, other, open, found),
                    (value, other) => found.push(Difference::new(&path, value, other)),
                }
            }
        }
        _ if expected == got => {}
        _ => found.push(Difference::new(path, Some(expected), Some(got))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: &str, got: &str, open: bool, expect: &[&str]) {
        let read = |text: &str| serde_json::from_str::<Json>(text).expect("it is JSON");
        let found = differences("v", &read(expected), &read(got), &|_| open);
        let shown: Vec<String> = found.iter().map(|one| format!("{}: {} | {}", one.path, one.expected, one.got)).collect();
        assert_eq!(shown, expect);
    }

    #[test]
    fn every_place_is_named() {
        check(r#"{"a":1}"#, r#"{"a":1}"#, false, &[]);
        check(r#"{"a":1}"#, r#"{"a":1,"b":2}"#, true, &[]);
        check(r#"{"a":1}"#, r#"{"a":1,"b":2}"#, false, &["v.b: nothing | 2"]);
        check(r#"{"a":[1,2]}"#, r#"{"a":[1]}"#, false, &["v.a[1]: 2 | nothing"]);
        check(r#"{"a":[1,{"b":"x"}]}"#, r#"{"a":[3,{"b":"y"}]}"#, false, &["v.a[0]: 1 | 3", "v.a[1].b: \"x\" | \"y\""]);
        check("null", "[]", false, &["v: null | []"]);
    }

    #[test]
    fn long_texts_are_shown_where_they_part() {
        let long = format!("{}A{}", "x".repeat(200), "y".repeat(300));
        let other = long.replace('A', "B");
        let shown = Difference::new("p", Some(&long.as_str().into()), Some(&other.as_str().into())).to_string();
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[1].contains("xAy") && lines[2].contains("xBy"), "{shown}");
        assert!(shown.chars().count() < 300, "{shown}");
    }
}
