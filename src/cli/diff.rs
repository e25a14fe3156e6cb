//! `diff`: two runs, paired.

use std::collections::BTreeSet;
use std::path::Path;

use crate::compare::{Pairing, compare, usual_metrics};
use crate::error::Error;
use crate::report::{Sides, compared};
use crate::results::{CellResult, Results};
use crate::strategy::Registry;

use super::args::{DiffArgs, Global};
use super::console::Console;
use super::inputs::read_text;
use super::metric_names::metrics_named;
use super::output::emit;
use super::run_folder::{Lines, progress, tokenizer_of};

/// Compares two runs.
pub fn diff(args: &DiffArgs, registry: &Registry, global: &Global, console: &Console) -> Result<(), Error> {
    let pairing = match (&args.left, &args.right) {
        (None, None) => Pairing::SameStrategy,
        (Some(left), Some(right)) => Pairing::Strategies(strategy(left, registry)?, strategy(right, registry)?),
        _ => return Err(Error::Usage("--left and --right name the two strategies to compare: give both or neither".to_owned())),
    };
    let metrics = if args.metric.is_empty() { usual_metrics() } else { metrics_named(&args.metric)? };
    let (left, one, lack) = read(Path::new(&args.run_a))?;
    let (right, other, lack_too) = read(Path::new(&args.run_b))?;
    if one != other {
        let message = format!("{} counts with {one}, {} with {other}: tokens of two encodings cannot be compared", args.run_a, args.run_b);
        return Err(Error::Input(message));
    }
    let result = compare(&left, &right, &pairing, &metrics);
    if result.pairs == 0 {
        let hint = match pairing {
            Pairing::SameStrategy => "--left and --right name two strategies to compare",
            Pairing::Strategies(..) => "the ids are those that the runs print, with profile and options",
        };
        return Err(Error::Usage(format!("the two runs have no cell in common; {hint}")));
    }
    let mut notes: Vec<String> = lack.into_iter().collect();
    // A run beside itself is said once.
    notes.extend(lack_too.filter(|lack| !notes.contains(lack)));
    let sides = Sides { left: args.run_a.clone(), right: args.run_b.clone(), tokenizer: one, notes };
    emit("diff", global.format, &global.out, console, &|format, _| compared(&result, &sides, format))
}

/// The strategy that a spec names, as it names itself.
fn strategy(spec: &str, registry: &Registry) -> Result<String, Error> {
    let choices = registry.parse(spec).map_err(|why| Error::Usage(why.to_string()))?;
    match choices.as_slice() {
        [choice] => Ok(choice.build().id()),
        many => Err(Error::Usage(format!("`{spec}` names {} strategies: name one of its profiles", many.len()))),
    }
}

/// The cells of a run's folder or of a results document, their encoding, and what the run lacks.
fn read(path: &Path) -> Result<(Vec<CellResult>, String, Option<String>), Error> {
    if !path.is_dir() {
        let text = read_text(path)?;
        let results: Results = serde_json::from_str(&text)
            .map_err(|why| Error::Input(format!("{} is neither a folder of a run nor a results document: {why}", path.display())))?;
        let mut names = BTreeSet::new();
        if let Some(twice) = results.cells.iter().find(|cell| !names.insert(&cell.cell)) {
            return Err(Error::Input(format!("{}: {} stands there twice: give one run's results", path.display(), twice.cell)));
        }
        return Ok((results.cells, results.tokenizer, None));
    }
    let tokenizer = tokenizer_of(path)?;
    let lack = progress(path)?.lack(path);
    let cells: Result<Vec<CellResult>, Error> = Lines::open(&path.join("results.jsonl"))?.collect();
    Ok((cells?, tokenizer, lack))
}
