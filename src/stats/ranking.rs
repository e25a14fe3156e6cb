//! An order of means, and how much of it is certain.

use super::direction::Direction;
use super::estimate::Estimate;

/// Estimates from best to worst.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// One place a ranked estimate.
    pub places: Vec<Place>,
    /// What has no estimate, by its place in what was given.
    pub unranked: Vec<usize>,
}

/// A place in a ranking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Which estimate, by its place in what was given.
    pub item: usize,
    /// The best rank that its interval leaves open; the first rank is 1.
    pub best: usize,
    /// The worst rank that its interval leaves open.
    pub worst: usize,
    /// How it stands to the next place; none on the last.
    pub next: Option<Separation>,
}

/// How two neighbours in a ranking stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Separation {
    /// Their intervals do not overlap.
    Apart,
    /// Their intervals overlap: the order may be chance. The paired difference may still tell them apart, it is the sharper comparison.
    Overlapping,
    /// One of them has no interval.
    Unknown,
}

impl Ranking {
    /// Ranks by the mean; equal means stay in the order given.
    pub fn of(estimates: &[Option<Estimate>], better: Direction) -> Ranking {
        let mut known: Vec<(usize, Estimate)> = Vec::with_capacity(estimates.len());
        let mut unranked = Vec::new();
        for (item, estimate) in estimates.iter().enumerate() {
            match estimate {
                Some(estimate) => known.push((item, *estimate)),
                None => unranked.push(item),
            }
        }
        known.sort_by(|one, other| better.compare(one.1.mean(), other.1.mean()));
        let apart = |one: usize, other: usize| separation(&known[one].1, &known[other].1) == Separation::Apart;
        let places = (0..known.len())
            .map(|at| Place {
                item: known[at].0,
                best: 1 + (0..at).filter(|&ahead| apart(ahead, at)).count(),
                worst: known.len() - (at + 1..known.len()).filter(|&behind| apart(at, behind)).count(),
                next: (at + 1 < known.len()).then(|| separation(&known[at].1, &known[at + 1].1)),
            })
            .collect();
        Ranking { places, unranked }
    }

    /// Whether every place is told apart from the next.
    pub fn is_certain(&self) -> bool {
        self.places.iter().all(|place| matches!(place.next, None | Some(Separation::Apart)))
    }
}

fn separation(one: &Estimate, other: &Estimate) -> Separation {
    match (one.interval(), other.interval()) {
        (Ok(one), Ok(other)) if one.overlaps(&other) => Separation::Overlapping,
        (Ok(_), Ok(_)) => Separation::Apart,
        _ => Separation::Unknown,
    }
}
