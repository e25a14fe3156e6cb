//! Six sub-agent systems and one made-up one, each cut down to what the seam must be able to carry. They prove the seam;
//! they are not the products' strategies, which stand in [`crate::strategy`].

mod codex_v1;
mod codex_v2;
mod deerflow;
mod grace;
mod hand_off;
mod maf;
mod opencode;

pub use codex_v1::CodexV1;
pub use codex_v2::CodexV2;
pub use deerflow::DeerFlow;
pub use grace::Grace;
pub use hand_off::HandOff;
pub use maf::Maf;
pub use opencode::OpenCode;

use serde_json::Value;

use crate::strategy::{Call, ToolSpec};
use crate::transcript::{Item, Origin, ToolCall};

/// A call in protocol words.
fn call(name: &str, args: Value) -> Option<Call> {
    Some(Call { name: name.into(), args: args.to_string() })
}

/// An argument of a call; `Null` where it is missing or the arguments are no JSON.
fn argument(call: &ToolCall, name: &str) -> Value {
    let args: Value = serde_json::from_str(call.args.as_text()).unwrap_or_default();
    args.get(name).cloned().unwrap_or_default()
}

/// A text argument of a call; empty where it is missing.
fn text(call: &ToolCall, name: &str) -> String {
    argument(call, name).as_str().unwrap_or_default().to_owned()
}

/// A tool as the stubs show it: the name is all that a player needs.
fn tool(name: &str) -> ToolSpec {
    ToolSpec::new(name, "", serde_json::json!({}))
}

/// A delegated task as a user message.
fn task(text: impl Into<crate::transcript::Part>) -> Item {
    Item::user(Origin::Task, text)
}
