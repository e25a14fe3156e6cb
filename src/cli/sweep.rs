//! `sweep`: one parameter of a scenario varied, and where the best strategy changes.

use std::collections::BTreeMap;

use crate::error::nearest::suggestion_or_stop;
use crate::error::{Error, Exit};
use crate::metrics::Metric;
use crate::plan::{Plan, Subject};
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
use super::metric_names::metrics_named;
use super::output::emit;
use super::run::{Measuring, strategies};

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
    if !own.contains_key(key) {
        let near = suggestion_or_stop(key, own.keys().map(String::as_str));
        let known: Vec<String> = own.iter().map(|(key, value)| format!("{key} ({value})")).collect();
        let known = if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
        return Err(Error::Usage(format!("{id} has no parameter `{key}`{near} Of its own, {known}")));
    }
    let measuring = Measuring::of(&args.measure)?;
    let strategies = strategies(&args.strategy, registry)?;
    let wanted = Wanted {
        size: args.size,
        briefing: args.briefing,
        fallback: args.fallback,
        as_model: measuring.as_model,
        model: None,
        readers: &[],
        console,
    };
    let interrupts = Interrupts::watch()?;
    let meter = Meter::new(measuring.counter.clone());
    let measure = |values: &[i64]| -> Result<Vec<CellResult>, Error> {
        let mut subjects = Vec::new();
        for value in values {
            subjects.push(subject(&file, &id, key, *value, &wanted)?);
        }
        let head = measuring.head(args.size, 1, args.briefing, args.fallback);
        let plan = Plan::new(head, subjects, strategies.clone()).map_err(|why| Error::Usage(why.to_string()))?;
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
                unmeasured.entry(metric.clone()).or_insert_with(|| why.clone());
            }
        }
        let known: Vec<(&Metric, &Curve)> = curves.iter().map(|(metric, curve)| (*metric, curve)).collect();
        values = to_halve(&known);
    }
    let evidence = Evidence::Simulated;
    let swept_now = Swept {
        scenario: format!("{id} · {}", args.size.name()),
        key: key.to_owned(),
        own: own.get(key).copied(),
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

/// The scenario with one value of the parameter, under a name of its own.
fn subject(file: &ScenarioFile, id: &str, key: &str, value: i64, wanted: &Wanted<'_>) -> Result<Subject, Error> {
    let overrides = BTreeMap::from([(key.to_owned(), value)]);
    let scenario = file.compile(id, wanted.size, &overrides);
    let scenario = scenario.map_err(|errors| {
        let errors = errors.render(wanted.console.colour_err);
        Error::Input(format!("with {key} = {value} the scenario is wrong; vary it where it is not:\n\n{errors}"))
    })?;
    let Some(subject) = simulated(scenario, wanted) else { return Err(Error::Internal(format!("{id} has no reader"))) };
    Ok(Subject { id: format!("{}@{value}", subject.id), ..subject })
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
