//! What a request adds around its content.
//!
//! Every item is sent as `<|start|>HEADER<|message|>CONTENT<|end|>`: three special tokens, the header's tokens and the
//! content's. The counted unit is the segment between two special tokens, so counts add up exactly; several parts of
//! one item are segments of their own. A request ends with the frame of the reply that it asks for. For messages this
//! is the published rule for chat models (3 a message, the role's token, 3 for the reply), checked against its
//! published figures; for calls and results it is this project's convention until the dated tables of `framing` stand.

use crate::transcript::{Body, Item};

/// Special tokens of one framed item.
pub const ITEM_FRAME: u32 = 3;

/// Tokens that ask for the reply: start, the role, message.
pub const REPLY_FRAME: u32 = 3;

/// The header segment of an item.
pub fn header(item: &Item) -> std::borrow::Cow<'static, str> {
    match item.body() {
        Body::Message { role, .. } => role.name().into(),
        Body::Reasoning { .. } => "assistant".into(),
        Body::Call(call) => format!("assistant to=functions.{}", call.name).into(),
        Body::Result { .. } => "tool".into(),
        Body::Mail { from, to, .. } => format!("{from} to={to}").into(),
        Body::Compaction { .. } => "user".into(),
        Body::Context { .. } => "".into(),
    }
}
