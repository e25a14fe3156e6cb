//! The records of a script: what each thread says and calls in each of its turns. Played by `model::script`.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::errors::Problems;
use super::node::{Located, Node, Value};
use super::record::{Form, entries, record};
use super::text::Text;

record! {
    /// What one thread does in one of its turns.
    pub(super) struct ScriptTurn {
        /// The thread's place in the tree: `/` the root, `/1` its first child, `/1/2` that child's second.
        thread: Located<String>,
        /// The thread's turn, from 1. Default: 1.
        turn: Option<Located<u32>>,
        /// Its replies, one a request, in order; requests for a summary count too.
        replies: Vec<ScriptReply>,
    }

    /// One reply. Without calls it ends the turn.
    pub(super) struct ScriptReply {
        /// The text. Left out: none.
        text: Option<Text>,
        /// The calls, in order.
        calls: Vec<ScriptCall>,
        /// Its duration in milliseconds. Left out: by the latency profile.
        ms: Option<u64>,
    }

    /// A call of an ordinary tool.
    pub(super) struct ScriptTool {
        /// The tool's name.
        name: Located<String>,
        /// Its arguments; a text is sent as it stands, anything else as JSON. Default: none.
        args: Option<Node>,
    }

    /// Hands an intent to a child.
    pub(super) struct ScriptDelegate {
        /// The intent's id.
        intent: Located<String>,
        /// The task. Left out: the intent's own.
        task: Option<Text>,
    }

    /// Waits for the children of intents.
    pub(super) struct ScriptWait {
        /// The intents' ids. Left out: every child that is at work.
        intents: Vec<Located<String>>,
    }

    /// Gives an intent's child more to do or to read.
    pub(super) struct ScriptContinue {
        /// The intent's id.
        intent: Located<String>,
        /// What the child is told.
        text: Text,
        /// Whether it should start working if it is idle. Default: true.
        wake: bool = true,
    }

    /// Closes an intent's child.
    pub(super) struct ScriptClose {
        /// The intent's id.
        intent: Located<String>,
    }
}

/// One call of a reply: a mapping of one key.
#[derive(Clone, Debug)]
pub(super) enum ScriptCall {
    Tool(ScriptTool),
    Delegate(ScriptDelegate),
    Wait(ScriptWait),
    Continue(ScriptContinue),
    Close(ScriptClose),
    Back,
}

const KINDS: [&str; 6] = ["tool", "delegate", "wait", "continue", "close", "back"];

impl Form for ScriptCall {
    fn read(node: &Node, problems: &mut Problems) -> Option<ScriptCall> {
        let found = entries(node, &KINDS, problems)?;
        let mut found = found.into_iter();
        let (Some((kind, inner)), None) = (found.next(), found.next()) else {
            problems.incomplete = true;
            // An unknown key alone is reported already.
            if !matches!(&node.value, Value::Map(entries) if entries.len() == 1) {
                let help =
                    "write exactly one of `tool`, `delegate`, `wait`, `continue`, `close` and `back`; each call is an item of its own";
                problems.add(node.at, "a call does one thing", help);
            }
            return None;
        };
        match kind {
            "tool" => Form::read(inner, problems).map(ScriptCall::Tool),
            "delegate" => Form::read(inner, problems).map(ScriptCall::Delegate),
            "wait" => Form::read(inner, problems).map(ScriptCall::Wait),
            "continue" => Form::read(inner, problems).map(ScriptCall::Continue),
            "close" => Form::read(inner, problems).map(ScriptCall::Close),
            _ => entries(inner, &[], problems).map(|_| ScriptCall::Back),
        }
    }
}

impl JsonSchema for ScriptCall {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ScriptCall".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "One call of a reply. What concerns children names their intent; the strategy finds the words.",
            "properties": {
                "tool": generator.subschema_for::<ScriptTool>(),
                "delegate": generator.subschema_for::<ScriptDelegate>(),
                "wait": generator.subschema_for::<ScriptWait>(),
                "continue": generator.subschema_for::<ScriptContinue>(),
                "close": generator.subschema_for::<ScriptClose>(),
                "back": {"type": "object", "description": "Ends a hand-off.", "additionalProperties": false}
            },
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": false
        })
    }
}
