//! `ordered`: how many of some things stand in an answer one behind the other.
//!
//! The score is the length of the longest chain, divided by the number of things: a chain takes some of the things in
//! their given order (a common subsequence of the list and the answer), finds each in the answer by one of its aliases, and
//! each begins no earlier than the one before it ends. Texts are compared as `contains` compares them.

use memchr::memmem::Finder;

use crate::scenario::marker::fold;

/// Things that should stand in an answer in this order.
#[derive(Debug)]
pub(in crate::score) struct Chain(Vec<Vec<Finder<'static>>>);

impl Chain {
    pub(super) fn new(things: &[Vec<String>]) -> Chain {
        let finder = |text: &String| Finder::new(fold(text).as_bytes()).into_owned();
        Chain(things.iter().map(|aliases| aliases.iter().map(finder).collect()).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The longest chain's share of the things, in a folded text.
    ///
    /// `ends[k]` is where the chain of `k + 1` things that ends first ends. A further thing makes each chain one longer that
    /// ends before it, and only the one that ends first matters. `ends` ascends, so one pass over the answer finds each alias
    /// behind every chain: the time is that of one search an alias, whatever the answer holds.
    pub(super) fn score(&self, folded: &str) -> f64 {
        let text = folded.as_bytes();
        let mut ends: Vec<usize> = vec![];
        for aliases in &self.0 {
            let froms: Vec<usize> = std::iter::once(0).chain(ends.iter().copied()).collect();
            let mut longer: Vec<Option<usize>> = vec![None; froms.len()];
            for alias in aliases {
                let mut begin = None;
                for (&from, end) in froms.iter().zip(&mut longer) {
                    if begin.is_none_or(|begin| begin < from) {
                        begin = text.get(from..).and_then(|rest| alias.find(rest)).map(|at| from + at);
                    }
                    let Some(begin) = begin else { break };
                    let found = begin + alias.needle().len();
                    *end = Some(end.map_or(found, |known: usize| known.min(found)));
                }
            }
            for (at, found) in longer.into_iter().enumerate() {
                match (ends.get_mut(at), found) {
                    (Some(end), Some(found)) => *end = found.min(*end),
                    (None, Some(found)) => ends.push(found),
                    (_, None) => {}
                }
            }
        }
        super::share(ends.len(), self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn chain(things: &[&str]) -> Chain {
        Chain::new(&things.iter().map(|thing| thing.split('|').map(str::to_owned).collect()).collect::<Vec<_>>())
    }

    #[track_caller]
    fn check(things: &[&str], answer: &str, expect: f64) {
        assert_eq!(chain(things).score(&fold(answer)), expect, "{things:?} in {answer}");
    }

    #[test]
    fn chains_by_hand() {
        check(&["one", "two", "three"], "one, then two, then three", 1.0);
        check(&["one", "two", "three"], "three, two, one", 1.0 / 3.0);
        check(&["one", "two", "three"], "two, three, one", 2.0 / 3.0);
        check(&["one", "two", "three", "four"], "two, one, four, three", 0.5);
        check(&["one", "two"], "neither", 0.0);
        check(&["one", "two"], "", 0.0);
        check(&["one", "two"], "two, one, two", 1.0); // one of the two stands in its place
        check(&["first|one", "two"], "one, two", 1.0);
        check(&["first|one", "two"], "one, two, first", 1.0); // whichever alias ends first
        check(&["go", "go"], "go", 0.5); // none counts twice
        check(&["go", "go"], "go go", 1.0);
        check(&["abc", "cde"], "abcde", 0.5); // they may not share a character
        check(&["new  line"], "new\nline", 1.0);
        check(&["long text|x", "y"], "long text xy y", 1.0);
    }

    /// The definition, tried out: every way to take things and places.
    fn slowly(things: &[Vec<String>], text: &str, from: usize) -> usize {
        let Some((first, rest)) = things.split_first() else { return 0 };
        let taken = first
            .iter()
            .flat_map(|alias| (from..text.len()).filter(move |&at| text[at..].starts_with(alias.as_str())).map(move |at| at + alias.len()));
        let with = taken.map(|end| 1 + slowly(rest, text, end)).max().unwrap_or(0);
        with.max(slowly(rest, text, from))
    }

    proptest! {
        #[test]
        fn chains_are_the_longest(
            things in prop::collection::vec(prop::collection::vec("[ab]{1,2}", 1..3), 1..5), text in "[abc]{0,9}",
        ) {
            let expect = slowly(&things, &text, 0) as f64 / things.len() as f64;
            prop_assert_eq!(Chain::new(&things).score(&text), expect);
        }

        #[test]
        fn bounds_and_equality(things in prop::collection::vec("\\PC{1,6}", 1..6), text in "\\PC{0,40}") {
            let chain = Chain::new(&things.iter().map(|thing| vec![thing.clone()]).collect::<Vec<_>>());
            prop_assert!((0.0..=1.0).contains(&chain.score(&fold(&text))));
            prop_assert_eq!(chain.score(&fold(&things.iter().map(|thing| fold(thing).into_owned()).collect::<Vec<_>>().join("\u{2603}"))), 1.0);
        }
    }

    /// A search that began anew behind every occurrence would take some 10^11 steps here.
    #[test]
    fn long_answers_are_read_once() {
        let text = "ab ".repeat(350_000);
        let things: Vec<&str> = std::iter::repeat_n("ab", 40).chain(["zz"]).collect();
        assert!(chain(&things).score(&text) == 40.0 / 41.0);
        assert!(chain(&["b a", "ab", "no"]).score(&text) == 2.0 / 3.0);
    }
}
