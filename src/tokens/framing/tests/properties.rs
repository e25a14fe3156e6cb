//! What holds for any request under any family.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::*;

fn any_message() -> impl Strategy<Value = Message> {
    let role = select(vec!["system", "user", "assistant", "tool", "function", "developer"]);
    let text = prop_oneof![Just(String::new()), "[a-z ]{1,30}", "\\PC{0,20}", Just("fn main() {\n    run();\n}\n".to_owned())];
    (role, text, proptest::option::of("[a-z_]{1,8}"), vec("[a-z]{1,6}", 0..3)).prop_map(|(role, text, name, calls)| {
        let message = calls.iter().fold(Message::new(role, &text), |message, call| message.calling(call, "{\"a\": 1}"));
        Message { name, ..message }
    })
}

/// Anything a schema may be, and much that none is.
fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z]{0,6}".prop_map(Value::from),
        select(vec!["string", "object", "array", "integer", "null"]).prop_map(|kind| json!({ "type": kind })),
    ];
    let keyword = select(vec!["type", "properties", "required", "items", "anyOf", "enum", "description", "const", "$ref", "oneOf", "x"]);
    leaf.prop_recursive(6, 60, 5, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((keyword.clone(), inner.clone()), 0..5)
                .prop_map(|members| members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Value>()),
            vec(("[a-z]{1,3}", inner), 0..4)
                .prop_map(|members| json!({"type": "object", "properties": members.into_iter().collect::<Value>()})),
        ]
    })
}

fn any_tool() -> impl Strategy<Value = Tool> {
    ("[a-z_]{1,8}", proptest::option::of("[A-Za-z .]{0,20}"), any_schema())
        .prop_map(|(name, about, schema)| Tool::function(&name, about.as_deref(), &schema.to_string()))
}

fn any_choice() -> impl Strategy<Value = ToolChoice> {
    select(vec![ToolChoice::Auto, ToolChoice::None, ToolChoice::Any, ToolChoice::Named("run".into())])
}

/// Tokens that a family adds around one more message, whatever it holds.
fn least_frame(framing: Framing) -> u64 {
    match framing.name() {
        // Of their frames beyond the first message nothing is known.
        "anthropic" | "anthropic-4.7" | "anthropic-4.8" => 0,
        // 4, and the role's token.
        "gpt-3.5-turbo-0301" => 5 - 2,
        // 3, the role's token, and 2 less for the result of a function.
        _ => 3 + 1 - 2,
    }
}

/// Each family once, and one model whose hidden prompt is known.
fn all() -> Vec<Framing> {
    Framing::all().chain(Framing::of_model("claude-opus-4-6")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_message_more_adds_at_least_its_frame(
        messages in vec(any_message(), 0..4), more in any_message(), tools in vec(any_tool(), 0..2), choice in any_choice(),
    ) {
        for framing in all() {
            // The first system message beside functions shares their frame.
            if framing.name() == "functions-2023-cl100k" && more.role == "system" {
                continue;
            }
            let before = count(framing, &request(&messages, &tools, choice.clone()));
            let longer = [messages.as_slice(), std::slice::from_ref(&more)].concat();
            let after = count(framing, &request(&longer, &tools, choice.clone()));
            prop_assert!(after.counted >= before.counted + least_frame(framing), "{}: {more:?}", framing.name());
            // Nothing that was doubtful or unknown becomes sure by it.
            prop_assert!(before.doubts.iter().all(|doubt| after.doubts.contains(doubt)));
            prop_assert!(after.unknown.len() >= before.unknown.len());
        }
    }

    /// Sums do not depend on an order. Declarations in a namespace do: they are one text.
    #[test]
    fn the_order_of_messages_and_tools_changes_nothing_where_they_are_summed(
        messages in vec(any_message(), 0..5), tools in vec(any_tool(), 0..4),
    ) {
        let turned = request(&messages.iter().rev().cloned().collect::<Vec<_>>(), &tools.iter().rev().cloned().collect::<Vec<_>>(), ToolChoice::Auto);
        let request = request(&messages, &tools, ToolChoice::Auto);
        for framing in all().into_iter().filter(|framing| framing.name() != "functions-2023-cl100k") {
            let (one, other) = (count(framing, &request), count(framing, &turned));
            prop_assert_eq!((one.counted, one.accuracy, one.doubts), (other.counted, other.accuracy, other.doubts), "{}", framing.name());
        }
    }

    #[test]
    fn any_schema_is_answered(tools in vec(any_tool(), 1..4), choice in any_choice(), cut in 0_usize..40) {
        for framing in all() {
            let whole = count(framing, &request(&[], &tools, choice.clone()));
            prop_assert_eq!(whole.exact(), whole.error_percent() == Some(0.0));
            // The same, cut somewhere.
            let broken: Vec<Tool> = tools.iter().map(|tool| match tool {
                Tool::Function { name, description, parameters } => {
                    let end = parameters.char_indices().map(|(at, _)| at).nth(cut).unwrap_or(parameters.len());
                    Tool::function(name, description.as_deref(), &parameters[..end])
                }
                Tool::Provided(name) => Tool::Provided(name.clone()),
            }).collect();
            count(framing, &request(&[], &broken, choice.clone()));
        }
    }
}

/// Nested as deep as JSON is read, and far deeper.
#[test]
fn deep_schemas() {
    let deep = |levels: usize| [r#"{"type":"object","properties":{"a":"#.repeat(levels), "1".into(), "}}".repeat(levels)].concat();
    for framing in all() {
        for levels in [1, 60, 63, 64, 200, 20_000] {
            let counted = count(framing, &request(&[], &[Tool::function("deep", Some("x"), &deep(levels))], ToolChoice::Auto));
            if framing.name().starts_with("chat") {
                // Two levels of JSON each, 127 are read.
                assert_eq!(counted.tokens().is_some(), levels <= 63, "{levels}");
            }
        }
    }
}
