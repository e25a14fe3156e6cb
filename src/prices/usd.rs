//! Money and prices in whole numbers: sums over any number of requests are exact.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// An amount of US dollars, in trillionths (1e-12): the price of one token at one dollar per million million.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Usd(u128);

impl Usd {
    /// Nothing.
    pub const ZERO: Usd = Usd(0);

    /// An amount from trillionths of a dollar.
    pub fn from_trillionths(trillionths: u128) -> Usd {
        Usd(trillionths)
    }

    /// The amount in trillionths of a dollar.
    pub fn trillionths(self) -> u128 {
        self.0
    }

    /// The amount in billionths of a dollar, halves up: what machine formats write.
    pub fn nano(self) -> u128 {
        self.0.saturating_add(500) / 1000
    }
}

impl Add for Usd {
    type Output = Usd;

    fn add(self, other: Usd) -> Usd {
        Usd(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Usd {
    fn add_assign(&mut self, other: Usd) {
        *self = *self + other;
    }
}

impl Sum for Usd {
    fn sum<I: Iterator<Item = Usd>>(amounts: I) -> Usd {
        amounts.fold(Usd::ZERO, Add::add)
    }
}

impl fmt::Display for Usd {
    /// In dollars with six decimals, halves up; the sum is rounded, never what is summed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millionths = self.0.saturating_add(500_000) / 1_000_000;
        write!(f, "{}.{:06}", millionths / 1_000_000, millionths % 1_000_000)
    }
}

/// Dollars for a million tokens, in millionths of a dollar: at this price a token costs so many trillionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Price(u64);

impl Price {
    /// Reads a decimal of dollars per million tokens, with at most six digits behind its point.
    pub fn parse(text: &str) -> Option<Price> {
        let text = text.replace('_', "");
        let (whole, rest) = text.split_once('.').unwrap_or((&text, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(rest) || rest.len() > 6 || whole.len() > 9 {
            return None;
        }
        let whole: u64 = whole.parse().ok()?;
        let rest: u64 = format!("{rest:0<6}").parse().ok()?;
        Some(Price(whole * 1_000_000 + rest))
    }

    /// Millionths of a dollar for a million tokens.
    pub fn millionths(self) -> u64 {
        self.0
    }

    /// What so many tokens cost.
    pub fn of(self, tokens: u64) -> Usd {
        Usd(u128::from(self.0) * u128::from(tokens))
    }

    /// This share of the price, in percent; none where that is no whole number of millionths.
    pub fn percent(self, percent: u64) -> Option<Price> {
        let product = self.0.checked_mul(percent)?;
        (product % 100 == 0).then_some(Price(product / 100))
    }
}

impl fmt::Display for Price {
    /// In dollars for a million tokens, without needless zeros.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 1_000_000, self.0 % 1_000_000);
        if rest == 0 { write!(f, "{whole}") } else { write!(f, "{whole}.{}", format!("{rest:06}").trim_end_matches('0')) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_read_exactly_or_not_at_all() {
        let check = |text: &str, expect: Option<u64>| assert_eq!(Price::parse(text).map(Price::millionths), expect, "{text}");
        check("10", Some(10_000_000));
        check("0.075", Some(75_000));
        check("0.003", Some(3_000));
        check("1.000001", Some(1_000_001));
        check("1_000.5", Some(1_000_500_000));
        for none in ["1.0000001", "-1", "+1", "1e3", "inf", "nan", ".5", "5.", "", "9999999999", "1.2.3"] {
            check(none, None);
        }
    }

    #[test]
    fn prices_and_amounts_print_by_one_rule() {
        let check = |text: &str| assert_eq!(Price::parse(text).expect("a price").to_string(), text);
        ["10", "0.075", "0.000001", "999999999.5"].into_iter().for_each(check);
        let usd = |trillionths: u128, expect: &str| assert_eq!(Usd::from_trillionths(trillionths).to_string(), expect);
        usd(0, "0.000000");
        usd(499_999, "0.000000");
        usd(500_000, "0.000001");
        usd(102_877_400_000, "0.102877");
        usd(20_000_000_000_000, "20.000000");
        assert_eq!(Usd::from_trillionths(102_877_400_499).nano(), 102_877_400);
        assert_eq!(Usd::from_trillionths(500).nano(), 1);
    }

    #[test]
    fn a_million_small_amounts_add_up_exactly() {
        let price = Price::parse("0.003").expect("a price");
        let sum: Usd = (0..1_000_000).map(|_| price.of(7)).sum();
        assert_eq!(sum.trillionths(), 3_000 * 7 * 1_000_000);
        assert_eq!(Price::parse("0.075").and_then(|price| price.percent(50)).map(Price::millionths), Some(37_500));
        assert_eq!(Price::parse("0.000001").and_then(|price| price.percent(50)), None);
    }
}
