//! The memo: each unique text is counted once a run, keyed by its content.

use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;

use crate::transcript::{Content, Digest, Item, Part, ToolSpec};

use super::frame::{ITEM_FRAME, header};
use super::{CountError, TokenCounter};

/// Tokens of something, and how many of its parts nobody can count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    /// Tokens, frame included.
    pub tokens: u32,
    /// Parts whose tokens are unknown: counted as 0 here and named in every figure that holds them.
    pub unknown_parts: u32,
}

/// What was done, for gates on exact counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Calls of the tokenizer.
    pub calls: u64,
    /// Bytes that it was given.
    pub bytes_tokenised: u64,
    /// Bytes of the distinct texts that were asked for.
    pub unique_bytes: u64,
}

#[derive(Default)]
struct Memo {
    tokens: FxHashMap<Digest, u32>,
    counters: Counters,
}

/// Counts parts, items and tools in one encoding; shared by all cells and threads of a run.
#[derive(Clone)]
pub struct Meter {
    counter: Arc<dyn TokenCounter>,
    memo: Arc<Mutex<Memo>>,
}

impl Meter {
    /// A meter with an empty memo.
    pub fn new(counter: Arc<dyn TokenCounter>) -> Meter {
        Meter { counter, memo: Arc::default() }
    }

    /// What was done so far.
    pub fn counters(&self) -> Counters {
        self.memo.lock().map(|memo| memo.counters).unwrap_or_default()
    }

    fn text(&self, digest: Digest, text: &str) -> Result<u32, CountError> {
        if text.is_empty() {
            return Ok(0);
        }
        let mut memo = self.memo.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(&tokens) = memo.tokens.get(&digest) {
            return Ok(tokens);
        }
        let tokens = u32::try_from(self.counter.count(text)?).unwrap_or(u32::MAX);
        memo.tokens.insert(digest, tokens);
        memo.counters.calls += 1;
        memo.counters.bytes_tokenised += text.len() as u64;
        memo.counters.unique_bytes += text.len() as u64;
        Ok(tokens)
    }

    /// Tokens of a part; `None`: unknown.
    pub fn part(&self, part: &Part) -> Result<Option<u32>, CountError> {
        match part.content() {
            Content::Text(text) => self.text(part.digest(), text).map(Some),
            Content::Image { tokens, .. } | Content::File { tokens, .. } | Content::Opaque { tokens, .. } => Ok(*tokens),
        }
    }

    /// Tokens of an item as it is sent; an item that no model reads weighs nothing.
    pub fn item(&self, item: &Item) -> Result<Weight, CountError> {
        if !item.is_sent() {
            return Ok(Weight::default());
        }
        let header = header(item);
        let mut weight = Weight { tokens: ITEM_FRAME + self.text(Digest::of(&header), &header)?, unknown_parts: 0 };
        for part in item.parts() {
            match self.part(part)? {
                Some(tokens) => weight.tokens += tokens,
                None => weight.unknown_parts += 1,
            }
        }
        Ok(weight)
    }

    /// Tokens of a tool's schema as it is sent.
    pub fn tool(&self, tool: &ToolSpec) -> Result<u32, CountError> {
        Ok(ITEM_FRAME + self.text(Digest::of("tool"), "tool")? + self.part(&tool.schema)?.unwrap_or(0))
    }

    /// Tokens of a system text as it is sent.
    pub fn system(&self, system: &Part) -> Result<u32, CountError> {
        Ok(ITEM_FRAME + self.text(Digest::of("system"), "system")? + self.part(system)?.unwrap_or(0))
    }
}
