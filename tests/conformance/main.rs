//! What real systems did, in this project's own vectors (`fixtures/conformance`) and, where the reference folder is at
//! hand (`CTXBENCH_SHARED`), in all of it: every vector agrees, with its own texts and with others.

mod files;
mod opencode;
mod protocol;
mod replaced;
mod wire;
mod wire_differences;

use ctxbench::conformance::{Verdicts, Why, emit, verify};
use ctxbench::tokens::{Encoding, counter};

use files::{fixtures, reference};

/// What failed, for people.
fn failures(verdicts: &Verdicts) -> String {
    let shown = verdicts.failed.iter().map(|failed| {
        let why = match &failed.why {
            Why::Unplayable(fault) => format!("  it cannot be played: {fault}"),
            Why::Differs(differences) => differences.iter().map(|one| format!("  {one}")).collect::<Vec<_>>().join("\n"),
        };
        format!("{}\n{why}", failed.name)
    });
    shown.collect::<Vec<_>>().join("\n")
}

fn check(name: &str, text: &str) {
    let verdicts = verify(text).unwrap_or_else(|why| panic!("{name}: {why}"));
    assert!(verdicts.passed > 0, "{name}: nothing was played");
    let of = verdicts.passed + verdicts.failed.len();
    assert!(verdicts.failed.is_empty(), "{name}: {} of {of} passed\n{}", verdicts.passed, failures(&verdicts));
}

#[test]
fn our_own_vectors_agree() {
    for (name, text) in fixtures() {
        check(&name, &text);
    }
}

#[test]
fn the_reference_vectors_agree() {
    for (name, text) in reference("the_reference_vectors_agree") {
        check(&name, &text);
    }
}

/// Names, reasons and expectations taken away, the product gives the same: what was emitted agrees with the file.
#[test]
fn nothing_answers_by_recognition() {
    for (name, text) in fixtures().into_iter().chain(reference("nothing_answers_by_recognition")) {
        let stripped = files::stripped(&text);
        let emitted = emit(&stripped).unwrap_or_else(|why| panic!("{name}: {why}"));
        // Asked with names and reasons, the product gives what it gave without.
        check(&format!("{name}, as emitted"), &files::with_expectations_of(&text, &emitted));
        check(&name, &text);
    }
}

#[test]
fn other_texts_change_nothing() {
    for (name, text) in fixtures().into_iter().chain(reference("other_texts_change_nothing")) {
        let other = replaced::replaced(&text);
        assert_ne!(other, text, "{name}: no text was replaced");
        check(&format!("{name}, with other texts"), &other);
    }
}

/// Where the real prose is as long as a file's `notes` say, the words here are within fifteen in a hundred of it.
#[test]
fn our_words_are_as_long_as_the_real_ones() {
    for (name, text) in fixtures().into_iter().chain(reference("our_words_are_as_long_as_the_real_ones")) {
        let (stated, ours) = (files::notes(&text), files::notes(&emit(&text).unwrap_or_else(|why| panic!("{name}: {why}"))));
        for (placeholder, note) in stated {
            let words = ours[&placeholder]["words"].as_str().expect("every placeholder has words");
            let counted = counter(Encoding::O200kBase).count(words).expect("it is short") as f64;
            let tokens = note["tokens"].as_f64().expect("a note says how many tokens");
            assert!((counted - tokens).abs() <= 0.15 * tokens, "{name}: {placeholder} is {counted} tokens, not about {tokens}");
        }
    }
}
