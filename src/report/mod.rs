//! Reports: what a run's results look like to people and to programs. Pure: results in, text out; equal results, equal
//! bytes. No report prints what is not in the JSON, or does not follow from it.
//!
//! A report is told cell by cell, so that results of any number are written as they come and never held.

mod billed;
mod break_evens;
mod checked;
mod columns;
mod compared;
mod csv;
mod folded;
mod json;
mod markdown;
mod numerals;
mod partings;
mod passes;
mod shown;
mod shown_text;
mod shown_versus;
mod shown_versus_text;
mod swept;
mod terminal;
mod uses;

pub use billed::{Billed, BilledRequest, billed_text};
pub use checked::{
    CHECK_FORMAT, EXPLAIN_FORMAT, Explained, accepted, check_schema, checked, exit_line, explained_json, explained_text, last_line,
};
pub use compared::{DIFF_FORMAT, Sides, compared};
pub use shown::{SHOW_FORMAT, Sent, Shown, ShownArrival, ShownExchange, ShownItem, ShownRequest, ShownThread};
pub use shown_text::{Texts, cell_text, request_text};
pub use shown_versus::{
    OpeningDifference, ThreadSpend, VERSUS_FORMAT, Versus, VersusCell, VersusOpening, VersusReturn, VersusSide, VersusSpend,
};
pub use shown_versus_text::versus_text;
pub use swept::{SWEEP_FORMAT, Swept, swept};

use crate::results::{CellResult, Head, Results, SummaryRow};

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Tables for people, in a terminal.
    Human,
    /// `ctxbench-results/1`.
    Json,
    /// One row a cell.
    Csv,
    /// Tables for people, in a page.
    Markdown,
    /// JUnit XML of a check.
    Junit,
    /// Annotations of a check, as GitHub's workflow commands.
    Github,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 6] = [Format::Human, Format::Json, Format::Csv, Format::Markdown, Format::Junit, Format::Github];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Format::Human => "human",
            Format::Json => "json",
            Format::Csv => "csv",
            Format::Markdown => "markdown",
            Format::Junit => "junit",
            Format::Github => "github",
        }
    }

    /// A line about it.
    pub fn about(self) -> &'static str {
        match self {
            Format::Human => "a table a scenario, for a terminal of 80 columns",
            Format::Json => "ctxbench-results/1: every cell with every metric (`ctxbench schema results`)",
            Format::Csv => "one row a cell, one column a metric",
            Format::Markdown => "a table a scenario, for a page",
            Format::Junit => "`check` alone: JUnit XML, one case a cell and metric",
            Format::Github => "`check` alone: annotations at the lines of budgets.toml, as GitHub's workflow commands",
        }
    }

    /// A report of a run in this format, `None` if runs are not written in it; `colour` matters to terminals alone.
    pub fn report(self, colour: bool) -> Option<Box<dyn Report>> {
        Some(match self {
            Format::Human => Box::new(terminal::Terminal::new(colour)),
            Format::Json => Box::new(json::Json::default()),
            Format::Csv => Box::new(csv::Csv::default()),
            Format::Markdown => Box::new(markdown::Markdown::default()),
            Format::Junit | Format::Github => return None,
        })
    }
}

/// Text for what a run tells, piece by piece: written one after the other, the pieces are the whole report.
pub trait Report {
    /// What stands before the cells.
    fn begin(&mut self, head: &Head) -> String;
    /// What one more cell adds, cells coming in plan order.
    fn cell(&mut self, cell: &CellResult) -> String;
    /// What stands after the cells.
    fn end(&mut self, summary: &[SummaryRow]) -> String;
}

/// A whole report of results that are at hand; `None`: runs are not written in that format.
pub fn render(format: Format, colour: bool, results: &Results) -> Option<String> {
    let mut report = format.report(colour)?;
    let mut text =
        report.begin(&Head { tokenizer: results.tokenizer.clone(), prices: results.prices.clone(), settings: results.settings.clone() });
    for cell in &results.cells {
        text += &report.cell(cell);
    }
    Some(text + &report.end(&results.summary))
}

#[cfg(test)]
mod tests;
