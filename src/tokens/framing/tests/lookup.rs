//! Names: families, models, aliases, and what was never published.

use std::collections::BTreeSet;

use crate::transcript::{Body, CallKey, Content, Item, Origin, Part, Role, ToolCall, ToolSpec};

use super::*;

#[test]
fn a_family_is_found_by_its_name_or_the_error_says_which_there_are() {
    assert_eq!(named("gpt-5").name(), "gpt-5");
    let error = Framing::named("chat-2024").unwrap_err().to_string();
    assert!(error.starts_with("there is no framing `chat-2024`: did you mean `chat-2024-o200k`? (known: chat-2024-o200k, "), "{error}");
}

#[test]
fn a_model_has_a_family_or_none() {
    let check = |model: &str, expect: Option<(&str, bool)>| {
        let exact = |framing: Framing| count(framing, &request(&[Message::new("user", "hello")], &[], ToolChoice::Auto)).exact();
        assert_eq!(Framing::of_model(model).map(|framing| (framing.name(), exact(framing))), expect, "{model}");
    };
    check("gpt-4o-2024-08-06", Some(("chat-2024-o200k", true)));
    check("openai/gpt-4o-mini-2024-07-18", Some(("chat-2024-o200k", true)));
    // An alias may have moved; a relative was never seen.
    check("gpt-4o", Some(("chat-2024-o200k", false)));
    check("gpt-4o-2024-11-20", Some(("chat-2024-o200k", false)));
    check("gpt-4.1-2025-04-14", Some(("chat-2024-o200k", false)));
    check("gpt-4-0613", Some(("chat-2023-cl100k", true)));
    check("gpt-3.5-turbo", Some(("chat-2023-cl100k", false)));
    check("gpt-3.5-turbo-0301", Some(("gpt-3.5-turbo-0301", true)));
    check("gpt-3.5-turbo-0613", Some(("functions-2023-cl100k", false)));
    check("gpt-5-2025-08-07", Some(("gpt-5", false)));
    check("claude-sonnet-4-5-20250929", Some(("anthropic", false)));
    check("claude-opus-4-7", Some(("anthropic-4.7", false)));
    check("anthropic/claude-opus-5-5", Some(("anthropic-4.8", false)));
    // Nothing was published of these.
    for unknown in ["gpt-5.6", "gpt-6-sol", "gpt-6.1-terra", "o3", "gemini-4-argon", "claude-2", "gpt-4o-audio", "", "gpt"] {
        check(unknown, None);
    }
}

#[test]
fn rows_are_whole_and_no_model_has_two() {
    let mut names = BTreeSet::new();
    for framing in Framing::all() {
        let family = framing.family();
        assert!(!family.sources.is_empty() && !family.about.is_empty() && !family.billed.is_empty(), "{}", family.name);
        let day: Vec<usize> = family.validated.split('-').map(str::len).collect();
        assert_eq!(day, [4, 2, 2], "{}", family.name);
        assert!(names.insert(family.name) || family.billed_models.contains(&family.name), "{}", family.name);
        for model in family.billed_models.iter().chain(family.billed_aliases) {
            assert!(names.insert(model) || *model == family.name, "{model}");
            assert_eq!(Framing::of_model(model).map(Framing::name), Some(family.name), "{model}");
        }
        for model in family.related {
            assert_eq!(Framing::of_model(model).map(Framing::name), Some(family.name), "{model}");
        }
    }
    for prompt in TOOL_PROMPTS {
        assert!(Framing::of_model(prompt.model).and_then(Framing::tool_prompt).is_some(), "{}", prompt.model);
    }
}

#[test]
fn a_tool_as_runs_hold_it() {
    let spec = ToolSpec::of_strings("ls", "Lists files.", &[("path", "where", true)]);
    let parameters = r#"{"properties":{"path":{"description":"where","type":"string"}},"required":["path"],"type":"object"}"#;
    assert_eq!(Tool::of_spec(&spec), Tool::function("ls", Some("Lists files."), parameters));
    let odd = ToolSpec { name: "ls".into(), schema: "no JSON".into() };
    assert_eq!(Tool::of_spec(&odd), Tool::function("ls", None, "no JSON"));
}

#[test]
fn a_request_as_runs_hold_it() {
    let thought = Part::new(Content::Opaque { kind: "reasoning".into(), bytes: 4, tokens: None });
    let call = |name: &str| {
        Item::call(ToolCall { key: CallKey(0), id: "1".into(), name: name.into(), args: "{}".into(), intent: None, recorded: None })
    };
    let items = [
        Item::message(Role::System, Origin::System, "be brief"),
        Item::user(Origin::User, "hello").named("ann"),
        Item::new(Body::Context { kind: "settings".into(), parts: vec!["unseen".into()] }, Origin::Own),
        Item::new(Body::Reasoning { parts: vec![thought.clone()] }, Origin::Own),
        Item::assistant(None, "I look"),
        call("ls"),
        call("cat"),
        Item::result(CallKey(0), Origin::ToolResult, "a.rs", false),
        Item::result(CallKey(0), Origin::ToolResult, "text", false),
        Item::new(Body::Mail { from: "a".into(), to: "b".into(), parts: vec!["news".into()] }, Origin::Delegated),
        Item::assistant(None, "done"),
    ];
    let acted = Message { content: vec![thought, "I look".into()], ..Message::new("assistant", "") };
    let expect = [
        Message::new("system", "be brief"),
        Message::new("user", "hello").named("ann"),
        acted.calling("ls", "{}").calling("cat", "{}"),
        Message::new("tool", "a.rs"),
        Message::new("tool", "text"),
        Message::new("user", "news"),
        Message::new("assistant", "done"),
    ];
    let tools = [ToolSpec::of_strings("ls", "Lists.", &[])];
    assert_eq!(Request::of_items(&items, &tools), request(&expect, &[Tool::of_spec(&tools[0])], ToolChoice::Auto));
    assert_eq!(
        count(named("chat-2024-o200k"), &Request::of_items(&items, &[])).unknown,
        ["reasoning in message 3, which declares no tokens"]
    );
}
