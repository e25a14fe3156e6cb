//! A cell as a check needs it, from what a run leaves behind.

use std::collections::BTreeMap;

use crate::metrics::METRICS;
use crate::plan::{CellId, CellIdError};
use crate::results::{CellResult, LedgerLine, Number, PartLine, RequestLine};

use super::judge::MeasuredCell;
use super::split::{Split, split};
use super::trail::Trail;

/// A cell with its trail and with the splits that sum to its figures (a split that does not is of a figure that leaves
/// something out, and says nothing).
///
/// # Errors
/// The cell's id is none.
pub fn measured_cell(
    result: CellResult,
    ledger: &[LedgerLine],
    requests: &[RequestLine],
    parts: &BTreeMap<String, PartLine>,
) -> Result<MeasuredCell, CellIdError> {
    let id: CellId = result.cell.parse()?;
    let mut splits = BTreeMap::new();
    for metric in METRICS {
        let Some(Some(Number::Whole(value))) = result.metrics.get(metric.name) else { continue };
        let sums = |split: &Split| split.values().sum::<i64>() == *value && !split.is_empty();
        if let Some(split) = split(metric.name, ledger).filter(sums) {
            splits.insert(metric.name, split);
        }
    }
    Ok(MeasuredCell { id, trail: Trail::of(ledger, requests, parts), splits, result })
}
