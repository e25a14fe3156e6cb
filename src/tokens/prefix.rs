//! How much of a text so many tokens are.

use super::{CountError, Meter};

/// The longest beginning of a text, at most about as long as can be told by halving, that counts no more than so many
/// tokens: what a limit on output leaves of a reply. The whole text if it counts no more.
///
/// A longer beginning rarely counts fewer tokens than a shorter one, but it can: so what is found is checked, and the
/// result never counts more than it may.
pub fn prefix<'t>(meter: &Meter, text: &'t str, most: u32) -> Result<&'t str, CountError> {
    // No token is empty: a text of so many bytes cannot count more.
    if text.len() <= most as usize || meter.text(text)? <= most {
        return Ok(text);
    }
    let (mut fits, mut too_long) = (floor(text, most as usize), text.len());
    while meter.text(&text[..fits])? > most {
        fits = floor(text, fits.saturating_sub(1));
    }
    loop {
        let middle = floor(text, fits + (too_long - fits) / 2);
        if middle <= fits {
            let next = ceiling(text, fits + 1);
            if next >= too_long {
                return Ok(&text[..fits]);
            }
            if meter.text(&text[..next])? <= most { fits = next } else { too_long = next }
        } else if meter.text(&text[..middle])? <= most {
            fits = middle;
        } else {
            too_long = middle;
        }
    }
}

/// The last place at or before this one where a character begins.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The first place at or behind this one where a character begins.
fn ceiling(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Encoding, Meter, counter};
    use super::prefix;

    fn meter() -> Meter {
        Meter::new(counter(Encoding::O200kBase))
    }

    #[test]
    fn a_text_is_cut_where_the_tokens_are_full() {
        #[track_caller]
        fn check(text: &str, most: u32, expect: &str) {
            assert_eq!(prefix(&meter(), text, most), Ok(expect));
        }
        // o200k: "one", " two", " three", " four" are a token each.
        check("one two three four", 4, "one two three four");
        check("one two three four", 2, "one two");
        check("one two three four", 0, "");
        check("", 0, "");
        check("ab", 9, "ab");
        // Each face is several tokens of its own; half a character is none.
        check("\u{1fae8}\u{1fae8}", 1, "");
    }

    proptest! {
        #[test]
        fn what_is_left_is_a_beginning_that_counts_no_more(text in "(\\PC|[a-z ]|\n){0,80}", most in 0_u32..40) {
            let meter = meter();
            let left = prefix(&meter, &text, most).unwrap();
            prop_assert!(text.starts_with(left));
            prop_assert!(meter.text(left).unwrap() <= most);
            // One character more is one too many, unless nothing was cut.
            if let Some(next) = text[left.len()..].chars().next() {
                prop_assert!(meter.text(&text[..left.len() + next.len_utf8()]).unwrap() > most);
            }
        }
    }
}
