//! `number`: numbers in a text, and whether the wanted one is among them.
//!
//! A number is written in ASCII digits. It begins with a digit, or with a point and a digit (`.5`), and not within a word
//! (`v2`, `K7`, `utf_8` hold none). Its parts:
//!
//! - a sign `-`, `+` or `−` directly before it, unless a letter, a digit, a closing bracket or another sign stands before
//!   that (`3-5` and `page-5` hold no -5);
//! - thousands: one to three digits, the first not 0, then groups of three, all parted by the same one of `,` `_` `'` `’`, a
//!   no-break, narrow or thin blank. A comma is never a decimal sign (`1,5` are 1 and 5), a usual blank parts nothing;
//! - a point with digits, then an exponent (`e-3`).
//!
//! Letters directly behind are a unit (`45ms`), which changes nothing (`10k` is 10); with a digit or `_` among them it is no
//! number (`5d6e7f`), nor is one with two points (`1.2.3`). Words (`nine`) are no numbers.

use crate::scenario::marker::{is_boundary, is_spaced_word};
use crate::scenario::{NumberAsk, Which};

const PARTS: [char; 7] = [',', '_', '\'', '’', '\u{a0}', '\u{202f}', '\u{2009}'];
const SIGNS: [char; 3] = ['-', '+', '\u{2212}'];

/// A number to look for.
#[derive(Debug)]
pub(in crate::score) struct Wanted {
    ask: NumberAsk,
    /// How far off it may be.
    reach: f64,
}

impl Wanted {
    pub(super) fn new(ask: &NumberAsk) -> Wanted {
        Wanted { reach: ask.tolerance.max(ask.relative * ask.value.abs()), ask: ask.clone() }
    }

    /// Whether a text answers it.
    pub(super) fn stands_in(&self, text: &str) -> bool {
        let mut numbers = Numbers { text, at: 0 }.filter(|number| self.is_looked_at(text, number)).map(|number| number.value);
        match self.ask.which {
            Which::Any => numbers.any(|number| self.is_near(number)),
            Which::First => numbers.next().is_some_and(|number| self.is_near(number)),
            Which::Last => numbers.last().is_some_and(|number| self.is_near(number)),
            Which::Every => {
                let mut numbers = numbers.peekable();
                numbers.peek().is_some() && numbers.all(|number| self.is_near(number))
            }
        }
    }

    /// At most the reach away. Without one, equal; with one, a difference in the last places of binary fractions is none
    /// (`1.1` is within 0.1 of 1).
    fn is_near(&self, number: f64) -> bool {
        let wanted = self.ask.value;
        let slack = if self.reach > 0.0 { 4.0 * f64::EPSILON * wanted.abs().max(number.abs()) } else { 0.0 };
        number == wanted || (number - wanted).abs() <= self.reach + slack
    }

    /// Whether one of the units stands behind or before it, one blank or none between them.
    fn is_looked_at(&self, text: &str, number: &Number) -> bool {
        let blank = |c: char| matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}');
        let (before, after) = (&text[..number.begin], &text[number.end..]);
        let stands = |unit: &String| {
            let behind = [after, after.strip_prefix(blank).unwrap_or(after)];
            let ahead = [before, before.strip_suffix(blank).unwrap_or(before)];
            behind.iter().any(|rest| rest.starts_with(unit) && is_boundary(rest, unit.len()))
                || ahead.iter().any(|rest| rest.ends_with(unit) && is_boundary(rest, rest.len() - unit.len()))
        };
        self.ask.units.is_empty() || self.ask.units.iter().any(stands)
    }
}

/// A number where it stands, sign included.
#[derive(Debug, PartialEq)]
struct Number {
    value: f64,
    begin: usize,
    end: usize,
}

/// The numbers of a text, in order; each byte is looked at a fixed number of times.
struct Numbers<'a> {
    text: &'a str,
    at: usize,
}

impl Iterator for Numbers<'_> {
    type Item = Number;

    fn next(&mut self) -> Option<Number> {
        let bytes = self.text.as_bytes();
        loop {
            let digit = self.at + bytes.get(self.at..)?.iter().position(u8::is_ascii_digit)?;
            match self.read(digit) {
                Ok(number) => {
                    self.at = number.end;
                    return Some(number);
                }
                // What is no number is passed as a whole: its later digits are not tried.
                Err(at) => self.at = self.token_end(at),
            }
        }
    }
}

impl Numbers<'_> {
    /// The number whose first digit stands here; or how far what is none was read.
    fn read(&self, digit: usize) -> Result<Number, usize> {
        let before = |at: usize| self.text[..at].chars().next_back();
        let mut begin = digit;
        // `.5`; the point of a sentence or of a range is none.
        if before(digit) == Some('.') && before(digit - 1).is_none_or(|c| c != '.') {
            begin -= 1;
        }
        if before(begin).is_some_and(is_spaced_word) {
            return Err(digit);
        }
        let mut digits = String::new();
        let mut at = digit;
        if begin == digit {
            at = self.whole(digit, &mut digits);
        } else {
            digits.push('0');
            at -= 1;
        }
        if let Some(end) = self.digits_behind(at, '.') {
            digits.push_str(&self.text[at..end]);
            at = end;
            if self.digits_behind(at, '.').is_some() {
                return Err(at);
            }
        }
        if let Some(end) = self.exponent(at) {
            digits.push_str(&self.text[at..end]);
            at = end;
        }
        let unit = self.text[at..].chars().take_while(|&c| is_spaced_word(c));
        if unit.clone().any(|c| c == '_' || c.is_ascii_digit()) {
            return Err(at);
        }
        let sign = before(begin).filter(|c| SIGNS.contains(c)).filter(|sign| {
            let earlier = before(begin - sign.len_utf8());
            !earlier.is_some_and(|c| c.is_alphanumeric() || SIGNS.contains(&c) || matches!(c, '_' | ')' | ']' | '}'))
        });
        let value: f64 = digits.parse().map_err(|_| at)?;
        let value = if sign.is_some_and(|sign| sign != '+') { -value } else { value };
        Ok(Number { value, begin: begin - sign.map_or(0, char::len_utf8), end: at })
    }

    /// Reads whole digits, with their thousands parted or not; gives where they end.
    fn whole(&self, from: usize, digits: &mut String) -> usize {
        let mut end = self.digits_end(from);
        digits.push_str(&self.text[from..end]);
        let parts = self.text[end..].chars().next().filter(|c| PARTS.contains(c));
        if let Some(part) = parts.filter(|_| end - from <= 3 && !digits.starts_with('0')) {
            while let Some(group) = self.digits_behind(end, part).filter(|group| group - end == part.len_utf8() + 3) {
                digits.push_str(&self.text[group - 3..group]);
                end = group;
            }
        }
        end
    }

    /// The end of the digits behind a character that stands here.
    fn digits_behind(&self, at: usize, c: char) -> Option<usize> {
        let from = at + self.text[at..].strip_prefix(c).map(|_| c.len_utf8())?;
        Some(self.digits_end(from)).filter(|&end| end > from)
    }

    fn exponent(&self, at: usize) -> Option<usize> {
        let rest = self.text[at..].strip_prefix(['e', 'E'])?;
        let rest = rest.strip_prefix(['+', '-']).unwrap_or(rest);
        let from = self.text.len() - rest.len();
        let end = self.digits_end(from);
        let ends_there = !self.text[end..].chars().next().is_some_and(is_spaced_word);
        (end > from && ends_there).then_some(end)
    }

    fn digits_end(&self, from: usize) -> usize {
        from + self.text.as_bytes()[from..].iter().take_while(|byte| byte.is_ascii_digit()).count()
    }

    /// The end of the word that a digit stands in: letters, digits, and points between them.
    fn token_end(&self, from: usize) -> usize {
        let mut chars = self.text[from..].char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let goes_on = is_spaced_word(c) || (c == '.' && chars.peek().is_some_and(|(_, next)| is_spaced_word(*next)));
            if !goes_on {
                return from + at;
            }
        }
        self.text.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_in_texts() {
        let check = |text: &str, expect: &[f64]| {
            let found: Vec<f64> = Numbers { text, at: 0 }.map(|number| number.value).collect();
            assert_eq!(found, expect, "{text}");
        };
        check("", &[]);
        check("It listens on 9187.", &[9187.0]);
        check("1,234,567 of 12,34 and 1,2345", &[1_234_567.0, 12.0, 34.0, 1.0, 2345.0]);
        check("31_500 31'500 31’500 31\u{202f}500 31\u{a0}500 31 500", &[31_500.0, 31_500.0, 31_500.0, 31_500.0, 31_500.0, 31.0, 500.0]);
        check("1,234_567 9", &[9.0]); // parted in two ways: no number
        check("0,123 12345,678", &[0.0, 123.0, 12_345.0, 678.0]);
        check("1,5", &[1.0, 5.0]);
        check("3.75 .5 2. 0.50", &[3.75, 0.5, 2.0, 0.5]);
        check("1..5", &[1.0, 5.0]);
        check("1,234.5e-2 2E3 1e5x 7e", &[12.345, 2000.0, 7.0]);
        check("-5 +5 −5 (-5) =-5 - 5", &[-5.0, 5.0, -5.0, -5.0, -5.0, 5.0]);
        check("3-5 page-5 )-5 --5", &[3.0, 5.0, 5.0, 5.0, 5.0]);
        check("45ms 10k 45% $12 2nd", &[45.0, 10.0, 45.0, 12.0, 2.0]);
        check("v2 K7-parcels utf_8 1a2b3c 5d6e7f8 0x1F 1.2.3 10.0.0.1", &[]);
        check("v1.2 file.2", &[]);
        check("2025-01-02 03:12:07", &[2025.0, 1.0, 2.0, 3.0, 12.0, 7.0]);
        check("共14天，每天3次", &[14.0, 3.0]);
        check("nine ٣ ²", &[]);
    }

    fn ask(value: f64) -> NumberAsk {
        NumberAsk { value, tolerance: 0.0, relative: 0.0, which: Which::Any, units: vec![] }
    }

    #[track_caller]
    fn check(ask: NumberAsk, text: &str, expect: bool) {
        assert_eq!(Wanted::new(&ask).stands_in(text), expect, "{ask:?} in {text}");
    }

    #[test]
    fn tolerances() {
        let off = |tolerance: f64, relative: f64| NumberAsk { tolerance, relative, ..ask(200.0) };
        check(off(0.0, 0.0), "200", true);
        check(off(0.0, 0.0), "200.0", true);
        check(off(0.0, 0.0), "200.0000001", false);
        check(off(2.0, 0.0), "198", true);
        check(off(2.0, 0.0), "202.5", false);
        check(off(0.0, 0.05), "210", true); // 5 % of 200 are 10
        check(off(0.0, 0.05), "189.9", false);
        check(off(2.0, 0.05), "190", true); // the larger of the two
        check(off(20.0, 0.05), "181", true);
        check(NumberAsk { relative: 0.1, ..ask(-10.0) }, "-11", true);
        check(NumberAsk { tolerance: 0.1, ..ask(1.0) }, "1.1", true); // 1.1 - 1 is a little more in binary
        check(NumberAsk { tolerance: 0.1, ..ask(1.0) }, "1.1001", false);
    }

    #[test]
    fn which_of_several() {
        let which = |which: Which| NumberAsk { which, ..ask(3.0) };
        for (kind, one, first, last, middle, none) in [
            (Which::Any, true, true, true, true, false),
            (Which::First, true, true, false, false, false),
            (Which::Last, true, false, true, false, false),
            (Which::Every, true, false, false, false, false),
        ] {
            check(which(kind), "3 and 3.0", one);
            check(which(kind), "3, then 4", first);
            check(which(kind), "4, then 3", last);
            check(which(kind), "4, 3, 5", middle);
            check(which(kind), "nothing", none);
        }
    }

    #[test]
    fn units() {
        let of =
            |units: &[&str]| NumberAsk { units: units.iter().map(|unit| (*unit).to_owned()).collect(), which: Which::Every, ..ask(45.0) };
        check(of(&["ms", "milliseconds"]), "3 tries took 45 ms", true);
        check(of(&["ms", "milliseconds"]), "3 tries took 45ms, or 45 milliseconds", true);
        check(of(&["m"]), "45 ms", false);
        check(of(&["m"]), "45m.", true);
        check(of(&["%"]), "45 % of 12", true);
        check(of(&["%"]), "of 45", false);
        check(of(&["$"]), "It cost $45 for 3.", true);
        check(of(&["EUR"]), "It cost EUR 45 for 3.", true);
        check(of(&["天"]), "共45天", true);
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_found(value in prop_oneof![(-1e12..1e12_f64), any::<i32>().prop_map(f64::from)], words in "[a-z ]{0,12}") {
            check(ask(value), &format!("{words} {value} {words}"), true);
        }

        #[test]
        fn nothing_panics(text in "[0-9.,eE+_a -]{0,40}|\\PC{0,40}", value in any::<f64>(), tolerance in 0.0..10.0_f64) {
            for which in [Which::Any, Which::First, Which::Last, Which::Every] {
                Wanted::new(&NumberAsk { which, tolerance, units: vec!["a".into()], ..ask(value) }).stands_in(&text);
            }
            // Whatever holds for each holds for the first, and what holds for the first holds for any.
            let of = |which: Which| Wanted::new(&NumberAsk { which, tolerance, ..ask(5.0) }).stands_in(&text);
            prop_assert!(!of(Which::Every) || (of(Which::First) && of(Which::Last)));
            prop_assert!(!(of(Which::First) || of(Which::Last)) || of(Which::Any));
        }
    }

    /// Long runs of what could be numbers: none is read from every place anew.
    #[test]
    fn long_answers_are_read_once() {
        for piece in ["1", "1.", "1,", "1,234", "e1", "1e", "1_", "-1", ".1", "1a", "a.1"] {
            let text = piece.repeat(1_000_000 / piece.len());
            assert!(!Wanted::new(&ask(-0.5)).stands_in(&text), "{piece}");
        }
    }
}
