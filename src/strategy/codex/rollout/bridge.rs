//! A transcript's items as lines.

use crate::transcript::{Body, Item, Role};

use crate::strategy::codex::mail;

use super::{Line, Response, envelope};

/// What a transcript calls a record of a turn's settings.
pub(in crate::strategy::codex) const TURN_CONTEXT: &str = "turn_context";

impl<'a> Line<'a> {
    /// An item as a line. A transcript holds what a model has read, so no checkpoint and no rollback is among its items.
    pub fn of(item: &'a Item) -> Line<'a> {
        match item.body() {
            Body::Message { role, phase, parts } => {
                let envelope = if *role == Role::Assistant { envelope(parts) } else { None };
                Line::Response(Response::Message { role: *role, phase: *phase, parts, envelope })
            }
            Body::Result { key: None, .. } => Line::Response(Response::Notification),
            Body::Reasoning { .. } | Body::Call(_) | Body::Result { .. } => Line::Response(Response::Other),
            Body::Mail { .. } => Line::Mail { triggers: mail::starts_a_turn(&item.text()) },
            Body::Compaction { .. } => Line::Summary,
            Body::Context { kind, .. } if kind == TURN_CONTEXT => Line::TurnContext,
            Body::Context { .. } => Line::Event,
        }
    }
}
