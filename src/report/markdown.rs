//! Tables for a page: GitHub's Markdown.

use crate::results::{BreakEvens, CellResult, Head, SummaryRow};

use super::Report;
use super::break_evens::break_evens;
use super::columns::{Folding, Group, READING_HELP, Table, overview};
use super::passes::passes;
use super::uses::uses;

/// Writes a section a scenario.
#[derive(Default)]
pub(super) struct Markdown {
    head: Option<Head>,
    folding: Option<Folding>,
    break_evens: BreakEvens,
}

impl Markdown {
    fn finish(&mut self) -> String {
        self.folding.take().map_or(String::new(), |folding| draw(&folding.table()))
    }
}

impl Report for Markdown {
    fn begin(&mut self, head: &Head) -> String {
        self.head = Some(head.clone());
        "# ctxbench\n".to_owned()
    }

    fn cell(&mut self, cell: &CellResult) -> String {
        self.break_evens.add(cell);
        let Some(head) = self.head.clone() else { return String::new() };
        let group = Group::of(cell);
        let text = if self.folding.as_ref().is_some_and(|folding| *folding.group() != group) { self.finish() } else { String::new() };
        self.folding.get_or_insert_with(|| Folding::new(&head, group)).add(cell);
        text
    }

    fn end(&mut self, summary: &[SummaryRow]) -> String {
        let mut text = self.finish();
        if let Some(table) = self.head.as_ref().and_then(|head| overview(head, summary)) {
            text += &draw(&table);
        }
        if let Some(table) = uses(summary) {
            text += &draw(&table);
        }
        if let Some(table) = self.head.as_ref().and_then(|head| passes(head, summary)) {
            text += &draw(&table);
        }
        if let Some(table) = break_evens(&self.break_evens.rows()) {
            text += &draw(&table);
        }
        text + &format!("\n**Bold**: the best of its column. {READING_HELP}\n")
    }
}

fn draw(table: &Table) -> String {
    let mut text = format!("\n## {}\n\n| {} |\n|", escaped(&table.title), table.titles.join(" | "));
    text += " --- |";
    text += &" ---: |".repeat(table.titles.len().saturating_sub(1));
    text.push('\n');
    for row in &table.rows {
        text += &format!("| `{}` |", row.strategy.replace('|', "\\|"));
        for value in &row.values {
            text += &if value.best { format!(" **{}** |", value.text) } else { format!(" {} |", value.text) };
        }
        text.push('\n');
    }
    text.push('\n');
    for note in &table.notes {
        text += &format!("- {}\n", escaped(note));
    }
    text
}

/// A line of text in which nothing is markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}
