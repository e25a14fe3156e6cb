//! The `@names` of a prompt.

/// What is mentioned, each name once, in order: what stands behind an `@` that no word character, underscore or backtick
/// stands before, up to white space, a backtick or a comma. Points belong to a name where more of it follows, and one may
/// begin it. A bare `@` names nothing (read in later sources; 1.18.33 was not seen with one).
///
/// The product's pattern is `` (?<![\w`])@(\.?[^\s`,.]*(?:\.[^\s`,.]+)*) ``, its classes those of JavaScript.
pub(super) fn names(prompt: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    let mut before = None;
    let mut behind = 0;
    for (at, sign) in prompt.char_indices() {
        let starts = sign == '@' && at >= behind && !before.is_some_and(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '`');
        before = Some(sign);
        if !starts {
            continue;
        }
        let name = name(&prompt[at + 1..]);
        behind = at + 1 + name.len();
        if !name.is_empty() && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// The name that a text begins with.
fn name(text: &str) -> &str {
    let ends = |c: char| is_space(c) || matches!(c, '`' | ',' | '.');
    let word = |text: &str| text.find(ends).unwrap_or(text.len());
    let mut length = usize::from(text.starts_with('.'));
    length += word(&text[length..]);
    while let Some(rest) = text[length..].strip_prefix('.') {
        match word(rest) {
            0 => break,
            more => length += 1 + more,
        }
    }
    &text[..length]
}

/// White space as JavaScript's patterns know it.
fn is_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(prompt: &str, expect: &[&str]) {
        assert_eq!(names(prompt), expect, "{prompt:?}");
    }

    #[test]
    fn names_in_a_prompt() {
        check("look at @note.txt", &["note.txt"]);
        check("@a, @b. (@c)", &["a", "b", "c)"]);
        check("mail a@b.txt and `@b.txt`, _@x", &[]);
        check("@a @a @./a", &["a", "./a"]);
        check("@src/deep/x.test.ts.", &["src/deep/x.test.ts"]);
        check("@.env @../up @.", &[".env", "../up", "."]);
        check("@a..b", &["a"]);
        check("@@x", &["@x"]);
        check("@a@b", &["a@b"]);
        check("@ , @", &[]);
        check("é@x", &["x"]);
        check("@a\u{a0}b @c\u{feff}d @e\u{85}f", &["a", "c", "e\u{85}f"]);
        check("@~/notes.md,@/etc/hosts", &["~/notes.md", "/etc/hosts"]);
        check("@日本.txt", &["日本.txt"]);
    }
}
