//! How far a figure may move from its accepted value, in exact arithmetic.

use std::fmt;

use crate::results::Number;

/// A figure in millionths: results round to six decimals, so nothing is lost and nothing is rounded again.
pub type Millionths = i128;

/// One of a figure's unit.
pub const ONE: Millionths = 1_000_000;

/// A number of the results in millionths.
pub fn millionths(number: Number) -> Millionths {
    match number {
        Number::Whole(whole) => Millionths::from(whole) * ONE,
        // What no figure can reach is as good as the largest that one can, and differences of those still fit.
        Number::Real(real) => (real * ONE as f64).round().clamp(-LARGEST, LARGEST) as Millionths,
    }
}

/// The largest amount that arithmetic meets, in millionths: far above any count, far below what a difference could overflow.
const LARGEST: f64 = 1e30;

/// How far a figure may move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowance {
    /// By a share of the accepted value, in millionths of a percent.
    Percent(Millionths),
    /// By this much, in millionths of the figure's unit.
    By(Millionths),
}

impl Allowance {
    /// Reads `1%`, `+200`, `200` or `0.05`.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Allowance, String> {
        let trimmed = text.trim();
        let (number, percent) = trimmed.strip_suffix('%').map_or((trimmed, false), |number| (number.trim_end(), true));
        let number = number.strip_prefix('+').unwrap_or(number);
        let amount = decimal(number).ok_or_else(|| format!("`{text}` is no allowance: write \"1%\", \"+200\" or 0"))?;
        Ok(if percent { Allowance::Percent(amount) } else { Allowance::By(amount) })
    }

    /// What may be added to or taken from this accepted value, in millionths. A share is rounded down.
    pub fn of(self, accepted: Millionths) -> Millionths {
        match self {
            Allowance::By(amount) => amount,
            Allowance::Percent(percent) => {
                let whole = accepted.unsigned_abs().saturating_mul(percent.unsigned_abs());
                i128::try_from(whole / (100 * ONE).unsigned_abs()).unwrap_or(i128::MAX)
            }
        }
    }
}

impl fmt::Display for Allowance {
    /// As it may be written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allowance::Percent(percent) => write!(f, "{}%", plain(*percent)),
            Allowance::By(amount) => f.write_str(&plain(*amount)),
        }
    }
}

/// Millionths as a decimal without needless zeros.
pub fn plain(amount: Millionths) -> String {
    let (sign, size) = if amount < 0 { ("-", amount.unsigned_abs()) } else { ("", amount.unsigned_abs()) };
    let (whole, rest) = (size / 1_000_000, size % 1_000_000);
    if rest == 0 {
        return format!("{sign}{whole}");
    }
    format!("{sign}{whole}.{}", format!("{rest:06}").trim_end_matches('0'))
}

/// A decimal of digits with at most six behind its point, in millionths.
pub fn decimal(text: &str) -> Option<Millionths> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && rest.is_empty()) || !digits(whole) || !digits(rest) || rest.len() > 6 || whole.len() > 18 {
        return None;
    }
    let number = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<Millionths>().ok() };
    Some(number(whole)? * ONE + number(&format!("{rest:0<6}"))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn allowances_are_read_and_written() {
        let check = |text: &str, expect: Option<&str>| {
            assert_eq!(Allowance::parse(text).ok().map(|one| one.to_string()).as_deref(), expect, "{text}");
        };
        check("1%", Some("1%"));
        check("+0.5 %", Some("0.5%"));
        check("+200", Some("200"));
        check("-200", None);
        check("-1%", None);
        check("0", Some("0"));
        check(".05", Some("0.05"));
        check("0.0000001", None);
        check("one", None);
        check("", None);
        check("%", None);
        check("1e3", None);
        check("--1", None);
    }

    #[test]
    fn a_share_is_of_the_accepted_value() {
        let check = |text: &str, accepted: i128, expect: i128| {
            assert_eq!(Allowance::parse(text).unwrap().of(accepted * ONE), expect, "{text} of {accepted}");
        };
        check("1%", 12_345, 123_450_000);
        check("1%", 0, 0);
        check("1%", -100, 1_000_000);
        check("0.000001%", 1, 0);
        check("+200", 5, 200 * ONE);
        check("100%", 7, 7 * ONE);
    }

    #[test]
    fn no_number_is_too_large_to_be_compared() {
        for number in [Number::Real(1e300), Number::Real(-1e300), Number::Whole(i64::MAX), Number::Whole(i64::MIN)] {
            for other in [Number::Real(1e300), Number::Real(-1e300), Number::Whole(0)] {
                let difference = millionths(number) - millionths(other);
                assert!(Allowance::Percent(i128::MAX).of(difference) >= 0);
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in ".{0,12}") {
            let _ = Allowance::parse(&text);
        }

        #[test]
        fn what_is_written_reads_back(amount in 0..10_i128.pow(20), percent: bool) {
            let one = if percent { Allowance::Percent(amount) } else { Allowance::By(amount) };
            prop_assert_eq!(Allowance::parse(&one.to_string()), Ok(one));
        }

        #[test]
        fn a_number_is_the_same_in_millionths(real in -1e6..1e6_f64) {
            let number = Number::real(real).unwrap();
            prop_assert_eq!(plain(millionths(number)).parse::<f64>().unwrap(), number.value());
        }
    }
}
