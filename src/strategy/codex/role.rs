//! Roles: the scenario's agents, and the product's own names that stand for none of them.

use crate::strategy::{RunContext, Scope};

/// Roles that the product brings; here each is the caller's agent once more.
const BUILT_IN: [&str; 3] = ["default", "explorer", "worker"];

/// The agent that a child is opened with: the one of the role, else the caller's. The error is the call's result.
pub(super) fn agent(role: Option<&str>, run: &RunContext, at: &Scope<'_>) -> Result<String, String> {
    match role {
        Some(name) if run.agents.contains_key(name) => Ok(name.to_owned()),
        Some(name) if !BUILT_IN.contains(&name) => Err(format!("unknown agent_type '{name}'")),
        _ => Ok(at.me().agent.clone()),
    }
}

/// The role that an agent asks for to have an intent done by one of the scenario's agents.
pub(super) fn phrased<'a>(agent: &'a str, run: &RunContext) -> Option<&'a str> {
    run.agents.contains_key(agent).then_some(agent)
}
