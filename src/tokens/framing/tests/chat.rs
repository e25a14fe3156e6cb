//! Messages, and tools by key: the cookbook's figures, each equal to what the API reported.

use crate::transcript::{Content, Part};

use super::*;

fn check(family: &str, request: &Request, expect: u64, expect_accuracy: Accuracy) {
    let counted = count(named(family), request);
    assert_eq!((counted.tokens(), counted.accuracy), (Some(expect), expect_accuracy), "{family}: {:?}", counted.doubts);
}

#[test]
fn messages() {
    let check = |family: &str, messages: &[Message], expect: u64| {
        check(family, &request(messages, &[], ToolChoice::Auto), expect, Accuracy::Exact);
    };
    check("chat-2023-cl100k", &jargon(), 129);
    check("chat-2024-o200k", &jargon(), 124);
    // The notebook as of 06d9feb5: 127 for the first model, where a name takes the role's place.
    check("gpt-3.5-turbo-0301", &jargon(), 127);
    // hmarr/openai-chat-tokens `tests/token-counts.test.ts` (b8e3b11d): the six one by one, and a few more.
    for family in ["chat-2023-cl100k", "functions-2023-cl100k"] {
        for (message, expect) in jargon().iter().zip([25, 20, 19, 28, 26, 26]) {
            check(family, std::slice::from_ref(message), expect);
        }
        check(family, &[Message::new("user", "hello")], 8);
        check(family, &[Message::new("user", "hello world")], 9);
        check(family, &[Message::new("system", "hello")], 8);
        check(family, &[Message::new("system", "hello:")], 9);
        let robot = [
            Message::new("system", "# Important: you're the best robot"),
            Message::new("user", "hello robot"),
            Message::new("assistant", "hello world"),
        ];
        check(family, &robot, 27);
        check(family, &[], 3);
    }
}

#[test]
fn tools_by_key() {
    let (tool, messages) = weather();
    let request = request(&messages, &[tool], ToolChoice::Auto);
    check("chat-2024-o200k", &request, 101, Accuracy::Exact);
    check("chat-2023-cl100k", &request, 105, Accuracy::Exact);
    // The first model took no tools: their tokens are not 0, they are unknown.
    let counted = count(named("gpt-3.5-turbo-0301"), &request);
    assert_eq!((counted.tokens(), counted.exact(), counted.error_percent()), (None, false, None));
    assert_eq!(counted.unknown, ["the tools: these models took none"]);
}

/// By hand from the figures of 2024: 7 a function, 3 once and 3 each for properties, 3 less for an enum and 3 for each value, 12 at
/// the end. The request without tools is 8.
#[test]
fn schemas_by_hand() {
    let check = |tools: &[Tool], expect: u64, expect_accuracy: Accuracy| {
        check("chat-2024-o200k", &request(&[Message::new("user", "hello")], tools, ToolChoice::Auto), expect, expect_accuracy);
    };
    let line = |text: &str| crate::tokens::counter(Encoding::O200kBase).count(text).unwrap();
    let bare = Tool::function("run", Some("test."), r#"{"type": "object", "properties": {}}"#);
    check(std::slice::from_ref(&bare), 8 + 7 + line("run:test") + 12, Accuracy::Exact);
    check(&[bare.clone(), bare.clone()], 8 + 2 * (7 + line("run:test")) + 12, Accuracy::Exact);
    let flat = r#"{"type": "object", "properties": {"n": {"type": "integer", "description": "size"}}, "required": ["n"]}"#;
    check(&[Tool::function("run", Some("test"), flat)], 8 + 7 + line("run:test") + 3 + 3 + line("n:integer:size") + 12, Accuracy::Exact);
    // Nested: the inner properties are counted like the outer ones, and nobody has shown a bill.
    let nested = r#"{"type": "object", "properties": {"o": {"type": "object", "description": "size", "properties":
        {"n": {"type": "string", "description": "size", "enum": ["a", "b"]}}}}}"#;
    let expect = 8 + 7 + line("run:test") + 3 + 3 + line("o:object:size") + 3 + 3 - 3 + 2 * (3 + 1) + line("n:string:size") + 12;
    check(&[Tool::function("run", Some("test"), nested)], expect, Accuracy::Unstated);
    check(&[Tool::function("run", None, r#"{"type": "object"}"#)], 8 + 7 + line("run") + 12, Accuracy::Unstated);
}

#[test]
fn what_no_bill_was_published_of_is_not_exact() {
    let check = |family: &str, request: &Request, expect: &str| {
        let counted = count(named(family), request);
        assert_eq!((counted.exact(), counted.accuracy), (false, Accuracy::Unstated), "{request:?}");
        assert!(counted.doubts.iter().any(|doubt| doubt.contains(expect)), "{expect}: {:?}", counted.doubts);
        assert_eq!(counted.error_percent(), None);
    };
    let of = |message: Message| request(&[message], &[], ToolChoice::Auto);
    let (tool, messages) = weather();
    check("chat-2024-o200k", &of(Message::new("tool", "done")), "calls and results");
    check("chat-2024-o200k", &of(Message::new("assistant", "").calling("run", "{}")), "calls and results");
    check("functions-2023-cl100k", &of(Message::new("assistant", "").calling("run", "{}").calling("run", "{}")), "calls and results");
    check("chat-2024-o200k", &of(Message::new("developer", "be brief")), "role");
    check("chat-2024-o200k", &of(Message { content: vec!["a".into(), "b".into()], ..Message::new("user", "") }), "several parts");
    check("chat-2023-cl100k", &request(&messages, std::slice::from_ref(&tool), ToolChoice::Any), "choice of tools");
    check("functions-2023-cl100k", &request(&messages, std::slice::from_ref(&tool), ToolChoice::Any), "choice of tools");
    check("gpt-5", &request(&messages, &[tool], ToolChoice::Auto), "no bill of a request with tools");
}

/// pydantic/pydantic-ai pull request 3447: the rule of 2024 counted 110 where GPT-5 billed 109. Its messages were not published.
#[test]
fn gpt_5_is_off_by_one() {
    let request = request(&jargon(), &[], ToolChoice::Auto);
    let counted = count(named("gpt-5"), &request);
    assert_eq!((counted.tokens(), counted.exact(), counted.accuracy), (Some(124), false, Accuracy::Tokens(1)));
    assert_eq!(counted.error_percent(), Some(100.0 / 124.0));
}

#[test]
fn what_nobody_can_count_is_unknown() {
    let image = |tokens| Part::new(Content::Image { media: "image/png".into(), bytes: 9, tokens });
    let check = |family: &str, part: Part, expect: Option<u64>, expect_unknown: &[&str]| {
        let message = Message { content: vec![part], ..Message::new("user", "") };
        let counted = count(named(family), &request(&[message], &[], ToolChoice::Auto));
        assert_eq!(
            (counted.tokens(), &*counted.unknown),
            (expect, expect_unknown.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>().as_slice())
        );
        assert!(!counted.exact());
        assert!(counted.error_percent().is_none() || expect.is_some());
    };
    let opaque = Part::new(Content::Opaque { kind: "encrypted reasoning".into(), bytes: 400, tokens: None });
    // 3 for the message, 1 for the role, 3 for the reply.
    check("chat-2024-o200k", image(Some(85)), Some(92), &[]);
    check("chat-2024-o200k", image(None), None, &["image/png in message 1, which declares no tokens"]);
    check("gpt-5", opaque.clone(), None, &["encrypted reasoning in message 1, which declares no tokens"]);
    check("anthropic", opaque, None, &["encrypted reasoning in message 1, which declares no tokens"]);
    // What is declared is in the model's own tokens: no factor.
    check("anthropic", image(Some(1600)), Some(1607), &[]);
}
