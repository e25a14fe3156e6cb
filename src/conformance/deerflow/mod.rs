//! DeerFlow's vectors: openings and checks of calls, results, the limit of delegations, the ledger. The rules are the
//! strategy's own; what is here reads a vector into their terms and writes their answer back.

mod compare;
pub mod data;
mod opening;
mod result;

use crate::strategy::deerflow::Profile;
use crate::strategy::deerflow::ledger::{Entry, extract};
use crate::strategy::deerflow::limit::{CAPPED, Limits, finish_reason, made, noted};
use crate::strategy::deerflow::message::{Called, Message, Speaker};
use crate::strategy::deerflow::python;
use crate::strategy::deerflow::status::Cap;
use crate::strategy::deerflow::value::Value;

use super::dialect::Dialect;
use super::encoding::{self, json};
use super::json::Json;

use data::Fields;

pub const DIALECT: Dialect = Dialect { system: "deerflow", head: &["encoding"], answer, differences: compare::differences };

/// What a vector may hold beside its labels and expectations.
const KEYS: [&str; 12] =
    ["strategy", "basis", "mode", "call", "config", "parent_items", "summary", "child", "child_state", "child_end", "limits", "mutation"];

/// A vector.
struct Vector<'a> {
    profile: Profile,
    fields: Fields<'a>,
}

impl<'a> Vector<'a> {
    /// The parent's messages.
    fn messages(&self) -> Result<Vec<Message<'static>>, String> {
        Message::read_all(self.fields.list("parent_items")?)
    }

    /// The call's arguments.
    fn call(&self) -> Result<Option<Fields<'a>>, String> {
        self.fields.object("call", &["description", "prompt", "subagent_type", "context_mode", "acceptance_criteria"])
    }
}

/// What the product gives for a vector.
fn answer(given: &str) -> Result<Json, String> {
    let given = encoding::read(given)?;
    let fields = Fields::of(&given, "the vector", &KEYS)?;
    let strategy = fields.text("strategy")?.ok_or("there is no `strategy`")?;
    let profile = strategy.strip_prefix("deerflow@").and_then(Profile::named);
    let profile = profile.ok_or_else(|| format!("the strategy `{strategy}` is not known"))?;
    let vector = Vector { profile, fields };
    let mode = fields.text("mode")?.ok_or("there is no `mode`")?;
    let (opening, result) = match mode {
        "snapshot" | "isolated" | "call" => opening::answer(&vector)?,
        "result" => (Json::Null, result::answer(&vector)?),
        "limit" => (Json::Null, limited(&vector)?),
        "ledger" => {
            let entries = extract(&vector.messages()?);
            (Json::Null, Json::object([("entries", Json::List(entries.iter().map(entry).collect()))]))
        }
        _ => return Err(format!("the mode `{mode}` is not known")),
    };
    Ok(Json::object([("expected_child_messages", opening), ("expected_parent_result", result)]))
}

/// A ledger's entry.
fn entry(entry: &Entry) -> Json {
    let fields = [
        ("id", Some(entry.id.clone())),
        ("description", Some(entry.description.clone())),
        ("subagent_type", Some(entry.agent.clone())),
        ("status", Some(entry.status.name().to_owned())),
        ("stop_reason", entry.cap.map(Cap::name).map(str::to_owned)),
        ("result_brief", entry.brought.as_ref().map(|brought| brought.brief.clone())),
        ("result_sha256", entry.brought.as_ref().map(|brought| brought.digest())),
        ("result_ref", entry.brought.as_ref().map(|brought| brought.place.clone())),
    ];
    Json::Object(fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.into()))).collect())
}

/// What becomes of the last message.
fn limited(vector: &Vector<'_>) -> Result<Json, String> {
    let limits = vector.fields.object("limits", &["max_concurrent", "max_total", "run_id", "ledger"])?.unwrap_or_default();
    let number = |key: &str, default: i64| limits.whole(key).map(|given| given.unwrap_or(default));
    let judge = Limits::new(number("max_concurrent", 3)?, number("max_total", 6)?);
    let run = limits.get("run_id").and_then(python::given);
    let mut entries = Vec::new();
    for given in limits.list("ledger")? {
        let entry = Fields::of(given, "an entry of the ledger", &["id", "run_id", "status"])?;
        if let Some(id) = entry.get("id").and_then(python::given) {
            entries.push((id, entry.get("run_id").and_then(python::given)));
        }
    }
    let made = made(entries.into_iter(), run.as_ref());
    let messages = vector.messages()?;
    let items = vector.fields.list("parent_items")?;
    let last = messages.last().zip(items.last()).filter(|(message, _)| message.speaker == Speaker::Assistant);
    let calls = last.map(|(message, _)| message.calls.as_slice()).unwrap_or_default();
    let field = |key: &str| items.last().and_then(|item| item.get(key)).cloned().unwrap_or(Value::None);
    let (content, reason) = (field("content"), field("finish_reason"));
    let verdict = judge.judge(calls.iter().map(|call| &*call.name), made);
    let id = |call: &Called<'_>| Json::from(call.id.as_deref());
    let (kept, content, reason, stopped) = match &verdict {
        None => (calls.iter().map(id).collect::<Vec<_>>(), content, reason, Json::Null),
        Some(verdict) => {
            let kept: Vec<Json> = calls.iter().zip(&verdict.keep).filter(|(_, stays)| **stays).map(|(call, _)| id(call)).collect();
            let reason = match reason {
                Value::Text(reason) => Value::Text(finish_reason(&reason, kept.len()).to_owned()),
                other => other,
            };
            let (content, stopped) = if verdict.used_up { (noted(&content), CAPPED.into()) } else { (content, Json::Null) };
            (kept, content, reason, stopped)
        }
    };
    Ok(Json::object([
        ("changed", verdict.is_some().into()),
        ("kept_ids", Json::List(kept)),
        ("content", json(&content)),
        ("finish_reason", json(&reason)),
        ("run_stop_reason", stopped),
    ]))
}
