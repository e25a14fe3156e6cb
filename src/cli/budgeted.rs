//! The cells that budgets are about: read from run directories, or run now.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;
use std::path::Path;
use std::sync::Arc;

use crate::check::{Budget, Budgets, Choice, MeasuredCell, Pattern, Patterns, measured_cell};
use crate::error::{Error, Exit};
use crate::model::reader::ReaderProfile;
use crate::plan::CellId;
use crate::results::{CellResult, LedgerLine, PartLine, PartName, RequestLine};
use crate::runner::{CellRecord, Sink, Threads, default_jobs, play, run};
use crate::scenario::{Briefing, Fallback, Size, builtin_names};
use crate::strategy::{Registry, Strategy};
use crate::tokens::Meter;

use super::console::Console;
use super::each_cell::EachCell;
use super::inputs::{Wanted, offered};
use super::interrupt::Interrupts;
use super::measuring::Measuring;
use super::output::Progress;
use super::player::Player;
use super::run_folder::{Lines, progress, tokenizer_of};

/// Cells, and the encodings that they were counted in.
#[derive(Debug, Default)]
pub struct Gathered {
    /// The cells that a budget names.
    pub cells: Vec<MeasuredCell>,
    /// The encodings.
    pub tokenizers: BTreeSet<String>,
    /// What budgets chose from.
    pub choice: Choice,
}

impl Gathered {
    /// Puts what was gathered elsewhere to it.
    pub fn add(&mut self, other: Gathered) {
        self.cells.extend(other.cells);
        self.tokenizers.extend(other.tokenizers);
        self.choice.scenarios.extend(other.choice.scenarios);
    }
}

/// Which seeds of a scenario are run.
#[derive(Clone, Copy, Debug)]
pub enum Seeds {
    /// The first, as budgets want it.
    First,
    /// This one.
    One(u64),
}

/// The cells that budgets name: of run directories, or run now. `Err`: a signal stopped it, which means this exit code.
pub fn gather(
    what: &[String],
    budgets: &Budgets,
    seeds: Seeds,
    jobs: Option<u64>,
    registry: &Registry,
    console: &Console,
) -> Result<Result<Gathered, Exit>, Error> {
    let is_run = |one: &String| Path::new(one).join("run.json").is_file();
    if !what.iter().any(is_run) {
        return run_now(what, budgets, seeds, jobs, registry, console);
    }
    if let Some(other) = what.iter().find(|one| !is_run(one)) {
        return Err(Error::Usage(format!("{other} is no folder of a run, others are: check them apart")));
    }
    let mut gathered = Gathered::default();
    let mut names = BTreeSet::new();
    for folder in what {
        // What a run has not reached yet is not gone.
        if let Some(lack) = progress(Path::new(folder))?.lack(Path::new(folder)) {
            return Err(Error::Input(lack));
        }
        let read = read_run(Path::new(folder), budgets)?;
        if let Some(twice) = read.cells.iter().find(|cell| !names.insert(cell.result.cell.clone())) {
            return Err(Error::Usage(format!("{} stands there twice: check runs of the same cells apart", twice.result.cell)));
        }
        gathered.add(read);
    }
    Ok(Ok(gathered))
}

/// Budgets that name one cell and no figure: for reading or running it.
pub fn named_cell(id: &CellId, tokenizer: &str) -> Budgets {
    let one = |name: &str| Patterns::new(vec![Pattern::exact(name, name)]);
    let budget = Budget {
        line: 0,
        scenario: one(&id.scenario_piece()),
        strategy: one(&id.strategy),
        model: one(&id.model),
        why: None,
        metrics: vec![],
    };
    Budgets { file: String::new(), tokenizer: tokenizer.to_owned(), grow: None, drop: None, budgets: vec![budget] }
}

/// Reads a run's folder cell by cell; what no budget names is passed over.
pub fn read_run(folder: &Path, budgets: &Budgets) -> Result<Gathered, Error> {
    let mut gathered = Gathered { tokenizers: BTreeSet::from([tokenizer_of(folder)?]), ..Gathered::default() };
    // Of all parts, only the tools' schemas are of use, for their names.
    let mut tools = BTreeSet::new();
    for line in Lines::<RequestLine>::open(&folder.join("threads/requests.jsonl"))? {
        tools.extend(line?.tools);
    }
    let mut parts = BTreeMap::new();
    for line in Lines::<PartLine>::open(&folder.join("threads/parts.jsonl"))? {
        let line = line?;
        if tools.contains(&line.digest) {
            parts.insert(line.digest, line);
        }
    }
    let mut ledger = Lines::<LedgerLine>::open(&folder.join("ledger.jsonl"))?.peekable();
    let mut requests = Lines::<RequestLine>::open(&folder.join("threads/requests.jsonl"))?.peekable();
    for result in Lines::<CellResult>::open(&folder.join("results.jsonl"))? {
        let result = result?;
        let ledger = of_cell(&mut ledger, &result.cell, |line| &line.cell)?;
        let requests = of_cell(&mut requests, &result.cell, |line| &line.cell)?;
        let id: CellId = result.cell.parse().map_err(|why| Error::Input(format!("{}: {why}", folder.display())))?;
        let sent: u64 = result.threads.iter().map(|thread| thread.requests).sum();
        if ledger.len() as u64 != sent || requests.len() != ledger.len() {
            return Err(Error::Input(format!(
                "{}: of {} not every request is there ({sent} were sent, {} stand in ledger.jsonl, {} in threads/requests.jsonl): the run \
                 was killed or its files were changed. `ctxbench run --resume` with the same arguments completes it",
                folder.display(),
                result.cell,
                ledger.len(),
                requests.len()
            )));
        }
        gathered.choice.scenarios.insert(id.scenario_piece());
        if budgets.budgets.iter().any(|budget| budget.names(&id)) {
            let cell = measured_cell(result, &ledger, &requests, &parts);
            gathered.cells.push(cell.map_err(|why| Error::Input(format!("{}: {why}", folder.display())))?);
        }
    }
    Ok(gathered)
}

/// The lines of a cell: they stand in a row, in the order of the cells.
fn of_cell<T>(
    lines: &mut Peekable<impl Iterator<Item = Result<T, Error>>>,
    cell: &str,
    name: impl Fn(&T) -> &str,
) -> Result<Vec<T>, Error> {
    let mut of_cell = Vec::new();
    while let Some(line) = lines.next_if(|line| line.as_ref().map_or(true, |line| name(line) == cell)) {
        of_cell.push(line?);
    }
    Ok(of_cell)
}

/// What is compiled and played alike.
#[derive(Clone, Debug, PartialEq)]
struct Setting {
    size: Size,
    briefing: Briefing,
    fallback: Option<Fallback>,
    /// Who plays scenarios.
    player: Player,
}

/// Runs the cells that budgets name: of the built-in suite, of ./scenarios and of what was given.
fn run_now(
    what: &[String],
    budgets: &Budgets,
    seeds: Seeds,
    jobs: Option<u64>,
    registry: &Registry,
    console: &Console,
) -> Result<Result<Gathered, Exit>, Error> {
    let measuring = Measuring::usual(&budgets.tokenizer)?;
    let interrupts = Interrupts::watch()?;
    let meter = Meter::new(measuring.counter.clone());
    let jobs = jobs.and_then(|jobs| usize::try_from(jobs).ok()).unwrap_or_else(default_jobs);
    let strategies = strategies(budgets, registry);
    let mut gathered = Gathered { tokenizers: BTreeSet::from([budgets.tokenizer.clone()]), ..Gathered::default() };
    let mut names = BTreeSet::new();
    gathered.choice.suite = builtin_names();
    for setting in settings(budgets) {
        let Setting { size, briefing, fallback, ref player } = setting;
        let (model, readers) = match player {
            Player::Script | Player::Held | Player::Cassette(_) | Player::Live { .. } => (Some(player.name()), vec![]),
            // Recordings are played by what they hold, whoever reads scenarios.
            Player::Reader(profile) => (None, vec![*profile]),
        };
        let wanted = Wanted { size, briefing, fallback, as_model: measuring.as_model, model, readers: &readers, provided: None, console };
        let subjects = offered(what, &wanted, &|name| is_wanted(name, &setting, budgets))?;
        let own = subjects.iter().filter(|subject| !gathered.choice.suite.contains(&subject.id.as_str()));
        gathered.choice.scenarios.extend(own.map(|subject| subject.id.clone()));
        let head = measuring.head(size, 1, briefing, fallback);
        let mut plan = measuring.plan(head, subjects, strategies.clone())?;
        // A recording has no size, brief or fallback: it would be run under each.
        plan.retain(|id| budgets.budgets.iter().any(|budget| budget.names(id)) && names.insert(id.to_string()));
        if let Seeds::One(seed) = seeds {
            for cell in plan.cells_of_seed(seed) {
                gathered.cells.push(of_record(&play(&cell, &meter, true))?);
            }
            continue;
        }
        let mut cells = Vec::new();
        let take = |record: &CellRecord| of_record(record).map(|cell| cells.push(cell));
        let mut sinks: Vec<Box<dyn Sink + '_>> = vec![Box::new(EachCell { with_threads: true, take })];
        if console.shows_progress() {
            sinks.push(Box::new(Progress::default()));
        }
        run(&plan, &meter, jobs, &interrupts.stop, &mut sinks)?;
        drop(sinks);
        gathered.cells.extend(cells);
        if let Some(exit) = interrupts.exit() {
            console.warn("stopped: nothing was checked");
            return Ok(Err(exit));
        }
    }
    Ok(Ok(gathered))
}

/// Whether a budget may name a scenario in this setting.
fn is_wanted(name: &str, setting: &Setting, budgets: &Budgets) -> bool {
    let Setting { size, briefing, fallback, .. } = *setting;
    let none = String::new;
    let id = |fallback| CellId { scenario: name.to_owned(), size, briefing, fallback, strategy: none(), model: none(), seed: 0 };
    // A fallback that is the scenario's own is not written in its cells' ids.
    let pieces = [id(fallback).scenario_piece(), id(None).scenario_piece()];
    budgets.budgets.iter().any(|budget| pieces.iter().any(|piece| budget.scenario.is_match(piece)))
}

/// The sizes, briefs, fallbacks and players that the budgets name, each once. Players of the same scenario are settings of
/// their own.
fn settings(budgets: &Budgets) -> Vec<Setting> {
    let mut settings: Vec<Setting> = Vec::new();
    for budget in &budgets.budgets {
        let texts: Vec<&str> = budget.scenario.texts().collect();
        let texts = if texts.is_empty() { vec!["*"] } else { texts };
        let named: Vec<Player> = budget.model.exact().filter_map(|model| model.parse().ok()).collect();
        let is_ideal = |player: &Player| *player == Player::Reader(ReaderProfile::default());
        // Whoever is not named plays as usual: the ideal reader, and recordings.
        let others = budget.model.texts().count() != named.len() || named.is_empty();
        let usual = (others || named.iter().any(|player| is_ideal(player) || *player == Player::Held))
            .then_some(Player::Reader(ReaderProfile::default()));
        // What a provider says differs from day to day: a check holds runs of such models by their folders.
        let special = named.into_iter().filter(|player| matches!(player, Player::Reader(_) | Player::Script) && !is_ideal(player));
        let players: Vec<Player> = usual.into_iter().chain(special).collect();
        for text in texts {
            // Read as the scenario's piece of a cell id: the marks at its end are the setting.
            let Ok(id) = format!("{}/s/m/0", text.replace('/', "+")).parse::<CellId>() else { continue };
            for player in &players {
                let one = Setting { size: id.size, briefing: id.briefing, fallback: id.fallback, player: player.clone() };
                if !settings.contains(&one) {
                    settings.push(one);
                }
            }
        }
    }
    settings
}

/// The default rows, and every strategy that a budget names: what its globs choose from.
fn strategies(budgets: &Budgets, registry: &Registry) -> Vec<Arc<dyn Strategy>> {
    let mut choices = registry.default_rows();
    for text in budgets.budgets.iter().flat_map(|budget| budget.strategy.texts()) {
        // A glob that is no spec chooses from what is there.
        for choice in registry.parse(text).unwrap_or_default() {
            if !choices.contains(&choice) {
                choices.push(choice);
            }
        }
    }
    choices.iter().map(|choice| choice.build()).collect()
}

/// A cell that was just run.
pub fn of_record(record: &CellRecord) -> Result<MeasuredCell, Error> {
    let none = Threads::default();
    let threads = record.threads.as_ref().unwrap_or(&none);
    let tools: BTreeSet<PartName> = threads.requests.iter().flat_map(|request| &request.tools).copied().collect();
    let parts = threads.parts.iter().map(|part| (PartName::from(part.digest()), part)).filter(|(name, _)| tools.contains(name));
    let parts: BTreeMap<PartName, PartLine> = parts.map(|(name, part)| (name, PartLine::from(part))).collect();
    let cell = measured_cell(record.result.clone(), &threads.ledger, &threads.requests, &parts);
    cell.map_err(|why| Error::Internal(why.to_string()))
}
