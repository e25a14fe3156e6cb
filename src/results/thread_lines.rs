//! What each thread was sent, as it stands in `threads/`: parts once, requests by reference.
//!
//! `threads/parts.jsonl` holds every distinct part once, in order of first use. `threads/requests.jsonl` holds one line
//! a ledger line, in the same order; it names parts by digest, and it names only the items that are new: the first
//! `same` items of a request are those of the thread's request before it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::transcript::{Body, Content, Item, Origin, Part, Phase, Role};

use super::PartName;

/// A distinct part: a line of `threads/parts.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartLine {
    /// The digest that requests name it by.
    pub digest: PartName,
    /// Its text; null: it is no text.
    pub text: Option<String>,
    /// What it is instead of text: its kind, media type and size; null: it is text.
    pub other: Option<String>,
}

impl From<&Part> for PartLine {
    fn from(part: &Part) -> PartLine {
        let (text, other) = match part.content() {
            Content::Text(text) => (Some(text.to_string()), None),
            Content::Image { media, bytes, .. } => (None, Some(format!("image {media}, {bytes} bytes"))),
            Content::File { media, bytes, .. } => (None, Some(format!("file {media}, {bytes} bytes"))),
            Content::Opaque { kind, bytes, .. } => (None, Some(format!("opaque {kind}, {bytes} bytes"))),
        };
        PartLine { digest: part.digest().into(), text, other }
    }
}

/// One request: a line of `threads/requests.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestLine {
    /// The cell.
    pub cell: Arc<str>,
    /// The ledger line's number.
    pub seq: u32,
    /// The thread's place in the tree.
    pub thread: Arc<str>,
    /// Who spoke.
    pub agent: Arc<str>,
    /// The system text's part; null: none was sent.
    pub system: Option<PartName>,
    /// The tokens of the system text as sent, frame included; null: none was sent, or they are unknown.
    #[serde(default)]
    pub system_tokens: Option<u32>,
    /// The tools' schemas, in the order in which they were sent.
    pub tools: Vec<PartName>,
    /// The tokens of each of them as sent, frame included; null: unknown.
    #[serde(default)]
    pub tool_tokens: Vec<Option<u32>>,
    /// So many of its first items are those of the thread's request before.
    pub same: usize,
    /// The items after them.
    pub items: Vec<ItemLine>,
    /// What stood behind them in the end, on a thread's last request: what it wrote and received and nobody was sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<ItemLine>,
}

/// An item of a request. What it does not have is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ItemLine {
    /// What it is.
    pub kind: ItemKind,
    /// Where its tokens come from.
    #[schemars(with = "String")]
    pub origin: Origin,
    /// Who speaks, of a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Commentary or final answer, of an assistant message that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// The name beside a message's role, the tool of a call, `AUTHOR to RECIPIENT` of mail, the source's word of a context
    /// record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The call's key, of a call and of its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<u32>,
    /// Whether a result reports an error.
    #[serde(default, skip_serializing_if = "is_false")]
    pub failed: bool,
    /// Marked as not for people.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hidden: bool,
    /// Its tokens as sent, frame included; null: some are unknown.
    pub tokens: Option<u32>,
    /// Its content: parts by digest. A call's is its arguments.
    pub parts: SmallVec<[PartName; 1]>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // As serde calls it.
fn is_false(flag: &bool) -> bool {
    !flag
}

/// The kinds of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // As in `Body`.
pub enum ItemKind {
    Message,
    Reasoning,
    Call,
    Result,
    Mail,
    Compaction,
    Context,
}

impl ItemLine {
    /// An item with its tokens.
    pub fn of(item: &Item, tokens: Option<u32>) -> ItemLine {
        let mut line = ItemLine {
            kind: ItemKind::Message,
            origin: item.origin,
            role: None,
            phase: None,
            name: None,
            call: None,
            failed: false,
            hidden: item.hidden,
            tokens,
            parts: item.parts().iter().map(|part| part.digest().into()).collect(),
        };
        match item.body() {
            Body::Message { role, phase, .. } => {
                (line.role, line.phase) = (Some(*role), *phase);
                line.name = item.name().map(str::to_owned);
            }
            Body::Reasoning { .. } => line.kind = ItemKind::Reasoning,
            Body::Call(call) => {
                line.kind = ItemKind::Call;
                (line.name, line.call) = (Some(call.name.clone()), Some(call.key.0));
            }
            Body::Result { key, failed, .. } => {
                line.kind = ItemKind::Result;
                (line.call, line.failed) = (key.map(|key| key.0), *failed);
            }
            Body::Mail { from, to, .. } => {
                line.kind = ItemKind::Mail;
                line.name = Some(format!("{from} to {to}"));
            }
            Body::Compaction { .. } => line.kind = ItemKind::Compaction,
            Body::Context { kind, .. } => {
                line.kind = ItemKind::Context;
                line.name = Some(kind.clone());
            }
        }
        line
    }
}
