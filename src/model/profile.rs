//! Windows and latency of the models that simulated and held runs may take (`--as`).
//!
//! Windows: input limits of the price table of 2026-11-30 (litellm 1.110.2). Latency: illustrations, not predictions,
//! derived from measured medians of autumn 2026 (10,000 input tokens, vendors' own API); a report prints the name.

/// How long an exchange lasts: `ttft + uncached / prefill + cached / cached_prefill + output / decode`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latency {
    /// Its name.
    pub name: &'static str,
    /// Time to the first token without any input, in milliseconds.
    pub ttft_ms: f64,
    /// Uncached input tokens a second.
    pub prefill: f64,
    /// The same for the tokens above 64,000, where the source gives another rate.
    pub prefill_above_64k: f64,
    /// Cached input tokens a second.
    pub cached_prefill: f64,
    /// Output tokens a second.
    pub decode: f64,
}

/// The profiles, by name.
pub const LATENCIES: [Latency; 3] = [
    Latency {
        name: "fast-small",
        ttft_ms: 450.0,
        prefill: 34_000.0,
        prefill_above_64k: 34_000.0,
        cached_prefill: 100_000.0,
        decode: 130.0,
    },
    Latency { name: "frontier", ttft_ms: 500.0, prefill: 25_000.0, prefill_above_64k: 11_000.0, cached_prefill: 50_000.0, decode: 100.0 },
    Latency { name: "local", ttft_ms: 120.0, prefill: 6_000.0, prefill_above_64k: 5_000.0, cached_prefill: f64::INFINITY, decode: 118.0 },
];

/// The default latency profile.
pub const FRONTIER: Latency = LATENCIES[1];

impl Latency {
    /// Whole milliseconds of one exchange, at least 1.
    pub fn exchange_ms(&self, uncached: u64, cached: u64, output: u64) -> u64 {
        let low = uncached.min(64_000) as f64;
        let high = uncached.saturating_sub(64_000) as f64;
        let seconds =
            low / self.prefill + high / self.prefill_above_64k + cached as f64 / self.cached_prefill + output as f64 / self.decode;
        ((self.ttft_ms + seconds * 1000.0).round() as u64).max(1)
    }
}

/// A model whose window (and, later, prices and cache rules) a run takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelProfile {
    /// Its name for `--as`.
    pub name: &'static str,
    /// Input tokens that it accepts.
    pub window: u64,
    /// Its latency profile.
    pub latency: Latency,
    /// Its provider's prompt cache, as [`crate::cache::Profile::builtin`] names the rules; `None`: no rules are known that could
    /// be simulated.
    pub cache: Option<&'static str>,
}

const fn profile(name: &'static str, window: u64, latency: usize, cache: Option<&'static str>) -> ModelProfile {
    ModelProfile { name, window, latency: LATENCIES[latency], cache }
}

const ANTHROPIC: Option<&str> = Some("anthropic");
const OPENAI: Option<&str> = Some("openai");
const OPENAI_BEFORE: Option<&str> = Some("openai-before-5.6");
const GOOGLE: Option<&str> = Some("google-implicit");

/// The models that `--as` knows, beside `none`.
pub const MODELS: [ModelProfile; 20] = [
    profile("gpt-6-sol", 922_000, 1, OPENAI),
    profile("gpt-6-astra", 922_000, 1, OPENAI),
    profile("gpt-6.1-sol", 922_000, 1, OPENAI),
    profile("gpt-6.1-terra", 922_000, 1, OPENAI),
    profile("gpt-6-luna", 922_000, 0, OPENAI),
    profile("gpt-5.6", 922_000, 1, OPENAI),
    profile("gpt-5.5", 1_050_000, 1, OPENAI_BEFORE),
    profile("gpt-5.4-mini", 272_000, 0, OPENAI_BEFORE),
    profile("gpt-4.1", 1_047_576, 1, OPENAI_BEFORE),
    profile("gpt-4o-mini", 128_000, 0, OPENAI_BEFORE),
    profile("claude-fable-5-1", 1_000_000, 1, ANTHROPIC),
    profile("claude-opus-5-5", 1_000_000, 1, ANTHROPIC),
    profile("claude-opus-5", 1_000_000, 1, ANTHROPIC),
    profile("claude-sonnet-5-5", 1_000_000, 1, ANTHROPIC),
    profile("claude-sonnet-5", 1_000_000, 1, ANTHROPIC),
    profile("claude-haiku-5-5", 1_000_000, 0, ANTHROPIC),
    profile("claude-haiku-4-5", 200_000, 0, ANTHROPIC),
    profile("gemini-4-argon", 1_048_576, 1, GOOGLE),
    profile("gemini-3.8-flash", 1_048_576, 0, GOOGLE),
    profile("grok-4.7", 500_000, 1, None),
];

/// The named profile.
pub fn model_profile(name: &str) -> Option<ModelProfile> {
    MODELS.into_iter().find(|model| model.name == name)
}
