//! What a vector gives: its fields, strictly.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::conformance::json::Json;
use crate::strategy::opencode::{Action, AgentConfiguration, Mode, Model, Rule};

/// A vector without labels and expectations.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    pub strategy: String,
    pub call: Call,
    pub config: Config,
    #[serde(default, deserialize_with = "or_default")]
    pub parent_items: Vec<ParentItem>,
    #[serde(default)]
    pub child_result: Option<ChildResult>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    pub tool: String,
    /// Anything: wrong arguments are refused.
    pub arguments: Json,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    #[serde(default, deserialize_with = "or_default")]
    pub agents: IndexMap<String, Agent>,
    #[serde(default)]
    pub subagent_depth: Option<u32>,
    #[serde(default, deserialize_with = "or_default")]
    pub background_flag: bool,
    #[serde(default, deserialize_with = "or_default")]
    pub caller_depth: u32,
    #[serde(default)]
    pub caller_agent: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub parent_session_permission: Vec<SessionRule>,
    #[serde(default, deserialize_with = "or_default")]
    pub primary_tools: Vec<String>,
    #[serde(default, deserialize_with = "model")]
    pub parent_model: Option<Model>,
    #[serde(default)]
    pub parent_variant: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub worktree_files: BTreeMap<String, String>,
    #[serde(default)]
    pub calls_in_message: Option<usize>,
    #[serde(default)]
    pub child_session: Option<ChildSession>,
    #[serde(default, deserialize_with = "or_default")]
    pub child_history: Vec<Message>,
    #[serde(default, deserialize_with = "or_default")]
    pub child_running: bool,
    #[serde(default)]
    pub first_description: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub known_sessions: Vec<KnownSession>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    #[serde(default, deserialize_with = "mode")]
    mode: Option<Mode>,
    #[serde(default, deserialize_with = "model")]
    model: Option<Model>,
    #[serde(default, deserialize_with = "or_default")]
    permission: Vec<AgentRule>,
}

impl From<Agent> for AgentConfiguration {
    fn from(agent: Agent) -> AgentConfiguration {
        let permission = agent.permission.into_iter().map(|AgentRule(rule)| rule).collect();
        AgentConfiguration { mode: agent.mode, model: agent.model, permission, ..AgentConfiguration::default() }
    }
}

/// A rule of an agent: where it is shown, its keys stand in the order in which they are written.
#[derive(Clone)]
pub struct AgentRule(Rule);

/// A rule of a session: its keys stand in one order.
#[derive(Clone)]
pub struct SessionRule(pub Rule);

/// What a task id finds.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChildSession {
    pub id: String,
    /// The session that it belongs to; `null`: none, it is a root.
    #[serde(default = "callers")]
    pub parent: Json,
    #[serde(default)]
    pub agent: Option<String>,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub permission: Vec<SessionRule>,
}

/// A session that is there: its id, or all of it.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub enum KnownSession {
    Id(String),
    Whole(ChildSession),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParentItem {
    pub role: String,
    #[serde(default)]
    pub text: String,
    #[serde(default, deserialize_with = "or_default")]
    pub tool_calls: Vec<String>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    pub role: String,
    pub text: String,
}

/// What became of the child, or of each.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChildResult {
    #[serde(default)]
    pub messages: Option<Vec<ChildMessage>>,
    #[serde(default, deserialize_with = "or_default")]
    pub cancelled: bool,
    #[serde(default)]
    pub by: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub pending: bool,
    #[serde(default)]
    pub outputs: Option<Vec<String>>,
    #[serde(default)]
    pub per_call: Option<Vec<PerCall>>,
}

/// One of several children: its last text, or all of it.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub enum PerCall {
    Text(String),
    Whole(Box<ChildResult>),
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChildMessage {
    pub role: String,
    #[serde(default, rename = "finish")]
    pub _finish: Option<String>,
    #[serde(default)]
    pub error: Option<MessageError>,
    #[serde(default, deserialize_with = "or_default")]
    pub parts: Vec<Part>,
    /// The window is full after it.
    #[serde(default, deserialize_with = "or_default")]
    pub context_full_after: bool,
    /// It answers the request for a summary.
    #[serde(default, deserialize_with = "or_default")]
    pub summary: bool,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageError {
    pub name: String,
    #[serde(default)]
    pub data: Json,
}

impl MessageError {
    /// What the product says of it: its message if that is a text, else its name.
    pub fn said(&self) -> &str {
        self.data.get("message").as_text().unwrap_or(&self.name)
    }
}

#[derive(Clone, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Part {
    Text {
        #[serde(default)]
        text: Option<String>,
        #[serde(default)]
        text_gen: Option<Generated>,
    },
    Reasoning {
        #[serde(default, rename = "text")]
        _text: String,
    },
    Tool {
        tool: String,
        status: String,
        #[serde(default)]
        error: Option<String>,
    },
}

/// A long text: lines by their number.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generated {
    lines: u32,
    format: String,
}

impl Generated {
    /// The lines, from number 0, with no break at the end.
    pub fn text(&self) -> String {
        (0..self.lines).map(|number| self.format.replace("{i}", &number.to_string())).collect::<Vec<_>>().join("\n")
    }
}

fn rule<E: Error>(fields: &Json) -> Result<Rule, E> {
    let keys: Vec<&str> = fields.fields().into_iter().flat_map(IndexMap::keys).map(String::as_str).collect();
    let text = |key: &str| fields.get(key).as_text().ok_or_else(|| E::custom(format!("a rule is {fields}: its `{key}` is no text")));
    if let Some(key) = keys.iter().find(|key| !["permission", "pattern", "action"].contains(key)) {
        return Err(E::custom(format!("a rule has an unknown key `{key}`")));
    }
    let (permission, pattern, action) = (text("permission")?, text("pattern")?, text("action")?);
    let Some(action) = Action::ALL.into_iter().find(|known| known.name() == action) else {
        return Err(E::custom(format!("a rule's action is `{action}`, not one of allow, ask, deny")));
    };
    let place = |key| keys.iter().position(|other| *other == key);
    Ok(Rule { action_first: place("action") < place("pattern"), ..Rule::new(permission, pattern, action) })
}

impl<'de> Deserialize<'de> for AgentRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AgentRule, D::Error> {
        rule(&Json::deserialize(deserializer)?).map(AgentRule)
    }
}

impl<'de> Deserialize<'de> for SessionRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SessionRule, D::Error> {
        let rule = rule(&Json::deserialize(deserializer)?)?;
        Ok(SessionRule(Rule { action_first: false, ..rule }))
    }
}

/// The session that makes the call, in vectors.
pub const PARENT: &str = "$PARENT";

fn callers() -> Json {
    PARENT.into()
}

impl ChildSession {
    /// A session of which nothing but its id is said: the caller's.
    pub fn plain(id: &str) -> ChildSession {
        ChildSession { id: id.to_owned(), parent: callers(), agent: None, title: None, permission: vec![] }
    }
}

/// `null` is as good as nothing.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

fn mode<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Mode>, D::Error> {
    let Some(name) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    let known = Mode::ALL.into_iter().find(|mode| mode.name() == name);
    known.map(Some).ok_or_else(|| D::Error::custom(format!("the mode `{name}` is none of primary, subagent, all")))
}

fn model<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Model>, D::Error> {
    let value = Json::deserialize(deserializer)?;
    if value.is_null() {
        return Ok(None);
    }
    read_model(&value).map(Some).ok_or_else(|| D::Error::custom(format!("{value} is no model: PROVIDER/MODEL or {{providerID, modelID}}")))
}

/// A model as vectors write it: one text, cut at the first slash, or an object.
pub fn read_model(value: &Json) -> Option<Model> {
    if let Some(text) = value.as_text() {
        return Some(Model::parse(text));
    }
    let fields = value.fields().filter(|fields| fields.len() == 2)?;
    let text = |key: &str| fields.get(key).and_then(Json::as_text).map(str::to_owned);
    Some(Model { provider: text("providerID")?, id: text("modelID")? })
}
