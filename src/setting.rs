//! What a run is given beside its strategy and its model: the world that tools meet, the user's messages, the harness's
//! limits, the provider's prompt cache.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cache::Profile;
use crate::transcript::{Item, Recorded, ToolCall};

/// What ordinary tools meet: shared by all threads of a run, mutable.
pub trait World {
    /// Answers a call of an ordinary tool.
    fn call(&mut self, call: &ToolCall) -> Recorded;
    /// Writes a file.
    fn write(&mut self, path: &str, text: &str);
    /// Its files by path, as they stand now: what a strategy can look up without a tool call.
    fn files(&self) -> &BTreeMap<String, String> {
        &NO_FILES
    }
}

static NO_FILES: BTreeMap<String, String> = BTreeMap::new();

/// A message of the user for the root.
#[derive(Clone, Debug)]
pub struct UserInput {
    /// When it comes.
    pub when: UserTime,
    /// What it holds, in order.
    pub items: Vec<Item>,
}

/// When a user message comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserTime {
    /// When the root is idle and every child that the run waits for has ended.
    Settled,
    /// At this virtual millisecond, whatever is going on (a correction).
    At(u64),
}

/// The harness's limits: refusals, never panics. All counts are inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ceilings {
    /// Exchanges of one turn.
    pub rounds: u32,
    /// Depth of a child; 1: the root may have children, they may not.
    pub depth: u32,
    /// Threads of a run, the root included.
    pub threads: u32,
    /// Input and output tokens of a run, all threads together.
    pub tokens: u64,
}

impl Default for Ceilings {
    fn default() -> Ceilings {
        Ceilings { rounds: 500, depth: 8, threads: 256, tokens: 200_000_000 }
    }
}

/// Whose prompt cache a run meets.
#[derive(Clone, Debug)]
pub struct PromptCache {
    /// The provider's rules.
    pub rules: Arc<Profile>,
    /// The model, which a cache is always of.
    pub model: String,
    /// Whose routing key a thread sends.
    pub keys: CacheKeys,
    /// Whether the root's history lies in the cache when the run begins.
    pub warm: bool,
}

/// Which routing key the threads of a run send, where the provider has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheKeys {
    /// One for the whole run.
    #[default]
    Run,
    /// Each thread its own: what a client does that takes its session's id.
    Thread,
}
