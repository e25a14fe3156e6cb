//! The table: a row a family. Code reads the row, never a model's name.
//!
//! **To add a family**: a row with its sources, the day they were read and what they rest on; tests with its published figures.

use super::super::Encoding;
use super::chat::{ChatFrames, ToolRule};
use super::claude::Factors;
use super::count::{Accuracy, Basis};
use super::keys::KeyCosts;
use super::namespace::NamespaceCosts;

/// A model family and what is known of its bills.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// The encoding of its texts; of an estimate, the one that is scaled.
    pub encoding: Encoding,
    /// How far a count of a request whose shape was billed may lie from the bill.
    pub accuracy: Accuracy,
    /// What the figures rest on.
    pub basis: Basis,
    /// When they were billed, as far as the source says.
    pub billed: &'static str,
    /// The day on which the sources were read and their figures derived again.
    pub validated: &'static str,
    /// Where they stand.
    pub sources: &'static [&'static str],
    /// Dated releases whose bills were seen.
    pub billed_models: &'static [&'static str],
    /// Aliases whose bills were seen. Aliases move: one of them was billed 127 for a request in one month and 129 in another.
    pub billed_aliases: &'static [&'static str],
    /// Models without their release that are taken for relatives, of which no bill was seen.
    pub related: &'static [&'static str],
    pub(super) rule: Rule,
}

/// How a family counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// Frames around exact counts.
    Chat(ChatFrames),
    /// Factors by kind of content.
    Scaled(Factors),
}

const COOKBOOK: &str = "openai/openai-cookbook examples/How_to_count_tokens_with_tiktoken.ipynb @c81359cdc6744f001e40c08a192604c5113fdab3";
const COOKBOOK_OLD: &str =
    "openai/openai-cookbook examples/How_to_count_tokens_with_tiktoken.ipynb @06d9feb5e21e6fdc85f3ddce7731e05892758cd7";
const HMARR: &str =
    "hmarr/openai-chat-tokens src/index.ts, src/functions.ts, tests/token-counts.test.ts @b8e3b11d4f50174991f0adc17cabe9518173dbc9";
const CTOK: &str =
    "PyPI ctok 1.3.0, an unofficial reconstruction of Claude's tokenizers, against o200k_base on 12 windows of 2,500 characters a kind";

/// Section 7 of the notebook, for `gpt-4o` and `gpt-4o-mini`.
const KEYS_2024: KeyCosts = KeyCosts { function: 7, properties: 3, property: 3, values: -3, value: 3, end: 12 };
/// The same, for `gpt-4` and `gpt-3.5-turbo`.
const KEYS_2023: KeyCosts = KeyCosts { function: 10, ..KEYS_2024 };
/// Section 6: 3 a message, 1 a name, 3 for the reply. The corrections for calls are those of the bills that hmarr recorded.
const CHAT: ChatFrames =
    ChatFrames { message: 3, name: 1, reply: 3, function_role: -2, call: 3, calls_billed: false, tools: ToolRule::Keys(KEYS_2024) };

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "chat-2024-o200k",
        about: "GPT-4o and its relatives: frames of messages, and tools by key",
        encoding: Encoding::O200kBase,
        accuracy: Accuracy::Exact,
        basis: Basis::Executed,
        billed: "after 2024-08-06",
        validated: "2026-11-30",
        sources: &[COOKBOOK],
        billed_models: &["gpt-4o-2024-08-06", "gpt-4o-mini-2024-07-18"],
        billed_aliases: &["gpt-4o", "gpt-4o-mini"],
        related: &["gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano"],
        rule: Rule::Chat(CHAT),
    },
    Family {
        name: "chat-2023-cl100k",
        about: "GPT-4 and GPT-3.5 Turbo as billed in 2024: frames of messages, and tools by key",
        encoding: Encoding::Cl100kBase,
        accuracy: Accuracy::Exact,
        basis: Basis::Executed,
        billed: "after 2024-08-06",
        validated: "2026-11-30",
        sources: &[COOKBOOK],
        billed_models: &["gpt-4-0613", "gpt-3.5-turbo-0125"],
        billed_aliases: &["gpt-4", "gpt-3.5-turbo"],
        related: &["gpt-4-0314", "gpt-4-32k", "gpt-4-32k-0314", "gpt-4-32k-0613", "gpt-4-turbo", "gpt-4-1106-preview"],
        rule: Rule::Chat(ChatFrames { tools: ToolRule::Keys(KEYS_2023), ..CHAT }),
    },
    Family {
        name: "functions-2023-cl100k",
        about: "GPT-3.5 Turbo as billed in 2023, with functions shown as declarations in a namespace",
        encoding: Encoding::Cl100kBase,
        accuracy: Accuracy::Exact,
        basis: Basis::Measured,
        billed: "between 2023-06 and 2023-12",
        validated: "2026-12-01",
        sources: &[HMARR],
        // Of the two releases that took functions then, the tests name neither: they asked for the alias.
        billed_models: &[],
        billed_aliases: &[],
        related: &["gpt-3.5-turbo-0613", "gpt-3.5-turbo-16k-0613"],
        rule: Rule::Chat(ChatFrames {
            calls_billed: true,
            tools: ToolRule::Namespace(NamespaceCosts { namespace: 9, shared_system: -4, choice_none: 1, choice_named: 4 }),
            ..CHAT
        }),
    },
    Family {
        name: "gpt-3.5-turbo-0301",
        about: "the first chat model: four a message, and a name takes the role's place",
        encoding: Encoding::Cl100kBase,
        accuracy: Accuracy::Exact,
        basis: Basis::Executed,
        billed: "before 2023-06-13, and 2023-06 under the alias",
        validated: "2026-11-30",
        sources: &[COOKBOOK_OLD],
        billed_models: &["gpt-3.5-turbo-0301"],
        billed_aliases: &[],
        related: &[],
        rule: Rule::Chat(ChatFrames { message: 4, name: -1, tools: ToolRule::NoTools, ..CHAT }),
    },
    Family {
        name: "gpt-5",
        about: "GPT-5 by the rule of 2024, which counted 110 where 109 were billed",
        encoding: Encoding::O200kBase,
        accuracy: Accuracy::Tokens(1),
        basis: Basis::Executed,
        billed: "2025-11-16",
        validated: "2026-11-30",
        sources: &["pydantic/pydantic-ai pull request 3447"],
        billed_models: &["gpt-5-2025-08-07"],
        billed_aliases: &["gpt-5"],
        related: &["gpt-5-mini", "gpt-5-nano"],
        rule: Rule::Chat(CHAT),
    },
    Family {
        name: "anthropic",
        about: "an estimate for Claude 3 to 4.6: o200k_base times a factor by kind of content, and the hidden tool prompt",
        encoding: Encoding::O200kBase,
        accuracy: Accuracy::Percent(8),
        basis: Basis::Secondary,
        billed: "no bill: a reconstruction of the vendor's counts",
        validated: "2026-11-30",
        sources: &[CTOK],
        billed_models: &[],
        billed_aliases: &[],
        related: &[
            "claude-3-opus",
            "claude-3-sonnet",
            "claude-3-haiku",
            "claude-3-5-sonnet",
            "claude-3-5-haiku",
            "claude-haiku-3-5",
            "claude-3-7-sonnet",
            "claude-opus-4",
            "claude-sonnet-4",
            "claude-opus-4-1",
            "claude-opus-4-5",
            "claude-sonnet-4-5",
            "claude-haiku-4-5",
            "claude-opus-4-6",
            "claude-sonnet-4-6",
        ],
        rule: Rule::Scaled(Factors::CLAUDE_3),
    },
    Family {
        name: "anthropic-4.7",
        about: "an estimate for Claude 4.7: the newer tokenizer",
        encoding: Encoding::O200kBase,
        accuracy: Accuracy::Percent(15),
        basis: Basis::Secondary,
        billed: "no bill: a reconstruction of the vendor's counts",
        validated: "2026-11-30",
        sources: &[CTOK],
        billed_models: &[],
        billed_aliases: &[],
        related: &["claude-opus-4-7"],
        rule: Rule::Scaled(Factors::CLAUDE_4_7),
    },
    Family {
        name: "anthropic-4.8",
        about: "an estimate for Claude 4.8 and later: the tokenizer of 4.7 under a shorter frame",
        encoding: Encoding::O200kBase,
        accuracy: Accuracy::Percent(15),
        basis: Basis::Secondary,
        billed: "no bill: a reconstruction of the vendor's counts",
        validated: "2026-12-01",
        sources: &[CTOK],
        billed_models: &[],
        billed_aliases: &[],
        related: &[
            "claude-opus-4-8",
            "claude-opus-5",
            "claude-sonnet-5",
            "claude-fable-5",
            "claude-fable-5-1",
            "claude-opus-5-5",
            "claude-sonnet-5-5",
            "claude-haiku-5-5",
        ],
        rule: Rule::Scaled(Factors::CLAUDE_4_8),
    },
];
