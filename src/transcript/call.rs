//! Tool calls: who made them, by which identity, and what a recording answered.

use super::Part;

/// A call's identity: minted by the engine when the reply arrives (or by an importer, by position). The wire id
/// ([`ToolCall::id`]) may repeat, this never does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallKey(pub u32);

/// A call that a model made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The engine's identity.
    pub key: CallKey,
    /// The model's own id, as sent: data, not identity.
    pub id: String,
    /// The tool's name, as sent.
    pub name: String,
    /// The arguments: JSON text, as sent (it may be no valid JSON).
    pub args: Part,
    /// The id of the intent that it was phrased from. Strategies never read it; it follows the child.
    pub intent: Option<String>,
    /// Held runs: the result that stands in the recording.
    pub recorded: Option<Recorded>,
}

/// A recorded (or simulated) tool result with its duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// What the model gets to read.
    pub parts: Vec<Part>,
    /// Whether the tool reported an error.
    pub failed: bool,
    /// How long it took, in milliseconds; the engine makes it at least 1.
    pub ms: u64,
}

impl Recorded {
    /// A result of one text.
    pub fn text(text: impl Into<Box<str>>, failed: bool, ms: u64) -> Recorded {
        Recorded { parts: vec![Part::text(text)], failed, ms }
    }
}

/// Arguments in one spelling: parsed as JSON and written back with sorted keys and no blanks; text that is no JSON has
/// its white space runs made one blank. Two calls with equal normalised arguments ask for the same thing.
pub fn normalised_arguments(args: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(args) {
        // `serde_json::Map` without `preserve_order` is a sorted map, so writing it back sorts the keys.
        Ok(value) => value.to_string(),
        Err(_) => args.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}
