//! Providers by name: address, wire, where the key stands.

use crate::model::wire::Wire;

/// A provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provider {
    /// Its name on the command line.
    pub name: &'static str,
    /// The wire that it speaks, unless another is asked for.
    pub wire: Wire,
    /// Where its wires begin; empty: it must be given.
    pub base_url: &'static str,
    /// The variable of the environment that holds its key.
    pub key_variable: &'static str,
    /// Whether it refuses requests without a key.
    pub needs_key: bool,
    /// Whether a chat's limit of output tokens is called `max_completion_tokens`.
    pub completion_limit: bool,
}

/// The providers that are known by name. Any other compatible one is reached with another base address.
pub const PROVIDERS: [Provider; 4] = [
    Provider {
        name: "openai",
        wire: Wire::Responses,
        base_url: "https://api.openai.com/v1",
        key_variable: "OPENAI_API_KEY",
        needs_key: true,
        completion_limit: true,
    },
    Provider {
        name: "anthropic",
        wire: Wire::Messages,
        base_url: "https://api.anthropic.com/v1",
        key_variable: "ANTHROPIC_API_KEY",
        needs_key: true,
        completion_limit: false,
    },
    Provider {
        name: "compatible",
        wire: Wire::Chat,
        base_url: "",
        key_variable: "CTXBENCH_API_KEY",
        needs_key: false,
        completion_limit: false,
    },
    Provider {
        name: "local",
        wire: Wire::Chat,
        base_url: "http://127.0.0.1:8000/v1",
        key_variable: "CTXBENCH_API_KEY",
        needs_key: false,
        completion_limit: false,
    },
];

/// The provider of a name.
pub fn provider(name: &str) -> Option<Provider> {
    PROVIDERS.into_iter().find(|provider| provider.name == name)
}
