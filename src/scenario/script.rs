//! The written form of a script: exact steps by thread and turn. `model::script` plays it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one thread does in one of its turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptedTurn {
    /// The thread's place in the tree: `/` the root, `/1` its first child, `/1/2` that child's second.
    pub thread: String,
    /// The thread's turn, from 1 (the default).
    #[serde(default = "first")]
    pub turn: u32,
    /// Its replies, one a request, in order; requests for a summary count too.
    pub replies: Vec<ScriptedReply>,
}

fn first() -> u32 {
    1
}

/// One reply. Without calls it ends the turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptedReply {
    /// The text. Left out: none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The calls, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ScriptedCall>,
    /// Its duration in milliseconds. Left out: by the latency profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
}

/// One call of a reply. What concerns children names their intent; the protocol finds the words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ScriptedCall {
    /// A tool, by its name.
    Tool {
        /// The tool's name.
        name: String,
        /// Its arguments; a text is sent as it stands, anything else as JSON. Left out: `{}`.
        #[serde(default = "no_arguments")]
        args: serde_json::Value,
    },
    /// Hands an intent to a child.
    Delegate {
        /// The intent's id.
        intent: String,
        /// The task. Left out: the intent's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<String>,
    },
    /// Waits for the children of intents.
    Wait {
        /// The intents' ids. Left out: every child that is at work.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        intents: Vec<String>,
    },
    /// Gives an intent's child more to do or to read.
    Continue {
        /// The intent's id.
        intent: String,
        /// What the child is told.
        text: String,
        /// Whether it should start working if it is idle. Default: true.
        #[serde(default = "yes")]
        wake: bool,
    },
    /// Closes an intent's child.
    Close {
        /// The intent's id.
        intent: String,
    },
    /// Ends a hand-off.
    Back {},
}

fn no_arguments() -> serde_json::Value {
    serde_json::Value::Object(serde_json::Map::new())
}

fn yes() -> bool {
    true
}
