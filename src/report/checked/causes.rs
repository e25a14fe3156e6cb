//! What is told of a check, by what caused it: one changed item moves many figures of many cells, and is said once.

use indexmap::IndexMap;

use crate::check::{Checked, Place, Row};

use super::words::{change, is_told};

/// Rows that have the same first difference.
#[derive(Clone, Debug)]
pub struct Cause<'a> {
    /// What changed first, in words; `None`: nothing is known to have.
    pub what: Option<String>,
    /// Where, in the first of the cells.
    pub place: Option<&'a Place>,
    /// The rows, by cell.
    pub cells: IndexMap<&'a str, Vec<&'a Row>>,
}

impl Cause<'_> {
    /// How many figures it moved.
    pub fn figures(&self) -> usize {
        self.cells.values().map(Vec::len).sum()
    }
}

/// The rows that are told, by cause; the cause of the worst row first, then that of most rows.
pub fn causes(checked: &Checked) -> Vec<Cause<'_>> {
    let mut causes: IndexMap<Option<String>, Cause<'_>> = IndexMap::new();
    for row in checked.rows.iter().filter(|row| is_told(row)) {
        let what = row.place.as_ref().map(|place| change(&place.change));
        let cause = causes.entry(what.clone()).or_insert_with(|| Cause { what, place: row.place.as_ref(), cells: IndexMap::new() });
        cause.cells.entry(&row.cell).or_default().push(row);
    }
    let mut causes: Vec<Cause<'_>> = causes.into_values().collect();
    let worst = |cause: &Cause<'_>| cause.cells.values().flatten().map(|row| row.worst()).min();
    causes.sort_by_key(|cause| (worst(cause), std::cmp::Reverse(cause.figures())));
    causes
}
