//! Time stamps of recordings.

/// Milliseconds since 1970 of an RFC 3339 time with a zone; `None` for anything else.
pub fn milliseconds(stamp: &str) -> Option<i64> {
    let bytes = stamp.as_bytes();
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = stamp.get(from..to)?;
        if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
    };
    let is = |at: usize, byte: u8| bytes.get(at) == Some(&byte);
    if !(is(4, b'-') && is(7, b'-') && (is(10, b'T') || is(10, b't') || is(10, b' ')) && is(13, b':') && is(16, b':')) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let mut at = 19;
    let mut millis = 0;
    if is(at, b'.') {
        let from = at + 1;
        at = from + bytes[from.min(bytes.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if at == from {
            return None;
        }
        // A fraction of one to three digits and more: tenths, hundredths, thousandths; what is finer is cut.
        for place in 0..3 {
            let digit = if from + place < at { i64::from(bytes[from + place] - b'0') } else { 0 };
            millis = millis * 10 + digit;
        }
    }
    let offset_minutes = match bytes.get(at)? {
        b'Z' | b'z' if bytes.len() == at + 1 => 0,
        sign @ (b'+' | b'-') if bytes.len() == at + 6 && is(at + 3, b':') => {
            let minutes = number(at + 1, at + 3)? * 60 + number(at + 4, at + 6)?;
            if *sign == b'-' { -minutes } else { minutes }
        }
        _ => return None,
    };
    // Days from 1970-01-01 in the proleptic Gregorian calendar, with years that begin in March.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + (153 * month + 2) / 5 + day - 1;
    let days = era * 146_097 + day_of_era - 719_468;
    Some((((days * 24 + hour) * 60 + minute - offset_minutes) * 60 + second) * 1000 + millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stamp: &str, expect: Option<i64>) {
        assert_eq!(milliseconds(stamp), expect, "{stamp}");
    }

    #[test]
    fn stamps_are_read_or_unknown() {
        // Expected values: GNU date, `date -u -d STAMP +%s%3N`.
        check("1970-01-01T00:00:00Z", Some(0));
        check("2026-01-27T00:49:20.793Z", Some(1_769_474_960_793));
        check("2024-02-29T12:00:00.5+02:00", Some(1_709_200_800_500));
        check("1969-12-31T23:59:59.999Z", Some(-1));
        check("2031-05-01T10:00:01.0009-00:30", Some(1_935_397_801_000));
        for bad in [
            "",
            "not-a-date",
            "2026-01-27",
            "2026-01-27T00:49:20",
            "2026-13-27T00:49:20Z",
            "2026-01-27T00:49:20.Z",
            "日026-01-27T00:49:20Z",
        ] {
            check(bad, None);
        }
    }
}
