//! Numbers for people. Machine formats have the exact ones.

/// A count in at most six characters: thousands apart, from a hundred thousand on in thousands, then in millions, with
/// four digits.
pub(super) fn count(value: f64) -> String {
    let size = value.abs();
    if size < 99_999.5 {
        return apart(&format!("{value:.0}"));
    }
    let (unit, name) = if size < 999_950.0 { (1e3, "k") } else { (1e6, "M") };
    let scaled = value / unit;
    let decimals = match scaled.abs() {
        small if small < 9.995 => 2,
        middle if middle < 999.95 => 1,
        _ => 0,
    };
    format!("{}{name}", apart(&format!("{scaled:.decimals$}")))
}

/// A mean of few counts: a decimal if there is anything to show.
pub(super) fn few(value: f64) -> String {
    if (value - value.round()).abs() < 0.05 { apart(&format!("{value:.0}")) } else { apart(&format!("{value:.1}")) }
}

/// Milliseconds as seconds.
pub(super) fn seconds(milliseconds: f64) -> String {
    let seconds = milliseconds / 1000.0;
    let decimals = if seconds < 999.95 { 1 } else { 0 };
    apart(&format!("{seconds:.decimals$}"))
}

/// A share or a score.
pub(super) fn share(value: f64) -> String {
    format!("{value:.2}")
}

/// Dollars, with two or three digits that count.
pub(super) fn dollars(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => apart(&format!("{value:.0}")),
        size if size >= 9.995 => format!("{value:.1}"),
        size if size >= 0.9995 => format!("{value:.2}"),
        size if size >= 0.09995 => format!("{value:.3}"),
        size if size >= 0.00095 || size == 0.0 => format!("{value:.4}"),
        _ => format!("{value:.5}"),
    }
}

/// A number's digits with its thousands apart; what stands behind a point stays as it is.
pub(super) fn apart(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(whole, fraction)| (whole, Some(fraction)));
    let mut text = String::from(sign);
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text += fraction;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        let check = |said: String, expect: &str| assert_eq!(said, expect);
        check(dollars(0.0), "0.0000");
        check(dollars(0.000_123_4), "0.00012");
        check(dollars(0.001_234), "0.0012");
        check(dollars(0.012_345), "0.0123");
        check(dollars(0.123_45), "0.123");
        check(dollars(1.234_5), "1.23");
        check(dollars(12.345), "12.3");
        check(dollars(1_234.5), "1,234");
        check(count(0.0), "0");
        check(count(999.0), "999");
        check(count(1000.0), "1,000");
        check(count(99_999.0), "99,999");
        check(count(-99_999.4), "-99,999");
        check(count(100_000.0), "100.0k");
        check(count(999_949.0), "999.9k");
        check(count(999_951.0), "1.00M");
        check(count(9_996_000.0), "10.0M");
        check(count(123_456_789.0), "123.5M");
        check(count(1_234_567_890.0), "1,235M");
        check(few(3.0), "3");
        check(few(3.25), "3.2");
        check(few(1234.5), "1,234.5");
        check(seconds(12_345.0), "12.3");
        check(seconds(1_234_567.0), "1,235");
        check(seconds(999_949.0), "999.9");
        check(share(2.0 / 3.0), "0.67");
    }
}
