//! The pieces of a request, as a prompt cache sees them.

use std::cmp::Ordering;

/// What a segment is. The order of a request is the provider's: tools, then system, then items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A tool's definition, or all of them as one.
    Tools,
    /// A block of the system prompt.
    System,
    /// What changes the cache from here on without being text: effort, thinking parameters, a tool choice. It has no tokens and
    /// stands where the provider puts it; another value is another identity.
    Setting,
    /// A user message or a block of one.
    User,
    /// A model's text.
    Assistant,
    /// A model's reasoning. It is cached with the rest and cannot carry a breakpoint.
    Thinking,
    /// A call of a tool.
    ToolUse,
    /// A result of a tool.
    ToolResult,
}

impl Kind {
    /// Whether the segment stands before the items.
    pub fn is_start(self) -> bool {
        matches!(self, Kind::Tools | Kind::System)
    }

    /// Whether a breakpoint may stand on it (Anthropic's page: thinking blocks cannot be marked; a setting is no block).
    pub fn can_be_marked(self) -> bool {
        !matches!(self, Kind::Thinking | Kind::Setting)
    }
}

/// One piece of a request: what is counted as one and compared as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Segment {
    /// Digest of everything that the provider is sent for it, header included: equal digests, equal text.
    pub id: u128,
    /// Its tokens.
    pub tokens: u64,
    /// What it is.
    pub kind: Kind,
}

/// What two differing segments have in common, from their beginnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Common {
    /// Tokens of the common beginning, up to a safe boundary.
    pub tokens: u64,
    /// Bytes that were looked at to know.
    pub bytes: u64,
    /// Which of the two comes first, by the first token that differs.
    pub order: Ordering,
}

/// The texts behind the segments: the cache asks for them only where two requests part.
///
/// The order must be a strict total order of the token sequences (that of their first difference; a beginning comes before what goes
/// on), and `tokens` the length of the common beginning in the same sequences: then the nearest request is a neighbour in the order,
/// and one look to each side is exact.
pub trait Texts {
    /// Compares two differing segments.
    fn common(&self, a: &Segment, b: &Segment) -> Common;
}

/// No texts: differing segments share nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct WholeSegments;

impl Texts for WholeSegments {
    fn common(&self, a: &Segment, b: &Segment) -> Common {
        Common { tokens: 0, bytes: 0, order: a.cmp(b) }
    }
}
