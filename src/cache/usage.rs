//! What a request's input was, to the cache.

use std::ops::AddAssign;

/// How long a written beginning lives. A provider has at most two lifetimes; the profile says how long each is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lifetime {
    /// The provider's shorter one: 5 minutes (Anthropic), 30 minutes (OpenAI).
    Short,
    /// The longer one: 1 hour (Anthropic), 12 hours (OpenAI).
    Long,
}

/// Input tokens by what the cache did with them. Their sum is the request's input, always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Read from the cache.
    pub read: u64,
    /// Written, to live for the shorter lifetime.
    pub write_short: u64,
    /// Written, to live for the longer lifetime.
    pub write_long: u64,
    /// Neither. Where writing is free of charge, what was written stands here.
    pub uncached: u64,
}

impl Usage {
    /// All input.
    pub fn input(&self) -> u64 {
        self.read + self.written() + self.uncached
    }

    /// Written, for either lifetime.
    pub fn written(&self) -> u64 {
        self.write_short + self.write_long
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.read += other.read;
        self.write_short += other.write_short;
        self.write_long += other.write_long;
        self.uncached += other.uncached;
    }
}
