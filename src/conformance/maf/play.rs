//! A vector's run: what the root called before, its call, its children, and what it gets.

use std::collections::BTreeMap;

use crate::strategy::maf::dotnet::additional_properties;
use crate::strategy::{AssistantTurn, End, ThreadId, View};
use crate::transcript::{CallKey, Item, Origin, Part, Role, ToolCall};

use super::super::json::Json;
use super::super::stage::Stage;
use super::child::{Played, played, role, saying, stored};
use super::set_up::{SetUp, System};
use super::vector::{ChildResult, Config, Given};

/// How often a model that keeps calling is asked.
const ROUNDS: usize = 100;

/// The most calls that a message makes.
const CALLS: usize = 1000;

/// What the strategies give for a vector.
pub fn answer(given: &Given) -> Result<Json, String> {
    let set_up = SetUp::of(given)?;
    let name = match &set_up.tool_name {
        Ok(name) => name.clone(),
        Err(thrown) => return Ok(answered(Json::Null, Json::object([("throws", thrown.as_str().into())]))),
    };
    let Some(call) = &given.call else { return Ok(answered(Json::Null, Json::object([("tool_name", name.into())]))) };
    let args = call.arguments.as_text().map_or_else(|| call.arguments.to_string(), str::to_owned);
    let mut parent = Parent::new(given, &set_up)?;
    for prior in &given.config.prior_calls {
        parent.called_before(prior, &name)?;
    }
    if given.config.calls_in_message.is_some_and(|count| count == 0 || count > CALLS) {
        return Err(format!("`calls_in_message` is 1 to {CALLS}"));
    }
    for _ in 0..given.config.prior_consecutive_errors {
        parent.failed_before(&name);
    }
    let tool = if call.tool == "$TOOL" { &name } else { &call.tool };
    let count = given.config.calls_in_message.unwrap_or(1);
    let message = Message { tool, args: &args, count, text: parent.last_text.take().unwrap_or_default() };
    let description = parent.tool_description(&name);
    let mut got = parent.message(&message, given.child_result.as_ref())?;
    let request = parent.first_request(given, &set_up, &got, [Some(name.as_str()), description.as_deref()]);
    let again = Message { text: String::new(), count: 1, ..message };
    for _ in 0..ROUNDS {
        if !given.config.model_keeps_calling || got.end.is_some() || got.final_text.is_some() {
            break;
        }
        let more = parent.message(&again, given.child_result.as_ref())?;
        (got.end, got.final_text) = (more.end, more.final_text);
    }
    Ok(answered(request, result(&set_up, &name, &got)))
}

fn answered(request: Json, result: Json) -> Json {
    Json::object([("expected_child_request", request), ("expected_parent_result", result)])
}

/// What the parent gets: one object, or a list for several calls.
fn result(set_up: &SetUp, name: &str, got: &Got) -> Json {
    if let Some(End::Failed(why) | End::Stopped(why)) = got.end.as_ref().filter(|_| got.at_once) {
        return Json::object([("throws", why.as_str().into()), ("tool_name", name.into())]);
    }
    let one = |(message, failed): &(String, bool)| {
        let text = set_up.text(message, *failed);
        Json::object([("text", text.into()), ("openai_tool_message", message.as_str().into())])
    };
    let mut all: Vec<Json> = got.messages.iter().map(one).collect();
    if all.len() > 1 {
        return Json::List(all);
    }
    let Json::Object(mut fields) = all.pop().unwrap_or_else(|| Json::object([])) else { return Json::Null };
    fields.insert("tool_name".into(), name.into());
    fields.extend(got.final_text.iter().map(|text| ("parent_final_text".to_owned(), text.as_str().into())));
    if let Some(End::Failed(why) | End::Stopped(why)) = &got.end {
        fields.insert("throws".into(), why.as_str().into());
    }
    Json::Object(fields)
}

/// An assistant message of the parent.
struct Message<'a> {
    tool: &'a str,
    args: &'a str,
    count: usize,
    text: String,
}

/// What came of a message.
#[derive(Default)]
struct Got {
    /// The tool messages, as the client writes them, and whether they are errors.
    messages: Vec<(String, bool)>,
    /// The first request of each child that the message opened.
    requests: Vec<(View, Vec<Item>)>,
    /// Two children were at work at a time.
    overlap: bool,
    /// How the run ended before its next request.
    end: Option<End>,
    /// It ended with this very message.
    at_once: bool,
    /// What the run ended with, when the calls of the message were not made.
    final_text: Option<String>,
}

/// A child that has not ended.
struct AtWork {
    /// Its call's place in the message.
    at: usize,
    thread: ThreadId,
    /// Its thread with what opened this turn.
    history: Vec<Item>,
    /// Where the turn begins.
    own: usize,
}

/// The parent's run.
struct Parent {
    stage: Stage,
    history: Vec<Item>,
    /// How many items it had stored before this run.
    own: usize,
    /// What it says beside its call.
    last_text: Option<String>,
    /// What the threads of children hold.
    threads: BTreeMap<ThreadId, Vec<Item>>,
}

impl Parent {
    fn new(given: &Given, set_up: &SetUp) -> Result<Parent, String> {
        let mut stage = Stage::new(&*set_up.strategy, &set_up.run);
        let mut history = given.config.stored_state.as_ref().map(stored).transpose()?.unwrap_or_default();
        let own = history.len();
        let (last, before) = match given.parent_items.split_last() {
            Some((last, before)) if !last.tool_calls.is_empty() => (Some(last), before),
            _ => (None, &given.parent_items[..]),
        };
        for item in before {
            let role = role(&item.role)?;
            let origin = if role == Role::User { Origin::User } else { Origin::Own };
            history.extend(item.text.as_deref().map(|text| Item::message(role, origin, text)));
            for name in &item.tool_calls {
                history.push(Item::call(stage.draft("", name, "{}")));
            }
        }
        let last_text = last.and_then(|item| item.text.clone());
        Ok(Parent { stage, history, own, last_text, threads: BTreeMap::new() })
    }

    /// A call that was made, and answered with this text.
    fn called_before(&mut self, prior: &indexmap::IndexMap<String, Json>, tool: &str) -> Result<(), String> {
        let text = prior.get("text").and_then(Json::as_text).ok_or("a call of `prior_calls` has no `text`")?;
        let args = prior.iter().filter(|(key, _)| *key != "text").map(|(key, value)| (key.clone(), value.clone()));
        let args = Json::Object(args.collect()).to_string();
        let message = Message { tool, args: &args, count: 1, text: String::new() };
        let got = self.make(&message, |_, _| Ok(saying(text)))?;
        match got.requests.len() {
            1 => Ok(()),
            _ => Err(format!("a call of `prior_calls` starts no child: {args}")),
        }
    }

    /// An iteration whose call failed.
    fn failed_before(&mut self, tool: &str) {
        let call = self.stage.draft("", tool, "{}");
        let key = call.key;
        self.history.extend([Item::call(call), Item::result(key, Origin::Delegated, "", true)]);
    }

    /// A message whose children do what the vector says.
    fn message(&mut self, message: &Message<'_>, result: Option<&ChildResult>) -> Result<Got, String> {
        self.make(message, |at, stage| match result {
            Some(result) => played(result, at, stage),
            None => Err("a child starts, and `child_result` does not say what it does".into()),
        })
    }

    /// Makes the calls of a message as the engine does: all at once, or each when the one before is answered.
    fn make(&mut self, message: &Message<'_>, child: impl Fn(usize, &mut Stage) -> Result<Played, String>) -> Result<Got, String> {
        let mut got = Got::default();
        let (view, _) = self.stage.request(ThreadId::ROOT, &self.history, self.own);
        if view.stop.is_some() {
            return Ok(Got { end: view.stop, at_once: true, ..got });
        }
        let calls: Vec<ToolCall> = (0..message.count).map(|_| self.stage.draft("", message.tool, message.args)).collect();
        let reply = AssistantTurn { text: message.text.clone(), calls, ..AssistantTurn::default() };
        let turn = self.stage.reply(ThreadId::ROOT, reply, &self.history, self.own);
        if turn.finish {
            return Ok(Got { final_text: Some(turn.text), ..got });
        }
        if !turn.text.is_empty() {
            self.history.push(Item::assistant(None, turn.text.as_str()));
        }
        self.history.extend(turn.calls.iter().cloned().map(Item::call));
        let mut results = Vec::new();
        let mut at_work = Vec::new();
        for (at, call) in turn.calls.iter().enumerate() {
            let known: Vec<Item> = self.history.iter().chain(&results).cloned().collect();
            if self.stage.call(ThreadId::ROOT, call, &known, self.own).is_none() {
                return Err(format!("`{}` is an ordinary tool of the parent", call.name));
            }
            if let Some(put) = self.stage.put_by(call.key) {
                let (thread, items) = (put.thread, put.items.clone());
                let before = self.threads.get(&thread).cloned().unwrap_or_default();
                let own = before.len();
                let history: Vec<Item> = before.into_iter().chain(items).collect();
                got.requests.push(self.stage.request(thread, &history, own));
                at_work.push(AtWork { at, thread, history, own });
                got.overlap |= at_work.len() > 1;
            }
            if turn.serial {
                self.finish(&mut at_work, &child)?;
                results.extend(self.result(call.key));
            }
        }
        self.finish(&mut at_work, &child)?;
        let results: Vec<Item> = turn.calls.iter().filter_map(|call| self.result(call.key)).collect();
        got.messages =
            turn.calls.iter().filter_map(|call| self.stage.said(call.key)).map(|said| (said.text.clone(), said.failed)).collect();
        self.history.extend(results);
        let (view, _) = self.stage.request(ThreadId::ROOT, &self.history, self.own);
        got.at_once = view.stop.is_some();
        got.end = view.stop;
        Ok(got)
    }

    /// Children at work come to their ends, in the order of their calls.
    fn finish(&mut self, at_work: &mut Vec<AtWork>, child: &impl Fn(usize, &mut Stage) -> Result<Played, String>) -> Result<(), String> {
        for AtWork { at, thread, mut history, own } in at_work.drain(..) {
            let Played { items, end } = child(at, &mut self.stage)?;
            history.extend(items);
            self.stage.end(thread, &end, &history, own, 1);
            // A run that failed leaves nothing in its session.
            if end == End::Done {
                self.threads.insert(thread, history);
            }
        }
        Ok(())
    }

    /// A call's result as the history holds it.
    fn result(&self, key: CallKey) -> Option<Item> {
        self.stage.said(key).map(|said| Item::result(key, Origin::Delegated, said.text.as_str(), said.failed))
    }

    /// What the first child of the call was sent; `null`: none starts.
    fn first_request(&self, given: &Given, set_up: &SetUp, got: &Got, [name, description]: [Option<&str>; 2]) -> Json {
        let Some((view, items)) = got.requests.first() else { return Json::Null };
        let of_parent = |item: &&Item| item.origin == Origin::Inherited && self.history.iter().any(|own| own.shares_body(item));
        let messages: Vec<Json> = items
            .iter()
            .filter_map(|item| Some(Json::object([("role", item.role()?.name().into()), ("text", item.text().into())])))
            .collect();
        let mut request = Json::object([
            ("history_from_parent", items.iter().filter(of_parent).count().into()),
            ("instructions", view.system.as_ref().map(Part::as_text).into()),
            ("messages", messages.into()),
            ("tool_name_prefix", name.into()),
            ("tool_description", description.into()),
            ("children", got.requests.len().into()),
            ("overlap", got.overlap.into()),
        ]);
        let Config { parent_additional_properties, child_additional_properties, .. } = &given.config;
        if let Json::Object(fields) = &mut request
            && (parent_additional_properties.is_some() || child_additional_properties.is_some())
        {
            let own = child_additional_properties.clone().unwrap_or_default();
            let properties = match set_up.system {
                System::DotNet => additional_properties(&parent_additional_properties.clone().unwrap_or_default(), &own),
                System::Python => own,
            };
            fields.insert("additional_properties".into(), Json::Object(properties));
        }
        request
    }

    /// The description that the parent's model reads.
    fn tool_description(&mut self, name: &str) -> Option<String> {
        let (view, _) = self.stage.request(ThreadId::ROOT, &self.history, self.own);
        let tool = view.tools.iter().find(|tool| tool.name == name)?;
        let schema: Json = serde_json::from_str(tool.schema.as_text()).ok()?;
        schema.get("description").as_text().map(str::to_owned)
    }
}
