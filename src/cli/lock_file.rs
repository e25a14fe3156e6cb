//! The lock's file: read from the folder or from git, and written whole.

use std::path::{Path, PathBuf};

use crate::check::Lock;
use crate::error::Error;

use super::args::BudgetArgs;
use super::guarded;
use super::inputs::read_text;

/// What to do about a lock in which a merge kept two sayings of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merged {
    /// It is an error.
    Refused,
    /// Those cells count as not accepted: they are about to be written anew.
    Taken,
}

/// Where the lock is.
pub fn lock_path(files: &BudgetArgs) -> PathBuf {
    files.lock.clone().unwrap_or_else(|| PathBuf::from("budgets.lock"))
}

/// What was accepted, and what it was read from.
pub fn read_lock(files: &BudgetArgs, merged: Merged) -> Result<(Option<Lock>, String), Error> {
    let path = lock_path(files);
    guarded::file(&path)?;
    let (text, name) = match &files.against {
        Some(revision) => (Some(of_revision(revision, &path)?), format!("{revision}:{}", path.display())),
        None => match std::fs::symlink_metadata(&path) {
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => (None, path.display().to_string()),
            _ => (Some(read_text(&path)?), path.display().to_string()),
        },
    };
    let parse = |text: String| match merged {
        Merged::Refused => Lock::parse(&text),
        Merged::Taken => Lock::parse_merged(&text).map(|(lock, _)| lock),
    };
    let lock = text.map(parse).transpose().map_err(|why| Error::Input(format!("{name}, {why}")))?;
    Ok((lock, name))
}

/// A file as it stands in a revision.
fn of_revision(revision: &str, path: &Path) -> Result<String, Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if revision.is_empty() || revision.starts_with('-') {
        return Err(Error::Usage(format!("--against takes a revision of git, not `{revision}`")));
    }
    let spec = format!("{revision}:./{name}");
    let git = std::process::Command::new("git").arg("-C").arg(folder).arg("show").arg(&spec).output();
    let git = git.map_err(|why| Error::path("run", Path::new("git"), why))?;
    if !git.status.success() {
        let said = String::from_utf8_lossy(&git.stderr);
        let said = said.trim().trim_start_matches("fatal: ").trim_end_matches('.');
        return Err(Error::Input(format!(
            "git has no {} in {revision}: {said}. Name a revision in which the lock is committed (a shallow clone lacks most of them)",
            path.display()
        )));
    }
    String::from_utf8(git.stdout).map_err(|_| Error::Input(format!("{} of {revision} is not UTF-8 text", path.display())))
}

/// Where what accepting would write is left.
pub fn new_path(lock: &Path) -> PathBuf {
    let mut name = lock.as_os_str().to_owned();
    name.push(".new");
    PathBuf::from(name)
}

/// What an earlier check left is out of date; that it may not be there is no error.
pub fn remove_new(lock: &Path) {
    let _ = std::fs::remove_file(new_path(lock));
}

/// Writes a file whole or not at all. A link stays a link, and the file keeps its permissions.
pub fn write_whole(path: &Path, text: &str) -> Result<(), Error> {
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let known = std::fs::metadata(&target).ok().map(|there| there.permissions());
    if known.as_ref().is_some_and(std::fs::Permissions::readonly) {
        return Err(Error::path("write", path, std::io::ErrorKind::PermissionDenied.into()));
    }
    let mut name = target.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    let beside = PathBuf::from(name);
    let kept = || known.map_or(Ok(()), |known| std::fs::set_permissions(&beside, known));
    let written = std::fs::write(&beside, text).and_then(|()| kept()).and_then(|()| std::fs::rename(&beside, &target));
    written.map_err(|why| {
        let _ = std::fs::remove_file(&beside);
        Error::path("write", path, why)
    })
}
