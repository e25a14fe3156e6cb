//! Where results go: standard output in one format, files in others.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::check::LOCK_FORMAT;
use crate::error::Error;
use crate::report::{Format, Report};
use crate::results::{CellResult, Head, Number, Status};
use crate::runner::{Event, Sink};
use crate::stats::agreement;

use super::console::Console;
use super::guarded;

/// `FORMAT=PATH` of `--out`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutFile {
    /// What is written.
    pub format: Format,
    /// Where.
    pub path: PathBuf,
}

impl std::str::FromStr for OutFile {
    type Err = String;

    fn from_str(text: &str) -> Result<OutFile, String> {
        let formats = || Format::ALL.map(Format::name).join(", ");
        let (format, path) = text.split_once('=').ok_or_else(|| format!("write FORMAT=PATH; formats: {}", formats()))?;
        let known = Format::ALL.into_iter().find(|one| one.name() == format);
        let format = known.ok_or_else(|| format!("there is no format `{format}`; formats: {}", formats()))?;
        if path.is_empty() {
            return Err("the path is empty; write FORMAT=PATH".to_owned());
        }
        Ok(OutFile { format, path: path.into() })
    }
}

/// A place that text is written to.
pub enum Target {
    /// Standard output.
    Stdout,
    /// A file.
    File(PathBuf, File),
}

impl Target {
    /// A file, created now, so that a path that cannot be written is known before anything is run.
    ///
    /// # Errors
    /// The path cannot be written, or holds what no report may replace: what the command reads, a run's files, what was
    /// accepted for `check`.
    pub fn create(path: &Path) -> Result<Target, Error> {
        guarded::reports()?;
        if is_lock(path) {
            return Err(Error::Usage(format!(
                "--out would write over {}, which is a lock of `check`: give it another path",
                path.display()
            )));
        }
        let file = File::create(path).map_err(|why| Error::path("write", path, why))?;
        Ok(Target::File(path.to_owned(), file))
    }

    /// Writes all of a text.
    pub fn write(&mut self, text: &str) -> Result<(), Error> {
        match self {
            Target::Stdout => {
                let mut out = std::io::stdout().lock();
                out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Error::output)
            }
            Target::File(path, file) => file.write_all(text.as_bytes()).map_err(|why| Error::path("write", path, why)),
        }
    }
}

/// Whether a file is a lock of `check`, by whatever name it is called.
fn is_lock(path: &Path) -> bool {
    let begins = LOCK_FORMAT.split_inclusive('/').next().unwrap_or(LOCK_FORMAT).as_bytes();
    let mut start = vec![0; begins.len()];
    path.is_file() && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == begins
}

/// A report that a run's events are written into, chunk by chunk.
pub struct ReportSink {
    report: Box<dyn Report>,
    head: Head,
    target: Target,
    text: String,
    closed: bool,
}

impl ReportSink {
    /// A report of a run with this head.
    ///
    /// # Errors
    /// Runs are not written in that format.
    pub fn new(format: Format, colour: bool, head: &Head, target: Target) -> Result<ReportSink, Error> {
        let report = format.report(colour).ok_or_else(|| not_of_runs(format))?;
        Ok(ReportSink { report, head: head.clone(), target, text: String::new(), closed: false })
    }
}

/// A format that `run` does not write.
pub fn not_of_runs(format: Format) -> Error {
    let known: Vec<&str> = Format::ALL.into_iter().filter(|one| one.report(false).is_some()).map(Format::name).collect();
    Error::Usage(format!("`run` has no format {}; it has {}", format.name(), known.join(", ")))
}

impl Sink for ReportSink {
    fn take(&mut self, event: Event<'_>) -> Result<(), Error> {
        match event {
            Event::Started { .. } => self.text += &self.report.begin(&self.head),
            Event::Cell { record, .. } => self.text += &self.report.cell(&record.result),
            Event::Finished { summary, .. } => self.text += &self.report.end(summary),
            Event::Flush => {
                let text = std::mem::take(&mut self.text);
                if !self.closed && !text.is_empty() {
                    match self.target.write(&text) {
                        // Whoever read it has enough: the other listeners go on.
                        Err(Error::Closed) => self.closed = true,
                        other => other?,
                    }
                }
            }
        }
        Ok(())
    }

    fn keeps_running(&self) -> bool {
        !self.closed
    }
}

/// How far a run is, for people who watch standard error. Shown once the run is longer than a second. The line is taken away
/// before the reports write and drawn again behind them: it is the last of the sinks.
pub struct Progress {
    begun: Instant,
    cells: usize,
    done: usize,
    over: bool,
    drawn: bool,
}

/// A run shorter than this is over before anybody wonders.
const PATIENCE: Duration = Duration::from_secs(1);

impl Default for Progress {
    fn default() -> Progress {
        Progress { begun: Instant::now(), cells: 0, done: 0, over: false, drawn: false }
    }
}

impl Sink for Progress {
    fn take(&mut self, event: Event<'_>) -> Result<(), Error> {
        match event {
            Event::Started { cells } => self.cells = cells,
            Event::Cell { done, .. } => self.done = done,
            Event::Finished { .. } => self.over = true,
            Event::Flush => {}
        }
        let mut err = std::io::stderr().lock();
        let draws = matches!(event, Event::Flush) && !self.over && self.begun.elapsed() > PATIENCE;
        // A progress line that cannot be written is no reason to stop.
        if draws {
            let _ = write!(err, "\r{}/{} cells", self.done, self.cells);
        } else if self.drawn {
            let _ = write!(err, "\r\x1b[K");
        }
        self.drawn = draws;
        Ok(())
    }

    fn keeps_running(&self) -> bool {
        false
    }
}

/// Ends a run behind the first cell that failed against its scenario's expectation.
pub struct FailFast {
    stop: Arc<AtomicBool>,
}

impl FailFast {
    /// Sets `stop` then.
    pub fn new(stop: Arc<AtomicBool>) -> FailFast {
        FailFast { stop }
    }
}

impl Sink for FailFast {
    fn take(&mut self, event: Event<'_>) -> Result<(), Error> {
        if matches!(event, Event::Cell { record, .. } if record.result.status == Status::Failed) {
            self.stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn keeps_running(&self) -> bool {
        false
    }
}

/// Ends a run behind the first cell that a spending cap stopped: no further one could be paid.
pub struct CapEnds {
    stop: Arc<AtomicBool>,
}

impl CapEnds {
    /// Sets `stop` then.
    pub fn new(stop: Arc<AtomicBool>) -> CapEnds {
        CapEnds { stop }
    }
}

impl Sink for CapEnds {
    fn take(&mut self, event: Event<'_>) -> Result<(), Error> {
        if matches!(event, Event::Cell { record, .. } if record.result.failure.as_ref().is_some_and(|failure| failure.kind == "cap")) {
            self.stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn keeps_running(&self) -> bool {
        false
    }
}

/// How far judges agree with the scenario's own checks, and with each other: said when the run is over.
#[derive(Default)]
pub struct JudgesAgree {
    /// For each pair, who they are and how they scored the same answers.
    pairs: Vec<Pair>,
}

/// Two who scored the same answers.
struct Pair {
    one: String,
    other: String,
    scores: Vec<(f64, f64)>,
}

/// What the scenario's checks are called beside judges.
const CHECKS: &str = "the checks";

impl JudgesAgree {
    fn add(&mut self, result: &CellResult) {
        let quality = result.metrics.get("quality").copied().flatten().map(Number::value);
        let judged = result.judged.iter().map(|note| (note.judge.as_str(), note.score.map(Number::value)));
        let all: Vec<(&str, f64)> =
            std::iter::once((CHECKS, quality)).chain(judged).filter_map(|(who, score)| Some((who, score?))).collect();
        for (at, (one, score)) in all.iter().enumerate() {
            for (other, second) in &all[at + 1..] {
                let scores = (*score, *second);
                match self.pairs.iter_mut().find(|pair| pair.one == *one && pair.other == *other) {
                    Some(pair) => pair.scores.push(scores),
                    None => self.pairs.push(Pair { one: (*one).to_owned(), other: (*other).to_owned(), scores: vec![scores] }),
                }
            }
        }
    }
}

impl Sink for JudgesAgree {
    fn take(&mut self, event: Event<'_>) -> Result<(), Error> {
        match event {
            Event::Cell { record, .. } if !record.result.judged.is_empty() => self.add(&record.result),
            Event::Finished { .. } => {
                for Pair { one, other, scores } in &self.pairs {
                    let Some(found) = agreement(scores) else { continue };
                    let kappa = found.kappa.map_or("unknown, all alike".to_owned(), |kappa| format!("{kappa:.2}"));
                    // Whoever reads no standard error has the scores in the results.
                    let _ = writeln!(
                        std::io::stderr().lock(),
                        "judged: {one} and {other} on {} answers: same verdict {:.0} %, kappa {kappa}, mean difference {:.2}",
                        found.count,
                        found.same * 100.0,
                        found.difference
                    );
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn keeps_running(&self) -> bool {
        false
    }
}

/// Prints what a command has to say in the wanted format and into every `--out` file. `render` gives `None` for a format
/// that the command does not speak.
pub fn emit(
    command: &str,
    format: Format,
    out: &[OutFile],
    console: &Console,
    render: &dyn Fn(Format, bool) -> Option<String>,
) -> Result<(), Error> {
    let text = |format: Format, colour: bool| {
        render(format, colour).ok_or_else(|| {
            let known: Vec<&str> = Format::ALL.into_iter().filter(|&one| render(one, false).is_some()).map(Format::name).collect();
            Error::Usage(format!("`{command}` has no format {}; it has {}", format.name(), known.join(" and ")))
        })
    };
    let printed = text(format, console.colour_out)?;
    let mut files = Vec::new();
    for file in out {
        files.push((Target::create(&file.path)?, text(file.format, false)?));
    }
    for (mut target, text) in files {
        target.write(&text)?;
    }
    Target::Stdout.write(&printed)
}
