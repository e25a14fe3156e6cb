//! Cassettes of any content: read back, cut anywhere, pruned.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::model::wire::{Body, Content, Delivery, Wire, plainly};

fn head() -> Head {
    let asking = plainly(Wire::Chat);
    Head {
        format: CASSETTE_FORMAT.into(),
        ctxbench: "0".into(),
        recorded: "2026-11-30".into(),
        provider: "local".into(),
        asking,
        judges: Default::default(),
        masked: vec![],
        redacted: vec![],
    }
}

fn body(items: &[u8]) -> Body {
    let item = |number: &u8| json!({"role": "user", "content": format!("text {number}")});
    let items: Vec<Value> = items.iter().map(item).collect();
    Body { wire: Wire::Chat, head: Map::new(), system: vec!["s".into()], tools: vec![], items, inputs: vec![] }
}

fn delivery(says: &str, status: u16) -> Delivery {
    let content = Content::Json(json!({"choices": [{"message": {"content": says}, "finish_reason": "stop"}]}));
    Delivery { status: Some(status), ms: 3, content, trouble: None, timed_out: false, retry_after_ms: None }
}

/// What is done with a cassette.
#[derive(Clone, Debug)]
enum Act {
    /// A request in a cell and lane, of these items, with so many failed attempts before the reply.
    Ask { cell: u8, lane: u8, exchange: u32, items: Vec<u8>, failed: u32 },
    /// A request that nothing answers.
    Lose { cell: u8 },
    /// A cell is at its end.
    End { cell: u8 },
}

fn act() -> impl Strategy<Value = Act> {
    let items = || proptest::collection::vec(0..6u8, 0..5);
    prop_oneof![
        8 => (0..3u8, 0..2u8, 0..3u32, items(), 0..3u32)
            .prop_map(|(cell, lane, exchange, items, failed)| Act::Ask { cell, lane, exchange, items, failed }),
        1 => (0..3u8).prop_map(|cell| Act::Lose { cell }),
        2 => (0..3u8).prop_map(|cell| Act::End { cell }),
    ]
}

fn at(cell: u8, lane: u8, exchange: u32) -> Lane {
    Lane { cell: format!("s/a@1/{cell}"), lane: format!("/{lane}"), turn: 1, exchange }
}

fn answered(reply: Delivery, last: bool) -> Delivered {
    Delivered { order: 0, send: 0, reply, usage: None, usage_classes: None, last }
}

fn play(cassette: &Cassette, acts: &[Act]) {
    for (number, act) in acts.iter().enumerate() {
        match act {
            Act::Ask { cell, lane, exchange, items, failed } => {
                let (at, body) = (at(*cell, *lane, *exchange), body(items));
                for attempt in 1..=*failed {
                    let send = cassette.sent(&at, attempt, 5, &body);
                    cassette.delivered(send, answered(delivery("busy", 503), false));
                }
                let send = cassette.sent(&at, failed + 1, 5, &body);
                cassette.delivered(send, answered(delivery(&format!("reply {number}"), 200), true));
            }
            Act::Lose { cell } => _ = cassette.sent(&at(*cell, 9, 0), 1, 0, &body(&[9])),
            Act::End { cell } => cassette.done(&format!("s/a@1/{cell}")),
        }
    }
    assert_eq!(cassette.broken(), None);
}

/// What a cassette answers to every request of the acts, in their order.
fn answers(cassette: &Cassette, acts: &[Act]) -> Vec<Option<Vec<Attempt>>> {
    let mut used: std::collections::BTreeMap<u8, Vec<bool>> = Default::default();
    let asks = acts.iter().filter_map(|act| match act {
        Act::Ask { cell, lane, exchange, items, .. } => Some((*cell, at(*cell, *lane, *exchange), body(items))),
        _ => None,
    });
    asks.map(|(cell, at, body)| {
        let (_, digest) = cassette.pieces(&body);
        cassette.answer(&at, &digest, used.entry(cell).or_default(), |_| true)
    })
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What was written is what is read; pruned, it answers the same for the cells at their end, and is sound.
    #[test]
    fn written_read_and_pruned(acts in proptest::collection::vec(act(), 0..16)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape.jsonl");
        let written = Cassette::record(&path, head(), None).unwrap();
        play(&written, &acts);
        let read = Cassette::open(&path).unwrap();
        prop_assert_eq!(answers(&read, &acts), answers(&written, &acts));
        prop_assert_eq!(read.cells(), written.cells());
        let (text, _) = prune(&read, |_| true);
        let pruned_path = folder.path().join("pruned.jsonl");
        std::fs::write(&pruned_path, text).unwrap();
        let pruned = Cassette::open(&pruned_path).unwrap();
        prop_assert_eq!(verify(&pruned), Vec::<String>::new());
        let of_ended: Vec<Act> = acts.iter().filter(|act| {
            matches!(act, Act::Ask { cell, .. } if read.cells().contains(&format!("s/a@1/{cell}")))
        }).cloned().collect();
        prop_assert_eq!(answers(&pruned, &of_ended), answers(&read, &of_ended));
        for cell in pruned.cells() {
            prop_assert_eq!(pruned.content(&cell), read.content(&cell));
        }
    }

    /// A recorder may be killed at any byte: what is whole by then is read, and recording goes on behind it.
    #[test]
    fn cut_anywhere_it_goes_on(acts in proptest::collection::vec(act(), 1..8), cut in 0.0..1.0f64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape.jsonl");
        let written = Cassette::record(&path, head(), None).unwrap();
        play(&written, &acts);
        drop(written);
        let text = std::fs::read(&path).unwrap();
        let first = text.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let end = first + ((text.len() - first) as f64 * cut) as usize;
        std::fs::write(&path, &text[..end]).unwrap();
        let on = Cassette::record(&path, head(), None).unwrap();
        play(&on, &acts);
        let read = Cassette::open(&path).unwrap();
        prop_assert_eq!(answers(&read, &acts), answers(&on, &acts));
        let last = acts.iter().rev().find(|act| matches!(act, Act::Ask { .. })).cloned();
        prop_assert!(last.is_none_or(|last| answers(&read, &[last])[0].is_some()));
    }
}

#[test]
fn two_recorders_do_not_share_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let first = Cassette::record(&path, head(), None).unwrap();
    assert!(Cassette::record(&path, head(), None).unwrap_err().to_string().contains("somebody else is recording"));
    drop(first);
    Cassette::record(&path, head(), None).unwrap();
}

#[test]
fn masks_leave_out_fields_and_texts() {
    let check = |masked: &[&str], one: Value, other: Value, same: bool| {
        let masks = Masks::new(&masked.iter().map(|mask| (*mask).to_owned()).collect::<Vec<_>>(), &[]).unwrap();
        let digest = |value: &Value| masks.digest(crate::model::wire::Section::Item(0), value);
        assert_eq!(digest(&one) == digest(&other), same, "{masked:?} {one} {other}");
    };
    check(&[], json!({"a": 1}), json!({"a": 1}), true);
    check(&[], json!({"a": 1}), json!({"a": 2}), false);
    check(&["/a"], json!({"a": 1, "b": 1}), json!({"a": 2, "b": 1}), true);
    check(&["/a"], json!({"a": 1, "b": 1}), json!({"a": 1, "b": 2}), false);
    check(&["/a/*/id"], json!({"a": [{"id": 1, "x": 1}]}), json!({"a": [{"id": 2, "x": 1}]}), true);
    check(&["/a/1"], json!({"a": [1, 2]}), json!({"a": [1, 3]}), true);
    check(&["/a/1"], json!({"a": [1, 2]}), json!({"a": [2, 2]}), false);
    check(&[r"\d\d:\d\d"], json!({"a": "at 10:45, so"}), json!({"a": "at 23:01, so"}), true);
    check(&[r"\d\d:\d\d"], json!({"a": "at 10:45, so"}), json!({"a": "on 10:45, so"}), false);
}
