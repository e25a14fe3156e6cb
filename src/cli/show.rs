//! `show`: what each thread of a cell was really sent.

use std::path::Path;

use crate::error::Error;
use crate::error::nearest::{suggestion, suggestion_or_stop};
use crate::plan::{Cell, CellId, CellIdError};
use crate::report::{Billed, Format, Sent, Shown, Texts, Versus, VersusCell, cell_text, request_text, versus_text};
use crate::results::{CellResult, LedgerLine, PartLine, RequestLine};
use crate::runner::play;
use crate::strategy::{Choice, Registry};
use crate::tokens::framing::Framing;
use crate::tokens::{Meter, counter};

use super::args::{Global, ShowArgs};
use super::console::Console;
use super::inputs::{Wanted, subjects};
use super::measuring::Measuring;
use super::output::emit;
use super::player::{CASSETTE, Player};
use super::provided::ProvidedModel;
use super::run::strategies;
use super::run_folder::{Lines, tokenizer_of};

/// Shows a cell.
pub fn show(args: &ShowArgs, registry: &Registry, global: &Global, console: &Console) -> Result<(), Error> {
    if let Some(other) = &args.vs {
        return versus(args, other, registry, global, console);
    }
    let framing = args.framing.as_deref().map(|model| framing(model).map(|framing| (model, framing))).transpose()?;
    let (result, tokenizer, sent) = found(args, &args.cell, registry, console)?;
    if let Some(seq) = args.request {
        return one_request(args, seq, &sent, &result, global, console);
    }
    let mut shown = sent.shown(&result, &tokenizer, args.thread.is_some());
    let mut texts = Texts::Glance;
    if let Some(path) = &args.thread {
        only(&mut shown, path)?;
        texts = Texts::Whole;
    }
    if let Some((model, framing)) = framing {
        let billed = Billed::of(&sent, model, framing, &*counter(framing.encoding())).map_err(|why| Error::Input(why.to_string()))?;
        shown.billed = Some(match &args.thread {
            Some(path) => billed.only(path),
            None => billed,
        });
    }
    emit("show", global.format, &global.out, console, &|format, _| match format {
        Format::Human => Some(cell_text(&shown, texts)),
        Format::Json => serde_json::to_string_pretty(&shown).ok().map(|text| text + "\n"),
        _ => None,
    })
}

/// The figures of a model's provider, or of a family by its name.
fn framing(model: &str) -> Result<Framing, Error> {
    Framing::of_model(model)
        .map_or_else(|| Framing::named(model), Ok)
        .map_err(|why| Error::Usage(format!("nothing was published of how requests to `{model}` are billed, and {why}")))
}

/// Shows a cell beside the one that differs from it in the strategy alone.
fn versus(args: &ShowArgs, other: &str, registry: &Registry, global: &Global, console: &Console) -> Result<(), Error> {
    let id: CellId = args.cell.parse().map_err(|why: CellIdError| Error::Usage(why.to_string()))?;
    let one = |spec: &str| {
        let choices = registry.parse(spec).map_err(|why| Error::Usage(why.to_string()))?;
        match choices.as_slice() {
            [choice] => Ok(choice.clone()),
            many => Err(Error::Usage(format!("`{spec}` names {} strategies: name one of its profiles", many.len()))),
        }
    };
    let (a, b) = (one(&id.strategy)?, one(other)?);
    if a == b {
        return Err(Error::Usage(format!("--vs {other} is the cell's own strategy: name another (`ctxbench list strategies`)")));
    }
    let side = |choice: &Choice| {
        // As strategies name themselves: so the cells of a run directory are called.
        let strategy = choice.build().id();
        let cell = CellId { strategy: strategy.clone(), ..id.clone() }.to_string();
        let (result, tokenizer, sent) = found(args, &cell, registry, console)?;
        let about = registry.list().iter().find(|one| one.id == choice.id()).map_or("", |one| one.about);
        Ok((result, sent, tokenizer, strategy, about.to_owned()))
    };
    let sides = [side(&a)?, side(&b)?];
    let cells = sides.each_ref().map(|(result, sent, tokenizer, strategy, about)| {
        let shown = sent.shown(result, tokenizer, false);
        VersusCell { result, shown, strategy: strategy.clone(), about: about.clone() }
    });
    let versus = Versus::of(cells, args.thread.as_deref());
    if let Some(path) = args.thread.as_ref().filter(|_| versus.openings.is_empty()) {
        return Err(Error::Usage(format!("neither cell has a thread {path}")));
    }
    let texts = if args.thread.is_some() { Texts::Whole } else { Texts::Glance };
    emit("show", global.format, &global.out, console, &|format, _| match format {
        Format::Human => Some(versus_text(&versus, texts)),
        Format::Json => serde_json::to_string_pretty(&versus).ok().map(|text| text + "\n"),
        _ => None,
    })
}

/// A cell's results, the encoding and all that was sent.
fn found(args: &ShowArgs, cell: &str, registry: &Registry, console: &Console) -> Result<(CellResult, String, Sent), Error> {
    match &args.run_dir {
        Some(folder) => read(cell, folder),
        None => recompute(args, cell, registry, console),
    }
}

fn one_request(args: &ShowArgs, seq: u32, sent: &Sent, result: &CellResult, global: &Global, console: &Console) -> Result<(), Error> {
    let at = sent.requests.iter().position(|request| request.seq == seq);
    let request = at.and_then(|at| sent.request(at)).ok_or_else(|| {
        Error::Usage(match sent.requests.len() {
            0 => format!("{} sent no request", args.cell),
            many => format!("{} has no request {seq}; it has 0 to {}", args.cell, many - 1),
        })
    })?;
    emit("show", global.format, &global.out, console, &|format, _| match format {
        Format::Human => Some(request_text(&result.cell, &request)),
        Format::Json => serde_json::to_string_pretty(&request).ok().map(|text| text + "\n"),
        _ => None,
    })
}

fn only(shown: &mut Shown, path: &str) -> Result<(), Error> {
    let paths: Vec<String> = shown.threads.iter().map(|thread| thread.path.clone()).collect();
    shown.threads.retain(|thread| thread.path == path);
    if shown.threads.is_empty() {
        return Err(Error::Usage(format!("{} has no thread {path}; it has {}", shown.cell, paths.join(", "))));
    }
    Ok(())
}

/// Runs the cell again: cells are deterministic.
fn recompute(args: &ShowArgs, cell: &str, registry: &Registry, console: &Console) -> Result<(CellResult, String, Sent), Error> {
    let id: CellId = cell.parse().map_err(|why: CellIdError| Error::Usage(why.to_string()))?;
    let measuring = Measuring::of(&args.measure)?;
    let strategies = strategies(std::slice::from_ref(&id.strategy), registry)?;
    let mut what: Vec<String> = args.from.iter().map(|path| path.display().to_string()).collect();
    if what.is_empty() {
        what.push(id.scenario.clone());
    }
    // A scenario may be played by two; whoever else is named is told who plays it.
    let model = (id.model == "script").then_some("script");
    let player: Option<Player> = id.model.parse().ok();
    let reader = match &player {
        Some(Player::Reader(profile)) => vec![*profile],
        _ => vec![],
    };
    let provided = match &player {
        Some(Player::Cassette(name)) => Some(ProvidedModel::of_cassette(name, &measuring)?),
        Some(Player::Live { .. }) => {
            return Err(Error::Usage(format!("{cell} was live: what was sent stands in its run's folder (--run-dir) alone")));
        }
        _ => None,
    };
    let (size, briefing, fallback) = (id.size, id.briefing, id.fallback);
    let provided = provided.as_ref();
    let model = provided.map_or(model, |_| Some(CASSETTE));
    let wanted = Wanted { size, briefing, fallback, as_model: measuring.as_model, model, readers: &reader, provided, console };
    let mut subjects = subjects(&what, &wanted)?;
    let names: Vec<String> = subjects.iter().map(|subject| subject.id.clone()).collect();
    subjects.retain(|subject| CellId { scenario: subject.id.clone(), ..id.clone() }.to_string() == id.to_string());
    if subjects.is_empty() {
        let near = suggestion_or_stop(&id.scenario, names.iter().map(String::as_str));
        return Err(Error::Usage(format!("nothing there is called `{}`{near} There is: {}", id.scenario, names.join(", "))));
    }
    // As in a check, what is named later stands for what has the same name.
    subjects.drain(..subjects.len() - 1);
    let plan = measuring.plan(measuring.head(id.size, 1, id.briefing, id.fallback), subjects, strategies)?;
    let cell = plan.cells_of_seed(id.seed).next().ok_or_else(|| Error::Usage(plan.left_out().join("; ")))?;
    if cell.id.model != id.model {
        return Err(Error::Usage(format!("`{}` is played by `{}`, not by `{}`", cell.id.scenario, cell.id.model, id.model)));
    }
    let meter = Meter::new(measuring.counter.clone());
    let (result, sent) = played(&cell, &meter);
    Ok((result, measuring.encoding.name().to_owned(), sent))
}

fn played(cell: &Cell, meter: &Meter) -> (CellResult, Sent) {
    let record = play(cell, meter, true);
    let threads = record.threads.unwrap_or_default();
    let parts = threads.parts.iter().map(|part| (part.digest().into(), PartLine::from(part))).collect();
    (record.result, Sent { ledger: threads.ledger, requests: threads.requests, parts })
}

/// Reads the cell from a run's folder.
fn read(name: &str, folder: &Path) -> Result<(CellResult, String, Sent), Error> {
    let tokenizer = tokenizer_of(folder)?;
    let mut names = Vec::new();
    let mut result = None;
    for cell in Lines::<CellResult>::open(&folder.join("results.jsonl"))? {
        let cell = cell?;
        names.push(cell.cell.clone());
        if cell.cell == name {
            result = Some(cell);
        }
    }
    let result = result.ok_or_else(|| {
        let near = suggestion(name, names.iter().map(String::as_str));
        Error::Usage(format!("{} holds no cell `{name}`{near}", folder.display()))
    })?;
    let mut sent = Sent::default();
    for line in Lines::<LedgerLine>::open(&folder.join("ledger.jsonl"))? {
        let line = line?;
        if *line.cell == *name {
            sent.ledger.push(line);
        }
    }
    for line in Lines::<RequestLine>::open(&folder.join("threads/requests.jsonl"))? {
        let line = line?;
        if *line.cell == *name {
            sent.requests.push(line);
        }
    }
    for line in Lines::<PartLine>::open(&folder.join("threads/parts.jsonl"))? {
        let line = line?;
        sent.parts.insert(line.digest, line);
    }
    Ok((result, tokenizer, sent))
}
