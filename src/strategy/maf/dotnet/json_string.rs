//! How the OpenAI chat client writes the result of a function: a text of the framework's own as it is, everything else as
//! JSON, and what `AsAIFunction` gives is a JSON element.

use std::fmt::Write;
use std::sync::LazyLock;

use regex::Regex;

/// What `JavaScriptEncoder.UnsafeRelaxedJsonEscaping` still escapes (dotnet/runtime, `OptimizedInboxTextEncoder` and
/// `GenDefinedCharList`; read): quote and backslash, controls, separators but the blank, private-use and unassigned code
/// points, the byte order mark, and all that lies above U+FFFF. Letters, marks, numbers, punctuation, symbols and other
/// format characters of any script stay, `<`, `>`, `&`, `'`, `+`, `/` and the backtick among them. Both are of Unicode 16.
static ESCAPED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"["\\\p{Cc}\p{Zl}\p{Zp}\p{Co}\p{Cn}\x{FEFF}\x{10000}-\x{10FFFF}]|[\p{Zs}&&[^ ]]"#)
        .expect("a constant pattern; the tests compile it")
});

/// The content of a tool message: a child's text as a JSON string, and the fixed text where a function gives nothing.
pub fn message(result: Option<&str>) -> String {
    result.map_or_else(|| "Success: Function completed.".into(), quoted)
}

/// A text as a JSON string, quotes included.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    let mut from = 0;
    for found in ESCAPED.find_iter(text) {
        out.push_str(&text[from..found.start()]);
        found.as_str().chars().for_each(|c| escape(c, &mut out));
        from = found.end();
    }
    out.push_str(&text[from..]);
    out.push('"');
    out
}

fn escape(c: char, out: &mut String) {
    let short = match c {
        '"' | '\\' => c,
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{c}' => 'f',
        '\r' => 'r',
        _ => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a text cannot fail.
                let _ = write!(out, "\\u{unit:04X}");
            }
            return;
        }
    };
    out.extend(['\\', short]);
}
