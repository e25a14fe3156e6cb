//! Data sets whose true mean is known.

use std::f64::consts::TAU;

use super::super::Random;

/// Between 0 and 1, neither of them.
pub fn uniform(random: &mut Random) -> f64 {
    ((random.bits() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
}

/// Standard normal (Box and Muller).
pub fn normal(random: &mut Random) -> f64 {
    (-2.0 * uniform(random).ln()).sqrt() * (TAU * uniform(random)).cos()
}

/// Exponential with mean 1.
pub fn exponential(random: &mut Random) -> f64 {
    -uniform(random).ln()
}

/// Gamma with a whole shape.
pub fn gamma(random: &mut Random, shape: u32) -> f64 {
    (0..shape).map(|_| exponential(random)).sum()
}

/// Beta with whole parameters; its mean is `a / (a + b)`.
pub fn beta(random: &mut Random, a: u32, b: u32) -> f64 {
    let (one, other) = (gamma(random, a), gamma(random, b));
    one / (one + other)
}

/// Log-normal with the middle 1; its mean is `exp(deviation² / 2)`.
pub fn log_normal(random: &mut Random, deviation: f64) -> f64 {
    (deviation * normal(random)).exp()
}

/// 1 with the given chance, else 0.
pub fn pass(random: &mut Random, chance: f64) -> f64 {
    f64::from(u8::from(uniform(random) < chance))
}

/// The share of passes in so many tries.
pub fn share(random: &mut Random, tries: u32, chance: f64) -> f64 {
    (0..tries).map(|_| pass(random, chance)).sum::<f64>() / f64::from(tries)
}

/// One of the values, each with its chance; the last one takes what is left.
pub fn one_of(random: &mut Random, values: &[(f64, f64)]) -> f64 {
    let mut left = uniform(random);
    for &(value, chance) in values {
        if left < chance {
            return value;
        }
        left -= chance;
    }
    values.last().map_or(0.0, |&(value, _)| value)
}
