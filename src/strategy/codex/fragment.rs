//! Marked parts: context that a product writes as a message, and developer text that a fork leaves out.

use crate::transcript::{Item, Part};

/// Whether a text is wrapped in a pair of marks: white space around it aside, whatever the case of ASCII letters.
fn wrapped(text: &str, open: &str, close: &str) -> bool {
    let text = text.trim();
    let begins = text.get(..open.len()).is_some_and(|head| head.eq_ignore_ascii_case(open));
    let ends = text.len() >= open.len() + close.len() && {
        let from = text.len() - close.len();
        text.get(from..).is_some_and(|tail| tail.eq_ignore_ascii_case(close))
    };
    begins && ends
}

/// Whether a text is wrapped in a tag.
fn tagged(text: &str, tag: &str) -> bool {
    wrapped(text, &format!("<{tag}>"), &format!("</{tag}>"))
}

/// Tags of user messages that are context and no words of a person.
const CONTEXT: [&str; 6] =
    ["environment_context", "skill", "user_shell_command", "turn_aborted", "subagent_notification", "recommended_plugins"];

/// What stands between two marks: white space around the text aside, case and all.
fn inside<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    text.trim().strip_prefix(open)?.strip_suffix(close)
}

/// `<external_KEY>` .. `</external_KEY>` of one key.
fn is_external(text: &str) -> bool {
    let key = inside(text, "<external_", ">").and_then(|rest| rest.split_once('>')).map(|(key, _)| key);
    key.is_some_and(|key| !key.is_empty() && inside(text, &format!("<external_{key}>"), &format!("</external_{key}>")).is_some())
}

/// `<codex_internal_context source="S">` .., S = `[a-z][a-z0-9_]*`.
fn is_internal(text: &str) -> bool {
    let source = inside(text, "<codex_internal_context source=\"", "</codex_internal_context>").and_then(|rest| rest.split_once("\">"));
    source.is_some_and(|(source, _)| {
        source.starts_with(|c: char| c.is_ascii_lowercase()) && source.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '_'))
    })
}

fn is_context(text: &str) -> bool {
    CONTEXT.iter().any(|tag| tagged(text, tag))
        || wrapped(text, "# AGENTS.md instructions", "</INSTRUCTIONS>")
        || inside(text, "<goal_context>", "</goal_context>").is_some()
        || is_internal(text)
        || is_external(text)
}

/// Whether a user message is context: one part that is hides the whole message. The warnings and hook prompts of older
/// releases are not recognised.
pub(super) fn is_contextual(message: &Item) -> bool {
    message.parts().iter().any(|part| is_context(part.as_text()))
}

/// Tags of developer parts that no fork hands down.
const SCRUBBED: [&str; 3] = ["multi_agent_role", "multi_agent_mode", "current_time_reminder"];

/// Whether a fork leaves out a part of a developer message. `managed`: managed instructions go too.
pub(super) fn is_scrubbed(part: &Part, managed: bool) -> bool {
    let text = part.as_text();
    SCRUBBED.iter().any(|tag| tagged(text, tag)) || (managed && tagged(text, "managed_developer_instructions"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: bool) {
        assert_eq!(is_context(text), expect, "{text:?}");
    }

    #[test]
    fn what_is_context_and_what_a_person_said() {
        check("<environment_context>x</environment_context>", true);
        check(" <ENVIRONMENT_CONTEXT>x</environment_context>\n", true);
        check("<goal_context>x</goal_context>", true);
        check("<Goal_context>x</Goal_context>", false);
        check("<codex_internal_context source=\"a1_b\">x</codex_internal_context>", true);
        check("<codex_internal_context source=\"A\">x</codex_internal_context>", false);
        check("<codex_internal_context source=\"1a\">x</codex_internal_context>", false);
        check("<codex_internal_context source=\"\">x</codex_internal_context>", false);
        check("<external_k>x</external_k>", true);
        check("<external_k>x</external_j>", false);
        check("<External_k>x</External_k>", false);
        check("say <goal_context>x</goal_context>", false);
        check("<goal_context>", false);
    }
}
