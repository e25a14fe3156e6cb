//! A provider's rules, read from a dated file: `cache-rules/*.toml`, where each value has its source beside it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;

use super::usage::Lifetime;

/// The rules of one provider and the habits of one client.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// The day of the facts, `2026-11-30`.
    pub dated: String,
    /// What is not known, for people: printed with every range.
    pub doubt: Option<Arc<str>>,
    /// Whether the routing key is part of the match.
    pub key: Key,
    /// Lifetimes in seconds, the shorter first; none: kept for ever (capacity is not simulated).
    pub lifetimes: Vec<u64>,
    /// The shortest beginning that is kept, in tokens.
    pub minimum: Minimum,
    /// What is kept, and how it is found.
    pub rule: Rule,
    /// Where known clients set breakpoints, by name.
    #[serde(default)]
    pub clients: BTreeMap<String, Client>,
    /// The client that is simulated.
    pub client: Option<String>,
}

/// What a routing key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Key {
    /// Nothing.
    Ignored,
    /// Another key finds nothing.
    Matched,
    /// Another key finds nothing; without a key it is left to chance whether anything is found.
    Required,
}

/// The shortest beginning that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Minimum {
    /// For models that are not named.
    pub default: u64,
    /// By model: the longest name that the model's begins with.
    #[serde(default)]
    pub models: BTreeMap<String, u64>,
}

/// What is kept of a request, and how a later one finds it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Rule {
    /// Nothing is kept.
    None,
    /// Entries at marked segments; each breakpoint looks back over a few positions.
    Breakpoints {
        /// The most that a request may set.
        at_most: usize,
        /// Positions that a breakpoint looks at, itself included.
        look_back: usize,
        /// Whether a run of calls, or of results, is one position.
        runs_are_one: bool,
    },
    /// Entries at the latest message and at marked segments; earlier messages are read points.
    Messages {
        /// Marked segments that are written beside the latest message: the last ones.
        beside: usize,
        /// Marked segments that are written where the latest message is not.
        explicit: usize,
        /// Read points that are tried, the last ones: of two numbers the smaller is sure.
        candidates: [usize; 2],
    },
    /// The longest common beginning, in steps.
    LongestPrefix {
        /// Tokens of a step.
        step: u64,
        /// Whether it is found for sure. If not, the worst case is nothing.
        certain: bool,
        /// Whether the last token is always computed again.
        last_recomputed: bool,
    },
    /// Whole units: inputs, inputs with their answers, and beginnings that two requests had in common. The first lifetime bounds the
    /// worst case, the second the best.
    Units,
    /// As many requests as there are slots, each with its last prompt.
    Slots {
        /// How many.
        slots: usize,
        /// The least share of the prompt in common for a slot to be picked by likeness, in percent.
        likeness: u64,
    },
}

/// Where a client sets breakpoints: an assumption about it, named.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// The places.
    pub marks: Vec<Place>,
    /// How long what it writes lives.
    #[serde(default = "shorter")]
    pub lifetime: Lifetime,
    /// Whether the provider's own breakpoint at the latest message is left on, where it has one.
    #[serde(default = "yes")]
    pub implicit: bool,
}

fn shorter() -> Lifetime {
    Lifetime::Short
}

fn yes() -> bool {
    true
}

/// A place of a breakpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// The last tool definition.
    Tools,
    /// The last system block.
    System,
    /// The last segment that can carry one.
    Last,
}

/// Why there is no such profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// The name is not known.
    #[error("there are no cache rules `{name}`; known are {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A file that cannot be read as one; the message has its line.
    #[error("{0}")]
    File(String),
}

/// The profiles that are built in: name and file.
const BUILTIN: [(&str, &str); 12] = [
    ("anthropic", include_str!("../../cache-rules/anthropic.toml")),
    ("deepseek", include_str!("../../cache-rules/deepseek.toml")),
    ("google-implicit", include_str!("../../cache-rules/google-implicit.toml")),
    ("llama-cpp", include_str!("../../cache-rules/llama-cpp.toml")),
    ("none", include_str!("../../cache-rules/none.toml")),
    ("openai", include_str!("../../cache-rules/openai.toml")),
    ("openai-12h", include_str!("../../cache-rules/openai-12h.toml")),
    ("openai-before-5.6", include_str!("../../cache-rules/openai-before-5.6.toml")),
    ("openai-codex", include_str!("../../cache-rules/openai-codex.toml")),
    ("qwen-explicit", include_str!("../../cache-rules/qwen-explicit.toml")),
    ("sglang", include_str!("../../cache-rules/sglang.toml")),
    ("vllm", include_str!("../../cache-rules/vllm.toml")),
];

impl Profile {
    /// The names that are built in.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().map(|(name, _)| *name)
    }

    /// A built-in profile: `anthropic`, or with another client than its usual one, `anthropic/claude-code`.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn builtin(name: &str) -> Result<Arc<Profile>, ProfileError> {
        /// Those that were asked for: each file is read once a process.
        static READ: Mutex<BTreeMap<String, Arc<Profile>>> = Mutex::new(BTreeMap::new());
        let read = || READ.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = read().get(name) {
            return Ok(known.clone());
        }
        let profile = Arc::new(Profile::read(name)?);
        read().insert(name.to_owned(), profile.clone());
        Ok(profile)
    }

    fn read(name: &str) -> Result<Profile, ProfileError> {
        let (provider, client) = name.split_once('/').map_or((name, None), |(provider, client)| (provider, Some(client)));
        let unknown = |known: String| ProfileError::Unknown { name: name.to_owned(), known };
        let (_, text) =
            BUILTIN.iter().find(|(known, _)| *known == provider).ok_or_else(|| unknown(Profile::names().collect::<Vec<_>>().join(", ")))?;
        let mut profile = Profile::parse(text)?;
        if let Some(client) = client {
            if !profile.clients.contains_key(client) {
                return Err(unknown(profile.clients.keys().map(|client| format!("{provider}/{client}")).collect::<Vec<_>>().join(", ")));
            }
            profile.client = Some(client.to_owned());
        }
        Ok(profile)
    }

    /// Reads a profile.
    ///
    /// # Errors
    /// What is wrong with the text, with its line.
    pub fn parse(text: &str) -> Result<Profile, ProfileError> {
        let profile: Profile = toml::from_str(text).map_err(|why| ProfileError::File(why.to_string()))?;
        match profile.fault() {
            Some(fault) => Err(ProfileError::File(format!("{}: {fault}", profile.name))),
            None => Ok(profile),
        }
    }

    /// What the types cannot say.
    fn fault(&self) -> Option<&'static str> {
        if self.lifetimes.len() > 2 || !self.lifetimes.is_sorted() {
            return Some("at most two lifetimes, the shorter first");
        }
        if self.client.as_ref().is_some_and(|client| !self.clients.contains_key(client)) {
            return Some("the client is none of the clients");
        }
        match self.rule {
            Rule::LongestPrefix { step: 0, .. } => Some("a step has at least one token"),
            Rule::Slots { slots: 0, .. } => Some("there is at least one slot"),
            Rule::Breakpoints { look_back: 0, .. } => Some("a breakpoint looks at itself at least"),
            Rule::Units if self.lifetimes.len() != 2 => Some("units need two lifetimes"),
            Rule::Breakpoints { .. } | Rule::Messages { .. } if self.lifetimes.is_empty() => Some("entries need a lifetime"),
            _ => None,
        }
    }

    /// The shortest beginning that is kept for this model, in tokens.
    pub fn minimum_of(&self, model: &str) -> u64 {
        let named = self.minimum.models.iter().filter(|(name, _)| model.starts_with(name.as_str()));
        named.max_by_key(|(name, _)| name.len()).map_or(self.minimum.default, |(_, tokens)| *tokens)
    }

    /// The client that is simulated, if any.
    pub fn simulated(&self) -> Option<&Client> {
        self.client.as_ref().and_then(|client| self.clients.get(client))
    }
}
