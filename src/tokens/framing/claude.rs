//! The estimate for Claude models, whose tokenizer since Claude 3 is not public: factors by kind of content, and the prompt
//! that tools bring with them.

use serde_json::Value;

use super::super::CountError;
use super::count::{Accuracy, Basis, Tally};
use super::kind::Kind;
use super::request::{Request, Tool, ToolChoice};

/// Tokens for a thousand tokens of `o200k_base`, by kind of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factors {
    /// English documents.
    pub prose: u32,
    /// Source code: Rust and TypeScript, weighted by the tokens of what was measured.
    pub code: u32,
    /// JSON.
    pub json: u32,
    /// Chinese.
    pub cjk: u32,
    /// Listings of files and of matches.
    pub listing: u32,
    /// Emoji.
    pub emoji: u32,
    /// A transcript of everything: the one factor where a text's kind is not clear.
    pub mixed: u32,
    /// The frame of a request of one message, in tokens. Of further messages' frames nothing is known.
    pub request: u32,
    /// The stated error with a factor a kind.
    pub by_kind: Accuracy,
    /// The stated error where a text had to be taken as mixed.
    pub one_factor: Accuracy,
}

impl Factors {
    /// Claude 3 to 4.6. Rust 1.31 (7,863 tokens) and TypeScript 1.30 (6,855). The least and the greatest window of each:
    /// prose 0.98 to 1.34, Rust 1.19 to 1.50, TypeScript 1.25 to 1.36, JSON 1.12 to 1.26, Chinese 1.34 to 1.50, listings 1.14 to
    /// 1.29, emoji 1.54 to 1.59, mixed 1.15 to 1.45.
    ///
    /// On 88 other windows of 2,500 characters (documents, Rust, Python, TOML, JSON, listings) the whole estimate, kinds by
    /// [`Kind::of`], lay 4.7 % above the reconstruction in sum and 7 % from it in the mean square; single windows -5 to +22 %,
    /// 65 of the 88 within 8 %. With one factor for all: 7.3 % above in sum, 10 % in the mean square.
    pub const CLAUDE_3: Factors = Factors {
        prose: 1190,
        code: 1305,
        json: 1220,
        cjk: 1460,
        listing: 1220,
        emoji: 1570,
        mixed: 1280,
        request: 7,
        by_kind: Accuracy::Percent(8),
        one_factor: Accuracy::Percent(15),
    };
    /// Claude 4.7: Rust 1.83, TypeScript 1.75. About 1 % of each is the frame of a message, which the windows held.
    ///
    /// On the same 88 windows 6.6 % above in sum, 14 % in the mean square, single windows -18 to +44 %, 66 of them within 15 %. One
    /// factor for all did no worse (1.4 % and 10 %), so the smaller error of the older tokenizer is not claimed here.
    pub const CLAUDE_4_7: Factors = Factors {
        prose: 1600,
        code: 1793,
        json: 1490,
        cjk: 1580,
        listing: 1440,
        emoji: 1570,
        mixed: 1540,
        request: 11,
        by_kind: Accuracy::Percent(15),
        one_factor: Accuracy::Percent(15),
    };
    /// Claude 4.8 and later: the vocabulary of 4.7 under a shorter frame.
    pub const CLAUDE_4_8: Factors = Factors { request: 6, ..Factors::CLAUDE_4_7 };

    /// The factor of a kind.
    pub fn of(&self, kind: Kind) -> u32 {
        match kind {
            Kind::Prose => self.prose,
            Kind::Code => self.code,
            Kind::Json => self.json,
            Kind::Cjk => self.cjk,
            Kind::Listing => self.listing,
            Kind::Emoji => self.emoji,
            Kind::Mixed => self.mixed,
        }
    }
}

/// The hidden system prompt that a request with tools is billed for, once a *request*: every turn of every child pays it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolPrompt {
    /// The model, without its release.
    pub model: &'static str,
    /// Tokens where the choice of tools is `auto` or `none`.
    pub auto: u32,
    /// Tokens where it is `any` or one tool.
    pub forced: u32,
    /// When the source said so.
    pub dated: &'static str,
    /// What it rests on.
    pub basis: Basis,
}

impl ToolPrompt {
    /// The newest row of a model; `None`: nothing was published (Claude 5.5 and Fable, for instance).
    pub fn of_model(model: &str) -> Option<&'static ToolPrompt> {
        TOOL_PROMPTS.iter().find(|row| row.model == model)
    }
}

const fn prompt(model: &'static str, auto: u32, forced: u32, dated: &'static str, basis: Basis) -> ToolPrompt {
    ToolPrompt { model, auto, forced, dated, basis }
}

/// The vendor's page on the pricing of tool use, in copies of these days; of one model the newest row first.
pub const TOOL_PROMPTS: &[ToolPrompt] = &[
    prompt("claude-opus-5", 286, 406, "2026-08", Basis::Read),
    prompt("claude-sonnet-5", 354, 474, "2026-08", Basis::Read),
    prompt("claude-opus-4-8", 290, 410, "2026-08", Basis::Read),
    prompt("claude-opus-4-7", 675, 804, "2026-08", Basis::Read),
    prompt("claude-opus-4-6", 497, 589, "2026-08", Basis::Read),
    prompt("claude-sonnet-4-6", 497, 589, "2026-08", Basis::Read),
    prompt("claude-opus-4-5", 496, 588, "2026-08", Basis::Read),
    prompt("claude-sonnet-4-5", 496, 588, "2026-08", Basis::Read),
    prompt("claude-haiku-4-5", 496, 588, "2026-08", Basis::Read),
    prompt("claude-opus-4-1", 313, 315, "2026-08", Basis::Read),
    prompt("claude-opus-4", 313, 315, "2026-08", Basis::Read),
    prompt("claude-sonnet-4", 313, 315, "2026-08", Basis::Read),
    // Until the spring of 2026 copies of the page, and secondary texts, said this of Sonnet 4, as of all Claude 4.
    prompt("claude-sonnet-4", 346, 313, "before 2026-04", Basis::Secondary),
    prompt("claude-3-7-sonnet", 346, 313, "before 2026-04", Basis::Secondary),
    prompt("claude-3-5-haiku", 264, 340, "before 2026-04", Basis::Read),
    prompt("claude-haiku-3-5", 264, 340, "before 2026-04", Basis::Read),
    prompt("claude-3-opus", 530, 281, "before 2026-04", Basis::Read),
    prompt("claude-3-sonnet", 159, 235, "before 2026-04", Basis::Read),
    prompt("claude-3-haiku", 264, 340, "before 2026-04", Basis::Read),
];

/// What the provider's own tools add, by their names and the beginnings of their dated types. Secondary sources, 2026. Computer use
/// is missing: its sources name ranges.
const PROVIDED: &[(&str, u32)] = &[("bash", 245), ("text_editor", 700), ("str_replace_editor", 700), ("str_replace_based_edit_tool", 700)];

/// Thousandths of tokens of texts, whose sum is rounded once: so no order of messages changes it.
#[derive(Default)]
struct Scaled {
    thousandths: i64,
    mixed: bool,
}

impl Scaled {
    fn text(&mut self, factors: &Factors, kind: Kind, text: &str, tally: &Tally<'_>) -> Result<(), CountError> {
        let tokens = tally.measure(text)?;
        self.mixed |= kind == Kind::Mixed;
        self.thousandths = self.thousandths.saturating_add(tokens.saturating_mul(i64::from(factors.of(kind))));
        Ok(())
    }
}

/// Counts a request.
pub(super) fn count(
    factors: &Factors,
    tool_prompt: Option<&ToolPrompt>,
    request: &Request,
    tally: &mut Tally<'_>,
) -> Result<Accuracy, CountError> {
    let mut scaled = Scaled::default();
    for (at, message) in request.messages.iter().enumerate() {
        for part in &message.content {
            tally.declared(part, &format!("message {}", at + 1));
            scaled.text(factors, Kind::of(part.as_text()), part.as_text(), tally)?;
        }
        for call in &message.calls {
            scaled.text(factors, Kind::Json, &call.name, tally)?;
            scaled.text(factors, Kind::Json, &call.arguments, tally)?;
        }
    }
    for tool in &request.tools {
        match tool {
            Tool::Function { name, description, parameters } => {
                scaled.text(factors, Kind::Json, &declared(name, description.as_deref(), parameters), tally)?;
            }
            Tool::Provided(name) => match PROVIDED.iter().find(|(known, _)| is_release(name, known)) {
                Some((_, tokens)) => tally.add(i64::from(*tokens)),
                None => tally.unknown(format!("the provider's own tool `{name}`")),
            },
        }
    }
    if !request.tools.is_empty() {
        match (tool_prompt, &request.choice) {
            (Some(prompt), ToolChoice::Auto | ToolChoice::None) => tally.add(i64::from(prompt.auto)),
            (Some(prompt), ToolChoice::Any | ToolChoice::Named(_)) => tally.add(i64::from(prompt.forced)),
            (None, _) => tally.unknown("the hidden prompt that tools bring with them, which differs by model".into()),
        }
    }
    tally.add(i64::from(factors.request));
    tally.add(scaled.thousandths.saturating_add(500) / 1000);
    Ok(if scaled.mixed { factors.one_factor } else { factors.by_kind })
}

/// `text_editor_20250728` is a release of `text_editor`.
fn is_release(name: &str, known: &str) -> bool {
    let release = name.strip_prefix(known);
    release.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('_').is_some_and(|date| date.bytes().all(|byte| byte.is_ascii_digit())))
}

/// A tool as the wire declares it. How it is rendered for the model is not published.
fn declared(name: &str, description: Option<&str>, parameters: &str) -> String {
    let quoted = |text: &str| Value::from(text).to_string();
    let description = description.map_or(String::new(), |text| format!(",\"description\":{}", quoted(text)));
    format!("{{\"name\":{}{description},\"input_schema\":{parameters}}}", quoted(name))
}
