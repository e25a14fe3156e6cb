//! Baselines of what comes back. What goes down is the same for all of them, and is the least: the task alone, under the
//! named agent's own prompt. They differ in what the parent gets to read of it.

mod artifact_ref;
mod summary_return;

pub use artifact_ref::ArtifactRef;
pub use summary_return::SummaryReturn;

use serde_json::{Value, json};

use crate::transcript::{Item, Origin, ToolCall};

use super::{Act, Call, New, Order, RunContext, Scope, ToolSpec, View};

/// The tool that delegates.
const TOOL: &str = "delegate";

/// What the parent is told of how answers come back stands behind this in the tool's description.
fn tool(run: &RunContext, about_answers: &str) -> ToolSpec {
    let mut about = format!("Starts a sub-agent on a task. It sees the task alone and cannot start sub-agents. {about_answers} Agents:");
    for (name, agent) in &run.agents {
        about.push_str(&format!("\n- {name}"));
        if !agent.description.is_empty() {
            about.push_str(&format!(": {}", agent.description));
        }
    }
    let parameters = [("agent", "Which agent, by name.", true), ("task", "The task, with all that the sub-agent has to know.", true)];
    ToolSpec::of_strings(TOOL, &about, &parameters)
}

/// A delegation in this protocol's words; what is asked for beside the task is the strategy's to add when it opens the child.
fn phrase(act: &Act<'_>) -> Option<Call> {
    let Act::Delegate(intent) = act else { return None };
    Some(Call { name: TOOL.into(), args: json!({ "agent": intent.agent, "task": intent.task }).to_string() })
}

/// An agent's own prompt and tools without those names, which are the strategy's: a request cannot show two tools of one
/// name.
fn view(run: &RunContext, at: &Scope<'_>, taken: &[&str]) -> View {
    let mut view = View::of(&at.me().agent, run);
    view.tools.retain(|tool| !taken.contains(&tool.name.as_str()));
    view
}

/// A text argument of a call.
fn argument(call: &ToolCall, name: &str) -> Option<String> {
    let args = serde_json::from_str::<Value>(call.args.as_text()).ok()?;
    Some(args.get(name)?.as_str()?.to_owned())
}

/// Opens a child with its task, as `framed` words it, and nothing else.
fn open(call: &ToolCall, run: &RunContext, at: &Scope<'_>, framed: impl Fn(&str) -> String) -> Order {
    if at.me().depth > 0 {
        return Order::refuse(call, "Error: a sub-agent cannot start sub-agents; do the work here.");
    }
    let (Some(agent), Some(task)) = (argument(call, "agent"), argument(call, "task")) else {
        return Order::refuse(call, "Error: `delegate` needs the arguments `agent` and `task`, both texts.");
    };
    if !run.agents.contains_key(&agent) {
        let names: Vec<&str> = run.agents.keys().map(String::as_str).collect();
        return Order::refuse(call, format!("Error: there is no agent `{agent}`; there are {}.", names.join(", ")));
    }
    Order::open(call.key, New::agent(agent), vec![Item::user(Origin::Task, framed(task.trim_end()))])
}
