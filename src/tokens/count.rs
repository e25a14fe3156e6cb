//! The engines that count, by name, and the limits within which they are exact.

use std::sync::Arc;

use super::encoding::{Encoding, UnknownName};
use super::merge::merges;
use super::pieces::{all_short, pieces};

/// Pieces of at most twice as many bytes are left to the engines.
const LONG: usize = 16 * 1024;

/// The largest text that is counted, in bytes (64 MiB). Up to here every text, whatever it holds, is counted exactly, in
/// near-linear time and with a few MB of memory beside the vocabulary.
pub const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Why something was not counted.
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
    /// A sum that its type cannot hold.
    #[error("the tokens of {what} are more than {} together: check the tokens that its parts declare", u32::MAX)]
    Overflow {
        /// What was being summed.
        what: String,
    },
    /// A size that has to be known and is not.
    #[error("the tokens of {what} are unknown: it is no text and declares none; declare them, or give it as text")]
    Unknown {
        /// What nobody can count.
        what: String,
    },
}

/// Counts the tokens of a text as ordinary text, exactly: what spells a special token is text like any other, because that
/// is how providers take the content of messages.
pub trait TokenCounter: Send + Sync {
    /// Tokens of a text.
    fn count(&self, text: &str) -> Result<u64, CountError>;
    /// The engine's name, as `--engine` takes it.
    fn id(&self) -> &'static str;
}

/// The engines. Both are exact, so a run's figures never depend on which one counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Engine {
    /// The crate `tiktoken`: the faster one.
    #[default]
    Tiktoken,
    /// The crate `tiktoken-rs`, a port of the reference implementation.
    TiktokenRs,
}

impl Engine {
    const ALL: [Engine; 2] = [Engine::Tiktoken, Engine::TiktokenRs];

    fn name(self) -> &'static str {
        match self {
            Engine::Tiktoken => "tiktoken",
            Engine::TiktokenRs => "tiktoken-rs",
        }
    }

    /// Whether an engine counts a text safely and fast. What it is not good at is counted by [`super::merge`].
    ///
    /// On a piece of about a megabyte `tiktoken-rs` panics (white space) and `tiktoken` takes 24 times its size in memory.
    /// `tiktoken` reads ASCII and the common Chinese, Japanese and Korean characters by hand, everything else by a regex
    /// that on mixed scripts and binary rubbish falls to 0.1 MB/s.
    fn is_good_at(self, text: &str) -> bool {
        let mostly_ascii = || text.bytes().filter(|byte| !byte.is_ascii()).count() <= text.len() / 32;
        text.len() <= LONG || (all_short(text, LONG) && (self == Engine::TiktokenRs || mostly_ascii()))
    }

    /// Counts a text without long pieces. The first count of an encoding loads its vocabulary.
    fn count(self, encoding: Encoding, text: &str) -> u64 {
        let tokens = match self {
            Engine::Tiktoken => tiktoken_core(encoding).count(text),
            Engine::TiktokenRs => match encoding {
                Encoding::O200kBase => tiktoken_rs::o200k_base_singleton().count_ordinary(text),
                Encoding::Cl100kBase => tiktoken_rs::cl100k_base_singleton().count_ordinary(text),
            },
        };
        tokens as u64
    }
}

/// The vocabulary of an encoding, loaded on first use.
pub(super) fn tiktoken_core(encoding: Encoding) -> &'static tiktoken::CoreBpe {
    tiktoken::get_encoding(encoding.name()).expect("Cargo.toml compiles both vocabularies in, under these names")
}

struct Counter {
    engine: Engine,
    encoding: Encoding,
}

impl TokenCounter for Counter {
    fn count(&self, text: &str) -> Result<u64, CountError> {
        if text.len() > MAX_BYTES {
            return Err(CountError::TooLarge { bytes: text.len(), limit: MAX_BYTES });
        }
        if self.engine.is_good_at(text) {
            return Ok(self.engine.count(self.encoding, text));
        }
        Ok(merged(self.encoding, text))
    }

    fn id(&self) -> &'static str {
        self.engine.name()
    }
}

/// Counts any text, by pieces and merges.
pub(super) fn merged(encoding: Encoding, text: &str) -> u64 {
    let merges = merges(encoding);
    pieces(encoding, text).map(|piece| merges.count(piece.as_bytes())).sum()
}

/// The default engine for an encoding. Nothing is loaded until it counts.
///
/// In builds without optimisation its first count on a thread needs 1.3 MB of stack; the 2 MB that Rust's threads have
/// unless told otherwise are enough.
pub fn counter(encoding: Encoding) -> Arc<dyn TokenCounter> {
    Arc::new(Counter { engine: Engine::default(), encoding })
}

/// The named engine for an encoding. Nothing is loaded until it counts.
pub fn counter_by_name(encoding: Encoding, engine: &str) -> Result<Arc<dyn TokenCounter>, UnknownName> {
    match Engine::ALL.into_iter().find(|known| known.name() == engine) {
        Some(engine) => Ok(Arc::new(Counter { engine, encoding })),
        None => Err(UnknownName::new("engine", engine, Engine::ALL.map(Engine::name))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [&str; 2] = ["tiktoken", "tiktoken-rs"];

    #[test]
    fn an_engine_is_found_by_its_name_or_the_error_says_which_there_are() {
        fn check(name: &str, expect: Result<&str, &str>) {
            let engine = counter_by_name(Encoding::O200kBase, name);
            assert_eq!(engine.map(|engine| engine.id()).map_err(|error| error.to_string()), expect.map_err(str::to_owned), "{name}");
        }
        check("tiktoken", Ok("tiktoken"));
        check("tiktoken-rs", Ok("tiktoken-rs"));
        check("tiktoken_rs", Err("there is no engine `tiktoken_rs`: did you mean `tiktoken-rs`? (known: tiktoken, tiktoken-rs)"));
        check("bpe", Err("there is no engine `bpe` (known: tiktoken, tiktoken-rs)"));
        assert_eq!(counter(Encoding::Cl100kBase).id(), "tiktoken");
    }

    #[test]
    fn what_spells_a_special_token_is_ordinary_text() {
        fn check(text: &str, expect: u64) {
            for encoding in Encoding::ALL {
                for engine in BOTH {
                    assert_eq!(counter_by_name(encoding, engine).unwrap().count(text), Ok(expect), "{engine}, {encoding}: {text}");
                }
            }
        }
        // Python tiktoken 0.14.0, `encode_ordinary`.
        check("<|endoftext|>", 7);
        check("<|im_start|>user\nhi<|im_end|>", 15);
    }

    #[test]
    fn a_text_above_the_limit_is_refused() {
        let text = " ".repeat(MAX_BYTES + 1);
        let error = counter(Encoding::O200kBase).count(&text).unwrap_err();
        assert_eq!(error, CountError::TooLarge { bytes: 67_108_865, limit: 67_108_864 });
        assert_eq!(
            error.to_string(),
            "a text of 67108865 bytes is above the 67108864 bytes that are counted exactly: split it, or declare its tokens"
        );
    }

    /// One piece of this size makes `tiktoken-rs` panic.
    #[test]
    fn a_megabyte_of_spaces_before_a_letter() {
        let text = " ".repeat(1_200_000) + "x";
        // 128 spaces are one token and 127 are two: 1,199,999 = 9,374 * 128 + 127, then " x".
        assert_eq!(counter_by_name(Encoding::O200kBase, "tiktoken-rs").unwrap().count(&text), Ok(9_377));
    }

    /// A thread's first count takes most of the stack that threads get: `tiktoken` builds a table of 1.2 MB there.
    #[test]
    fn a_thread_with_the_usual_stack_can_count() {
        for engine in BOTH {
            let count = move || counter_by_name(Encoding::Cl100kBase, engine).unwrap().count("antidisestablishmentarianisms \u{e9}\u{301}");
            let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(count).unwrap();
            assert_eq!(thread.join().unwrap(), Ok(8), "{engine}");
        }
    }
}
