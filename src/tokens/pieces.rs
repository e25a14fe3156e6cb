//! Pieces: what a text is cut into before its bytes are merged.
//!
//! Both encodings cut a text by a published pattern (openai/tiktoken 0.14.0, `tiktoken_ext/openai_public.py`) and merge
//! the bytes of each piece alone. Nearly every piece is a word; but a run of one kind of character (white space, letters,
//! punctuation) is one piece of any length, and those are what tokenizers choke on.

use std::sync::LazyLock;

use regex::Regex;

use super::Encoding;

/// Whether a quick look shows that no piece of a text is longer than twice `long` bytes. `false` proves nothing.
///
/// No piece of either pattern holds more than three steps between ASCII letters and other ASCII characters (the
/// character before a word, the word, an apostrophe and what it contracts), and one with a digit is at most three
/// characters long. So a stretch with a fourth step, or with a digit, is never inside a long piece, and such stretches
/// need only be found here and there: a long piece lies between the beginning of one and the end of the next.
pub(super) fn all_short(text: &str, long: usize) -> bool {
    let bytes = text.as_bytes();
    let mut start = 0;
    while let Some(ahead) = bytes.get(start..).filter(|ahead| ahead.len() > long) {
        let (mut steps, mut letter) = (0, None);
        let step = |byte: &u8| {
            if byte.is_ascii_digit() {
                steps = 4;
            } else if byte.is_ascii() {
                let is_letter = byte.is_ascii_alphabetic();
                steps += u32::from(letter.is_some_and(|before: bool| before != is_letter));
                letter = Some(is_letter);
            }
            steps >= 4
        };
        if !ahead.iter().take(long).any(step) {
            return false;
        }
        // The stretch found ends within `long` bytes, so the next one may begin this far behind its beginning.
        start += long;
    }
    true
}

/// The pattern of an encoding, in the words of a regex engine without look-ahead: `\s+` stands last for both
/// `\s+(?!\S)` and `\s+`, and [`pieces`] makes up the difference. The present text of `cl100k_base` ends in
/// `\s++$|\s*[\r\n]|\s+(?!\S)|\s` instead; every token of its vocabulary with a line break ends in one, so that counts
/// the same.
fn pattern(encoding: Encoding) -> &'static Regex {
    static CL100K_BASE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(concat!(
            r"^(?:(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
            r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+)"
        ))
        .expect("a constant pattern; the tests compile it")
    });
    static O200K_BASE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(concat!(
            r"^(?:[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+)"
        ))
        .expect("a constant pattern; the tests compile it")
    });
    match encoding {
        Encoding::O200kBase => &O200K_BASE,
        Encoding::Cl100kBase => &CL100K_BASE,
    }
}

/// The pieces of a text, in order; together they are the text.
pub(super) fn pieces(encoding: Encoding, text: &str) -> impl Iterator<Item = &str> {
    let pattern = pattern(encoding);
    let mut rest = text;
    std::iter::from_fn(move || {
        // Every character is in the reach of some alternative, so only the empty text has no match.
        let found = pattern.find(rest)?.as_str();
        let mut end = found.len();
        // `\s+(?!\S)`: before anything visible, the last of several white space characters belongs to what follows. Only
        // the last alternative matches something that ends in white space other than a line break.
        let last = found.chars().next_back()?;
        if last.is_whitespace() && !matches!(last, '\r' | '\n') && end < rest.len() && end > last.len_utf8() {
            end -= last.len_utf8();
        }
        let (piece, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::agreement::any_text;
    use super::*;

    #[test]
    fn texts_fall_into_pieces() {
        // By hand from the published patterns; Python's `regex` cuts the same.
        fn check(encoding: Encoding, text: &str, expect: &[&str]) {
            assert_eq!(pieces(encoding, text).collect::<Vec<_>>(), expect, "{encoding}: {text:?}");
        }
        fn both(text: &str, expect: &[&str]) {
            Encoding::ALL.into_iter().for_each(|encoding| check(encoding, text, expect));
        }
        both("", &[]);
        both("hello world", &["hello", " world"]);
        both("  hello", &[" ", " hello"]);
        both("   1", &["  ", " ", "1"]);
        both("a   ", &["a", "   "]);
        both("a \n \n  b", &["a", " \n \n", " ", " b"]);
        both("a\n\n   ", &["a", "\n\n", "   "]);
        both("a\u{3000}\u{3000}b \u{3000}1", &["a", "\u{3000}", "\u{3000}b", " ", "\u{3000}", "1"]);
        both("1234567", &["123", "456", "7"]);
        both("!?\n\n\tx", &["!?\n\n", "\tx"]);
        check(Encoding::O200kBase, ".\n/\n/a", &[".\n/\n/", "a"]);
        check(Encoding::Cl100kBase, ".\n/\n/a", &[".\n", "/\n", "/a"]);
        check(Encoding::O200kBase, "it'S'll", &["it'S", "'ll"]);
        check(Encoding::Cl100kBase, "it'S'll", &["it", "'S", "'ll"]);
        check(Encoding::O200kBase, "parseHTTPRequest", &["parse", "HTTPRequest"]);
        check(Encoding::Cl100kBase, "parseHTTPRequest", &["parseHTTPRequest"]);
        check(Encoding::O200kBase, "e\u{301}x \u{301}", &["e\u{301}x", " \u{301}"]);
        check(Encoding::Cl100kBase, "e\u{301}x \u{301}", &["e", "\u{301}x", " \u{301}"]);
    }

    #[test]
    fn a_quick_look_knows_common_texts_and_suspects_runs() {
        fn check(text: &str, expect: bool) {
            assert_eq!(all_short(text, 16), expect, "{text:?}");
        }
        check("all of it short", true);
        check("The quick brown fox jumps over the lazy dog; it's tired.", true);
        check("8f3a9c0012ffab34cd56ef78a9b0c1d2e3f4", true);
        check("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false);
        check("a b c d                              ", false);
        check("a b c d ----------------------------- e f", false);
    }

    proptest! {
        #[test]
        fn pieces_are_the_text_and_never_longer_than_the_quick_look_says(text in any_text(), long in 8_usize..64) {
            for encoding in Encoding::ALL {
                let cut: Vec<&str> = pieces(encoding, &text).collect();
                prop_assert_eq!(cut.concat(), text.as_str());
                prop_assert!(cut.iter().all(|piece| !piece.is_empty()));
                if all_short(&text, long) {
                    prop_assert!(cut.iter().all(|piece| piece.len() <= 2 * long), "{:?}", cut);
                }
            }
        }
    }
}
