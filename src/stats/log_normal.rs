//! The mean of skewed sizes: tokens, milliseconds, money.

use super::distribution::normal_below;

/// A 95 % interval of the mean of positive values whose logarithms look normal; none where they do not look so, or do not spread.
///
/// The generalised interval of Krishnamoorthy and Mathew (2003): the mean's logarithm is `m + v / 2`; given the sample, `v` is spread as
/// `(n - 1) s² / chi²` and `m` as a normal around the logarithms' mean. Their paper draws samples of it; here its distribution is
/// integrated, so that no randomness is left. It covers at every skew, and says so in width: at five values that spread fivefold the upper
/// end is far away. The plain mean always lies within.
pub(super) fn of_sizes(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 3 || values.iter().any(|&value| value <= 0.0) {
        return None;
    }
    let count = values.len() as f64;
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let middle = logarithms.iter().sum::<f64>() / count;
    let moment = |power: i32| logarithms.iter().map(|value| (value - middle).powi(power)).sum::<f64>();
    let squares = moment(2);
    if squares <= 1e-24 || !looks_normal(squares, moment(3), moment(4), count) {
        return None;
    }
    let belief = Belief::new(middle, squares, count);
    let mean = values.iter().sum::<f64>() / count;
    let (low, high) = (belief.point(0.025).exp(), belief.point(0.975).exp());
    high.is_finite().then(|| (low.min(mean), high.max(mean)))
}

/// Whether skewness and kurtosis lie within two of their standard errors under a normal distribution.
fn looks_normal(squares: f64, cubes: f64, fourths: f64, count: f64) -> bool {
    let variance = squares / count;
    let skewness = cubes / count / variance.powf(1.5);
    let kurtosis = fourths / count / (variance * variance) - 3.0 * (count - 1.0) / (count + 1.0);
    let skewness_error = (6.0 * (count - 2.0) / ((count + 1.0) * (count + 3.0))).sqrt();
    let kurtosis_error = (24.0 * count * (count - 2.0) * (count - 3.0) / ((count + 1.0).powi(2) * (count + 3.0) * (count + 5.0))).sqrt();
    skewness.abs() <= 2.0 * skewness_error && kurtosis.abs() <= 2.0 * kurtosis_error
}

/// Where the mean's logarithm lies, given the sample.
struct Belief {
    middle: f64,
    squares: f64,
    count: f64,
    /// Weights, and the variances of one logarithm that they belong to.
    variances: Vec<(f64, f64)>,
}

impl Belief {
    fn new(middle: f64, squares: f64, count: f64) -> Belief {
        let freedom = count - 1.0;
        // The logarithm of a chi² value has its mode at that of its degrees of freedom. The trapezoid rule in it converges
        // exponentially; outside the bounds lies less than 1e-7 of the weight.
        let deviation = (2.0 / freedom).sqrt();
        let step = 0.75 * deviation;
        let density = |y: f64| (freedom / 2.0 * (y - freedom.ln() + 1.0) - y.exp() / 2.0).exp();
        let (below, above) = (7.0 * deviation + 34.0 / freedom, 5.0 * deviation);
        let nodes = ((below + above) / step).ceil() as u32;
        let mut variances: Vec<(f64, f64)> = (0..=nodes)
            .map(|node| {
                let y = freedom.ln() - below + f64::from(node) * step;
                (density(y), squares / y.exp())
            })
            .collect();
        let whole: f64 = variances.iter().map(|(weight, _)| weight).sum();
        variances.retain(|(weight, _)| *weight > whole * 1e-8);
        variances.iter_mut().for_each(|(weight, _)| *weight /= whole);
        Belief { middle, squares, count, variances }
    }

    /// The share of belief below `logarithm`.
    fn below(&self, logarithm: f64) -> f64 {
        let root = self.count.sqrt();
        (self.variances.iter())
            .map(|(weight, variance)| weight * normal_below((logarithm - self.middle - variance / 2.0) * root / variance.sqrt()))
            .sum()
    }

    /// Where the share below is `share`, near to 1e-6: by false position, with the weight of an end that stays halved (Illinois).
    fn point(&self, share: f64) -> f64 {
        let beyond = |logarithm: f64| self.below(logarithm) - share;
        let variance = self.squares / (self.count - 1.0);
        let arm = 2.0 * (variance / self.count).sqrt() + variance;
        let mut low = (self.middle - arm, beyond(self.middle - arm));
        while low.1 > 0.0 {
            let farther = 3.0 * low.0 - 2.0 * self.middle;
            low = (farther, beyond(farther));
        }
        let mut high = (self.middle + arm, beyond(self.middle + arm));
        while high.1 < 0.0 {
            let farther = 3.0 * high.0 - 2.0 * self.middle;
            high = (farther, beyond(farther));
        }
        let mut last = (f64::NAN, 0.0);
        for _ in 0..100 {
            let next = low.0 + (high.0 - low.0) * low.1 / (low.1 - high.1);
            if !next.is_finite() || (next - last.0).abs() < 1e-6 {
                break;
            }
            let found = (next, beyond(next));
            let stays = found.1 * last.1 > 0.0;
            if found.1 < 0.0 {
                low = found;
                high.1 = if stays { high.1 / 2.0 } else { high.1 };
            } else {
                high = found;
                low.1 = if stays { low.1 / 2.0 } else { low.1 };
            }
            last = found;
        }
        if last.0.is_finite() { last.0 } else { f64::midpoint(low.0, high.0) }
    }
}
