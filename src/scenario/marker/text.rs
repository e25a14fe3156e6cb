//! How a text is read when markers are looked for: escapes undone, composed, blanks made one, words told apart.

use std::borrow::Cow;

use memchr::memmem::Finder;
use smallvec::{SmallVec, smallvec};
use unicode_normalization::{IsNormalized, UnicodeNormalization, char::is_combining_mark, is_nfc_quick};

/// How often escapes are undone: text inside JSON inside JSON is still read.
const DECODINGS: usize = 3;

/// A text as it stands, and as it reads with escapes undone once and again, as long as that changes anything.
pub(crate) fn readings(text: &str) -> SmallVec<[Cow<'_, str>; 1]> {
    let mut all: SmallVec<[Cow<'_, str>; 1]> = smallvec![Cow::Borrowed(text)];
    for _ in 0..DECODINGS {
        match all.last().and_then(|last| decoded(last)) {
            Some(next) => all.push(Cow::Owned(next)),
            None => break,
        }
    }
    all
}

/// The text with JSON string escapes and tag escapes undone; `None`: it has none.
fn decoded(text: &str) -> Option<String> {
    memchr::memchr2(b'\\', b'&', text.as_bytes())?;
    const TAGS: [(&str, char); 6] = [("&lt;", '<'), ("&gt;", '>'), ("&amp;", '&'), ("&quot;", '"'), ("&apos;", '\''), ("&#39;", '\'')];
    let mut out = String::with_capacity(text.len());
    let mut changed = false;
    let mut rest = text;
    while let Some(at) = memchr::memchr2(b'\\', b'&', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let undone = if rest.starts_with('&') {
            TAGS.iter().find(|(escape, _)| rest.starts_with(escape)).map(|&(escape, c)| (escape.len(), c))
        } else {
            json_escape(rest)
        };
        match undone {
            Some((length, c)) => {
                out.push(c);
                rest = &rest[length..];
                changed = true;
            }
            None => {
                out.push_str(&rest[..1]);
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    changed.then_some(out)
}

/// The JSON string escape at the beginning of a text: its length in bytes and its character.
fn json_escape(text: &str) -> Option<(usize, char)> {
    let simple = match text.as_bytes().get(1)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'"' => '"',
        b'/' => '/',
        b'\\' => '\\',
        b'u' => {
            let unit = |at: usize| text.get(at..at + 4).and_then(|hex| u16::from_str_radix(hex, 16).ok());
            let first = unit(2)?;
            let pair = [first, if text.get(6..8) == Some("\\u") { unit(8).unwrap_or(0) } else { 0 }];
            return match char::decode_utf16(pair).next()? {
                Ok(c) => Some((if c.len_utf16() == 2 { 12 } else { 6 }, c)),
                Err(_) => None,
            };
        }
        _ => return None,
    };
    Some((2, simple))
}

/// NFC, with every run of white space as one blank.
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return fold_ascii(text);
    }
    let plain = is_nfc_quick(text.chars()) == IsNormalized::Yes;
    let mut blank = false;
    let is_folded = |c: char| {
        let folded = !c.is_whitespace() || (c == ' ' && !blank);
        blank = c.is_whitespace();
        folded
    };
    if plain && text.chars().all(is_folded) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut push = |c: char| {
        if !c.is_whitespace() {
            out.push(c);
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
    };
    if plain {
        text.chars().for_each(&mut push)
    } else {
        text.nfc().for_each(&mut push)
    }
    Cow::Owned(out)
}

/// [`fold`] of a text in ASCII: most texts are, and there a byte is a character.
fn fold_ascii(text: &str) -> Cow<'_, str> {
    let is_blank = |byte: u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let bytes = text.as_bytes();
    let odd = |&at: &usize| is_blank(bytes[at]) && (bytes[at] != b' ' || bytes.get(at + 1).is_some_and(|&next| is_blank(next)));
    let Some(first) = (0..bytes.len()).find(odd) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut rest = &text[first..];
    while !rest.is_empty() {
        // Of each run of blanks one, and then what stands up to the next run.
        let blanks = rest.bytes().take_while(|&byte| is_blank(byte)).count();
        if blanks > 0 {
            out.push(' ');
        }
        rest = &rest[blanks..];
        let plain = rest.bytes().take_while(|&byte| !is_blank(byte)).count();
        out.push_str(&rest[..plain]);
        rest = &rest[plain..];
    }
    Cow::Owned(out)
}

/// How many words a text has: what white space parts, and of scripts that put no blanks between words each character.
pub(crate) fn words(text: &str) -> usize {
    let in_chunk = |chunk: &str| {
        let unspaced = chunk.chars().filter(|&c| c.is_alphanumeric() && !is_spaced_word(c)).count();
        unspaced + usize::from(chunk.chars().any(is_spaced_word))
    };
    text.split_whitespace().map(in_chunk).sum()
}

/// Where lines that begin with `unknown:` stand in the folded text, as (from, to).
pub(super) fn unknown_lines(reading: &str) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    if memchr::memmem::find(reading.as_bytes(), b"unknown:").is_none() {
        return all;
    }
    // Up to here `reading` is folded, and this is how long that is. A segment begins with a character that is no blank,
    // so folding segment by segment gives what folding the whole gives.
    let (mut done, mut folded, mut begin) = (0, 0, 0);
    for line in reading.split_inclusive('\n') {
        let trimmed = line.trim_start();
        if trimmed.starts_with("unknown:") {
            let at = begin + line.len() - trimmed.len();
            folded += fold(&reading[done..at]).len();
            done = at;
            all.push((folded, folded + fold(trimmed.trim_end()).len()));
        }
        begin += line.len();
    }
    all
}

/// Where a marker stands in a folded text, with a word boundary at both ends.
pub(super) fn places(finder: &Finder<'_>, length: usize, text: &str) -> impl Iterator<Item = usize> {
    let mut from = 0;
    let found = std::iter::from_fn(move || {
        let at = from + finder.find(text.as_bytes().get(from..)?)?;
        from = at + 1;
        Some(at)
    });
    found.filter(move |&at| length > 0 && is_boundary(text, at) && is_boundary(text, at + length))
}

/// Whether a word may begin or end at this byte of a text: not between two characters of one word.
pub(crate) fn is_boundary(text: &str, at: usize) -> bool {
    match (text[..at].chars().next_back(), text[at..].chars().next()) {
        (Some(_), Some(mark)) if is_combining_mark(mark) => false,
        (Some(before), Some(after)) => !(is_spaced_word(before) && is_spaced_word(after)),
        _ => true,
    }
}

/// Whether a character belongs to words that are written apart from each other. Chinese, Japanese, Thai, Lao, Khmer and
/// Burmese have no blanks between words, and Korean particles join what they follow: there, every character may end one.
pub(crate) fn is_spaced_word(c: char) -> bool {
    let unspaced = matches!(c as u32,
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1100..=0x11FF | 0x1780..=0x17FF | 0x3005..=0x3007 | 0x3040..=0x30FF | 0x3130..=0x318F
        | 0x31F0..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0xFF66..=0xFF9F | 0x20000..=0x3FFFF);
    (c.is_alphanumeric() || c == '_' || is_combining_mark(c)) && !unspaced
}
