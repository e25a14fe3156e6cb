//! What holds of snapshots, limits and ledgers whatever a history holds.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::strategy::deerflow::ledger::{Ledger, extract};
use crate::strategy::deerflow::limit::{Limits, noted};
use crate::strategy::deerflow::message::{Message, Speaker};
use crate::strategy::deerflow::snapshot::{NAME, Shown, capture};
use crate::strategy::deerflow::value::Value;
use crate::strategy::deerflow::{Profile, ledger_block, neutralise, python, report};

/// Profiles that hand no hidden message down.
const FILTERED: [Profile; 2] = [Profile::V2, Profile::V3];

fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Texts with tags, markers, marks of what must not be seen.
fn any_text() -> impl Strategy<Value = String> {
    const PIECES: [&str; 16] = [
        "<system>",
        "</SYSTEM",
        "<",
        ">",
        " memory ",
        "--- BEGIN USER INPUT ---",
        "--- END USER INPUT ---",
        "é",
        "\n",
        "\u{1c}",
        "<think x='>'",
        "--- BEGIN ",
        "plain",
        "&lt;",
        "<ſoul",
        "",
    ];
    vec(proptest::sample::select(PIECES.to_vec()), 0..8).prop_map(|pieces| pieces.concat())
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::None),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|number| Value::Int(number.to_string())),
        any::<f64>().prop_map(Value::Float),
        any_text().prop_map(Value::Text),
        vec(any::<u8>(), 0..4).prop_map(Value::Bytes),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let key =
            proptest::sample::select(vec!["type", "text", "source", "content", "citations", "title", "cache_control", "prompt", "version"]);
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::List),
            vec((key, inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())),
        ]
    })
}

fn any_block() -> impl Strategy<Value = Value> {
    let kind = proptest::sample::select(vec!["text", "output_text", "image", "document", "tool_use", "file", "reasoning"]);
    let typed = (kind, any_text(), any_value()).prop_map(|(kind, text, value)| {
        object([("type", Value::Text(kind.into())), ("text", Value::Text(text)), ("source", value.clone()), ("cache_control", value)])
    });
    prop_oneof![
        any_text().prop_map(Value::Text),
        typed,
        any_value().prop_filter("entries are texts or objects", |value| value.fields().is_some())
    ]
}

fn any_call() -> impl Strategy<Value = Value> {
    let name = proptest::sample::select(vec!["task", "batch_task", "look", "<role>"]);
    let id = prop_oneof![Just(Value::None), proptest::sample::select(vec!["a", "b", ""]).prop_map(|id| Value::Text(id.into()))];
    (name, id, any_value()).prop_map(|(name, id, args)| object([("name", Value::Text(name.into())), ("id", id), ("args", args)]))
}

/// A message as data. A hidden one holds the word `SECRET` in all that it has.
fn any_message() -> impl Strategy<Value = Value> {
    let role = proptest::sample::select(vec!["user", "assistant", "assistant", "tool", "tool", "system", "chat"]);
    let status = proptest::sample::select(vec!["completed", "failed", "max_turns_reached", "running", "timed_out"]);
    let parts = (role, vec(any_block(), 0..4), vec(any_call(), 0..3), any::<bool>(), any_text(), status, 0..4_u8);
    parts.prop_map(|(role, blocks, calls, hidden, text, status, form)| {
        let secret = |text: String| Value::Text(if hidden { format!("SECRET {text}") } else { text });
        let content = match form {
            0 => secret(text.clone()),
            _ if hidden => Value::List(vec![secret(text.clone())]),
            _ => Value::List(blocks),
        };
        let calls = match hidden {
            true => Value::List(vec![object([("name", secret("look".into())), ("id", Value::Text("a".into())), ("args", object([]))])]),
            false => Value::List(calls),
        };
        let told = object([
            ("subagent_status", Value::Text(status.into())),
            ("subagent_result_brief", Value::Text(text.repeat(200))),
            ("subagent_error", Value::Text(text)),
        ]);
        let id = Value::Text(if form % 2 == 0 { "a" } else { "b" }.into());
        let name = if hidden && form == 1 { Value::Text(NAME.into()) } else { Value::None };
        object([
            ("role", Value::Text(role.into())),
            ("content", content),
            ("hidden", Value::Bool(hidden)),
            ("name", name),
            ("tool_calls", calls),
            ("tool_call_id", id),
            ("additional_kwargs", told),
        ])
    })
}

fn any_history() -> impl Strategy<Value = Vec<Message<'static>>> {
    vec(any_message(), 0..12).prop_map(|messages| Message::read_all(&messages).expect("they are made to be read"))
}

/// All that a snapshot shows, as text.
fn shown(snapshot: &[Shown]) -> String {
    let text = |shown: &Shown| match shown {
        Shown::Text(text) => text.clone(),
        Shown::Block(fields) => python::repr(&Value::Object(fields.clone())),
        Shown::Media(_) => String::new(),
    };
    snapshot.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// Whether no blocked tag and no marker is left, looked for anew for some names, and nothing would be changed again.
fn is_harmless(text: &str) -> bool {
    let opens = |(at, _): (usize, &str)| {
        let rest = text[at + 1..].trim_start_matches(python::is_space);
        let rest = rest.strip_prefix('/').unwrap_or(rest).trim_start_matches(python::is_space).to_lowercase();
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        ["system", "memory", "think", "role"].iter().any(|name| rest.strip_prefix(name).is_some_and(ends))
    };
    let marked = text.contains("--- BEGIN USER INPUT ---") || text.contains("--- END USER INPUT ---");
    neutralise(text) == *text && !marked && !text.match_indices('<').any(opens)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn nothing_hidden_is_handed_down(history in any_history(), summary in proptest::option::of(any_text())) {
        for profile in FILTERED {
            if let Ok(Some(snapshot)) = capture(profile, summary.as_deref(), &history) {
                prop_assert!(!shown(&snapshot).contains("SECRET"), "{profile:?}: {}", shown(&snapshot));
            }
        }
    }

    #[test]
    fn a_snapshot_is_never_part_of_the_next(history in any_history()) {
        for profile in FILTERED {
            let Ok(before) = capture(profile, None, &history) else { continue };
            let Some(snapshot) = &before else { continue };
            let blocks = snapshot.iter().map(|shown| match shown {
                Shown::Text(text) => Value::Text(text.clone()),
                Shown::Block(fields) => Value::Object(fields.clone()),
                Shown::Media(_) => Value::Text(String::new()),
            });
            let older = object([
                ("role", Value::Text("user".into())),
                ("name", Value::Text(NAME.into())),
                ("hidden", Value::Bool(true)),
                ("content", Value::List(blocks.collect())),
            ]);
            let older = Message::read(&older, 0).expect("it is a message");
            let nested: Vec<_> = std::iter::once(older).chain(history.iter().cloned()).collect();
            prop_assert_eq!(capture(profile, None, &nested), Ok(before));
        }
    }

    /// In every profile: each text of a snapshot is harmless, and making it harmless again changes nothing.
    #[test]
    fn texts_are_harmless(history in any_history(), summary in any_text()) {
        for profile in Profile::ALL {
            for one in capture(profile, Some(&summary), &history).ok().flatten().unwrap_or_default() {
                if let Shown::Text(text) = one {
                    prop_assert!(is_harmless(&text), "{profile:?}: {text}");
                }
            }
        }
    }

    #[test]
    fn harmless_texts_stay_so(text in any_text(), other in ".{0,40}") {
        for text in [text, other] {
            let once = neutralise(&text);
            prop_assert!(is_harmless(&once), "{once}");
            // Brackets and markers apart, it is what it was.
            let plain = |text: &str| text.replace("&lt;", "<").replace("&gt;", ">");
            let undone = plain(&once).replace("[BEGIN USER INPUT]", "--- BEGIN USER INPUT ---").replace("[END USER INPUT]", "--- END USER INPUT ---");
            prop_assert_eq!(undone, plain(&text));
        }
    }

    /// Never more calls of `task` than one reply and the run allow; the first ones stay, others are not touched.
    #[test]
    fn limits_hold(names in vec(proptest::sample::select(vec!["task", "look", "batch_task"]), 0..10), at_once in -2..9_i64, in_all in -2..60_i64, made in 0..60_usize) {
        let limits = Limits::new(at_once, in_all);
        let most = (at_once.clamp(1, 4) as usize).min((in_all.clamp(1, 50) as usize).saturating_sub(made));
        let verdict = limits.judge(names.iter().copied(), made);
        let keep = verdict.as_ref().map_or(vec![true; names.len()], |verdict| verdict.keep.clone());
        let tasks: Vec<bool> = names.iter().zip(&keep).filter(|(name, _)| **name == "task").map(|(_, stays)| *stays).collect();
        prop_assert_eq!(tasks.iter().filter(|stays| **stays).count(), most.min(tasks.len()));
        prop_assert!(tasks.is_sorted_by(|a, b| a >= b), "the first ones stay");
        prop_assert!(names.iter().zip(&keep).all(|(name, stays)| *stays || *name == "task"));
        prop_assert_eq!(verdict.is_some(), tasks.len() > most);
    }

    /// Fifty entries at most, and a block of at most 6,000 characters in its frame.
    #[test]
    fn the_ledger_is_bounded(histories in vec(any_history(), 0..4), many in 0..120_usize) {
        let mut ledger = Ledger::default();
        for (run, history) in (1..).zip(&histories) {
            ledger.learn(extract(history), Some(run));
        }
        let call = |at: usize| object([("name", Value::Text("task".into())), ("id", Value::Text(format!("c{at}"))), ("args", object([("prompt", Value::Text("<&> ".repeat(90)))]))]);
        let calls = object([("role", Value::Text("assistant".into())), ("tool_calls", Value::List((0..many).map(call).collect()))]);
        let calls = [Message::read(&calls, 0).expect("it is a message")];
        ledger.learn(extract(&calls), Some(9));
        ledger.learn(extract(&calls), Some(9));
        prop_assert!(ledger.entries().len() <= 50);
        let newest = ledger.entries().last().map(|entry| entry.id.clone());
        prop_assert!(many == 0 || newest == Some(format!("c{}", many - 1)), "the newest stays: {newest:?}");
        let frame = "<durable_context_data>\n\n</durable_context_data>".len();
        let length = ledger_block::block(ledger.entries()).map_or(0, |block| block.chars().count());
        prop_assert!(length <= 6_000 + frame, "{length}");
    }

    /// An end is never undone.
    #[test]
    fn ends_stay(history in any_history(), later in any_history()) {
        let mut ledger = Ledger::default();
        ledger.learn(extract(&history), Some(1));
        let ended: Vec<String> = ledger.entries().iter().filter(|entry| entry.status.is_end()).map(|entry| entry.id.clone()).collect();
        ledger.learn(extract(&later), Some(2));
        for entry in ledger.entries().iter().filter(|entry| ended.contains(&entry.id)) {
            prop_assert!(entry.status.is_end() && entry.run == Some(1), "{entry:?}");
        }
    }

    /// Whatever the data: no rule panics.
    #[test]
    fn any_data_is_judged(values in vec(any_value(), 0..6), content in any_value()) {
        for (at, value) in values.iter().enumerate() {
            if let Ok(message) = Message::read(value, at) {
                prop_assert!(message.speaker != Speaker::Other || !message.is_seen());
            }
        }
        noted(&content);
        prop_assert!(!python::repr(&content).is_empty());
        prop_assert!(python::dumps(&content).is_none_or(|json| !json.is_empty()));
    }

    #[test]
    fn any_history_has_an_answer(history in any_history()) {
        prop_assert!(!report::answer(&history).is_empty());
    }
}
