//! What concerns no single figure, and ends a check by itself.

use std::collections::BTreeSet;

use crate::error::Exit;
use crate::plan::CellId;

use super::budget::Budget;
use super::checked::{Matched, Row, Trouble};
use super::file::STARTER;
use super::judge::{MeasuredCell, Terms};
use super::verdict::Verdict;

/// Who plays recordings, in cell ids.
const HELD: &str = "held";

/// That the lock is of another encoding than the budgets want.
pub fn other_tokenizer(terms: Terms<'_>) -> Option<Trouble> {
    let (file, wanted) = (&terms.budgets.file, &terms.budgets.tokenizer);
    let lock = terms.lock.filter(|lock| lock.tokenizer != *wanted)?;
    let message = format!(
        "the lock was accepted with the tokenizer {}, {file} wants {wanted}: tokens of two encodings cannot be compared. Put the one back \
         in {file}, or accept everything anew: the same check with --accept",
        lock.tokenizer
    );
    Some(Trouble { exit: Exit::NotComparable, line: None, message })
}

/// That a budget is about recordings, and none was given: nobody finds them by himself.
fn unnamed_recordings(budget: &Budget, cells: &[MeasuredCell], terms: Terms<'_>) -> Option<String> {
    if cells.iter().any(|cell| cell.id.model == HELD) {
        return None;
    }
    let advice = "name their files or folders in every check, as in `ctxbench check RECORDING`";
    let accepted = terms.lock.iter().flat_map(|lock| lock.cells.keys()).filter_map(|cell| cell.parse::<CellId>().ok());
    let known: BTreeSet<String> =
        accepted.filter(|cell| cell.model == HELD && budget.names(cell)).map(|cell| cell.scenario_piece()).collect();
    if !known.is_empty() {
        let some = known.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if known.len() > 3 { format!(" and {} more", known.len() - 3) } else { String::new() };
        return Some(format!("It has accepted figures of recordings: {advice} (they are {some}{more})"));
    }
    budget.model.exact().any(|model| model == HELD).then(|| format!("The model `{HELD}` plays recordings: {advice}"))
}

/// Budgets and names that match nothing, and a check in which nothing was measured.
pub fn troubles(cells: &[MeasuredCell], rows: &[Row], matched: &[Matched], terms: Terms<'_>, locked: bool) -> Vec<Trouble> {
    let file = &terms.budgets.file;
    let mut troubles = Vec::new();
    let mut nothing = |line, message: String| troubles.push(Trouble { exit: Exit::NothingChecked, line, message });
    for (budget, one) in terms.budgets.budgets.iter().zip(matched) {
        if one.cells == 0 {
            let names = if one.names.is_empty() { "every cell" } else { &one.names };
            let hint = unnamed_recordings(budget, cells, terms).unwrap_or_else(|| terms.choice.hint(&one.scenarios, cells));
            nothing(Some(one.line), format!("{file}:{}: this budget ({names}) matches no cell. {hint}", one.line));
            continue;
        }
        let of_budget: Vec<&MeasuredCell> = cells.iter().filter(|cell| budget.names(&cell.id)).collect();
        let scenarios: Vec<String> = of_budget.iter().map(|cell| cell.id.scenario_piece()).collect();
        let scenarios: Vec<&str> = scenarios.iter().map(String::as_str).collect();
        // What is to be taken out is there, or its name is a slip. A run's folder holds what was run, and need not hold it.
        let known: Vec<&str> = terms.choice.scenarios.iter().map(String::as_str).chain(terms.choice.suite.iter().copied()).collect();
        let all: Vec<String> = cells.iter().map(|cell| cell.id.scenario_piece()).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).chain(known).collect();
        for pattern in budget.scenario.idle_negations(&all).into_iter().filter(|_| !terms.choice.suite.is_empty()) {
            let hint = terms.choice.hint(&[pattern.trim_start_matches('!').to_owned()], cells);
            nothing(Some(budget.line), format!("{file}:{}: `{pattern}` of this budget takes nothing out. {hint}", budget.line));
        }
        let strategies: Vec<&str> = of_budget.iter().map(|cell| cell.id.strategy.as_str()).collect();
        let models: Vec<&str> = of_budget.iter().map(|cell| cell.id.model.as_str()).collect();
        // Of a list, every name is meant.
        let idle = budget.scenario.idle(&scenarios).into_iter().chain(budget.strategy.idle(&strategies)).chain(budget.model.idle(&models));
        for pattern in idle {
            let hint = terms.choice.hint(&[pattern.to_owned()], cells);
            nothing(Some(budget.line), format!("{file}:{}: `{pattern}` of this budget matches no cell. {hint}", budget.line));
        }
    }
    let judged = rows.iter().any(|row| row.value.is_some() || row.worst() == Verdict::Failed);
    if terms.budgets.budgets.is_empty() {
        nothing(None, format!("{file} has no [[budget]]: nothing was checked. To begin with:\n\n{}", STARTER));
    } else if !judged && !locked && matched.iter().any(|one| one.cells > 0) {
        nothing(
            None,
            "no figure that the budgets name was measured: nothing was checked (`ctxbench list metrics` says which are)".to_owned(),
        );
    }
    troubles
}
