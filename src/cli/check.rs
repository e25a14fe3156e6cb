//! `check`: cells against budgets.toml and against what budgets.lock has accepted.

use std::path::{Path, PathBuf};

use crate::check::{
    About, Allowance, Budgets, Checked, Given, Lock, MeasuredCell, Pattern, Patterns, Selection, Terms, Trouble, Typed, Verdict, accept,
    judge, parse_budgets,
};
use crate::error::nearest::suggestion;
use crate::error::{Error, Exit};
use crate::plan::CellId;
use crate::report::{Format, accepted as accepted_report, checked as report, exit_line, last_line};
use crate::strategy::Registry;
use crate::tokens::Encoding;

use super::args::{BudgetArgs, CheckArgs, Global};
use super::budgeted::{Gathered, Seeds, gather};
use super::console::Console;
use super::guarded;
use super::inputs::read_text;
use super::lock_file::{Merged, lock_path, new_path, read_lock, remove_new, write_whole};
use super::metric_names::metrics_named;
use super::output::emit;

/// Checks, or accepts. The last line names the exit code, whatever it is.
pub fn check(args: &CheckArgs, registry: &Registry, global: &Global, console: &Console) -> Exit {
    match done(args, registry, global, console) {
        Ok(exit) => exit,
        Err(Error::Closed) => Exit::Fine,
        Err(error) => {
            console.error(&error);
            let exit = error.exit();
            console.last(&exit_line(exit));
            exit
        }
    }
}

fn done(args: &CheckArgs, registry: &Registry, global: &Global, console: &Console) -> Result<Exit, Error> {
    only_is_readable(args)?;
    let lock = lock_path(&args.files);
    [&budgets_path(&args.files), &lock, &new_path(&lock)].into_iter().try_for_each(|own| guarded::file(own))?;
    let locked = is_locked(&args.files);
    if args.accept && locked {
        return Err(Error::Usage("CI is set, so nothing is written: accept on your own machine, and commit the lock".to_owned()));
    }
    let merged = if args.accept && args.only.is_empty() && args.metric.is_none() { Merged::Taken } else { Merged::Refused };
    let (checked, lock, cells) = match checked(&args.files, &args.what, merged, args.jobs, registry, console)? {
        Ok(whole) => whole,
        Err(exit) => {
            console.last(&exit_line(exit));
            return Ok(exit);
        }
    };
    if args.accept {
        let selection = selection(args, registry, &checked)?;
        return accepted(args, &checked, lock.as_ref(), &cells, &selection, global, console);
    }
    emit("check", global.format, &global.out, console, &|format, colour| report(&checked, format, colour))?;
    if !locked && args.files.against.is_none() {
        leave_new_lock(args, &checked, lock.as_ref(), &cells, console)?;
    }
    if global.format != Format::Human {
        console.last(&last_line(&checked));
    }
    Ok(checked.exit())
}

/// Whether what cannot be compared fails and nothing is written: typed, or in a build that says that it is one.
pub fn is_locked(files: &BudgetArgs) -> bool {
    let ci = std::env::var("CI").unwrap_or_default();
    files.locked || !matches!(ci.to_ascii_lowercase().as_str(), "" | "0" | "false" | "no")
}

/// A check with the lock and the cells that it was made of.
pub type Whole = (Checked, Option<Lock>, Vec<MeasuredCell>);

/// Gathers the cells and holds them to the budgets. `Err`: a signal stopped it.
pub fn checked(
    files: &BudgetArgs,
    what: &[String],
    merged: Merged,
    jobs: Option<u64>,
    registry: &Registry,
    console: &Console,
) -> Result<Result<Whole, Exit>, Error> {
    let budgets = match budgets(files, registry, console)? {
        Ok(budgets) => budgets,
        Err(nothing) => return Ok(Ok((*nothing, None, vec![]))),
    };
    let (lock, lock_file) = read_lock(files, merged)?;
    let Gathered { cells, tokenizers, choice } = match gather(what, &budgets, Seeds::First, jobs, registry, console)? {
        Ok(gathered) => gathered,
        Err(exit) => return Ok(Err(exit)),
    };
    let about = about(files, what, &budgets.tokenizer, lock_file, lock.is_some());
    if let Some(other) = tokenizers.iter().find(|name| **name != budgets.tokenizer) {
        let message = format!(
            "the run counts with {other}, {} wants {}: tokens of two encodings cannot be compared. Run again with --tokenizer {}, or \
             write tokenizer = \"{other}\"",
            budgets.file, budgets.tokenizer, budgets.tokenizer
        );
        let trouble = Trouble { exit: Exit::NotComparable, line: None, message };
        return Ok(Ok((Checked::of_nothing(about, trouble), lock, vec![])));
    }
    let typed = Typed { grow: files.grow, drop: files.drop };
    let checked = judge(&cells, Terms { budgets: &budgets, lock: lock.as_ref(), typed, choice: &choice }, about);
    Ok(Ok((checked, lock, cells)))
}

/// What a check of these files is made with.
pub fn about(files: &BudgetArgs, what: &[String], tokenizer: &str, lock_file: String, has_lock: bool) -> About {
    About {
        tokenizer: tokenizer.to_owned(),
        locked: is_locked(files),
        strict: files.strict,
        budgets_file: budgets_path(files).display().to_string(),
        lock_file,
        has_lock,
        given: given(files, what),
    }
}

/// What was typed that the commands of a report need again.
fn given(files: &BudgetArgs, what: &[String]) -> Given {
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let allowance = |allowance: Option<Allowance>| allowance.map(|allowance| allowance.to_string());
    let values = [
        ("--budgets", path(&files.budgets)),
        ("--lock", path(&files.lock)),
        ("--against", files.against.clone()),
        ("--grow", allowance(files.grow)),
        ("--drop", allowance(files.drop)),
    ];
    let values = values.into_iter().filter(|(_, value)| value.is_some());
    let flags = files.strict.then_some(("--strict", None));
    let options = values.chain(flags).map(|(name, value)| (name.to_owned(), value)).collect();
    Given { what: what.to_vec(), are_runs: what.iter().any(|one| Path::new(one).join("run.json").is_file()), options }
}

/// The budgets; without a file at the usual place, a check of nothing.
fn budgets(files: &BudgetArgs, registry: &Registry, console: &Console) -> Result<Result<Budgets, Box<Checked>>, Error> {
    let path = budgets_path(files);
    if files.budgets.is_none() && !path.exists() {
        let message = format!("there is no {} here, so nothing was checked. To begin with:\n\n{}", path.display(), crate::check::STARTER);
        let trouble = Trouble { exit: Exit::NothingChecked, line: None, message };
        let lock = lock_path(files);
        let about = about(files, &[], Encoding::default().name(), lock.display().to_string(), lock.exists());
        let nothing = Checked::of_nothing(about, trouble);
        return Ok(Err(Box::new(nothing)));
    }
    budgets_of(files, registry, console).map(Ok)
}

/// The budgets; that there are none is an error.
pub fn budgets_of(files: &BudgetArgs, registry: &Registry, console: &Console) -> Result<Budgets, Error> {
    let path = budgets_path(files);
    let text = read_text(&path)?;
    let budgets = parse_budgets(&text, &path.display().to_string(), registry);
    budgets.map_err(|errors| Error::Input(format!("nothing was checked because of this:\n\n{}", errors.render(console.colour_err))))
}

/// Where the budgets are.
fn budgets_path(files: &BudgetArgs) -> PathBuf {
    files.budgets.clone().unwrap_or_else(|| PathBuf::from("budgets.toml"))
}

/// That what was typed of a selection can be read, before anything is run. A cell's id may hold any characters.
fn only_is_readable(args: &CheckArgs) -> Result<(), Error> {
    metrics_named(args.metric.as_slice())?;
    let mut globs = args.only.iter().filter(|text| text.parse::<CellId>().is_err());
    globs.try_for_each(|text| Pattern::parse(text, &|name| Ok(vec![name.to_owned()])).map(drop)).map_err(not_only)
}

fn not_only(why: String) -> Error {
    Error::Usage(format!("--only: {why}"))
}

/// What is to be accepted. A cell's own id means that cell, though it may look like a glob.
fn selection(args: &CheckArgs, registry: &Registry, checked: &Checked) -> Result<Selection, Error> {
    // A plain id may leave out what cells' ids write out: the profile, say.
    let whole = |name: &str| {
        let id: Option<CellId> = name.parse().ok();
        let whole = id.and_then(|id| {
            let strategy = registry.parse(&id.strategy).ok()?.first()?.build().id();
            Some(CellId { strategy, ..id }.to_string())
        });
        whole.unwrap_or_else(|| name.to_owned())
    };
    let is_there = |name: &str| checked.rows.iter().any(|row| row.cell == name);
    let pattern = |text: &String| match [text.clone(), whole(text)].into_iter().find(|name| is_there(name)) {
        Some(name) => Ok(Pattern::exact(text, &name)),
        None => Pattern::parse(text, &|name| Ok(vec![whole(name)])),
    };
    let patterns = args.only.iter().map(pattern).collect::<Result<Vec<Pattern>, String>>().map_err(not_only)?;
    Ok(Selection { cells: (!patterns.is_empty()).then(|| Patterns::new(patterns)), metric: args.metric.clone() })
}

fn accepted(
    args: &CheckArgs,
    checked: &Checked,
    lock: Option<&Lock>,
    cells: &[MeasuredCell],
    selection: &Selection,
    global: &Global,
    console: &Console,
) -> Result<Exit, Error> {
    let path = lock_path(&args.files);
    let nothing = checked.troubles.iter().any(|trouble| trouble.exit == Exit::NothingChecked);
    if nothing {
        return not_accepted("nothing was accepted, because of the errors above".to_owned(), checked, global, console);
    }
    let done = accept(lock, cells, checked, selection).map_err(|why| Error::Usage(why.to_string()))?;
    let cells_there: Vec<&str> = checked.rows.iter().map(|row| row.cell.as_str()).collect();
    let idle = selection.cells.iter().flat_map(|cells| cells.idle(&cells_there)).next();
    if let Some(idle) = idle.filter(|_| args.only.len() > 1) {
        return not_accepted(format!("--only {idle} matches no figure that the budgets name"), checked, global, console);
    }
    if done.selected == 0 {
        let named =
            args.only.iter().map(|only| format!("--only {only}")).chain(args.metric.iter().map(|metric| format!("--metric {metric}")));
        let named = named.collect::<Vec<_>>().join(" ");
        let near = checked.rows.iter().map(|row| row.cell.as_str());
        let near = args.only.iter().map(|only| suggestion(only, near.clone())).find(|near| !near.is_empty()).unwrap_or_default();
        let message = format!("{named} matches no figure that the budgets name{near}");
        return not_accepted(message, checked, global, console);
    }
    guarded::reports()?;
    // A lock of nothing is no lock.
    let is_empty = lock.is_none() && done.lock.cells.is_empty();
    if lock != Some(&done.lock) && !is_empty {
        write_whole(&path, &done.lock.text())?;
    }
    remove_new(&path);
    let lock_file = path.display().to_string();
    emit("check --accept", global.format, &global.out, console, &|format, _| accepted_report(&done, checked, &lock_file, format))?;
    if global.format != Format::Human {
        console.last(&exit_line(done.exit()));
    }
    Ok(done.exit())
}

/// Says why nothing was accepted, behind what was checked.
fn not_accepted(message: String, checked: &Checked, global: &Global, console: &Console) -> Result<Exit, Error> {
    let mut checked = checked.clone();
    checked.troubles.push(Trouble { exit: Exit::NothingChecked, line: None, message });
    emit("check --accept", global.format, &global.out, console, &|format, colour| report(&checked, format, colour))?;
    if global.format != Format::Human {
        console.last(&last_line(&checked));
    }
    Ok(checked.exit())
}

/// Leaves what accepting would write beside the lock, where anything is new, gone or stale.
fn leave_new_lock(
    args: &CheckArgs,
    checked: &Checked,
    lock: Option<&Lock>,
    cells: &[MeasuredCell],
    console: &Console,
) -> Result<(), Error> {
    let path = lock_path(&args.files);
    let differs = [Verdict::New, Verdict::Gone, Verdict::Stale];
    let wanted = checked.rows.iter().any(|row| row.verdicts.iter().any(|verdict| differs.contains(verdict)));
    if !wanted {
        remove_new(&path);
        return Ok(());
    }
    let Ok(done) = accept(lock, cells, checked, &Selection::all()) else { return Ok(()) };
    let new = new_path(&path);
    // A check is worth its verdict where nothing can be written, too.
    match write_whole(&new, &done.lock.text()) {
        Ok(()) => console.info(&format!("{} holds what `ctxbench check --accept` would write", new.display())),
        Err(why) => console.warn(&format!("{why}: what `ctxbench check --accept` would write is not kept")),
    }
    Ok(())
}
