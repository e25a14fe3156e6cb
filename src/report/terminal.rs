//! Tables for a terminal of 80 columns, the same whatever the terminal is.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table as Drawn, TableStyle, Width};

use crate::results::{BreakEvens, CellResult, Head, SummaryRow};

use super::Report;
use super::break_evens::break_evens;
use super::columns::{Folding, Group, READING_HELP, Table, overview};
use super::folded::folded;
use super::passes::passes;
use super::uses::uses;

/// The widest line of text; tables of usual names and numbers keep to it too.
const WIDTH: usize = 80;
/// The widest name of a strategy before its options go on in the next line.
const NAME: usize = 20;
/// The widest line of a name before its profile goes on in the next line.
const LONGEST: usize = 22;

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";

/// Writes tables with or without colour.
pub(super) struct Terminal {
    colour: bool,
    head: Option<Head>,
    folding: Option<Folding>,
    break_evens: BreakEvens,
    tables: usize,
}

impl Terminal {
    /// Without colour, the best are still marked.
    pub fn new(colour: bool) -> Terminal {
        Terminal { colour, head: None, folding: None, break_evens: BreakEvens::default(), tables: 0 }
    }

    fn finish(&mut self) -> String {
        let Some(folding) = self.folding.take() else { return String::new() };
        self.draw(&folding.table())
    }

    fn style(&self, style: &str, text: &str) -> String {
        if self.colour { format!("{style}{text}{PLAIN}") } else { text.to_owned() }
    }

    fn draw(&mut self, table: &Table) -> String {
        self.tables += 1;
        let mut text = if self.tables > 1 { "\n".to_owned() } else { String::new() };
        text += &self.style(BOLD, &table.title);
        text.push('\n');
        for (at, line) in lines(table).into_iter().enumerate() {
            // Two lines of heads and a rule stand first.
            text += &if self.colour && at > 2 { emphasised(&line) } else { line };
            text.push('\n');
        }
        for note in &table.notes {
            for line in folded(note, WIDTH) {
                text += &self.style(DIM, &line);
                text.push('\n');
            }
        }
        text
    }
}

impl Report for Terminal {
    fn begin(&mut self, head: &Head) -> String {
        self.head = Some(head.clone());
        String::new()
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
            text += &self.draw(&table);
        }
        if let Some(table) = uses(summary) {
            text += &self.draw(&table);
        }
        if let Some(table) = self.head.as_ref().and_then(|head| passes(head, summary)) {
            text += &self.draw(&table);
        }
        if let Some(table) = break_evens(&self.break_evens.rows()) {
            text += &self.draw(&table);
        }
        if self.tables > 0 {
            text.push('\n');
            for line in folded(&format!("* the best of its column. {READING_HELP}"), WIDTH) {
                text += &self.style(DIM, &line);
                text.push('\n');
            }
        }
        text
    }
}

fn lines(table: &Table) -> Vec<String> {
    let mut drawn = Drawn::new();
    let rule = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
    drawn.load_style(rule).set_content_arrangement(ContentArrangement::Disabled);
    drawn.set_header(table.heads.iter().copied());
    for row in &table.rows {
        // The mark takes a place in every number, so that digits stand below digits.
        let marked = row.values.iter().map(|value| format!("{}{}", value.text, if value.best { "*" } else { " " }));
        drawn.add_row(std::iter::once(broken(&row.strategy)).chain(marked));
    }
    for (at, column) in drawn.column_iter_mut().enumerate() {
        column.set_padding((0, 0));
        if at == 0 {
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(20)));
        } else {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    drawn.lines().map(|line| line.trim_end().to_owned()).collect()
}

/// A strategy's name, its options on lines of their own if it is too long for one.
fn broken(name: &str) -> String {
    if name.chars().count() <= NAME {
        return name.to_owned();
    }
    let (strategy, beside) = name.split_once(" [").unwrap_or((name, ""));
    let mut text = strategy.to_owned();
    if strategy.chars().count() > NAME {
        text = strategy.replacen(':', ":\n ", 1).replace(',', ",\n ");
        let first = text.split('\n').next().unwrap_or_default();
        if first.chars().count() > LONGEST {
            text = text.replacen('@', "\n @", 1);
        }
    }
    if !beside.is_empty() {
        text += &format!("\n [{}", beside.replacen(':', ":\n  ", 1).replace(',', ",\n  ").replace("\n   ", "\n  "));
    }
    text
}

/// A line of the table with what is marked in bold.
fn emphasised(line: &str) -> String {
    let mut text = String::with_capacity(line.len() + 16);
    let mut rest = line;
    while let Some(mark) = rest.find('*') {
        let (before, after) = rest.split_at(mark + 1);
        // All places are those of blanks or stars, so every slice is of whole characters. The number goes back to the blank before it, or before its neighbour if it stands in brackets.
        let word = |end: usize| before[..end].rfind(' ').map_or(0, |blank| blank + 1);
        let last = word(before.len());
        let start = if before[last..].starts_with('(') { word(last.saturating_sub(1)) } else { last };
        text += &format!("{}{BOLD}{}{PLAIN}", &before[..start], &before[start..]);
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_numbers_alone_are_bold() {
        let check = |line: &str, expect: &str| {
            assert_eq!(emphasised(line).replace(BOLD, "<").replace(PLAIN, ">"), expect);
        };
        check("a 1 2", "a 1 2");
        check("a   1* 22 3*", "a   <1*> 22 <3*>");
        check("a 1,234* 0.75 (2)*", "a <1,234*> <0.75 (2)*>");
    }
}
