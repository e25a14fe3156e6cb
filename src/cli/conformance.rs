//! `conformance`: what real systems did, against what this crate's strategies do.

use serde_json::json;

use crate::conformance::{Failed, Refused, Verdicts, Why, emit as emit_vectors, verify};
use crate::error::{Error, Exit};
use crate::report::Format;

use super::args::{ConformanceArgs, Global};
use super::console::Console;
use super::inputs::read_text;
use super::output::emit;

/// One file's verdicts, or why it has none.
struct Checked {
    file: String,
    verdicts: Result<Verdicts, String>,
}

/// Plays every file. A file that cannot be played is named, and the others still run.
pub fn conformance(args: &ConformanceArgs, global: &Global, console: &Console) -> Result<Exit, Error> {
    if args.emit {
        return emitted(args, global, console);
    }
    let mut checked = Vec::new();
    for path in &args.files {
        let verdicts =
            read_text(path).map_err(|why| why.to_string()).and_then(|text| verify(&text).map_err(|why: Refused| why.to_string()));
        checked.push(Checked { file: path.display().to_string(), verdicts });
    }
    emit("conformance", global.format, &global.out, console, &|format, _| match format {
        Format::Human => Some(told(&checked)),
        Format::Json => serde_json::to_string_pretty(&json!({"format": "ctxbench-conformance-verdicts/1", "files": listed(&checked)}))
            .ok()
            .map(|text| text + "\n"),
        _ => None,
    })?;
    let fails = checked.iter().any(|one| one.verdicts.as_ref().is_ok_and(|verdicts| !verdicts.failed.is_empty()));
    let refused = checked.iter().any(|one| one.verdicts.is_err());
    Ok(match (fails, refused) {
        (true, _) => Exit::Conformance,
        (false, true) => Exit::BadInput,
        (false, false) => Exit::Fine,
    })
}

fn emitted(args: &ConformanceArgs, global: &Global, console: &Console) -> Result<Exit, Error> {
    let mut text = String::new();
    for path in &args.files {
        let read = read_text(path)?;
        text += &emit_vectors(&read).map_err(|why| Error::Input(format!("{}: {why}", path.display())))?;
    }
    emit("conformance --emit", global.format, &global.out, console, &|format, _| match format {
        Format::Human | Format::Json => Some(text.clone()),
        _ => None,
    })?;
    Ok(Exit::Fine)
}

/// For people: a line a failure with its differences, and the sums in the last line.
fn told(checked: &[Checked]) -> String {
    let mut text = String::new();
    let (mut passed, mut failed, mut refused) = (0, 0, 0);
    for one in checked {
        match &one.verdicts {
            Err(why) => {
                refused += 1;
                text += &format!("refused {}: {why}\n", one.file);
            }
            Ok(verdicts) => {
                passed += verdicts.passed;
                failed += verdicts.failed.len();
                for Failed { name, why } in &verdicts.failed {
                    text += &format!("failed {}: {name}\n", one.file);
                    for line in reasons(why) {
                        text += &format!("{}\n", indented(&line));
                    }
                }
            }
        }
    }
    text += &format!("{passed} passed, {failed} failed");
    if refused > 0 {
        text += &format!(", {refused} {} refused", if refused == 1 { "file" } else { "files" });
    }
    text + "\n"
}

fn reasons(why: &Why) -> Vec<String> {
    match why {
        Why::Unplayable(fault) => vec![format!("it cannot be played: {fault}")],
        Why::Differs(differences) => differences.iter().map(ToString::to_string).collect(),
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

fn listed(checked: &[Checked]) -> Vec<serde_json::Value> {
    let failure = |Failed { name, why }: &Failed| match why {
        Why::Unplayable(fault) => json!({"name": name, "fault": fault}),
        Why::Differs(differences) => {
            let places: Vec<_> =
                differences.iter().map(|one| json!({"path": one.path, "expected": one.expected, "got": one.got})).collect();
            json!({"name": name, "differences": places})
        }
    };
    let file = |one: &Checked| match &one.verdicts {
        Err(why) => json!({"file": one.file, "refused": why}),
        Ok(verdicts) => {
            json!({"file": one.file, "passed": verdicts.passed, "failed": verdicts.failed.iter().map(failure).collect::<Vec<_>>()})
        }
    };
    checked.iter().map(file).collect()
}
