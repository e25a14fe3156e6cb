//! `held`: a recorded session played again, each thread's recorded steps held fixed. The strategy changes what a child
//! opens with and what comes back; what was said and what tools answered stays as recorded.
//!
//! One intent a recorded delegation, phrased in the strategy's protocol in the place of the recorded call. Exchanges that
//! the protocol needs and the recording lacks (a wait, say) are added and marked synthetic. Where the protocol has no word
//! for delegating, each child's recorded steps are spliced into the thread that delegated. A recorded call that opened no
//! child is no intent: call and result stay as recorded.

mod growth;
mod player;
mod recording;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::import::Imported;
use crate::setting::{UserInput, UserTime, World};
use crate::strategy::{AgentSpec, RunContext};
use crate::transcript::{Item, Recorded, ToolCall};

use super::{Agent, Model};

pub use growth::{ExchangeGrowth, Growth, growth_error};
use player::Player;
use recording::Recording;

/// Name of the root's agent: recordings do not name it.
pub const ROOT_AGENT: &str = "root";

/// Name of a child's agent where the recording has none.
pub const CHILD_AGENT: &str = "agent";

/// A recorded root session with its children, ready to be played under any strategy.
#[derive(Clone, Debug)]
pub struct Held(Arc<Recording>);

/// Why a recording cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeldError {
    /// There is no such session.
    #[error("there is no session at place {at}: the import has {sessions}")]
    NoSession {
        /// The place that was asked for.
        at: usize,
        /// How many there are.
        sessions: usize,
    },
    /// The session is a child.
    #[error("session {id} is a child of {parent}: run its parent's recording, or import the child alone as its own root")]
    Child {
        /// The child.
        id: String,
        /// Its parent.
        parent: String,
    },
    /// The session has nothing to play.
    #[error("session {id} has no model response: there is nothing to run")]
    Empty {
        /// The session.
        id: String,
    },
    /// A child is missing, and so is what it returned.
    #[error(
        "session {id}: the recording holds neither the child of call {call} nor its answer, so its parent cannot go on: import the child's file with it"
    )]
    NoReturn {
        /// The session.
        id: String,
        /// The delegating call.
        call: String,
    },
    /// Children are missing whose steps a strategy without delegation would need.
    #[error("session {id}: the children of these calls were not imported, and without their steps the parent cannot do their work: {}", calls.join(", "))]
    MissingChildren {
        /// The session.
        id: String,
        /// The delegating calls.
        calls: Vec<String>,
    },
}

impl Held {
    /// The root session at a place of an import, with all children that are linked to it.
    ///
    /// # Errors
    /// No such session, a child, a session without responses, or a delegation of which neither child nor answer is there.
    pub fn new(imported: &Imported, at: usize) -> Result<Held, HeldError> {
        Ok(Held(Arc::new(Recording::of(imported, at)?)))
    }

    /// The session's id: the scenario's part of a cell id.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// The agents: the root's and one a kind of child. Recordings rarely hold prompts and tools, so none are known.
    pub fn context(&self) -> RunContext {
        let names = self.0.intents.iter().map(|one| one.intent.agent.clone());
        let names: BTreeSet<String> = names.chain([ROOT_AGENT.to_owned()]).collect();
        RunContext {
            root: ROOT_AGENT.into(),
            agents: names.into_iter().map(|name| (name, AgentSpec::default())).collect(),
            ..RunContext::default()
        }
    }

    /// What the root's history holds before its first turn.
    pub fn history(&self) -> Vec<Item> {
        self.0.history.clone()
    }

    /// The user's messages that open turns, in order. What came in inside a turn is part of the reply before it.
    pub fn user(&self) -> Vec<UserInput> {
        self.0.user.iter().map(|items| UserInput { when: UserTime::Settled, items: items.clone() }).collect()
    }

    /// A world without tools: every recorded call brings its own result.
    pub fn world(&self) -> Box<dyn World> {
        Box::new(Nothing)
    }

    /// `Err`: children whose exchanges the recording lacks, so that no figure of children is known. Their parents are
    /// played all the same, with one synthetic exchange a missing child that says what it returned.
    pub fn children(&self) -> Result<(), String> {
        match self.missing() {
            Some(missing) => Err(format!("the recording lacks the exchanges of children: calls {}", missing.join(", "))),
            None => Ok(()),
        }
    }

    /// Whether a strategy without delegation can be run: it needs the steps of every child.
    ///
    /// # Errors
    /// [`HeldError::MissingChildren`].
    pub fn without_delegation(&self) -> Result<(), HeldError> {
        match self.missing() {
            Some(calls) => Err(HeldError::MissingChildren { id: self.0.id.clone(), calls }),
            None => Ok(()),
        }
    }

    /// The recorded model of the root, where it is named.
    pub fn recorded_model(&self) -> Option<&str> {
        self.0.model.as_deref()
    }

    fn missing(&self) -> Option<Vec<String>> {
        let calls: Vec<String> = self.0.intents.iter().filter(|one| one.is_missing()).map(|one| one.intent.id.clone()).collect();
        (!calls.is_empty()).then_some(calls)
    }
}

impl Model for Held {
    fn name(&self) -> String {
        "held".into()
    }
    fn start(&self, _: u64) -> Box<dyn Agent> {
        Box::new(Player::new(self.0.clone()))
    }
}

/// No tools and no files.
struct Nothing;

impl World for Nothing {
    fn call(&mut self, call: &ToolCall) -> Recorded {
        Recorded::text(format!("Error: the recording has no result for this call of `{}`.", call.name), true, 1)
    }
    fn write(&mut self, _: &str, _: &str) {}
}
