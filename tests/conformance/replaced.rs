//! The same vectors with other texts: every word of a free text is replaced by another of the same length, in what is given
//! and in what is expected alike.

use std::collections::BTreeSet;

use ctxbench::strategy::deerflow::sha256;
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
    "response_kind",
    "subagent_status",
    "subagent_stop_reason",
    "subagent_result_sha256",
    "result_sha256",
    "available_subagents",
    "child_tools",
    "when",
];

/// Words that a system's protocol knows: tags, labels, fixed texts.
const PROTOCOL: &[&str] = &[];

/// DeerFlow's: labels, tags, statuses, kinds of messages, what Python writes, the fixed texts of results and refusals.
const DEERFLOW: &str = "Historical conversation summary name type ystem user assistant tool result calls call not executed by you args \
     text option human_input_response reminder memory system think role prompt uploaded files important goal continuation instruction \
     override analysis guidelines output format soul ignore BEGIN END USER INPUT begin input SYSTEM System mem systemic prompts \
     completed failed cancelled timed out polling max turns reached running progress capped token turn loop budget repeated length stop limit \
     None True False RAW null true false Infinity TypeError raises \
     Task Succeeded Result Error No response generated Execution after seconds Reached Cancelled Unknown subagent type context mode \
     Available none Use isolated snapshot general purpose bash shared Snapshot task batch parent ephemeral image url audio video file document \
     reasoning thinking base content plain enabled";

/// learn-claude-code's.
const COURSE: &str = "Unknown tool task bash read_file read file KeyError prompt path command summary end turn use max tokens";

/// The file with other texts.
pub fn replaced(text: &str) -> String {
    edited(text, |_, fields| {
        let given = fields.iter().filter(|(key, _)| !key.starts_with("expected_"));
        let mut words = BTreeSet::new();
        for (key, value) in given {
            collect(key, value, &mut words);
        }
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
    let is_protocol =
        |word: &str| PROTOCOL.contains(&word) || [DEERFLOW, COURSE].iter().any(|words| pieces(words).any(|known| known == word));
    pieces(text).filter(move |word| word.len() >= 3 && !is_protocol(word))
}

/// The runs of ASCII letters of a text.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphabetic())
}

/// A word with every letter moved by thirteen places: other letters, as many bytes, the same case.
fn other(word: &str) -> String {
    let moved = |c: char, first: u8| char::from(first + (c as u8 - first + 13) % 26);
    word.chars().map(|c| if c.is_ascii_lowercase() { moved(c, b'a') } else { moved(c, b'A') }).collect()
}

fn collect(key: &str, value: &RawValue, words: &mut BTreeSet<String>) {
    let text = value.get();
    if let Ok(fields) = serde_json::from_str::<IndexMap<String, &RawValue>>(text) {
        fields.iter().for_each(|(key, value)| collect(key, value, words));
    } else if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text) {
        items.iter().for_each(|item| collect(key, item, words));
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
            .map(|(key, value)| {
                let other = replace(&key, value, words);
                (key, other)
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
    for (text, digest) in [("result_brief", "result_sha256"), ("subagent_result_brief", "subagent_result_sha256")] {
        let string = |raw: Option<&RawValue>| raw.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
        let (Some(old), Some(held)) = (string(before.get(text).copied()), string(before.get(digest).copied())) else { continue };
        let Some(new) = string(fields.get(text).map(|raw| &**raw)) else { continue };
        if held == sha256(&old) {
            fields.insert(digest.into(), RawValue::from_string(format!("\"{}\"", sha256(&new))).expect("a string is JSON"));
        }
    }
    fields
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
