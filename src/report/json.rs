//! The JSON document: one cell a line, so that a difference of two runs reads well.

use serde::Serialize;

use crate::results::{CellResult, Head, RESULTS_FORMAT, SummaryRow};

use super::Report;

/// Writes `ctxbench-results/1`.
#[derive(Default)]
pub(super) struct Json {
    cells: usize,
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
        format!("{}\n{}", if self.cells > 1 { "," } else { "" }, text(cell))
    }

    fn end(&mut self, summary: &[SummaryRow]) -> String {
        let rows: Vec<String> = summary.iter().map(text).collect();
        format!("\n],\"summary\":[\n{}\n]}}\n", rows.join(",\n"))
    }
}

fn text(value: &(impl Serialize + ?Sized)) -> String {
    // These types hold string keys and numbers alone, which always can be written.
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}
