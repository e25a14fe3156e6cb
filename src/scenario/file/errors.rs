//! What is wrong with a scenario file: all of it, each with its place, what it is and what to do.

use std::fmt;
use std::sync::Arc;

use crate::error::caret::{Pointed, pointed};

use super::node::Place;

/// Everything that is wrong with one scenario file, in the order of its lines. Its `Display` shows each problem with
/// `file:line:column`, the line, a caret and what to do.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioErrors {
    /// The file's name, as it was given.
    pub file: String,
    /// The problems; never empty.
    pub errors: Vec<ScenarioError>,
    source: Arc<str>,
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file's name, as it was given.
    pub file: String,
    /// Line, from 1; what is about the whole file stands at 1:1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
    /// The bytes of the source that it is about.
    span: (usize, usize),
}

impl fmt::Display for ScenarioError {
    /// One line: `file:line:column: message; help`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}; {}", self.file, self.line, self.column, self.message, self.help)
    }
}

impl ScenarioErrors {
    /// One problem with a whole file.
    pub(super) fn of(file: &str, source: &str, message: &str, help: &str) -> ScenarioErrors {
        let error =
            ScenarioError { file: file.to_owned(), line: 1, column: 1, message: message.to_owned(), help: help.to_owned(), span: (0, 0) };
        ScenarioErrors { file: file.to_owned(), errors: vec![error], source: source.into() }
    }

    /// All problems for people: each with its line of the file and a caret.
    pub fn render(&self, colour: bool) -> String {
        let points = self.errors.iter().map(|error| Pointed { span: error.span, message: &error.message, help: &error.help });
        pointed(&self.file, &self.source, points, colour)
    }
}

impl fmt::Display for ScenarioErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for ScenarioErrors {}

/// Gathers problems while a file is read.
#[derive(Clone, Debug, Default)]
pub(super) struct Problems {
    found: Vec<Problem>,
    /// Whether something of the file was not read: what is missing then may be what was not read.
    pub incomplete: bool,
}

#[derive(Clone, Debug)]
struct Problem {
    at: Place,
    message: String,
    help: String,
    /// Further ones at the same place: what a `repeat` makes many times is shown once.
    more: usize,
    /// The part of the text at this place that it is about, in characters from the text's beginning.
    within: Option<usize>,
}

impl Problems {
    /// Adds a problem.
    pub(super) fn add(&mut self, at: Place, message: impl Into<String>, help: impl Into<String>) {
        self.add_within(at, None, message, help);
    }

    /// Adds a problem of a part of a text: of the character that stands so many characters behind the text's beginning. Where
    /// the file spells the text in another way, the problem stands at the text.
    pub(super) fn add_within(&mut self, at: Place, within: Option<usize>, message: impl Into<String>, help: impl Into<String>) {
        let message = message.into();
        let mut alike = 0;
        for problem in self.found.iter_mut().filter(|problem| problem.at == at && differ_in_names(&problem.message, &message)) {
            if problem.message == message {
                return;
            }
            alike += 1;
            // What a `repeat` makes a hundred times is shown a few times and counted.
            if alike == SHOWN_ALIKE {
                problem.more += 1;
                return;
            }
        }
        self.found.push(Problem { at, message, help: help.into(), more: 0, within });
    }

    /// The error of a file; `None`: nothing was found.
    pub(super) fn finish(mut self, file: &str, source: &str) -> Option<ScenarioErrors> {
        if self.found.is_empty() {
            return None;
        }
        for problem in &mut self.found {
            if let Some(place) = problem.within.and_then(|characters| place_within(source, problem.at, characters)) {
                problem.at = place;
            }
        }
        self.found.sort_by_key(|problem| (problem.at.line, problem.at.column));
        let errors = self.found.into_iter().map(|problem| {
            let more = if problem.more == 0 { String::new() } else { format!(" (and {} more like it)", problem.more) };
            ScenarioError {
                file: file.to_owned(),
                line: problem.at.line.max(1),
                column: problem.at.column.max(1),
                message: problem.message + &more,
                help: problem.help,
                span: visible_span(source, problem.at),
            }
        });
        Some(ScenarioErrors { file: file.to_owned(), errors: errors.collect(), source: source.into() })
    }
}

/// So many problems of one place that differ in names alone are shown.
const SHOWN_ALIKE: usize = 5;

/// Whether two messages differ in quoted names at most.
fn differ_in_names(one: &str, other: &str) -> bool {
    one.split('`').step_by(2).eq(other.split('`').step_by(2))
}

/// The bytes to underline: within the line in which the place begins, and never nothing where there is something.
fn visible_span(source: &str, at: Place) -> (usize, usize) {
    let start = at.start.min(source.len());
    let rest = source.get(start..).unwrap_or_default();
    let line = rest.find('\n').map_or(rest, |end| &rest[..end]).trim_end();
    let wanted = if at.length == 0 { line.find([':', ',', ' ']).unwrap_or(line.len()) } else { at.length };
    let end = (start + wanted).min(start + line.len());
    let end = (end..=source.len()).find(|&end| source.is_char_boundary(end)).unwrap_or(source.len());
    (start, end)
}

/// The place of a character of a scalar that stands on one line, plain or in quotes; `None`: it does not, or it is spelled in a
/// way that is not followed here (`\u0041`).
fn place_within(source: &str, at: Place, characters: usize) -> Option<Place> {
    let rest = source.get(at.start..).filter(|_| at.line > 0)?;
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
    if quote.is_none() && rest.starts_with(['|', '>', '&', '*', '!']) {
        return None;
    }
    let mut spelled = rest.char_indices().skip(usize::from(quote.is_some()));
    let mut column = usize::from(quote.is_some());
    for _ in 0..characters {
        let width = match (quote, spelled.next()?.1) {
            (_, '\n') => return None,
            (Some('"'), '\\') => spelled.next().filter(|(_, c)| matches!(c, '\\' | '"' | '/')).map(|_| 2)?,
            (Some('\''), '\'') => spelled.next().filter(|(_, c)| *c == '\'').map(|_| 2)?,
            (Some('"'), '"') => return None,
            _ => 1,
        };
        column += width;
    }
    let (offset, c) = spelled.next().filter(|(_, c)| *c != '\n')?;
    Some(Place { line: at.line, column: at.column + column as u64, start: at.start + offset, length: c.len_utf8() })
}

/// The known name nearest to a wrong one, if any is near.
pub(super) fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = |name: &str| name.chars().count().max(wrong.chars().count());
    // A short word is near to every other short word.
    let is_near = |distance: usize, name: &str| distance <= (length(name) / 3).min(3);
    let distances = known.into_iter().map(|name| (strsim::damerau_levenshtein(&wrong.to_lowercase(), &name.to_lowercase()), name));
    distances.filter(|(distance, name)| is_near(*distance, name)).min().map(|(_, name)| name)
}

/// What to do about an unknown name: the nearest one, or all.
pub(super) fn suggest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    if let Some(name) = nearest(wrong, known.clone()) {
        return format!("did you mean `{name}`?");
    }
    let all: Vec<String> = known.into_iter().map(|name| format!("`{name}`")).collect();
    match all.len() {
        0 => "there is none".to_owned(),
        1..=24 => format!("known: {}", all.join(", ")),
        // A world may hold hundreds of files.
        count => format!("known: {} and {} more", all.get(..20).unwrap_or(&all).join(", "), count - 20),
    }
}
