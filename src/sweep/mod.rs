//! One parameter of a scenario varied: which strategy is best at each value, and where that changes.
//!
//! Values are measured on a grid; where the best differs between two neighbours that are not one apart, the values between are
//! halved until they are, so that a break-even is exact (unless the best changes and changes back within one step, which nobody
//! sees).

use std::collections::BTreeMap;

use crate::metrics::{Better, Metric};

/// Values of a grid at most, if nobody says how many.
pub const GRID: u64 = 20;

/// The values of a parameter, from one to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first value.
    pub from: i64,
    /// The last one, which is measured too.
    pub to: i64,
    /// From one value to the next; above 0.
    pub step: u64,
}

impl Range {
    /// Reads `FROM..TO` or `FROM..TO..STEP`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Range, String> {
        let no = |why: &str| format!("`{text}` is no range: {why}; write FROM..TO or FROM..TO..STEP, in whole numbers");
        let pieces: Vec<&str> = text.split("..").collect();
        let number = |piece: &str| piece.trim().parse::<i64>().map_err(|_| no(&format!("`{piece}` is no whole number")));
        let (from, to, step) = match pieces.as_slice() {
            [from, to] => (number(from)?, number(to)?, None),
            [from, to, step] => (number(from)?, number(to)?, Some(number(step)?)),
            _ => return Err(no("it has no two dots")),
        };
        if from >= to {
            return Err(no("the first number is not below the second"));
        }
        let width = to.abs_diff(from);
        let step = match step {
            None => width.div_ceil(GRID).max(1),
            Some(step) if step > 0 => step.unsigned_abs(),
            Some(_) => return Err(no("the step is not above 0")),
        };
        if width / step > 10_000 {
            return Err(no("these are more than 10,000 values"));
        }
        Ok(Range { from, to, step })
    }

    /// The grid: from the first value on, and the last.
    pub fn grid(&self) -> Vec<i64> {
        let count = self.to.abs_diff(self.from) / self.step;
        let mut values: Vec<i64> = (0..=count).filter_map(|at| self.from.checked_add_unsigned(at.checked_mul(self.step)?)).collect();
        if values.last() != Some(&self.to) {
            values.push(self.to);
        }
        values
    }
}

/// What one value gave: a metric's figure by strategy, in the order of the strategies; `None`: not measured.
pub type Figures = Vec<Option<f64>>;

/// Figures by value.
pub type Curve = BTreeMap<i64, Figures>;

/// The strategies with the best figure, by number; more than one is a tie. What was not measured competes with nobody.
pub fn best(figures: &Figures, better: Better) -> Vec<usize> {
    let measured = || figures.iter().enumerate().filter_map(|(at, figure)| Some((at, (*figure)?)));
    let best = match better {
        Better::Lower => measured().map(|(_, figure)| figure).reduce(f64::min),
        Better::Higher => measured().map(|(_, figure)| figure).reduce(f64::max),
        Better::Neither => None,
    };
    best.map_or_else(Vec::new, |best| measured().filter(|(_, figure)| *figure == best).map(|(at, _)| at).collect())
}

/// A place where the best changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The last value with the best before.
    pub from: i64,
    /// The first value with the best behind.
    pub to: i64,
    /// The best before, by number.
    pub before: Vec<usize>,
    /// The best behind.
    pub behind: Vec<usize>,
}

/// Where the best of a curve changes.
pub fn changes(curve: &Curve, metric: &Metric) -> Vec<Change> {
    let bests: Vec<(i64, Vec<usize>)> = curve.iter().map(|(value, figures)| (*value, best(figures, metric.better))).collect();
    let neighbours = bests.windows(2).filter_map(|pair| match pair {
        [(from, before), (to, behind)] if before != behind => {
            Some(Change { from: *from, to: *to, before: before.clone(), behind: behind.clone() })
        }
        _ => None,
    });
    neighbours.collect()
}

/// The values to measure next, so that the places where the best changes are exact: the middle of each that is not. Empty: all
/// are.
pub fn to_halve(curves: &[(&Metric, &Curve)]) -> Vec<i64> {
    let mut values: Vec<i64> = Vec::new();
    for (metric, curve) in curves {
        for change in changes(curve, metric) {
            if change.to.abs_diff(change.from) > 1 {
                // Half of what lies between, without meeting the ends of the numbers.
                values.extend(change.from.checked_add_unsigned(change.to.abs_diff(change.from) / 2));
            }
        }
    }
    values.sort_unstable();
    values.dedup();
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::metric;
    use proptest::prelude::*;

    #[test]
    fn ranges_are_read() {
        let check = |text: &str, expect: &[i64]| {
            let range = Range::parse(text).unwrap();
            assert_eq!(range.grid(), expect, "{text}");
        };
        check("1..4", &[1, 2, 3, 4]);
        check("1..10..4", &[1, 5, 9, 10]);
        check("-2..2..2", &[-2, 0, 2]);
        check("0..100", &(0..=20).map(|at| at * 5).collect::<Vec<_>>());
        let wrong = |text: &str, word: &str| {
            let said = Range::parse(text).unwrap_err();
            assert!(said.contains(word), "{said}");
        };
        wrong("5", "no two dots");
        wrong("5..5", "not below");
        wrong("9..5", "not below");
        wrong("a..5", "`a` is no whole number");
        wrong("1..5..0", "not above 0");
        wrong("1..5..-1", "not above 0");
        wrong("0..1000000..1", "10,000 values");
        wrong("-9223372036854775808..9223372036854775807..1", "10,000 values");
    }

    #[test]
    fn the_best_is_named_and_ties_are_ties() {
        let check = |figures: &[Option<f64>], better: Better, expect: &[usize]| assert_eq!(best(&figures.to_vec(), better), expect);
        check(&[Some(3.0), Some(1.0), Some(2.0)], Better::Lower, &[1]);
        check(&[Some(3.0), Some(1.0), Some(3.0)], Better::Higher, &[0, 2]);
        check(&[None, Some(4.0)], Better::Lower, &[1]);
        check(&[None, None], Better::Lower, &[]);
        check(&[Some(1.0), Some(2.0)], Better::Neither, &[]);
    }

    /// Two strategies: one costs 10 a value, the other 100 and 1 a value; they are equal nowhere between 11 and 12.
    fn figures(value: i64) -> Figures {
        vec![Some(10.0 * value as f64), Some(100.0 + value as f64)]
    }

    fn measured(mut curve: Curve) -> (Curve, usize) {
        let tokens = metric("total.input").unwrap();
        let mut rounds = 0;
        loop {
            let values = to_halve(&[(tokens, &curve)]);
            if values.is_empty() {
                return (curve, rounds);
            }
            rounds += 1;
            curve.extend(values.into_iter().map(|value| (value, figures(value))));
        }
    }

    #[test]
    fn break_evens_are_exact() {
        let grid = Range::parse("0..1000").unwrap().grid();
        let (curve, rounds) = measured(grid.into_iter().map(|value| (value, figures(value))).collect());
        let expect = Change { from: 11, to: 12, before: vec![0], behind: vec![1] };
        assert_eq!(changes(&curve, metric("total.input").unwrap()), [expect]);
        assert!(rounds <= 6, "50 values lie between two of the grid: {rounds}");
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "[-0-9. a]{0,24}") {
            if let Ok(range) = Range::parse(&text) {
                let grid = range.grid();
                prop_assert!(grid.windows(2).all(|pair| pair[0] < pair[1]));
                prop_assert_eq!((grid.first(), grid.last()), (Some(&range.from), Some(&range.to)));
            }
        }
    }
}
