//! A long text without its middle, as the product cuts one to a number of tokens.

/// Bytes that the product takes a token to have.
const BYTES: usize = 4;

/// Tokens of a text as the product estimates them.
pub(super) fn estimated_tokens(text: &str) -> usize {
    text.len().div_ceil(BYTES)
}

/// A text of at most so many estimated tokens: its first and its last half of them, and between them how many are gone.
pub(super) fn to_tokens(text: &str, tokens: usize) -> String {
    let most = tokens.saturating_mul(BYTES);
    if text.len() <= most {
        return text.to_owned();
    }
    let marker = format!("…{} tokens truncated…", (text.len() - most).div_ceil(BYTES));
    if most == 0 {
        return marker;
    }
    let head = most / 2;
    let first = (0..=head).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default();
    let last = (text.len() - (most - head)..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
    format!("{}{marker}{}", &text[..first], &text[last..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, tokens: usize, expect: &str) {
        assert_eq!(to_tokens(text, tokens), expect);
    }

    #[test]
    fn the_middle_goes() {
        check("", 0, "");
        check("abcdefgh", 2, "abcdefgh");
        check("abcdefghi", 2, "abcd…1 tokens truncated…fghi");
        check("abcdefghijklmnop", 1, "ab…3 tokens truncated…op");
        check("abc", 0, "…1 tokens truncated…");
        // A character is never cut; what is told counts bytes over the limit.
        check("éééééééé", 1, "é…3 tokens truncated…é");
        check("aéééééééb", 1, "a…3 tokens truncated…b");
        assert_eq!([estimated_tokens(""), estimated_tokens("abcd"), estimated_tokens("abcde")], [0, 1, 2]);
    }
}
