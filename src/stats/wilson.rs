//! Score intervals: for a share of passes, and for the mean of scores between 0 and 1.

use super::distribution::{NORMAL_975, student_975};

/// The score interval of a share (Wilson 1927): all true shares that `mean` of `count` trials is within `width` standard errors of,
/// the standard error taken at the true share. `count` may be an effective number of trials.
fn score_interval(mean: f64, count: f64, width: f64) -> (f64, f64) {
    let square = width * width;
    let scale = 1.0 + square / count;
    let centre = (mean + square / (2.0 * count)) / scale;
    let half = width / scale * (mean * (1.0 - mean) / count + square / (4.0 * count * count)).max(0.0).sqrt();
    // At 0 and 1 the formula's end is exact, its arithmetic is not.
    let low = if mean <= 0.0 { 0.0 } else { (centre - half).max(0.0) };
    let high = if mean >= 1.0 { 1.0 } else { (centre + half).min(1.0) };
    (low, high)
}

/// The 95 % interval of a share of `passes` in `trials`, of which there is at least one.
pub(super) fn of_passes(passes: usize, trials: usize) -> (f64, f64) {
    score_interval(passes as f64 / trials as f64, trials as f64, NORMAL_975)
}

/// A 95 % interval of the mean of scores between 0 and 1; none where no spread was seen between the ends of the scale.
///
/// Scores that are all 0 or 1 are passes, and the interval is Wilson's. Graded scores spread less than passes of the same mean would:
/// by the factor `s² / m(1 - m)`. Wilson's interval with as many more trials is the one for surveys whose design has such an effect
/// (Korn and Graubard 1998; Franco, Little, Louis and Slud 2019). They take Student's quantile, as the factor is estimated; where scores
/// are ties at 0 or 1 the mean says nearly all about the spread and that covers too often. So the quantile goes from Student's to the
/// normal one as the share of scores at the ends grows, which joins it to Wilson's; `tests/coverage.rs` measures it.
pub(super) fn of_scores(scores: &[f64]) -> Option<(f64, f64)> {
    let count = scores.len() as f64;
    let mean = (scores.iter().sum::<f64>() / count).clamp(0.0, 1.0);
    let at_ends = scores.iter().filter(|&&score| score == 0.0 || score == 1.0).count();
    if at_ends == scores.len() {
        return (at_ends > 0).then(|| score_interval(mean, count, NORMAL_975));
    }
    let spread = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let most = mean * (1.0 - mean);
    if scores.len() < 2 || spread <= most * 1e-18 || most <= 0.0 {
        return None;
    }
    let student = student_975(scores.len() - 1);
    let width = student + (NORMAL_975 - student) * at_ends as f64 / count;
    Some(score_interval(mean, count * (most / spread).max(1.0), width))
}
