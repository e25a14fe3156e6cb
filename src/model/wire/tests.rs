//! Whatever a provider sends, it is read without a panic, and what is a reply on one wire is one however it comes.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn delivery(status: u16, content: Content) -> Delivery {
    Delivery { status: Some(status), ms: 1, content, trouble: None, timed_out: false, retry_after_ms: None }
}

/// Words that wires use, so that chance comes near to what they mean.
const WORDS: [&str; 38] = [
    "choices",
    "message",
    "delta",
    "content",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "finish_reason",
    "usage",
    "error",
    "type",
    "output",
    "item",
    "response",
    "index",
    "content_block",
    "text",
    "thinking",
    "signature",
    "input",
    "partial_json",
    "stop_reason",
    "message_start",
    "content_block_start",
    "content_block_delta",
    "message_delta",
    "message_stop",
    "response.output_item.done",
    "response.completed",
    "response.failed",
    "response.created",
    "tool_use",
    "function_call",
    "reasoning",
    "summary",
    "status",
    "code",
];

fn word() -> impl proptest::strategy::Strategy<Value = String> {
    prop_oneof![4 => proptest::sample::select(&WORDS[..]).prop_map(str::to_owned), 1 => "[a-z]{0,3}"]
}

fn any_json() -> impl proptest::strategy::Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word().prop_map(Value::from)
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(word(), inner, 0..5).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn nothing_that_is_received_panics(status in prop_oneof![Just(200u16), 100..600u16], whole in any_json(), events in proptest::collection::vec(any_json(), 0..8)) {
        for wire in Wire::ALL {
            let asking = plainly(wire);
            let _ = asking.read(&delivery(status, Content::Json(whole.clone())));
            let events = events.iter().map(|event| StreamEvent { ms: 1, event: String::new(), data: event.to_string() }).collect();
            let _ = asking.read(&delivery(status, Content::Events(events)));
        }
    }

    /// A stream that is cut anywhere is a partial reply, trouble that may pass, or whole: never a call that is half of one.
    #[test]
    fn a_cut_stream_makes_no_half_calls(cut in 0..12usize) {
        let start = json!({"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 3}}});
        let block = |index: u32, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
        let delta = |index: u32, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
        let all = [
            start,
            block(0, json!({"type": "text", "text": ""})),
            delta(0, json!({"type": "text_delta", "text": "I read"})),
            json!({"type": "content_block_stop", "index": 0}),
            block(1, json!({"type": "tool_use", "id": "a", "name": "read_file", "input": {}})),
            delta(1, json!({"type": "input_json_delta", "partial_json": "{\"path\":"})),
            delta(1, json!({"type": "input_json_delta", "partial_json": "\"x\"}"})),
            json!({"type": "content_block_stop", "index": 1}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}}),
            json!({"type": "message_stop"}),
        ];
        let kept = cut.min(all.len());
        let events = all[..kept].iter().map(|event| StreamEvent { ms: 1, event: String::new(), data: event.to_string() }).collect();
        match plainly(Wire::Messages).read(&delivery(200, Content::Events(events))) {
            Ok(answer) if kept == all.len() => {
                prop_assert_eq!(answer.calls.len(), 1);
                prop_assert_eq!(answer.calls[0].args.as_str(), r#"{"path":"x"}"#);
                prop_assert_eq!(answer.stop, Stop::End);
            }
            Ok(answer) => {
                prop_assert_eq!(answer.stop, Stop::Partial);
                prop_assert!(answer.calls.is_empty());
                prop_assert_eq!(answer.text.as_str(), "I read");
            }
            Err(trouble) => prop_assert!(kept < 3 && trouble.kind.may_pass(), "{trouble}"),
        }
    }
}
