//! A cell as a check needs it, from what a run leaves behind.

use std::collections::BTreeMap;

use crate::metrics::METRICS;
use crate::plan::{CellId, CellIdError};
use crate::results::{CellResult, LedgerLine, Number, PartLine, PartName, Parting, RequestLine};

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
    parts: &BTreeMap<PartName, PartLine>,
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
    Ok(MeasuredCell { id, trail: Trail::of(ledger, requests, parts), splits, result, losses: losses(ledger) })
}

/// Losses that are kept of a cell: the dearest.
const MAX_LOSSES: usize = 8;

/// The requests that a prompt cache could have read most more of, dearest first; of equals the earlier one.
fn losses(ledger: &[LedgerLine]) -> Vec<(u32, Parting)> {
    let parting = |line: &LedgerLine| Some((line.seq, line.cache.as_ref()?.parts.clone()?));
    let mut losses: Vec<(u32, Parting)> = ledger.iter().filter_map(parting).filter(|(_, parting)| parting.lost > 0).collect();
    losses.sort_by_key(|(_, parting)| std::cmp::Reverse(parting.lost));
    losses.truncate(MAX_LOSSES);
    losses
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{cell, ledger_line};
    use crate::results::{CacheLine, TokensByOrigin};

    #[test]
    fn the_dearest_losses_are_kept() {
        let line = |seq: u32, lost: Option<u64>| {
            let parts = lost.map(|lost| Parting { from: Some(0), at: "system".into(), why: "system".into(), common: 5, lost });
            let cache = CacheLine { read: 0, write: 0, uncached: 10, write_long: 0, best: None, parts };
            LedgerLine { cache: Some(cache), ..ledger_line(seq, "/", TokensByOrigin::default(), 3) }
        };
        let lines: Vec<LedgerLine> =
            [None, Some(4), Some(0), Some(9), Some(4)].into_iter().zip(0..).map(|(lost, seq)| line(seq, lost)).collect();
        let kept: Vec<(u32, u64)> = losses(&lines).iter().map(|(seq, parting)| (*seq, parting.lost)).collect();
        assert_eq!(kept, [(3, 9), (1, 4), (4, 4)]);
        let many: Vec<LedgerLine> = (0..20).map(|seq| line(seq, Some(u64::from(seq)))).collect();
        assert_eq!(losses(&many).iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), [19, 18, 17, 16, 15, 14, 13, 12]);
    }

    #[test]
    fn a_split_that_does_not_sum_says_nothing() {
        let input = TokensByOrigin { user: 4, own: 6, ..Default::default() };
        let line = ledger_line(0, "/", input, 3);
        let check = |metric: &str, value: i64, expect: Option<&[(&str, i64)]>| {
            let mut result = cell("s", "a@1", 0);
            result.metrics.insert(metric.to_owned().into(), Some(Number::Whole(value)));
            let measured = measured_cell(result, std::slice::from_ref(&line), &[], &BTreeMap::new()).unwrap();
            let expect = expect.map(|pairs| pairs.iter().map(|&(name, tokens)| (name.to_owned(), tokens)).collect::<Split>());
            assert_eq!(measured.splits.get(metric), expect.as_ref(), "{metric} {value}");
        };
        check("parent.input_total", 10, Some(&[("user", 4), ("own", 6)]));
        check("parent.final_context", 13, Some(&[("user", 4), ("own", 6), ("output", 3)]));
        // The figure leaves something out that the ledger holds, or the other way round.
        check("parent.input_total", 9, None);
        check("requests", 1, None);
    }
}
