//! A vector's items as the rollout lines that the strategy's rules read.

use crate::strategy::codex::rollout::{Checkpoint, Line, Response, envelope};
use crate::transcript::{Content, Part, Phase, Role};

use super::given::{self, Item, Piece};

/// An item with its content as parts.
pub struct Owned {
    kind: Kind,
    role: Role,
    phase: Option<Phase>,
    parts: Vec<Part>,
    envelope: Option<bool>,
    /// What its parts are in the vector.
    pieces: Vec<Piece>,
    message: String,
    replacement: Option<Vec<Owned>>,
}

/// What a line or item is. Lines that are no response item are the same for every vector, but for checkpoints.
#[derive(Clone, Copy)]
enum Kind {
    Message,
    AgentMessage,
    Notification,
    Unrecorded,
    Other,
    Checkpoint,
    Line(Line<'static>),
}

impl Owned {
    /// Reads an item.
    ///
    /// # Errors
    /// A type that nobody knows, a field that its type needs and that is missing.
    pub fn new(item: Item) -> Result<Owned, String> {
        let kind = kind(&item)?;
        let role = match item.role.as_deref() {
            Some("system") => Role::System,
            Some("developer") => Role::Developer,
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            None if matches!(kind, Kind::Message) => return Err("a `message` has no `role`".into()),
            _ => Role::Tool,
        };
        let pieces = item.parts.unwrap_or_else(|| item.text.into_iter().map(|text| Piece::InputText { text }).collect());
        let parts: Vec<Part> = pieces.iter().map(|piece| part(piece, role)).collect();
        let envelope = match role {
            Role::Assistant => item.legacy_inter_agent_envelope.or_else(|| envelope(&parts)),
            _ => None,
        };
        let replacement = item.replacement_history.map(|items| items.into_iter().map(Owned::new).collect::<Result<Vec<_>, _>>());
        let replacement = replacement.transpose()?;
        if replacement.iter().flatten().any(|item| item.response().is_none()) {
            return Err("a `replacement_history` holds a line that is no response item".into());
        }
        let phase = item.phase.map(|phase| match phase {
            given::Phase::Commentary => Phase::Commentary,
            given::Phase::FinalAnswer => Phase::FinalAnswer,
        });
        Ok(Owned { kind, role, phase, parts, envelope, pieces, message: item.message.unwrap_or_default(), replacement })
    }

    fn response(&self) -> Option<Response<'_>> {
        match self.kind {
            Kind::Message => Some(Response::Message { role: self.role, phase: self.phase, parts: &self.parts, envelope: self.envelope }),
            Kind::AgentMessage => Some(Response::AgentMessage),
            Kind::Notification => Some(Response::Notification),
            Kind::Unrecorded => Some(Response::Unrecorded),
            Kind::Other => Some(Response::Other),
            Kind::Checkpoint | Kind::Line(_) => None,
        }
    }

    /// The items of a checkpoint; `None`: it is none, or a legacy one.
    pub fn replacement(&self) -> Option<Vec<Response<'_>>> {
        // No item of another kind was let in.
        self.replacement.as_ref().map(|items| items.iter().filter_map(Owned::response).collect())
    }

    /// The line, with the items of its checkpoint.
    pub fn line<'a>(&'a self, replacement: Option<&'a [Response<'a>]>) -> Line<'a> {
        match (self.kind, self.response()) {
            (_, Some(response)) => Line::Response(response),
            (Kind::Line(line), None) => line,
            (_, None) => Line::Checkpoint(Checkpoint { message: &self.message, replacement }),
        }
    }

    /// What its parts are in the vector.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// An item of its checkpoint.
    pub fn item(&self, at: usize) -> Option<&Owned> {
        self.replacement.as_ref()?.get(at)
    }
}

/// A part. Only a model writes `output_text`; elsewhere no rule looks into it.
fn part(piece: &Piece, role: Role) -> Part {
    match piece {
        Piece::InputText { text } => text.as_str().into(),
        Piece::OutputText { text } if matches!(role, Role::Assistant | Role::Tool) => text.as_str().into(),
        Piece::OutputText { text } => Part::new(Content::Opaque { kind: "output_text".into(), bytes: text.len() as u64, tokens: None }),
        Piece::InputImage { image_url } => {
            let bytes = image_url.as_ref().map_or(0, String::len) as u64;
            Part::new(Content::Image { media: String::new(), bytes, tokens: None })
        }
    }
}

fn kind(item: &Item) -> Result<Kind, String> {
    let triggers = || item.trigger_turn.ok_or_else(|| format!("`{}` has no `trigger_turn`", item.kind));
    Ok(match item.kind.as_str() {
        "message" => Kind::Message,
        "agent_message" => Kind::AgentMessage,
        "function_call_output" if item.call_id.is_none() => Kind::Notification,
        "compaction_trigger" | "other" | "ghost_snapshot" => Kind::Unrecorded,
        "reasoning"
        | "local_shell_call"
        | "function_call"
        | "function_call_output"
        | "custom_tool_call"
        | "custom_tool_call_output"
        | "tool_search_call"
        | "tool_search_output"
        | "web_search_call"
        | "image_generation_call"
        | "additional_tools"
        | "compaction"
        | "compaction_summary"
        | "context_compaction" => Kind::Other,
        "compacted" => Kind::Checkpoint,
        "turn_context" => Kind::Line(Line::TurnContext),
        "world_state" => {
            let hint = item.state.as_ref().is_some_and(|state| state.contains_key(super::HINT_SECTION));
            Kind::Line(Line::WorldState { hint })
        }
        "session_meta" => Kind::Line(Line::SessionMeta),
        "inter_agent_communication" => Kind::Line(Line::Communication { triggers: triggers()? }),
        "inter_agent_communication_metadata" => Kind::Line(Line::Delivery { triggers: triggers()? }),
        "security_risk_score" => Kind::Line(Line::RiskScore),
        "event_msg" => Kind::Line(event(item)?),
        other => return Err(format!("an item has the unknown type `{other}`")),
    })
}

fn event(item: &Item) -> Result<Line<'static>, String> {
    Ok(match item.event.as_deref() {
        Some("task_started" | "turn_started") => Line::TurnStarted,
        Some("task_complete" | "turn_complete") => Line::TurnComplete,
        Some("user_message") => Line::UserMessage,
        Some("thread_rolled_back") => Line::RolledBack(item.num_turns.ok_or("a `thread_rolled_back` has no `num_turns`")?),
        Some("item_completed" | "token_count" | "thread_goal_updated" | "thread_settings_applied") => Line::Paged,
        Some(_) => Line::Event,
        None => return Err("an `event_msg` has no `event`".into()),
    })
}
