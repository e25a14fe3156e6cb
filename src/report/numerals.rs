//! Numbers for people. Machine formats have the exact ones.

/// A count: thousands apart, and from ten million on in millions with three digits.
pub(super) fn count(value: f64) -> String {
    if value.abs() >= 9_999_999.5 {
        let millions = value / 1e6;
        let decimals = if millions.abs() < 99.95 { 1 } else { 0 };
        return format!("{}M", apart(&format!("{millions:.decimals$}")));
    }
    apart(&format!("{value:.0}"))
}

/// A mean of few counts: a decimal if there is anything to show.
pub(super) fn few(value: f64) -> String {
    if (value - value.round()).abs() < 0.05 { apart(&format!("{value:.0}")) } else { apart(&format!("{value:.1}")) }
}

/// Milliseconds as seconds.
pub(super) fn seconds(milliseconds: f64) -> String {
    apart(&format!("{:.1}", milliseconds / 1000.0))
}

/// A share or a score.
pub(super) fn share(value: f64) -> String {
    format!("{value:.2}")
}

/// Thousands apart.
fn apart(digits: &str) -> String {
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
        check(count(0.0), "0");
        check(count(999.0), "999");
        check(count(1000.0), "1,000");
        check(count(-1234567.4), "-1,234,567");
        check(count(9_999_999.0), "9,999,999");
        check(count(10_000_000.0), "10.0M");
        check(count(123_456_789.0), "123M");
        check(count(1_234_567_890.0), "1,235M");
        check(few(3.0), "3");
        check(few(3.25), "3.2");
        check(few(1234.5), "1,234.5");
        check(seconds(12_345.0), "12.3");
        check(seconds(1_234_567.0), "1,234.6");
        check(share(2.0 / 3.0), "0.67");
    }
}
