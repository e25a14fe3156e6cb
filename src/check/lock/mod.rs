//! `budgets.lock`, which the tool owns: what was accepted. One line a figure, sorted, committed, so that the difference
//! of a pull request is the report.
//!
//! ```text
//! ctxbench-lock/1
//! tokenizer o200k_base
//!
//! tiny-task/opencode@1.18.33/reader/0 parent.input_total 1234 0f3c… delegated=60 own=5 system=20 user=40
//!   9d1f 0 / in system=10,user=20 out 5 same 0 head system|system|10|1a2b3c4d items user|user|20|5e6f7a8b
//! ```
//!
//! A figure's line holds cell, metric, value, fingerprint and where its tokens stand. The indented lines below a cell's
//! figures are its requests ([`super::trail`]); each begins with digits of the cell's own, so that git, which merges by equal
//! lines, never takes a request of one cell for one of another. An empty line parts the cells: two branches that accept
//! different cells change lines that are not neighbours, so git merges them.

mod reading;

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::results::Number;

use super::split::Split;
use super::trail::{Exchange, Mark, Trail};
use reading::{Reading, said_twice};

/// The version of the lock.
pub const LOCK_FORMAT: &str = "ctxbench-lock/1";

/// What was accepted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lock {
    /// The encoding of every token figure; empty in a lock without cells that was never written.
    pub tokenizer: String,
    /// The cells, by id.
    pub cells: BTreeMap<String, LockedCell>,
}

/// What was accepted of a cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LockedCell {
    /// Its figures, by metric.
    pub figures: BTreeMap<String, Figure>,
    /// What its requests held when a figure of it was last accepted.
    pub trail: Trail,
}

/// An accepted figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its value.
    pub value: Number,
    /// The cell's fingerprint then.
    pub fingerprint: String,
    /// Where its tokens stand; `None`: it is no sum over parts of requests.
    pub split: Option<Split>,
}

/// Why a lock cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct LockError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong and what to do.
    pub why: String,
}

/// A cell of which a lock says two things, as a merge that keeps both sides leaves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twice {
    /// The line of the second, from 1.
    pub line: usize,
    /// The cell.
    pub cell: String,
}

impl Lock {
    /// Reads a lock.
    ///
    /// # Errors
    /// The first line that is wrong: a conflict marker, another version, a torn line, a cell of which two things are said.
    pub fn parse(text: &str) -> Result<Lock, LockError> {
        let (lock, twice) = Lock::parse_merged(text)?;
        match twice.first() {
            None => Ok(lock),
            Some(first) => Err(LockError { line: first.line, why: said_twice(&twice) }),
        }
    }

    /// Reads a lock that a merge may have left with two sayings of a cell: those cells are left out, and named.
    ///
    /// # Errors
    /// As [`Lock::parse`] otherwise.
    pub fn parse_merged(text: &str) -> Result<(Lock, Vec<Twice>), LockError> {
        let mut reading = Reading::default();
        for (at, line) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate() {
            reading.line(line, at + 1).map_err(|why| LockError { line: at + 1, why })?;
        }
        reading.finish().map_err(|why| LockError { line: 1, why })
    }

    /// The file.
    pub fn text(&self) -> String {
        let mut text = format!("{LOCK_FORMAT}\ntokenizer {}\n", self.tokenizer);
        for (id, cell) in &self.cells {
            let key = key(id);
            text.push('\n');
            for (metric, figure) in &cell.figures {
                let _ = write!(text, "{} {metric} {} {}", escaped(id), figure.value, figure.fingerprint);
                for (name, tokens) in figure.split.iter().flatten() {
                    let _ = write!(text, " {name}={tokens}");
                }
                text.push('\n');
            }
            for exchange in &cell.trail.exchanges {
                let _ = writeln!(text, "  {key} {}", request_line(exchange));
            }
            if cell.trail.more > 0 {
                let _ = writeln!(text, "  {key} more {}", cell.trail.more);
            }
        }
        text
    }

    /// An accepted figure.
    pub fn figure(&self, cell: &str, metric: &str) -> Option<&Figure> {
        self.cells.get(cell)?.figures.get(metric)
    }
}

/// What request lines of a cell begin with.
fn key(cell: &str) -> String {
    crate::transcript::Digest::of(cell).to_string().chars().take(8).collect()
}

fn request_line(exchange: &Exchange) -> String {
    let input: Vec<String> = exchange.input.iter().map(|(origin, tokens)| format!("{}={tokens}", origin.name())).collect();
    let mut line =
        format!("{} {} in {} out {} same {}", exchange.seq, escaped(&exchange.thread), joined(&input), exchange.output, exchange.same);
    if let Some(head) = &exchange.head {
        let marks: Vec<String> = head.iter().map(mark_text).collect();
        let _ = write!(line, " head {}", joined(&marks));
    }
    let marks: Vec<String> = exchange.items.iter().map(mark_text).collect();
    let _ = write!(line, " items {}", joined(&marks));
    if exchange.more > 0 {
        let _ = write!(line, " more {}", exchange.more);
    }
    line
}

/// A list in a line; nothing is `-`.
fn joined(words: &[String]) -> String {
    if words.is_empty() { "-".to_owned() } else { words.join(",") }
}

fn mark_text(mark: &Mark) -> String {
    let tokens = mark.tokens.map_or("?".to_owned(), |tokens| tokens.to_string());
    format!("{}|{}|{tokens}|{}", escaped(&mark.what), mark.origin.name(), mark.digest)
}

/// A name without what parts words, marks and lines: those stand as `%` and two hexadecimal digits.
fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        // A name that begins like a comment or a conflict marker would be taken for one.
        if c.is_whitespace() || c.is_control() || matches!(c, '%' | '|' | ',' | '#' | '<' | '>') || (text.is_empty() && c == '=') {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                let _ = write!(text, "%{byte:02x}");
            }
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests;
