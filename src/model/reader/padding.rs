//! Words that say nothing: what makes a report long. From a seed, without any word that a marker could be made of.

use crate::scenario::Scenario;
use crate::transcript::Digest;

const WORDS: [&str; 60] = [
    "after",
    "also",
    "another",
    "around",
    "because",
    "before",
    "behind",
    "between",
    "both",
    "broad",
    "careful",
    "case",
    "change",
    "clear",
    "close",
    "common",
    "detail",
    "during",
    "early",
    "enough",
    "every",
    "further",
    "general",
    "given",
    "important",
    "kind",
    "large",
    "later",
    "little",
    "long",
    "matter",
    "mostly",
    "need",
    "often",
    "other",
    "overall",
    "part",
    "piece",
    "place",
    "point",
    "quite",
    "rather",
    "reason",
    "same",
    "several",
    "simple",
    "small",
    "some",
    "still",
    "such",
    "that",
    "thing",
    "this",
    "those",
    "through",
    "usual",
    "where",
    "which",
    "whole",
    "with",
];

/// Sentences of together exactly so many words, each a line of its own. None of their words stands in a marker, a label
/// or a task of the scenario, so that padding never says anything. Equal seed and name, equal text.
pub(super) fn sentences(scenario: &Scenario, words: u32, seed: u64, name: &str) -> Vec<String> {
    let usable = usable(scenario);
    let mut random = Random(seed ^ (Digest::of(name).0 as u64));
    let mut left = words as usize;
    let mut all = Vec::new();
    while left > 0 && !usable.is_empty() {
        let length = (8 + random.below(8)).min(left);
        let sentence: Vec<&str> = (0..length).map(|_| usable[random.below(usable.len())]).collect();
        let mut sentence = sentence.join(" ");
        sentence[..1].make_ascii_uppercase();
        all.push(sentence + ".");
        left -= length;
    }
    all
}

fn usable(scenario: &Scenario) -> Vec<&'static str> {
    let facts = scenario.topics.iter().flat_map(|topic| &topic.facts);
    let works = scenario.turns.iter().map(|turn| &turn.work).chain(scenario.intents.iter().map(|intent| &intent.work));
    let texts = facts
        .flat_map(|fact| fact.markers.iter())
        .chain(scenario.topics.iter().map(|topic| &topic.label))
        .chain(works.map(|work| &work.marker))
        .chain(scenario.intents.iter().flat_map(|intent| &intent.follow_ups).map(|follow_up| &follow_up.task));
    let taken: std::collections::BTreeSet<String> =
        texts.flat_map(|text| text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase)).collect();
    WORDS.into_iter().filter(|word| !taken.contains(*word)).collect()
}

/// splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound.max(1) as u64) as usize
    }
}
