//! A cassette's file: read whole, written line by line.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::line::{CASSETTE_FORMAT, Delivered, Done, Head, Line, PieceLine, RequestPieces, Send};
use super::mask::{Masks, MasksError};
use super::miss::Miss;
use super::tape::{Attempt, Exchange, Lane, Tape, hex};
use crate::model::wire::{Body, Delivery, Section};
use crate::transcript::Digest;

/// Why a cassette cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// What stands in it is no cassette.
    #[error("{}:{line}: {why}", path.display())]
    Line {
        /// The path.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong, and what to do.
        why: String,
    },
    /// It was recorded otherwise.
    #[error("{0}")]
    Other(String),
    /// A pattern of it cannot be used.
    #[error(transparent)]
    Masks(#[from] MasksError),
}

/// A cassette.
#[derive(Debug)]
pub struct Cassette {
    name: String,
    head: Head,
    masks: Masks,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    tape: Tape,
    /// Where new lines go; `None`: it is only read.
    file: Option<(PathBuf, File)>,
    /// Requests that nothing answered.
    misses: Vec<Miss>,
    /// Why nothing could be written any more.
    broken: Option<String>,
}

/// What a text of lines holds, and how many bytes of it are whole lines.
struct Read {
    head: Head,
    tape: Tape,
    bytes: usize,
}

fn read(path: &Path, text: &str) -> Result<Read, CassetteError> {
    let wrong = |line: usize, why: String| CassetteError::Line { path: path.to_owned(), line, why };
    let mut lines = text.split_inclusive('\n').enumerate();
    let (_, first) = lines.next().ok_or_else(|| wrong(1, "it is empty, so it is no cassette".to_owned()))?;
    let head = serde_json::from_str::<serde_json::Value>(first).map_err(|why| wrong(1, format!("it is no cassette: {why}")))?;
    match head.get("format").and_then(|format| format.as_str()) {
        Some(CASSETTE_FORMAT) => {}
        Some(other) => return Err(wrong(1, format!("its format is {other}, and this version reads {CASSETTE_FORMAT}"))),
        None => return Err(wrong(1, format!("it names no format: a cassette begins with a line of {CASSETTE_FORMAT}"))),
    }
    let head: Head = serde_json::from_value(head).map_err(|why| wrong(1, why.to_string()))?;
    let (mut tape, mut bytes) = (Tape::default(), first.len());
    for (at, text) in lines {
        if !text.ends_with('\n') {
            // A killed recorder may leave half a line: what it was is not known, so it never was.
            break;
        }
        let line: Line = serde_json::from_str(text).map_err(|why| wrong(at + 1, why.to_string()))?;
        tape.take(line).map_err(|why| wrong(at + 1, why))?;
        bytes += text.len();
    }
    Ok(Read { head, tape, bytes })
}

impl Cassette {
    /// Reads one, to replay it.
    ///
    /// # Errors
    /// The file cannot be read, or is no cassette.
    pub fn open(path: &Path) -> Result<Cassette, CassetteError> {
        let source = |source| CassetteError::File { path: path.to_owned(), source };
        let text = std::fs::read_to_string(path).map_err(source)?;
        let Read { head, tape, .. } = read(path, &text)?;
        Cassette::new(path, head, tape, None, None)
    }

    /// Opens one to record: a new one with this head, or one that was recorded with the same, which is gone on with. `secret` is
    /// never written.
    ///
    /// # Errors
    /// The file cannot be written, is no cassette, is being written by somebody else, or was recorded otherwise.
    pub fn record(path: &Path, head: Head, secret: Option<&str>) -> Result<Cassette, CassetteError> {
        let source = |source| CassetteError::File { path: path.to_owned(), source };
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(source)?;
        file.try_lock()
            .map_err(|_| CassetteError::Other(format!("{}: somebody else is recording into it: wait for it", path.display())))?;
        let text = std::fs::read_to_string(path).map_err(source)?;
        if text.is_empty() {
            let line = serde_json::to_string(&head).unwrap_or_default() + "\n";
            file.write_all(line.as_bytes()).map_err(source)?;
            return Cassette::new(path, head, Tape::default(), Some(file), secret);
        }
        let known = read(path, &text)?;
        let now = Head { recorded: known.head.recorded.clone(), ctxbench: known.head.ctxbench.clone(), ..head };
        if now != known.head {
            let what = differs(&known.head, &now);
            let why = format!("{}: it was recorded with another {what}: give it another name, or remove it", path.display());
            return Err(CassetteError::Other(why));
        }
        file.set_len(known.bytes as u64).map_err(source)?;
        file.seek(SeekFrom::End(0)).map_err(source)?;
        Cassette::new(path, known.head, known.tape, Some(file), secret)
    }

    fn new(path: &Path, head: Head, tape: Tape, file: Option<File>, secret: Option<&str>) -> Result<Cassette, CassetteError> {
        let masks = Masks::new(&head.masked, &head.redacted)?.hiding(secret);
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let file = file.map(|file| (path.to_owned(), file));
        Ok(Cassette { name, head, masks, state: Mutex::new(State { tape, file, misses: vec![], broken: None }) })
    }

    /// Its name in cell ids.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// With what was asked.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// What is redacted in it.
    pub fn masks(&self) -> &Masks {
        &self.masks
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nobody panics with the lock held, and if somebody did the lines would still be whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cells that were played to their end, in order.
    pub fn cells(&self) -> Vec<String> {
        self.state().tape.cells.iter().filter(|(_, cell)| cell.done).map(|(name, _)| name.clone()).collect()
    }

    /// Looks at all of it.
    pub fn with_tape<T>(&self, look: impl FnOnce(&Tape) -> T) -> T {
        look(&self.state().tape)
    }

    /// A digest of what was recorded for a cell.
    pub fn content(&self, cell: &str) -> Option<Digest> {
        self.state().tape.content(cell, |one| self.counts(one))
    }

    /// Whether an exchange is part of what its cell was when it was played to its end. One that was asked again is not, nor is one
    /// that ended in trouble that may pass: with such a one no cell is at its end, so it is of an earlier try.
    pub fn counts(&self, one: &Exchange) -> bool {
        let passed = |last: &Attempt| {
            let read = self.head.asking_of(&one.at.lane).read(&last.delivery);
            read.is_err_and(|trouble| trouble.kind.may_pass())
        };
        one.whole && !one.superseded && !one.attempts.last().is_some_and(passed)
    }

    /// The pieces of a body as they are kept, with the digest of the whole.
    pub fn pieces(&self, body: &Body) -> (RequestPieces, String) {
        let (mut pieces, mut digests) = (RequestPieces::default(), Vec::new());
        for (section, mut value) in body.pieces() {
            self.masks.redact(&mut value);
            let digest = self.masks.digest(section, &value);
            digests.push(digest);
            match section {
                Section::Head => pieces.head = hex(digest),
                Section::System => pieces.system.push(hex(digest)),
                Section::Tool(_) => pieces.tools.push(hex(digest)),
                Section::Item(_) => pieces.items.push(hex(digest)),
            }
        }
        (pieces, hex(Body::digest(&digests)))
    }

    /// What was recorded for a request, the first that is not `used` yet, which it is from now on. A cell that was not played to
    /// its end answers with replies alone: its failures are tried again.
    pub fn answer(&self, at: &Lane, digest: &str, used: &mut Vec<bool>, is_reply: impl Fn(&Delivery) -> bool) -> Option<Vec<Attempt>> {
        let state = self.state();
        let cell = state.tape.cells.get(&at.cell)?;
        used.resize(cell.exchanges.len().max(used.len()), false);
        let found = cell.exchanges.iter().enumerate().find(|(number, one)| {
            let same = one.at.lane == at.lane && one.at.turn == at.turn && one.digest == digest;
            let answers = self.counts(one) && (cell.done || one.attempts.last().is_some_and(|last| is_reply(&last.delivery)));
            same && answers && !used[*number]
        });
        let (number, exchange) = found?;
        used[number] = true;
        Some(exchange.attempts.clone())
    }

    /// That nothing answers a request. It is remembered.
    pub fn miss(&self, at: &Lane, request: &RequestPieces, body: &Body, used: &[bool]) -> Miss {
        let mut state = self.state();
        let miss = Miss::of(&state.tape, at, request, body, used);
        state.misses.push(miss.clone());
        miss
    }

    /// The requests that nothing answered, in order.
    pub fn misses(&self) -> Vec<Miss> {
        self.state().misses.clone()
    }

    /// Why nothing could be written any more.
    pub fn broken(&self) -> Option<String> {
        self.state().broken.clone()
    }

    /// Writes down that a request is sent, and gives its order. It is written before anything is sent.
    pub fn sent(&self, at: &Lane, attempt: u32, waited_ms: u64, body: &Body) -> u64 {
        let (request, digest) = self.pieces(body);
        let mut state = self.state();
        let values = body.pieces().map(|(_, value)| value);
        let digests: Vec<String> = request.digests().into_iter().map(|(_, digest)| digest.clone()).collect();
        for (digest, mut json) in digests.into_iter().zip(values) {
            if !state.tape.pieces.contains_key(&digest) {
                self.masks.redact(&mut json);
                state.write(Line::Piece(PieceLine { digest, json }));
            }
        }
        let order = state.tape.next;
        let Lane { cell, lane, turn, exchange } = at.clone();
        state.write(Line::Send(Send { order, cell, lane, turn, exchange, attempt, waited_ms, digest, request }));
        order
    }

    /// Writes down what came back. It is in the file when this returns.
    pub fn delivered(&self, send: u64, delivered: Delivered) {
        let mut state = self.state();
        let order = state.tape.next;
        state.write(Line::Delivery(Delivered { order, send, ..delivered }));
    }

    /// Writes down that a cell was played to its end.
    pub fn done(&self, cell: &str) {
        let mut state = self.state();
        if state.tape.cells.get(cell).is_none_or(|tape| !tape.done) {
            let order = state.tape.next;
            state.write(Line::Done(Done { order, cell: cell.to_owned() }));
        }
    }
}

impl State {
    fn write(&mut self, line: Line) {
        let text = serde_json::to_string(&line).unwrap_or_default() + "\n";
        if let Some((path, file)) = &mut self.file
            && self.broken.is_none()
            && let Err(why) = file.write_all(text.as_bytes())
        {
            self.broken = Some(format!("{} cannot be written: {why}", path.display()));
        }
        if let Err(why) = self.tape.take(line) {
            // What this writes follows from what it wrote.
            self.broken.get_or_insert(why);
        }
    }
}

/// The first thing in which two heads differ.
fn differs(one: &Head, other: &Head) -> &'static str {
    let (a, b) = (&one.asking, &other.asking);
    [
        (one.provider != other.provider, "provider"),
        (a.wire != b.wire, "wire"),
        (a.model != b.model, "model"),
        (a.stream != b.stream, "way of streaming"),
        (a.max_output_tokens != b.max_output_tokens, "limit of output tokens"),
        (a.temperature != b.temperature, "temperature"),
        (a.rendering != b.rendering, "rendering"),
        (a.calls != b.calls, "maker of calls"),
        (a.fields != b.fields, "field"),
        (one.judges != other.judges, "judge"),
        (one.masked != other.masked, "mask"),
        (one.redacted != other.redacted, "redaction"),
    ]
    .into_iter()
    .find_map(|(differs, what)| differs.then_some(what))
    .unwrap_or("setting")
}
