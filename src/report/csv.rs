//! The CSV table: one row a cell, one column a metric in the one order of metrics.

use crate::metrics::METRICS;
use crate::results::{CellResult, Head, SummaryRow};

use super::Report;

/// Writes CSV; what was not measured is an empty field.
#[derive(Default)]
pub(super) struct Csv {
    tokenizer: String,
}

const LABELS: [&str; 11] =
    ["cell", "scenario", "size", "strategy", "model", "seed", "evidence", "tokenizer", "status", "failure", "fingerprint"];

impl Report for Csv {
    fn begin(&mut self, head: &Head) -> String {
        self.tokenizer = head.tokenizer.clone();
        line(LABELS.into_iter().chain(METRICS.iter().map(|metric| metric.name)).map(str::to_owned).collect())
    }

    fn cell(&mut self, cell: &CellResult) -> String {
        let labels = [
            cell.cell.clone(),
            cell.scenario.clone(),
            cell.size.name().to_owned(),
            cell.strategy.clone(),
            cell.model.clone(),
            cell.seed.to_string(),
            cell.evidence.name().to_owned(),
            self.tokenizer.clone(),
            cell.status.name().to_owned(),
            cell.failure.as_ref().map(|why| why.kind.clone()).unwrap_or_default(),
            cell.fingerprint.clone(),
        ];
        let figure = |name: &str| cell.metrics.get(name).copied().flatten().map(|value| value.to_string()).unwrap_or_default();
        line(labels.into_iter().chain(METRICS.iter().map(|metric| figure(metric.name))).collect())
    }

    fn end(&mut self, _: &[SummaryRow]) -> String {
        String::new()
    }
}

fn line(fields: Vec<String>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing one record into memory cannot fail.
    let bytes = writer.write_record(&fields).ok().and_then(|()| writer.into_inner().ok()).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}
