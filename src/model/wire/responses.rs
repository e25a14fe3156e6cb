//! OpenAI Responses.

use serde_json::{Map, Value, json};

use super::answer::{inclusive, list, number, text};
use super::body::tool_fields;
use super::history::{Said, said, system_text};
use super::{Answer, Asking, Body, Delivery, Memory, Stop, StreamEvent, Trouble, Wire};
use crate::model::{CallDraft, Request};
use crate::transcript::{Digest, Phase, Role};

/// The fields beside instructions, tools and input.
pub(super) fn head(asking: &Asking) -> Map<String, Value> {
    let mut head = asking.head("max_output_tokens");
    head.insert("store".to_owned(), asking.previous.into());
    if !asking.previous {
        // Whoever keeps nothing at the provider gets its reasoning in a form that can be handed back.
        head.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
    }
    head
}

pub(super) fn body(asking: &Asking, request: &Request<'_>, memory: &Memory) -> Result<Body, String> {
    let system = system_text(request.system)?.map(Value::from);
    let tools = request.tools.iter().map(|tool| {
        let (name, description, parameters) = tool_fields(&tool.schema)?;
        Ok(json!({"type": "function", "name": name, "description": description, "parameters": parameters, "strict": false}))
    });
    let tools: Vec<Value> = tools.collect::<Result<_, String>>()?;
    let mut items: Vec<Value> = said(request.items, memory).into_iter().map(item).collect();
    let mut head = head(asking);
    let mut inputs = vec![];
    if asking.previous {
        inputs = items.iter().map(|item| Digest::of(&item.to_string())).collect();
        if let Some((id, sent)) = memory.goes_on_from(&inputs, &items) {
            head.insert("previous_response_id".to_owned(), id.into());
            items.drain(..sent);
        }
    }
    Ok(Body { wire: Wire::Responses, head, system: system.into_iter().collect(), tools, items, inputs })
}

fn item(one: Said<'_>) -> Value {
    match one {
        Said::Message { role: Role::Assistant, text, phase, .. } => {
            let mut message = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
            match phase {
                Some(Phase::Commentary) => message["phase"] = "commentary".into(),
                Some(Phase::FinalAnswer) => message["phase"] = "final_answer".into(),
                None => {}
            }
            message
        }
        Said::Message { role, text, .. } => {
            let role = if role == Role::Tool { Role::User } else { role };
            json!({"type": "message", "role": role.name(), "content": [{"type": "input_text", "text": text}]})
        }
        Said::Reasoning(verbatim) => verbatim.clone(),
        Said::Call { id, name, args } => json!({"type": "function_call", "call_id": id, "name": name, "arguments": args}),
        Said::Result { id, text, .. } => json!({"type": "function_call_output", "call_id": id, "output": text}),
    }
}

pub(super) fn read(whole: &Value) -> Result<Answer, Trouble> {
    if let Some(error) = whole.get("error").filter(|error| !error.is_null()) {
        return Err(Trouble::of_event(error));
    }
    let Some(output) = whole.get("output").and_then(Value::as_array) else {
        return Err(Trouble::broken("the reply has no output"));
    };
    let mut answer = Answer { response: whole.get("id").and_then(Value::as_str).map(str::to_owned), ..Answer::default() };
    let mut refused = false;
    for item in output {
        match text(item, "type") {
            "message" => {
                for part in list(item, "content") {
                    answer.say(text(part, "text"));
                    if !text(part, "refusal").is_empty() {
                        refused = true;
                        answer.say(text(part, "refusal"));
                    }
                }
            }
            "function_call" => {
                let draft = CallDraft::tool(text(item, "name"), text(item, "arguments"));
                answer.calls.push(CallDraft { id: text(item, "call_id").to_owned(), ..draft });
            }
            "reasoning" => {
                let summary: Vec<&str> = list(item, "summary").iter().map(|part| text(part, "text")).collect();
                answer.reason("reasoning", summary.join("\n\n").trim(), item);
            }
            _ => {}
        }
    }
    let why = whole.pointer("/incomplete_details/reason").and_then(Value::as_str);
    answer.stop = match (text(whole, "status"), why) {
        ("partial", _) => Stop::Partial,
        (_, Some("content_filter")) => Stop::Filter,
        ("incomplete", _) => Stop::Length,
        _ if refused => Stop::Refusal,
        _ => Stop::End,
    };
    let usage = whole.get("usage").filter(|usage| usage.is_object());
    answer.usage = usage.map(|usage| {
        let of = |pointer| number(usage, pointer);
        let (read, write) = (of("/input_tokens_details/cached_tokens"), of("/input_tokens_details/cache_write_tokens"));
        inclusive(of("/input_tokens"), read, write, of("/output_tokens"), of("/output_tokens_details/reasoning_tokens"))
    });
    answer.usage_verbatim = usage.cloned();
    answer.unless_filtered()
}

/// The response that a stream's events end with; one that breaks off is put together from what came.
pub(super) fn assemble(events: &[StreamEvent]) -> Result<Value, Trouble> {
    let (mut id, mut done, mut open, mut error) = (Value::Null, Vec::new(), String::new(), None);
    for event in Delivery::parsed(events) {
        match text(&event, "type") {
            "response.created" => id = event.pointer("/response/id").cloned().unwrap_or_default(),
            "response.completed" | "response.incomplete" => return Ok(event.get("response").cloned().unwrap_or_default()),
            "response.failed" => {
                error = Some(Trouble::of_event(event.pointer("/response/error").unwrap_or(&Value::Null)));
                break;
            }
            "error" => {
                error = Some(Trouble::of_event(event.get("error").unwrap_or(&event)));
                break;
            }
            "response.output_text.delta" => open += text(&event, "delta"),
            "response.output_item.done" => {
                done.push(event.get("item").cloned().unwrap_or_default());
                open.clear();
            }
            _ => {}
        }
    }
    if !open.is_empty() {
        done.push(json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": open}]}));
    }
    let said = done.iter().any(|item| text(item, "type") == "message");
    match error {
        Some(error) if !said => Err(error),
        _ if !said => Err(Trouble::broken("the stream ended before it said anything")),
        _ => Ok(json!({"id": id, "output": done, "status": "partial"})),
    }
}
