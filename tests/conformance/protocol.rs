//! What of a file of vectors is no free text: names, choices, and the words that a system's protocol knows.

/// Keys whose strings are names or choices.
#[rustfmt::skip]
pub const NAMES: &[&str] = &[
    "type", "role", "phase", "kind", "status", "action", "permission", "pattern", "mode", "name", "tool", "tool_calls",
    "tool_name", "agent", "strategy", "basis", "id", "call_id", "finish", "finish_reason", "stop_reason",
    "history_mode", "fork_turns", "task_name", "event", "subagent_type", "context_mode", "caller_agent",
    "primary_tools", "by", "arg_name", "platform", "user_input_request", "response_kind", "subagent_status",
    "subagent_stop_reason", "subagent_result_sha256", "result_sha256", "available_subagents", "child_tools", "when",
];

/// What says why a vector is as it is: its words are nobody's.
pub const LABELS: &[&str] = &["why", "note"];

/// Objects whose keys are names; words of these stay in every text.
pub const NAMED: &[&str] = &["agents"];

/// Objects whose keys are texts.
pub const TEXTS: &[&str] = &["worktree_files"];

/// Fields that hold the SHA-256 of another one's text.
pub const DIGESTS: &[(&str, &str)] = &[("result_brief", "result_sha256"), ("subagent_result_brief", "subagent_result_sha256")];

/// Words that a system's protocol knows: tags, labels, fixed texts.
pub fn protocol(system: &str) -> &'static [&'static str] {
    match system {
        "codex" => CODEX,
        "opencode" => OPENCODE,
        "deerflow" => DEERFLOW,
        "learn_claude_code" => LEARN_CLAUDE_CODE,
        _ => &[],
    }
}

/// Tags of context and of developer parts, warnings, the keys of older mail, and what a file's own words for them are.
#[rustfmt::skip]
const CODEX: &[&str] = &[
    "environment", "context", "user", "shell", "command", "turn", "aborted", "subagent", "notification", "recommended",
    "plugins", "skill", "skills", "external", "codex", "internal", "source", "goal", "AGENTS", "instructions",
    "INSTRUCTIONS", "hook", "prompt", "run", "multi", "agent", "mode", "MULTI", "AGENT", "MODE", "ENVIRONMENT",
    "CONTEXT", "SKILLS", "role", "current", "time", "reminder", "managed", "developer", "permissions", "model",
    "switch", "usage", "hint", "Warning", "The", "maximum", "number", "unified", "exec", "processes", "you", "can",
    "keep", "open", "apply", "patch", "was", "requested", "via", "Use", "the", "tool", "instead", "Your", "account",
    "flagged", "for", "potentially", "high", "risk", "cyber", "activity", "author", "recipient", "recipients", "other",
    "content", "trigger", "true", "false", "root", "image", "tokens", "truncated", "summary", "available", "child",
];

/// Its own agents, the wrappers, what the Read tool and a cut output say, ids.
#[rustfmt::skip]
const OPENCODE: &[&str] = &[
    "build", "plan", "general", "explore", "compaction", "title", "summary", "subagent", "task", "state", "completed",
    "running", "error", "result", "Background", "started", "updated", "failed", "Subagent", "path", "type", "file",
    "directory", "content", "entries", "End", "total", "lines", "line", "chars", "truncated", "Called", "the", "Read",
    "tool", "with", "following", "input", "filePath", "Showing", "Use", "offset", "continue", "Output", "capped",
    "png", "pdf", "bin", "AGENTS", "ses", "CHILD", "PARENT", "OTHER", "WORKTREE", "TOOL", "null", "undefined",
    "Expected", "string", "boolean", "got", "object", "rules", "What", "did", "far", "Continue", "you", "have", "next",
    "steps", "user", "assistant", "and", "for", "Instructions", "from", "system", "reminder",
];

/// Labels, tags, statuses, kinds of messages, what Python writes, the fixed texts of results and refusals.
#[rustfmt::skip]
const DEERFLOW: &[&str] = &[
    "Historical", "conversation", "summary", "name", "type", "ystem", "user", "assistant", "tool", "result", "calls",
    "call", "not", "executed", "you", "args", "text", "option", "human", "input", "response", "reminder", "memory",
    "system", "think", "role", "prompt", "uploaded", "files", "important", "goal", "continuation", "instruction",
    "override", "analysis", "guidelines", "output", "format", "soul", "ignore", "BEGIN", "END", "USER", "INPUT",
    "begin", "SYSTEM", "System", "mem", "systemic", "prompts", "completed", "failed", "cancelled", "timed", "out",
    "polling", "max", "turns", "reached", "running", "progress", "capped", "token", "turn", "loop", "budget",
    "repeated", "length", "stop", "limit", "None", "True", "False", "RAW", "null", "true", "false", "Infinity",
    "TypeError", "raises", "Task", "Succeeded", "Result", "Error", "generated", "Execution", "after", "seconds",
    "Reached", "Cancelled", "Unknown", "subagent", "context", "mode", "Available", "none", "Use", "isolated",
    "snapshot", "general", "purpose", "bash", "shared", "Snapshot", "task", "batch", "parent", "ephemeral", "image",
    "url", "audio", "video", "file", "document", "reasoning", "thinking", "base", "content", "plain", "enabled",
];

#[rustfmt::skip]
const LEARN_CLAUDE_CODE: &[&str] = &[
    "Unknown", "tool", "task", "bash", "read", "file", "KeyError", "prompt", "path", "command", "summary", "end",
    "turn", "use", "max", "tokens",
];
