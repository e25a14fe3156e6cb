//! Accepting: which lines of the lock are rewritten, and how they change.

use std::collections::BTreeMap;

use crate::error::Exit;
use crate::results::Number;

use super::checked::{Checked, Row};
use super::judge::MeasuredCell;
use super::lock::{Figure, Lock};
use super::pattern::Patterns;
use super::verdict::{Verdict, worst};

/// Which lines are rewritten.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Of these cells; all without it.
    pub cells: Option<Patterns>,
    /// Of this metric; all without it.
    pub metric: Option<String>,
}

impl Selection {
    /// Everything.
    pub fn all() -> Selection {
        Selection { cells: None, metric: None }
    }

    fn takes(&self, row: &Row) -> bool {
        let cell = self.cells.as_ref().is_none_or(|cells| cells.is_match(&row.cell));
        cell && self.metric.as_ref().is_none_or(|metric| row.name.is_empty() || row.name == *metric)
    }

    fn is_whole(&self) -> bool {
        self.cells.is_none() && self.metric.is_none()
    }
}

/// A line of the lock that changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The cell.
    pub cell: String,
    /// The metric.
    pub metric: String,
    /// What was accepted; `None`: nothing.
    pub before: Option<Number>,
    /// What is accepted now; `None`: the line goes.
    pub now: Option<Number>,
}

/// What accepting does.
#[derive(Clone, Debug)]
pub struct Accepted {
    /// The lock.
    pub lock: Lock,
    /// The lines whose value changes, by cell and metric.
    pub changes: Vec<Change>,
    /// The lines whose value stays and whose fingerprint or requests change.
    pub renewed: usize,
    /// The rows that are not accepted: above an absolute limit, or of a cell that failed.
    pub refused: Vec<Row>,
    /// How many rows were selected.
    pub selected: usize,
}

impl Accepted {
    /// How accepting ends: by the worst of what it refused.
    pub fn exit(&self) -> Exit {
        worst(self.refused.iter().map(|row| row.worst().exit(false)))
    }
}

/// Why nothing can be accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AcceptError {
    /// A lock of two tokenizers would hold figures that cannot be compared.
    #[error("the lock is of the tokenizer {lock}, the budgets want {budgets}: accept everything at once, without --only and --metric")]
    MixedTokenizers {
        /// The lock's.
        lock: String,
        /// The budgets'.
        budgets: String,
    },
}

/// The lock with what was selected rewritten. A value beyond an absolute limit is not accepted, and a cell that failed
/// neither: their lines stay as they are.
///
/// # Errors
/// A lock of two tokenizers.
pub fn accept(before: Option<&Lock>, cells: &[MeasuredCell], checked: &Checked, selection: &Selection) -> Result<Accepted, AcceptError> {
    let mut lock = match before {
        Some(lock) if lock.tokenizer == checked.about.tokenizer => lock.clone(),
        // Another encoding's figures are of no use to anybody.
        Some(lock) if !selection.is_whole() => {
            return Err(AcceptError::MixedTokenizers { lock: lock.tokenizer.clone(), budgets: checked.about.tokenizer.clone() });
        }
        _ => Lock { tokenizer: checked.about.tokenizer.clone(), cells: BTreeMap::new() },
    };
    let mut by_id: BTreeMap<&str, &MeasuredCell> = BTreeMap::new();
    for cell in cells {
        by_id.insert(&cell.result.cell, cell);
    }
    let (mut changes, mut renewed, mut refused, mut selected) = (Vec::new(), 0, Vec::new(), 0);
    for row in checked.rows.iter().filter(|row| selection.takes(row)) {
        selected += 1;
        if row.verdicts.iter().any(|verdict| matches!(verdict, Verdict::Failed | Verdict::Over | Verdict::Under)) {
            refused.push(row.clone());
            continue;
        }
        let figure = row.value.zip(by_id.get(row.cell.as_str())).map(|(value, cell)| Figure {
            value,
            fingerprint: cell.result.fingerprint.clone(),
            split: row.split.clone(),
        });
        let known = lock.figure(&row.cell, &row.name).cloned();
        match (&known, &figure) {
            (None, None) => continue,
            (Some(known), Some(figure)) if known == figure => continue,
            (Some(known), Some(figure)) if known.value == figure.value => renewed += 1,
            _ => changes.push(Change {
                cell: row.cell.clone(),
                metric: row.name.clone(),
                before: known.as_ref().map(|known| known.value),
                now: figure.as_ref().map(|figure| figure.value),
            }),
        }
        let figures = &mut lock.cells.entry(row.cell.clone()).or_default().figures;
        match figure {
            Some(figure) => {
                figures.insert(row.name.clone(), figure);
            }
            None => {
                figures.remove(&row.name);
            }
        }
    }
    // Requests are those of the cell's figures: while one of these is of an earlier content, what grew in it is still told.
    for (id, cell) in &mut lock.cells {
        let measured =
            by_id.get(id.as_str()).filter(|measured| cell.figures.values().all(|figure| figure.fingerprint == measured.result.fingerprint));
        if let Some(measured) = measured {
            cell.trail = measured.trail.clone();
        }
    }
    lock.cells.retain(|_, cell| !cell.figures.is_empty());
    Ok(Accepted { lock, changes, renewed, refused, selected })
}
