//! The vectors of learn-claude-code s04: one child, played response by response.

use crate::strategy::deerflow::message::Message;
use crate::strategy::deerflow::value::Value;
use crate::strategy::learn_claude_code::rounds::{cut, goes_on, unknown_tool};
use crate::strategy::learn_claude_code::{LearnClaudeCode, TOOL};
use crate::strategy::{AgentSpec, AssistantTurn, End, RunContext, ThreadId, ToolSpec};
use crate::transcript::Item;

use super::deerflow::data::Fields;
use super::dialect::Dialect;
use super::difference::{self, Difference};
use super::encoding::{self, json};
use super::json::Json;
use super::stage::Stage;

pub const DIALECT: Dialect = Dialect { system: "learn_claude_code", head: &["encoding"], answer, differences };

/// What may be expected.
const EXPECTED: [&str; 7] = [
    "expected_child_messages",
    "expected_parent_result",
    "expected_model_requests",
    "expected_last_request_messages",
    "expected_tool_outputs_used",
    "expected_last_request_last_message",
    "expected_child_tool_result_chars",
];

/// What the child did, and what became of it.
#[derive(Default)]
struct Played {
    /// The messages of the last request.
    sent: Vec<Json>,
    requests: usize,
    outputs: usize,
    /// Characters of the last tool result.
    chars: Option<usize>,
    /// An exception that left the loop.
    raised: Option<String>,
}

/// What the product gives for a vector.
fn answer(given: &str) -> Result<Json, String> {
    let given = encoding::read(given)?;
    let vector = Fields::of(&given, "the vector", &["strategy", "basis", "mode", "call", "config", "parent_items", "summary", "child"])?;
    match (vector.text("strategy")?, vector.text("mode")?) {
        (Some("learn-claude-code@0f691a0"), Some("fresh")) => {}
        (Some("learn-claude-code@0f691a0"), mode) => return Err(format!("the mode {mode:?} is not known")),
        (strategy, _) => return Err(format!("the strategy {strategy:?} is not known")),
    }
    // The parent's history is read and not used: nothing of it goes down.
    Message::read_all(vector.list("parent_items")?)?;
    vector.text("summary")?;
    let tools = vector.object("config", &["child_tools"])?.unwrap_or_default().texts("child_tools")?.unwrap_or_default();
    vector.object("call", &["prompt"])?.ok_or("there is no `call`")?;
    let call = json(vector.get("call").unwrap_or(&Value::None)).to_string();

    let spec = |name: &String| ToolSpec::of_strings(name, "", &[]);
    let agent = AgentSpec { tools: tools.iter().map(spec).collect(), ..AgentSpec::default() };
    let run = RunContext { root: "parent".into(), agents: [("parent".to_owned(), agent)].into(), ..RunContext::default() };
    let mut stage = Stage::new(&LearnClaudeCode, &run);
    let call = stage.draft("", TOOL, &call);
    stage.call(ThreadId::ROOT, &call, &[], 0);
    let opened = stage.put_by(call.key).map(|put| (put.thread, put.items.clone()));
    let Some((child, opening)) = opened else {
        let (view, _) = stage.request(ThreadId::ROOT, &[], 0);
        let Some(End::Failed(why)) = view.stop else { return Err("no child starts, and nothing is raised".into()) };
        return Ok(answered(Json::Null, &Played::default(), raises(why)));
    };
    let messages: Vec<Json> = opening.iter().map(|item| message("user", item.text().into())).collect();
    if vector.get("child").is_none() {
        return Ok(Json::object([("expected_child_messages", Json::List(messages))]));
    }
    let played = play(&mut stage, child, &opening, messages.clone(), &tools, &vector)?;
    let result = match &played.raised {
        Some(why) => raises(why.clone()),
        None => stage.said(call.key).map(|said| said.text.clone()).into(),
    };
    Ok(answered(Json::List(messages), &played, result))
}

fn answered(opening: Json, played: &Played, result: Json) -> Json {
    let last = played.sent.last().cloned();
    Json::object([
        ("expected_child_messages", opening),
        ("expected_parent_result", result),
        ("expected_model_requests", played.requests.into()),
        ("expected_last_request_messages", (played.requests > 0).then_some(played.sent.len()).into()),
        ("expected_tool_outputs_used", played.outputs.into()),
        ("expected_last_request_last_message", last.into()),
        ("expected_child_tool_result_chars", played.chars.into()),
    ])
}

fn raises(why: String) -> Json {
    Json::object([("raises", why.into())])
}

fn message(role: &str, content: Json) -> Json {
    Json::object([("role", role.into()), ("content", content)])
}

/// Plays the child's responses until its loop ends, and ends its turn.
fn play(
    stage: &mut Stage,
    child: ThreadId,
    opening: &[Item],
    mut messages: Vec<Json>,
    tools: &[String],
    vector: &Fields<'_>,
) -> Result<Played, String> {
    let responses = vector.list("child")?;
    let mut played = Played::default();
    loop {
        if let (view, _) = stage.request(child, opening, 0)
            && let Some(end) = view.stop
        {
            stage.end(child, &end, opening, 0, 0);
            return Ok(played);
        }
        played.sent.clone_from(&messages);
        let response = responses.get(played.requests);
        played.requests += 1;
        let Some(response) = response else {
            return Err(format!("the child is asked for response {}, which is not given", played.requests - 1));
        };
        let wrong = |why: String| format!("response {} of the child: {why}", played.requests - 1);
        let response = Fields::of(response, "it", &["blocks", "stop_reason", "tool_outputs"]).map_err(wrong)?;
        let (text, calls) = blocks(&response)?;
        stage.reply(child, AssistantTurn { text, ..AssistantTurn::default() }, opening, 0);
        if !goes_on(response.text("stop_reason")?.unwrap_or_default()) {
            stage.end(child, &End::Done, opening, 0, 0);
            return Ok(played);
        }
        messages.push(message("assistant", json(response.get("blocks").unwrap_or(&Value::List(vec![])))));
        let mut outputs = response.list("tool_outputs")?.iter();
        let mut results = Vec::new();
        for (id, name) in calls {
            let text = if !tools.contains(&name) {
                unknown_tool(&name)
            } else {
                let output = outputs.next().ok_or_else(|| format!("the tool `{name}` is called, and no output of it is given"))?;
                played.outputs += 1;
                match output {
                    Value::Text(output) => cut(output).unwrap_or(output).to_owned(),
                    other => {
                        let raised = Fields::of(other, "an output", &["raises"])?.text("raises")?.ok_or("an output is no text")?;
                        played.raised = Some(raised.to_owned());
                        return Ok(played);
                    }
                }
            };
            played.chars = Some(text.chars().count());
            results.push(Json::object([("type", "tool_result".into()), ("tool_use_id", id.into()), ("content", text.into())]));
        }
        messages.push(message("user", Json::List(results)));
    }
}

/// The texts of a response, joined with nothing, and its calls: id and name.
fn blocks(response: &Fields<'_>) -> Result<(String, Vec<(String, String)>), String> {
    let (mut text, mut calls) = (String::new(), Vec::new());
    for block in response.list("blocks")? {
        let kind = block.get("type").and_then(Value::as_text).unwrap_or_default();
        let keys: &[&str] = match kind {
            "text" | "reasoning" => &["type", "text"],
            "tool_use" => &["type", "id", "name", "input"],
            _ => return Err(format!("a block is of the unknown type `{kind}`")),
        };
        let fields = Fields::of(block, "a block", keys)?;
        let required = |key: &'static str| fields.text(key)?.ok_or_else(|| format!("a block of type {kind} has no `{key}`"));
        match kind {
            "text" => text.push_str(required("text")?),
            "tool_use" => calls.push((required("id")?.to_owned(), required("name")?.to_owned())),
            _ => {}
        }
    }
    Ok((text, calls))
}

/// Where an answer differs. A result that is `null` is not the subject, and without a request there is no last one.
fn differences(expected: &Json, got: &Json) -> Result<Vec<Difference>, String> {
    let mut found = Vec::new();
    for (key, wanted) in expected.fields().into_iter().flatten() {
        if !EXPECTED.contains(&key.as_str()) {
            return Err(format!("an unknown expectation `{key}`"));
        }
        let given = got.get(key);
        let is_no_subject = key == "expected_parent_result" && wanted.is_null();
        let is_nothing = key == "expected_last_request_messages" && given.is_null() && *wanted == Json::from(0);
        if !is_no_subject && !is_nothing {
            found.extend(difference::differences(key, &encoding::expectation(wanted)?, &encoding::expectation(given)?, &|_| false));
        }
    }
    Ok(found)
}
