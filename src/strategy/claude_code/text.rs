//! Every text that Claude Code puts before a model about delegation.

use crate::strategy::{RunContext, ThreadId, ToolSpec};
use crate::transcript::{Digest, Handle};

use super::Mode;

/// The tool that delegates.
pub(super) const AGENT: &str = "Agent";
/// The tool that goes on with a child.
pub(super) const SEND_MESSAGE: &str = "SendMessage";
/// The type that asks for a fork.
pub(super) const FORK: &str = "fork";

/// What stands in place of a fork's own call's result.
pub(super) const FORKED: &str = "Fork started — processing in background";

/// What stands in place of a report without text: assumed.
pub(super) const EMPTY: &str = "(The agent ended without any text.)";

/// A fork that would start another: assumed.
pub(super) const FORK_IN_FORK: &str = "A fork cannot start another fork: do the work with your own tools.";

/// How deep children may go: assumed.
pub(super) fn too_deep(limit: u32) -> String {
    format!("Agents may be nested {limit} deep, and this one is as deep: do the work with your own tools.")
}

/// A type that nobody knows: assumed.
pub(super) fn unknown_type(name: &str, known: &[&str]) -> String {
    format!("Agent type '{name}' not found. Available agents: {}", known.join(", "))
}

/// An id that nobody has: assumed.
pub(super) fn unknown_id(id: &str) -> String {
    format!("No agent with the id '{id}' was started in this conversation.")
}

/// A child that did not end well: assumed.
pub(super) fn failed(why: &str) -> String {
    format!("The agent failed: {why}")
}

/// A child's name for its parent, in the product's form. The real one is random; this one is made of a number alone, so
/// that equal runs have equal ids.
pub(super) fn handle(thread: ThreadId) -> Handle {
    let digits = format!("{:032x}", Digest::of(&format!("claude-code agent {}", thread.0)).0);
    Handle(format!("a{}", &digits[..16]))
}

/// What a run of a child used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    /// Tokens of its last exchange.
    pub(super) tokens: u64,
    /// Its calls.
    pub(super) calls: usize,
    /// How long it ran, in milliseconds.
    pub(super) ms: u64,
}

/// The second block of a foreground result.
pub(super) fn trailer(child: &Handle, usage: Usage) -> String {
    let (id, Usage { tokens, calls, ms }) = (&child.0, usage);
    format!(
        "agentId: {id} (use SendMessage with to: '{id}', summary: '<5-10 word recap>' to continue this agent)\n<usage>subagent_tokens: \
         {tokens}\ntool_uses: {calls}\nduration_ms: {ms}</usage>"
    )
}

/// The result of a call that started a child in the background: 500 characters in the product.
pub(super) fn launched(child: &Handle) -> String {
    let id = &child.0;
    format!(
        "Async agent launched successfully.\nagentId: {id} (for your own use: SendMessage with to: '{id}' continues this agent; do not show \
         the id to the user)\nThe agent is working in the background. A message with its result reaches you by itself as soon as it has \
         finished, so do not wait for it and do not ask how far it is. Leave the files and questions that it is busy with alone. Go on \
         with other work, or tell the user in a few words what was started and end your turn."
    )
}

/// The result of a call that started a fork: 148 tokens in the product.
pub(super) fn fork_launched(child: &Handle) -> String {
    let id = &child.0;
    format!(
        "Async agent launched successfully.\nagentId: {id} (for your own use: SendMessage with to: '{id}' continues this agent; do not show \
         the id to the user)\nThe fork is working in the background on a copy of this conversation. A message with its result reaches you by \
         itself as soon as it has finished, so do not wait for it, do not ask how far it is, and do not look into its files meanwhile. You \
         know nothing of its result yet: if somebody asks, say that it is still at work, and do not guess what it will find. Go on with \
         other work that does not depend on it, or tell the user in a few words what was started and end your turn."
    )
}

/// What tells a caller of a child that ended in the background: 164 tokens in the product, with a report of 9 tokens.
pub(super) fn notification(child: &Handle, call: &str, description: &str, status: &str, result: &str, usage: Usage) -> String {
    let Usage { tokens, calls, ms } = usage;
    format!(
        "<task-notification>\n<task-id>{}</task-id>\n<tool-use-id>{call}</tool-use-id>\n<status>{status}</status>\n<summary>Agent \
         \"{description}\" {status}</summary>\n<note>Written by the program, not by the user, who \
         sees nothing of it. If it matters to them, tell them in your own words; if it is what you waited for, go on with your work.\
         </note>\n<result>{result}</result><usage><subagent_tokens>{tokens}</subagent_tokens>\n<tool_uses>{calls}</tool_uses>\n\
         <duration_ms>{ms}</duration_ms></usage>\n</task-notification>",
        child.0
    )
}

/// What a child is told that was started as a fork: 229 tokens in the product, with a prompt of 11 tokens.
pub(super) fn directive(prompt: &str) -> String {
    format!(
        "<fork-boilerplate>\nYou are a fork: a second copy of the agent whose conversation stands above, started to carry out one directive \
         while that agent goes on with its own work. All that stands above is yours to use, but the conversation is not yours to continue, \
         and what it says about handing work to others does not hold for you.\n\n- Do the work yourself, with the tools that you have. Start \
         no further agents.\n- Do not talk to the user and do not ask anything: nobody answers you here.\n- Stay inside the directive. \
         Something else that matters gets one sentence at the end of your report.\n- If you change files, leave them in a state that can be \
         used, and name them.\n- Write nothing between your tool calls: work first, and report once, when you are done.\n- Keep the report \
         short and to the facts: what you were to do, what you found, where it stands, what is left \
         open.\n</fork-boilerplate>\n\nYour directive: {prompt}"
    )
}

/// What `SendMessage` answers: assumed.
pub(super) fn sent(child: &Handle) -> String {
    format!("The message was passed on to the agent {}. A message with its result reaches you as soon as it has finished.", child.0)
}

/// The types of agents that may be asked for: all but the root's.
pub(super) fn types(run: &RunContext) -> Vec<&str> {
    run.agents.keys().map(String::as_str).filter(|name| *name != run.root).collect()
}

/// `Agent` as it is shown.
pub(super) fn agent_tool(run: &RunContext, mode: Mode) -> ToolSpec {
    let mut about = String::from(
        "Starts an agent that does a piece of work by itself. It sees nothing of this conversation but the prompt, and you see nothing of \
         its work but its last message: write down all that it has to know and what it should report. The result names the agent, so that \
         SendMessage can go on with it. With run_in_background the call returns at once, and a message follows when the agent has finished.",
    );
    if mode == Mode::Fork {
        about
            .push_str(" The type fork starts a copy of yourself instead, which knows this whole conversation and works in the background.");
    }
    about.push_str("\n\nTypes of agents:");
    for name in types(run) {
        let agent = run.agent(name);
        let tools: Vec<&str> =
            agent.tools.iter().map(|tool| tool.name.as_str()).filter(|name| ![AGENT, SEND_MESSAGE].contains(name)).collect();
        about.push_str(&format!("\n- {name}: {} (Tools: {})", agent.description, tools.join(", ")));
    }
    let text = |about: &str| serde_json::json!({"type": "string", "description": about});
    let parameters = serde_json::json!({
        "type": "object",
        "properties": {
            "description": text("The task in three to five words."),
            "prompt": text("The task itself."),
            "subagent_type": text("Which type of agent does it."),
            "run_in_background": {"type": "boolean", "description": "Whether to return at once; a message follows at the end."},
        },
        "required": ["description", "prompt"],
    });
    ToolSpec::new(AGENT, &about, parameters)
}

/// `SendMessage` as it is shown.
pub(super) fn message_tool() -> ToolSpec {
    let about =
        "Sends a message to an agent that you started. It goes on with all that it knows, and a message follows when it has finished.";
    ToolSpec::of_strings(
        SEND_MESSAGE,
        about,
        &[
            ("to", "The agent's id, from the result that named it.", true),
            ("summary", "The message in five to ten words.", false),
            ("message", "What it should do or know.", true),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::{Encoding, counter};

    #[test]
    fn texts_have_about_the_measured_length() {
        fn check(text: &str, measured: f64) {
            let tokens = counter(Encoding::O200kBase).count(text).expect("it is short") as f64;
            assert!((tokens / measured - 1.0).abs() <= 0.15, "{tokens} tokens, {measured} measured: {text}");
        }
        let child = handle(ThreadId(1));
        let usage = Usage { tokens: 35_000, calls: 1, ms: 229 };
        check(&directive("CHILD: read the file and report the number in it"), 229.0);
        check(&fork_launched(&child), 148.0);
        check(&notification(&child, "toolu_0004", "read notes", "completed", "RESULT: the magic number is 42", usage), 164.0);
        // Known by its 500 characters.
        let chars = launched(&child).chars().count() as f64;
        assert!((chars / 500.0 - 1.0).abs() <= 0.15, "{chars} characters");
    }
}
