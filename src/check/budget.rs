//! Budgets: which figures of which cells may be how large.

use crate::metrics::{Better, Metric};
use crate::plan::CellId;
use crate::results::Number;

use super::allowance::Allowance;
use super::pattern::Patterns;

/// What exceeding a limit does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// It fails the check.
    #[default]
    Error,
    /// It is told.
    Warn,
}

impl Level {
    /// Its name in budgets and outputs.
    pub fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warn => "warn",
        }
    }
}

/// All that `budgets.toml` says.
#[derive(Clone, Debug)]
pub struct Budgets {
    /// The file's name, as it was given.
    pub file: String,
    /// The encoding that every token figure must be counted in.
    pub tokenizer: String,
    /// How much figures may grow by where no budget says.
    pub grow: Option<Stated>,
    /// How much scores may drop by where no budget says.
    pub drop: Option<Stated>,
    /// The budgets, in the order of the file.
    pub budgets: Vec<Budget>,
}

/// An allowance with its line in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stated {
    /// The allowance.
    pub allowance: Allowance,
    /// Its line, from 1.
    pub line: u32,
}

/// One `[[budget]]`.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Its line, from 1.
    pub line: u32,
    /// Which scenarios, as they stand in cell ids.
    pub scenario: Patterns,
    /// Which strategies, with their profiles.
    pub strategy: Patterns,
    /// Which models.
    pub model: Patterns,
    /// What it is for; printed when it is exceeded.
    pub why: Option<String>,
    /// The metrics with their limits.
    pub metrics: Vec<MetricBudget>,
}

/// A metric's limits in a budget.
#[derive(Clone, Debug)]
pub struct MetricBudget {
    /// The metric.
    pub metric: &'static Metric,
    /// Its line, from 1.
    pub line: u32,
    /// The largest value.
    pub max: Option<Number>,
    /// The smallest value.
    pub min: Option<Number>,
    /// By how much it may grow from its accepted value.
    pub grow: Option<Allowance>,
    /// By how much it may drop from it.
    pub drop: Option<Allowance>,
    /// What exceeding one of these does.
    pub level: Level,
}

impl Budget {
    /// Whether it is about a cell.
    pub fn names(&self, cell: &CellId) -> bool {
        self.scenario.is_match(&cell.scenario_piece()) && self.strategy.is_match(&cell.strategy) && self.model.is_match(&cell.model)
    }
}

/// What a limit holds a figure to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// At most this.
    Max(Number),
    /// At least this.
    Min(Number),
    /// At most the accepted value and this.
    Grow(Allowance),
    /// At least the accepted value less this.
    Drop(Allowance),
}

/// A limit that holds for one figure, with where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// What it holds the figure to.
    pub bound: Bound,
    /// What exceeding it does.
    pub level: Level,
    /// Its line in the budgets' file; `None`: it was typed.
    pub line: Option<u32>,
    /// Whether the file's defaults say it.
    pub by_default: bool,
    /// What the budget is for.
    pub why: Option<String>,
}

/// Allowances that were typed: they hold beside the file's, so they only tighten.
#[derive(Clone, Copy, Debug, Default)]
pub struct Typed {
    /// By how much figures may grow.
    pub grow: Option<Allowance>,
    /// By how much scores may drop.
    pub drop: Option<Allowance>,
}

impl Budgets {
    /// The metrics that budgets name for a cell, in the order of the metrics' list, each with its limits. Every budget stands for
    /// itself: what one of them says of a metric takes nothing from another.
    pub fn limits(&self, cell: &CellId, typed: Typed) -> Vec<(&'static Metric, Vec<Limit>)> {
        let mut named: Vec<(&'static Metric, Vec<Limit>)> = Vec::new();
        let of_cell = self.budgets.iter().filter(|budget| budget.names(cell));
        for (budget, one) in of_cell.flat_map(|budget| budget.metrics.iter().map(move |one| (budget, one))) {
            let at = named.iter().position(|(metric, _)| metric.name == one.metric.name).unwrap_or_else(|| {
                named.push((one.metric, vec![]));
                named.len() - 1
            });
            for limit in self.limits_of(budget, one, typed) {
                // The same default by two budgets is one limit, as strict as the stricter of them.
                match named[at].1.iter_mut().find(|known| known.bound == limit.bound && known.line == limit.line) {
                    Some(known) if limit.level == Level::Error => known.level = Level::Error,
                    Some(_) => {}
                    None => named[at].1.push(limit),
                }
            }
        }
        let place = |metric: &Metric| crate::metrics::METRICS.iter().position(|one| one.name == metric.name);
        named.sort_by_key(|(metric, _)| place(metric));
        named
    }

    /// What one budget says of a metric: its own limits, the file's default in the metric's direction if it states none of its
    /// own there, and what was typed.
    fn limits_of(&self, budget: &Budget, one: &MetricBudget, typed: Typed) -> Vec<Limit> {
        let limit = |bound, line, by_default, level| Limit { bound, level, line, by_default, why: budget.why.clone() };
        let own = [one.max.map(Bound::Max), one.min.map(Bound::Min), one.grow.map(Bound::Grow), one.drop.map(Bound::Drop)];
        let mut limits: Vec<Limit> = own.into_iter().flatten().map(|bound| limit(bound, Some(one.line), false, one.level)).collect();
        // What is better lower may not grow, what is better higher may not drop.
        let (stated, default, typed): (bool, Option<Stated>, Option<Allowance>) = match one.metric.better {
            Better::Lower => (one.grow.is_some(), self.grow, typed.grow),
            Better::Higher => (one.drop.is_some(), self.drop, typed.drop),
            Better::Neither => return limits,
        };
        let bound = |allowance| if one.metric.better == Better::Lower { Bound::Grow(allowance) } else { Bound::Drop(allowance) };
        if let Some(default) = default.filter(|_| !stated) {
            limits.push(limit(bound(default.allowance), Some(default.line), true, one.level));
        }
        limits.extend(typed.map(|allowance| limit(bound(allowance), None, false, Level::Error)));
        limits
    }
}
