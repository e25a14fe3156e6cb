//! `length`: how long an answer is, without white space at its ends, as it stands.

use unicode_normalization::UnicodeNormalization;

use crate::scenario::Measure;

/// Bounds of a length, both inclusive.
#[derive(Debug)]
pub(in crate::score) struct Bounds {
    pub of: Measure,
    pub at_least: Option<u64>,
    pub at_most: Option<u64>,
}

impl Bounds {
    /// Whether a text is neither too short nor too long.
    pub(super) fn hold(&self, text: &str) -> bool {
        let length = length(self.of, text) as u64;
        self.at_least.is_none_or(|least| length >= least) && self.at_most.is_none_or(|most| length <= most)
    }
}

fn length(of: Measure, text: &str) -> usize {
    match of {
        Measure::Words => text.split_whitespace().count(),
        Measure::Characters => text.trim().nfc().count(),
        Measure::Lines => text.lines().filter(|line| !line.trim().is_empty()).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        let check = |text: &str, expect: [usize; 3]| {
            assert_eq!([Measure::Words, Measure::Characters, Measure::Lines].map(|of| length(of, text)), expect, "{text:?}");
        };
        check("", [0, 0, 0]);
        check(" \n\t\n", [0, 0, 0]);
        check("one", [1, 3, 1]);
        check("one  two\n\n three\r\n", [3, 16, 2]); // 3 + 2 + 3 + 2 + 1 + 5 characters
        check("caf\u{e9} cafe\u{301}", [2, 9, 1]); // composed or not: the same length
        check("令牌\n已签名", [2, 6, 2]);
    }

    #[test]
    fn bounds_are_inclusive() {
        let check = |at_least: Option<u64>, at_most: Option<u64>, expect: bool| {
            assert_eq!(Bounds { of: Measure::Words, at_least, at_most }.hold("one two three"), expect, "{at_least:?} {at_most:?}");
        };
        check(None, Some(3), true);
        check(None, Some(2), false);
        check(Some(3), None, true);
        check(Some(4), None, false);
        check(Some(3), Some(3), true);
        check(None, Some(0), false);
    }
}
