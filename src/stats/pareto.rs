//! Which points no other point beats in everything.

use super::direction::Direction;

/// Every point is in exactly one of the three lists, by its place; each list ascends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Front {
    /// Points that none is at least as good as in every objective and better in one. Equal points stand together.
    pub best: Vec<usize>,
    /// Points that another one dominates.
    pub dominated: Vec<Dominated>,
    /// Points with an unknown objective. They are compared with none: they beat nobody and nobody beats them.
    pub not_compared: Vec<NotCompared>,
}

/// A point that is dominated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dominated {
    /// The point.
    pub point: usize,
    /// The first point of the front that dominates it.
    pub by: usize,
}

/// A point that could not be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotCompared {
    /// The point.
    pub point: usize,
    /// The objectives that are unknown, by their places.
    pub unknown: Vec<usize>,
}

/// The Pareto front of `points`, whose objectives are better as `better` says.
///
/// A value that is missing or not a number is unknown. What a point has beyond the directions is ignored.
pub fn pareto(points: &[Vec<Option<f64>>], better: &[Direction]) -> Front {
    let mut front = Front::default();
    let mut compared: Vec<(usize, Vec<f64>)> = Vec::new();
    for (point, objectives) in points.iter().enumerate() {
        let known: Vec<Option<f64>> =
            (0..better.len()).map(|place| objectives.get(place).copied().flatten().filter(|value| !value.is_nan())).collect();
        let unknown: Vec<usize> = (0..known.len()).filter(|&place| known[place].is_none()).collect();
        if unknown.is_empty() {
            compared.push((point, known.into_iter().flatten().collect()));
        } else {
            front.not_compared.push(NotCompared { point, unknown });
        }
    }
    let (best, beaten): (Vec<_>, Vec<_>) =
        compared.iter().partition(|(_, one)| !compared.iter().any(|(_, other)| dominates(other, one, better)));
    front.best = best.iter().map(|(point, _)| *point).collect();
    // Dominance has no circle, so whoever is dominated is so by a point of the front.
    front.dominated = (beaten.iter())
        .filter_map(|(point, one)| {
            let by = best.iter().find(|(_, other)| dominates(other, one, better))?;
            Some(Dominated { point: *point, by: by.0 })
        })
        .collect();
    front
}

/// Whether `one` is nowhere worse than `other` and somewhere better.
fn dominates(one: &[f64], other: &[f64], better: &[Direction]) -> bool {
    let pairs = || one.iter().zip(other).zip(better);
    pairs().all(|((one, other), better)| !better.is_better(*other, *one))
        && pairs().any(|((one, other), better)| better.is_better(*one, *other))
}
