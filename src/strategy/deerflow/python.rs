//! Values in Python's spelling: as `json.dumps(..., ensure_ascii=False)` writes them, and as `str` and `repr` do.

use std::sync::LazyLock;

use regex::Regex;

use super::value::Value;

/// JSON: `", "` and `": "`, keys in their order, non-ASCII as it is. `None`: there are bytes in it, at which Python raises a
/// `TypeError`.
pub(crate) fn dumps(value: &Value) -> Option<String> {
    let mut out = String::new();
    dump(value, &mut out)?;
    Some(out)
}

fn dump(value: &Value, out: &mut String) -> Option<()> {
    match value {
        Value::None => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Int(digits) => out.push_str(digits),
        Value::Float(number) if number.is_infinite() => out.push_str(if *number > 0.0 { "Infinity" } else { "-Infinity" }),
        Value::Float(number) if number.is_nan() => out.push_str("NaN"),
        Value::Float(number) => out.push_str(&float(*number)),
        Value::Text(text) => out.push_str(&quoted(text)),
        Value::Bytes(_) => return None,
        Value::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                dump(item, out)?;
            }
            out.push(']');
        }
        Value::Object(fields) => {
            out.push('{');
            for (at, (key, value)) in fields.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                out.push_str(&quoted(key));
                out.push_str(": ");
                dump(value, out)?;
            }
            out.push('}');
        }
    }
    Some(())
}

/// A text as JSON. Python and `serde_json` escape alike: quotes, backslashes, control characters.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// `str`: a text as it is, anything else as [`repr`] writes it.
pub(crate) fn str(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        other => repr(other),
    }
}

/// `str` of what Python takes for true; `None` for anything empty.
pub(crate) fn given(value: &Value) -> Option<String> {
    value.is_true().then(|| str(value))
}

/// `repr`.
pub(crate) fn repr(value: &Value) -> String {
    let joined = |items: Vec<String>| items.join(", ");
    match value {
        Value::None => "None".into(),
        Value::Bool(value) => if *value { "True" } else { "False" }.into(),
        Value::Int(digits) => digits.clone(),
        Value::Float(number) => float(*number),
        Value::Text(text) => repr_text(text),
        Value::Bytes(bytes) => repr_bytes(bytes),
        Value::List(items) => format!("[{}]", joined(items.iter().map(repr).collect())),
        Value::Object(fields) => {
            format!("{{{}}}", joined(fields.iter().map(|(key, value)| format!("{}: {}", repr_text(key), repr(value))).collect()))
        }
    }
}

/// The shortest digits that read back as the number; with an exponent below 1e-4 and from 1e16 on.
fn float(number: f64) -> String {
    if !number.is_finite() {
        return if number.is_nan() {
            "nan"
        } else if number > 0.0 {
            "inf"
        } else {
            "-inf"
        }
        .into();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..16).contains(&exponent) {
        let plain = number.to_string();
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// Single quotes, unless the text holds such and no double ones.
fn quote_of(single: bool, double: bool) -> char {
    if single && !double { '"' } else { '\'' }
}

fn repr_text(text: &str) -> String {
    let quote = quote_of(text.contains('\''), text.contains('"'));
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', c]),
            c if is_printable(c) => out.push(c),
            c => out.push_str(&match c as u32 {
                code @ ..0x100 => format!("\\x{code:02x}"),
                code @ ..0x1_0000 => format!("\\u{code:04x}"),
                code => format!("\\U{code:08x}"),
            }),
        }
    }
    out.push(quote);
    out
}

fn repr_bytes(bytes: &[u8]) -> String {
    let quote = quote_of(bytes.contains(&b'\''), bytes.contains(&b'"'));
    let mut out = format!("b{quote}");
    for &byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            byte if char::from(byte) == quote => out.extend(['\\', quote]),
            b' '..=b'~' => out.push(char::from(byte)),
            byte => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out.push(quote);
    out
}

/// Everything but the categories Other and Separator; the blank is printable.
fn is_printable(c: char) -> bool {
    static NOT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[\p{C}\p{Z}]").expect("a constant pattern; the tests compile it"));
    c == ' ' || !NOT.is_match(c.encode_utf8(&mut [0; 4]))
}

/// What `str.split` and `str.strip` take for white space: Unicode's, and four separators more.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// `str.strip`.
pub(crate) fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `" ".join(text.split())`.
pub(crate) fn in_one_line(text: &str) -> String {
    text.split(is_space).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        Value::parse(text).unwrap_or_else(|| panic!("{text} is JSON"))
    }

    /// Against `json.dumps(json.loads(TEXT), ensure_ascii=False)` of Python 3.
    #[test]
    fn json_as_python_writes_it() {
        let check = |text: &str, expect: &str| assert_eq!(dumps(&value(text)).as_deref(), Some(expect));
        check(r#"{"b":1,"a":[1,2.50,true,null,{}]}"#, r#"{"b": 1, "a": [1, 2.5, true, null, {}]}"#);
        check(r#""ü\u00e9\n\"\u0001\u007f\/""#, "\"üé\\n\\\"\\u0001\u{7f}/\"");
        check(
            "[1.0, 1e5, 1e16, 1e-5, 0.0001, -0.0, 1e400, 123456789012345680.0]",
            "[1.0, 100000.0, 1e+16, 1e-05, 0.0001, -0.0, Infinity, 1.2345678901234568e+17]",
        );
        check("[12345678901234567890123, -7, -0]", "[12345678901234567890123, -7, 0]");
        assert_eq!(dumps(&Value::List(vec![Value::Bytes(b"x".to_vec())])), None);
        assert_eq!(dumps(&Value::Float(f64::NAN)).as_deref(), Some("NaN"));
    }

    /// Against `repr(json.loads(TEXT))` of Python 3.
    #[test]
    fn values_as_python_shows_them() {
        let check = |text: &str, expect: &str| assert_eq!(repr(&value(text)), expect);
        check(r#"{"key": "value", "n": [1, 2.0, null, true, false]}"#, "{'key': 'value', 'n': [1, 2.0, None, True, False]}");
        check(r#""it's""#, "\"it's\"");
        check(r#""it's \"so\"""#, r#"'it\'s "so"'"#);
        check(r#""a\\b\n\t\r\u0000\u007f\u0085\u00a0\u00e9""#, "'a\\\\b\\n\\t\\r\\x00\\x7f\\x85\\xa0é'");
        check(r#""\u200b\u2028\ue000\u0378\ud83d\ude00\udb40\udc01""#, "'\\u200b\\u2028\\ue000\\u0378😀\\U000e0001'");
        check("1e400", "inf");
        assert_eq!(repr(&Value::Bytes(b"R'\"\\\x00\xff\n".to_vec())), "b'R\\'\"\\\\\\x00\\xff\\n'");
        assert_eq!(repr(&Value::Bytes(b"it's".to_vec())), "b\"it's\"");
        assert_eq!((str(&value("\"plain\"")), str(&value("[\"plain\"]"))), ("plain".into(), "['plain']".into()));
    }

    #[test]
    fn white_space() {
        assert_eq!(strip(" \u{1c}\u{a0}a b\u{2029}\n"), "a b");
        assert_eq!(in_one_line("\n a\u{1f}\u{85} b\tc "), "a b c");
        assert_eq!(in_one_line(" \n"), "");
    }
}
