//! OpenAI Chat Completions.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::answer::{inclusive, list, number, text};
use super::body::tool_fields;
use super::history::{Said, said, system_text};
use super::{Answer, Asking, Body, Delivery, Memory, Stop, StreamEvent, Trouble, Wire};
use crate::model::{CallDraft, Request};
use crate::transcript::{Part, Role};

/// The fields beside the messages.
pub(super) fn head(asking: &Asking, seed: u64) -> Map<String, Value> {
    let mut head = asking.head(if asking.completion_limit { "max_completion_tokens" } else { "max_tokens" });
    if asking.seeded {
        head.insert("seed".to_owned(), seed.into());
    }
    if asking.stream {
        head.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    head
}

pub(super) fn body(asking: &Asking, request: &Request<'_>, seed: u64) -> Result<Body, String> {
    let system = system_text(request.system)?.map(|text| json!({"role": "system", "content": text}));
    let tools = request.tools.iter().map(|tool| function(&tool.schema)).collect::<Result<_, _>>()?;
    let nothing = Memory::default();
    let mut items: Vec<Value> = Vec::new();
    for one in said(request.items, &nothing) {
        match one {
            Said::Message { role, text, name, .. } => {
                let role = match role {
                    Role::Developer if !asking.completion_limit => Role::System.name(),
                    Role::Tool => Role::User.name(),
                    role => role.name(),
                };
                let mut message = json!({"role": role, "content": text});
                if let Some(name) = name {
                    message["name"] = name.into();
                }
                items.push(message);
            }
            Said::Call { id, name, args } => {
                let call = json!({"id": id, "type": "function", "function": {"name": name, "arguments": args}});
                let open = items.last_mut().filter(|last| last["role"] == "assistant");
                let message = match open {
                    Some(message) => message,
                    None => {
                        items.push(json!({"role": "assistant", "content": null}));
                        let last = items.len() - 1;
                        &mut items[last]
                    }
                };
                match message.get_mut("tool_calls").and_then(Value::as_array_mut) {
                    Some(calls) => calls.push(call),
                    None => message["tool_calls"] = json!([call]),
                }
            }
            Said::Result { id, text, .. } => items.push(json!({"role": "tool", "tool_call_id": id, "content": text})),
            Said::Reasoning(_) => {}
        }
    }
    Ok(Body { wire: Wire::Chat, head: head(asking, seed), system: system.into_iter().collect(), tools, items, inputs: vec![] })
}

fn function(schema: &Part) -> Result<Value, String> {
    let (name, description, parameters) = tool_fields(schema)?;
    Ok(json!({"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}))
}

pub(super) fn read(whole: &Value) -> Result<Answer, Trouble> {
    if let Some(error) = whole.get("error").filter(|error| !error.is_null()) {
        return Err(Trouble::of_event(error));
    }
    let choice = whole.pointer("/choices/0").ok_or_else(|| Trouble::broken("the reply has no choice"))?;
    let message = choice.get("message").filter(|message| message.is_object());
    let message = message.ok_or_else(|| Trouble::broken("the reply's first choice has no message"))?;
    let mut answer = Answer { response: None, ..Answer::default() };
    answer.say(text(message, "content"));
    let stop = choice.get("finish_reason").and_then(Value::as_str);
    answer.stop = match stop {
        Some("length") => Stop::Length,
        Some("content_filter") => Stop::Filter,
        Some("partial") => Stop::Partial,
        _ => Stop::End,
    };
    let refusal = text(message, "refusal");
    if !refusal.is_empty() {
        answer.say(refusal);
        answer.stop = Stop::Refusal;
    }
    for call in list(message, "tool_calls") {
        let function = call.get("function").unwrap_or(&Value::Null);
        let args = match function.get("arguments") {
            Some(Value::String(args)) => args.clone(),
            Some(args) => args.to_string(),
            None => String::new(),
        };
        answer.calls.push(CallDraft { id: text(call, "id").to_owned(), ..CallDraft::tool(text(function, "name"), args) });
    }
    let usage = whole.get("usage").filter(|usage| usage.is_object());
    answer.usage = usage.map(|usage| {
        let of = |pointer| number(usage, pointer);
        let (read, write) = (of("/prompt_tokens_details/cached_tokens"), of("/prompt_tokens_details/cache_write_tokens"));
        inclusive(of("/prompt_tokens"), read, write, of("/completion_tokens"), of("/completion_tokens_details/reasoning_tokens"))
    });
    answer.usage_verbatim = usage.cloned();
    answer.unless_filtered()
}

/// The reply that a stream's chunks make.
pub(super) fn assemble(events: &[StreamEvent]) -> Result<Value, Trouble> {
    let (mut content, mut refusal, mut finish, mut usage) = (String::new(), String::new(), None, Value::Null);
    let mut calls: BTreeMap<u64, (String, String, String)> = BTreeMap::new();
    let (mut seen, mut error) = (false, None);
    for chunk in Delivery::parsed(events) {
        if let Some(wrong) = chunk.get("error").filter(|error| !error.is_null()) {
            error = Some(Trouble::of_event(wrong));
            break;
        }
        if let Some(counted) = chunk.get("usage").filter(|usage| usage.is_object()) {
            usage = counted.clone();
        }
        let Some(choice) = chunk.pointer("/choices/0") else { continue };
        seen = true;
        let delta = choice.get("delta").unwrap_or(&Value::Null);
        content += text(delta, "content");
        refusal += text(delta, "refusal");
        for call in list(delta, "tool_calls") {
            let at = call.get("index").and_then(Value::as_u64).unwrap_or(calls.len() as u64);
            let (id, name, args) = calls.entry(at).or_default();
            let function = call.get("function").unwrap_or(&Value::Null);
            if !text(call, "id").is_empty() {
                *id = text(call, "id").to_owned();
            }
            *name += text(function, "name");
            *args += text(function, "arguments");
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            finish = Some(reason.to_owned());
        }
    }
    let nothing = content.is_empty() && refusal.is_empty();
    match (error, finish.is_some()) {
        (Some(error), _) if nothing => return Err(error),
        (None, false) if !seen || nothing => return Err(Trouble::broken("the stream ended before it said anything")),
        _ => {}
    }
    let calls: Vec<Value> = calls
        .into_values()
        .map(|(id, name, args)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": args}}))
        .collect();
    let message = json!({"role": "assistant", "content": content, "refusal": refusal, "tool_calls": calls});
    let finish = finish.unwrap_or_else(|| "partial".to_owned());
    Ok(json!({"choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage}))
}
