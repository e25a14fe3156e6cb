//! `import`: what recordings hold, and what of them could not be read.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::error::{Error, Exit};
use crate::import::{
    Confidence, Delegation, Detail, ImportError, Imported, Options, Report, Session, Source, Status, import as read, json,
};
use crate::report::Format;

use super::args::{Global, ImportArgs};
use super::console::Console;
use super::guarded;
use super::output::emit;

/// Bad lines and skipped files that the summary names; the JSON has all.
const NAMED: usize = 20;

/// The sources that `--source` takes.
pub fn source_names() -> Vec<&'static str> {
    std::iter::once("auto").chain(Source::ALL.map(Source::name)).collect()
}

/// Reads recordings and prints what they hold.
pub fn import(args: &ImportArgs, global: &Global, console: &Console) -> Result<Exit, Error> {
    let options = Options {
        source: Source::named(&args.source),
        detail: Detail::Summary,
        delegation_tools: args.delegation_tool.clone(),
        ..Options::default()
    };
    let imported = read_recordings(&args.paths, &options)?;
    emit("import", global.format, &global.out, console, &|format, _| match format {
        Format::Human => Some(summary(&imported)),
        Format::Json => Some(json(&imported)),
        _ => None,
    })?;
    let losses = losses(&imported);
    if args.strict && !losses.is_empty() {
        return Err(Error::Input(format!("not everything was read as it should be: {}", losses.join(", "))));
    }
    Ok(Exit::Fine)
}

/// Reads recordings.
///
/// # Errors
/// A path that could not be used, or a report that would be written over one of the files.
pub fn read_recordings(paths: &[PathBuf], options: &Options) -> Result<Imported, Error> {
    let imported = read(paths, options).map_err(refused)?;
    let skipped = || imported.report.skipped_files.iter().map(|file| file.file.as_str());
    for path in paths {
        if path.is_dir() {
            guarded::all_below(path, skipped())?;
        } else {
            guarded::file(path)?;
        }
    }
    guard(&imported)?;
    Ok(imported)
}

/// Reads those of these files that are recordings.
///
/// # Errors
/// As [`read_recordings`]; a file that is no recording is nobody's input.
pub fn read_found(paths: &[PathBuf]) -> Result<Imported, Error> {
    let imported = read(paths, &Options::default()).map_err(refused)?;
    guard(&imported)?;
    Ok(imported)
}

/// What a recording names is read with it, and so is what lies beside it.
fn guard(imported: &Imported) -> Result<(), Error> {
    for session in &imported.sessions {
        guarded::file(Path::new(&session.file))?;
        guarded::file(&Path::new(&session.file).with_extension("meta.json"))?;
    }
    Ok(())
}

/// A path that could not be used.
fn refused(why: ImportError) -> Error {
    match why {
        ImportError::Missing { path } => Error::path("read", &path, std::io::ErrorKind::NotFound.into()),
        ImportError::Unreadable { path, why } => Error::path("read", &path, why),
    }
}

/// What `--strict` does not let pass: everything that was lost, guessed or not understood.
fn losses(imported: &Imported) -> Vec<String> {
    let report = &imported.report;
    let unresolved = imported.sessions.iter().flat_map(|session| &session.delegations).filter(|one| is_lost(one)).count();
    let counts = [
        (report.bad_lines.len() as u64, "bad line"),
        (report.skipped_files.len() as u64, "skipped file"),
        (report.unknown_types.values().sum(), "record of an unknown type"),
        (report.orphans, "orphan"),
        (report.salvaged, "record won from a damaged line"),
        (report.estimated_usage, "response with estimated usage"),
        (unresolved as u64, "delegation without its child"),
    ];
    let losses = counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} × {what}"));
    losses.chain(imported.sessions.is_empty().then(|| "no session at all".to_owned())).collect()
}

/// A delegation that opened a child which was not found.
fn is_lost(one: &Delegation) -> bool {
    one.child_at.is_none() && one.confidence == Confidence::None && matches!(one.status, Status::Completed | Status::Launched)
}

fn summary(imported: &Imported) -> String {
    let mut text = String::new();
    let mut depths: Vec<usize> = Vec::with_capacity(imported.sessions.len());
    for session in &imported.sessions {
        // Parents stand before their children.
        let depth = session.parent_at.and_then(|at| depths.get(at)).map_or(0, |depth| depth + 1);
        depths.push(depth);
        text += &lines(session, depth);
    }
    if imported.sessions.is_empty() {
        text += "no session was found\n";
    }
    text.push('\n');
    text + &report_text(&imported.report)
}

fn lines(session: &Session, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    let version = session.version.as_deref().map_or(String::new(), |version| format!(" {}", visible(version)));
    let agent = session.agent.as_deref().map_or(String::new(), |agent| format!(" · agent {}", visible(agent)));
    let mut text = format!("{indent}{} · {}{version}{agent}\n", visible(&session.id), session.source.name());
    let _ = writeln!(text, "{indent}  {}", figures(session));
    for one in &session.delegations {
        let _ = writeln!(text, "{indent}  {}", delegation(one));
    }
    text
}

fn figures(session: &Session) -> String {
    let tokens = |tokens: Option<u64>| tokens.map_or("unknown".to_owned(), apart);
    let about = if session.spend.estimated { "about " } else { "" };
    let mut text = format!("{} · spend {about}{}", counted(session.responses, "response"), tokens(session.spend.total));
    if !session.delegations.is_empty() {
        let _ = write!(text, " own, {} inclusive", tokens(session.inclusive.total));
        if session.inclusive.unknown_children > 0 {
            let _ = write!(text, " at least (unknown children: {})", apart(session.inclusive.unknown_children));
        }
    }
    let _ = write!(text, " · final context {}", tokens(session.final_context));
    if session.inherited_items > 0 {
        let _ = write!(text, " · {} inherited", counted(session.inherited_items, "item"));
    }
    text
}

fn delegation(one: &Delegation) -> String {
    let child = visible(one.child.as_deref().unwrap_or("no child found"));
    let link = word(&one.link);
    let confidence = word(&one.confidence);
    let status = word(&one.status);
    let title = if one.title.is_empty() { String::new() } else { format!(" · {}", visible(&one.title)) };
    format!("{} -> {child} · {status} · linked by {link} ({confidence}){title}", visible(&one.kind))
}

fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", apart(count), if count == 1 { "" } else { "s" })
}

/// A count with its thousands apart, as in the tables of a report; exact.
fn apart(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A text of a recording for a terminal: what would move the cursor, colour or turn the line is shown as its escape.
fn visible(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || turns(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// The word that the JSON has for a value.
fn word(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).ok();
    value.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn report_text(report: &Report) -> String {
    let mut text = format!("{}, {}\n", counted(report.files, "file"), counted(report.lines, "line"));
    let mut count = |count: u64, what: &str| {
        if count > 0 {
            let _ = writeln!(text, "{} × {what}", apart(count));
        }
    };
    count(report.duplicates, "a record that was there already");
    count(report.orphans, "a record that points at something that is nowhere");
    count(report.unanswered_calls, "a call without a result");
    count(report.salvaged, "a record won from a damaged line");
    count(report.estimated_usage, "a response whose usage is estimated");
    count(report.opaque_items, "an item whose tokens nobody knows");
    for (kind, count) in &report.unknown_types {
        let _ = writeln!(text, "{} × a record of the unknown type `{}`", apart(*count), visible(kind));
    }
    let bad =
        report.bad_lines.iter().map(|line| format!("bad line {}:{}: {}", visible(&line.file), line.line, visible(&line.why))).collect();
    let skipped = report.skipped_files.iter().map(|file| format!("skipped {}: {}", visible(&file.file), visible(&file.why))).collect();
    text + &named(bad, "bad lines") + &named(skipped, "skipped files")
}

fn named(lines: Vec<String>, what: &str) -> String {
    let mut text: String = lines.iter().take(NAMED).map(|line| format!("{line}\n")).collect();
    if lines.len() > NAMED {
        text += &format!("and {} {what} more (--format json names all)\n", apart((lines.len() - NAMED) as u64));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_exact_and_readable() {
        let check = |count: u64, expect: &str| assert_eq!(apart(count), expect);
        check(0, "0");
        check(999, "999");
        check(1_000, "1,000");
        check(123_456, "123,456");
        check(u64::MAX, "18,446,744,073,709,551,615");
    }

    #[test]
    fn nothing_of_a_recording_steers_the_terminal() {
        let check = |text: &str, expect: &str| assert_eq!(visible(text), expect);
        check("Küstenwache 2.1", "Küstenwache 2.1");
        check("red \u{1b}[31m", "red \\u{1b}[31m");
        check("two\nlines\r\t", "two\\nlines\\r\\t");
        check("\u{7f}\u{9b}\u{202e}", "\\u{7f}\\u{9b}\\u{202e}");
    }
}
