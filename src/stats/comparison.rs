//! Two strategies on the same scenarios and seeds.

use std::collections::BTreeMap;

use super::direction::Direction;
use super::estimate::{Estimate, Scale};
use super::sample::{Observation, Sample, measures};
use super::sign_flip::SignFlip;

/// Why two lists of observations cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotComparable {
    /// A value, or a difference of two, is infinite, not a number or beyond 1e150.
    NotFinite,
    /// A list has two values of one scenario and seed.
    Repeated,
    /// No scenario and seed is in both lists.
    NoPair,
}

impl std::fmt::Display for NotComparable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            NotComparable::NotFinite => "a measured value is infinite, not a number or beyond 1e150",
            NotComparable::Repeated => "two values of the same scenario and seed",
            NotComparable::NoPair => "no scenario and seed is measured on both sides",
        })
    }
}

impl std::error::Error for NotComparable {}

/// The paired comparison of a left and a right side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Left less right: seeds of a scenario are averaged first, then scenarios; the interval is over families.
    pub difference: Estimate,
    /// Pairs (scenario and seed) in which the left side is better.
    pub wins: usize,
    /// Pairs in which both are equal.
    pub ties: usize,
    /// Pairs in which the right side is better.
    pub losses: usize,
    /// Observations whose scenario and seed the other side lacks. They are in none of the figures.
    pub unpaired: usize,
    /// Whether the families' differences lie around 0.
    pub test: SignFlip,
}

impl Comparison {
    /// Pairs the observations and compares them. `scale` is that of the observations, `seed` that of bootstrap and test.
    ///
    /// # Errors
    /// See [`NotComparable`].
    pub fn of(
        left: &[Observation<'_>],
        right: &[Observation<'_>],
        scale: Scale,
        better: Direction,
        seed: u64,
    ) -> Result<Comparison, NotComparable> {
        let (left, mut right) = (by_cell(left)?, by_cell(right)?);
        let (mut wins, mut ties, mut losses, mut unpaired) = (0, 0, 0, 0);
        let mut differences = Vec::with_capacity(left.len());
        for (cell, one) in left {
            let Some(other) = right.remove(&cell) else {
                unpaired += 1;
                continue;
            };
            let raw = one - other;
            // What is equal on paper may differ by rounding.
            let value = if raw.abs() <= 1e-12 * one.abs().max(other.abs()) { 0.0 } else { raw };
            match value {
                0.0 => ties += 1,
                _ if better.is_better(one, other) => wins += 1,
                _ => losses += 1,
            }
            let (family, scenario, seed) = cell;
            differences.push(Observation { family, scenario, seed, value });
        }
        unpaired += right.len();
        let sample = Sample::of(differences).map_err(|_| NotComparable::NotFinite)?;
        let scale = if scale == Scale::Unit { Scale::UnitDifference } else { Scale::Real };
        let difference = sample.estimate(scale, seed).ok_or(NotComparable::NoPair)?;
        let test = SignFlip::of(&sample.family_sums(), seed);
        Ok(Comparison { difference, wins, ties, losses, unpaired, test })
    }
}

/// Family, scenario and seed.
type Cell<'a> = (&'a str, &'a str, u64);

fn by_cell<'a>(observations: &[Observation<'a>]) -> Result<BTreeMap<Cell<'a>, f64>, NotComparable> {
    let mut cells = BTreeMap::new();
    for seen in observations {
        if !measures(seen.value) {
            return Err(NotComparable::NotFinite);
        }
        if cells.insert((seen.family, seen.scenario, seen.seed), seen.value).is_some() {
            return Err(NotComparable::Repeated);
        }
    }
    Ok(cells)
}
