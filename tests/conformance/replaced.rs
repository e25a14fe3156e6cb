//! The same vectors with other texts: every word of a free text is replaced by another of the same length, in what is given
//! and in what is expected alike.

use std::collections::BTreeSet;

use ctxbench::strategy::deerflow::sha256;
use indexmap::IndexMap;
use serde_json::value::RawValue;

use super::files::{edited, system};
use super::protocol::{DIGESTS, LABELS, NAMED, NAMES, TEXTS, protocol};

/// The file with other texts.
pub fn replaced(text: &str) -> String {
    let protocol = protocol(&system(text));
    edited(text, |_, fields| {
        let given = fields.iter().filter(|(key, _)| !LABELS.contains(&key.as_str()) && !key.starts_with("expected_"));
        let (mut words, mut names) = (BTreeSet::new(), BTreeSet::new());
        for (key, value) in given {
            collect(key, value, &mut words, &mut names);
        }
        words.retain(|word| !names.contains(word) && !protocol.contains(&word.as_str()));
        fields
            .into_iter()
            .map(|(key, value)| {
                let other = replace(&key, &value, &words);
                (key, other)
            })
            .collect()
    })
}

/// A text as runs of ASCII letters and single other characters. The letter of an escape (`\\n`) is none of a word: a text
/// may stand inside JSON.
fn runs(text: &str) -> Vec<&str> {
    let mut runs = Vec::new();
    let (mut from, mut escaped) = (0, false);
    for (at, c) in text.char_indices() {
        if c.is_ascii_alphabetic() && !escaped {
            continue;
        }
        runs.extend([&text[from..at], &text[at..at + c.len_utf8()]]);
        from = at + c.len_utf8();
        escaped = c == '\\';
    }
    runs.push(&text[from..]);
    runs.retain(|run| !run.is_empty());
    runs
}

/// The words of a text: runs of three and more letters.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    runs(text).into_iter().filter(|word| word.len() >= 3 && is_letters(word))
}

/// Whether a run is one of the words, or several with nothing between.
fn is_made_of(run: &str, words: &BTreeSet<String>) -> bool {
    let mut ends = vec![0];
    for at in 1..=run.len() {
        if ends.iter().any(|&from| words.contains(&run[from..at])) {
            ends.push(at);
        }
    }
    !run.is_empty() && ends.last() == Some(&run.len())
}

/// A word with every letter moved by thirteen places: other letters, as many bytes, the same case.
fn other(word: &str) -> String {
    let moved = |c: char, first: u8| char::from(first + (c as u8 - first + 13) % 26);
    word.chars().map(|c| if c.is_ascii_lowercase() { moved(c, b'a') } else { moved(c, b'A') }).collect()
}

fn collect(key: &str, value: &RawValue, words: &mut BTreeSet<String>, names: &mut BTreeSet<String>) {
    let text = value.get();
    if let Ok(fields) = serde_json::from_str::<IndexMap<String, &RawValue>>(text) {
        for (field, value) in &fields {
            if NAMED.contains(&key) {
                names.extend(words_of(field).map(str::to_owned));
            }
            if TEXTS.contains(&key) {
                words.extend(words_of(field).map(str::to_owned));
            }
            collect(field, value, words, names);
        }
    } else if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text) {
        items.iter().for_each(|item| collect(key, item, words, names));
    } else if let Ok(string) = serde_json::from_str::<String>(text)
        && !NAMES.contains(&key)
    {
        words.extend(words_of(&string).map(str::to_owned));
    }
}

fn replace(key: &str, value: &RawValue, words: &BTreeSet<String>) -> Box<RawValue> {
    let text = value.get();
    let raw = |text: String| RawValue::from_string(text).expect("it is JSON");
    if let Ok(fields) = serde_json::from_str::<IndexMap<String, &RawValue>>(text) {
        let fields: IndexMap<String, Box<RawValue>> = fields
            .into_iter()
            .map(|(field, value)| {
                let other = replace(&field, value, words);
                (if TEXTS.contains(&key) { reworded(&field, words) } else { field }, other)
            })
            .collect();
        return raw(serde_json::to_string(&digested(text, fields)).expect("it was JSON"));
    }
    if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text) {
        let items: Vec<Box<RawValue>> = items.into_iter().map(|item| replace(key, item, words)).collect();
        return raw(serde_json::to_string(&items).expect("it was JSON"));
    }
    match serde_json::from_str::<String>(text) {
        Ok(string) if !NAMES.contains(&key) => raw(serde_json::to_string(&reworded(&string, words)).expect("a string is JSON")),
        _ => value.to_owned(),
    }
}

/// Digests of texts, made anew: where the object held a text and its SHA-256, the new one does.
fn digested(before: &str, mut fields: IndexMap<String, Box<RawValue>>) -> IndexMap<String, Box<RawValue>> {
    let before: IndexMap<String, &RawValue> = serde_json::from_str(before).expect("it was read before");
    for (text, digest) in DIGESTS {
        let string = |raw: Option<&RawValue>| raw.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
        let (Some(old), Some(held)) = (string(before.get(*text).copied()), string(before.get(*digest).copied())) else { continue };
        let Some(new) = string(fields.get(*text).map(|raw| &**raw)) else { continue };
        if held == sha256(&old) {
            fields.insert((*digest).to_owned(), RawValue::from_string(format!("\"{}\"", sha256(&new))).expect("a string is JSON"));
        }
    }
    fields
}

/// A text with every word of the set replaced where it stands whole, or beside others of the set.
fn reworded(text: &str, words: &BTreeSet<String>) -> String {
    runs(text).into_iter().map(|run| if is_letters(run) && is_made_of(run, words) { other(run) } else { run.to_owned() }).collect()
}

fn is_letters(run: &str) -> bool {
    run.bytes().all(|byte| byte.is_ascii_alphabetic())
}

#[test]
fn words_are_replaced_where_they_stand_whole() {
    let words: BTreeSet<String> = ["first", "aloud"].map(str::to_owned).into();
    let check = |text: &str, expect: &str| assert_eq!(reworded(text, &words), expect);
    check("first, firsts and <first>", "svefg, firsts and <svefg>");
    check("aloudfirst, aloudlyfirst", "nybhqsvefg, aloudlyfirst");
    check("\"aloud\\nfirst\\u00e9first\"", "\"nybhq\\nsvefg\\u00e9svefg\"");
    assert_eq!(words_of("\"aloud\\nfirst at\"").collect::<Vec<_>>(), ["aloud", "first"]);
}
