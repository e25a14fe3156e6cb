//! What a provider says, on each wire, in one piece and as a stream. Written from the vendors' descriptions of their wires,
//! and from nothing of the code under test.

use serde_json::{Value, json};
use wiremock::ResponseTemplate;

/// A reply.
#[derive(Clone, Default)]
pub struct Says {
    /// Reasoning: a readable summary and what nobody can read of it.
    pub reasoning: Option<(&'static str, &'static str)>,
    pub text: &'static str,
    /// Id, name, arguments.
    pub calls: Vec<(&'static str, &'static str, &'static str)>,
    /// How it ends on the wire; empty: as the model wants.
    pub ends: &'static str,
    /// Input that no cache held, read, output, reasoning in it.
    pub usage: (u64, u64, u64, u64),
}

/// A text.
pub fn text(text: &'static str) -> Says {
    Says { text, usage: (100, 20, 9, 0), ..Says::default() }
}

/// A call.
pub fn call(id: &'static str, name: &'static str, args: &'static str) -> Says {
    Says { calls: vec![(id, name, args)], usage: (100, 20, 9, 0), ..Says::default() }
}

impl Says {
    /// On a wire.
    pub fn on(&self, wire: &str, stream: bool) -> ResponseTemplate {
        match (wire, stream) {
            ("chat", false) => whole(self.chat()),
            ("chat", true) => events(&self.chat_events()),
            ("responses", false) => whole(self.responses()),
            ("responses", true) => events(&self.responses_events()),
            ("messages", false) => whole(self.messages()),
            ("messages", true) => events(&self.messages_events()),
            _ => panic!("no wire {wire}"),
        }
    }

    fn chat_usage(&self) -> Value {
        let (uncached, read, output, reasoning) = self.usage;
        json!({"prompt_tokens": uncached + read, "completion_tokens": output, "total_tokens": uncached + read + output,
               "prompt_tokens_details": {"cached_tokens": read}, "completion_tokens_details": {"reasoning_tokens": reasoning}})
    }

    fn chat(&self) -> Value {
        let calls: Vec<Value> = self
            .calls
            .iter()
            .map(|(id, name, args)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": args}}))
            .collect();
        let mut message = json!({"role": "assistant", "content": if self.text.is_empty() { Value::Null } else { self.text.into() }});
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        let usual = if self.calls.is_empty() { "stop" } else { "tool_calls" };
        let mut ends = if self.ends.is_empty() { usual } else { self.ends };
        if ends == "refusal" {
            message["refusal"] = message["content"].take();
            ends = "stop";
        }
        json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "a-model",
               "choices": [{"index": 0, "message": message, "finish_reason": ends, "logprobs": null}], "usage": self.chat_usage()})
    }

    fn chat_events(&self) -> Vec<(&'static str, Value)> {
        let chunk = |delta: Value, ends: Value| {
            json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "a-model",
                   "choices": [{"index": 0, "delta": delta, "finish_reason": ends}]})
        };
        let mut all = vec![("", chunk(json!({"role": "assistant", "content": ""}), Value::Null))];
        let key = if self.ends == "refusal" { "refusal" } else { "content" };
        all.extend(halves(self.text).map(|half| ("", chunk(json!({key: half}), Value::Null))));
        for (at, (id, name, args)) in self.calls.iter().enumerate() {
            let begin = json!({"tool_calls": [{"index": at, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}]});
            all.push(("", chunk(begin, Value::Null)));
            let more = |half| json!({"tool_calls": [{"index": at, "function": {"arguments": half}}]});
            all.extend(halves(args).map(|half| ("", chunk(more(half), Value::Null))));
        }
        if self.ends != "cut" {
            let usual = if self.calls.is_empty() { "stop" } else { "tool_calls" };
            let ends = if self.ends.is_empty() || self.ends == "refusal" { usual } else { self.ends };
            all.push(("", chunk(json!({}), ends.into())));
            all.push(("", json!({"id": "chatcmpl-1", "choices": [], "usage": self.chat_usage()})));
            all.push(("", "[DONE]".into()));
        }
        all
    }

    fn responses(&self) -> Value {
        let mut output = Vec::new();
        if let Some((summary, sealed)) = self.reasoning {
            let summary = if summary.is_empty() { json!([]) } else { json!([{"type": "summary_text", "text": summary}]) };
            output.push(json!({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": sealed}));
        }
        if !self.text.is_empty() {
            let part = match self.ends {
                "refusal" => json!({"type": "refusal", "refusal": self.text}),
                _ => json!({"type": "output_text", "text": self.text, "annotations": []}),
            };
            let phase = if self.calls.is_empty() { "final_answer" } else { "commentary" };
            output.push(json!({"type": "message", "id": "msg_1", "role": "assistant", "phase": phase, "content": [part]}));
        }
        for (id, name, args) in &self.calls {
            output.push(json!({"type": "function_call", "id": "fc_1", "call_id": id, "name": name, "arguments": args}));
        }
        let (uncached, read, out, reasoning) = self.usage;
        let incomplete = match self.ends {
            "length" => json!({"reason": "max_output_tokens"}),
            "content_filter" => json!({"reason": "content_filter"}),
            _ => Value::Null,
        };
        json!({"id": "resp_1", "object": "response", "status": if incomplete.is_null() { "completed" } else { "incomplete" },
               "incomplete_details": incomplete, "error": null, "output": output,
               "usage": {"input_tokens": uncached + read, "input_tokens_details": {"cached_tokens": read}, "output_tokens": out,
                         "output_tokens_details": {"reasoning_tokens": reasoning}, "total_tokens": uncached + read + out}})
    }

    fn responses_events(&self) -> Vec<(&'static str, Value)> {
        let whole = self.responses();
        let begin = json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}});
        let mut all = vec![("response.created", begin)];
        all.extend(
            halves(self.text).map(|half| {
                ("response.output_text.delta", json!({"type": "response.output_text.delta", "output_index": 0, "delta": half}))
            }),
        );
        if self.ends == "cut" {
            return all;
        }
        for (at, item) in whole["output"].as_array().unwrap().iter().enumerate() {
            all.push(("response.output_item.done", json!({"type": "response.output_item.done", "output_index": at, "item": item})));
        }
        let kind = if whole["status"] == "completed" { "response.completed" } else { "response.incomplete" };
        all.push((kind, json!({"type": kind, "response": whole})));
        all
    }

    fn messages(&self) -> Value {
        let mut content = Vec::new();
        if let Some((thinking, signature)) = self.reasoning {
            content.push(match thinking {
                "" => json!({"type": "redacted_thinking", "data": signature}),
                _ => json!({"type": "thinking", "thinking": thinking, "signature": signature}),
            });
        }
        if !self.text.is_empty() {
            content.push(json!({"type": "text", "text": self.text}));
        }
        for (id, name, args) in &self.calls {
            let input = serde_json::from_str::<Value>(args).unwrap_or_else(|_| (*args).into());
            content.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
        }
        let usual = if self.calls.is_empty() { "end_turn" } else { "tool_use" };
        let ends = match self.ends {
            "" => usual,
            "length" => "max_tokens",
            ends => ends,
        };
        let (uncached, read, out, _) = self.usage;
        json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "a-model", "content": content, "stop_reason": ends,
               "usage": {"input_tokens": uncached, "cache_read_input_tokens": read, "cache_creation_input_tokens": 7, "output_tokens": out}})
    }

    fn messages_events(&self) -> Vec<(&'static str, Value)> {
        let whole = self.messages();
        let mut begun = whole.clone();
        (begun["content"], begun["stop_reason"]) = (json!([]), Value::Null);
        begun["usage"]["output_tokens"] = 1.into();
        let mut all = vec![("message_start", json!({"type": "message_start", "message": begun})), ("ping", json!({"type": "ping"}))];
        for (at, block) in whole["content"].as_array().unwrap().iter().enumerate() {
            let (mut empty, mut deltas) = (block.clone(), Vec::new());
            match block["type"].as_str().unwrap() {
                "text" => {
                    empty["text"] = "".into();
                    deltas.extend(halves(self.text).map(|half| json!({"type": "text_delta", "text": half})));
                }
                "thinking" => {
                    (empty["thinking"], empty["signature"]) = ("".into(), "".into());
                    deltas.extend(halves(self.reasoning.unwrap().0).map(|half| json!({"type": "thinking_delta", "thinking": half})));
                    deltas.push(json!({"type": "signature_delta", "signature": block["signature"]}));
                }
                "tool_use" => {
                    empty["input"] = json!({});
                    let args = self.calls.iter().find(|(id, ..)| block["id"] == *id).unwrap().2;
                    deltas.extend(halves(args).map(|half| json!({"type": "input_json_delta", "partial_json": half})));
                }
                _ => {}
            }
            all.push(("content_block_start", json!({"type": "content_block_start", "index": at, "content_block": empty})));
            all.extend(
                deltas
                    .into_iter()
                    .map(|delta| ("content_block_delta", json!({"type": "content_block_delta", "index": at, "delta": delta}))),
            );
            if self.ends == "cut" {
                return all;
            }
            all.push(("content_block_stop", json!({"type": "content_block_stop", "index": at})));
        }
        let usage = json!({"output_tokens": self.usage.2});
        all.push(("message_delta", json!({"type": "message_delta", "delta": {"stop_reason": whole["stop_reason"]}, "usage": usage})));
        all.push(("message_stop", json!({"type": "message_stop"})));
        all
    }
}

/// A text in two pieces, neither of them empty unless it is.
fn halves(text: &'static str) -> impl Iterator<Item = &'static str> {
    let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
    [&text[..middle], &text[middle..]].into_iter().filter(|half| !half.is_empty())
}

pub fn whole(value: Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(value)
}

/// A stream of events.
pub fn events(events: &[(&str, Value)]) -> ResponseTemplate {
    let one = |(name, data): &(&str, Value)| {
        let data = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
        if name.is_empty() { format!("data: {data}\n\n") } else { format!("event: {name}\ndata: {data}\n\n") }
    };
    let text: String = events.iter().map(one).collect();
    ResponseTemplate::new(200).set_body_raw(text, "text/event-stream")
}
