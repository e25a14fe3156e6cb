//! Tags that could pose as the framework's own are made plain text before they enter a prompt.

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

/// From `<` to `>`, or to the end of the text.
static TAG: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!(r"(?i)<\s*/?\s*(?:{})\b[^>]*>?", NAMES.join("|"))).expect("a constant pattern; the tests compile it")
});

/// The text with blocked tags escaped and the markers of user input defused; other mark-up stays as it is.
pub fn neutralise(text: &str) -> String {
    let escaped = TAG.replace_all(text, |found: &Captures<'_>| found[0].replace('<', "&lt;").replace('>', "&gt;"));
    escaped.replace("--- BEGIN USER INPUT ---", "[BEGIN USER INPUT]").replace("--- END USER INPUT ---", "[END USER INPUT]")
}
