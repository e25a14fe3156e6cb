//! What real APIs bill around the content of a request: dated tables by model family.
//!
//! A run counts with the project's own frame ([`super::header`]), which is the same for every strategy. A provider bills more:
//! frames of messages, its rendering of tool schemas, a hidden prompt. Each [`Framing`] is a row of published figures with their
//! sources; it counts a [`Request`] and says how far the count can be trusted: exact where a bill of such a request was
//! reproduced, with a stated error, or with none that anybody states. What nobody can count stays unknown and is never 0.
//!
//! ```
//! use ctxbench::tokens::counter;
//! use ctxbench::tokens::framing::{Framing, Message, Request};
//!
//! let framing = Framing::of_model("gpt-4o-2024-08-06").expect("a family that is known");
//! let request = Request { messages: vec![Message::new("user", "hello")], ..Request::default() };
//! let count = framing.count_request(&*counter(framing.encoding()), &request)?;
//! assert_eq!((count.tokens(), count.exact()), (Some(8), true));
//! # Ok::<(), ctxbench::tokens::CountError>(())
//! ```

mod chat;
mod claude;
mod count;
mod families;
mod keys;
mod kind;
mod models;
mod namespace;
mod request;
mod schema;

#[cfg(test)]
mod tests;

pub use claude::{Factors, TOOL_PROMPTS, ToolPrompt};
pub use count::{Accuracy, Basis, FramedCount};
pub use families::Family;
pub use kind::Kind;
pub use request::{Call, Message, Request, Tool, ToolChoice};

use super::{CountError, Encoding, TokenCounter, UnknownName};
use count::Tally;
use families::{FAMILIES, Rule};
use models::{bare, undated};

/// How surely a family's figures hold for the model that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    /// The family itself was asked for, or a dated release whose bills were seen.
    Seen,
    /// An alias whose bills were seen; it may have moved since.
    Alias,
    /// A relative of which no bill was seen.
    Related,
}

/// The figures of one model family.
#[derive(Clone, Copy, Debug)]
pub struct Framing {
    family: &'static Family,
    held: Held,
    tool_prompt: Option<&'static ToolPrompt>,
}

impl Framing {
    /// Every family, in the order of the table.
    pub fn all() -> impl Iterator<Item = Framing> {
        FAMILIES.iter().map(|family| Framing { family, held: Held::Seen, tool_prompt: None })
    }

    /// A family by its name. Of a family of Claude models the hidden tool prompt differs by model, so requests with tools need
    /// [`Framing::of_model`] to be known as a whole.
    ///
    /// # Errors
    /// No family goes by this name.
    pub fn named(name: &str) -> Result<Framing, UnknownName> {
        let found = Framing::all().find(|framing| framing.name() == name);
        found.ok_or_else(|| UnknownName::new("framing", name, Framing::all().map(Framing::name).collect::<Vec<_>>()))
    }

    /// The family of a model, by the name under which a request asks for it; a provider before it (`openai/`, `us.anthropic.`)
    /// changes nothing. `None`: nothing was published that would place it. No rule is guessed from a name's likeness.
    pub fn of_model(model: &str) -> Option<Framing> {
        let (model, base) = (bare(model), undated(model));
        let place = |family: &Family| {
            if family.billed_models.contains(&model) {
                Some(Held::Seen)
            } else if family.billed_aliases.contains(&model) {
                Some(Held::Alias)
            } else {
                (family.related.contains(&model) || family.related.contains(&base)).then_some(Held::Related)
            }
        };
        let (family, held) = FAMILIES.iter().find_map(|family| Some((family, place(family)?)))?;
        Some(Framing { family, held, tool_prompt: ToolPrompt::of_model(base) })
    }

    /// The family's name.
    pub fn name(self) -> &'static str {
        self.family.name
    }

    /// Its figures' sources, days and basis.
    pub fn family(self) -> &'static Family {
        self.family
    }

    /// The encoding that a counter must have. For an estimate it is the one that the factors scale.
    pub fn encoding(self) -> Encoding {
        self.family.encoding
    }

    /// The hidden prompt that tools bring with them, if this model's is known.
    pub fn tool_prompt(self) -> Option<&'static ToolPrompt> {
        self.tool_prompt
    }

    /// Counts a request as this family bills its input. `counter` counts in [`Framing::encoding`].
    ///
    /// # Errors
    /// A text above the size that is counted.
    pub fn count_request(self, counter: &dyn TokenCounter, request: &Request) -> Result<FramedCount, CountError> {
        let mut tally = Tally::new(counter);
        match self.held {
            Held::Seen => {}
            Held::Alias => tally.doubt("the name is an alias, which may have moved to another release since it was billed so"),
            Held::Related => tally.doubt("no bill of this model was seen: its family's figures are assumed"),
        }
        let accuracy = match &self.family.rule {
            Rule::Chat(frames) => chat::count(frames, self.family.accuracy, request, &mut tally)?,
            Rule::Scaled(factors) => claude::count(factors, self.tool_prompt, request, &mut tally)?,
        };
        Ok(tally.count(accuracy, self.family.basis))
    }
}
