//! What a check says: to people in a terminal and on a page, to programs, to test reports, to annotations. Pure.

mod causes;
mod document;
mod explained;
mod github;
mod human;
mod junit;
mod markdown;
mod words;

pub use document::{CHECK_FORMAT, check_schema};
pub use explained::{EXPLAIN_FORMAT, Explained, explained_json, explained_text};

use crate::check::{Checked, LockChange, Millionths};

use super::Format;

/// The report of a check in a format; `None`: that format is not written.
pub fn checked(checked: &Checked, format: Format, colour: bool) -> Option<String> {
    match format {
        Format::Human => Some(human::human(checked, colour)),
        Format::Json => Some(document::document(checked)),
        Format::Markdown => Some(markdown::markdown(checked)),
        Format::Junit => Some(junit::junit(checked)),
        Format::Github => Some(github::github(checked)),
        Format::Csv => None,
    }
}

/// The last line of a check: the exit code and what it means.
pub fn last_line(checked: &Checked) -> String {
    words::last_line(checked)
}

/// What accepting changed, for a commit message: a line a figure.
pub fn changes(changes: &[LockChange], renewed: usize, lock: &str) -> String {
    use crate::check::millionths;
    let mut out = match changes.len() {
        0 => format!("no figure of {lock} changed\n"),
        many => format!("{} of {lock} changed\n", words::counted(many, "figure")),
    };
    for change in changes {
        let value = |number: Option<crate::results::Number>| number.map_or("(none)".to_owned(), |number| words::exact(millionths(number)));
        let difference: Option<Millionths> = change.now.zip(change.before).map(|(now, before)| millionths(now) - millionths(before));
        let difference = difference.map_or(String::new(), |difference| format!(" ({})", words::signed(difference)));
        out += &format!("  {} {}: {} -> {}{difference}\n", change.cell, change.metric, value(change.before), value(change.now));
    }
    if renewed > 0 {
        out += &format!("{} kept the value, with another fingerprint or other requests\n", words::counted(renewed, "figure"));
    }
    out
}
