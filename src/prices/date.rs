//! Days, for the age of a table.

use std::fmt;

/// A day of the Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: i64,
    month: u8,
    day: u8,
}

impl Date {
    /// Reads `2026-11-30`.
    pub fn parse(text: &str) -> Option<Date> {
        let digits = |part: &str, len: usize| part.len() == len && part.bytes().all(|byte| byte.is_ascii_digit());
        let mut parts = text.split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() || !digits(year, 4) || !digits(month, 2) || !digits(day, 2) {
            return None;
        }
        let date = Date { year: year.parse().ok()?, month: month.parse().ok()?, day: day.parse().ok()? };
        ((1..=12).contains(&date.month) && (1..=date.days_of_month()).contains(&date.day)).then_some(date)
    }

    /// The day so many days after 1 January 1970.
    pub fn of_unix_day(day: i64) -> Date {
        // 1 March of the year 0 is 719,468 days before.
        let days = day.saturating_add(719_468);
        let era = days.div_euclid(146_097);
        let of_era = days.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let day = (of_year - (153 * from_march + 2) / 5 + 1) as u8;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 } as u8;
        Date { year: year_of_era + era * 400 + i64::from(month <= 2), month, day }
    }

    fn days_of_month(self) -> u8 {
        let leap = self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0);
        match self.month {
            4 | 6 | 9 | 11 => 30,
            2 if leap => 29,
            2 => 28,
            _ => 31,
        }
    }

    /// Days since 1 March of the year 0: the year is taken to begin in March, so a leap day is its last.
    fn number(self) -> i64 {
        let month = (i64::from(self.month) + 9) % 12;
        let year = self.year - month / 10;
        365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + (month * 306 + 5) / 10 + i64::from(self.day) - 1
    }

    /// Days from this day to a later one; negative if that one is earlier.
    pub fn days_until(self, later: Date) -> i64 {
        later.number() - self.number()
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_since_1970() {
        #[track_caller]
        fn check(day: i64, expect: &str) {
            assert_eq!(Date::of_unix_day(day).to_string(), expect);
            assert_eq!(Date::of_unix_day(0).days_until(Date::of_unix_day(day)), day);
        }
        check(0, "1970-01-01");
        check(-1, "1969-12-31");
        check(11_016, "2000-02-29");
        check(20_787, "2026-11-30");
        check(47_540, "2100-02-28");
        check(47_541, "2100-03-01");
    }

    #[test]
    fn days_between() {
        let check = |from: &str, to: &str, expect: i64| {
            let (from, to) = (Date::parse(from).expect("a day"), Date::parse(to).expect("a day"));
            assert_eq!(from.days_until(to), expect, "{from} {to}");
        };
        check("2026-11-30", "2026-11-30", 0);
        check("2026-11-30", "2026-12-01", 1);
        check("2026-11-30", "2027-01-29", 60);
        check("2024-02-28", "2024-03-01", 2);
        check("2026-02-28", "2026-03-01", 1);
        check("1999-12-31", "2000-12-31", 366);
        check("2026-12-01", "2026-11-30", -1);
    }

    #[test]
    fn what_is_no_day_is_none() {
        for text in ["2026-02-29", "2026-13-01", "2026-00-10", "2026-1-1", "26-01-01", "2026-11-31", "today", "2026-11-30T00"] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
        assert_eq!(Date::parse("2024-02-29").map(|date| date.to_string()), Some("2024-02-29".into()));
    }
}
