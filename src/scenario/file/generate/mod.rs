//! Long texts from a seed: code, logs and prose of a stated size in characters, the same on every machine.
//!
//! What they say means nothing; how long their words, lines and blocks are is near enough to real files that their
//! tokens by character are too. The generator is splitmix64, and every choice is made from the word lists of [`words`].

mod chinese;
mod diff;
mod source;
mod words;

use self::words::{ADJECTIVES, AREAS, NOUNS, VERBS};

/// What kind of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Program text.
    Source,
    /// Lines of a service's log.
    Log,
    /// Paragraphs.
    Prose,
    /// A change of many files, as version control shows it.
    Diff,
    /// What a test runner prints.
    Tests,
}

/// Which language a text is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// Source in Rust, prose in English.
    Default,
    /// Source.
    Rust,
    /// Source.
    Python,
    /// Source.
    TypeScript,
    /// Source in Rust with comments in Chinese, logs with messages and prose in Chinese.
    Chinese,
}

/// A text of exactly so many characters (all of them ASCII, if it is not Chinese). It ends with a line break, if it holds anything.
pub(super) fn text(kind: Kind, language: Language, characters: usize, seed: u64) -> String {
    let mut random = Random(seed ^ (kind as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut clock = random.below(40_000_000);
    let comment = match (kind, language) {
        (Kind::Source, Language::Python) => "# ",
        (Kind::Source, _) => "// ",
        (Kind::Diff, _) => "+// ",
        (Kind::Tests, _) => "note: ",
        _ => "",
    };
    let mut out = String::with_capacity(characters);
    let mut left = characters;
    'blocks: loop {
        let block = match kind {
            Kind::Source => source::block(language, &mut random),
            Kind::Log => log_line(language, &mut clock, &mut random),
            Kind::Prose if language == Language::Chinese => chinese::paragraph(&mut random),
            Kind::Prose => paragraph(&mut random),
            Kind::Diff => diff::file(language, &mut random),
            Kind::Tests => tests_of_an_area(&mut random),
        };
        for line in block.lines() {
            let length = line.chars().count() + 1;
            if length > left {
                break 'blocks;
            }
            out.push_str(line);
            out.push('\n');
            left -= length;
        }
    }
    fill(&mut out, left, comment, &mut random);
    out
}

/// Some tests of one area, as a runner prints them: nearly all pass.
fn tests_of_an_area(random: &mut Random) -> String {
    let (area, noun) = (random.pick(&AREAS), random.pick(&NOUNS));
    let mut out = String::new();
    for _ in 0..6 + random.below(14) {
        let (verb, object) = (random.pick(&VERBS), random.pick(&NOUNS));
        let result = if random.below(40) == 0 { "ignored" } else { "ok" };
        out.push_str(&format!("test {area}::{noun}::{verb}_{object}_{} ... {result}\n", random.pick(&ADJECTIVES)));
    }
    if random.below(5) == 0 {
        out.push_str(&format!("---- {area}::{noun} stdout ----\n{}\n", sentence(random)));
    }
    out
}

/// Fills the last line, which has room for so many characters and not for a whole line of its kind, with words that fit and a
/// number.
fn fill(out: &mut String, left: usize, comment: &str, random: &mut Random) {
    let Some(room) = left.checked_sub(1) else { return };
    let mut line = String::new();
    if comment.len() < room {
        line.push_str(comment);
    }
    loop {
        let word = random.pick(&NOUNS);
        if line.len() + word.len() + 1 > room {
            break;
        }
        line.push_str(word);
        line.push(' ');
    }
    while line.len() < room {
        line.push(char::from(b'0' + random.below(10) as u8));
    }
    // A blank at the end of a line is noise.
    if line.ends_with(' ') {
        line.pop();
        line.push('.');
    }
    out.push_str(&line);
    out.push('\n');
}

/// A name for a number: the same number has the same name, different numbers different ones.
pub(super) fn name(number: i64) -> String {
    let count = NOUNS.len() as i64;
    let index = number.wrapping_sub(1);
    let noun = NOUNS.get(index.rem_euclid(count) as usize).copied().unwrap_or_default();
    match index.div_euclid(count) {
        0 => noun.to_owned(),
        round => format!("{noun}_{}", i128::from(round) + 1),
    }
}

/// A sentence without meaning, for padding.
pub(super) fn sentence(random: &mut Random) -> String {
    let (subject, object) = (random.pick(&NOUNS), random.pick(&NOUNS));
    let (quality, area, verb) = (random.pick(&ADJECTIVES), random.pick(&AREAS), random.pick(&VERBS));
    match random.below(5) {
        0 => format!("The {quality} {subject} is kept apart from the {object} so that {area} can {verb} it later."),
        1 => format!("When a {subject} arrives, {area} will {verb} the {object} before anything else."),
        2 => format!("We {verb} each {subject} once, and the {quality} {object} follows from it."),
        3 => format!("Nothing in {area} depends on the {subject} any more; the {object} is {quality} now."),
        _ => format!("It takes about {} ms to {verb} a {quality} {object} in {area}.", 2 + random.below(900)),
    }
}

fn paragraph(random: &mut Random) -> String {
    let sentences: Vec<String> = (0..3 + random.below(4)).map(|_| sentence(random)).collect();
    sentences.join(" ") + "\n\n"
}

fn log_line(language: Language, clock: &mut u64, random: &mut Random) -> String {
    *clock += 3 + random.below(1800);
    let (millis, seconds) = (*clock % 1000, *clock / 1000);
    let time = format!(
        "2026-03-{:02}T{:02}:{:02}:{:02}.{millis:03}Z",
        2 + seconds / 86_400 % 26,
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60
    );
    let level = random.pick(&["INFO ", "INFO ", "INFO ", "DEBUG", "DEBUG", "WARN ", "ERROR"]);
    let (area, noun, verb) = (random.pick(&AREAS), random.pick(&NOUNS), random.pick(&VERBS));
    let said = match random.below(4) {
        _ if language == Language::Chinese => chinese::message(random),
        0 => format!("{verb} {noun} id={:08x} took={}ms", random.below(1 << 32), random.below(700)),
        1 => format!("{noun} {} retry={} after={}ms", random.pick(&ADJECTIVES), 1 + random.below(4), 50 + random.below(2000)),
        2 => format!("cannot {verb} {noun}: {} {} expected {}", random.pick(&NOUNS), random.below(99), random.below(99)),
        _ => format!("queue={} waiting={} oldest={}s", random.pick(&AREAS), random.below(400), random.below(90)),
    };
    format!("{time} {level} {area}::{noun}: {said}\n")
}

/// Splitmix64.
#[derive(Clone, Debug)]
pub(super) struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a bound.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        // The bounds here are tiny against 2^64: the remainder's bias cannot be seen.
        self.next() % bound.max(1)
    }

    /// One of several.
    pub(super) fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of.get(self.below(of.len() as u64) as usize).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn splitmix64_is_the_published_one() {
        // The first outputs for seed 1234567 of Vigna's reference implementation.
        let mut random = Random(1_234_567);
        assert_eq!(
            [random.next(), random.next(), random.next()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn names_differ() {
        let names: BTreeSet<String> = (-100..400).map(name).collect();
        assert_eq!(names.len(), 500);
        assert_ne!(name(1), name(2));
        assert!(!name(1).contains('_'), "{}", name(1));
        // Extremes do not overflow.
        assert_ne!(name(i64::MIN), name(i64::MAX));
    }

    fn kinds() -> impl Strategy<Value = (Kind, Language)> {
        use Language::{Chinese, Default, Python, Rust, TypeScript};
        let plain = [Kind::Log, Kind::Prose, Kind::Diff, Kind::Tests].map(|kind| (kind, Default));
        let chinese = [Kind::Source, Kind::Log, Kind::Prose, Kind::Diff].map(|kind| (kind, Chinese));
        let source = [Rust, Python, TypeScript].map(|language| (Kind::Source, language));
        prop::sample::select([&source[..], &plain, &chinese].concat())
    }

    proptest! {
        #[test]
        fn the_size_is_the_stated_one((kind, language) in kinds(), size in 0_usize..5000, seed: u64) {
            let made = text(kind, language, size, seed);
            prop_assert_eq!(made.chars().count(), size);
            prop_assert!(size == 0 || made.ends_with('\n'));
            prop_assert!(made.is_ascii() || language == Language::Chinese);
            prop_assert_eq!(text(kind, language, size, seed), made);
        }

        #[test]
        fn seeds_and_kinds_differ((kind, language) in kinds(), seed in 0_u64..u64::MAX) {
            prop_assert_ne!(text(kind, language, 400, seed), text(kind, language, 400, seed + 1));
            prop_assert_ne!(text(Kind::Log, language, 400, seed), text(Kind::Prose, language, 400, seed));
        }
    }
}
