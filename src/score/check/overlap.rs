//! `token_f1`: overlap of words with a text, as the question-answering benchmark SQuAD measures answers (Rajpurkar et al.
//! 2016; `normalize_answer` and `f1_score` of its evaluation script, version 1.1).
//!
//! A text becomes words: lower-case; ASCII punctuation taken out, and what joins there grows together (`well-known` is
//! `wellknown`); split at white space; without `a`, `an` and `the`. Two things are added to the published rule, which is for
//! English: beyond ASCII, whatever is neither letter, digit nor mark is taken out as well, and where a script has no blanks
//! between words (Chinese, Japanese, Thai, ...; Korean, whose particles join words) each character is a word.
//!
//! With `same` words in common, each as often as in both, F1 is `2 same / (words of the answer + words of the text)`: the
//! harmonic mean of precision and recall. Of several texts the nearest counts.

use rustc_hash::FxHashMap;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::scenario::marker::is_spaced_word;

/// Texts to be near to.
#[derive(Debug)]
pub(in crate::score) struct Overlap {
    texts: Vec<Words>,
    at_least: Option<f64>,
}

impl Overlap {
    pub(super) fn new(texts: &[String], at_least: Option<f64>) -> Overlap {
        Overlap { texts: texts.iter().map(|text| Words::of(text)).collect(), at_least }
    }

    /// Whether one of the texts has no words.
    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty() || self.texts.iter().any(|text| text.all == 0)
    }

    /// The F1 with the nearest text, or, with a threshold, whether that reaches it.
    pub(super) fn score(&self, answer: &str) -> f64 {
        let best = self.texts.iter().map(|text| text.f1(answer)).fold(0.0, f64::max);
        match self.at_least {
            None => best,
            Some(least) if best >= least => 1.0,
            Some(_) => 0.0,
        }
    }
}

/// The words of a text.
#[derive(Debug)]
struct Words {
    /// Each of them, with its place in `counts`.
    places: FxHashMap<String, usize>,
    /// How often each stands in it.
    counts: Vec<u32>,
    /// How many there are.
    all: usize,
}

impl Words {
    fn of(text: &str) -> Words {
        let mut words = Words { places: FxHashMap::default(), counts: vec![], all: 0 };
        each_word(text, |word| {
            words.all += 1;
            match words.places.get(word) {
                Some(&place) => words.counts[place] += 1,
                None => {
                    words.places.insert(word.to_owned(), words.counts.len());
                    words.counts.push(1);
                }
            }
        });
        words
    }

    /// The F1 with an answer. Its words are looked up one by one, each as often as it stands in both.
    fn f1(&self, answer: &str) -> f64 {
        let mut left = self.counts.clone();
        let (mut all, mut same) = (self.all, 0_usize);
        each_word(answer, |word| {
            all += 1;
            if let Some(&place) = self.places.get(word)
                && left[place] > 0
            {
                left[place] -= 1;
                same += 1;
            }
        });
        if all == 0 { 0.0 } else { 2.0 * same as f64 / all as f64 }
    }
}

fn each_word(text: &str, mut then: impl FnMut(&str)) {
    let mut word = String::new();
    let mut end = |word: &mut String| {
        if !word.is_empty() && !matches!(word.as_str(), "a" | "an" | "the") {
            then(word);
        }
        word.clear();
    };
    if text.is_ascii() {
        // What the loop below does, where a byte is a character that nothing composes.
        for byte in text.bytes() {
            if char::from(byte).is_whitespace() {
                end(&mut word);
            } else if byte.is_ascii_alphanumeric() {
                word.push(byte.to_ascii_lowercase().into());
            }
        }
        end(&mut word);
        return;
    }
    for c in text.nfc().flat_map(char::to_lowercase) {
        if c.is_whitespace() {
            end(&mut word);
        } else if is_spaced_word(c) && c != '_' {
            word.push(c);
        } else if c.is_alphanumeric() {
            end(&mut word);
            word.push(c);
            end(&mut word);
        } else if is_combining_mark(c) {
            word.push(c);
        }
    }
    end(&mut word);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn words(text: &str, expect: &[&str]) {
        let mut found = vec![];
        each_word(text, |word| found.push(word.to_owned()));
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn what_words_are() {
        words("The well-known JWT, signed.", &["wellknown", "jwt", "signed"]);
        words("A man, an apple and the_theme", &["man", "apple", "and", "thetheme"]);
        words("2,318 orders — 4\u{a0}% “late”", &["2318", "orders", "4", "late"]);
        words("Straße  CAFE\u{301}", &["straße", "caf\u{e9}"]);
        words("用JWT签名。", &["用", "jwt", "签", "名"]);
        words("... a", &[]);
    }

    #[track_caller]
    fn check(texts: &[&str], answer: &str, expect: f64) {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let score = Overlap::new(&texts, None).score(answer);
        assert!((score - expect).abs() < 1e-12, "{answer}: {score}");
    }

    #[test]
    fn f1_by_hand() {
        check(&["the lease ran out"], "The lease ran out!", 1.0);
        // lease, ran, out against lease, expired: 1 in common; 2 * 1 / (3 + 2).
        check(&["the lease ran out"], "A lease expired", 0.4);
        // 3 in common; 2 * 3 / (3 + 6).
        check(&["the lease ran out"], "because the lease of it ran out", 2.0 / 3.0);
        // Each as often as in both: 2 of 3 and of 2; 2 * 2 / (3 + 2).
        check(&["no no no"], "no no", 0.8);
        check(&["lease ran out", "queue stopped"], "queue stopped now", 0.8); // the nearer: 2 * 2 / (2 + 3)
        check(&["lease ran out"], "", 0.0);
        check(&["lease ran out"], "something else", 0.0);
        check(&["签名令牌"], "令牌", 2.0 / 3.0); // 2 * 2 / (4 + 2)
    }

    #[test]
    fn thresholds() {
        let check = |at_least: f64, expect: f64| {
            assert_eq!(Overlap::new(&["lease ran out".into()], Some(at_least)).score("lease expired"), expect, "{at_least}");
        };
        check(0.4, 1.0); // 2 * 1 / (3 + 2)
        check(0.41, 0.0);
    }

    proptest! {
        #[test]
        fn bounds_symmetry_and_order(one in "[a-d ,.]{0,30}|\\PC{0,30}", other in "[a-d ,.]{0,30}|\\PC{0,30}") {
            let of = |text: &str, answer: &str| Overlap::new(&[text.to_owned()], None).score(answer);
            let score = of(&one, &other);
            prop_assert!((0.0..=1.0).contains(&score));
            prop_assert_eq!(score, of(&other, &one));
            if Words::of(&one).all > 0 {
                prop_assert_eq!(of(&one, &one), 1.0);
            }
            // The order of words does not matter.
            let mut turned: Vec<&str> = other.split_whitespace().collect();
            turned.reverse();
            prop_assert_eq!(of(&one, &turned.join(" ")), score);
        }
    }
}
