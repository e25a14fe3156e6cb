//! `run`: scenarios or recordings through strategies.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::error::{Error, Exit};
use crate::plan::{CellId, Plan};
use crate::runner::{Kept, RunDirectory, Sink, Tally, default_jobs, resume};
use crate::strategy::{Registry, Strategy};
use crate::tokens::Meter;

use super::args::{Global, RunArgs};
use super::console::Console;
use super::guarded;
use super::inputs::{Wanted, subjects};
use super::interrupt::Interrupts;
use super::measuring::{Measuring, say_age};
use super::output::{CapEnds, FailFast, JudgesAgree, Progress, ReportSink, Target, not_of_runs};
use super::player::{CASSETTE, LIVE, Player, together};
use super::provided::ProvidedModel;
use super::recording::Recording;

/// Who plays, where `run` alone does not say.
pub enum Playing<'a> {
    /// Whoever was typed.
    Typed,
    /// A model at a provider, into a cassette.
    Recorded(Recording<'a>),
    /// A cassette, of which these cells were recorded to their end.
    Replayed(ProvidedModel, BTreeSet<String>),
}

/// Runs what was typed.
pub fn run(args: &RunArgs, registry: &Registry, global: &Global, console: &Console) -> Result<Exit, Error> {
    run_with(args, Playing::Typed, registry, global, console)
}

/// Runs what was typed with these players.
pub fn run_with(args: &RunArgs, playing: Playing<'_>, registry: &Registry, global: &Global, console: &Console) -> Result<Exit, Error> {
    let measuring = Measuring::of(&args.measure)?;
    let strategies = strategies(&args.strategy, registry)?;
    // Before anything is written.
    if let Some(format) = global.out.iter().map(|out| out.format).chain([global.format]).find(|format| format.report(false).is_none()) {
        return Err(not_of_runs(format));
    }
    let (model, readers) = together(&args.model)?;
    // From here on a signal leaves what is kept as it is, and the exit code says which it was.
    let interrupts = Interrupts::watch()?;
    let Asked { provided, only, purse } = asked(args, playing, &measuring, &interrupts)?;
    let wanted = Wanted {
        size: args.size,
        briefing: args.briefing,
        fallback: args.fallback,
        as_model: measuring.as_model,
        model: provided.as_ref().map_or(model, |provided| Some(if provided.line.is_some() { LIVE } else { CASSETTE })),
        readers: &readers,
        provided: provided.as_ref(),
        console,
    };
    let subjects = subjects(&args.what, &wanted)?;
    let seeds = args.seeds.unwrap_or(1);
    let mut head = measuring.head(args.size, seeds, args.briefing, args.fallback);
    if let Some(provided) = &provided {
        provided.settle(&mut head.settings, measuring.as_model.is_some());
    }
    let mut plan = measuring.plan(head, subjects, strategies)?;
    if let Some(only) = &only {
        only_recorded(&mut plan, only, seeds)?;
    }
    say_age(&measuring.prices, args.measure.prices.is_some(), console);
    plan.left_out().iter().for_each(|line| console.warn(line));
    if plan.is_empty() {
        return Err(Error::Usage("no cell is left to run: give other strategies or other recordings".to_owned()));
    }
    let (directory, kept) = directory(args, &plan, console)?;
    let mut sinks = sinks(directory, &plan, global, console)?;
    if args.fail_fast {
        sinks.push(Box::new(FailFast::new(interrupts.stop.clone())));
    }
    if provided.as_ref().is_some_and(|provided| !provided.judges.is_empty()) && !global.quiet {
        sinks.push(Box::new(JudgesAgree::default()));
    }
    if purse.is_some() {
        sinks.push(Box::new(CapEnds::new(interrupts.stop.clone())));
    }
    // A provider is asked by one cell at a time, unless somebody wants it otherwise.
    let usual = if purse.is_some() { 1 } else { default_jobs() };
    let jobs = args.jobs.and_then(|jobs| usize::try_from(jobs).ok()).unwrap_or(usual);
    let meter = Meter::new(measuring.counter.clone());
    console.info(&format!("{} cells on {jobs} threads", plan.len()));
    let tally = resume(&plan, kept, &meter, jobs, &interrupts.stop, &mut sinks)?;
    let counted = meter.counters();
    console.debug(&format!("the tokenizer was called {} times for {} bytes", counted.calls, counted.bytes_tokenised));
    let misses = provided.as_ref().and_then(|provided| provided.cassette.as_ref()).map_or(vec![], |cassette| cassette.misses());
    if let Some(first) = misses.first() {
        let more = if misses.len() > 1 { format!(" ({} requests in all have no answer)", misses.len()) } else { String::new() };
        return Err(Error::Input(format!("{first}{more}")));
    }
    if let Some(said) = purse.as_ref().and_then(|purse| purse(&tally, &plan)) {
        match said {
            Ok(spent) => console.info(&spent),
            Err(capped) => {
                console.warn(&capped);
                return Ok(interrupts.exit().unwrap_or(Exit::CapReached));
            }
        }
    }
    Ok(verdict(tally, &plan, &interrupts, console))
}

/// Says at the end what was spent; `Err`: that a cap was reached.
type Accounts = Box<dyn Fn(&Tally, &Plan) -> Option<Result<String, String>>>;

/// Who was asked for beside readers, scripts and recordings.
struct Asked {
    provided: Option<ProvidedModel>,
    /// The cells that a replay is of.
    only: Option<BTreeSet<String>>,
    /// What a live run spends; `None`: it is not live.
    purse: Option<Accounts>,
}

fn asked(args: &RunArgs, playing: Playing<'_>, measuring: &Measuring, interrupts: &Interrupts) -> Result<Asked, Error> {
    let recording = match playing {
        Playing::Replayed(provided, only) => return Ok(Asked { provided: Some(provided), only: Some(only), purse: None }),
        Playing::Recorded(recording) => Some(recording),
        Playing::Typed => None,
    };
    if !matches!(args.model.first(), Some(Player::Live { .. })) {
        only_live(args)?;
    }
    match args.model.first() {
        Some(Player::Cassette(name)) => Ok(Asked { provided: Some(ProvidedModel::of_cassette(name, measuring)?), only: None, purse: None }),
        Some(Player::Live { .. }) => {
            if measuring.child_model.is_some() {
                let why = "a live model plays children too: --child-model is for simulated and held runs";
                return Err(Error::Usage(why.to_owned()));
            }
            live(args, recording, measuring, interrupts)
        }
        _ => Ok(Asked { provided: None, only: None, purse: None }),
    }
}

#[cfg(feature = "live")]
fn live(args: &RunArgs, recording: Option<Recording<'_>>, measuring: &Measuring, interrupts: &Interrupts) -> Result<Asked, Error> {
    let (provided, purse) = super::recording::live(args, recording, measuring, &interrupts.stop)?;
    let accounts: Accounts = Box::new(move |tally, plan| {
        if !purse.is_reached() {
            return Some(Ok(purse.said()));
        }
        Some(Err(format!("the spending cap ended the run after {} of {} cells; {}", tally.done, plan.len(), purse.said())))
    });
    Ok(Asked { provided: Some(provided), only: None, purse: Some(accounts) })
}

#[cfg(not(feature = "live"))]
fn live(_: &RunArgs, recording: Option<Recording<'_>>, _: &Measuring, _: &Interrupts) -> Result<Asked, Error> {
    let lost = recording.map_or(String::new(), |Recording { path, .. }| format!(", and {} was not written", path.display()));
    Err(Error::Usage(format!("this ctxbench was built without the feature `live`, so it asks no provider{lost}: replay a cassette")))
}

/// That nothing was typed which only a provider could follow.
pub fn only_live(args: &RunArgs) -> Result<(), Error> {
    let live = &args.live;
    let typed = [
        (!live.judge.is_empty(), "--judge"),
        (live.max_usd.is_some(), "--max-usd"),
        (live.max_tokens.is_some(), "--max-tokens"),
        (live.base_url.is_some(), "--base-url"),
        (live.key_file.is_some(), "--key-file"),
        (live.wire.is_some(), "--wire"),
        (live.temperature.is_some(), "--temperature"),
        (live.stream, "--stream"),
        (!live.field.is_empty(), "--field"),
    ];
    match typed.into_iter().find(|(is_typed, _)| *is_typed) {
        None => Ok(()),
        Some((_, flag)) => {
            Err(Error::Usage(format!("{flag} is for models at providers: give --model live:PROVIDER/NAME, or leave it out")))
        }
    }
}

/// Leaves what was recorded. Of what is left, every seed must be there.
fn only_recorded(plan: &mut Plan, only: &BTreeSet<String>, seeds: u64) -> Result<(), Error> {
    let row = |id: &CellId| format!("{}/{}", id.scenario_piece(), id.strategy.replace('/', "+"));
    let begins = |row: &str| (0..seeds).any(|seed| only.contains(&format!("{row}/{seed}")));
    plan.retain(|id| begins(&row(id)));
    let missing: Vec<String> =
        plan.cells().map(|cell| format!("{}/{}", row(&cell.id), cell.id.seed)).filter(|name| !only.contains(name)).collect();
    match missing.first() {
        None => Ok(()),
        Some(first) => Err(Error::Input(format!(
            "{} cells of the cassette were not recorded to their end, {first} first: record again to go on, or name fewer scenarios, \
             strategies or seeds",
            missing.len()
        ))),
    }
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
