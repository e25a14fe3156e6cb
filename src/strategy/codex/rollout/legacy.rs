//! What a legacy checkpoint leaves of a history: the words of people, as far as they fit, and a summary.

use crate::transcript::{Content, Part};

use crate::strategy::codex::truncate::{estimated_tokens, to_tokens};

/// Tokens of user messages that stay, as the product estimates them.
const LIMIT: usize = 20_000;

/// What stands for an empty summary.
const NO_SUMMARY: &str = "(no summary available)";

/// A user message's words: its texts joined with nothing. Images go, and the tags that some clients put around them.
pub(super) fn words(parts: &[Part]) -> String {
    let is_image = |part: Option<&Part>| part.is_some_and(|part| matches!(part.content(), Content::Image { .. }));
    let mut words = String::new();
    for (at, part) in parts.iter().enumerate() {
        let text = part.as_text();
        let opens = (text == "<image>" || (text.starts_with("<image name=") && text.ends_with('>'))) && is_image(parts.get(at + 1));
        let closes = text == "</image>" && at > 0 && is_image(parts.get(at - 1));
        if !opens && !closes {
            words += text;
        }
    }
    words
}

/// Of these messages, the oldest first, those that stay: from the newest back while they fit; the first that does not is
/// cut to what is left, and ends it. Each with its position and its words.
pub(super) fn fitting(messages: Vec<String>) -> Vec<(usize, String)> {
    let mut left = LIMIT;
    let mut kept = Vec::new();
    for (at, words) in messages.into_iter().enumerate().rev() {
        if left == 0 {
            break;
        }
        let tokens = estimated_tokens(&words);
        if tokens <= left {
            left -= tokens;
            kept.push((at, words));
        } else {
            kept.push((at, to_tokens(&words, left)));
            break;
        }
    }
    kept.reverse();
    kept
}

/// The summary as the model reads it.
pub(super) fn summary(message: &str) -> Part {
    if message.is_empty() { NO_SUMMARY.into() } else { message.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> Part {
        Part::new(Content::Image { media: "image/png".into(), bytes: 1, tokens: None })
    }

    #[test]
    fn words_are_joined_and_images_go() {
        let check = |parts: &[Part], expect: &str| assert_eq!(words(parts), expect);
        check(&[], "");
        check(&["a".into(), "b".into()], "ab");
        check(&["a".into(), image()], "a");
        check(&["<image>".into(), image(), "</image>".into(), "b".into()], "b");
        check(&["<image name=[1]>".into(), image(), "</image>".into()], "");
        check(&["<image>".into(), "b".into(), "</image>".into()], "<image>b</image>");
    }

    #[test]
    fn the_newest_fit() {
        let check = |lengths: &[usize], expect: &[(usize, usize)]| {
            let kept = fitting(lengths.iter().map(|&length| "x".repeat(length)).collect());
            assert_eq!(kept.iter().map(|(at, words)| (*at, words.len())).collect::<Vec<_>>(), expect);
        };
        check(&[], &[]);
        check(&[4, 0], &[(0, 4), (1, 0)]);
        // 20 000 tokens are 80 000 bytes; a message takes whole tokens.
        check(&[4, 79_993], &[(0, 4), (1, 79_993)]);
        check(&[4, 79_999], &[(1, 79_999)]);
        check(&[4, 80_000], &[(1, 80_000)]);
        // What does not fit loses its middle, told in a marker of 27 bytes, and nothing older stays.
        check(&[4, 9, 79_996], &[(1, 4 + "…2 tokens truncated…".len()), (2, 79_996)]);
        check(&[0, 80_000], &[(1, 80_000)]);
    }
}
