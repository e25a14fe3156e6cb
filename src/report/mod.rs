//! Reports: what a run's results look like to people and to programs. Pure: results in, text out; equal results, equal
//! bytes. No report prints what is not in the JSON, or does not follow from it.
//!
//! A report is told cell by cell, so that results of any number are written as they come and never held.

mod columns;
mod csv;
mod folded;
mod json;
mod markdown;
mod numerals;
mod shown;
mod shown_text;
mod shown_versus;
mod shown_versus_text;
mod terminal;

pub use shown::{SHOW_FORMAT, Sent, Shown, ShownArrival, ShownExchange, ShownItem, ShownRequest, ShownThread};
pub use shown_text::{Texts, cell_text, request_text};
pub use shown_versus::{
    OpeningDifference, ThreadSpend, VERSUS_FORMAT, Versus, VersusCell, VersusOpening, VersusReturn, VersusSide, VersusSpend,
};
pub use shown_versus_text::versus_text;

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
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 4] = [Format::Human, Format::Json, Format::Csv, Format::Markdown];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Format::Human => "human",
            Format::Json => "json",
            Format::Csv => "csv",
            Format::Markdown => "markdown",
        }
    }

    /// A line about it.
    pub fn about(self) -> &'static str {
        match self {
            Format::Human => "a table a scenario, for a terminal of 80 columns",
            Format::Json => "ctxbench-results/1: every cell with every metric (`ctxbench schema results`)",
            Format::Csv => "one row a cell, one column a metric",
            Format::Markdown => "a table a scenario, for a page",
        }
    }

    /// A report in this format; `colour` matters to terminals alone.
    pub fn report(self, colour: bool) -> Box<dyn Report> {
        match self {
            Format::Human => Box::new(terminal::Terminal::new(colour)),
            Format::Json => Box::new(json::Json::default()),
            Format::Csv => Box::new(csv::Csv::default()),
            Format::Markdown => Box::new(markdown::Markdown::default()),
        }
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

/// A whole report of results that are at hand.
pub fn render(format: Format, colour: bool, results: &Results) -> String {
    let mut report = format.report(colour);
    let mut text = report.begin(&Head { tokenizer: results.tokenizer.clone(), settings: results.settings.clone() });
    for cell in &results.cells {
        text += &report.cell(cell);
    }
    text + &report.end(&results.summary)
}

#[cfg(test)]
mod tests;
