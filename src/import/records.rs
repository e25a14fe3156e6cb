//! Records out of a line, damaged or not: what can be won is won, what is lost is named.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::{memchr, memmem};
use serde::Deserialize;
use serde_json::value::RawValue;

/// What a line gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Records that were taken.
    pub records: u64,
    /// Of those, the ones won from a damaged line.
    pub salvaged: u64,
    /// What was lost.
    pub lost: Option<String>,
    /// The line has no content.
    pub blank: bool,
}

/// Takes one record. `Err`: the text is no record, with the reason. `Ok(Some(..))`: taken, and something of it was lost.
pub type Take<'t> = dyn FnMut(&str) -> Result<Option<String>, String> + 't;

/// Whether a text that was found inside a damaged line looks like a record of its own.
pub type Looks<'t> = dyn Fn(&str) -> bool + 't;

/// Reads the records of a line: one as a rule. Time is linear in the line's length.
pub fn records(line: &[u8], looks: &Looks<'_>, take: &mut Take<'_>) -> Found {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Found { blank: true, ..Found::default() };
    }
    let Some(nul) = memchr(0, line) else {
        let text = readable(line);
        return text_records(&text.text, text.lost, text.repaired, looks, take);
    };
    let parts: Vec<&[u8]> = line.split(|byte| *byte == 0).map(<[u8]>::trim_ascii).filter(|part| !part.is_empty()).collect();
    match parts[..] {
        [] => Found { lost: Some("only NUL bytes".into()), ..Found::default() },
        [only] => {
            let text = readable(only);
            text_records(&text.text, text.lost, true, looks, take)
        }
        _ => {
            // NUL bytes inside: between records they are padding, within a record they stand where bytes were.
            let whole: Vec<u8> = line.iter().copied().filter(|byte| *byte != 0).collect();
            let text = readable(&whole);
            if serde_json::from_str::<&RawValue>(&text.text).is_ok() {
                return text_records(&text.text, text.lost.or(Some(format!("NUL bytes from byte {nul} of the line"))), true, looks, take);
            }
            let mut found = Found::default();
            for part in parts {
                let text = readable(part);
                let one = text_records(&text.text, text.lost, true, looks, take);
                found.records += one.records;
                found.salvaged += one.salvaged;
                found.lost = found.lost.or(one.lost);
            }
            found
        }
    }
}

static UNICODE_ESCAPE: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new("\\u"));

struct Readable<'a> {
    text: Cow<'a, str>,
    /// Something was replaced that a reader may miss.
    lost: Option<String>,
    /// The text is not the line's own any more.
    repaired: bool,
}

/// The line as text that a JSON parser accepts: invalid UTF-8 and lone halves of surrogate pairs become U+FFFD.
fn readable(line: &[u8]) -> Readable<'_> {
    let (text, lost) = match std::str::from_utf8(line) {
        Ok(text) => (Cow::Borrowed(text), None),
        Err(error) => {
            let why = format!("invalid UTF-8 at byte {} of the line", error.valid_up_to());
            (Cow::Owned(String::from_utf8_lossy(line).into_owned()), Some(why))
        }
    };
    match without_lone_surrogates(&text) {
        Some(mended) => Readable { text: Cow::Owned(mended), lost, repaired: true },
        None => Readable { repaired: lost.is_some(), text, lost },
    }
}

/// The text with each escape of a lone surrogate replaced by the escape of U+FFFD; `None`: there is none.
fn without_lone_surrogates(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let begins = |at: &usize| matches!(bytes.get(at + 2), Some(b'd' | b'D'));
    UNICODE_ESCAPE.find_iter(bytes).find(begins)?;
    let escape = |at: usize| -> Option<u32> {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) { u32::from_str_radix(digits, 16).ok() } else { None }
    };
    let mut mended: Option<String> = None;
    let mut copied = 0;
    let mut at = 0;
    while let Some(step) = memchr(b'\\', &bytes[at..]) {
        at += step;
        match escape(at) {
            Some(0xD800..=0xDBFF) if matches!(escape(at + 6), Some(0xDC00..=0xDFFF)) => at += 12,
            Some(0xD800..=0xDFFF) => {
                let mended = mended.get_or_insert_with(String::new);
                // Both ends are at a backslash or behind four ASCII digits: character boundaries.
                mended.push_str(&text[copied..at]);
                mended.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
            Some(_) => at += 6,
            // Any other escape is two bytes long; `\\` must not be read as the start of the next one.
            None => at = (at + 2).min(bytes.len()),
        }
    }
    mended.map(|mut text_so_far| {
        text_so_far.push_str(&text[copied..]);
        text_so_far
    })
}

fn text_records(text: &str, lost: Option<String>, repaired: bool, looks: &Looks<'_>, take: &mut Take<'_>) -> Found {
    match take(text) {
        Ok(note) => Found { records: 1, salvaged: u64::from(repaired), lost: lost.or(note), blank: false },
        Err(why) => {
            let mut found = glued(text, looks, take, &why);
            found.lost = lost.or(found.lost);
            found
        }
    }
}

/// Several records on one line, some of them cut. A record inside is taken if it ends where the line ends or where the
/// next one begins; so an object nested in a cut record is not mistaken for one.
fn glued(text: &str, looks: &Looks<'_>, take: &mut Take<'_>, why: &str) -> Found {
    let mut found = Found::default();
    let mut lost = false;
    let mut at = 0;
    // Each attempt costs what it reads; many starts that all fail late would make the time quadratic.
    let mut budget = 16 * text.len() + 4096;
    while at < text.len() {
        let Some(step) = memmem::find(&text.as_bytes()[at..], b"{\"") else { break };
        let start = at + step;
        lost |= !text[at..start].trim().is_empty();
        // `{` is a character boundary.
        let (end, read) = value_end(&text[start..]);
        budget = match budget.checked_sub(read + 64) {
            Some(rest) => rest,
            None => break,
        };
        if let Some(length) = end {
            let rest = text[start + length..].trim_start();
            let value = &text[start..start + length];
            if (rest.is_empty() || rest.starts_with('{'))
                && (start == 0 || looks(value))
                && let Ok(note) = take(value)
            {
                found.records += 1;
                found.salvaged += 1;
                lost |= note.is_some();
                at = start + length;
                continue;
            }
        }
        lost = true;
        at = start + 1;
    }
    lost |= !text[at.min(text.len())..].trim().is_empty();
    if lost || found.records == 0 {
        found.lost = Some(why.to_owned());
    }
    found
}

/// Where the JSON value at the start of a text ends, if it is whole, and how many bytes were read to know it.
fn value_end(text: &str) -> (Option<usize>, usize) {
    let mut stream = serde_json::Deserializer::from_str(text);
    match <&RawValue>::deserialize(&mut stream) {
        Ok(value) => (Some(value.get().len()), value.get().len()),
        // A line has no newline inside, so the column is the byte, from 1.
        Err(error) => (None, error.column()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records are objects with a key `type`; `lost` is compared as yes or no.
    fn check(line: &[u8], expect: &[&str], salvaged: u64, lost: bool) {
        let mut taken = Vec::new();
        let found = records(line, &|text| text.contains("\"type\""), &mut |text| {
            let value: serde_json::Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
            taken.push(value.to_string());
            Ok(None)
        });
        assert_eq!(taken, expect, "{}", String::from_utf8_lossy(line));
        assert_eq!((found.salvaged, found.lost.is_some()), (salvaged, lost), "{}", String::from_utf8_lossy(line));
        assert_eq!(found.records, expect.len() as u64);
    }

    const A: &str = r#"{"type":"a"}"#;
    const B: &str = r#"{"type":"b"}"#;

    #[test]
    fn whole_lines_are_not_damaged() {
        check(A.as_bytes(), &[A], 0, false);
        check("\u{feff}{\"type\":\"a\"}\r".as_bytes(), &[A], 0, false);
        check(br#"{"type":"\ud83d\ude00"}"#, &["{\"type\":\"\u{1f600}\"}"], 0, false);
        check(br#"{"type":"\\ud83d"}"#, &[r#"{"type":"\\ud83d"}"#], 0, false);
    }

    #[test]
    fn damage_is_mended_or_named() {
        check(br#"{"type":"x\ud83d"}"#, &["{\"type\":\"x\u{fffd}\"}"], 1, false);
        check(br#"{"type":"\ude00\ud83d\ud83d\ude00"}"#, &["{\"type\":\"\u{fffd}\u{fffd}\u{1f600}\"}"], 1, false);
        check(b"{\"type\":\"a\"}\0\0\0", &[A], 1, false);
        check(b"\0\0{\"type\":\"a\"}", &[A], 1, false);
        check(b"\0\0", &[], 0, true);
        check(b"{\"type\":\"a\"}\0\0{\"type\":\"b\"}", &[A, B], 2, false);
        check(b"{\"type\":\0\0\"a\"}", &[A], 1, true);
        check(b"{\"type\":\"\xff\"}", &["{\"type\":\"\u{fffd}\"}"], 1, true);
        check(br#"{"type":"a"#, &[], 0, true);
        check(b"[1]x", &[], 0, true);
    }

    #[test]
    fn glued_records_are_taken_apart() {
        check(br#"{"type":"a"}{"type":"b"}"#, &[A, B], 2, false);
        check(br#"{"type":"s","x{"type":"b"}"#, &[B], 1, true);
        check(br#"{"type":"a"}{"type":"b"#, &[A], 1, true);
        check(br#"{"type":"s","in":{"type":"a"},"x{"type":"b"}"#, &[B], 1, true);
        check(br#"{"type":"s","in":[{"type":"a"},{"type":"b"#, &[], 0, true);
        check(br#"oops {"type":"a"}"#, &[A], 1, true);
    }

    #[test]
    fn a_nesting_bomb_takes_linear_time() {
        // 400,000 unclosed objects: without the budget, 80 thousand million bytes would be read.
        let bomb = "{\"a\":".repeat(400_000);
        check(bomb.as_bytes(), &[], 0, true);
        let arrays = format!("{{\"type\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        let found = records(arrays.as_bytes(), &|_| true, &mut |text| {
            serde_json::from_str::<&RawValue>(text).map(|_| None).map_err(|error| error.to_string())
        });
        assert_eq!(found.records, 1);
    }
}
