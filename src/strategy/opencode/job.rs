//! A child at work, and how its work ends.

use std::collections::VecDeque;

use crate::strategy::{End, Order, Report, ThreadId, When};
use crate::transcript::{Body, CallKey, Handle, Item, Means, Origin, ToolCall};

use super::configuration::Model;
use super::profile::Profile;
use super::text::{self, State};

/// A child at work, with all the turns that calls have queued on it. Its id is the child's.
pub(super) struct Job {
    /// The call that started it and, where a version has no other answer for them, those that added to it: all are
    /// answered at its end.
    pub(super) calls: Vec<ToolCall>,
    /// The thread of those calls.
    pub(super) caller: ThreadId,
    /// The first call's description: the notice's title.
    pub(super) description: String,
    /// Whether the first call was answered at once.
    pub(super) background: bool,
    /// Who speaks in the turns that later calls have queued.
    pub(super) queued: VecDeque<Speaker>,
}

/// Who a prompt is for.
#[derive(Clone, Debug)]
pub(super) struct Speaker {
    pub(super) agent: String,
    pub(super) model: Option<Model>,
    pub(super) variant: Option<String>,
}

/// A child's last message.
#[derive(Default)]
pub(super) struct LastMessage {
    pub(super) text: String,
    pub(super) calls: Vec<CallKey>,
}

/// How a job ended.
pub(super) enum Outcome {
    Completed(String),
    Failed(String),
    Cancelled,
}

/// How a turn ended, by its last message: an error of the message itself, else the last failed tool call in it, else
/// its text, which may be empty. What earlier messages said or met does not count. A version that lets no failure
/// through has the text alone: of a message that broke off behind tool calls there is none.
pub(super) fn outcome(report: &Report<'_>, last: LastMessage, profile: &Profile) -> Outcome {
    if !profile.surfaces_failures {
        let broke_off = *report.end != End::Done && !last.calls.is_empty();
        return Outcome::Completed(if broke_off { String::new() } else { last.text });
    }
    match report.end {
        End::Aborted => return Outcome::Cancelled,
        End::Failed(why) | End::Stopped(why) | End::Ceiling(why) => return Outcome::Failed(why.clone()),
        End::Done => {}
    }
    let own = report.items.get(report.own..).unwrap_or_default();
    let failed = own.iter().rev().find(|item| match item.body() {
        Body::Result { key: Some(key), failed, .. } => *failed && last.calls.contains(key),
        _ => false,
    });
    match failed {
        Some(result) => Outcome::Failed(result.text()),
        None => Outcome::Completed(last.text),
    }
}

/// What the caller of a background task reads at its end: a user message that starts a turn of its own if the caller is
/// idle. A cancelled task says nothing.
pub(super) fn notice(job: &Job, handle: Handle, outcome: Outcome) -> Option<Order> {
    let (told, means) = match outcome {
        Outcome::Completed(text) => {
            let summary = format!("Background task completed: {}", job.description);
            (text::wrapper(&handle, State::Completed, Some(&summary), &text), Means::Returned(Some(handle)))
        }
        Outcome::Failed(why) => {
            let summary = format!("Background task failed: {}", job.description);
            let why = text::failed(&handle, &why);
            (text::wrapper(&handle, State::Error, Some(&summary), &why), Means::Failed(Some(handle)))
        }
        Outcome::Cancelled => return None,
    };
    Some(Order::put(job.caller, When::Wake, Item::user(Origin::Delegated, told).meaning(means)))
}
