//! What real models made of what they could see: a table below the means. Only they have one: a reader uses all that it sees.

use indexmap::IndexMap;

use crate::results::{Evidence, SummaryRow};

use super::columns::{Row, Table, Value, named};
use super::numerals::share;

/// A column: its metric, what it is called in a page, and in a terminal.
const COLUMNS: [(&str, &str, &str); 6] = [
    ("child.coverage", "coverage", "cover-\nage"),
    ("used", "used", "used\n"),
    ("ignored", "ignored", "ig-\nnored"),
    ("stale", "stale", "stale\n"),
    ("invented", "invented", "in-\nvented"),
    ("admitted", "admitted", "ad-\nmitted"),
];

/// The table; `None` where nobody but simulated, scripted or held agents played, or nothing was needed of an answer.
pub(super) fn uses(summary: &[SummaryRow]) -> Option<Table> {
    let is_real = |row: &&SummaryRow| matches!(row.evidence, Evidence::Live | Evidence::Cassette);
    let mut strategies: IndexMap<(&str, &str, Evidence), IndexMap<&str, f64>> = IndexMap::new();
    for row in summary.iter().filter(is_real).filter(|row| COLUMNS.iter().any(|(metric, ..)| *metric == row.metric)) {
        strategies.entry((&row.strategy, &row.model, row.evidence)).or_default().insert(&row.metric, row.mean.value());
    }
    if !strategies.values().any(|figures| figures.contains_key("used")) {
        return None;
    }
    let keys: Vec<(&str, &str, Evidence)> = strategies.keys().copied().collect();
    let rows = strategies.iter().map(|(key, figures)| {
        let text = |metric: &str| figures.get(metric).map_or_else(|| "–".to_owned(), |figure| share(*figure));
        let values = COLUMNS.iter().map(|(metric, ..)| Value { text: text(metric), best: false });
        Row { strategy: named(key, &keys), values: values.collect() }
    });
    Some(Table {
        title: "what the model made of what it could see".to_owned(),
        titles: std::iter::once("strategy").chain(COLUMNS.iter().map(|(_, title, _)| *title)).collect(),
        heads: std::iter::once("strategy").chain(COLUMNS.iter().map(|(_, _, head)| *head)).collect(),
        rows: rows.collect(),
        notes: vec![
            "Coverage: the share of needed facts that stood before children: exact, and all that a strategy decides. The rest: needed facts of \
             a final answer, a run. Visible and stated (used), visible and not stated (ignored), an older value stated (stale), not visible \
             and something stated (invented), not visible and said so (admitted)."
                .to_owned(),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(strategy: &str, metric: &str, mean: f64, evidence: Evidence) -> SummaryRow {
        let text = format!(
            r#"{{"strategy":"{strategy}","metric":"{metric}","mean":{mean:?},"low":null,"high":null,"n":1,"model":"m","evidence":"{}"}}"#,
            evidence.name()
        );
        serde_json::from_str(&text).expect("a row as it is written")
    }

    #[test]
    fn only_real_models_have_one() {
        assert!(uses(&[row("a@1", "used", 1.0, Evidence::Simulated)]).is_none());
        assert!(uses(&[row("a@1", "total.input", 1.0, Evidence::Live)]).is_none());
        let table = uses(&[
            row("a@1", "used", 0.6, Evidence::Cassette),
            row("a@1", "ignored", 0.4, Evidence::Cassette),
            row("a@1", "total.input", 900.0, Evidence::Cassette),
            row("b@1", "used", 1.0, Evidence::Cassette),
            row("b@1", "child.coverage", 1.0, Evidence::Cassette),
        ]);
        let rows: Vec<Vec<String>> =
            table.unwrap().rows.iter().map(|row| row.values.iter().map(|value| value.text.clone()).collect()).collect();
        assert_eq!(rows, [["–", "0.60", "0.40", "–", "–", "–"], ["1.00", "1.00", "–", "–", "–", "–"]]);
    }
}
