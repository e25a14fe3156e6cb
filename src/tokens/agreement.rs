//! Whether all ways of counting agree: with each other, and with Python tiktoken.

use proptest::collection::vec;
use proptest::prelude::*;
use serde::Deserialize;

use super::count::merged;
use super::{Encoding, counter_by_name};

/// A line of `fixtures/tokens/counts.json`.
#[derive(Deserialize)]
struct Known {
    name: String,
    #[serde(default)]
    text: String,
    /// A long run instead of a text: this unit, so often, with something behind it.
    #[serde(default)]
    unit: String,
    #[serde(default)]
    times: usize,
    #[serde(default)]
    then: String,
    o200k_base: u64,
    cl100k_base: u64,
}

#[test]
fn python_tiktoken_counts_the_same() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/tokens/counts.json");
    let all: Vec<Known> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(all.len() > 450, "{path} has lost lines");
    for known in all {
        let text = known.text + &known.unit.repeat(known.times) + &known.then;
        for (encoding, expect) in [(Encoding::O200kBase, known.o200k_base), (Encoding::Cl100kBase, known.cl100k_base)] {
            for engine in ["tiktoken", "tiktoken-rs"] {
                let counted = counter_by_name(encoding, engine).unwrap().count(&text);
                assert_eq!(counted, Ok(expect), "{engine}, {encoding}, {}: {:?}", known.name, text.get(..200));
            }
            assert_eq!(merged(encoding, &text), expect, "merged, {encoding}, {}: {:?}", known.name, text.get(..200));
        }
    }
}

/// Texts on which tokenizers differ: characters from everywhere, pieces that meet at random, runs.
pub(super) fn any_text() -> impl Strategy<Value = String> {
    let fragment = proptest::sample::select(vec![
        "'s",
        "'S",
        "'re",
        "'VE",
        "'ll",
        "'\u{17f}",
        "'",
        " ",
        "  ",
        "\t",
        "\n",
        "\r\n",
        "\r",
        " \n",
        "\u{a0}",
        "\u{3000}",
        "\u{2028}",
        "\u{b}",
        "\u{1f}",
        "\u{200b}",
        "a",
        "the",
        "Hello",
        "WORLD",
        "aB",
        "\u{e9}",
        "\u{1c5}",
        "\u{2b0}",
        "\u{130}",
        "\u{436}",
        "\u{5d0}",
        "\u{915}",
        "1",
        "345",
        "\u{b2}",
        "\u{663}",
        "\u{2167}",
        ".",
        "/",
        "!",
        "-",
        "(",
        "{",
        "\"",
        "\\",
        "|",
        "<|",
        "\u{2014}",
        "\u{3002}",
        "\u{4f60}",
        "\u{3042}",
        "\u{30fc}",
        "\u{ac00}",
        "\u{ff21}",
        "\u{301}",
        "\u{93f}",
        "\u{20dd}",
        "\u{fe0f}",
        "\u{200d}",
        "\u{1f600}",
        "\u{1f1e9}",
        "\0",
        "\u{fffd}",
        "\u{e000}",
        "\u{1d465}",
        "\u{20000}",
        "\u{10ffff}",
        "<|endoftext|>",
        "<|endofprompt|>",
    ]);
    prop_oneof![
        vec(any::<char>(), 0..60).prop_map(String::from_iter),
        vec(fragment.clone(), 0..40).prop_map(|all| all.concat()),
        vec((fragment, 1..40_usize), 0..8).prop_map(|all| all.iter().map(|(unit, times)| unit.repeat(*times)).collect()),
        "[ -~\n\t]{0,200}",
    ]
}

proptest! {
    #[test]
    fn four_implementations_count_the_same(text in any_text()) {
        for (encoding, other) in [(Encoding::O200kBase, bpe_openai::o200k_base()), (Encoding::Cl100kBase, bpe_openai::cl100k_base())] {
            let expect = other.count(text.as_str()) as u64;
            for engine in ["tiktoken", "tiktoken-rs"] {
                prop_assert_eq!(counter_by_name(encoding, engine).unwrap().count(&text), Ok(expect), "{}, {}", engine, encoding);
            }
            prop_assert_eq!(merged(encoding, &text), expect, "merged, {}", encoding);
        }
    }
}
