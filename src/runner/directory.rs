//! The run directory: what a run leaves on disk, appended cell by cell.
//!
//! `run.json` (configuration, versions, the inputs of all fingerprints), `results.jsonl` (one cell a line),
//! `ledger.jsonl` (one exchange a line), `threads/parts.jsonl` and `threads/requests.jsonl` (what each thread was sent),
//! `lock` (held while the run writes). A cell's line in `results.jsonl` is written after everything else of that cell:
//! a run that was killed has a clean prefix there.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::Error;
use crate::plan::Plan;
use crate::results::{LEDGER_FORMAT, PartLine, RESULTS_FORMAT, Settings, THREADS_FORMAT};
use crate::transcript::Digest;

use super::{CellRecord, Event, Sink};

/// The version of `run.json`.
pub const RUN_FORMAT: &str = "ctxbench-run/1";

/// A run directory that is being written.
pub struct RunDirectory {
    results: Lines,
    ledger: Lines,
    requests: Lines,
    parts: Lines,
    written: BTreeSet<Digest>,
    // Held until the run is over.
    _lock: File,
}

/// `run.json`.
#[derive(Debug, Serialize)]
struct RunFile<'a> {
    format: &'a str,
    ctxbench: &'a str,
    results: &'a str,
    ledger: &'a str,
    threads: &'a str,
    tokenizer: &'a str,
    prices: Option<()>,
    settings: &'a Settings,
    cells: usize,
    /// Fingerprint inputs by scenario and strategy; a cell adds its seed.
    inputs: Vec<InputsLine>,
}

#[derive(Debug, Serialize)]
struct InputsLine {
    scenario: String,
    strategy: String,
    inputs: indexmap::IndexMap<&'static str, String>,
}

impl RunDirectory {
    /// Begins a run in a folder, which is made if need be. A folder that holds a run already is refused.
    pub fn create(folder: &Path, plan: &Plan) -> Result<RunDirectory, Error> {
        let threads = folder.join("threads");
        fs::create_dir_all(&threads).map_err(|why| Error::path("create", folder, why))?;
        let lock = folder.join("lock");
        let held = OpenOptions::new().create(true).truncate(false).write(true).open(&lock);
        let held = held.map_err(|why| Error::path("write", &lock, why))?;
        match held.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Usage(format!(
                    "another run is writing into {}: wait for it, or give another --run-dir",
                    folder.display()
                )));
            }
            Err(TryLockError::Error(why)) => return Err(Error::path("lock", &lock, why)),
        }
        if ["run.json", "results.jsonl"].iter().any(|name| folder.join(name).exists()) {
            return Err(Error::Usage(format!(
                "{} holds a run already: give another --run-dir, or remove that folder if its run is not wanted",
                folder.display()
            )));
        }
        let path = folder.join("run.json");
        let mut text = serde_json::to_string_pretty(&run_file(plan)).map_err(|why| Error::Internal(why.to_string()))?;
        text.push('\n');
        fs::write(&path, text).map_err(|why| Error::path("write", &path, why))?;
        Ok(RunDirectory {
            results: Lines::create(folder.join("results.jsonl"))?,
            ledger: Lines::create(folder.join("ledger.jsonl"))?,
            requests: Lines::create(threads.join("requests.jsonl"))?,
            parts: Lines::create(threads.join("parts.jsonl"))?,
            written: BTreeSet::new(),
            _lock: held,
        })
    }

    fn write(&mut self, record: &CellRecord) -> Result<(), Error> {
        if let Some(threads) = &record.threads {
            for part in &threads.parts {
                if self.written.insert(part.digest()) {
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

fn run_file(plan: &Plan) -> RunFile<'_> {
    let mut inputs = Vec::new();
    for subject in plan.subjects() {
        for strategy in plan.strategies() {
            inputs.push(InputsLine {
                scenario: subject.id.clone(),
                strategy: strategy.id(),
                inputs: plan.inputs(subject, strategy.as_ref()).each().into_iter().collect(),
            });
        }
    }
    RunFile {
        format: RUN_FORMAT,
        ctxbench: env!("CARGO_PKG_VERSION"),
        results: RESULTS_FORMAT,
        ledger: LEDGER_FORMAT,
        threads: THREADS_FORMAT,
        tokenizer: &plan.head().tokenizer,
        prices: None,
        settings: &plan.head().settings,
        cells: plan.len(),
        inputs,
    }
}

impl Sink for RunDirectory {
    fn take(&mut self, event: Event<'_>) -> Result<(), Error> {
        match event {
            Event::Cell { record, .. } => self.write(record),
            Event::Flush => self.flush(),
            Event::Started { .. } | Event::Finished { .. } => Ok(()),
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
    fn create(path: PathBuf) -> Result<Lines, Error> {
        let file = File::create(&path).map_err(|why| Error::path("write", &path, why))?;
        Ok(Lines { path, file, kept: Vec::new() })
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
