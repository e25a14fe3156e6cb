//! The wires of providers: an engine's request as the body that is sent, and what was delivered as a reply.
//!
//! Pure: nothing here sends anything. A live model and the replay of a cassette read deliveries by the same rules.
//! Shapes as the vendors' packages of 2026-11 have them (openai 3.57.0, anthropic 2.14.0).

mod answer;
mod body;
mod chat;
mod delivery;
mod events;
mod flat;
mod history;
mod messages;
mod responses;
#[cfg(test)]
mod tests;
mod trouble;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use answer::{Answer, Reasoned, Stop};
pub use body::{Body, Section};
pub use delivery::{Content, Delivery, StreamEvent};
pub use events::EventReader;
pub use flat::{LAST_WORDS, LAST_WORDS_OF_PROBE, flattened};
pub use history::Memory;
pub use trouble::{Trouble, TroubleKind};

use super::Request;

/// What is spoken with a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Wire {
    /// OpenAI Chat Completions, and whatever is compatible with it.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
}

impl Wire {
    /// Every wire.
    pub const ALL: [Wire; 3] = [Wire::Chat, Wire::Responses, Wire::Messages];

    /// Its name on the command line and in cassettes.
    pub fn name(self) -> &'static str {
        match self {
            Wire::Chat => "chat",
            Wire::Responses => "responses",
            Wire::Messages => "messages",
        }
    }

    /// Where it is spoken, behind the provider's base address.
    pub fn path(self) -> &'static str {
        match self {
            Wire::Chat => "chat/completions",
            Wire::Responses => "responses",
            Wire::Messages => "messages",
        }
    }
}

/// What tests ask with: nothing out of the ordinary.
#[cfg(test)]
pub(crate) fn plainly(wire: Wire) -> Asking {
    Asking {
        wire,
        model: "m".into(),
        stream: false,
        max_output_tokens: 9,
        completion_limit: false,
        temperature: None,
        seeded: false,
        rendering: Rendering::Native,
        calls: Calls::Model,
        previous: false,
        breakpoints: false,
        fields: Map::new(),
    }
}

/// How a thread's items stand in a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rendering {
    /// As the wire has them: calls and results are fields of their own.
    #[default]
    Native,
    /// As turns of a chat in plain text, calls and results too: for models whose template knows no tools.
    Text,
    /// As one message that ends with the question: for models that lose what stands far from the end.
    Flat,
    /// The same, but the question asks for what the answer needs, topic by topic, in the scenario's own names for them: for
    /// models that lose the thread of a long task.
    Probe,
}

impl Rendering {
    /// Every rendering.
    pub const ALL: [Rendering; 4] = [Rendering::Native, Rendering::Text, Rendering::Flat, Rendering::Probe];

    /// Its name on the command line and in cassettes.
    pub fn name(self) -> &'static str {
        match self {
            Rendering::Native => "native",
            Rendering::Text => "text",
            Rendering::Flat => "flat",
            Rendering::Probe => "probe",
        }
    }
}

/// Who decides what a thread does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Calls {
    /// The model, all of it.
    #[default]
    Model,
    /// The reader makes the calls; where it would answer, the model is given the same request and writes the answer. So a
    /// model that is too weak for tools still shows what it makes of what each strategy lets it see.
    Reader,
}

impl Calls {
    /// Every one.
    pub const ALL: [Calls; 2] = [Calls::Model, Calls::Reader];

    /// Its name on the command line and in cassettes.
    pub fn name(self) -> &'static str {
        match self {
            Calls::Model => "model",
            Calls::Reader => "reader",
        }
    }
}

/// All of a body that does not depend on the thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Asking {
    /// The wire.
    pub wire: Wire,
    /// The model, as the provider calls it.
    pub model: String,
    /// Whether replies come as streams of events.
    pub stream: bool,
    /// The most tokens of a reply.
    pub max_output_tokens: u32,
    /// Whether a chat calls that limit `max_completion_tokens`, as OpenAI's own models want it, or `max_tokens`.
    pub completion_limit: bool,
    /// The temperature; null: the provider's own.
    pub temperature: Option<f64>,
    /// Whether the cell's seed is sent along, where the wire has a field for it (chat).
    pub seeded: bool,
    /// How items stand in it.
    pub rendering: Rendering,
    /// Who makes the calls.
    pub calls: Calls,
    /// Whether a request names the response that it goes on from and sends only what is new (responses).
    pub previous: bool,
    /// Whether prompt-cache breakpoints are set: behind the system text and behind the last message (messages).
    pub breakpoints: bool,
    /// Fields that are sent besides, as they were typed: how hard to think, for one (left out where there is none).
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub fields: Map<String, Value>,
}

impl Asking {
    /// The fields of a body that every wire has; what the limit of output tokens is called differs.
    fn head(&self, limit: &str) -> Map<String, Value> {
        let mut head = Map::new();
        head.insert("model".to_owned(), self.model.as_str().into());
        head.insert(limit.to_owned(), self.max_output_tokens.into());
        if let Some(temperature) = self.temperature {
            head.insert("temperature".to_owned(), temperature.into());
        }
        if self.stream {
            head.insert("stream".to_owned(), true.into());
        }
        head
    }

    /// The body of a request. `seed` is the cell's; `memory` holds what earlier replies of the run carried; `question` is what a
    /// probe asks in place of the thread's own task.
    ///
    /// # Errors
    /// The request holds what only has a size, so that there is no text to send: a measured scaffold, an image of a recording.
    pub fn body(&self, request: &Request<'_>, seed: u64, memory: &Memory, question: Option<&str>) -> Result<Body, String> {
        let mut body = match (self.wire, self.rendering) {
            (Wire::Chat, Rendering::Native) => chat::body(self, request, seed),
            (Wire::Responses, Rendering::Native) => responses::body(self, request, memory),
            (Wire::Messages, Rendering::Native) => messages::body(self, request, memory),
            _ => flat::body(self, request, seed, question),
        }?;
        body.head.extend(self.fields.clone());
        Ok(body)
    }

    /// What a delivery says.
    ///
    /// # Errors
    /// It is no reply: a refusal by the provider, a stream that broke before it said anything, a shape that is not the wire's.
    pub fn read(&self, delivery: &Delivery) -> Result<Answer, Trouble> {
        if let Some(trouble) = delivery.refusal() {
            return Err(trouble);
        }
        let whole = match &delivery.content {
            Content::Json(value) => value.clone(),
            Content::Text(_) => return Err(Trouble::broken("the reply is no JSON")),
            Content::Events(events) => match self.wire {
                Wire::Chat => chat::assemble(events),
                Wire::Responses => responses::assemble(events),
                Wire::Messages => messages::assemble(events),
            }?,
        };
        let mut answer = match self.wire {
            Wire::Chat => chat::read(&whole),
            Wire::Responses => responses::read(&whole),
            Wire::Messages => messages::read(&whole),
        }?;
        if delivery.trouble.is_some() || answer.stop == Stop::Partial {
            answer.stop = Stop::Partial;
            // Half a call is none.
            answer.calls.clear();
        }
        Ok(answer)
    }
}
