//! The mean difference of two scores between 0 and 1, many of which may be equal.

use super::wilson::of_scores;

/// What arithmetic leaves of a difference of 0.
const TIE: f64 = 1e-12;

/// A 95 % interval of the mean of differences between -1 and 1; none where no spread was seen within the range.
///
/// Without a tie the differences are scores on a range of 2. With ties, gains and losses are two scores; their intervals are joined by
/// squaring and adding (Newcombe 1998; Zou and Donner 2008), with the correlation that gains and losses have because no
/// difference is both. So a sample of ties alone has an interval: as wide as its number allows.
///
/// A gain or loss of 1 is not to be feared where none above 0.2 was seen: the range of both ends somewhat above the largest difference, the
/// less so the more differences there are. That the margin is two `n`-ths of it was found by simulation
/// (`tests/coverage.rs`).
pub(super) fn of_differences(differences: &[f64]) -> Option<(f64, f64)> {
    if differences.iter().all(|difference| difference.abs() > TIE) {
        let scores: Vec<f64> = differences.iter().map(|difference| f64::midpoint(*difference, 1.0)).collect();
        return of_scores(&scores).map(|(low, high)| (2.0 * low - 1.0, 2.0 * high - 1.0));
    }
    let largest = differences.iter().fold(0.0_f64, |most, difference| most.max(difference.abs()));
    let untied = differences.iter().filter(|difference| difference.abs() > TIE).count();
    let unit = if untied > 0 { (largest * (1.0 + 2.0 / untied as f64)).min(1.0) } else { 1.0 };
    let gains: Vec<f64> = differences.iter().map(|difference| part(difference / unit)).collect();
    let losses: Vec<f64> = differences.iter().map(|difference| part(-difference / unit)).collect();
    let (gain, loss) = (Side::of(&gains)?, Side::of(&losses)?);
    let deviations = gain.deviation * loss.deviation;
    let together = if deviations > 0.0 { (-gain.mean * loss.mean / deviations).max(-1.0) } else { 0.0 };
    let joined = |one: f64, other: f64| (one * one + other * other - 2.0 * together * one * other).max(0.0).sqrt();
    let mean = gain.mean - loss.mean;
    let low = mean - joined(gain.mean - gain.low, loss.high - loss.mean);
    let high = mean + joined(gain.high - gain.mean, loss.mean - loss.low);
    Some(((low * unit).max(-1.0), (high * unit).min(1.0)))
}

/// A gain; 0 of a loss or a tie.
fn part(difference: f64) -> f64 {
    if difference > TIE { difference } else { 0.0 }
}

/// The gains or the losses of a sample.
struct Side {
    mean: f64,
    /// With the divisor `n`, as the correlation needs it.
    deviation: f64,
    low: f64,
    high: f64,
}

impl Side {
    fn of(scores: &[f64]) -> Option<Side> {
        let count = scores.len() as f64;
        let mean = scores.iter().sum::<f64>() / count;
        let deviation = (scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / count).sqrt();
        let (low, high) = of_scores(scores)?;
        Some(Side { mean, deviation, low, high })
    }
}
