//! The sign-flip test: whether paired differences lie around 0.

use super::random::Random;

/// Up to so many differences all sign patterns are gone through.
const ENUMERATED: usize = 20;

/// Beyond, so many patterns are drawn.
const DRAWS: u32 = 9_999;

/// What the test found. Under its hypothesis each difference is as likely to have the other sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignFlip {
    /// The two-sided mid-p value: the chance of a sum farther from 0, plus half the chance of one as far. This is the one to decide and
    /// to correct with: with ties and few differences the ordinary value raises far fewer false alarms than its level says
    /// (`tests/false_alarms.rs`).
    pub mid_p: f64,
    /// The ordinary two-sided p value: the chance of a sum as far from 0 or farther. It never raises too many false alarms.
    pub p: f64,
    /// The smallest mid-p value that so many differences can have at all.
    pub smallest: f64,
    /// How many differences are not 0. Ties say nothing about a sign.
    pub untied: usize,
    /// Whether all patterns were gone through; else the values rest on 9,999 drawn ones.
    pub exact: bool,
}

/// What may be said at a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The difference is significant.
    Significant,
    /// It is not.
    NotSignificant,
    /// With so few untied differences nothing could have been significant.
    CannotBe,
}

impl SignFlip {
    /// The test of the mean of `differences` against 0; `seed` is that of the draws.
    pub fn of(differences: &[f64], seed: u64) -> SignFlip {
        SignFlip::with(differences, ENUMERATED, DRAWS, seed)
    }

    /// The test, enumerating up to so many differences and drawing so often beyond.
    pub(super) fn with(differences: &[f64], enumerated: usize, draws: u32, seed: u64) -> SignFlip {
        let largest = differences.iter().fold(0.0_f64, |most, difference| most.max(difference.abs()));
        let sizes: Vec<f64> = differences.iter().copied().filter(|difference| difference.abs() > largest * 1e-12).collect();
        if sizes.is_empty() {
            return SignFlip { mid_p: 1.0, p: 1.0, smallest: 1.0, untied: 0, exact: true };
        }
        let seen = sizes.iter().sum::<f64>().abs();
        // Sums that are equal on paper differ by rounding.
        let slack = sizes.iter().map(|size| size.abs()).sum::<f64>() * 1e-9;
        let exact = sizes.len() <= enumerated;
        let mut tally = Tally { seen, slack, farther: 0, equal: 0 };
        let patterns = if exact {
            enumerate(&sizes, &mut tally);
            1_u64 << (sizes.len() - 1)
        } else {
            // The pattern that was seen counts as drawn (Phipson and Smyth 2010), so no p value is 0.
            tally.equal = 1;
            draw(&sizes, draws, seed, &mut tally);
            u64::from(draws) + 1
        };
        let share = |count: f64| count / patterns as f64;
        SignFlip {
            mid_p: share(tally.farther as f64 + tally.equal as f64 / 2.0),
            p: share((tally.farther + tally.equal) as f64),
            smallest: share(0.5),
            untied: sizes.len(),
            exact,
        }
    }

    /// What may be said at `level`, say 0.05, by the mid-p value.
    pub fn verdict(&self, level: f64) -> Verdict {
        if self.smallest > level {
            Verdict::CannotBe
        } else if self.mid_p <= level {
            Verdict::Significant
        } else {
            Verdict::NotSignificant
        }
    }
}

struct Tally {
    seen: f64,
    slack: f64,
    farther: u64,
    equal: u64,
}

impl Tally {
    fn count(&mut self, sum: f64) {
        let beyond = sum.abs() - self.seen;
        if beyond > self.slack {
            self.farther += 1;
        } else if beyond >= -self.slack {
            self.equal += 1;
        }
    }
}

/// All patterns in which the last sign stays; the others mirror them. Each pattern differs from the one before in one sign (Gray code).
fn enumerate(sizes: &[f64], tally: &mut Tally) {
    let mut signed = sizes.to_vec();
    let mut sum: f64 = signed.iter().sum();
    tally.count(sum);
    for pattern in 1_u64..1 << (sizes.len() - 1) {
        let size = &mut signed[pattern.trailing_zeros() as usize];
        sum -= 2.0 * *size;
        *size = -*size;
        tally.count(sum);
    }
}

fn draw(sizes: &[f64], draws: u32, seed: u64, tally: &mut Tally) {
    let mut random = Random::new(seed);
    let half = sizes.iter().sum::<f64>() / 2.0;
    for _ in 0..draws {
        // A pattern's sum is twice the sum of what keeps its sign, less the whole.
        let mut kept = -half;
        for word in sizes.chunks(64) {
            let mut bits = random.bits();
            for size in word {
                if bits & 1 == 1 {
                    kept += size;
                }
                bits >>= 1;
            }
        }
        tally.count(2.0 * kept);
    }
}
