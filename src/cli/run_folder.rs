//! The files of a run's folder.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::error::Error;

use super::guarded;

fn read_json(path: &Path) -> Result<serde_json::Value, Error> {
    let text = super::inputs::read_text(path)?;
    serde_json::from_str(&text).map_err(|why| Error::Input(format!("{}: {why}", path.display())))
}

/// What a run is of.
pub fn run_json(folder: &Path) -> Result<serde_json::Value, Error> {
    guarded::run_folder(folder)?;
    read_json(&folder.join("run.json"))
}

/// The encoding that a run's tokens are counted in.
pub fn tokenizer_of(folder: &Path) -> Result<String, Error> {
    let run = run_json(folder)?;
    Ok(run.get("tokenizer").and_then(|name| name.as_str()).unwrap_or("unknown").to_owned())
}

/// How far a run came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The cells that it has.
    pub done: usize,
    /// The cells that it was to have.
    pub planned: usize,
}

impl Progress {
    /// What a run lacks, in a sentence; `None`: nothing.
    pub fn lack(self, folder: &Path) -> Option<String> {
        let Progress { done, planned } = self;
        let folder = folder.display();
        (done < planned).then(|| {
            format!(
                "{folder}: the run has {done} of {planned} cells: finish it with `ctxbench run --resume` and the arguments it was given"
            )
        })
    }
}

/// How many of its cells a run has, each once.
///
/// # Errors
/// A cell stands there twice, or there are more than the run was to have: somebody changed the files.
pub fn progress(folder: &Path) -> Result<Progress, Error> {
    let run = folder.join("run.json");
    let planned = read_json(&run)?.get("cells").and_then(serde_json::Value::as_u64).and_then(|cells| usize::try_from(cells).ok());
    let planned = planned.ok_or_else(|| Error::Input(format!("{} does not say how many cells the run has: {AGAIN}", run.display())))?;
    let results = folder.join("results.jsonl");
    let mut names = BTreeSet::new();
    // Killed before it wrote any.
    let lines = if results.exists() { Some(Lines::<CellName>::open(&results)?) } else { None };
    for (at, result) in lines.into_iter().flatten().enumerate() {
        let name = result?.cell;
        if names.contains(&name) {
            return Err(Error::Input(format!("{}:{}: {name} stands there twice: {AGAIN}", results.display(), at + 1)));
        }
        names.insert(name);
    }
    if names.len() > planned {
        let (results, done) = (results.display(), names.len());
        return Err(Error::Input(format!("{results} holds {done} cells, the run was to have {planned}: {AGAIN}")));
    }
    Ok(Progress { done: names.len(), planned })
}

/// What to do about a run's folder that was changed.
const AGAIN: &str = "the file was changed since it was written. Put it back, or run again into another --run-dir";

/// Of a line of results, the cell.
#[derive(serde::Deserialize)]
struct CellName {
    cell: String,
}

/// Every whole line of a file of JSON lines. A line without an end was torn when its run was killed: it is nobody's.
pub struct Lines<T> {
    path: PathBuf,
    file: BufReader<File>,
    line: Vec<u8>,
    at: u64,
    of: PhantomData<fn() -> T>,
}

impl<T> Lines<T> {
    /// Opens the file.
    pub fn open(path: &Path) -> Result<Lines<T>, Error> {
        let file = File::open(path).map_err(|why| Error::path("read", path, why))?;
        Ok(Lines { path: path.to_owned(), file: BufReader::new(file), line: vec![], at: 0, of: PhantomData })
    }
}

impl<T: DeserializeOwned> Iterator for Lines<T> {
    type Item = Result<T, Error>;

    fn next(&mut self) -> Option<Result<T, Error>> {
        self.line.clear();
        if let Err(why) = self.file.read_until(b'\n', &mut self.line) {
            return Some(Err(Error::path("read", &self.path, why)));
        }
        if self.line.last() != Some(&b'\n') {
            return None;
        }
        self.at += 1;
        Some(serde_json::from_slice(&self.line).map_err(|why| Error::Input(format!("{}:{}: {why}", self.path.display(), self.at))))
    }
}
