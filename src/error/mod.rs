//! What can go wrong outside a cell, and the process's exit codes.

pub mod caret;
pub mod nearest;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The process's exit codes. Scripts rely on them: a number never changes its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// All is well; also when whoever read the output stopped reading.
    Fine = 0,
    /// An internal or I/O error: a path that is missing, unreadable or unwritable.
    Failure = 1,
    /// Wrong usage: an unknown name, value or combination, or a run directory that already holds a run.
    Usage = 2,
    /// Bad input: a scenario with errors, a file with nothing usable in it, a recording under `--strict`.
    BadInput = 3,
    /// A conformance vector failed.
    Conformance = 4,
    /// `check`: a limit is exceeded.
    LimitExceeded = 10,
    /// `check`: what was measured cannot be compared with what was accepted.
    NotComparable = 11,
    /// `check`: nothing was checked, or a budget matched nothing.
    NothingChecked = 12,
    /// A cell failed that its scenario did not expect to fail.
    CellFailed = 13,
    /// A spending cap was reached; what was finished is kept.
    CapReached = 14,
    /// Interrupted (SIGINT); what was finished is kept.
    Interrupted = 130,
    /// Terminated (SIGTERM); what was finished is kept.
    Terminated = 143,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> std::process::ExitCode {
        std::process::ExitCode::from(exit as u8)
    }
}

/// Why a command gave up.
#[derive(Debug)]
pub enum Error {
    /// A file or folder could not be used.
    Path {
        /// What was tried: `read`, `write`, `create`.
        attempt: &'static str,
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Standard output could not be written.
    Output(io::Error),
    /// Whoever read the output stopped reading: no error to people.
    Closed,
    /// What was typed cannot be done; the message says what can.
    Usage(String),
    /// What was read is wrong; the message says where and what to do. It may have many lines.
    Input(String),
    /// The harness itself is wrong.
    Internal(String),
}

impl Error {
    /// A path that could not be used.
    pub fn path(attempt: &'static str, path: &Path, source: io::Error) -> Error {
        Error::Path { attempt, path: path.to_owned(), source }
    }

    /// A failure to write standard output; a closed pipe is told apart.
    pub fn output(source: io::Error) -> Error {
        if source.kind() == io::ErrorKind::BrokenPipe { Error::Closed } else { Error::Output(source) }
    }

    /// The one place where an error becomes an exit code.
    pub fn exit(&self) -> Exit {
        match self {
            Error::Closed => Exit::Fine,
            Error::Path { .. } | Error::Output(_) | Error::Internal(_) => Exit::Failure,
            Error::Usage(_) => Exit::Usage,
            Error::Input(_) => Exit::BadInput,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Path { attempt, path, source } => write!(f, "cannot {attempt} {}: {}", path.display(), system_words(source)),
            Error::Output(source) => write!(f, "cannot write to standard output: {}", system_words(source)),
            Error::Closed => f.write_str("the output was closed"),
            Error::Usage(message) | Error::Input(message) => f.write_str(message),
            Error::Internal(message) => write!(f, "internal error: {message} (please report it)"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Path { source, .. } | Error::Output(source) => Some(source),
            _ => None,
        }
    }
}

/// The usual reasons in the same words on every system; the rest as the system says it.
fn system_words(source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::IsADirectory => "it is a folder, not a file".into(),
        io::ErrorKind::NotADirectory => "a part of the path is a file, not a folder".into(),
        io::ErrorKind::InvalidData => "it is not UTF-8 text".into(),
        _ => source.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_become_exit_codes() {
        let check = |error: Error, expect: u8| assert_eq!(error.exit() as u8, expect, "{error}");
        check(Error::path("read", Path::new("x.yaml"), io::ErrorKind::NotFound.into()), 1);
        check(Error::output(io::ErrorKind::BrokenPipe.into()), 0);
        check(Error::output(io::ErrorKind::StorageFull.into()), 1);
        check(Error::Usage("u".into()), 2);
        check(Error::Input("i".into()), 3);
        check(Error::Internal("x".into()), 1);
    }

    #[test]
    fn a_path_error_says_what_was_tried_and_where() {
        let error = Error::path("write", Path::new("out/a.json"), io::ErrorKind::PermissionDenied.into());
        assert_eq!(error.to_string(), "cannot write out/a.json: permission denied");
    }
}
