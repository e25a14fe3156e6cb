//! The same vectors with other texts: every word of a free text is replaced by another of the same length, in what is given
//! and in what is expected alike.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde_json::value::RawValue;

use super::files::edited;

/// Keys whose strings are names or choices, not free text.
const NAMES: &[&str] = &[
    "type",
    "role",
    "phase",
    "kind",
    "status",
    "action",
    "permission",
    "pattern",
    "mode",
    "name",
    "tool",
    "tool_calls",
    "tool_name",
    "agent",
    "strategy",
    "basis",
    "id",
    "call_id",
    "finish",
    "finish_reason",
    "stop_reason",
    "history_mode",
    "fork_turns",
    "task_name",
    "event",
    "subagent_type",
    "context_mode",
    "caller_agent",
    "primary_tools",
    "by",
];

/// Objects whose keys are names; words of these stay in every text.
const NAMED: &[&str] = &["agents"];

/// Objects whose keys are texts.
const TEXTS: &[&str] = &["worktree_files"];

/// Words that a system's protocol knows: tags, labels, fixed texts.
const PROTOCOL: &[&str] = &[
    // OpenCode: its own agents, the wrappers, what the Read tool and a cut output say, ids.
    "build",
    "plan",
    "general",
    "explore",
    "compaction",
    "title",
    "summary",
    "subagent",
    "task",
    "state",
    "completed",
    "running",
    "error",
    "result",
    "Background",
    "started",
    "updated",
    "failed",
    "Subagent",
    "path",
    "type",
    "file",
    "directory",
    "content",
    "entries",
    "End",
    "total",
    "lines",
    "line",
    "chars",
    "truncated",
    "Called",
    "the",
    "Read",
    "tool",
    "with",
    "following",
    "input",
    "filePath",
    "Showing",
    "Use",
    "offset",
    "continue",
    "Output",
    "capped",
    "png",
    "pdf",
    "bin",
    "AGENTS",
    "ses",
    "CHILD",
    "PARENT",
    "OTHER",
    "WORKTREE",
    "TOOL",
    "null",
    "undefined",
    "Expected",
    "string",
    "boolean",
    "got",
    "object",
    "rules",
    "What",
    "did",
    "far",
    "Continue",
    "you",
    "have",
    "next",
    "steps",
    "user",
    "assistant",
    "and",
    "for",
    "Instructions",
    "from",
    "system",
    "reminder",
];

/// The file with other texts.
pub fn replaced(text: &str) -> String {
    edited(text, |_, fields| {
        // Reasons speak of expected texts too.
        let given = fields.iter().filter(|(key, _)| !key.starts_with("expected_") && !matches!(key.as_str(), "why" | "note"));
        let (mut words, mut names) = (BTreeSet::new(), BTreeSet::new());
        for (key, value) in given {
            collect(key, value, &mut words, &mut names);
        }
        words.retain(|word| !names.contains(word));
        fields
            .into_iter()
            .map(|(key, value)| {
                let other = replace(&key, &value, &words);
                (key, other)
            })
            .collect()
    })
}

/// The words of a text: runs of three and more ASCII letters.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| word.len() >= 3 && !PROTOCOL.contains(word))
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
        return raw(serde_json::to_string(&fields).expect("it was JSON"));
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

/// A text with every word of the set replaced where it stands whole.
fn reworded(text: &str, words: &BTreeSet<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut word = String::new();
    for c in text.chars().map(Some).chain([None]) {
        match c.filter(char::is_ascii_alphabetic) {
            Some(c) => word.push(c),
            None => {
                out += &if words.contains(&word) { other(&word) } else { word.clone() };
                word.clear();
                out.extend(c);
            }
        }
    }
    out
}

#[test]
fn words_are_replaced_where_they_stand_whole() {
    let words: BTreeSet<String> = ["first".to_owned()].into();
    assert_eq!(reworded("first, firsts and <first>", &words), "svefg, firsts and <svefg>");
}
