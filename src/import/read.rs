//! Reading one file: which source wrote it, and every line of it accounted for.

use std::fs::File;
use std::io::BufReader;

use super::lines::{Line, Lines};
use super::paths::Found;
use super::records::{Found as Won, records};
use super::{BadLine, Format, ImportError, Options, Place, Report, SkippedFile};

/// A source must show itself within this many lines and bytes.
const SNIFFED_LINES: u64 = 2_000;
const SNIFFED_BYTES: u64 = 64 << 20;
const CHUNK: usize = 256 << 10;

/// Reads a file into the format that recognises it; names it in the report if none does.
pub fn file(found: &Found, options: &Options, formats: &mut [Box<dyn Format>], report: &mut Report) -> Result<(), ImportError> {
    match read(found, options, formats, report) {
        Ok(None) => {}
        Ok(Some(why)) => report.skipped_files.push(SkippedFile { file: found.shown.clone(), why }),
        Err(why) if found.asked => return Err(ImportError::Unreadable { path: found.path.clone(), why }),
        Err(why) => report.skipped_files.push(SkippedFile { file: found.shown.clone(), why: format!("cannot be read: {why}") }),
    }
    Ok(())
}

fn read(found: &Found, options: &Options, formats: &mut [Box<dyn Format>], report: &mut Report) -> std::io::Result<Option<String>> {
    if let Some(recording) = sidecar_of(found)
        && recording.path.is_file()
    {
        return sidecar(found, &recording, options, formats, report);
    }
    let format = match options.source {
        Some(source) => formats.iter_mut().find(|format| format.source() == source),
        None => match sniff(found, options, formats)? {
            Ok(at) => formats.get_mut(at),
            Err(why) => return Ok(Some(why)),
        },
    };
    let Some(format) = format else { return Ok(Some("this source cannot be read yet".into())) };
    report.files += 1;
    format.begin(found);
    let mut lines = Lines::new(BufReader::with_capacity(CHUNK, File::open(&found.path)?), options.line_cap);
    loop {
        match lines.next() {
            Ok(None) => return Ok(None),
            Ok(Some(line)) => one_line(found, &line, options, format.as_mut(), report),
            // What was read so far stays.
            Err(error) => {
                let why = format!("the rest of the file cannot be read: {error}");
                report.skipped_files.push(SkippedFile { file: found.shown.clone(), why });
                return Ok(None);
            }
        }
    }
}

fn one_line(found: &Found, line: &Line<'_>, options: &Options, format: &mut dyn Format, report: &mut Report) {
    report.lines += 1;
    let won = match line.bytes {
        None => Won { lost: Some(format!("longer than {} bytes: skipped", options.line_cap)), ..Won::default() },
        Some(bytes) => {
            // Two closures need the format; what one reads and the other changes never meets in time.
            let format = std::cell::RefCell::new((format, &mut *report));
            let looks = |text: &str| format.borrow().0.recognises(text);
            records(bytes, &looks, &mut |text| {
                let (format, report) = &mut *format.borrow_mut();
                format.take(Place { file: found, line: line.number }, text, report)
            })
        }
    };
    account(won, &found.shown, line.number, line.offset, report);
}

fn account(won: Won, file: &str, line: u64, offset: u64, report: &mut Report) {
    let account = &mut report.account;
    if won.blank {
        account.blank_lines += 1;
    } else if won.records > 0 {
        account.record_lines += 1;
    } else {
        account.lost_lines += 1;
    }
    account.records += won.records;
    report.salvaged += won.salvaged;
    if let Some(why) = won.lost {
        report.bad_lines.push(BadLine { file: file.to_owned(), line, offset, why });
    }
}

/// Which format a file is in, or why none.
fn sniff(found: &Found, options: &Options, formats: &[Box<dyn Format>]) -> std::io::Result<Result<usize, String>> {
    let mut lines = Lines::new(BufReader::with_capacity(CHUNK, File::open(&found.path)?), options.line_cap);
    let mut traces = None;
    let mut seen = false;
    while let Some(line) = lines.next()? {
        let Some(bytes) = line.bytes else { continue };
        if line.number == 1 && (bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF")) {
            return Ok(Err("UTF-16 text: convert it to UTF-8".into()));
        }
        seen |= !bytes.trim_ascii().is_empty();
        let mut decided = None;
        let which = |text: &str| formats.iter().position(|format| format.recognises(text));
        records(bytes, &|text| which(text).is_some(), &mut |text| match which(text) {
            Some(at) => {
                decided.get_or_insert(at);
                Ok(None)
            }
            None => Err("not recognised".into()),
        });
        if let Some(at) = decided {
            return Ok(Ok(at));
        }
        traces = traces.or_else(|| formats.iter().position(|format| format.left_traces(bytes)));
        if line.number >= SNIFFED_LINES || line.offset >= SNIFFED_BYTES {
            break;
        }
    }
    Ok(match traces {
        Some(at) => Ok(at),
        None if !seen => Err("empty".into()),
        None => Err("no record of a known format".into()),
    })
}

/// The recording that a file beside it belongs to: `NAME.meta.json` says more about `NAME.jsonl`.
fn sidecar_of(found: &Found) -> Option<Found> {
    let name = found.path.file_name()?.to_str()?.strip_suffix(".meta.json")?;
    let path = found.path.with_file_name(format!("{name}.jsonl"));
    Some(Found { shown: path.to_string_lossy().into_owned(), path, asked: false })
}

fn sidecar(
    found: &Found,
    recording: &Found,
    options: &Options,
    formats: &mut [Box<dyn Format>],
    report: &mut Report,
) -> std::io::Result<Option<String>> {
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(File::open(&found.path)?, options.line_cap as u64 + 1), &mut text)?;
    report.files += 1;
    report.lines += 1;
    report.account.records += 1;
    report.account.beside += 1;
    report.account.record_lines += 1;
    let broken = std::str::from_utf8(&text).err().map(|error| format!("invalid UTF-8 at byte {} of the file", error.valid_up_to()));
    let text = String::from_utf8_lossy(&text);
    let text = text.trim_start_matches('\u{feff}').trim_matches(|c: char| c == '\0' || c.is_whitespace());
    let mut why = "no known source".to_owned();
    for format in formats.iter_mut() {
        match format.take_sidecar(recording, text) {
            Ok(lost) => {
                if let Some(why) = broken.or(lost) {
                    report.bad_lines.push(BadLine { file: found.shown.clone(), line: 1, offset: 0, why });
                }
                return Ok(None);
            }
            Err(reason) => why = reason,
        }
    }
    report.account.records -= 1;
    report.account.beside -= 1;
    report.account.record_lines -= 1;
    report.account.lost_lines += 1;
    report.bad_lines.push(BadLine { file: found.shown.clone(), line: 1, offset: 0, why });
    Ok(None)
}
