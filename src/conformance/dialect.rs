//! The dialects: how the vectors of each system are read, answered and compared.

use super::codex::CODEX;
use super::difference::Difference;
use super::json::Json;
use super::{deerflow, learn_claude_code, maf, opencode};

/// One system's vectors.
pub struct Dialect {
    /// The system, as files name it.
    pub system: &'static str,
    /// Keys of a file's head beside those of every file.
    pub head: &'static [&'static str],
    /// What the product gives for a vector (a JSON object without labels and expectations): an object of the
    /// `expected_*` keys. The error says which field or value it cannot play.
    pub answer: fn(&str) -> Result<Json, String>,
    /// Where an answer differs from what is expected. The error names an expectation that nobody knows.
    pub differences: fn(&Json, &Json) -> Result<Vec<Difference>, String>,
}

/// Every dialect.
const ALL: &[Dialect] = &[CODEX, maf::DIALECT, opencode::DIALECT, deerflow::DIALECT, learn_claude_code::DIALECT];

/// The dialect of a system.
pub fn named(system: &str) -> Option<&'static Dialect> {
    ALL.iter().find(|dialect| dialect.system == system)
}

/// The systems, for people.
pub fn known() -> String {
    ALL.iter().map(|dialect| dialect.system).collect::<Vec<_>>().join(", ")
}
