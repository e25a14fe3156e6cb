//! The JSON document: one cell a line, so that a difference of two runs reads well.

use serde::Serialize;

use crate::results::{BreakEvens, CellResult, Head, RESULTS_FORMAT, SummaryRow};

use super::Report;

/// Writes `ctxbench-results/1`.
#[derive(Default)]
pub(super) struct Json {
    cells: usize,
    break_evens: BreakEvens,
}

impl Report for Json {
    fn begin(&mut self, head: &Head) -> String {
        format!(
            "{{\"format\":{},\"ctxbench\":{},\"tokenizer\":{},\"prices\":{},\"settings\":{},\"cells\":[",
            text(RESULTS_FORMAT),
            text(env!("CARGO_PKG_VERSION")),
            text(&head.tokenizer),
            text(&head.prices),
            text(&head.settings),
        )
    }

    fn cell(&mut self, cell: &CellResult) -> String {
        self.cells += 1;
        self.break_evens.add(cell);
        format!("{}\n{}", if self.cells > 1 { "," } else { "" }, text(cell))
    }

    fn end(&mut self, summary: &[SummaryRow]) -> String {
        let rows: Vec<String> = summary.iter().map(text).collect();
        let mut text = format!("\n],\"summary\":[\n{}\n]", rows.join(",\n"));
        let rows: Vec<String> = self.break_evens.rows().iter().map(self::text).collect();
        if !rows.is_empty() {
            text += &format!(",\"break_even\":[\n{}\n]", rows.join(",\n"));
        }
        text + "}\n"
    }
}

fn text(value: &(impl Serialize + ?Sized)) -> String {
    // These types hold string keys and numbers alone, which always can be written.
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}
