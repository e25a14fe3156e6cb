//! Which of two figures is better.

use std::cmp::Ordering;

/// What is better: more or less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The higher figure is better: quality.
    Higher,
    /// The lower figure is better: tokens, cost, latency.
    Lower,
}

impl Direction {
    /// `Less` when `one` is better, so that sorting puts the best first.
    pub fn compare(self, one: f64, other: f64) -> Ordering {
        match self {
            Direction::Higher => other.total_cmp(&one),
            Direction::Lower => one.total_cmp(&other),
        }
    }

    /// Whether `one` is better than `other`; 0 and -0 are equal.
    pub fn is_better(self, one: f64, other: f64) -> bool {
        match self {
            Direction::Higher => one > other,
            Direction::Lower => one < other,
        }
    }
}
