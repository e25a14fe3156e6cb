//! Marked parts: context that the product writes as a message, and developer text that a fork leaves out.
//!
//! Only text is looked at. A part that stands for a measured text of the real client ([`Content::Opaque`]) is known by its
//! kind.

use crate::transcript::{Content, Part};

use super::scaffold::{ENVIRONMENT, MODE, PERMISSIONS, SKILLS};

/// Whether a text is wrapped in a pair of marks: white space around it aside, whatever the case of ASCII letters.
fn wrapped(text: &str, open: &str, close: &str) -> bool {
    let text = text.trim();
    let begins = begins(text, open);
    let ends = text.len() >= open.len() + close.len() && {
        let from = text.len() - close.len();
        text.get(from..).is_some_and(|tail| tail.eq_ignore_ascii_case(close))
    };
    begins && ends
}

fn begins(text: &str, open: &str) -> bool {
    text.get(..open.len()).is_some_and(|head| head.eq_ignore_ascii_case(open))
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

/// `<hook_prompt hook_run_id="ID">` .. `</hook_prompt>`, an XML element of text with an ID that is not blank.
fn is_hook_prompt(text: &str) -> bool {
    let Some((head, body)) = inside(text, "<hook_prompt", "</hook_prompt>").and_then(|rest| rest.split_once('>')) else { return false };
    let attribute = head.strip_prefix(char::is_whitespace).and_then(|rest| rest.split_once("hook_run_id"));
    let value = attribute.and_then(|(_, rest)| rest.trim_start().strip_prefix('=')).map(str::trim_start).and_then(|rest| {
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        rest.get(1..)?.split_once(quote)
    });
    value.is_some_and(|(id, _)| !id.trim().is_empty()) && !body.contains('<')
}

/// Warnings of older releases, by how they begin and end.
const WARNINGS: [(&str, &str); 3] = [
    ("Warning: The maximum number of unified exec processes you can keep open is", ""),
    ("Warning: apply_patch was requested via ", "Use the apply_patch tool instead of exec_command."),
    ("Warning: Your account was flagged for potentially high-risk cyber activity", ""),
];

fn is_context(text: &str) -> bool {
    // Nearly every message is what a person said, and begins otherwise.
    if !text.trim_start().starts_with(['<', '#', 'W']) {
        return false;
    }
    CONTEXT.iter().any(|tag| tagged(text, tag))
        || wrapped(text, "# AGENTS.md instructions", "</INSTRUCTIONS>")
        || inside(text, "<goal_context>", "</goal_context>").is_some()
        || is_internal(text)
        || is_external(text)
        || is_hook_prompt(text)
        || WARNINGS.iter().any(|(open, close)| inside(text, open, close).is_some())
}

/// Whether a user message of these parts is context: one part that is hides the whole message.
pub(super) fn is_contextual(parts: &[Part]) -> bool {
    parts.iter().any(|part| match part.content() {
        Content::Text(text) => is_context(text),
        Content::Opaque { kind, .. } => kind == ENVIRONMENT,
        Content::Image { .. } | Content::File { .. } => false,
    })
}

/// Tags of developer parts that no fork hands down.
const SCRUBBED: [&str; 3] = ["multi_agent_role", MODE_TAG, "current_time_reminder"];
const MODE_TAG: &str = "multi_agent_mode";
const MANAGED_TAG: &str = "managed_developer_instructions";

/// Whether a developer part tells the parent its role, its mode or the time. `mode`: a part that tells the mode counts.
pub(super) fn is_the_parents(part: &Part, mode: bool) -> bool {
    match part.content() {
        Content::Text(text) if !text.trim_start().starts_with('<') => false,
        Content::Text(text) => SCRUBBED.iter().any(|tag| (mode || *tag != MODE_TAG) && tagged(text, tag)),
        Content::Opaque { kind, .. } => mode && kind == MODE,
        Content::Image { .. } | Content::File { .. } => false,
    }
}

/// Whether a developer part holds managed instructions.
pub(super) fn is_managed(part: &Part) -> bool {
    tagged(part.as_text(), MANAGED_TAG)
}

/// How developer parts begin that a product writes anew when its settings change: a rollback takes them along with the turn
/// that follows them.
const SETTINGS: [&str; 17] = [
    "<permissions instructions>",
    "<model_switch>",
    "<managed_developer_instructions>",
    "<apps_instructions>",
    "<collaboration_mode>",
    "<multi_agent_mode>",
    "<environments_instructions>",
    "<git_attribution>",
    "<plugins_instructions>",
    "<realtime_conversation>",
    "<skills_instructions>",
    "<tools>",
    "<personality_spec>",
    "<token_budget>",
    "<context_window>",
    "<context_window_guidance>",
    "<rollout_budget>",
];

/// Whether a developer part is context of the turn that follows it: how it begins decides, whatever comes behind.
pub(super) fn is_setting(part: &Part) -> bool {
    match part.content() {
        Content::Text(text) => SETTINGS.iter().any(|open| begins(text.trim_start(), open)),
        Content::Opaque { kind, .. } => [PERMISSIONS, SKILLS, MODE].contains(&kind.as_str()),
        Content::Image { .. } | Content::File { .. } => false,
    }
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
        check("<user_instructions>x</user_instructions>", false);
        check("<multi_agent_mode>x</multi_agent_mode>", false);
    }

    #[test]
    fn hook_prompts_and_old_warnings() {
        check("<hook_prompt hook_run_id=\"r1\">go on</hook_prompt>", true);
        check(" <hook_prompt  hook_run_id = 'r1' >go on</hook_prompt>\n", true);
        check("<hook_prompt hook_run_id=\" \">go on</hook_prompt>", false);
        check("<hook_prompt>go on</hook_prompt>", false);
        check("<hook_prompt hook_run_id=\"r1\">go <b>on</b></hook_prompt>", false);
        check("<hook_prompt hook_run_id=\"r1\">go on</hook_prompt> and more", false);
        check("<Hook_prompt hook_run_id=\"r1\">go on</Hook_prompt>", false);
        check(" Warning: The maximum number of unified exec processes you can keep open is 60", true);
        check("warning: The maximum number of unified exec processes you can keep open is 60", false);
        check("Warning: apply_patch was requested via shell. Use the apply_patch tool instead of exec_command.", true);
        check("Warning: apply_patch was requested via shell.", false);
        check("Warning: Your account was flagged for potentially high-risk cyber activity, and so on", true);
    }

    #[test]
    fn what_of_a_developer_message_is_whose() {
        let check = |text: &str, parents: bool, setting: bool| {
            let part = Part::from(text);
            assert_eq!((is_the_parents(&part, true), is_setting(&part)), (parents, setting), "{text}");
        };
        check(" <Multi_Agent_Mode>x</multi_agent_mode>\n", true, true);
        check("<multi_agent_mode>x</multi_agent_mode> more", false, true);
        check("say <multi_agent_mode>x</multi_agent_mode>", false, false);
        check("<multi_agent_role>x</multi_agent_role>", true, false);
        check("<current_time_reminder>x</current_time_reminder>", true, false);
        check("\n<Permissions Instructions>x", false, true);
        check("rules", false, false);
        assert!(!is_the_parents(&"<multi_agent_mode>x</multi_agent_mode>".into(), false));
        assert!(is_the_parents(&"<multi_agent_role>x</multi_agent_role>".into(), false));
        assert!(is_managed(&" <MANAGED_developer_instructions>x</managed_developer_instructions>".into()));
    }
}
