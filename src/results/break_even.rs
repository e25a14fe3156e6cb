//! From which further request on handing work to children pays, against doing it in the parent.
//!
//! A projection: what a run has cost in all, and then request for request what its root's context costs again. Further requests are the
//! root's own (a turn sends at least one) and add the same under every strategy, so only the contexts differ.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CellResult, Evidence, Status};

/// The strategy that hands nothing to anybody: what the others are measured against.
const INLINE: &str = "inline@1";

/// A cell against the one of `inline`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BreakEvenRow {
    /// The scenario's piece of the cell's id.
    pub scenario: String,
    /// The strategy with its profile and options.
    pub strategy: String,
    /// The model.
    pub model: String,
    /// The seed.
    pub seed: u64,
    /// What produced the behaviour.
    pub evidence: Evidence,
    /// In tokens of all exchanges, input and output.
    pub tokens: BreakEven,
    /// In dollars; null: what one of the two cost, or what a further request would, is not known.
    pub usd: Option<BreakEven>,
}

/// When handing work down pays. Requests of the root are counted from the end of the run: the first further one is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "pays", rename_all = "snake_case", deny_unknown_fields)]
pub enum BreakEven {
    /// It has cost no more when the run ends, and no further request changes that.
    Already,
    /// It costs more at first, and no more from this request on.
    From {
        /// The request.
        request: u64,
    },
    /// It has cost no more when the run ends, and costs more from this one on.
    Until {
        /// The request.
        request: u64,
    },
    /// It costs more, and no further request changes that.
    Never,
}

impl BreakEven {
    /// By what it costs more when the run ends, and by what each further request costs more; both may be negative. `None`: one of them
    /// is no number.
    pub fn of(more_so_far: f64, more_a_request: f64) -> Option<BreakEven> {
        if !more_so_far.is_finite() || !more_a_request.is_finite() {
            return None;
        }
        Some(match (more_so_far <= 0.0, more_a_request) {
            (true, a_request) if a_request <= 0.0 => BreakEven::Already,
            (true, a_request) => BreakEven::Until { request: (-more_so_far / a_request).floor() as u64 + 1 },
            (false, a_request) if a_request < 0.0 => BreakEven::From { request: (more_so_far / -a_request).ceil() as u64 },
            (false, _) => BreakEven::Never,
        })
    }
}

/// What a cell has cost and would go on to cost.
#[derive(Clone, Copy, Debug)]
struct Standing {
    tokens: (f64, f64),
    usd: Option<(f64, f64)>,
}

impl Standing {
    fn of(cell: &CellResult) -> Option<Standing> {
        let figure = |name: &str| cell.metrics.get(name).copied().flatten().map(super::Number::value);
        let tokens = (figure("total.input")? + figure("total.output")?, figure("parent.final_context")?);
        Some(Standing { tokens, usd: figure("cost.usd").zip(figure("cost.next_turn")) })
    }
}

/// Folds cells as they come: those of one scenario, model and seed belong together.
#[derive(Clone, Debug, Default)]
pub struct BreakEvens {
    inline: IndexMap<Subject, Standing>,
    others: Vec<(Subject, String, Standing)>,
}

/// Scenario, model, seed and evidence.
type Subject = (String, String, u64, Evidence);

impl BreakEvens {
    /// Takes a cell. One that failed, and one in which nothing was handed to anybody, has no break-even.
    pub fn add(&mut self, cell: &CellResult) {
        let Some(standing) = Standing::of(cell).filter(|_| cell.status == Status::Ok) else { return };
        let scenario = cell.cell.split('/').next().unwrap_or_default().to_owned();
        let subject = (scenario, cell.model.clone(), cell.seed, cell.evidence);
        if cell.strategy == INLINE {
            self.inline.insert(subject, standing);
        } else if cell.metrics.get("delegations").copied().flatten().is_some_and(|number| number.value() > 0.0) {
            self.others.push((subject, cell.strategy.clone(), standing));
        }
    }

    /// Each delegating cell whose `inline` was run too, in the order in which they came.
    pub fn rows(&self) -> Vec<BreakEvenRow> {
        let row = |(subject, strategy, standing): &(Subject, String, Standing)| {
            let inline = self.inline.get(subject)?;
            let of = |one: (f64, f64), inline: (f64, f64)| BreakEven::of(one.0 - inline.0, one.1 - inline.1);
            let (scenario, model, seed, evidence) = subject.clone();
            let usd = standing.usd.zip(inline.usd).and_then(|(one, inline)| of(one, inline));
            Some(BreakEvenRow {
                scenario,
                strategy: strategy.clone(),
                model,
                seed,
                evidence,
                tokens: of(standing.tokens, inline.tokens)?,
                usd,
            })
        };
        self.others.iter().filter_map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::results::Number;
    use crate::results::tests::cell;

    #[test]
    fn by_hand() {
        #[track_caller]
        fn check(so_far: f64, a_request: f64, expect: Option<BreakEven>) {
            assert_eq!(BreakEven::of(so_far, a_request), expect);
        }
        check(-5.0, -1.0, Some(BreakEven::Already));
        check(0.0, 0.0, Some(BreakEven::Already));
        check(0.0, 2.0, Some(BreakEven::Until { request: 1 }));
        check(-5.0, 2.0, Some(BreakEven::Until { request: 3 }));
        check(-4.0, 2.0, Some(BreakEven::Until { request: 3 }));
        check(4.0, -2.0, Some(BreakEven::From { request: 2 }));
        check(5.0, -2.0, Some(BreakEven::From { request: 3 }));
        check(5.0, 0.0, Some(BreakEven::Never));
        check(5.0, 1.0, Some(BreakEven::Never));
        check(f64::NAN, 1.0, None);
    }

    proptest! {
        /// Request for request, as the words say it.
        #[test]
        fn request_for_request(so_far in -1_000_i64..1_000, a_request in -50_i64..50) {
            let pays = |further: u64| so_far + further as i64 * a_request <= 0;
            let found = BreakEven::of(so_far as f64, a_request as f64).expect("numbers");
            for further in 0..1_200 {
                let expect = match found {
                    BreakEven::Already => true,
                    BreakEven::From { request } => further >= request,
                    BreakEven::Until { request } => further < request,
                    BreakEven::Never => false,
                };
                prop_assert_eq!(pays(further), expect, "{:?} at {}", found, further);
            }
        }
    }

    #[test]
    fn cells_stand_against_inline() {
        let cell = |strategy: &str, total: u64, context: u64, delegations: u64, usd: Option<(f64, f64)>| {
            let mut cell = cell("s", strategy, 0);
            let mut set = |name: &'static str, value: Option<Number>| cell.metrics.insert(name.into(), value);
            set("total.input", Some(total.into()));
            set("total.output", Some(0.into()));
            set("parent.final_context", Some(context.into()));
            set("delegations", Some(delegations.into()));
            set("cost.usd", usd.and_then(|(cost, _)| Number::real(cost)));
            set("cost.next_turn", usd.and_then(|(_, turn)| Number::real(turn)));
            cell
        };
        let mut fold = BreakEvens::default();
        // Before `inline` comes, or behind it.
        fold.add(&cell("a@1", 1_300, 100, 1, Some((0.5, 0.01))));
        fold.add(&cell("inline@1", 1_000, 200, 0, Some((0.4, 0.01))));
        fold.add(&cell("b@1", 900, 100, 1, None));
        fold.add(&cell("idle@1", 900, 100, 0, None));
        fold.add(&CellResult { status: Status::Failed, ..cell("c@1", 900, 100, 1, None) });
        let rows = fold.rows();
        let found: Vec<_> = rows.iter().map(|row| (row.strategy.as_str(), row.tokens, row.usd)).collect();
        assert_eq!(found, [("a@1", BreakEven::From { request: 3 }, Some(BreakEven::Never)), ("b@1", BreakEven::Already, None)]);
    }
}
