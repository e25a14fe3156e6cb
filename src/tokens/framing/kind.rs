//! What kind of content a text is: a deterministic reading of its characters and lines, for estimates.

use serde::de::IgnoredAny;

/// A kind of content, as far as it changes how many tokens another tokenizer needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Sentences.
    Prose,
    /// Source code.
    Code,
    /// JSON, whole or cut, or a line of it after another.
    Json,
    /// Chinese, Japanese, Korean.
    Cjk,
    /// Paths, directory listings, matches of a search.
    Listing,
    /// Emoji.
    Emoji,
    /// None of these clearly.
    Mixed,
}

impl Kind {
    /// The kind of a text. Rules, the first that holds:
    ///
    /// 1. emoji, if they are a tenth of all characters that are not blank; Chinese, Japanese and Korean, if their characters are a
    ///    quarter. Each is as many tokens as several letters, so these shares are about half of the tokens;
    /// 2. JSON, if the whole is, or each line is, or it begins as an object does;
    /// 3. the kind of line (JSON, listing, code, else prose) that holds 6 of 10 characters that are not blank;
    /// 4. mixed. An empty text is prose.
    pub fn of(text: &str) -> Kind {
        let (mut all, mut emoji, mut cjk) = (0_usize, 0_usize, 0_usize);
        for c in text.chars().filter(|c| !c.is_whitespace()) {
            all += 1;
            emoji += usize::from(is_emoji(c));
            cjk += usize::from(is_cjk(c));
        }
        if emoji > 0 && emoji * 10 >= all {
            Kind::Emoji
        } else if cjk > 0 && cjk * 4 >= all {
            Kind::Cjk
        } else if is_json(text) {
            Kind::Json
        } else {
            by_lines(text, all)
        }
    }
}

fn is_emoji(c: char) -> bool {
    // Pictographs, flags and what joins them. Signs of the older blocks (check marks, arrows) are common in tools' output.
    matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{fe0f}' | '\u{200d}')
}

fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

fn is_json(text: &str) -> bool {
    let text = text.trim();
    if !text.starts_with(['{', '[']) {
        return false;
    }
    let reads = |text: &str| serde_json::from_str::<IgnoredAny>(text).is_ok();
    // A cut object still begins with a key; code in braces does not.
    let begins = || {
        let inner = text.trim_start_matches(|c: char| c == '{' || c == '[' || c.is_whitespace());
        text.contains('{') && inner.starts_with('"') && inner.split_once("\":").is_some_and(|(key, _)| !key.contains('\n'))
    };
    reads(text) || begins() || text.lines().filter(|line| !line.trim().is_empty()).all(reads)
}

fn by_lines(text: &str, all: usize) -> Kind {
    let (mut json, mut listing, mut code) = (0_usize, 0_usize, 0_usize);
    for line in text.lines() {
        let size = line.chars().filter(|c| !c.is_whitespace()).count();
        if is_member(line.trim()) {
            json += size;
        } else if is_listing(line.trim()) {
            listing += size;
        } else if is_code(line) {
            code += size;
        }
    }
    let prose = all - json - listing - code;
    let clear = |size: usize| size * 10 >= all * 6;
    if clear(prose) {
        Kind::Prose
    } else if clear(code) {
        Kind::Code
    } else if clear(listing) {
        Kind::Listing
    } else if clear(json) {
        Kind::Json
    } else {
        Kind::Mixed
    }
}

/// A line from the middle of JSON: a key with its value, a text of a list, or many keys on a line.
fn is_member(line: &str) -> bool {
    let keys = line.matches("\":").count();
    let quoted = line.starts_with('"') && (keys > 0 || line.len() > 1 && (line.ends_with('"') || line.ends_with("\",")));
    quoted || (keys >= 3 && keys * 100 >= line.len())
}

/// A path alone or behind a size, a line of `ls -l` or of a tree, a match with its file and line.
fn is_listing(line: &str) -> bool {
    let is_path = |word: &str| {
        let named =
            |(stem, end): (&str, &str)| !stem.is_empty() && (1..=5).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_alphanumeric());
        !word.contains(char::is_whitespace)
            && !word.contains(['(', ')', ';', '=', '"', ','])
            && (word.contains('/') || word.rsplit_once('.').is_some_and(named))
    };
    let is_size = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) && word.len() < 12;
    let mode = |word: &str| word.len() >= 10 && word.starts_with(['-', 'd', 'l']) && word[1..].bytes().all(|b| b"rwxsStT-.+@".contains(&b));
    let mut words = line.split_whitespace();
    let (first, second, third) = (words.next().unwrap_or_default(), words.next(), words.next());
    if line.starts_with(['\u{251c}', '\u{2514}', '\u{2502}']) || (first.is_ascii() && mode(first)) {
        return true;
    }
    match (second, third) {
        (None, None) if is_path(first) => return true,
        (Some(path), None) if is_size(first) && is_path(path) => return true,
        (Some(count), None) if first == "total" && is_size(count) => return true,
        _ => {}
    }
    let mut fields = line.splitn(3, [':', '-']);
    let (path, number) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
    fields.next().is_some() && is_path(path) && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

/// What only code has: marks that end its lines, operators, comments, the words that begin declarations.
fn is_code(line: &str) -> bool {
    const ENDS: [&str; 16] = ["{", "}", ";", "};", "},", "})", ");", "),", "=>", "->", "(", "[", "]", "],", "\\", "`,"];
    const BEGINS: [&str; 14] =
        ["//", "/*", "*/", "#[", "#!", "#include", "@", "fn ", "pub ", "def ", "export ", "return ", "import ", "</"];
    const HOLDS: [&str; 14] = ["::", "->", "=>", "==", "!=", "&&", "||", "()", " = ", " += ", "</", "/>", ": &", "](&"];
    const OPENS: [&str; 11] = ["if ", "elif ", "else", "for ", "while ", "try", "except", "with ", "class ", "match ", "case "];
    let text = line.trim();
    let indented = line.starts_with("  ") || line.starts_with('\t');
    ENDS.iter().any(|end| text.ends_with(end))
        || BEGINS.iter().any(|begin| text.starts_with(begin))
        || HOLDS.iter().any(|mark| text.contains(mark))
        || (text.ends_with(':') && OPENS.iter().any(|word| text.starts_with(word)))
        || (indented && text.ends_with([',', ')']))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn kinds() {
        fn check(text: &str, expect: Kind) {
            assert_eq!(Kind::of(text), expect, "{text}");
        }
        check("", Kind::Prose);
        check("The child saw only the task. It asked the parent twice, and then gave up.", Kind::Prose);
        check("# Heading\n\n- one thing (first)\n- another thing\n\nUse the second form if the first fails.", Kind::Prose);
        check("let me look at the file,\nif it is there (it may not be)", Kind::Prose);
        check("fn main() {\n    let answer = 42;\n    println!(\"{answer}\");\n}\n", Kind::Code);
        check("export const add = (a: number, b: number) => {\n  return a + b;\n};\n", Kind::Code);
        check("def add(a, b):\n    # both\n    return a + b\n\nclass Box:\n    size = 3\n", Kind::Code);
        check("{\"a\": [1, 2, {\"b\": null}]}", Kind::Json);
        check("[1, 2, 3]", Kind::Json);
        check("{\"a\": 1}\n{\"a\": 2}\n", Kind::Json);
        check("[\n  {\n    \"name\": \"one\",\n    \"value\": \"cut off he", Kind::Json);
        // Cut at both ends, over lines and on one.
        check("alue\",\n    \"tokens\": 12,\n    \"names\": [\n      \"one\",\n      \"two\"\n    ],\n    \"more\": {\n", Kind::Json);
        check("true,\"name\":\"a\",\"size\":3,\"of\":{\"x\":1},\"na", Kind::Json);
        check("{ let x = 1; \"text\" }", Kind::Code);
        check("\u{4f60}\u{597d}\u{ff0c}\u{4e16}\u{754c}\u{3002}", Kind::Cjk);
        check("\u{3053}\u{3093}\u{306b}\u{3061}\u{306f} world", Kind::Cjk);
        check("A long English sentence that quotes \u{4f60}\u{597d} once and goes on.", Kind::Prose);
        check("\u{1f680}\u{1f389}\u{1f600}", Kind::Emoji);
        check("\u{1f1e9}\u{1f1ea} ok", Kind::Emoji);
        check("It worked \u{1f389} and everybody was pleased about it.", Kind::Prose);
        // One of ten, one of eleven; one of four, one of five.
        check("abc defghi \u{1f389}", Kind::Emoji);
        check("abc defghij \u{1f389}", Kind::Prose);
        check("abc \u{4f60}", Kind::Cjk);
        check("abcd \u{4f60}", Kind::Prose);
        check("\u{2713} all tests passed", Kind::Prose);
        check("src/main.rs\nsrc/lib.rs\nREADME.md\ntests/tidy.rs\n", Kind::Listing);
        check("total 24\ndrwxr-xr-x  5 me me 4096 Dec  1 04:05 src\n-rw-r--r--  1 me me  253 Nov 30 18:57 main.rs\n", Kind::Listing);
        check("src/a.rs:12:    let x = 1;\nsrc/b.rs:7:fn main() {\nsrc/c.rs-8-}\n", Kind::Listing);
        check("4.0K\tsrc/a.rs\n12K\tsrc/b.rs\n", Kind::Listing);
        check("\u{251c}\u{2500}\u{2500} src\n\u{2514}\u{2500}\u{2500} tests\n", Kind::Listing);
        // Half a sentence, half code: neither has six tenths.
        check("This is what it prints to you:\nlet answer = forty_two();\n", Kind::Mixed);
    }

    proptest! {
        #[test]
        fn any_text_has_a_kind_and_always_the_same(text in "\\PC{0,200}|[\\[{\"a:,\n ]{0,60}|.{0,80}\n.{0,80}") {
            prop_assert_eq!(Kind::of(&text), Kind::of(&text));
        }

        #[test]
        fn blanks_around_a_text_change_nothing(text in "[a-z{};:/.= \n]{0,80}") {
            prop_assert_eq!(Kind::of(&text), Kind::of(&format!("{}\n\n", text)));
        }
    }
}
