//! Which files an import reads.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{ImportError, Report, SkippedFile};

/// A file to be read.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its path.
    pub path: PathBuf,
    /// Its path as it stands in reports, with `/` between folders.
    pub shown: String,
    /// Whether it was asked for by name (or found through one that was), not met in a folder.
    pub asked: bool,
}

impl Found {
    fn new(path: PathBuf, asked: bool) -> Found {
        let shown = path.to_string_lossy().into_owned();
        let shown = if cfg!(windows) { shown.replace('\\', "/") } else { shown };
        Found { path, shown, asked }
    }

    /// The file's name without its extension.
    pub fn stem(&self) -> String {
        self.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// All files of the paths, each once, in order of their paths.
pub fn find(paths: &[PathBuf], report: &mut Report) -> Result<Vec<Found>, ImportError> {
    let mut files = Vec::new();
    for path in paths {
        let about = fs::metadata(path).map_err(|why| match why.kind() {
            std::io::ErrorKind::NotFound => ImportError::Missing { path: path.clone() },
            _ => ImportError::Unreadable { path: path.clone(), why },
        })?;
        if about.is_dir() {
            fs::read_dir(path).map_err(|why| ImportError::Unreadable { path: path.clone(), why })?;
            below(path, &mut files, report);
        } else {
            asked(path.clone(), &mut files);
            let children = path.with_extension("").join("subagents");
            if path.extension().is_some_and(|extension| extension == "jsonl") && children.is_dir() {
                below(&children, &mut files, report);
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path).then(b.asked.cmp(&a.asked)));
    let mut seen = BTreeSet::new();
    files.retain(|file| seen.insert(identity(&file.path)));
    Ok(files)
}

/// Adds files that records have named, if they exist and are new.
pub fn add(files: &mut Vec<Found>, mut named: Vec<PathBuf>, report: &mut Report) {
    named.sort();
    let mut seen: BTreeSet<PathBuf> = files.iter().map(|file| identity(&file.path)).collect();
    seen.extend(report.skipped_files.iter().map(|file| identity(Path::new(&file.file))));
    for path in named {
        if path.is_file() && seen.insert(identity(&path)) {
            asked(path, files);
        }
    }
}

/// A file that was asked for, with the file beside it that says more about it.
fn asked(path: PathBuf, files: &mut Vec<Found>) {
    let beside = path.with_extension("meta.json");
    if path.extension().is_some_and(|extension| extension == "jsonl") && beside.is_file() {
        files.push(Found::new(beside, false));
    }
    files.push(Found::new(path, true));
}

fn identity(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Regular files below a folder. Links to folders are not followed (they may lead back), and what is neither file nor
/// folder is not opened (a pipe would never end): both are named.
fn below(folder: &Path, files: &mut Vec<Found>, report: &mut Report) {
    let mut folders = vec![folder.to_owned()];
    let mut skip = |path: &Path, why: String| {
        report.skipped_files.push(SkippedFile { file: Found::new(path.to_owned(), false).shown, why });
    };
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(why) => {
                skip(&folder, format!("cannot be read: {why}"));
                continue;
            }
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            match (fs::symlink_metadata(&path), fs::metadata(&path)) {
                (Ok(own), Ok(target)) if target.is_dir() && own.is_symlink() => skip(&path, "a link to a folder: not followed".into()),
                (_, Ok(target)) if target.is_dir() => folders.push(path),
                (_, Ok(target)) if target.is_file() => files.push(Found::new(path, false)),
                (_, Ok(_)) => skip(&path, "neither file nor folder".into()),
                (_, Err(why)) => skip(&path, format!("cannot be read: {why}")),
            }
        }
    }
}
