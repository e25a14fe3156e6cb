//! `maf-dotnet` and `maf-python`: agents as tools in Microsoft Agent Framework.
//!
//! Every agent but the root's is one tool with one text; its child opens with that text alone. What comes back is the text
//! of *all* the child's messages, so whatever it said between its tool calls reaches its parent too.
//!
//! The facts: `dotnet/src` and `python/packages/core` of microsoft/agent-framework at 5eb3eb745e (the profile `2026-08` of
//! both), Microsoft.Extensions.AI at dotnet/extensions 5862342c9a (read, never run), and runs of `agent-framework-core`
//! 1.23.0 with `agent-framework-openai` 1.17.0 (Python). Error texts are literal.
//!
//! What the two differ in: the name of the tool ([`name`]), how the child's texts become one ([`Joining`]), whether the
//! result is quoted as JSON ([`dotnet`]), calls one after the other or beside each other, and what errors in a row lead to.
//!
//! `session=kept` in Python is an application that keeps one session an agent, beside `as_tool`.
//!
//! Assumed, since it is not established: of two agents with one tool name the first is kept.
//!
//! Of a thread's own messages those of ended turns bear the agent's name (Python); not here: names on what another thread
//! wrote (shared sessions) and in .NET; agents as tools of agents that are tools themselves (only the root has them); tools that are shown and may not be called (Python sends the schemas
//! of tools that are turned off, with `tool_choice` `none`: measured; here they are not sent, since a view cannot say it);
//! the line breaks with which .NET writes the arguments of earlier calls; streaming callbacks; sessions that a service keeps.

mod application;
mod child;
pub mod dotnet;
mod earlier_names;
mod failing;
mod joining;
pub mod name;
mod offer;
pub mod python;

pub use application::{Application, AsTool};
pub use dotnet::MafDotNet;
pub use joining::{Joining, Platform, streamed};
pub use python::MafPython;

/// A child that did not end well, or a tool that threw.
const FAILED: &str = "Error: Function failed.";

/// An error text, with the exception's message where the application asks for details.
fn told(error: &str, message: &str, detailed: bool) -> String {
    if detailed { format!("{error} Exception: {message}") } else { error.into() }
}

/// The result of a call whose tool nobody offered.
fn not_found(tool: &str) -> String {
    format!("Error: Requested function \"{tool}\" not found.")
}

/// Requests of a turn that may have their calls made.
const ITERATIONS: usize = 40;
/// Iterations in a row with a failed call that are borne.
const ERRORS: u32 = 3;
