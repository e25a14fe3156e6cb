//! What came of a check: a row a cell and metric, and what concerns no single figure.

use std::collections::BTreeSet;

use crate::error::Exit;
use crate::metrics::Metric;
use crate::results::Number;

use super::budget::Limit;
use super::difference::Place;
use super::split::Split;
use super::verdict::{EXITS, Verdict, worst};

/// A limit that a figure was held to.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The limit.
    pub limit: Limit,
    /// How it went: `ok`, or what is wrong.
    pub verdict: Verdict,
    /// By how much the figure is beyond it, in millionths; 0 when it is not.
    pub beyond: i128,
}

/// One figure.
#[derive(Clone, Debug)]
pub struct Row {
    /// The cell.
    pub cell: String,
    /// The metric; `None`: the row is about the whole cell, which failed.
    pub metric: Option<&'static Metric>,
    /// The metric's name as the lock has it, which may be of another version.
    pub name: String,
    /// All that is to be said of it, worst first; never empty.
    pub verdicts: Vec<Verdict>,
    /// The value; `None`: it was not measured, or is not there any more.
    pub value: Option<Number>,
    /// The accepted value.
    pub accepted: Option<Number>,
    /// Why it has no value, why its cell failed, what it may have been renamed to: in a sentence.
    pub remark: Option<String>,
    /// The limits that it was held to.
    pub held: Vec<Held>,
    /// Where its tokens stand.
    pub split: Option<Split>,
    /// What it has more of than was accepted, by where the tokens stand.
    pub growth: Option<Split>,
    /// Where the cell first differs from what was accepted; only where the figure moved or is stale.
    pub place: Option<Place>,
}

impl Row {
    /// The worst verdict.
    pub fn worst(&self) -> Verdict {
        self.verdicts.first().copied().unwrap_or(Verdict::Ok)
    }
}

/// A budget of the file with the cells that it matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matched {
    /// Its line.
    pub line: u32,
    /// What it names, as it was written.
    pub names: String,
    /// The scenarios of that.
    pub scenarios: Vec<String>,
    /// How many cells it matched.
    pub cells: usize,
}

/// Something that concerns no single figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// How the check ends because of it.
    pub exit: Exit,
    /// The line of the budgets' file that it is about.
    pub line: Option<u32>,
    /// What is wrong and what to do.
    pub message: String,
}

/// What a check was given beside the files at their usual places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Folders of runs, or scenarios and recordings.
    pub what: Vec<String>,
    /// Whether those are folders of runs.
    pub are_runs: bool,
    /// Options with their values, of those that take one.
    pub options: Vec<(String, Option<String>)>,
}

/// What a check is made with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// The encoding of every token figure.
    pub tokenizer: String,
    /// Whether what cannot be compared fails.
    pub locked: bool,
    /// Whether warnings fail as errors do.
    pub strict: bool,
    /// The budgets' file, as it was given.
    pub budgets_file: String,
    /// The lock, as it was given, or the revision that it was read from.
    pub lock_file: String,
    /// Whether there is a lock.
    pub has_lock: bool,
    /// What was typed that the commands of a report need again.
    pub given: Given,
}

/// How a check went.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What it was made with.
    pub about: About,
    /// The rows, by cell and metric.
    pub rows: Vec<Row>,
    /// The budgets.
    pub matched: Vec<Matched>,
    /// What concerns no single figure.
    pub troubles: Vec<Trouble>,
}

impl Checked {
    /// A check that looked at nothing, and why.
    pub fn of_nothing(about: About, why: Trouble) -> Checked {
        Checked { about, rows: vec![], matched: vec![], troubles: vec![why] }
    }

    /// Every exit code that applies, each once, the one that wins first.
    pub fn exits(&self) -> Vec<Exit> {
        let of_rows = self.rows.iter().flat_map(|row| row.verdicts.iter()).map(|verdict| verdict.exit(self.about.locked));
        let all: Vec<Exit> = of_rows.chain(self.troubles.iter().map(|trouble| trouble.exit)).collect();
        EXITS.into_iter().filter(|exit| *exit != Exit::Fine && all.contains(exit)).collect()
    }

    /// The exit code.
    pub fn exit(&self) -> Exit {
        worst(self.exits())
    }

    /// How many rows have each verdict as their worst, worst first.
    pub fn counts(&self) -> Vec<(Verdict, usize)> {
        let count = |verdict| self.rows.iter().filter(|row| row.worst() == verdict).count();
        Verdict::ALL.into_iter().map(|verdict| (verdict, count(verdict))).filter(|(_, count)| *count > 0).collect()
    }

    /// How many cells were looked at.
    pub fn cells(&self) -> usize {
        self.rows.iter().map(|row| row.cell.as_str()).collect::<BTreeSet<_>>().len()
    }
}
