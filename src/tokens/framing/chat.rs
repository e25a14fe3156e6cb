//! Requests to chat models of OpenAI: frames of messages, and tools by either rule.

use super::super::CountError;
use super::count::{Accuracy, Tally};
use super::keys::{self, KeyCosts};
use super::namespace::{self, NamespaceCosts};
use super::request::{Message, Request, Tool, ToolChoice};
use super::schema::Schema;

/// Tokens around the content of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChatFrames {
    /// For each message, beside its role, content and name.
    pub message: i64,
    /// For a name, beside its text. Negative where the name takes the role's place.
    pub name: i64,
    /// Once: the frame of the reply.
    pub reply: i64,
    /// For a message of the role `function`: a correction.
    pub function_role: i64,
    /// For a call, beside its name and arguments.
    pub call: i64,
    /// Whether bills with calls and results of functions were seen.
    pub calls_billed: bool,
    /// How tools are billed.
    pub tools: ToolRule,
}

/// How tools are billed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolRule {
    /// So many tokens a key, around the texts.
    Keys(KeyCosts),
    /// As a text of declarations.
    Namespace(NamespaceCosts),
    /// The models take none.
    NoTools,
}

/// Counts a request.
pub(super) fn count(frames: &ChatFrames, stated: Accuracy, request: &Request, tally: &mut Tally<'_>) -> Result<Accuracy, CountError> {
    // With tools the first system message shares the frame of the declarations, and ends in a line break.
    let shared = match frames.tools {
        ToolRule::Namespace(costs) if !request.tools.is_empty() => {
            request.messages.iter().position(|message| message.role == "system").map(|at| (at, costs.shared_system))
        }
        _ => None,
    };
    for (at, message) in request.messages.iter().enumerate() {
        let tail = if shared.is_some_and(|(system, _)| system == at) { "\n" } else { "" };
        self::message(frames, at, message, tail, tally)?;
    }
    tally.add(frames.reply + shared.map_or(0, |(_, correction)| correction));
    if !request.tools.is_empty() {
        tools(frames, stated, request, tally)?;
    }
    choice(frames, &request.choice, tally)?;
    Ok(if tally.has_doubts() { Accuracy::Unstated } else { stated })
}

fn message(frames: &ChatFrames, at: usize, message: &Message, tail: &str, tally: &mut Tally<'_>) -> Result<(), CountError> {
    tally.add(frames.message);
    tally.text(&message.role)?;
    match message.role.as_str() {
        "system" | "user" | "assistant" => {}
        "function" => {
            tally.add(frames.function_role);
            if !frames.calls_billed {
                tally.doubt(CALLS);
            }
        }
        "tool" => tally.doubt(CALLS),
        _ => tally.doubt("a message has a role of which no bill was published"),
    }
    if let Some(name) = &message.name {
        tally.add(frames.name);
        tally.text(name)?;
    }
    let (last, before) = message.content.split_last().map_or((None, &[][..]), |(last, before)| (Some(last), before));
    if !before.is_empty() {
        tally.doubt("a message has several parts: each is counted on its own");
    }
    let place = format!("message {}", at + 1);
    for part in before {
        tally.declared(part, &place);
        tally.text(part.as_text())?;
    }
    match last {
        Some(part) if !tail.is_empty() => {
            tally.declared(part, &place);
            tally.text(&[part.as_text(), tail].concat())?;
        }
        Some(part) => {
            tally.declared(part, &place);
            tally.text(part.as_text())?;
        }
        None => tally.text(tail)?,
    }
    for call in &message.calls {
        tally.add(frames.call);
        tally.text(&call.name)?;
        tally.text(&call.arguments)?;
    }
    if message.calls.len() > 1 || (!message.calls.is_empty() && !frames.calls_billed) {
        tally.doubt(CALLS);
    }
    Ok(())
}

const CALLS: &str = "calls and results of tools: of their frames no bill was published for this family";

fn tools(frames: &ChatFrames, stated: Accuracy, request: &Request, tally: &mut Tally<'_>) -> Result<(), CountError> {
    let mut read = Vec::new();
    for tool in &request.tools {
        match tool {
            Tool::Function { name, description, parameters } => match Schema::parse(parameters) {
                Some(schema) => read.push((name.as_str(), description.as_deref(), schema)),
                None => tally.unknown(format!("the tool `{name}`, whose parameters are no JSON object, or nested too deep")),
            },
            Tool::Provided(name) => tally.unknown(format!("the provider's own tool `{name}`")),
        }
    }
    match &frames.tools {
        ToolRule::Keys(costs) => {
            for (name, description, schema) in &read {
                keys::function(costs, name, *description, schema, tally)?;
            }
            tally.add(costs.end);
            if stated != Accuracy::Exact {
                tally.doubt("of this family no bill of a request with tools was published");
            }
        }
        ToolRule::Namespace(costs) => {
            let declarations = namespace::render(read.iter().map(|(name, about, schema)| (*name, *about, schema)), tally);
            tally.text(&declarations)?;
            tally.add(costs.namespace);
        }
        ToolRule::NoTools => tally.unknown("the tools: these models took none".into()),
    }
    Ok(())
}

fn choice(frames: &ChatFrames, choice: &ToolChoice, tally: &mut Tally<'_>) -> Result<(), CountError> {
    match (choice, &frames.tools) {
        (ToolChoice::Auto, _) => {}
        (ToolChoice::None, ToolRule::Namespace(costs)) => tally.add(costs.choice_none),
        (ToolChoice::Named(name), ToolRule::Namespace(costs)) => {
            tally.add(costs.choice_named);
            tally.text(name)?;
        }
        _ => tally.doubt("a choice of tools other than auto: no bill of it was published for this family"),
    }
    Ok(())
}
