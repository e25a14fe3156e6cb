//! The estimate for Claude models, by hand from its table.

use super::*;

/// Thirty-two words that are a token each in `o200k_base`, a space before them included; so 32 tokens of prose.
fn words() -> String {
    let text = ["the"; 32].join(" ");
    assert_eq!(crate::tokens::counter(Encoding::O200kBase).count(&text), Ok(32));
    text
}

#[test]
fn a_text_by_its_kind() {
    let check = |family: &str, text: &str, expect: u64, expect_percent: f64| {
        let counted = count(named(family), &request(&[Message::new("user", text)], &[], ToolChoice::Auto));
        assert_eq!((counted.tokens(), counted.exact()), (Some(expect), false), "{family}: {text}");
        assert_eq!((counted.error_percent(), counted.basis), (Some(expect_percent), Basis::Secondary), "{family}: {text}");
    };
    // 7 for the request; 32 * 1.19 = 38.08.
    check("anthropic", &words(), 7 + 38, 8.0);
    // 32 * 1.60 = 51.2.
    check("anthropic-4.7", &words(), 11 + 51, 15.0);
    check("anthropic-4.8", &words(), 6 + 51, 15.0);
    // "[1,1,1]" is "[", six tokens, "]" as `o200k_base` has it: "[", "1", ",", "1", ",", "1", "]" = 7; 7 * 1.22 = 8.54.
    check("anthropic", "[1,1,1]", 7 + 9, 8.0);
    check("anthropic", "", 7, 8.0);
    // A code line and a sentence: one factor for all, and a wider error.
    let mixed = "This is what it prints to you:\nlet answer = forty_two();\n";
    let tokens = crate::tokens::counter(Encoding::O200kBase).count(mixed).unwrap();
    check("anthropic", mixed, 7 + (tokens * 1280 + 500) / 1000, 15.0);
    check("anthropic-4.7", mixed, 11 + (tokens * 1540 + 500) / 1000, 15.0);
}

#[test]
fn the_hidden_prompt_by_model_and_choice() {
    let tools = [Tool::function("ls", Some("lists"), r#"{"type":"object","properties":{}}"#)];
    let check = |model: &str, choice: ToolChoice, expect: u64| {
        let framing = Framing::of_model(model).unwrap();
        let alone = count(framing, &request(&[], &[], choice.clone())).counted;
        let json = crate::tokens::counter(Encoding::O200kBase)
            .count(r#"{"name":"ls","description":"lists","input_schema":{"type":"object","properties":{}}}"#)
            .unwrap();
        let factor = if framing.name() == "anthropic" { 1220 } else { 1490 };
        let schema = (json * factor + 500) / 1000;
        assert_eq!(count(framing, &request(&[], &tools, choice)).tokens(), Some(alone + schema + expect), "{model}");
    };
    check("claude-3-7-sonnet-20250219", ToolChoice::Auto, 346);
    check("claude-3-7-sonnet-20250219", ToolChoice::None, 346);
    check("claude-3-7-sonnet-20250219", ToolChoice::Any, 313);
    check("claude-3-opus-20240229", ToolChoice::Auto, 530);
    check("claude-3-opus-20240229", ToolChoice::Named("ls".into()), 281);
    check("claude-3-sonnet-20240229", ToolChoice::Auto, 159);
    check("claude-3-sonnet-20240229", ToolChoice::Any, 235);
    check("claude-3-haiku-20240307", ToolChoice::Auto, 264);
    check("claude-3-haiku-20240307", ToolChoice::Any, 340);
    check("claude-opus-4-6", ToolChoice::Auto, 497);
    check("claude-opus-4-7", ToolChoice::Auto, 675);
    check("claude-opus-5", ToolChoice::Any, 406);
    // The newest row of a model counts; the older ones stay as what was said then.
    check("claude-sonnet-4-20250514", ToolChoice::Auto, 313);
    let said: Vec<_> = TOOL_PROMPTS.iter().filter(|row| row.model == "claude-sonnet-4").map(|row| (row.auto, row.forced)).collect();
    assert_eq!(said, [(313, 315), (346, 313)]);
}

#[test]
fn a_hidden_prompt_that_nobody_published_is_unknown() {
    let tools = [Tool::function("ls", None, "{}")];
    for framing in [named("anthropic"), Framing::of_model("claude-opus-5-5").unwrap(), Framing::of_model("claude-fable-5-1").unwrap()] {
        let counted = count(framing, &request(&[], &tools, ToolChoice::Auto));
        assert_eq!((counted.tokens(), counted.error_percent()), (None, None));
        assert_eq!(counted.unknown, ["the hidden prompt that tools bring with them, which differs by model"]);
        assert!(count(framing, &request(&[], &[], ToolChoice::Auto)).tokens().is_some());
    }
}

#[test]
fn the_providers_own_tools() {
    let check = |tool: &str, expect: Option<u64>| {
        let framing = Framing::of_model("claude-3-7-sonnet").unwrap();
        let counted = count(framing, &request(&[], &[Tool::Provided(tool.into())], ToolChoice::Auto));
        assert_eq!(counted.tokens(), expect.map(|tokens| 7 + 346 + tokens), "{tool}");
    };
    check("bash", Some(245));
    check("bash_20250124", Some(245));
    check("text_editor_20250728", Some(700));
    check("str_replace_based_edit_tool", Some(700));
    check("bash_script", None);
    check("computer_20250124", None);
}
