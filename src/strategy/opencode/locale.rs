//! The order in which the product lists names: the root collation of Unicode, as `localeCompare` has it.
//!
//! Exact for ASCII and for Latin letters with marks; other scripts stand behind these, by code point.

use std::cmp::Ordering;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Signs in collation order; digits and letters follow them.
const SIGNS: &str = "\t\n\u{b}\u{c}\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// Compares two names: letters first, then marks, then lower case before upper; equal names by their bytes.
pub(super) fn compare(one: &str, other: &str) -> Ordering {
    let (a, b) = (Key::of(one), Key::of(other));
    a.letters.cmp(&b.letters).then_with(|| a.marks.cmp(&b.marks)).then_with(|| a.capitals.cmp(&b.capitals)).then_with(|| one.cmp(other))
}

#[derive(Default)]
struct Key {
    letters: Vec<(u8, u32)>,
    /// Of each letter.
    marks: Vec<Vec<char>>,
    capitals: Vec<bool>,
}

impl Key {
    fn of(name: &str) -> Key {
        let mut key = Key::default();
        for c in name.nfd() {
            if is_combining_mark(c) {
                // A mark before any letter stands for itself.
                match key.marks.last_mut() {
                    Some(marks) => marks.push(c),
                    None => key.marks.push(vec![c]),
                }
                continue;
            }
            key.marks.push(vec![]);
            let weight = match SIGNS.chars().position(|sign| sign == c) {
                Some(place) => (0, place as u32),
                None if c.is_ascii_digit() => (1, c as u32),
                None => (2, c.to_lowercase().next().unwrap_or(c) as u32),
            };
            key.letters.push(weight);
            key.capitals.push(c.is_uppercase());
        }
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sorted: &[&str]) {
        let mut names = sorted.to_vec();
        names.reverse();
        names.sort_by(|one, other| compare(one, other));
        assert_eq!(names, sorted);
    }

    #[test]
    fn the_order_of_names() {
        check(&["_x", "-x", ".env", "1", "10", "2", "a", "A", "b", "B"]);
        check(&["a.txt", "a/", "a1", "ab"]);
        check(&["Cargo.lock", "Cargo.toml", "README.md", "src/", "tests/"]);
        check(&["cote", "coté", "côte", "cotf"]);
        check(&["zebra", "ж", "日"]);
    }
}
