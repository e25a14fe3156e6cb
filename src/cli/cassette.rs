//! `cassette`: what recordings of providers hold.

use std::path::Path;

use globset::Glob;

use crate::error::{Error, Exit};
use crate::model::cassette::{Calibration, Cassette, Stat, calibrate, prune, stat, verify};
use crate::report::Format;
use crate::tokens::{Encoding, UnknownName, counter};

use super::args::{CassetteCommand, Global};
use super::console::Console;
use super::output::emit;
use super::provided::open;

/// Looks at cassettes.
pub fn cassette(command: &CassetteCommand, global: &Global, console: &Console) -> Result<Exit, Error> {
    match command {
        CassetteCommand::Verify(args) => verified(&each(&args.files)?, global, console),
        CassetteCommand::Stat(args) => {
            let encoding: Encoding = args.tokenizer.parse().map_err(|why: UnknownName| Error::Usage(why.to_string()))?;
            counted(&each(&args.files)?, encoding, global, console).map(|()| Exit::Fine)
        }
        CassetteCommand::Prune(args) => pruned(&args.file, &args.only, global, console).map(|()| Exit::Fine),
    }
}

fn each(files: &[std::path::PathBuf]) -> Result<Vec<(String, Cassette)>, Error> {
    files.iter().map(|path| Ok((path.display().to_string(), open(path)?))).collect()
}

fn verified(cassettes: &[(String, Cassette)], global: &Global, console: &Console) -> Result<Exit, Error> {
    let found: Vec<(&String, usize, Vec<String>)> =
        cassettes.iter().map(|(path, cassette)| (path, cassette.cells().len(), verify(cassette))).collect();
    let is_sound = found.iter().all(|(_, _, wrong)| wrong.is_empty());
    emit("cassette verify", global.format, &global.out, console, &|format, _| match format {
        Format::Human => Some(found.iter().map(|(path, cells, wrong)| said(path, *cells, wrong)).collect()),
        Format::Json => {
            let files: Vec<_> =
                found.iter().map(|(path, cells, wrong)| serde_json::json!({"file": path, "cells": cells, "wrong": wrong})).collect();
            let whole = serde_json::json!({"format": "ctxbench-cassette-check/1", "files": files});
            serde_json::to_string_pretty(&whole).ok().map(|text| text + "\n")
        }
        _ => None,
    })?;
    Ok(if is_sound { Exit::Fine } else { Exit::BadInput })
}

fn said(path: &str, cells: usize, wrong: &[String]) -> String {
    if wrong.is_empty() {
        return format!("{path}: sound, {cells} cells\n");
    }
    wrong.iter().map(|wrong| format!("{path}: {wrong}\n")).collect()
}

fn counted(cassettes: &[(String, Cassette)], encoding: Encoding, global: &Global, console: &Console) -> Result<(), Error> {
    let counter = counter(encoding);
    // A text that no tokenizer takes is in no request.
    let count = |text: &str| counter.count(text).unwrap_or(0);
    let found: Vec<(&String, &Cassette, Stat, Calibration)> =
        cassettes.iter().map(|(path, cassette)| (path, cassette, stat(cassette), calibrate(cassette, &count))).collect();
    emit("cassette stat", global.format, &global.out, console, &|format, _| match format {
        Format::Human => Some(
            found
                .iter()
                .map(|(path, cassette, stat, calibration)| in_words(path, cassette, stat) + &compared(calibration, encoding))
                .collect::<Vec<_>>()
                .join("\n"),
        ),
        Format::Json => {
            let files: Vec<_> = found
                .iter()
                .map(|(path, cassette, stat, calibration)| {
                    serde_json::json!({"file": path, "head": cassette.head(), "stat": stat,
                                       "calibration": {"tokenizer": encoding.name(), "fit": calibration}})
                })
                .collect();
            let whole = serde_json::json!({"format": "ctxbench-cassette-stat/1", "files": files});
            serde_json::to_string_pretty(&whole).ok().map(|text| text + "\n")
        }
        _ => None,
    })
}

fn in_words(path: &str, cassette: &Cassette, stat: &Stat) -> String {
    let head = cassette.head();
    let asking = &head.asking;
    let known = |count: Option<u64>| count.map_or("unknown".to_owned(), |count| count.to_string());
    let stops: Vec<String> = stat.stops.iter().map(|(how, times)| format!("{how} {times}")).collect();
    let mut lines = vec![
        format!("{path}"),
        format!("  {} of {}, wire {}, recorded {}", asking.model, head.provider, asking.wire.name(), head.recorded),
        format!("  {} rendering, calls made by the {}", asking.rendering.name(), asking.calls.name()),
        format!("  {} cells to their end, {} not", stat.cells, stat.unfinished),
        format!("  {} requests in {} attempts, {} failed, {} ms in all", stat.requests, stat.attempts, stat.failed, stat.ms),
        format!(
            "  reported: {} uncached, {} read, {} written, {} out",
            known(stat.reported.uncached_input),
            known(stat.reported.cache_read),
            known(stat.reported.cache_write),
            known(stat.reported.output)
        ),
    ];
    if !stops.is_empty() {
        lines.push(format!("  ended otherwise: {}", stops.join(", ")));
    }
    if stat.broken_calls > 0 {
        lines.push(format!("  {} calls whose arguments are no JSON", stat.broken_calls));
    }
    lines.join("\n") + "\n"
}

/// Counted against reported input, in words.
fn compared(calibration: &Calibration, encoding: Encoding) -> String {
    let Calibration { requests, counted, reported, factor, mean_error, worst_error, kinds } = calibration;
    let (Some(factor), Some(mean), Some(worst)) = (factor, mean_error, worst_error) else {
        return "  no reply reported its input, so counts cannot be compared\n".to_owned();
    };
    let mut text = format!(
        "  input of {requests} requests: {counted} tokens of {} counted, {reported} reported: factor {factor:.3}\n  \
         error of a request without it: {:.1} % in the mean, {:.1} % at most\n",
        encoding.name(),
        mean * 100.0,
        worst * 100.0
    );
    for (kind, one) in kinds {
        let factor = one.factor.map_or("cannot be told apart".to_owned(), |factor| format!("factor {factor:.3}"));
        text += &format!("    {:<8} {:>9} counted, {factor}\n", format!("{kind:?}").to_lowercase(), one.counted);
    }
    text
}

fn pruned(path: &Path, only: &[String], global: &Global, console: &Console) -> Result<(), Error> {
    let globs = only.iter().map(|glob| Glob::new(glob).map(|glob| glob.compile_matcher()));
    let globs = globs.collect::<Result<Vec<_>, _>>().map_err(|why| Error::Usage(why.to_string()))?;
    // Whoever records into it writes to the file that would be replaced.
    let file = std::fs::File::open(path).map_err(|why| Error::path("read", path, why))?;
    file.try_lock().map_err(|_| Error::Usage(format!("{}: somebody is recording into it: wait for it", path.display())))?;
    let cassette = open(path)?;
    let (text, kept) = prune(&cassette, |cell| globs.is_empty() || globs.iter().any(|glob| glob.is_match(cell)));
    if kept.cells.0 == 0 {
        return Err(Error::Usage(format!("{}: no cell would be left, so nothing was changed", path.display())));
    }
    // Beside it first: whoever is stopped in between has one or the other.
    let beside = path.with_extension("jsonl.new");
    std::fs::write(&beside, text).map_err(|why| Error::path("write", &beside, why))?;
    std::fs::rename(&beside, path).map_err(|why| Error::path("write", path, why))?;
    emit("cassette prune", global.format, &global.out, console, &|format, _| match format {
        Format::Human => Some(format!(
            "{}: kept {} of {} cells, {} of {} requests, {} of {} pieces\n",
            path.display(),
            kept.cells.0,
            kept.cells.1,
            kept.requests.0,
            kept.requests.1,
            kept.pieces.0,
            kept.pieces.1
        )),
        Format::Json => serde_json::to_string_pretty(&kept).ok().map(|text| text + "\n"),
        _ => None,
    })
}
