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

fn is_context(text: &str) -> bool {
    let external = || {
        let name = text.trim().strip_prefix("<external_").and_then(|rest| rest.split_once('>')).map(|(name, _)| name);
        name.is_some_and(|name| !name.is_empty() && tagged(text, &format!("external_{name}")))
    };
    CONTEXT.iter().any(|tag| tagged(text, tag))
        || wrapped(text, "# AGENTS.md instructions", "</INSTRUCTIONS>")
        || wrapped(text, "<codex_internal_context source=\"", "</codex_internal_context>")
        || external()
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
