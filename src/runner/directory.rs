//! The run directory: what a run leaves on disk, appended cell by cell.
//!
//! `run.json` (configuration, versions, the inputs of all fingerprints), `results.jsonl` (one cell a line),
//! `ledger.jsonl` (one exchange a line), `threads/parts.jsonl` and `threads/requests.jsonl` (what each thread was sent),
//! `lock` (held while the run writes). A cell's line in `results.jsonl` is written after everything else of that cell:
//! a run that was killed has a clean prefix there, and [`RunDirectory::resume`] goes on behind it.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::Error;
use crate::plan::Plan;
use crate::results::{PartLine, PartName};

use super::kept::{Kept, Paths, Prefix, prefix};
use super::run_file::{RUN_FORMAT, first_difference, run_file};
use super::{CellRecord, Event, Sink};

/// A run directory that is being written.
pub struct RunDirectory {
    results: Lines,
    ledger: Lines,
    requests: Lines,
    parts: Lines,
    written: BTreeSet<PartName>,
    // Held until the run is over. The system frees it with the process, however that ends.
    _lock: File,
}

impl RunDirectory {
    /// Begins a run in a folder, which is made if need be. A folder that holds a run already is refused.
    ///
    /// # Errors
    /// The folder cannot be written, holds a run, or another run is writing into it.
    pub fn create(folder: &Path, plan: &Plan) -> Result<RunDirectory, Error> {
        let lock = lock(folder)?;
        let paths = Paths::of(folder);
        if paths.run.exists() || paths.results.exists() {
            return Err(Error::Usage(format!(
                "{} holds a run already: give another --run-dir, or go on with that run by --resume, or remove that folder if its \
                 run is not wanted",
                folder.display()
            )));
        }
        if let Some(path) = paths.all().iter().find(|path| path.exists()) {
            return Err(Error::Usage(format!("{} would be overwritten, and no run wrote it: give another --run-dir", path.display())));
        }
        begin(&paths, plan)?;
        RunDirectory::open(&paths, Prefix::default(), lock).map(|(directory, _)| directory)
    }

    /// Goes on with the run that the folder holds, or begins one if it holds none: cuts its files back to the last cell
    /// that stands whole in all of them, and gives the cells up to there.
    ///
    /// # Errors
    /// As [`RunDirectory::create`]; and the folder's run has another configuration, or a cell of another fingerprint.
    pub fn resume(folder: &Path, plan: &Plan) -> Result<(RunDirectory, Kept), Error> {
        let lock = lock(folder)?;
        let paths = Paths::of(folder);
        match kept_configuration(&paths)? {
            Some(kept) => {
                let now = serde_json::to_value(run_file(plan)).map_err(|why| Error::Internal(why.to_string()))?;
                if let Some(difference) = first_difference(&kept, &now) {
                    return Err(Error::Usage(format!(
                        "{} holds another run: {difference}. Give what that run was given, or another --run-dir",
                        folder.display()
                    )));
                }
            }
            None => begin(&paths, plan)?,
        }
        let prefix = prefix(&paths, plan)?;
        RunDirectory::open(&paths, prefix, lock)
    }

    fn open(paths: &Paths, prefix: Prefix, lock: File) -> Result<(RunDirectory, Kept), Error> {
        let directory = RunDirectory {
            // The results first: they never name what the other files have lost.
            results: Lines::open(&paths.results, prefix.results)?,
            ledger: Lines::open(&paths.ledger, prefix.ledger)?,
            requests: Lines::open(&paths.requests, prefix.requests)?,
            parts: Lines::open(&paths.parts, prefix.parts)?,
            written: prefix.written,
            _lock: lock,
        };
        Ok((directory, prefix.kept))
    }

    fn write(&mut self, record: &CellRecord) -> Result<(), Error> {
        if let Some(threads) = &record.threads {
            for part in &threads.parts {
                if self.written.insert(PartName::from(part.digest())) {
                    self.parts.write(&PartLine::from(part))?;
                }
            }
            threads.requests.iter().try_for_each(|line| self.requests.write(line))?;
            threads.ledger.iter().try_for_each(|line| self.ledger.write(line))?;
        }
        self.results.write(&record.result)
    }

    fn flush(&mut self) -> Result<(), Error> {
        // The results last: what they name then stands on disk already.
        [&mut self.parts, &mut self.requests, &mut self.ledger, &mut self.results].into_iter().try_for_each(Lines::flush)
    }
}

/// Makes the folder and locks it against other runs.
fn lock(folder: &Path) -> Result<File, Error> {
    fs::create_dir_all(folder.join("threads")).map_err(|why| Error::path("create", folder, why))?;
    let path = folder.join("lock");
    let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let lock = lock.map_err(|why| Error::path("write", &path, why))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => {
            Err(Error::Usage(format!("another run is writing into {}: wait for it, or give another --run-dir", folder.display())))
        }
        Err(TryLockError::Error(why)) => Err(Error::path("lock", &path, why)),
    }
}

/// Writes `run.json`.
fn begin(paths: &Paths, plan: &Plan) -> Result<(), Error> {
    let mut text = serde_json::to_string_pretty(&run_file(plan)).map_err(|why| Error::Internal(why.to_string()))?;
    text.push('\n');
    fs::write(&paths.run, text).map_err(|why| Error::path("write", &paths.run, why))
}

/// The `run.json` that is there; `None`: no run is, or one that was killed while it wrote that very file.
fn kept_configuration(paths: &Paths) -> Result<Option<serde_json::Value>, Error> {
    let bytes = match fs::read(&paths.run) {
        Ok(bytes) => bytes,
        Err(why) if why.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(why) => return Err(Error::path("read", &paths.run, why)),
    };
    match serde_json::from_slice(&bytes) {
        Ok(kept) => Ok(Some(kept)),
        // Killed while it wrote that very file: it holds the beginning of one, and nothing else stands there yet.
        Err(_) if is_torn(&bytes) && paths.all()[1..].iter().all(|path| fs::metadata(path).map_or(0, |file| file.len()) == 0) => Ok(None),
        Err(why) => Err(Error::Usage(format!(
            "{} is missing or damaged ({why}), so nobody knows what the results beside it are of: put it back, or give another --run-dir",
            paths.run.display()
        ))),
    }
}

/// Whether this is the beginning of a `run.json`, or nothing at all.
fn is_torn(bytes: &[u8]) -> bool {
    let head = format!("{{\n  \"format\": \"{RUN_FORMAT}\"");
    bytes.starts_with(head.as_bytes()) || head.as_bytes().starts_with(bytes)
}

impl Sink for RunDirectory {
    fn take(&mut self, event: Event<'_>) -> Result<(), Error> {
        match event {
            Event::Cell { kept: true, .. } | Event::Started { .. } | Event::Finished { .. } => Ok(()),
            Event::Cell { record, .. } => self.write(record),
            Event::Flush => self.flush(),
        }
    }
    fn wants_threads(&self) -> bool {
        true
    }
}

/// A file of JSON lines. Lines are kept until they are flushed, so that files grow in one order and by whole cells.
struct Lines {
    path: PathBuf,
    file: File,
    kept: Vec<u8>,
}

impl Lines {
    /// Opens a file to write behind its first `bytes`; what stands there is cut.
    fn open(path: &Path, bytes: u64) -> Result<Lines, Error> {
        let open = || {
            let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
            file.set_len(bytes)?;
            file.seek(SeekFrom::Start(bytes))?;
            Ok(file)
        };
        let file = open().map_err(|why| Error::path("write", path, why))?;
        Ok(Lines { path: path.to_owned(), file, kept: Vec::new() })
    }

    fn write(&mut self, line: &impl Serialize) -> Result<(), Error> {
        serde_json::to_writer(&mut self.kept, line).map_err(|why| Error::Internal(why.to_string()))?;
        self.kept.push(b'\n');
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        let written = self.file.write_all(&self.kept);
        self.kept.clear();
        written.map_err(|why| Error::path("write", &self.path, why))
    }
}
