//! What a reader takes of what it sees (rules 1 and 17).

use rustc_hash::FxHashMap;

use crate::scenario::TopicIndex;
use crate::scenario::marker::{Known, MarkerIndex, visible_parts};
use crate::transcript::{Digest, Item, Part};

use super::profile::{ReaderProfile, Stale};

/// A rendered request, as far as knowing goes.
pub(super) struct Seen<'a> {
    pub system: Option<&'a Part>,
    pub items: &'a [Item],
    /// Tokens of the request.
    pub tokens: u64,
}

/// What the reader knows. The ideal one uses all that it sees, and of several values the newest. Whether another notices a
/// fact is drawn once, from the seed, the topic and the fact: a longer context never makes a fact noticed that a shorter one
/// did not, and under equal seeds all strategies have equal luck.
pub(super) fn known(index: &MarkerIndex, profile: &ReaderProfile, seed: u64, seen: &Seen<'_>) -> Known {
    if profile.attention.is_none() && profile.stale == Stale::Newest {
        return index.visible(seen.system, seen.items);
    }
    let length: usize = visible_parts(seen.system, seen.items).map(|part| part.as_text().len()).sum();
    let mut known = Known::nothing(index.topics());
    let mut places: FxHashMap<(TopicIndex, usize), (usize, usize)> = FxHashMap::default();
    let mut at = 0;
    for part in visible_parts(seen.system, seen.items) {
        let found = index.of_part(part);
        known.add(&found);
        for &fact in &found.facts {
            places.entry(fact).or_insert((at, at)).1 = at;
        }
        at += part.as_text().len();
    }
    let is_noticed = |fact: &(TopicIndex, usize), last: usize| {
        // Tokens are not counted by part here: bytes say well enough whereabouts it stands.
        let position = if length == 0 { 1.0 } else { last as f64 / length as f64 };
        profile.attention.is_none_or(|curve| luck(seed, *fact) < curve.used(seen.tokens, position))
    };
    for (topic, one) in known.each_mut().enumerate() {
        let values = places.iter().filter(|((of, _), _)| *of == topic).filter(|(fact, (_, last))| is_noticed(fact, *last));
        let values = values.map(|(&(_, fact), &(first, last))| (fact, first, last));
        one.fact = match profile.stale {
            Stale::Newest => values.max(),
            // Of two in one part, the older one is said first.
            Stale::First => values.min_by_key(|&(fact, first, _)| (first, fact)),
            Stale::Last => values.max_by_key(|&(fact, _, last)| (last, fact)),
        }
        .map(|(fact, ..)| fact);
    }
    known
}

/// From 0 to below 1, the same for the same seed and fact.
fn luck(seed: u64, (topic, fact): (TopicIndex, usize)) -> f64 {
    let drawn = Digest::of(&format!("{seed} {topic} {fact}")).0 as u64;
    // The upper 53 bits fill the fraction of a double.
    (drawn >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::luck;

    #[test]
    fn luck_is_even() {
        let drawn: Vec<f64> = (0..2_000).map(|seed| luck(seed, (1, 0))).collect();
        assert!(drawn.iter().all(|one| (0.0..1.0).contains(one)));
        for tenth in 0..10 {
            let share = drawn.iter().filter(|&&one| (one * 10.0) as u32 == tenth).count();
            assert!((150..=250).contains(&share), "{tenth}: {share}");
        }
    }
}
