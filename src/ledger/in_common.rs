//! What a request has in common with an earlier one, found without a look at what both take from one log.

use crate::strategy::Splice;
use crate::transcript::Item;

use super::Sent;

/// Where a request begins to differ from an earlier one, at the earliest: what stands behind may be alike by chance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InCommon {
    /// Items in common, as both are sent.
    pub items: usize,
    /// The position of the next item in the logs.
    pub at: usize,
    /// Splices that stand before it.
    pub splices: usize,
}

impl InCommon {
    /// Compares two requests. Of one log nothing is looked at but splices; of two, items that share their body. `items` gives a log's,
    /// `alike` says of two items whether they are the same to whoever asks.
    pub fn of<'a>(earlier: &Sent, now: &Sent, items: impl Fn(usize) -> &'a [Item], alike: impl Fn(&Item, &Item) -> bool) -> InCommon {
        let (old, new) = (&items(earlier.log)[..earlier.length], &items(now.log)[..now.length]);
        let copies = |(one, other): &(&Item, &Item)| one.shares_body(other) && alike(one, other);
        let mut common = InCommon::default();
        loop {
            let (one, other) = (earlier.splices.get(common.splices), now.splices.get(common.splices));
            let end = one.map_or(old.len(), |splice| splice.at).min(other.map_or(new.len(), |splice| splice.at));
            let run = match earlier.log == now.log {
                true => end - common.at,
                false => old[common.at..end].iter().zip(&new[common.at..end]).take_while(copies).count(),
            };
            common.items += run;
            common.at += run;
            match (one, other) {
                (Some(one), Some(other)) if common.at == end && puts_the_same(one, other, &alike) => {
                    common.items += one.items.len();
                    common.at += one.remove;
                    common.splices += 1;
                }
                _ => return common,
            }
        }
    }
}

fn puts_the_same(one: &Splice, other: &Splice, alike: impl Fn(&Item, &Item) -> bool) -> bool {
    let same = || one.items.iter().zip(&other.items).all(|(one, other)| alike(one, other));
    one.at == other.at && one.remove == other.remove && one.items.len() == other.items.len() && same()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ledger::{Log, splice, spliced_from};
    use crate::transcript::{Body, Origin};

    /// Items of a pool, so that logs share some: every fifth is one that no model reads.
    fn pool() -> Vec<Item> {
        let item = |at: usize| match at % 5 {
            4 => Item::new(Body::Context { kind: "settings".into(), parts: vec![] }, Origin::Own),
            _ => Item::user(Origin::User, format!("{}", at / 2)),
        };
        (0..10).map(item).collect()
    }

    fn splices(length: usize, plan: &[(usize, usize, usize)], pool: &[Item]) -> Vec<Splice> {
        let mut at = 0;
        let mut splices = Vec::new();
        for &(skip, remove, item) in plan {
            let begin = at + skip;
            if begin + remove > length {
                break;
            }
            splices.push(Splice { at: begin, remove, items: vec![pool[item % pool.len()].clone()], keep: false });
            at = begin + remove;
        }
        splices
    }

    fn any_request() -> impl Strategy<Value = (usize, usize, Vec<(usize, usize, usize)>)> {
        (0_usize..2, 0_usize..12, proptest::collection::vec((0_usize..4, 0_usize..2, 0_usize..3), 0..4))
    }

    proptest! {
        /// Against rendering both.
        #[test]
        fn it_is_in_both(
            first in proptest::collection::vec(0_usize..10, 12), second in proptest::collection::vec(0_usize..10, 12), shared in 0_usize..12,
            one in any_request(), other in any_request(),
        ) {
            let pool = pool();
            let logs: Vec<Log> = [&first, &[&first[..shared], &second[shared..]].concat()]
                .map(|list| Log { items: list.iter().map(|&at| pool[at].clone()).collect(), tokens: vec![] })
                .into();
            let request = |(log, length, plan): &(usize, usize, Vec<(usize, usize, usize)>)| Sent {
                system: None, tools: [].into(), log: *log, length: *length, splices: splices(*length, plan, &pool).into(), own: 0,
            };
            let (one, other) = (request(&one), request(&other));
            let items = |log: usize| &logs[log].items[..];
            let rendered = |sent: &Sent| splice(&items(sent.log)[..sent.length], &sent.splices);
            let (before, now) = (rendered(&one), rendered(&other));
            let common = InCommon::of(&one, &other, items, Item::reads_as);
            prop_assert!(common.items <= before.len().min(now.len()));
            prop_assert!(before[..common.items].iter().zip(&now).all(|(one, other)| one.reads_as(other)));
            let rest = spliced_from(&items(other.log)[..other.length], &other.splices[common.splices..], common.at);
            prop_assert_eq!(&rest.cloned().collect::<Vec<_>>()[..], &now[common.items..]);
            // The same request again is common as a whole.
            prop_assert_eq!(InCommon::of(&other, &other, items, Item::reads_as).items, now.len());
        }
    }
}
