//! Import of recordings that other tools have written: sessions, delegations, spend, and a report on all that could not
//! be read. Streams by line, takes linear time, never panics and never drops silently.
//!
//! [`import`] finds the files, decides for each which [`Source`] wrote it, hands its records to that source's `Format`
//! and returns [`Imported`]. A new source is a new `Format`, a line in [`Source`] and a line in `formats`.

mod claude_code;
mod json;
mod lines;
mod paths;
mod read;
mod records;
mod report;
mod session;
mod time;

use std::path::PathBuf;

pub use json::json;
pub use lines::LINE_CAP;
pub use report::{Account, BadLine, Report, SkippedFile};
pub use session::{Call, CallResult, Confidence, Delegation, Inclusive, Link, Response, Session, Spend, Status, Step, context_size};

/// Which product wrote a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// Claude Code's JSON lines (`~/.claude/projects/...`), checked on versions 1.0.98 to 2.1.197.
    ClaudeCode,
}

impl Source {
    /// Every source.
    pub const ALL: [Source; 1] = [Source::ClaudeCode];

    /// Its name in files and for `--source`.
    pub fn name(self) -> &'static str {
        match self {
            Source::ClaudeCode => "claude-code",
        }
    }

    /// The source of that name.
    pub fn named(name: &str) -> Option<Source> {
        Source::ALL.into_iter().find(|source| source.name() == name)
    }
}

/// How much of a recording is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Sessions with their steps: what a held run needs.
    #[default]
    Steps,
    /// Sessions, delegations and spend alone; contents are not kept.
    Summary,
}

/// What to import, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The source of every file; `None`: decided file by file.
    pub source: Option<Source>,
    /// How much is kept.
    pub detail: Detail,
    /// Names of delegating tools beside the source's own.
    pub delegation_tools: Vec<String>,
    /// Longer lines are skipped and reported, in bytes.
    pub line_cap: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { source: None, detail: Detail::Steps, delegation_tools: vec![], line_cap: LINE_CAP }
    }
}

/// What an import gives.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// Every thread: parents before children, roots in order of their files, children in order of their calls.
    pub sessions: Vec<Session>,
    /// What was met on the way.
    pub report: Report,
}

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A path that was asked for does not exist.
    #[error("{}: no such file or folder: check the path", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// A path that was asked for cannot be read.
    #[error("{}: cannot be read: {why}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// What the system says.
        why: std::io::Error,
    },
}

/// Imports files and folders (with all below them). A session's own child files are read with it.
///
/// # Errors
/// A path that is missing or unreadable. What cannot be read below a folder is named in the report instead.
pub fn import(paths: &[PathBuf], options: &Options) -> Result<Imported, ImportError> {
    let mut report = Report::default();
    let mut formats = formats(options);
    let mut files = paths::find(paths, &mut report)?;
    let mut at = 0;
    while at < files.len() {
        read::file(&files[at], options, &mut formats, &mut report)?;
        at += 1;
        if at == files.len() {
            // Child files beside a session that was asked for by name are found by what the session says.
            for format in &formats {
                paths::add(&mut files, format.files_named(), &mut report);
            }
        }
    }
    let mut sessions = Vec::new();
    for format in formats {
        let from = sessions.len();
        sessions.extend(format.finish(&mut report).into_iter().map(|session| session.shifted(from)));
    }
    Ok(Imported { sessions, report })
}

fn formats(options: &Options) -> Vec<Box<dyn Format>> {
    vec![Box::new(claude_code::ClaudeCode::new(options))]
}

/// Where a record stands.
#[derive(Clone, Copy, Debug)]
struct Place<'a> {
    /// The file.
    file: &'a paths::Found,
    /// The line, from 1.
    line: u64,
}

/// How one source's records become sessions.
trait Format {
    /// The source.
    fn source(&self) -> Source;
    /// Whether this source alone writes such a record.
    fn recognises(&self, record: &str) -> bool;
    /// Whether a line that cannot be read as a record still shows that this source wrote it.
    fn left_traces(&self, line: &[u8]) -> bool;
    /// A new file begins.
    fn begin(&mut self, file: &paths::Found);
    /// Takes a record. `Err`: it is none, with the reason; `Ok(Some(..))`: taken, and something of it was lost.
    fn take(&mut self, place: Place<'_>, record: &str, report: &mut Report) -> Result<Option<String>, String>;
    /// A file beside a recording that says more about it. `Err`: it says nothing readable; `Ok(Some(..))`: taken, and
    /// something of it was lost.
    fn take_sidecar(&mut self, of: &paths::Found, text: &str) -> Result<Option<String>, String>;
    /// Files that the records name and that were not asked for.
    fn files_named(&self) -> Vec<PathBuf>;
    /// Puts the sessions together.
    fn finish(self: Box<Self>, report: &mut Report) -> Vec<Session>;
}
