//! What a check says: to people in a terminal and on a page, to programs, to test reports, to annotations. Pure.

mod accepted;
mod causes;
mod commands;
mod document;
mod explained;
mod github;
mod human;
mod junit;
mod markdown;
mod words;

pub use accepted::accepted;
pub use document::{CHECK_FORMAT, check_schema};
pub use explained::{EXPLAIN_FORMAT, Explained, explained_json, explained_text};
pub use words::{exit_line, last_line};

use crate::check::Checked;

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
