//! Lines, as far as forks and replays read them.

use crate::strategy::codex::fragment::{is_contextual, is_setting};
use crate::transcript::{Part, Phase, Role};

/// One line of a rollout.
#[derive(Clone, Copy, Debug)]
pub enum Line<'a> {
    /// `response_item`: what the model has read or written.
    Response(Response<'a>),
    /// `compacted`.
    Checkpoint(Checkpoint<'a>),
    /// A transcript's summary: it stands where a checkpoint has been replayed already.
    Summary,
    /// `turn_context`: the settings that a turn began with.
    TurnContext,
    /// `world_state`; whether it says which usage hint was given.
    WorldState {
        /// It has the section `multi_agent_usage_hint`.
        hint: bool,
    },
    /// `session_meta`.
    SessionMeta,
    /// `inter_agent_communication`: a message between agents, as a line of its own.
    Communication {
        /// It starts a turn.
        triggers: bool,
    },
    /// `inter_agent_communication_metadata`: the message that follows was delivered.
    Delivery {
        /// It starts a turn.
        triggers: bool,
    },
    /// A transcript's mail: the delivery and its message in one.
    Mail {
        /// It starts a turn.
        triggers: bool,
    },
    /// `security_risk_score`.
    RiskScore,
    /// `event_msg` of `task_started` (`turn_started`).
    TurnStarted,
    /// `event_msg` of `task_complete` (`turn_complete`).
    TurnComplete,
    /// `event_msg` of `user_message`.
    UserMessage,
    /// `event_msg` of `thread_rolled_back`: so many of the newest turns are undone.
    RolledBack(u64),
    /// `event_msg` of `item_completed`, `token_count`, `thread_goal_updated` or `thread_settings_applied`: what a parent
    /// whose file is read in pages keeps to itself.
    Paged,
    /// Any other `event_msg`.
    Event,
}

/// A response item.
#[derive(Clone, Copy, Debug)]
pub enum Response<'a> {
    /// A message. A role that the product does not know is [`Role::Tool`].
    Message {
        /// Who speaks.
        role: Role,
        /// Commentary or final answer.
        phase: Option<Phase>,
        /// Its content: texts, and parts that no rule looks into.
        parts: &'a [Part],
        /// It is a message between agents as older files hold one ([`envelope`](super::envelope)); whether it starts a turn.
        envelope: Option<bool>,
    },
    /// `agent_message`.
    AgentMessage,
    /// A `function_call_output` that names no call.
    Notification,
    /// `compaction_trigger` and what the product does not know: written to the file, never into a history.
    Unrecorded,
    /// Everything else: reasoning, calls, their outputs, opaque compactions.
    Other,
}

/// A point at which the history was replaced.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint<'a> {
    /// The summary; older files hold nothing else.
    pub message: &'a str,
    /// The history from here on. `None`: a legacy checkpoint.
    pub replacement: Option<&'a [Response<'a>]>,
}

/// What an item of a history is to a rollback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// It gives an agent something to do: one turn.
    Turn,
    /// Context that goes with the turn behind it.
    Context,
    /// Anything else.
    Plain,
}

impl Response<'_> {
    pub(super) fn mark(&self) -> Mark {
        match self {
            Response::AgentMessage | Response::Message { role: Role::Assistant, envelope: Some(_), .. } => Mark::Turn,
            Response::Message { role: Role::User, parts, .. } => {
                if is_contextual(parts) {
                    Mark::Context
                } else {
                    Mark::Turn
                }
            }
            Response::Message { role: Role::Developer, parts, .. } if parts.iter().any(is_setting) => Mark::Context,
            _ => Mark::Plain,
        }
    }

    /// Whether a line of it enters the history.
    pub(super) fn is_recorded(&self) -> bool {
        !matches!(self, Response::Unrecorded | Response::Message { role: Role::System, .. })
    }
}
