//! A vector as it is written. Keys that are not named here are errors, except inside free values.

use indexmap::IndexMap;
use serde::Deserialize;

use super::super::json::Json;

/// A vector without labels and expectations.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// `ID@PROFILE`.
    pub strategy: String,
    /// The parent's messages in this run of it, up to the call.
    #[serde(default)]
    pub parent_items: Vec<ParentItem>,
    /// What the application chose, and how the run came here.
    #[serde(default)]
    pub config: Config,
    /// The call; absent: the tool itself is asked for.
    pub call: Option<Calling>,
    /// What the child did.
    pub child_result: Option<ChildResult>,
}

/// One message of the parent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParentItem {
    pub role: String,
    pub text: Option<String>,
    /// Names of the tools that it calls.
    #[serde(default)]
    pub tool_calls: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    pub agent: Agent,
    /// A session is given to the tool.
    pub session: Option<String>,
    pub arg_name: Option<String>,
    pub propagate_session: Option<bool>,
    /// Arguments of `as_tool`, or options.
    pub tool_kwargs: Option<IndexMap<String, Json>>,
    /// The parent's session before this run.
    pub stored_state: Option<Json>,
    /// Calls made before in this run: the argument under its name, and the answer as `text`.
    pub prior_calls: Vec<IndexMap<String, Json>>,
    pub calls_in_message: Option<usize>,
    /// Iterations that failed just before.
    pub prior_consecutive_errors: u32,
    pub include_detailed_errors: bool,
    pub model_keeps_calling: bool,
    pub platform: Option<String>,
    pub parent_additional_properties: Option<IndexMap<String, Json>>,
    pub child_additional_properties: Option<IndexMap<String, Json>>,
}

/// The child's agent.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Agent {
    pub name: Option<String>,
    pub description: Option<String>,
    pub instructions: Option<String>,
}

/// The call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calling {
    /// `$TOOL`: whatever the tool is called.
    pub tool: String,
    /// A string is the text that the model wrote.
    pub arguments: Json,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChildResult {
    /// Its finished messages.
    pub messages: Option<Vec<Message>>,
    /// Its messages, each in the pieces in which it was streamed.
    pub stream: Option<Vec<Vec<Piece>>>,
    /// The message of what it throws.
    pub exception: Option<String>,
    /// The run is cancelled meanwhile.
    pub cancelled: Option<bool>,
    /// The type of what it asks of the user, or several.
    pub user_input_request: Option<Requests>,
    /// The text of each child, in the order of the calls.
    pub per_call: Option<Vec<String>>,
}

/// One message of the child.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    pub role: String,
    #[serde(default)]
    pub contents: Vec<Content>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, tag = "type", rename_all = "snake_case")]
pub enum Content {
    Text { text: String },
    Reasoning { text: String },
    FunctionCall { name: String },
    FunctionResult { result: Json },
}

/// A piece of a streamed message: a bare text, or any content.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Piece {
    Text(String),
    Content(Content),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Requests {
    One(String),
    Several(Vec<String>),
}
