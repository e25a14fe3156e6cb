//! From which further request on delegating pays: a table below the means.

use indexmap::IndexMap;

use crate::results::{BreakEven, BreakEvenRow, Evidence};

use super::columns::{Row, Table, Value, named};

/// How often each answer was found.
#[derive(Default)]
struct Tally {
    already: usize,
    /// The further requests from which on it pays.
    from: Vec<u64>,
    until: usize,
    never: usize,
}

impl Tally {
    fn add(&mut self, found: BreakEven) {
        match found {
            BreakEven::Already => self.already += 1,
            BreakEven::From { request } => self.from.push(request),
            BreakEven::Until { .. } => self.until += 1,
            BreakEven::Never => self.never += 1,
        }
    }

    /// At once, later (with the median request), for a while only, never.
    fn values(mut self) -> [String; 4] {
        self.from.sort_unstable();
        let from = match self.from.get(self.from.len().saturating_sub(1) / 2) {
            None => "0".to_owned(),
            Some(median) => format!("{} ({median})", self.from.len()),
        };
        [self.already.to_string(), from, self.until.to_string(), self.never.to_string()]
    }
}

/// The table; `None` where `inline` was not run, or nothing was handed to anybody.
pub(super) fn break_evens(rows: &[BreakEvenRow]) -> Option<Table> {
    let mut strategies: IndexMap<(&str, &str, Evidence), (Tally, Tally)> = IndexMap::new();
    for row in rows {
        let (tokens, usd) = strategies.entry((&row.strategy, &row.model, row.evidence)).or_default();
        tokens.add(row.tokens);
        if let Some(found) = row.usd {
            usd.add(found);
        }
    }
    if strategies.is_empty() {
        return None;
    }
    let keys: Vec<(&str, &str, Evidence)> = strategies.keys().copied().collect();
    let rows: Vec<Row> = strategies
        .into_iter()
        .map(|(key, (tokens, usd))| {
            let values = tokens.values().into_iter().chain(usd.values()).map(|text| Value { text, best: false });
            Row { strategy: named(&key, &keys), values: values.collect() }
        })
        .collect();
    Some(Table {
        title: "from which further request on delegating pays, against inline · runs".into(),
        titles: vec![
            "strategy",
            "tokens: already",
            "tokens: later (request)",
            "tokens: for a while",
            "tokens: never",
            "usd: already",
            "usd: later (request)",
            "usd: for a while",
            "usd: never",
        ],
        heads: vec![
            "strategy",
            "tokens\nnow",
            "\nlater",
            "\nwhile",
            "\nnever",
            "usd\nnow",
            "\nlater",
            "\nwhile",
            "\nnever",
        ],
        rows,
        notes: vec![
            "Runs in which it has cost no more than inline when the run ends (now), will cost no more from a further request of the root on \
             (later; the median one in brackets), costs no more now and more after some (while), or costs more for ever (never). A \
             projection: each further request sends the root's final context again, in dollars at the cached price where one holds. A turn \
             sends at least one."
                .into(),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_counted_by_answer() {
        let row = |tokens, usd| BreakEvenRow {
            scenario: "s".into(),
            strategy: "a@1".into(),
            model: "reader".into(),
            seed: 0,
            evidence: Evidence::Simulated,
            tokens,
            usd,
        };
        let rows = [
            row(BreakEven::From { request: 9 }, Some(BreakEven::Never)),
            row(BreakEven::From { request: 2 }, None),
            row(BreakEven::From { request: 3 }, Some(BreakEven::Until { request: 4 })),
            row(BreakEven::Already, Some(BreakEven::Already)),
        ];
        let table = break_evens(&rows).expect("there are some");
        let values: Vec<&str> = table.rows[0].values.iter().map(|value| value.text.as_str()).collect();
        assert_eq!(values, ["1", "3 (3)", "0", "0", "1", "0", "1", "1"]);
        assert_eq!(break_evens(&[]), None);
    }
}
