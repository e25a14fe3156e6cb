//! `sweep`: one parameter of a scenario varied, and where the best strategy changes.

use std::collections::BTreeMap;

use crate::error::nearest::suggestion_or_stop;
use crate::error::{Error, Exit};
use crate::metrics::Metric;
use crate::model::profile::MODELS;
use crate::plan::Subject;
use crate::report::{Swept, swept};
use crate::results::{CellResult, Evidence, Status};
use crate::runner::{CellRecord, Sink, default_jobs, run as run_plan};
use crate::scenario::file::ScenarioFile;
use crate::strategy::Registry;
use crate::sweep::{Curve, Range, to_halve};
use crate::tokens::Meter;

use super::args::{Global, SweepArgs};
use super::console::Console;
use super::each_cell::EachCell;
use super::inputs::{Wanted, one_scenario, simulated};
use super::interrupt::Interrupts;
use super::measuring::Measuring;
use super::metric_names::metrics_named;
use super::output::emit;
use super::run::strategies;
use super::varied::{Varied, keys};

/// The metrics that are looked at if nobody says which.
const USUAL: [&str; 4] = ["parent.final_context", "total.input", "latency.end_to_end", "quality"];

/// Varies a parameter.
pub fn sweep(args: &SweepArgs, registry: &Registry, global: &Global, console: &Console) -> Result<Exit, Error> {
    let (key, range) = args.vary.split_once('=').ok_or_else(|| Error::Usage("--vary takes KEY=FROM..TO".to_owned()))?;
    let range = Range::parse(range).map_err(|why| Error::Usage(format!("--vary: {why}")))?;
    let usual: Vec<String> = USUAL.iter().map(|name| (*name).to_owned()).collect();
    let metrics = metrics_named(if args.metric.is_empty() { &usual } else { &args.metric })?;
    let (file, id) = one_scenario(&args.scenario, console)?;
    let own = file.parameters(&id, args.size);
    let measuring = Measuring::of(&args.measure)?;
    let varied = Varied::named(key).filter(|_| !own.contains_key(key));
    if varied.is_none() && !own.contains_key(key) {
        let mut names: Vec<&str> = own.keys().map(String::as_str).collect();
        for key in keys() {
            names.push(key);
        }
        let near = suggestion_or_stop(key, names.iter().copied());
        let known: Vec<String> = own.iter().map(|(key, value)| format!("{key} ({value})")).collect();
        let known = if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
        let settings: Vec<&str> = keys().collect();
        return Err(Error::Usage(format!(
            "{id} has no parameter `{key}`{near} Of its own, {known}; prices and latency vary by {}",
            settings.join(", ")
        )));
    }
    let model = measuring.as_model.unwrap_or(Some(MODELS[0]));
    let own_value = match varied {
        None => own.get(key).copied(),
        Some(varied) => model.and_then(|model| varied.own(&model, &measuring.prices)),
    };
    let strategies = strategies(&args.strategy, registry)?;
    let wanted = Wanted {
        size: args.size,
        briefing: args.briefing,
        fallback: args.fallback,
        as_model: measuring.as_model,
        model: None,
        readers: &[],
        provided: None,
        console,
    };
    let interrupts = Interrupts::watch()?;
    let meter = Meter::new(measuring.counter.clone());
    let measure = |values: &[i64]| -> Result<Vec<CellResult>, Error> {
        let mut subjects = Vec::new();
        for value in values {
            let subject = match varied {
                None => subject(&file, &id, BTreeMap::from([(key.to_owned(), *value)]), &wanted)?,
                Some(varied) => varied.set(subject(&file, &id, BTreeMap::new(), &wanted)?, *value, &measuring.prices)?,
            };
            subjects.push(Subject { id: format!("{}@{value}", subject.id), ..subject });
        }
        let head = measuring.head(args.size, 1, args.briefing, args.fallback);
        let plan = measuring.plan(head, subjects, strategies.clone())?;
        let mut cells = Vec::new();
        let take = |record: &CellRecord| {
            cells.push(record.result.clone());
            Ok(())
        };
        let mut sinks: Vec<Box<dyn Sink + '_>> = vec![Box::new(EachCell { with_threads: false, take })];
        run_plan(&plan, &meter, default_jobs(), &interrupts.stop, &mut sinks)?;
        drop(sinks);
        Ok(cells)
    };
    let mut notes = Vec::new();
    let mut unmeasured = BTreeMap::new();
    let mut curves: Vec<(&'static Metric, Curve)> = metrics.iter().map(|metric| (*metric, Curve::new())).collect();
    let mut values = range.grid();
    while !values.is_empty() {
        let cells = measure(&values)?;
        if let Some(exit) = interrupts.exit() {
            console.warn("stopped: the sweep is not whole");
            return Ok(exit);
        }
        take(&mut curves, &values, strategies.len(), &cells, &mut notes);
        for (metric, why) in cells.iter().filter(|cell| cell.status != Status::Failed).flat_map(|cell| &cell.unmeasured) {
            if curves.iter().any(|(known, _)| known.name == metric) {
                unmeasured.entry(metric.clone().into_owned()).or_insert_with(|| why.clone().into_owned());
            }
        }
        let known: Vec<(&Metric, &Curve)> = curves.iter().map(|(metric, curve)| (*metric, curve)).collect();
        values = to_halve(&known);
    }
    let evidence = Evidence::Simulated;
    let swept_now = Swept {
        scenario: format!("{id} · {}", args.size.name()),
        key: key.to_owned(),
        own: own_value,
        strategies: strategies.iter().map(|strategy| strategy.id()).collect(),
        curves,
        evidence: format!("{} ({})", evidence.name(), evidence.claim()),
        tokenizer: measuring.encoding.name().to_owned(),
        unmeasured,
        notes,
    };
    emit("sweep", global.format, &global.out, console, &|format, _| swept(&swept_now, format))?;
    Ok(Exit::Fine)
}

/// The scenario with these values in place of its own.
fn subject(file: &ScenarioFile, id: &str, values: BTreeMap<String, i64>, wanted: &Wanted<'_>) -> Result<Subject, Error> {
    let scenario = file.compile(id, wanted.size, &values);
    let scenario = scenario.map_err(|errors| {
        let errors = errors.render(wanted.console.colour_err);
        let with: Vec<String> = values.iter().map(|(key, value)| format!("with {key} = {value} ")).collect();
        Error::Input(format!("{}the scenario is wrong; vary it where it is not:\n\n{errors}", with.concat()))
    })?;
    simulated(scenario, wanted).ok_or_else(|| Error::Internal(format!("{id} has no reader")))
}

/// Puts cells into the curves: they come by value, then strategy.
fn take(curves: &mut [(&'static Metric, Curve)], values: &[i64], strategies: usize, cells: &[CellResult], notes: &mut Vec<String>) {
    for (value, cells) in values.iter().zip(cells.chunks(strategies.max(1))) {
        for cell in cells.iter().filter(|cell| cell.status == Status::Failed) {
            let why = cell.failure.as_ref().map_or(String::new(), |failure| format!(" ({})", failure.kind));
            notes.push(format!("{} failed{why}: it competes with nobody.", cell.cell));
        }
        for (metric, curve) in curves.iter_mut() {
            let figure = |cell: &CellResult| {
                let fair = cell.status != Status::Failed;
                cell.metrics.get(metric.name).copied().flatten().filter(|_| fair).map(|number| number.value())
            };
            curve.insert(*value, cells.iter().map(figure).collect());
        }
    }
}
