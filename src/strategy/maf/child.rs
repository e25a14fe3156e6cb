//! What a child's turn comes to, for its parent.

use crate::strategy::{End, Report};
use crate::transcript::{Body, Origin};

use super::Joining;

/// How a child's run ended, as the framework sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended<'a> {
    /// It gave a response.
    Answered,
    /// An exception left it; its message.
    Threw(&'a str),
    /// The run was cancelled from outside.
    Cancelled,
    /// Its response asks the user for something; the types of the requests.
    Asks(Vec<&'a str>),
}

impl Ended<'_> {
    /// A child that asks the user has [`End::Stopped`] with the types of its requests, by commas and blanks.
    pub(super) fn of(end: &End) -> Ended<'_> {
        match end {
            End::Done => Ended::Answered,
            End::Failed(why) | End::Ceiling(why) => Ended::Threw(why),
            End::Aborted => Ended::Cancelled,
            End::Stopped(requests) => Ended::Asks(requests.split(", ").collect()),
        }
    }
}

/// All that the child said in its turn.
pub(super) fn said(report: &Report<'_>, joining: Joining) -> String {
    let own = report.items.get(report.own..).unwrap_or_default().iter();
    let messages = own.filter(|item| item.origin == Origin::Own && matches!(item.body(), Body::Message { .. }));
    joining.messages(messages.map(|item| joining.message(item.parts().iter().map(|part| part.as_text()))))
}

/// The names of the child's calls that have no result, each once, sorted.
pub(super) fn unanswered<'a>(report: &Report<'a>) -> Vec<&'a str> {
    let own = report.items.get(report.own..).unwrap_or_default();
    let open = own.iter().filter_map(|item| item.as_call());
    let open = open.filter(|call| !own.iter().any(|item| item.answers() == Some(call.key)));
    let mut names: Vec<&str> = open.map(|call| call.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}
