//! The studentised bootstrap: how far means stray in units of their own standard error.

use super::distribution::student_975;
use super::random::Random;

/// How many resamples a mean of `count` values gets: 1,999, and fewer where many values make each of them exact enough.
pub(super) fn resamples(count: usize) -> usize {
    (400_000 / count.max(1)).clamp(499, 1_999)
}

/// A 95 % interval of the mean of values with no known range; none where they do not spread.
///
/// Each end is the farther one of two: Student's, which is right for symmetric values and too short on the long side of skewed ones; and
/// the studentised bootstrap's (Efron 1981; Hall 1988), which follows the skew but at small numbers is often too short where ties or heavy
/// tails are.
pub(super) fn of_values(values: &[f64], resamples: usize, seed: u64) -> Option<(f64, f64)> {
    let count = values.len();
    let mean = values.iter().sum::<f64>() / count as f64;
    let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let squares: f64 = centred.iter().map(|value| value * value).sum();
    let largest = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    if count < 2 || squares.sqrt() <= largest * 1e-12 {
        return None;
    }
    let freedom = (count - 1) as f64;
    let error = (squares / freedom / count as f64).sqrt();
    let student = student_975(count - 1);
    let (low, high) = quantiles(&centred, squares * 1e-12, resamples, seed).unwrap_or((-student, student));
    Some((mean - high.max(student) * error, mean - low.min(-student) * error))
}

/// The 2.5 % and 97.5 % points of the resampled mean in units of its standard error; values are centred. A resample without spread has no
/// standard error and says nothing.
fn quantiles(centred: &[f64], least: f64, resamples: usize, seed: u64) -> Option<(f64, f64)> {
    let count = centred.len();
    let whole = count as f64;
    let root = (whole - 1.0).sqrt();
    let mut random = Random::new(seed);
    let mut strays = Vec::with_capacity(resamples);
    for _ in 0..resamples {
        let (mut sum, mut squares) = (0.0, 0.0);
        let mut drawn = 0;
        while drawn < count {
            let value = centred[random.below(count)];
            sum += value;
            squares += value * value;
            drawn += 1;
        }
        let mean = sum / whole;
        let spread = squares / whole - mean * mean;
        if spread > least {
            strays.push(mean * root / spread.sqrt());
        }
    }
    let kept = strays.len();
    let tail = (kept + 1) / 40;
    if tail == 0 {
        return None;
    }
    let low = *strays.select_nth_unstable_by(tail - 1, f64::total_cmp).1;
    let high = *strays.select_nth_unstable_by(kept - tail, f64::total_cmp).1;
    Some((low, high))
}
