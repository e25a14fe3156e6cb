//! The tools as they are shown. The prose is this project's own; names and parameters are the product's.

use serde_json::{Value, json};

use crate::strategy::{RunContext, ToolSpec};

/// The tools of v1.
pub(super) const V1: [&str; 5] = ["spawn_agent", "send_input", "resume_agent", "wait_agent", "close_agent"];
/// The tools of v2.
pub(super) const V2: [&str; 6] = ["spawn_agent", "send_message", "followup_task", "wait_agent", "interrupt_agent", "list_agents"];

fn text(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

fn milliseconds() -> Value {
    json!({"type": "number", "description": "How long to wait at most, in milliseconds: 10000 to 3600000, 30000 if it is not given."})
}

fn tool(name: &str, about: &str, properties: Value, required: &[&str]) -> ToolSpec {
    ToolSpec::new(name, about, json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false}))
}

/// The agents that a role can name: all but the root's, sorted by name.
fn roles(run: &RunContext) -> Value {
    let names: Vec<&str> = run.agents.keys().filter(|name| **name != run.root).map(String::as_str).collect();
    text(&format!("Which type of agent does it; leave it out to have one like yourself. Known types: {}.", names.join(", ")))
}

/// What v1 shows.
pub(super) fn v1(run: &RunContext) -> Vec<ToolSpec> {
    let target = || text("The agent's id.");
    let message = || text("What the agent should do or know.");
    vec![
        tool(
            "spawn_agent",
            "Starts a sub-agent on a task and returns its id at once. It works by itself; a message follows when it has finished. It sees \
             nothing of this conversation, only the task, unless fork_context is true.",
            json!({
                "message": text("The task, with all that has to be known for it."),
                "agent_type": roles(run),
                "fork_context": {"type": "boolean", "description": "Whether the agent begins with this conversation."},
            }),
            &[],
        ),
        tool(
            "send_input",
            "Sends a message to a sub-agent: it reads it while it works, or begins to work again.",
            json!({
                "target": target(),
                "message": message(),
                "interrupt": {"type": "boolean", "description": "Whether the agent stops what it does first."},
            }),
            &["target"],
        ),
        tool("resume_agent", "Opens a closed sub-agent again, so that it can be given input.", json!({"id": target()}), &["id"]),
        tool(
            "wait_agent",
            "Waits until any of the named sub-agents has finished and returns how those that have finished stand, with their last message.",
            json!({
                "targets": {"type": "array", "items": {"type": "string"}, "description": "The agents' ids."},
                "timeout_ms": milliseconds(),
            }),
            &["targets"],
        ),
        tool(
            "close_agent",
            "Closes a sub-agent and those below it. Finished agents stay open and count against the limit until they are closed.",
            json!({"target": target()}),
            &["target"],
        ),
    ]
}

/// What v2 shows. `numbers`: whether a number of turns means anything.
pub(super) fn v2(run: &RunContext, numbers: bool) -> Vec<ToolSpec> {
    let target = || text("The agent's name, or its whole path.");
    let turns = if numbers {
        "How much of this conversation the agent begins with: none, all (if it is not given), or the number of the last turns as text."
    } else {
        "How much of this conversation the agent begins with: none, or all (if it is not given)."
    };
    vec![
        tool(
            "spawn_agent",
            "Starts a sub-agent on a task and returns its path at once. It works by itself; its answer arrives as a message.",
            json!({
                "message": text("The task."),
                "task_name": text("A name for it: lower-case letters, digits and underscores."),
                "agent_type": roles(run),
                "fork_turns": text(turns),
            }),
            &["message", "task_name"],
        ),
        tool(
            "send_message",
            "Sends a message to an agent. It reads it while it works; an idle agent is not started.",
            json!({"target": target(), "message": text("The message.")}),
            &["target", "message"],
        ),
        tool(
            "followup_task",
            "Gives a sub-agent more to do and starts it if it is idle.",
            json!({"target": target(), "message": text("The task.")}),
            &["target", "message"],
        ),
        tool(
            "wait_agent",
            "Waits until a message of any agent has arrived. It says only that one came; the message follows by itself.",
            json!({"timeout_ms": milliseconds()}),
            &[],
        ),
        tool(
            "interrupt_agent",
            "Stops what a sub-agent does. It stays and can be given more to do.",
            json!({"target": target()}),
            &["target"],
        ),
        tool(
            "list_agents",
            "Lists the agents and how they stand.",
            json!({"path_prefix": text("Only the agents whose path begins like this.")}),
            &[],
        ),
    ]
}
