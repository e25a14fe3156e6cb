//! Text in lines of a width.

use unicode_width::UnicodeWidthStr;

/// A text in lines of at most so many columns; a word that is longer has a line of its own.
pub(super) fn folded(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut().filter(|line| line.width() + 1 + word.width() <= width) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole() {
        let check = |text: &str, expect: &[&str]| assert_eq!(folded(text, 9), expect, "{text}");
        check("", &[""]);
        check("one two", &["one two"]);
        check("one two three four", &["one two", "three", "four"]);
        check("incomprehensibility is long", &["incomprehensibility", "is long"]);
        // Wide characters take two columns.
        check("上下文 委托", &["上下文", "委托"]);
    }
}
