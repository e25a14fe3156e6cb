//! What of a run directory stands whole: the cells that need not be run again.
//!
//! A killed process leaves files that end anywhere. A cell counts as committed if its results line, all its ledger
//! lines, all its requests and all parts that those name are there, each a whole line at its place. The first cell of
//! which anything is missing ends the prefix; whatever stands behind it is cut.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::ledger::FailureKind;
use crate::plan::Plan;
use crate::results::{CellResult, LedgerLine, PartLine, PartName, RequestLine};

/// Cells of an earlier run in the same directory, read back in plan order.
#[derive(Debug, Default)]
pub struct Kept {
    cells: usize,
    dropped: usize,
    left: usize,
    file: Option<(PathBuf, BufReader<File>)>,
}

impl Kept {
    /// How many cells are kept.
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// How many cells had a whole line in `results.jsonl` and are run again, since other files lack something of them.
    pub fn dropped(&self) -> usize {
        self.dropped
    }
}

impl Iterator for Kept {
    type Item = Result<CellResult, Error>;

    fn next(&mut self) -> Option<Result<CellResult, Error>> {
        self.left = self.left.checked_sub(1)?;
        let (path, file) = self.file.as_mut()?;
        let mut line = String::new();
        let read = file.read_line(&mut line).map_err(|why| Error::path("read", path, why));
        Some(read.and_then(|_| {
            let changed = |why| Error::Internal(format!("{} was changed while it was read: {why}", path.display()));
            serde_json::from_str(&line).map_err(changed)
        }))
    }
}

/// Where the files of a run directory are cut.
#[derive(Debug, Default)]
pub(super) struct Prefix {
    /// The cells in it.
    pub kept: Kept,
    /// Bytes of each file.
    pub results: u64,
    pub ledger: u64,
    pub requests: u64,
    pub parts: u64,
    /// The parts in it, by digest.
    pub written: BTreeSet<PartName>,
}

/// The paths of a run directory's files.
pub(super) struct Paths {
    pub run: PathBuf,
    pub results: PathBuf,
    pub ledger: PathBuf,
    pub requests: PathBuf,
    pub parts: PathBuf,
}

impl Paths {
    pub fn of(folder: &Path) -> Paths {
        Paths {
            run: folder.join("run.json"),
            results: folder.join("results.jsonl"),
            ledger: folder.join("ledger.jsonl"),
            requests: folder.join("threads").join("requests.jsonl"),
            parts: folder.join("threads").join("parts.jsonl"),
        }
    }

    /// All of them, `run.json` first.
    pub fn all(&self) -> [&Path; 5] {
        [&self.run, &self.results, &self.ledger, &self.requests, &self.parts]
    }
}

/// Reads how far the plan was committed. A committed cell that is not the plan's is a usage error.
pub(super) fn prefix(paths: &Paths, plan: &Plan) -> Result<Prefix, Error> {
    let mut prefix = Prefix::default();
    let mut results = Reading::open(&paths.results)?;
    let (mut ledger, mut requests) = (Reading::open(&paths.ledger)?, Reading::open(&paths.requests)?);
    let mut parts = Reading::open(&paths.parts)?;
    let mut cells = plan.cells();
    while let Some(result) = results.next::<CellResult>()? {
        let Some(cell) = cells.next() else { break };
        if (&result.cell, &result.fingerprint) != (&cell.name, &cell.fingerprint().to_string()) {
            return Err(Error::Usage(format!(
                "{}:{} holds {} with the fingerprint {}, where this run has {} with {}: its figures are of something else. \
                 Give another --run-dir, or remove that folder if its run is not wanted",
                paths.results.display(),
                results.lines,
                result.cell,
                result.fingerprint,
                cell.name,
                cell.fingerprint()
            )));
        }
        // What a spending cap stopped is not at its end: it is run again, and what was paid of it is in its cassette.
        if result.failure.as_ref().is_some_and(|failure| failure.kind == FailureKind::Cap.name()) {
            break;
        }
        if !whole(&result, &mut ledger, &mut requests, &mut parts, &mut prefix.written)? {
            break;
        }
        prefix.kept.cells += 1;
        (prefix.results, prefix.ledger, prefix.requests, prefix.parts) = (results.bytes, ledger.bytes, requests.bytes, parts.bytes);
    }
    prefix.kept.left = prefix.kept.cells;
    prefix.kept.dropped = results.count_rest()?.saturating_sub(prefix.kept.cells);
    if prefix.kept.cells > 0 {
        let file = File::open(&paths.results).map_err(|why| Error::path("read", &paths.results, why))?;
        prefix.kept.file = Some((paths.results.clone(), BufReader::new(file)));
    }
    Ok(prefix)
}

/// Whether all else of a cell stands in the files too. The parts that it was first to name are added to `written`, if so.
fn whole(
    result: &CellResult,
    ledger: &mut Reading,
    requests: &mut Reading,
    parts: &mut Reading,
    written: &mut BTreeSet<PartName>,
) -> Result<bool, Error> {
    let exchanges: u64 = result.threads.iter().map(|thread| thread.requests).sum();
    let mut named: Vec<PartName> = Vec::new();
    let mut behind: BTreeMap<Arc<str>, Vec<PartName>> = BTreeMap::new();
    for _ in 0..exchanges {
        let (Some(row), Some(request)) = (ledger.next::<LedgerLine>()?, requests.next::<RequestLine>()?) else { return Ok(false) };
        if *row.cell != *result.cell || *request.cell != *result.cell || row.seq != request.seq {
            return Ok(false);
        }
        named.extend(request.system.into_iter().chain(request.tools).chain(request.items.into_iter().flat_map(|item| item.parts)));
        behind.insert(request.thread, request.after.into_iter().flat_map(|item| item.parts).collect());
    }
    // Parts stand in the order in which requests first name them, then what stood behind each thread's last one.
    let mut new: BTreeSet<PartName> = BTreeSet::new();
    let in_order = result.threads.iter().filter_map(|thread| behind.remove(&*thread.path)).flatten();
    for digest in named.into_iter().chain(in_order) {
        if written.contains(&digest) || new.contains(&digest) {
            continue;
        }
        match parts.next::<PartLine>()? {
            Some(part) if part.digest == digest => _ = new.insert(digest),
            _ => return Ok(false),
        }
    }
    written.extend(new);
    Ok(true)
}

/// A file of JSON lines that is read to its first fault.
struct Reading {
    path: PathBuf,
    /// `None`: there is no such file, or it is read to its end.
    file: Option<BufReader<File>>,
    line: Vec<u8>,
    /// Bytes of the whole lines that were read.
    bytes: u64,
    lines: usize,
}

impl Reading {
    fn open(path: &Path) -> Result<Reading, Error> {
        let file = match File::open(path) {
            Ok(file) => Some(BufReader::new(file)),
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => None,
            Err(why) => return Err(Error::path("read", path, why)),
        };
        Ok(Reading { path: path.to_owned(), file, line: Vec::new(), bytes: 0, lines: 0 })
    }

    /// The next line's value; `None`: the file ends, or what follows is no whole line of this kind.
    fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Error> {
        if !self.advance()? {
            return Ok(None);
        }
        Ok(serde_json::from_slice(&self.line).ok())
    }

    fn advance(&mut self) -> Result<bool, Error> {
        let Some(file) = &mut self.file else { return Ok(false) };
        self.line.clear();
        let read = file.read_until(b'\n', &mut self.line).map_err(|why| Error::path("read", &self.path, why))?;
        if self.line.last() != Some(&b'\n') {
            self.file = None;
            return Ok(false);
        }
        self.bytes += read as u64;
        self.lines += 1;
        Ok(true)
    }

    /// All whole lines of the file, those that were read included.
    fn count_rest(&mut self) -> Result<usize, Error> {
        while self.advance()? {}
        Ok(self.lines)
    }
}
