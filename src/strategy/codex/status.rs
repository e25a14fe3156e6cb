//! How a child stands, as the model reads it.

use serde::Serialize;

use crate::strategy::End;
use crate::transcript::{Handle, Means};

/// A child's status; serialised as on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    PendingInit,
    Running,
    Interrupted,
    Shutdown,
    NotFound,
    Completed(Option<String>),
    Errored(String),
}

impl Status {
    /// What the end of a turn makes of it.
    pub(super) fn of(end: &End, text: Option<String>) -> Status {
        match end {
            End::Done => Status::Completed(text),
            End::Aborted => Status::Interrupted,
            End::Failed(why) | End::Stopped(why) | End::Ceiling(why) => Status::Errored(why.clone()),
        }
    }

    /// Whether a v1 wait ends with it, and the notice is sent.
    pub(super) fn is_final(&self) -> bool {
        !matches!(self, Status::PendingInit | Status::Running | Status::Interrupted)
    }

    /// Whether a v2 child may be unloaded with it.
    pub(super) fn is_at_rest(&self) -> bool {
        matches!(self, Status::Completed(_) | Status::Errored(_) | Status::Interrupted)
    }

    /// What a final status tells about the child.
    pub(super) fn meaning(&self, child: Handle) -> Means {
        match self {
            Status::Completed(_) => Means::Returned(Some(child)),
            _ => Means::Failed(Some(child)),
        }
    }

    /// As JSON.
    pub(super) fn value(&self) -> serde_json::Value {
        // Unit variants and variants of one text have no key that JSON cannot hold.
        serde_json::to_value(self).unwrap_or_default()
    }
}
