//! Figures that were published, and what holds for any request.

mod chat;
mod estimate;
mod functions;
mod lookup;
mod properties;

use super::super::counter_by_name;
use super::*;

/// Counts a request; both engines agree.
fn count(framing: Framing, request: &Request) -> FramedCount {
    let by = |engine: &str| framing.count_request(&*counter_by_name(framing.encoding(), engine).unwrap(), request).unwrap();
    let counted = by("tiktoken");
    assert_eq!(by("tiktoken-rs"), counted, "{request:?}");
    counted
}

fn named(family: &str) -> Framing {
    Framing::named(family).unwrap()
}

fn request(messages: &[Message], tools: &[Tool], choice: ToolChoice) -> Request {
    Request { messages: messages.to_vec(), tools: tools.to_vec(), choice }
}

/// Section 6 of openai/openai-cookbook `examples/How_to_count_tokens_with_tiktoken.ipynb` (c81359cd): a prompt with examples, then
/// the sentence that it is to translate.
fn jargon() -> [Message; 6] {
    let example = |who: &str, text: &str| Message::new("system", text).named(who);
    [
        Message::new("system", "You are a helpful, pattern-following assistant that translates corporate jargon into plain English."),
        example("example_user", "New synergies will help drive top-line growth."),
        example("example_assistant", "Things working well together will increase revenue."),
        example("example_user", "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage."),
        example("example_assistant", "Let's talk later when we're less busy about how to do better."),
        Message::new("user", "This late pivot means we don't have time to boil the ocean for the client deliverable."),
    ]
}

/// Section 7 of the same notebook: one function, and a question for it.
fn weather() -> (Tool, [Message; 2]) {
    let parameters = r#"{"type": "object", "properties": {
        "location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"},
        "unit": {"type": "string", "description": "The unit of temperature to return", "enum": ["celsius", "fahrenheit"]}},
        "required": ["location"]}"#;
    let messages = [
        Message::new("system", "You are a helpful assistant that can answer to questions about the weather."),
        Message::new("user", "What's the weather like in San Francisco?"),
    ];
    (Tool::function("get_current_weather", Some("Get the current weather in a given location"), parameters), messages)
}
