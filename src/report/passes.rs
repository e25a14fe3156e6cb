//! How often runs pass, where a run has several seeds: a table below the means.

use indexmap::IndexMap;

use crate::results::{Evidence, Head, SummaryRow};

use super::columns::{Row, Table, Value, named};
use super::numerals::share;

/// A strategy's shares, by what the summary calls them.
type Shares<'a> = IndexMap<&'a str, &'a SummaryRow>;

/// The table; `None` where each scenario was run with one seed, or nothing was scored.
pub(super) fn passes(head: &Head, summary: &[SummaryRow]) -> Option<Table> {
    let seeds = head.settings.seeds;
    let (any, all) = (format!("pass@{seeds}"), format!("pass^{seeds}"));
    let mut strategies: IndexMap<(&str, &str, Evidence), Shares<'_>> = IndexMap::new();
    for row in summary.iter().filter(|row| row.metric == "pass" || row.metric == any || row.metric == all) {
        strategies.entry((&row.strategy, &row.model, row.evidence)).or_default().insert(&row.metric, row);
    }
    if seeds < 2 || strategies.is_empty() {
        return None;
    }
    let keys: Vec<(&str, &str, Evidence)> = strategies.keys().copied().collect();
    let rows = strategies.iter().map(|(key, shares)| {
        let mean = |name: &str| shares.get(name).map(|row| row.mean.value());
        let end = |of: fn(&SummaryRow) -> Option<f64>| shares.get("pass").and_then(|row| of(row));
        let values = [
            mean("pass"),
            end(|row| row.low.map(crate::results::Number::value)),
            end(|row| row.high.map(crate::results::Number::value)),
            mean(&any),
            mean(&all),
        ];
        let text = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), share);
        Row { strategy: named(key, &keys), values: values.map(|value| Value { text: text(value), best: false }).into() }
    });
    let scenarios = summary.iter().filter(|row| row.metric == "pass").map(|row| row.n).max().unwrap_or(0);
    let scenarios = if scenarios == 1 { "1 scenario".to_owned() } else { format!("{scenarios} scenarios") };
    Some(Table {
        title: format!("runs that pass (quality 1) · {scenarios}, {seeds} seeds each"),
        titles: vec!["strategy", "share", "from", "to", "any seed", "all seeds"],
        heads: vec!["strategy", "share\n", "95 %\nfrom", "95 %\nto", "any\nseed", "all\nseeds"],
        rows: rows.collect(),
        notes: vec![format!(
            "Share of runs; its 95 % interval takes families of scenarios for samples (none: too few, or all alike). Any seed, all seeds: \
             shares of scenarios of which at least one, or every one, of {seeds} seeds passes."
        )],
    })
}
