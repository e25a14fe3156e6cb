//! How a simulated or held agent speaks a protocol: acts in, calls out.

use crate::transcript::Handle;

/// A call in protocol words, without identity: what [`Session::phrase`](super::Session::phrase) returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The tool's name.
    pub name: String,
    /// The arguments as JSON text.
    pub args: String,
}

/// What a scenario or recording wants delegated, with its task as this thread would write it now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// Its id in the scenario or recording.
    pub id: String,
    /// The agent that should do it.
    pub agent: String,
    /// A few words on it.
    pub title: String,
    /// The task.
    pub task: String,
    /// Whether the caller would rather go on meanwhile.
    pub background: bool,
}

/// What an agent wants to do about its children, before any protocol.
#[derive(Clone, Copy, Debug)]
pub enum Act<'a> {
    /// Hand an intent to a child.
    Delegate(&'a Intent),
    /// Wait for these children.
    Wait(&'a [Handle]),
    /// Give a child that exists more to do or to read.
    Continue {
        /// The child.
        child: &'a Handle,
        /// The intent that it worked on.
        intent: &'a Intent,
        /// What it is told.
        text: &'a str,
        /// Whether it should start working if it is idle.
        wake: bool,
    },
    /// Close a child for good.
    Close(&'a Handle),
    /// A hand-off's end: control returns to where it came from.
    Back,
    /// A child keeps a long text outside its answer, for whoever wants to read it.
    Store(&'a str),
    /// Read what a child has kept, by the name that it was told under.
    Read(&'a Handle),
}
