//! `explain`: why a cell's figures pass or not.

use crate::check::{Terms, Typed, Verdict, judge};
use crate::error::nearest::suggestion_or_stop;
use crate::error::{Error, Exit};
use crate::plan::{CellId, CellIdError};
use crate::report::{Explained, Format, explained_json, explained_text};
use crate::strategy::Registry;

use super::args::{ExplainArgs, Global};
use super::budgeted::{Gathered, Seeds, gather, named_cell, read_run};
use super::check::{about, budgets_of};
use super::console::Console;
use super::lock_file::{Merged, read_lock};
use super::output::emit;
use super::run_folder::progress;

/// Explains a cell.
pub fn explain(args: &ExplainArgs, registry: &Registry, global: &Global, console: &Console) -> Result<Exit, Error> {
    let typed: CellId = args.cell.parse().map_err(|why: CellIdError| Error::Usage(why.to_string()))?;
    let choices = registry.parse(&typed.strategy).map_err(|why| Error::Usage(why.to_string()))?;
    // As strategies name themselves: so cells are called.
    let strategy = choices.first().map_or(typed.strategy.clone(), |choice| choice.build().id());
    let id = CellId { strategy, ..typed };
    let budgets = budgets_of(&args.files, registry, console)?;
    let (lock, lock_file) = read_lock(&args.files, Merged::Refused)?;
    // The cell is wanted whatever the budgets name.
    let wanted = named_cell(&id, &budgets.tokenizer);
    let what: Vec<String> = args.from.iter().map(|path| path.display().to_string()).collect();
    let gathered = if args.run_dir.is_empty() {
        gather(&what, &wanted, Seeds::One(id.seed), None, registry, console)?
    } else {
        let mut read = Gathered::default();
        args.run_dir.iter().try_for_each(|folder| read_run(folder, &wanted).map(|one| read.add(one)))?;
        Ok(read)
    };
    let Gathered { cells, tokenizers, choice } = match gathered {
        Ok(gathered) => gathered,
        Err(exit) => return Ok(exit),
    };
    if let Some(other) = tokenizers.iter().find(|name| **name != budgets.tokenizer) {
        let message = format!(
            "the run counts with {other}, {} wants {}: tokens of two encodings cannot be compared",
            budgets.file, budgets.tokenizer
        );
        return Err(Error::Usage(message));
    }
    let name = id.to_string();
    let Some(at) = cells.iter().position(|cell| cell.result.cell == name) else {
        let known = lock.iter().flat_map(|lock| lock.cells.keys()).map(String::as_str);
        let near = suggestion_or_stop(&name, known.filter(|known| *known != name));
        // A run may not have reached it yet.
        let lack = args.run_dir.iter().find_map(|folder| progress(folder).ok()?.lack(folder));
        let near = near + &lack.map_or(String::new(), |lack| format!(" {lack}."));
        let hint = "--from PATH names the scenario file or recording that it is of, --run-dir DIR a folder that holds it";
        return Err(Error::Usage(format!("there is no cell {name}{near} {hint}")));
    };
    let mut lock = lock;
    let comparable = lock.as_ref().filter(|lock| lock.tokenizer == budgets.tokenizer);
    let accepted = comparable.and_then(|lock| lock.cells.get(&name)).cloned();
    // Other cells are not what was asked about.
    lock.iter_mut().for_each(|lock| lock.cells.retain(|cell, _| *cell == name));
    let typed = Typed { grow: args.files.grow, drop: args.files.drop };
    let about = about(&args.files, &[], &budgets.tokenizer, lock_file, lock.is_some());
    let mut checked = judge(&cells[at..=at], Terms { budgets: &budgets, lock: lock.as_ref(), typed, choice: &choice }, about);
    // That a budget matches nothing is no matter of one cell.
    checked.troubles.retain(|trouble| trouble.exit == Exit::NotComparable);
    let unnamed = accepted.iter().flat_map(|cell| &cell.figures);
    let named = |metric: &str| checked.rows.iter().any(|row| row.name == metric && row.value.is_some());
    // A cell that failed has no figures today.
    let has_failed = checked.rows.iter().any(|row| row.worst() == Verdict::Failed);
    let unnamed = unnamed.filter(|(metric, _)| !has_failed && !named(metric)).map(|(metric, figure)| (metric.as_str(), figure)).collect();
    checked.rows.retain(|row| row.worst() != Verdict::Gone);
    let explained = Explained {
        checked: &checked,
        cell: &cells[at],
        accepted: accepted.as_ref().map(|cell| &cell.trail),
        unnamed,
        diff_lock: args.diff_lock,
    };
    emit("explain", global.format, &global.out, console, &|format, _| match format {
        Format::Human => Some(explained_text(&explained)),
        Format::Json => Some(explained_json(&explained)),
        _ => None,
    })?;
    Ok(Exit::Fine)
}
