//! Anthropic Messages.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::answer::{number, text};
use super::body::tool_fields;
use super::history::{Said, said, system_text};
use super::{Answer, Asking, Body, Delivery, Memory, Stop, StreamEvent, Trouble, Wire};
use crate::ledger::Usage;
use crate::model::{CallDraft, Request};
use crate::transcript::Role;

pub(super) fn body(asking: &Asking, request: &Request<'_>, memory: &Memory) -> Result<Body, String> {
    let system = system_text(request.system)?.filter(|text| !text.is_empty()).map(|text| json!({"type": "text", "text": text}));
    let mut system: Vec<Value> = system.into_iter().collect();
    let tools = request.tools.iter().map(|tool| {
        let (name, description, parameters) = tool_fields(&tool.schema)?;
        Ok(json!({"name": name, "description": description, "input_schema": parameters}))
    });
    let tools: Vec<Value> = tools.collect::<Result<_, String>>()?;
    let mut items: Vec<Value> = Vec::new();
    for one in said(request.items, memory) {
        let (role, block) = match one {
            // The wire refuses blocks of no text.
            Said::Message { text, .. } if text.trim().is_empty() => continue,
            Said::Message { role, text, .. } => {
                let role = if role == Role::Assistant { "assistant" } else { "user" };
                (role, json!({"type": "text", "text": text}))
            }
            Said::Reasoning(verbatim) => ("assistant", verbatim.clone()),
            Said::Call { id, name, args } => {
                // The wire takes objects only: what is none is handed back as the text that it was.
                let input = serde_json::from_str::<Value>(args).ok().filter(Value::is_object);
                let input = input.unwrap_or_else(|| json!({"malformed": args}));
                ("assistant", json!({"type": "tool_use", "id": id, "name": name, "input": input}))
            }
            Said::Result { id, text, failed } => {
                let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": text});
                if failed {
                    block["is_error"] = true.into();
                }
                ("user", block)
            }
        };
        match items.last_mut().filter(|last| last["role"] == role).and_then(|last| last["content"].as_array_mut()) {
            Some(blocks) => blocks.push(block),
            None => items.push(json!({"role": role, "content": [block]})),
        }
    }
    if asking.breakpoints {
        let last = items.last_mut().and_then(|last| last["content"].as_array_mut()?.last_mut());
        for block in system.last_mut().into_iter().chain(last) {
            block["cache_control"] = json!({"type": "ephemeral"});
        }
    }
    Ok(Body { wire: Wire::Messages, head: asking.head("max_tokens"), system, tools, items, inputs: vec![] })
}

pub(super) fn read(whole: &Value) -> Result<Answer, Trouble> {
    if let Some(error) = whole.get("error").filter(|error| !error.is_null()) {
        return Err(Trouble::of_event(error));
    }
    let Some(content) = whole.get("content").and_then(Value::as_array) else {
        return Err(Trouble::broken("the reply has no content"));
    };
    let mut answer = Answer::default();
    for block in content {
        match text(block, "type") {
            "text" => answer.say(text(block, "text")),
            "tool_use" => {
                let args = match block.get("input") {
                    Some(Value::String(args)) => args.clone(),
                    Some(input) => input.to_string(),
                    None => "{}".to_owned(),
                };
                answer.calls.push(CallDraft { id: text(block, "id").to_owned(), ..CallDraft::tool(text(block, "name"), args) });
            }
            "thinking" => answer.reason("thinking", text(block, "thinking"), block),
            "redacted_thinking" => answer.reason("redacted thinking", "", block),
            _ => {}
        }
    }
    answer.stop = match text(whole, "stop_reason") {
        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
        "refusal" => Stop::Refusal,
        "partial" => Stop::Partial,
        _ => Stop::End,
    };
    let usage = whole.get("usage").filter(|usage| usage.is_object());
    // Here input leaves out what a cache held.
    answer.usage = usage.map(|usage| Usage {
        uncached_input: number(usage, "/input_tokens"),
        cache_read: number(usage, "/cache_read_input_tokens"),
        cache_write: number(usage, "/cache_creation_input_tokens"),
        output: number(usage, "/output_tokens"),
        reasoning: number(usage, "/output_tokens_details/thinking_tokens"),
    });
    answer.usage_verbatim = usage.cloned();
    Ok(answer)
}

/// The message that a stream's events make.
pub(super) fn assemble(events: &[StreamEvent]) -> Result<Value, Trouble> {
    let mut message = Value::Null;
    let mut blocks: BTreeMap<u64, (Value, String)> = BTreeMap::new();
    let (mut whole, mut error) = (false, None);
    for event in Delivery::parsed(events) {
        let at = event.get("index").and_then(Value::as_u64).unwrap_or(0);
        match text(&event, "type") {
            "message_start" => message = event.get("message").filter(|message| message.is_object()).cloned().unwrap_or_default(),
            "content_block_start" => {
                let block = event.get("content_block").filter(|block| block.is_object());
                blocks.insert(at, (block.cloned().unwrap_or_default(), String::new()));
            }
            "content_block_delta" => {
                let Some((block, input)) = blocks.get_mut(&at) else { continue };
                let delta = event.get("delta").unwrap_or(&Value::Null);
                *input += text(delta, "partial_json");
                for key in ["text", "thinking", "signature"] {
                    if !text(delta, key).is_empty() {
                        block[key] = (text(block, key).to_owned() + text(delta, key)).into();
                    }
                }
            }
            "message_delta" => {
                if let Some(reason) = event.pointer("/delta/stop_reason") {
                    message["stop_reason"] = reason.clone();
                }
                if !message["usage"].is_object() {
                    message["usage"] = json!({});
                }
                for (key, value) in event.get("usage").and_then(Value::as_object).into_iter().flatten() {
                    message["usage"][key] = value.clone();
                }
            }
            "message_stop" => whole = true,
            "error" => {
                error = Some(Trouble::of_event(event.get("error").unwrap_or(&Value::Null)));
                break;
            }
            _ => {}
        }
    }
    let said = blocks.values().any(|(block, _)| !text(block, "text").is_empty());
    match error {
        Some(error) if !said => return Err(error),
        _ if !message.is_object() || (!whole && !said) => return Err(Trouble::broken("the stream ended before it said anything")),
        _ => {}
    }
    let content = blocks.into_values().map(|(mut block, input)| {
        if !input.is_empty() {
            // What is no JSON is handed on as it came.
            block["input"] = serde_json::from_str(&input).unwrap_or(Value::String(input));
        }
        block
    });
    message["content"] = content.collect();
    if !whole {
        message["stop_reason"] = "partial".into();
    }
    Ok(message)
}
