//! Parts of texts and messages that are compared by themselves.

use crate::conformance::json::Json;

/// What the first text of a mentioned file begins with.
const READ: &str = "Called the Read tool with the following input: ";

/// The parts behind a message's first one, by mention: a file's begin with the call of the Read tool, an agent's with the
/// agent.
pub fn groups(parts: &[Json]) -> Vec<Vec<&Json>> {
    let mut groups: Vec<Vec<&Json>> = Vec::new();
    for part in parts.iter().skip(1) {
        let is_read = part.get("text").as_text().is_some_and(|text| text.starts_with(READ));
        let begins = is_read || part.get("type").as_text() == Some("agent");
        match groups.last_mut() {
            Some(group) if !begins => group.push(part),
            _ => groups.push(vec![part]),
        }
    }
    groups
}

/// Whole lines before the notice of a cut output.
pub fn lines_kept(output: &str) -> usize {
    let is_notice = |at: &usize| {
        let rest = &output[at + "\n\n...".len()..];
        let unit = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        unit.len() < rest.len() && (unit.starts_with(" bytes truncated...\n\n") || unit.starts_with(" lines truncated...\n\n"))
    };
    let notice = output.rmatch_indices("\n\n...").map(|(at, _)| at).find(is_notice);
    notice.map_or(0, |at| output[..at].split('\n').count())
}

/// A message as `{role, text}`, also where it is written as `role: text`.
pub fn message(value: &Json) -> Json {
    match value.as_text().and_then(|text| text.split_once(": ")) {
        Some((role, text)) => Json::object([("role", role.into()), ("text", text.into())]),
        None => value.clone(),
    }
}

/// The placeholders of children in a text, in order: `$CHILD`, `$CHILD1`.
pub fn children(text: &str) -> Vec<&str> {
    const CHILD: &str = "$CHILD";
    let number = |rest: &str| rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    text.match_indices(CHILD).map(|(at, _)| &text[at..at + CHILD.len() + number(&text[at + CHILD.len()..])]).collect()
}

/// The same text with other placeholders of children.
pub fn renamed(text: &str, name: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    for child in children(text) {
        if let Some((before, behind)) = rest.split_once(child) {
            out += before;
            out += &name(child);
            rest = behind;
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentions_are_groups() {
        let part = |kind: &str, text: &str| Json::object([("type", kind.into()), ("text", text.into())]);
        let read = format!("{READ}{{}}");
        let parts = [
            part("text", &read),
            part("text", &read),
            part("text", "out"),
            part("file", ""),
            part("agent", ""),
            part("text", "hint"),
            part("text", &read),
            part("text", "failed"),
        ];
        let sizes: Vec<usize> = groups(&parts).iter().map(Vec::len).collect();
        assert_eq!(sizes, [3, 2, 2], "the first part is no mention's");
    }

    fn check_kept(output: &str, expect: usize) {
        assert_eq!(lines_kept(output), expect, "{output:?}");
    }

    #[test]
    fn lines_before_the_notice() {
        check_kept("a\nb\n\n...12 lines truncated...\n\nThe", 2);
        check_kept("a\n\n...1 bytes truncated...\n\nb\n\n...7 bytes truncated...\n\nThe", 5);
        check_kept("a\n\n...more\n\n... lines truncated...\n\n", 0);
    }

    #[test]
    fn placeholders_of_children() {
        assert_eq!(children("<$CHILD> $CHILD12, $CHILDREN"), ["$CHILD", "$CHILD12", "$CHILD"]);
        let named = renamed("<$CHILD> $CHILD1 $CHILD12", |child| format!("[{child}]"));
        assert_eq!(named, "<[$CHILD]> [$CHILD1] [$CHILD12]");
    }
}
