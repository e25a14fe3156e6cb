//! How long an answer may be, as whoever asked for it says (rule 15: what is asked).

use crate::transcript::Item;

const BEFORE: &str = "at most ";
const BEHIND: &str = " words";

/// The limit that the item which set the work states last: `at most N words`.
pub(super) fn words(item: &Item) -> Option<usize> {
    item.parts().iter().rev().find_map(|part| stated(part.as_text()))
}

fn stated(text: &str) -> Option<usize> {
    text.rmatch_indices(BEFORE).find_map(|(at, _)| {
        let rest = &text[at + BEFORE.len()..];
        let digits = &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())];
        rest[digits.len()..].starts_with(BEHIND).then(|| digits.parse().ok())?
    })
}

/// Leaves as many of these lines as fit, at least one, and says how many words are free then.
pub(super) fn keep(lines: &mut Vec<String>, limit: usize) -> usize {
    let mut left = limit;
    let mut kept = 0;
    for line in lines.iter() {
        let words = line.split_whitespace().count();
        if words > left && kept > 0 {
            break;
        }
        left = left.saturating_sub(words);
        kept += 1;
    }
    lines.truncate(kept);
    left
}

#[cfg(test)]
mod tests {
    use super::{keep, stated};

    #[test]
    fn a_limit_is_read_as_it_is_worded() {
        #[track_caller]
        fn check(text: &str, expect: Option<usize>) {
            assert_eq!(stated(text), expect, "{text}");
        }
        check("Find it.\n\nAnswer in at most 100 words.", Some(100));
        check("a summary of at most 40 words, please", Some(40));
        check("at most 5 words; no, at most 7 words", Some(7));
        check("at most 5 words, in at most 3 lines", Some(5));
        check("at most ten words", None);
        check("at most 12 wor", None);
        check("at most 99999999999999999999999 words", None);
        check("at most  words", None);
        check("", None);
    }

    #[test]
    fn lines_are_kept_from_the_beginning_and_never_none() {
        #[track_caller]
        fn check(lines: &[&str], limit: usize, kept: usize, left: usize) {
            let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            assert_eq!((keep(&mut lines, limit), lines.len()), (left, kept), "{limit}");
        }
        check(&["one two", "three", "four five six"], 10, 3, 4);
        check(&["one two", "three", "four five six"], 5, 2, 2);
        check(&["one two", "three", "four five six"], 1, 1, 0);
        check(&[], 5, 0, 5);
    }
}
