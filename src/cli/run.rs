//! `run`: scenarios or recordings through strategies.

use std::sync::Arc;

use crate::error::{Error, Exit};
use crate::plan::Plan;
use crate::runner::{Kept, RunDirectory, Sink, Tally, default_jobs, resume};
use crate::strategy::{Registry, Strategy};
use crate::tokens::Meter;

use super::args::{Global, RunArgs};
use super::console::Console;
use super::guarded;
use super::inputs::{Wanted, subjects};
use super::interrupt::Interrupts;
use super::measuring::{Measuring, say_age};
use super::output::{FailFast, Progress, ReportSink, Target, not_of_runs};
use super::player::together;

/// Runs what was typed.
pub fn run(args: &RunArgs, registry: &Registry, global: &Global, console: &Console) -> Result<Exit, Error> {
    let measuring = Measuring::of(&args.measure)?;
    let strategies = strategies(&args.strategy, registry)?;
    // Before anything is written.
    if let Some(format) = global.out.iter().map(|out| out.format).chain([global.format]).find(|format| format.report(false).is_none()) {
        return Err(not_of_runs(format));
    }
    let (model, readers) = together(&args.model)?;
    let wanted = Wanted {
        size: args.size,
        briefing: args.briefing,
        fallback: args.fallback,
        as_model: measuring.as_model,
        model,
        readers: &readers,
        console,
    };
    let subjects = subjects(&args.what, &wanted)?;
    let head = measuring.head(args.size, args.seeds, args.briefing, args.fallback);
    let plan = measuring.plan(head, subjects, strategies)?;
    say_age(&measuring.prices, args.measure.prices.is_some(), console);
    plan.left_out().iter().for_each(|line| console.warn(line));
    if plan.is_empty() {
        return Err(Error::Usage("no cell is left to run: give other strategies or other recordings".to_owned()));
    }
    // From here on a signal leaves what is kept as it is, and the exit code says which it was.
    let interrupts = Interrupts::watch()?;
    let (directory, kept) = directory(args, &plan, console)?;
    let mut sinks = sinks(directory, &plan, global, console)?;
    if args.fail_fast {
        sinks.push(Box::new(FailFast::new(interrupts.stop.clone())));
    }
    let jobs = args.jobs.and_then(|jobs| usize::try_from(jobs).ok()).unwrap_or_else(default_jobs);
    let meter = Meter::new(measuring.counter.clone());
    console.info(&format!("{} cells on {jobs} threads", plan.len()));
    let tally = resume(&plan, kept, &meter, jobs, &interrupts.stop, &mut sinks)?;
    let counted = meter.counters();
    console.debug(&format!("the tokenizer was called {} times for {} bytes", counted.calls, counted.bytes_tokenised));
    Ok(verdict(tally, &plan, &interrupts, console))
}

fn verdict(tally: Tally, plan: &Plan, interrupts: &Interrupts, console: &Console) -> Exit {
    if let Some(exit) = interrupts.exit() {
        console.warn(&format!("stopped after {} of {} cells", tally.done, plan.len()));
        return exit;
    }
    if tally.failed > 0 {
        let rest = if tally.done < plan.len() { format!("; {} were not run", plan.len() - tally.done) } else { String::new() };
        console.warn(&format!("{} of {} cells failed against their scenarios' expectation{rest}", tally.failed, tally.done));
        return Exit::CellFailed;
    }
    Exit::Fine
}

/// The strategies of these specs, each once however it was written; none: the default rows.
pub fn strategies(specs: &[String], registry: &Registry) -> Result<Vec<Arc<dyn Strategy>>, Error> {
    if specs.is_empty() {
        return Ok(registry.default_rows().iter().map(|choice| choice.build()).collect());
    }
    let mut strategies: Vec<Arc<dyn Strategy>> = Vec::new();
    for spec in specs {
        let choices = registry.parse(spec).map_err(|why| Error::Usage(why.to_string()))?;
        for strategy in choices.iter().map(|choice| choice.build()) {
            // A profile or an option that is the default may be written out or not.
            if strategies.iter().all(|known| known.id() != strategy.id()) {
                strategies.push(strategy);
            }
        }
    }
    Ok(strategies)
}

/// The run directory, if one is wanted, with the cells that it holds already.
fn directory(args: &RunArgs, plan: &Plan, console: &Console) -> Result<(Option<RunDirectory>, Kept), Error> {
    let Some(folder) = &args.run_dir else { return Ok((None, Kept::default())) };
    guarded::run_folder(folder)?;
    if !args.resume {
        return Ok((Some(RunDirectory::create(folder, plan)?), Kept::default()));
    }
    let (directory, kept) = RunDirectory::resume(folder, plan)?;
    console.info(&format!("{} of {} cells are kept in {}", kept.cells(), plan.len(), folder.display()));
    if kept.dropped() > 0 {
        let (dropped, folder) = (kept.dropped(), folder.display());
        console.warn(&format!("{dropped} cells of {folder} were not whole in all of its files: they are run again"));
    }
    Ok((Some(directory), kept))
}

/// Files are opened before anything is run.
fn sinks<'a>(directory: Option<RunDirectory>, plan: &Plan, global: &Global, console: &Console) -> Result<Vec<Box<dyn Sink + 'a>>, Error> {
    let mut sinks: Vec<Box<dyn Sink>> = Vec::new();
    if let Some(directory) = directory {
        sinks.push(Box::new(directory));
    }
    for file in &global.out {
        sinks.push(Box::new(ReportSink::new(file.format, false, plan.head(), Target::create(&file.path)?)?));
    }
    sinks.push(Box::new(ReportSink::new(global.format, console.colour_out, plan.head(), Target::Stdout)?));
    if console.shows_progress() {
        sinks.push(Box::new(Progress::default()));
    }
    Ok(sinks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strategy_is_taken_once_however_it_is_written() {
        let check = |specs: &[&str], expect: &[&str]| {
            let specs: Vec<String> = specs.iter().map(|spec| (*spec).to_owned()).collect();
            let strategies = strategies(&specs, &Registry::builtin()).unwrap();
            assert_eq!(strategies.iter().map(|one| one.id()).collect::<Vec<_>>(), expect, "{specs:?}");
        };
        check(&["inline", "inline"], &["inline@1"]);
        check(&["codex-v2", "inline", "codex-v2@0.171"], &["codex-v2@0.171", "inline@1"]);
        check(&["full-copy:in_flight=drop-call", "full-copy"], &["full-copy@1"]);
        // A profile that is the default may be written out.
        check(&["deerflow@v1", "maf-python", "deerflow@v1", "maf-python@1.23.0"], &["deerflow@v1", "maf-python@1.23.0"]);
        let rows = strategies(&[], &Registry::builtin()).unwrap();
        let names: std::collections::BTreeSet<String> = rows.iter().map(|row| row.id()).collect();
        assert_eq!(names.len(), rows.len(), "the default rows are no doubles");
    }
}
