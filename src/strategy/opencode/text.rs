//! Every text that OpenCode puts before a model about delegation. Fixed words are literal; [`STARTED`], [`UPDATED`],
//! [`AGENT_MENTION`], the prompts of a compaction and the tool's description are this project's words, the first three of
//! about the product's length.

use crate::strategy::{RunContext, ToolSpec};
use crate::transcript::{Digest, Handle};

use super::profile::{Profile, Wrapper};

/// The tool that delegates.
pub(super) const TOOL: &str = "task";

/// What stands in the result of a call that started a background task: about 70 tokens.
pub const STARTED: &str = "The sub-agent is now working in the background, and a message will reach you by itself as soon as it has \
     finished. Do not wait for it, do not ask how far it is, and leave the files and questions that it is busy with alone. Go on with \
     other work, or tell the user in a few words what is under way and end your turn.";

/// What stands in the result of a call that extended a running task: about 80 tokens.
pub const UPDATED: &str = "Your addition has been passed on to the sub-agent, which is still working in the background and takes it up \
     next. A message will reach you by itself as soon as it has finished. Do not wait for it, do not ask how far it is, and leave the files \
     and questions that it is busy with alone. Go on with other work, or tell the user in a few words what you added and end your turn.";

/// What stands before an agent's name where a prompt mentions it: about 19 tokens.
pub const AGENT_MENTION: &str = "Make a prompt of the message and context above, and call the task tool with this subagent:";

/// The name of the error on a message that was aborted.
pub const ABORTED: &str = "MessageAbortedError";

/// What stands for the history before a summary.
pub(super) const WHAT_DID_WE_DO: &str = "What did we do so far?";

/// What follows a summary.
pub(super) const CONTINUE: &str = "Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed.";

/// The system text of a request for a summary.
pub(super) const SUMMARISER: &str = "You write summaries of work in progress, for whoever goes on with it and sees nothing else.";

/// The request for a summary.
pub(super) const SUMMARISE: &str = "Summarise all of the above: the task as it was set, what was done and found, what is still open, and \
     every name, path and number that matters for going on.";

/// Background calls without the flag.
pub(super) const NO_BACKGROUND: &str = "Background subagents require OPENCODE_EXPERIMENTAL_BACKGROUND_SUBAGENTS=true";

/// A child that was aborted.
pub(super) const CANCELLED: &str = "Task cancelled";

/// The depth limit.
pub(super) fn too_deep(limit: u32) -> String {
    format!("Subagent depth limit reached ({limit}). Increase \"subagent_depth\" to allow nested subagents.")
}

/// An agent that nobody knows.
pub(super) fn unknown_agent(name: &str) -> String {
    format!("Unknown agent type: {name} is not a valid agent type")
}

/// A rule denies the call: the rules that were looked at, as JSON.
pub(super) fn denied(rules: &str) -> String {
    format!(
        "The user has specified a rule which prevents you from using this specific tool call. Here are some of the relevant rules {rules}"
    )
}

/// The user said no.
pub(super) fn rejected(comment: Option<&str>) -> String {
    match comment {
        None => "The user rejected permission to use this specific tool call.".into(),
        Some(comment) => format!("The user rejected permission to use this specific tool call with the following feedback: {comment}"),
    }
}

/// A mentioned file was read.
pub(super) fn read_called(path: &str) -> String {
    format!("Called the Read tool with the following input: {{\"filePath\":{}}}", serde_json::Value::from(path))
}

/// A mentioned file could not be read.
pub(super) fn read_failed(path: &str, why: &str) -> String {
    format!("Read tool failed to read {path} with the following error: {why}")
}

/// An agent was mentioned; `denied`: by the rules of the agent that reads it.
pub(super) fn agent_mentioned(name: &str, denied: bool) -> String {
    let invoked = if denied { " . Invoked by user; guaranteed to exist." } else { "" };
    format!(" {AGENT_MENTION} {name}{invoked}")
}

/// A child session's title.
pub(super) fn title(description: &str, agent: &str) -> String {
    format!("{description} (@{agent} subagent)")
}

/// A finished child's text, as its profile wraps it.
pub(super) fn finished(child: &Handle, text: &str, profile: &Profile) -> String {
    match profile.wrapper {
        Wrapper::Task => wrapper(child, State::Completed, None, text),
        Wrapper::IdLine => {
            format!("{ID_LINE}{} (for resuming to continue this task if needed)\n\n<task_result>\n{text}\n</task_result>", child.0)
        }
    }
}

/// What the older wrapper begins with.
pub const ID_LINE: &str = "task_id: ";

/// A task id that is no session id.
pub(super) fn bad_session_id(given: &str) -> String {
    format!("Expected a string starting with \"ses\", got {}", serde_json::Value::from(given))
}

/// A failed child, in the foreground as it is, in a background notice inside the wrapper.
pub(super) fn failed(child: &Handle, message: &str) -> String {
    format!("Subagent failed (task_id: {}): {message}", child.0)
}

/// How a task stands, as its wrapper says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Running,
    Completed,
    Error,
}

/// The wrapper. Nothing in the text is escaped.
pub(super) fn wrapper(child: &Handle, state: State, summary: Option<&str>, text: &str) -> String {
    let (state, tag) = match state {
        State::Running => ("running", "task_result"),
        State::Completed => ("completed", "task_result"),
        State::Error => ("error", "task_error"),
    };
    let summary = summary.map(|summary| format!("<summary>{summary}</summary>\n")).unwrap_or_default();
    format!("<task id=\"{}\" state=\"{state}\">\n{summary}<{tag}>\n{text}\n</{tag}>\n</task>", child.0)
}

/// The tool as it is shown to an agent that may call these. The product lists each with its description; one that nobody
/// describes is listed with its tools, so that a caller has something to go by.
pub(super) fn tool<'a>(run: &RunContext, offered: impl Iterator<Item = &'a str>, background: bool) -> ToolSpec {
    let mut about = String::from(
        "Hands a piece of work of several steps to a sub-agent, which does it by itself. The sub-agent sees nothing of this conversation, \
         only the prompt, and you see nothing of its work, only its last message: write down all that it has to know and what it should \
         report. The result names a task id; give it as task_id to go on with the same sub-agent, which then remembers its own work. \
         Several calls in one message run at the same time.",
    );
    if background {
        about.push_str(" With background set to true the call returns at once, and a message follows when the sub-agent has finished.");
    }
    about.push_str("\n\nAvailable agent types and the tools they have access to:");
    for name in offered {
        let agent = run.agent(name);
        let tools: Vec<&str> = agent.tools.iter().map(|tool| tool.name.as_str()).filter(|&tool| tool != TOOL).collect();
        let tools = if tools.is_empty() { "none".to_owned() } else { tools.join(", ") };
        about.push_str(&format!("\n- {name}: {}", if agent.description.is_empty() { &tools } else { &agent.description }));
    }
    let text = |about: &str| serde_json::json!({"type": "string", "description": about});
    let mut parameters = serde_json::json!({
        "type": "object",
        "properties": {
            "description": text("The task in three to five words."),
            "prompt": text("The task itself."),
            "subagent_type": text("Which type of agent does it."),
            "task_id": text("Only to resume an earlier task: the id from its result."),
            "command": text("The command that led to this task."),
        },
        "required": ["description", "prompt", "subagent_type"],
    });
    if background {
        parameters["properties"]["background"] =
            serde_json::json!({"type": "boolean", "description": "Whether to return at once; a message follows at the end."});
    }
    ToolSpec::new(TOOL, &about, parameters)
}

/// An id in the product's form: a prefix, 12 hexadecimal digits, 14 letters and digits. The real one holds a time; this
/// one is made of a number alone, so that equal runs have equal ids.
pub(super) fn identifier(prefix: &str, number: u32) -> String {
    const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let first = Digest::of(&format!("opencode {prefix} {number}"));
    let mut id = format!("{prefix}_{:012x}", first.0 >> 80);
    let mut rest = Digest::chain([first]).0;
    for _ in 0..14 {
        // A remainder by 62 is inside the table.
        id.push(char::from(LETTERS[(rest % 62) as usize]));
        rest /= 62;
    }
    id
}
