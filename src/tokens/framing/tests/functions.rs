//! Functions in a namespace: what the API billed for the requests of hmarr/openai-chat-tokens `tests/token-counts.test.ts`
//! (b8e3b11d). Shapes and figures are that file's.

use super::*;

fn tool(name: &str, description: Option<&str>, properties: &str) -> Tool {
    Tool::function(name, description, &format!(r#"{{"type": "object", "properties": {properties}}}"#))
}

fn check(messages: &[Message], tools: &[Tool], choice: ToolChoice, expect: u64) {
    let counted = count(named("functions-2023-cl100k"), &request(messages, tools, choice));
    assert_eq!((counted.tokens(), counted.exact()), (Some(expect), true), "{messages:?} {tools:?} {:?}", counted.doubts);
}

#[test]
fn one_function_and_each_choice() {
    let check = |description: Option<&str>, choice: ToolChoice, expect: u64| {
        check(&[Message::new("user", "hello")], &[tool("foo", description, "{}")], choice, expect);
    };
    check(None, ToolChoice::Auto, 31);
    check(None, ToolChoice::None, 32);
    check(None, ToolChoice::Named("foo".into()), 36);
    check(Some("Do a foo"), ToolChoice::Auto, 36);
}

#[test]
fn properties() {
    let check = |name: &str, description: Option<&str>, properties: &str, expect: u64| {
        check(&[Message::new("user", "hello")], &[tool(name, description, properties)], ToolChoice::Auto, expect);
    };
    let bing = Some("Do a bing bong");
    check("bing_bong", bing, r#"{"foo": {"type": "string"}}"#, 49);
    check("bing_bong", bing, r#"{"foo": {"type": "string"}, "bar": {"type": "number", "description": "A number"}}"#, 57);
    let nested =
        r#"{"foo": {"type": "object", "properties": {"bar": {"type": "string", "enum": ["a", "b", "c"]}, "baz": {"type": "boolean"}}}}"#;
    check("bing_bong", bing, nested, 68);
    // Descriptions are shown at the top and nowhere below.
    let list = r#"{"quality": {"type": "object", "properties": {"pros": {"type": "array", "items": {"type": "string"},
        "description": "Write 3 points why this text is well written"}}}}"#;
    check("function", Some("description"), list, 46);
    // The misspelt word is the test's.
    let fields = r#"{
        "mainField": {"type": "string", "description": "description3"},
        "field number one": {"type": "object", "description": "description4", "properties": {
            "yesNoField": {"type": "string", "description": "description5", "enum": ["Yes", "No"]},
            "howIsInteresting": {"type": "string", "description": "description6"},
            "scoreInteresting": {"type": "number", "description": "description7"},
            "isInteresting": {"type": "string", "description": "description8", "enum": ["Yes", "No"]}}}}"#;
    check("function", Some("desctiption1"), fields, 96);
}

#[test]
fn required_properties_and_lists_of_objects() {
    let recipe = r#"{"type": "object", "required": ["ingredients", "instructions", "time_to_cook"], "properties": {
        "ingredients": {"type": "array", "items": {"type": "object", "required": ["name", "unit", "amount"], "properties": {
            "name": {"type": "string"},
            "unit": {"enum": ["grams", "ml", "cups", "pieces", "teaspoons"], "type": "string"},
            "amount": {"type": "number"}}}},
        "instructions": {"type": "array", "items": {"type": "string"}, "description": "Steps to prepare the recipe (no numbering)"},
        "time_to_cook": {"type": "number", "description": "Total time to prepare the recipe in minutes"}}}"#;
    check(&[Message::new("user", "hello")], &[Tool::function("get_recipe", None, recipe)], ToolChoice::Auto, 106);
}

#[test]
fn calls_and_results() {
    let check = |messages: &[Message], expect: u64| check(messages, &[], ToolChoice::Auto, expect);
    let result = |name: &str, text: &str| Message::new("function", text).named(name);
    let asked = Message::new("user", "hello world");
    check(&[asked.clone(), result("do_stuff", "{}")], 15);
    check(&[asked, result("do_stuff", r#"{"foo": "bar", "baz": 1.5}"#)], 28);
    check(&[result("dance_the_tango", r#"{"a": { "b" : { "c": false}}}"#)], 24);
    let call = |arguments: &str| Message::new("assistant", "").calling("do_stuff", arguments);
    check(&[call(r#"{"foo": "bar", "baz": 1.5}"#)], 26);
    check(&[call("{\"foo\":\"bar\", \"baz\":\n\n 1.5}")], 25);
}

#[test]
fn alternatives() {
    let check = |properties: &str, expect: u64| {
        let messages = [Message::new("system", "Hello"), Message::new("user", "Hi there")];
        check(&messages, &[tool("do_stuff", None, properties)], ToolChoice::Auto, expect);
    };
    let kind = |kind: &str, name: &str, of: &str| {
        format!(r#"{{"type": "object", "properties": {{"kind": {{"type": "string", "const": "{kind}"}}, "{name}": {{"type": "{of}"}}}}}}"#)
    };
    let (a, b, c) = (kind("a", "baz", "boolean"), kind("b", "qux", "number"), kind("c", "idk", "string"));
    check(&format!(r#"{{"foo": {{"anyOf": [{a}]}}}}"#), 52);
    check(&format!(r#"{{"foo": {{"anyOf": [{a}, {b}, {c}]}}}}"#), 80);
    check(r#"{"foo": {"anyOf": [{"type": "string", "const": "a"}, {"type": "number"}]}}"#, 44);
    check("{}", 35);
}

#[test]
fn a_system_message_shares_its_frame_with_the_functions() {
    let hello = |text: &str| Message::new("system", text);
    let user = Message::new("user", "Hi there");
    let (one, other) = (tool("do_stuff", None, "{}"), tool("do_other_stuff", None, "{}"));
    check(&[hello("Hello:"), user.clone()], std::slice::from_ref(&one), ToolChoice::Auto, 35);
    let two = [hello("Hello:"), hello("Hello"), user];
    check(&two, std::slice::from_ref(&one), ToolChoice::Auto, 40);
    check(&two, &[one.clone(), other.clone()], ToolChoice::Auto, 49);
    check(&two, &[one, other], ToolChoice::Named("do_stuff".into()), 55);
}

#[test]
fn a_conversation_with_everything() {
    let variant = |kind: &str, name: &str, more: &str| {
        format!(
            r#"{{"type": "object", "properties": {{"kind": {{"type": "string", "const": "{kind}"}}, "{name}": {{"type": "string"{more}}}}},
            "required": ["kind", "{name}"], "additionalProperties": false}}"#
        )
    };
    let parameters = format!(
        r#"{{"type": "object", "properties": {{"res": {{"anyOf": [{}, {}], "description": "The foo or the bar"}}}},
        "required": ["res"], "additionalProperties": false}}"#,
        variant("post", "text", ""),
        variant("user", "name", r#", "enum": ["jane", "suzie", "adam"]"#)
    );
    let messages = [
        Message::new("system", "You are an AI assistant trained to foo or bar"),
        Message::new("user", "My name is suzie"),
        Message::new("function", r#"{"res":{"kind":"user","name":"suzie"}}"#).named("foo"),
        Message::new("user", r#"I want to post a message with the text "hello world""#),
        Message::new("function", r#"{"res":{"kind":"post","text":"hello world"}}"#).named("foo"),
    ];
    let foo = Tool::function("foo", Some("Return the foo or the bar"), &parameters);
    check(&messages, &[foo], ToolChoice::Named("foo".into()), 158);
}

/// The cookbook's request was billed 105 by `gpt-3.5-turbo` in 2024: the rule by key was made for it, this one a year earlier.
#[test]
fn two_rules_agree() {
    let (tool, messages) = weather();
    check(&messages, &[tool], ToolChoice::Auto, 105);
}

#[test]
fn what_the_rendering_does_not_know_is_said() {
    let check = |properties: &str, expect: Accuracy| {
        let tools = [tool("run", None, properties)];
        let counted = count(named("functions-2023-cl100k"), &request(&[Message::new("user", "hello")], &tools, ToolChoice::Auto));
        assert_eq!(counted.accuracy, expect, "{properties}");
    };
    check(r#"{"n": {"type": "integer", "enum": [1, 2]}}"#, Accuracy::Exact);
    check(r#"{"n": {"type": ["string", "null"]}}"#, Accuracy::Unstated);
    check(r#"{"n": {"$ref": "n.json"}}"#, Accuracy::Unstated);
    check(r#"{"n": {"type": "string", "pattern": "^a"}}"#, Accuracy::Unstated);
    check(r#"{"n": true}"#, Accuracy::Unstated);
}
