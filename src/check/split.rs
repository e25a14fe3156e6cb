//! Where the tokens of a figure stand: by origin, with the replies as `output`. A split sums to its figure exactly, so
//! that two splits say what grew.

use std::collections::BTreeMap;

use crate::results::LedgerLine;
use crate::transcript::Origin;

/// The tokens of a figure by where they stand; the name of an origin, or `output`. Sorted by name.
pub type Split = BTreeMap<String, i64>;

/// The part of a split that replies are.
pub const OUTPUT: &str = "output";

const ROOT: &str = "/";

/// The split of a metric; `None`: it is no sum over parts of requests.
pub fn split(metric: &str, ledger: &[LedgerLine]) -> Option<Split> {
    let root = || ledger.iter().filter(|line| *line.thread == *ROOT);
    let children = || ledger.iter().filter(|line| *line.thread != *ROOT);
    let context = |line: &LedgerLine| sum([line], true, true);
    // The first of the largest, as a person would look for it: of equals, the last one wins.
    let whole = |line: &&LedgerLine| line.input_total + line.output;
    Some(match metric {
        "parent.final_context" => context(root().next_back()?),
        "parent.peak_context" => context(root().rev().max_by_key(whole)?),
        "parent.input_total" => sum(root(), true, false),
        "parent.output_total" => sum(root(), false, true),
        "child.opening" => sum([openings(ledger).into_iter().rev().max_by_key(|line| line.input_total)?], true, false),
        "child.opening_sum" => sum(openings(ledger), true, false),
        "child.peak_context" => context(children().rev().max_by_key(whole)?),
        "child.input_total" => sum(children(), true, false),
        "child.output_total" => sum(children(), false, true),
        "total.input" => sum(ledger, true, false),
        "total.output" => sum(ledger, false, true),
        _ => return None,
    })
}

/// The first request of each child.
fn openings(ledger: &[LedgerLine]) -> Vec<&LedgerLine> {
    let mut seen = std::collections::BTreeSet::from([ROOT]);
    ledger.iter().filter(|line| seen.insert(&*line.thread)).collect()
}

fn sum<'a>(lines: impl IntoIterator<Item = &'a LedgerLine>, input: bool, output: bool) -> Split {
    let mut sums = [0_u64; Origin::ALL.len()];
    let mut replies = 0;
    for line in lines {
        for (at, (_, tokens)) in line.input.each().into_iter().enumerate() {
            sums[at] += tokens;
        }
        replies += line.output;
    }
    let inputs = Origin::ALL.into_iter().zip(sums).filter(|_| input).map(|(origin, tokens)| (origin.name(), tokens));
    let outputs = output.then_some((OUTPUT, replies));
    let whole = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    inputs.chain(outputs).filter(|(_, tokens)| *tokens > 0).map(|(name, tokens)| (name.to_owned(), whole(tokens))).collect()
}

/// What the second has more than the first, parts that are alike left out.
pub fn growth(before: &Split, now: &Split) -> Split {
    let names = before.keys().chain(now.keys());
    let of = |split: &Split, name: &str| split.get(name).copied().unwrap_or(0);
    let differences = names.map(|name| (name.clone(), of(now, name).saturating_sub(of(before, name))));
    differences.filter(|(_, difference)| *difference != 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::TokensByOrigin;
    use crate::results::tests::ledger_line as line;

    /// Two requests of the root, two children of two requests and one.
    fn ledger() -> Vec<LedgerLine> {
        let input = |system, user, task, own, delegated| TokensByOrigin { system, user, task, own, delegated, ..Default::default() };
        vec![
            line(0, "/", input(10, 20, 0, 0, 0), 5),
            line(1, "/1", input(7, 0, 30, 0, 0), 4),
            line(2, "/2", input(7, 0, 40, 0, 0), 3),
            line(3, "/1", input(7, 0, 30, 4, 0), 50),
            line(4, "/", input(10, 20, 0, 5, 60), 6),
        ]
    }

    #[test]
    fn figures_are_split_by_where_their_tokens_stand() {
        let check = |metric: &str, expect: &[(&str, i64)]| {
            let expect: Split = expect.iter().map(|&(name, tokens)| (name.to_owned(), tokens)).collect();
            assert_eq!(split(metric, &ledger()), Some(expect), "{metric}");
        };
        check("parent.final_context", &[("system", 10), ("user", 20), ("own", 5), ("delegated", 60), ("output", 6)]);
        check("parent.peak_context", &[("system", 10), ("user", 20), ("own", 5), ("delegated", 60), ("output", 6)]);
        check("parent.input_total", &[("system", 20), ("user", 40), ("own", 5), ("delegated", 60)]);
        check("parent.output_total", &[("output", 11)]);
        check("child.opening", &[("system", 7), ("task", 40)]);
        check("child.opening_sum", &[("system", 14), ("task", 70)]);
        check("child.peak_context", &[("system", 7), ("task", 30), ("own", 4), ("output", 50)]);
        check("child.input_total", &[("system", 21), ("task", 100), ("own", 4)]);
        check("child.output_total", &[("output", 57)]);
        check("total.input", &[("system", 41), ("user", 40), ("task", 100), ("own", 9), ("delegated", 60)]);
        check("total.output", &[("output", 68)]);
        assert_eq!(split("quality", &ledger()), None);
        assert_eq!(split("child.opening", &[]), None);
    }

    #[test]
    fn of_equals_the_first_is_split() {
        let one = TokensByOrigin { user: 9, ..Default::default() };
        let other = TokensByOrigin { own: 9, ..Default::default() };
        let ledger = [line(0, "/", one, 1), line(1, "/", other, 1), line(2, "/1", one, 1), line(3, "/2", other, 1)];
        for metric in ["parent.peak_context", "child.opening", "child.peak_context"] {
            assert_eq!(split(metric, &ledger).unwrap().get("user"), Some(&9), "{metric}");
        }
        assert_eq!(split("parent.final_context", &ledger).unwrap().get("own"), Some(&9));
    }

    #[test]
    fn growth_leaves_out_what_stayed() {
        let of = |pairs: &[(&str, i64)]| -> Split { pairs.iter().map(|&(name, tokens)| (name.to_owned(), tokens)).collect() };
        let grown = growth(&of(&[("system", 5), ("own", 7), ("task", 1)]), &of(&[("system", 5), ("own", 9), ("user", 2)]));
        assert_eq!(grown, of(&[("own", 2), ("task", -1), ("user", 2)]));
    }
}
