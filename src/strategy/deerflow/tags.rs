//! Tags that could pose as the framework's own are made plain text before they enter a prompt.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// The names that are blocked (f1f4af9, `_BLOCKED_TAG_NAMES`).
const NAMES: [&str; 40] = [
    "system-reminder",
    "system_reminder",
    "memory",
    "current_date",
    "think",
    "analysis",
    "role",
    "soul",
    "self_update",
    "thinking_style",
    "clarification_system",
    "critical_reminders",
    "response_style",
    "citations",
    "uploaded_files",
    "current_uploads",
    "subagent_system",
    "skill_system",
    "skill_index",
    "available_skills",
    "disabled_skills",
    "memory_tool_system",
    "todo_list_system",
    "durable_context_data",
    "slash_skill_activation",
    "mcp_routing_hints",
    "available-deferred-tools",
    "goal_continuation",
    "background_task_event",
    "file_editing_workflow",
    "guidelines",
    "output_format",
    "working_directory",
    "tool_restrictions",
    "system",
    "instruction",
    "important",
    "override",
    "ignore",
    "prompt",
];

/// From `<` to `>`, or to the end of the text. Letters, white space and the end of a name are those of Python's `re` with
/// `IGNORECASE`: a dotless or dotted i is an i, and a name ends before anything that is no letter, digit or `_`.
static TAG: LazyLock<Regex> = LazyLock::new(|| {
    let names = NAMES.join("|").replace('i', "[iıİ]");
    let blanks = r"[\s\x1c-\x1f]*";
    let pattern = format!(r"<{blanks}/?{blanks}(?i:{names})(?:[^\p{{L}}\p{{N}}_>][^>]*)?(?:>|\z)");
    Regex::new(&pattern).expect("a constant pattern; the tests compile it")
});

/// Around what a person wrote last: [`frame`](super::frame).
pub(super) const BEGIN: &str = "--- BEGIN USER INPUT ---";
pub(super) const END: &str = "--- END USER INPUT ---";

/// The text with blocked tags escaped and the markers of user input defused; other mark-up stays as it is.
pub fn neutralise(text: &str) -> String {
    without_markers(&without_tags(text))
}

/// The text with blocked tags escaped.
pub(super) fn without_tags(text: &str) -> Cow<'_, str> {
    TAG.replace_all(text, |found: &Captures<'_>| found[0].replace('<', "&lt;").replace('>', "&gt;"))
}

/// The text with the markers of user input defused.
pub(super) fn without_markers(text: &str) -> String {
    text.replace(BEGIN, "[BEGIN USER INPUT]").replace(END, "[END USER INPUT]")
}
