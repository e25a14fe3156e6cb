//! The files of a run's folder.

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

/// The encoding that a run's tokens are counted in.
pub fn tokenizer_of(folder: &Path) -> Result<String, Error> {
    guarded::run_folder(folder)?;
    let run = read_json(&folder.join("run.json"))?;
    Ok(run.get("tokenizer").and_then(|name| name.as_str()).unwrap_or("unknown").to_owned())
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
