//! What stands in a table for people: one row a strategy, a small set of columns, the best of each marked.

use std::collections::BTreeSet;

use indexmap::{IndexMap, IndexSet};

use crate::metrics::{Better, metric};
use crate::results::{CellResult, Evidence, Head, Status, SummaryRow};
use crate::stats::{Direction, pareto};

use super::numerals::{count, dollars, few, seconds, share};

/// How a column's numbers are written.
#[derive(Clone, Copy)]
enum Written {
    Count,
    Few,
    Seconds,
    Share,
    Dollars,
}

/// A column: the sum of some metrics.
struct Column {
    title: &'static str,
    /// The title in two short lines.
    lines: &'static str,
    /// The metric that says which way is better, and of how many scenarios a mean is.
    first: &'static str,
    /// What is added to it.
    and: &'static [&'static str],
    /// Stands in brackets behind the number when it is not 0.
    beside: Option<&'static str>,
    written: Written,
}

const fn column(title: &'static str, lines: &'static str, first: &'static str, written: Written) -> Column {
    Column { title, lines, first, and: &[], beside: None, written }
}

impl Column {
    fn metrics(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.first).chain(self.and.iter().copied())
    }
}

/// The columns; with the strategy they fit into 80 characters.
const COLUMNS: [Column; 7] = [
    column("parent context", "parent\ncontext", "parent.final_context", Written::Count),
    column("parent input", "parent\ninput", "parent.input_total", Written::Count),
    Column {
        title: "total tokens",
        lines: "total\ntokens",
        first: "total.input",
        and: &["total.output"],
        beside: None,
        written: Written::Count,
    },
    column("cost $", "cost\n$", "cost.usd", Written::Dollars),
    column("requests", "re-\nquests", "requests", Written::Few),
    column("time s", "time\ns", "latency.end_to_end", Written::Seconds),
    Column {
        title: "quality (rescues)",
        lines: "quality\n(rescues)",
        first: "quality",
        and: &[],
        beside: Some("rescues"),
        written: Written::Share,
    },
];

/// What a reader of the tables must know.
pub(super) const READING_HELP: &str = "Parent context: tokens of the parent's last request with its reply. Parent input: all its requests, re-sent \
     history counted each time. Total tokens: input and output of all threads. Cost: of all requests at list prices, by what \
     the provider's prompt cache makes of each. Time is virtual. Less is better \
     everywhere but in quality, which runs from 0 to 1; in brackets how often the parent did the work itself after a \
     delegation failed. Read both together.";

/// A table for people.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Table {
    /// What it is about.
    pub title: String,
    /// The titles of the columns, the strategy's first.
    pub titles: Vec<&'static str>,
    /// The same in two short lines each.
    pub heads: Vec<&'static str>,
    /// The rows.
    pub rows: Vec<Row>,
    /// What must be said below it.
    pub notes: Vec<String>,
}

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// The strategy, with a mark when it failed.
    pub strategy: String,
    /// The numbers.
    pub values: Vec<Value>,
}

/// A number in a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Value {
    /// As text.
    pub text: String,
    /// Whether it is the best of its column.
    pub best: bool,
}

/// What the rows of a table have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    scenario: String,
    size: &'static str,
    model: String,
    evidence: Evidence,
}

/// Means of a strategy's cells.
#[derive(Default)]
struct Figures {
    sums: IndexMap<&'static str, (f64, u32)>,
    reasons: IndexMap<&'static str, String>,
    failed: Option<String>,
    notes: IndexSet<String>,
    cells: usize,
}

/// Folds the cells of one scenario into a table.
pub(super) struct Folding {
    head: Head,
    group: Group,
    seeds: BTreeSet<u64>,
    strategies: IndexMap<String, Figures>,
}

fn wanted() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().flat_map(|column| column.metrics().chain(column.beside))
}

impl Group {
    /// The group of a cell.
    pub fn of(cell: &CellResult) -> Group {
        Group { scenario: cell.scenario.clone(), size: cell.size.name(), model: cell.model.clone(), evidence: cell.evidence }
    }
}

impl Folding {
    /// An empty table of a group.
    pub fn new(head: &Head, group: Group) -> Folding {
        Folding { head: head.clone(), group, seeds: BTreeSet::new(), strategies: IndexMap::new() }
    }

    /// The group.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// Takes a cell of the group in.
    pub fn add(&mut self, cell: &CellResult) {
        self.seeds.insert(cell.seed);
        let figures = self.strategies.entry(cell.strategy.clone()).or_default();
        figures.cells += 1;
        for name in wanted() {
            match cell.metrics.get(name).copied().flatten() {
                Some(value) => {
                    let (sum, n) = figures.sums.entry(name).or_default();
                    (*sum, *n) = (*sum + value.value(), *n + 1);
                }
                None => {
                    let why = cell.unmeasured.get(name).map_or("not measured", AsRef::as_ref);
                    figures.reasons.entry(name).or_insert_with(|| why.to_owned());
                }
            }
        }
        if let Some(why) = &cell.failure {
            let expected = if cell.status == Status::ExpectedFailure { ", as the scenario expects" } else { "" };
            figures.failed.get_or_insert_with(|| format!("failed ({}{expected}): {}", why.kind, why.message));
        }
        figures.notes.extend(cell.notes.iter().cloned());
    }

    /// The table.
    pub fn table(self) -> Table {
        let Group { scenario, size, model, evidence } = &self.group;
        let seeds = self.seeds.len();
        let means = if seeds > 1 { format!(" · means of {seeds} seeds") } else { String::new() };
        let title = format!("{scenario} · {size} · {model}{means}");
        let mut notes: Vec<String> = Vec::new();
        for (strategy, figures) in &self.strategies {
            notes.extend(figures.failed.iter().map(|why| format!("! {strategy} {why}")));
        }
        let short = self.strategies.iter().filter(|(_, figures)| figures.cells < seeds);
        notes.extend(
            short.map(|(name, figures)| format!("{name}: {} of {seeds} seeds were run, so it competes with nobody", figures.cells)),
        );
        notes.extend(gaps(&self.strategies));
        notes.extend(remarks(&self.strategies));
        notes.push(provenance(&self.head, &[*evidence]));
        let rows = self.strategies.iter().map(|(strategy, figures)| {
            let value = |name: &str| figures.sums.get(name).map(|(sum, n)| sum / f64::from(*n));
            let standing = match &figures.failed {
                Some(_) => Standing::Failed,
                None if figures.cells < seeds => Standing::Apart,
                None => Standing::Fair,
            };
            (strategy.clone(), standing, Box::new(value) as Box<dyn Fn(&str) -> Option<f64> + '_>)
        });
        Table { title, titles: heads(|column| column.title), heads: heads(|column| column.lines), rows: rows_of(rows.collect()), notes }
    }
}

/// A metric's mean and the scenarios that it is of, by name.
type Means<'a> = IndexMap<&'a str, (f64, u64)>;

/// A table of the means over all scenarios; `None` when that would say nothing new.
pub(super) fn overview(head: &Head, summary: &[SummaryRow]) -> Option<Table> {
    let mut strategies: IndexMap<(&str, &str, Evidence), Means<'_>> = IndexMap::new();
    for row in summary {
        let key = (row.strategy.as_str(), row.model.as_str(), row.evidence);
        strategies.entry(key).or_default().insert(&row.metric, (row.mean.value(), row.n));
    }
    let scenarios = summary.iter().map(|row| row.n).max().unwrap_or(0);
    if scenarios < 2 {
        return None;
    }
    let keys: Vec<(&str, &str, Evidence)> = strategies.keys().copied().collect();
    let levels: BTreeSet<Evidence> = keys.iter().map(|key| key.2).collect();
    let mut notes = Vec::new();
    let mut unfair = BTreeSet::new();
    for (key, figures) in &strategies {
        if figures.get("failures").is_some_and(|failures| failures.0 > 0.0) {
            unfair.insert(*key);
            notes.push(format!("! {}: cells that failed are in its means, as far as they went", key.0));
        }
        let titles: Vec<(&str, u64)> = COLUMNS.iter().filter_map(|c| Some((c.title, figures.get(c.first)?.1))).collect();
        let short: Vec<String> = titles.iter().filter(|one| one.1 < scenarios).map(|(title, n)| format!("{title} of {n}")).collect();
        if short.is_empty() {
            continue;
        }
        unfair.insert(*key);
        let counts: BTreeSet<u64> = titles.iter().map(|one| one.1).collect();
        let of = match counts.first().filter(|_| counts.len() == 1) {
            Some(count) => format!("means of {count}"),
            None => format!("means of fewer: {}", short.join(", ")),
        };
        notes.push(format!("{}: {of}, so it competes with nobody", key.0));
    }
    let rows = strategies.iter().map(|((strategy, model, evidence), figures)| {
        let name = named(&(*strategy, *model, *evidence), &keys);
        let value = |metric: &str| figures.get(metric).map(|figure| figure.0);
        let failed = figures.get("failures").is_some_and(|failures| failures.0 > 0.0);
        let standing = match (failed, unfair.contains(&(*strategy, *model, *evidence))) {
            (true, _) => Standing::Failed,
            (false, true) => Standing::Apart,
            (false, false) => Standing::Fair,
        };
        (name, standing, Box::new(value) as Box<dyn Fn(&str) -> Option<f64> + '_>)
    });
    let rows = rows_of(rows.collect());
    notes.extend(overlaps(summary));
    let fair = |row: &SummaryRow| !unfair.contains(&(row.strategy.as_str(), row.model.as_str(), row.evidence));
    notes.extend(front(summary.iter().filter(|row| fair(row))));
    notes.push(provenance(head, &levels.into_iter().collect::<Vec<_>>()));
    Some(Table {
        title: format!("all scenarios · means of {scenarios}"),
        titles: heads(|column| column.title),
        heads: heads(|column| column.lines),
        rows,
        notes,
    })
}

/// A strategy's name beside others: with its model and evidence where these differ.
pub(super) fn named((strategy, model, evidence): &(&str, &str, Evidence), all: &[(&str, &str, Evidence)]) -> String {
    let models = all.iter().any(|(_, other, _)| other != model).then_some(*model);
    let levels = all.iter().any(|(.., other)| other != evidence).then_some(evidence.name());
    let differing: Vec<&str> = models.into_iter().chain(levels).collect();
    if differing.is_empty() { (*strategy).to_owned() } else { format!("{strategy} [{}]", differing.join(", ")) }
}

/// What a strategy is chosen by, and how people call it. Where nothing is priced, the input of all stands for what it costs.
const OBJECTIVES: [(&str, &str); 4] =
    [("parent.input_total", "parent input"), ("cost.usd", "cost"), ("latency.end_to_end", "time"), ("quality", "quality")];
const UNPRICED: (&str, &str) = ("total.input", "input of all");

/// The strategies that nobody beats in everything at once: for each other one there is one that is as good in all objectives and
/// better in one.
fn front<'a>(summary: impl Iterator<Item = &'a SummaryRow>) -> Option<String> {
    let summary: Vec<&SummaryRow> = summary.collect();
    let is_priced = summary.iter().any(|row| row.metric == "cost.usd");
    let objectives = OBJECTIVES.map(|one| if one.0 == "cost.usd" && !is_priced { UNPRICED } else { one });
    let mut points: IndexMap<(&str, &str, Evidence), Vec<Option<f64>>> = IndexMap::new();
    for row in summary {
        let point = points.entry((&row.strategy, &row.model, row.evidence)).or_insert_with(|| vec![None; objectives.len()]);
        if let Some(at) = objectives.iter().position(|(name, _)| *name == row.metric) {
            point[at] = Some(row.mean.value());
        }
    }
    let better = objectives.map(|(name, _)| match metric(name).map(|metric| metric.better) {
        Some(Better::Higher) => Direction::Higher,
        _ => Direction::Lower,
    });
    let figures: Vec<Vec<Option<f64>>> = points.values().cloned().collect();
    let front = pareto(&figures, &better);
    if points.len() < 2 || front.best.is_empty() {
        return None;
    }
    let names: Vec<&str> = front.best.iter().filter_map(|at| points.get_index(*at)).map(|((strategy, _, _), _)| *strategy).collect();
    let titles: Vec<&str> = objectives.iter().map(|(_, title)| *title).collect();
    Some(format!("Nobody's means are better in all of {} at once than those of {}.", titles.join(", "), names.join(", ")))
}

/// How far the best mean of each column can be told from the others: whose 95 % interval overlaps its own. A ranking of means
/// says less than it seems to.
fn overlaps(summary: &[SummaryRow]) -> Option<String> {
    let mut told: Vec<String> = Vec::new();
    let mut unknown: Vec<&str> = Vec::new();
    for column in &COLUMNS {
        let of_column = || summary.iter().filter(|row| row.metric == column.first);
        let Some(better) = metric(column.first).map(|metric| metric.better) else { continue };
        let best = match better {
            Better::Lower => of_column().min_by(|a, b| a.mean.value().total_cmp(&b.mean.value())),
            Better::Higher => of_column().max_by(|a, b| a.mean.value().total_cmp(&b.mean.value())),
            Better::Neither => None,
        };
        // A column of sums has no interval of its own.
        let ends =
            |row: &SummaryRow| row.low.zip(row.high).filter(|_| column.and.is_empty()).map(|(low, high)| (low.value(), high.value()));
        let Some(best) = best else { continue };
        let Some((low, high)) = ends(best) else {
            unknown.push(column.title);
            continue;
        };
        let others = || of_column().filter(|row| !std::ptr::eq(*row, best));
        let overlapping = others().filter_map(ends).filter(|(other_low, other_high)| *other_low <= high && low <= *other_high).count();
        if overlapping > 0 {
            told.push(format!("{} {overlapping} of {}", column.title, others().count()));
        }
    }
    if told.is_empty() && unknown.len() == COLUMNS.len() {
        return None;
    }
    let unknown = if unknown.is_empty() { String::new() } else { format!(" No interval: {}.", unknown.join(", ")) };
    let told = if told.is_empty() { "none".to_owned() } else { told.join(", ") };
    Some(format!(
        "How sure: the 95 % interval of the best mean overlaps those of others in {told}.{unknown} Intervals are in the JSON; `ctxbench diff` \
         compares two strategies pair by pair, which tells them apart sooner."
    ))
}

fn heads(of: fn(&Column) -> &'static str) -> Vec<&'static str> {
    std::iter::once("strategy").chain(COLUMNS.iter().map(of)).collect()
}

/// Whether a row competes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It does.
    Fair,
    /// It is a mean of something else than the others.
    Apart,
    /// What a failed run did until it failed competes with nobody.
    Failed,
}

type Figure<'a> = Box<dyn Fn(&str) -> Option<f64> + 'a>;

fn rows_of(rows: Vec<(String, Standing, Figure<'_>)>) -> Vec<Row> {
    let numbers = |column: &Column| -> Vec<Option<f64>> {
        rows.iter().map(|(_, _, value)| column.metrics().map(value).sum::<Option<f64>>()).collect()
    };
    let columns: Vec<Vec<Option<f64>>> = COLUMNS.iter().map(numbers).collect();
    let bests: Vec<Option<f64>> = COLUMNS
        .iter()
        .zip(&columns)
        .map(|(column, values)| {
            let fair = values.iter().zip(&rows).filter(|(_, row)| row.1 == Standing::Fair).filter_map(|(value, _)| *value);
            best(column, fair)
        })
        .collect();
    rows.iter()
        .enumerate()
        .map(|(at, (strategy, standing, value))| {
            let values = COLUMNS.iter().zip(&columns).zip(&bests).map(|((column, values), best)| {
                let number = values.get(at).copied().flatten();
                let mut text = number.map_or("–".to_owned(), |number| column.written.text(number));
                if let Some(beside) = column.beside.and_then(value).filter(|beside| *beside != 0.0) {
                    text += &format!(" ({})", few(beside));
                }
                Value { text, best: *standing == Standing::Fair && number.is_some() && number == *best }
            });
            Row { strategy: format!("{strategy}{}", if *standing == Standing::Failed { " !" } else { "" }), values: values.collect() }
        })
        .collect()
}

/// The best value of a column, unless all are equal.
fn best(column: &Column, values: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let low = values.clone().reduce(f64::min)?;
    let high = values.reduce(f64::max)?;
    if low == high {
        return None;
    }
    match metric(column.first)?.better {
        Better::Lower => Some(low),
        Better::Higher => Some(high),
        Better::Neither => None,
    }
}

/// Why a table has gaps: one line a reason.
fn gaps(strategies: &IndexMap<String, Figures>) -> Vec<String> {
    let mut by_reason: IndexMap<(&str, &str), Vec<&str>> = IndexMap::new();
    for (strategy, figures) in strategies {
        for column in &COLUMNS {
            let missing = column.metrics().find(|name| !figures.sums.contains_key(name));
            if let Some(reason) = missing.and_then(|name| figures.reasons.get(name)) {
                by_reason.entry((column.title, reason)).or_default().push(strategy);
            }
        }
    }
    let all = strategies.len();
    let whom = |names: Vec<&str>| if names.len() == all { "every row".to_owned() } else { names.join(", ") };
    by_reason.into_iter().map(|((title, reason), names)| format!("– {title}: {reason} ({})", whom(names))).collect()
}

/// What must be known beside the figures: once for all rows, or with the rows that it is about.
fn remarks(strategies: &IndexMap<String, Figures>) -> Vec<String> {
    let mut by_text: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for (strategy, figures) in strategies {
        for note in &figures.notes {
            by_text.entry(note).or_default().push(strategy);
        }
    }
    let all = strategies.len();
    let line =
        |(note, names): (&str, Vec<&str>)| if names.len() == all { note.to_owned() } else { format!("{}: {note}", names.join(", ")) };
    by_text.into_iter().map(line).collect()
}

/// Where the figures come from.
fn provenance(head: &Head, levels: &[Evidence]) -> String {
    let levels: Vec<String> = levels.iter().map(|level| format!("{} ({})", level.name(), level.claim())).collect();
    let latency = &head.settings.latency;
    let profile = if latency.starts_with("as measured") { "" } else { "latency profile " };
    format!("Evidence: {}. Tokens: {}. Time: {profile}{latency}.", levels.join(" and "), head.tokenizer)
}

impl Written {
    fn text(self, value: f64) -> String {
        match self {
            Written::Count => count(value),
            Written::Few => few(value),
            Written::Seconds => seconds(value),
            Written::Share => share(value),
            Written::Dollars => dollars(value),
        }
    }
}
