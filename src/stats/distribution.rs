//! The normal and Student's distribution, as far as intervals need them.

use std::f64::consts::{FRAC_PI_2, PI};

/// The 97.5 % point of the normal distribution: 95 % lie between it and its negative.
pub const NORMAL_975: f64 = 1.959_963_984_540_054;

/// The share of a normal distribution below `x` standard deviations; by the series around the middle, right to 1e-14.
pub fn normal_below(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x.abs() > 8.0 {
        return if x < 0.0 { 0.0 } else { 1.0 };
    }
    let square = x * x;
    let (mut sum, mut term, mut odd) = (x, x, 1.0);
    while term.abs() > sum.abs() * 1e-17 {
        odd += 2.0;
        term *= square / odd;
        sum += term;
    }
    0.5 + sum * (-square / 2.0).exp() / (2.0 * PI).sqrt()
}

/// The 97.5 % point of Student's distribution; `freedom` is the degrees of freedom, at least 1.
///
/// Below 200 degrees the finite sums of Abramowitz and Stegun 26.7.3 and 26.7.4 are inverted; from there on the expansion around the
/// normal distribution (26.7.5) is right to 1e-10.
pub fn student_975(freedom: usize) -> f64 {
    let freedom = freedom.max(1);
    if freedom < 200 {
        let (mut low, mut high) = (NORMAL_975, 12.8);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if student_within(middle, freedom) < 0.95 {
                low = middle;
            } else {
                high = middle;
            }
        }
        return f64::midpoint(low, high);
    }
    let (z, v) = (NORMAL_975, freedom as f64);
    let z2 = z * z;
    let first = z * (z2 + 1.0) / 4.0;
    let second = z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    let third = z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    z + (first + (second + third / v) / v) / v
}

/// The share of Student's distribution between `-t` and `t`.
fn student_within(t: f64, freedom: usize) -> f64 {
    let angle = (t / (freedom as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let odd = freedom % 2 == 1;
    let mut term = if odd { cosine } else { 1.0 };
    let mut sum = if freedom == 1 { 0.0 } else { term };
    let mut step = if odd { 3 } else { 2 };
    while step < freedom {
        term *= cosine * cosine * (step - 1) as f64 / step as f64;
        sum += term;
        step += 2;
    }
    if odd { (angle + sine * sum) / FRAC_PI_2 } else { sine * sum }
}
