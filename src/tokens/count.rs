//! Encodings and the engines that count them.

use std::fmt;
use std::sync::Arc;

/// An encoding: which tokens. Encodings are never mixed in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Encoding {
    /// `o200k_base` (GPT-4o and later).
    #[default]
    O200kBase,
    /// `cl100k_base` (GPT-4, GPT-3.5).
    Cl100kBase,
}

impl Encoding {
    /// Its name, as in every file.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::O200kBase => "o200k_base",
            Encoding::Cl100kBase => "cl100k_base",
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Why a text was not counted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CountError {
    /// Above the size up to which counting is exact and bounded.
    #[error("a text of {bytes} bytes is above the {limit} bytes that are counted exactly: split it, or declare its tokens")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
}

/// Counts the tokens of a text as ordinary text (no special tokens), exactly.
pub trait TokenCounter: Send + Sync {
    /// Tokens of a text.
    fn count(&self, text: &str) -> Result<u64, CountError>;
    /// Engine and version, for `--engine` and the fingerprint.
    fn id(&self) -> &'static str;
}

struct Tiktoken(&'static tiktoken::CoreBpe);

impl TokenCounter for Tiktoken {
    fn count(&self, text: &str) -> Result<u64, CountError> {
        Ok(self.0.count(text) as u64)
    }
    fn id(&self) -> &'static str {
        "tiktoken"
    }
}

/// The default engine for an encoding.
pub fn counter(encoding: Encoding) -> Arc<dyn TokenCounter> {
    // The crate names both encodings, so the look-up cannot miss.
    Arc::new(Tiktoken(tiktoken::get_encoding(encoding.name()).expect("both vocabularies are compiled in")))
}
