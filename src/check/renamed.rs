//! Cells that were renamed, told by their figures.

use std::collections::BTreeMap;

use crate::results::Number;

use super::allowance::{millionths, plain};
use super::checked::Row;
use super::lock::Lock;
use super::verdict::Verdict;

/// A cell that is gone and one that is new with the same requests are taken for one that was renamed, and said to be.
pub fn say_renamed(rows: &mut [Row], lock: Option<&Lock>) {
    let Some(lock) = lock else { return };
    let values = |rows: &[&Row], value: fn(&Row) -> Option<Number>| -> Vec<(String, String)> {
        rows.iter().filter_map(|row| Some((row.name.clone(), plain(millionths(value(row)?))))).collect()
    };
    let mut by_cell: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows.iter() {
        by_cell.entry(&row.cell).or_default().push(row);
    }
    let all = |verdict: Verdict| by_cell.iter().filter(move |(_, rows)| rows.iter().all(|row| row.verdicts.contains(&verdict)));
    type Look<'a> = (&'a str, Vec<(String, String)>);
    let mut new_by_look: BTreeMap<Look<'_>, Vec<&str>> = BTreeMap::new();
    for (new, new_rows) in all(Verdict::New) {
        new_by_look.entry((tail(new), values(new_rows, |row| row.value))).or_default().push(new);
    }
    let mut renamed: BTreeMap<String, String> = BTreeMap::new();
    for (old, old_rows) in all(Verdict::Gone).filter(|(old, _)| lock.cells.contains_key(**old)) {
        let look = (tail(old), values(old_rows, |row| row.accepted));
        if let Some(new) = new_by_look.get_mut(&look).and_then(Vec::pop) {
            renamed.insert((*old).to_owned(), new.to_owned());
        }
    }
    let back: BTreeMap<String, String> = renamed.iter().map(|(old, new)| (new.clone(), old.clone())).collect();
    for row in rows {
        if let Some(new) = renamed.get(&row.cell) {
            row.remark = Some(format!("it seems to have been renamed: {new} has the same figures"));
        } else if let Some(old) = back.get(&row.cell) {
            row.remark = Some(format!("it seems to be {old} under another name: the same figures"));
        }
    }
}

/// A cell id without its scenario.
fn tail(cell: &str) -> &str {
    cell.split_once('/').map_or(cell, |(_, tail)| tail)
}
