//! What is told of a check, by what caused it: one changed item moves many figures of many cells, and is said once.

use indexmap::{IndexMap, IndexSet};

use crate::check::{Checked, Place, Row, Verdict};

use super::words::{change, is_told, limit, unit, verdicts};

/// Rows that have the same first difference.
#[derive(Clone, Debug)]
pub struct Cause<'a> {
    /// What changed first, in words; `None`: nothing is known to have.
    pub what: Option<String>,
    /// Where, in the first of the cells.
    pub place: Option<&'a Place>,
    /// The rows, by what is said of them.
    pub groups: Vec<Group<'a>>,
}

/// Rows of one metric with the same verdicts against the same limits.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// The metric with what it counts; of cells that failed, that.
    pub title: String,
    /// The verdicts, in one word.
    pub verdicts: String,
    /// The worst of them.
    pub worst: Verdict,
    /// The limits that are exceeded.
    pub limits: Vec<String>,
    /// The rows.
    pub rows: Vec<&'a Row>,
}

impl Group<'_> {
    /// Whether all of it have their accepted values: a table of them would say nothing.
    pub fn is_unmoved(&self) -> bool {
        self.rows.iter().all(|row| row.value.is_some() && row.value == row.accepted && row.remark.is_none())
    }
}

impl<'a> Cause<'a> {
    /// How many figures it moved.
    pub fn figures(&self) -> usize {
        self.groups.iter().map(|group| group.rows.len()).sum()
    }

    /// The cells, each once.
    pub fn cells(&self) -> Vec<&'a str> {
        let cells: IndexSet<&str> = self.groups.iter().flat_map(|group| &group.rows).map(|row| row.cell.as_str()).collect();
        cells.into_iter().collect()
    }

    /// What the exceeded limits are for, each once.
    pub fn whys(&self) -> Vec<&'a str> {
        let mut whys: Vec<&str> = Vec::new();
        let held = self.groups.iter().flat_map(|group| &group.rows).flat_map(|row| &row.held).filter(|held| held.verdict != Verdict::Ok);
        for why in held.filter_map(|held| held.limit.why.as_deref()) {
            if !whys.contains(&why) {
                whys.push(why);
            }
        }
        whys
    }

    /// Whether accepting would mend all of it: nothing is beyond an absolute limit, nothing failed, something is there.
    pub fn is_acceptable(&self) -> bool {
        let rows = || self.groups.iter().flat_map(|group| &group.rows);
        let never = [Verdict::Failed, Verdict::Over, Verdict::Under];
        rows().all(|row| row.verdicts.iter().all(|verdict| !never.contains(verdict)))
            && rows().any(|row| row.worst() != Verdict::Unmeasured)
    }
}

/// The rows that are told, by cause; the cause of the worst row first, then that of most rows.
pub fn causes(checked: &Checked) -> Vec<Cause<'_>> {
    let mut by_cause: IndexMap<Option<String>, Vec<&Row>> = IndexMap::new();
    for row in checked.rows.iter().filter(|row| is_told(row)) {
        by_cause.entry(row.place.as_ref().map(|place| change(&place.change))).or_default().push(row);
    }
    let mut causes: Vec<Cause<'_>> = by_cause
        .into_iter()
        .map(|(what, rows)| Cause { what, place: rows.first().and_then(|row| row.place.as_ref()), groups: groups(checked, &rows) })
        .collect();
    let worst = |cause: &Cause<'_>| cause.groups.first().map(|group| group.worst);
    causes.sort_by_key(|cause| (worst(cause), std::cmp::Reverse(cause.figures())));
    causes
}

/// Worst first.
fn groups<'a>(checked: &Checked, rows: &[&'a Row]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for &row in rows {
        let wrong = || row.held.iter().filter(|held| held.verdict != Verdict::Ok);
        let limits: Vec<String> = wrong().map(|held| limit(checked, held)).collect();
        let verdicts = verdicts(row);
        let title = match (row.name.as_str(), unit(row)) {
            ("", _) => "the cell".to_owned(),
            (name, unit) if unit.is_empty() || unit == name => name.to_owned(),
            (name, unit) => format!("{name} ({unit})"),
        };
        let same = |group: &Group<'_>| group.title == title && group.verdicts == verdicts && group.limits == limits;
        match groups.iter_mut().find(|group| same(group)) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group { title, verdicts, worst: row.worst(), limits, rows: vec![row] }),
        }
    }
    groups.sort_by_key(|group| group.worst);
    groups
}
