//! The pure history filters: what a copy of a parent's history makes of calls that nobody has answered yet.
//!
//! When a parent delegates, the delegating call itself has no result, and other calls of the same reply may have none.
//! Real systems treat them in six ways, each a [`Rule`] here. A filter is a function of the history alone; it copies
//! pointers ([`Item::inherited`]), never text, and what it returns is a value: later changes in the parent do not reach
//! it. All keep the order of items.
//!
//! **In flight** is a call without a result that is listed as such or stands in the turn in progress (at or after
//! `own`). What dangled in the parent's history before, and is not listed, is the parent's own and goes down as it
//! stood: no filter adds a call without a result, or a result without a call, that its input did not have.
//!
//! Hidden items and records that no model reads go down as they are, marked as they were.

mod pairs;
mod rules;

use std::fmt;

use crate::transcript::{CallKey, Item};

pub(in crate::strategy) use pairs::OpenCalls;
pub use rules::{PLACEHOLDER, drop_call, drop_tools, finished_turn, forward, placeholder, pop_message};

/// Room behind a copy for its task and for what the child writes: most children write little, and a list that has no room left is
/// copied once more.
pub(in crate::strategy) const ROOM: usize = 16;

/// What becomes of the calls in flight in a copied history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// Calls in flight are left out; the text beside them stays (DeerFlow at f649aa8, Strands 1.62.0).
    #[default]
    DropCall,
    /// The whole assistant message that made them is left out (deepagents 0.7.32).
    PopMessage,
    /// The turn in progress is left out (DeepSeek's harness at 47f9438).
    FinishedTurn,
    /// Each is answered by a made-up result, so that the copy begins exactly as the parent's history (Qwen Code).
    Placeholder,
    /// Every call and every result of the history is left out (OpenAI Agents SDK 0.24.0, `remove_all_tools`).
    DropTools,
    /// Everything goes down as it is, calls in flight too (OpenAI Agents SDK 0.24.0, a hand-off's default).
    Forward,
}

impl Rule {
    /// Every rule, the default first.
    pub const ALL: [Rule; 6] = [Rule::DropCall, Rule::PopMessage, Rule::FinishedTurn, Rule::Placeholder, Rule::DropTools, Rule::Forward];

    /// Its name in strategy specs.
    pub const fn name(self) -> &'static str {
        match self {
            Rule::DropCall => "drop-call",
            Rule::PopMessage => "pop-message",
            Rule::FinishedTurn => "finished-turn",
            Rule::Placeholder => "placeholder",
            Rule::DropTools => "drop-tools",
            Rule::Forward => "forward",
        }
    }

    /// The rule of this name.
    pub fn named(name: &str) -> Option<Rule> {
        Rule::ALL.into_iter().find(|rule| rule.name() == name)
    }

    /// Whether a call in flight may reach the copy without a result. Providers refuse such a request.
    pub const fn may_dangle(self) -> bool {
        matches!(self, Rule::Forward)
    }

    /// Whether the copy may hold items that the history does not (never anything but results for calls in flight).
    pub const fn injects(self) -> bool {
        matches!(self, Rule::Placeholder)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The history as a rule hands it down. `in_flight` are calls without a result; the turn in progress begins at `own`
/// (a position after the end means at the end).
pub fn apply(rule: Rule, items: &[Item], in_flight: &[CallKey], own: usize) -> Vec<Item> {
    match rule {
        Rule::DropCall => drop_call(items, in_flight, own),
        Rule::PopMessage => pop_message(items, in_flight, own),
        Rule::FinishedTurn => finished_turn(items, in_flight, own),
        Rule::Placeholder => placeholder(items, in_flight, own),
        Rule::DropTools => drop_tools(items),
        Rule::Forward => forward(items),
    }
}
