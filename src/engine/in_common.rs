//! What a request has in common with an earlier one, found without a look at what both take from one log.

use crate::ledger::Sent;
use crate::strategy::Splice;

use super::log::Logs;

/// Where a request begins to differ from an earlier one, at the earliest: what stands behind may be alike by chance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct InCommon {
    /// Items in common, as both are sent.
    pub(super) items: usize,
    /// The position of the next item in the logs.
    pub(super) at: usize,
    /// Splices that stand before it.
    pub(super) splices: usize,
}

impl InCommon {
    /// Compares two requests. Of one log nothing is looked at but splices; of two, pointers.
    pub(super) fn of(earlier: &Sent, now: &Sent, logs: &Logs) -> InCommon {
        let (old, new) = (&logs.0[earlier.log].log.items[..earlier.length], &logs.0[now.log].log.items[..now.length]);
        let mut common = InCommon::default();
        loop {
            let (one, other) = (earlier.splices.get(common.splices), now.splices.get(common.splices));
            let end = one.map_or(old.len(), |splice| splice.at).min(other.map_or(new.len(), |splice| splice.at));
            let run = match earlier.log == now.log {
                true => end - common.at,
                false => old[common.at..end].iter().zip(&new[common.at..end]).take_while(|(one, other)| one.is_copy_of(other)).count(),
            };
            common.items += run;
            common.at += run;
            match (one, other) {
                (Some(one), Some(other)) if common.at == end && puts_the_same(one, other) => {
                    common.items += one.items.len();
                    common.at += one.remove;
                    common.splices += 1;
                }
                _ => return common,
            }
        }
    }

    /// How many of the items in common are sent.
    pub(super) fn sent(&self, now: &Sent, logs: &Logs) -> usize {
        let log = &logs.0[now.log];
        let mut sent = log.sent_before(self.at);
        for splice in &now.splices[..self.splices] {
            sent += splice.items.iter().filter(|item| item.is_sent()).count();
            sent -= log.sent_before(splice.at + splice.remove) - log.sent_before(splice.at);
        }
        sent
    }
}

fn puts_the_same(one: &Splice, other: &Splice) -> bool {
    let alike = || one.items.iter().zip(&other.items).all(|(one, other)| one.reads_as(other));
    one.at == other.at && one.remove == other.remove && one.items.len() == other.items.len() && alike()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::engine::log::WeighedLog;
    use crate::ledger::splice;
    use crate::tokens::Weight;
    use crate::transcript::{Body, Item, Origin};

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
        /// Against rendering both: what is common is, and what is said to be sent is.
        #[test]
        fn it_is_in_both(
            first in proptest::collection::vec(0_usize..10, 12), second in proptest::collection::vec(0_usize..10, 12), shared in 0_usize..12,
            one in any_request(), other in any_request(),
        ) {
            let pool = pool();
            let mut logs = Logs::default();
            for list in [&first, &[&first[..shared], &second[shared..]].concat()] {
                let mut log = WeighedLog::default();
                list.iter().for_each(|&at| log.push(pool[at].clone(), Weight::default(), false));
                logs.0.push(log);
            }
            let request = |(log, length, plan): &(usize, usize, Vec<(usize, usize, usize)>)| Sent {
                system: None, tools: [].into(), log: *log, length: *length, splices: splices(*length, plan, &pool).into(), own: 0,
            };
            let (one, other) = (request(&one), request(&other));
            let rendered = |sent: &Sent| splice(&logs.0[sent.log].log.items[..sent.length], &sent.splices);
            let (before, now) = (rendered(&one), rendered(&other));
            let common = InCommon::of(&one, &other, &logs);
            prop_assert!(common.items <= before.len().min(now.len()));
            prop_assert!(before[..common.items].iter().zip(&now).all(|(one, other)| one.reads_as(other)));
            prop_assert_eq!(common.sent(&other, &logs), now[..common.items].iter().filter(|item| item.is_sent()).count());
            let rest: Vec<Item> =
                crate::ledger::spliced_from(&logs.0[other.log].log.items[..other.length], &other.splices[common.splices..], common.at).cloned().collect();
            prop_assert_eq!(&rest[..], &now[common.items..]);
            // The same request again is common as a whole.
            prop_assert_eq!(InCommon::of(&other, &other, &logs).items, now.len());
        }
    }
}
