//! Facts on their way: from what a child saw to its return, to the root's last request, to the final answer.

use std::collections::{BTreeMap, BTreeSet};

use crate::ledger::{ByThread, Outcome};
use crate::reason::Reason;
use crate::scenario::{IntentIndex, TopicIndex};
use crate::score::NO_CHILD;
use crate::strategy::ThreadId;

use super::super::returns::{Delivered, arguments};
use super::{Ending, Facts, NO_FACTS};

/// How far the needed facts came. One is counted once for each intent that needs it; each number is of facts that are in
/// the number before it, so it is a chain. Of several children of one intent, and of several returns of one child, the
/// one counts that brought the fact farthest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Survival {
    /// Stood in its newest form in the last request that a child of the intent sent for it. A deliverable: it itself, or
    /// the newest form of all that it is made of.
    pub seen: u64,
    /// Of those, stated in its newest form in a return of that child, as it entered the child's own parent.
    pub returned: u64,
    /// Of those, in its newest form in the root's last request.
    pub kept: u64,
    /// Of those, in its newest form in the final answer.
    pub answered: u64,
    /// The statements of the distinct facts that were answered, by topic.
    pub statements: Vec<String>,
}

impl Survival {
    pub(crate) fn of(
        facts: &Facts<'_>,
        outcome: &Outcome,
        by_thread: &ByThread<'_>,
        delivered: &[Delivered<'_>],
        ending: &Ending,
    ) -> Result<Survival, Reason> {
        if facts.scenario.topics.is_empty() {
            return Err(NO_FACTS.into());
        }
        if outcome.threads.len() < 2 {
            return Err(NO_CHILD.into());
        }
        let given = given(facts, outcome, by_thread);
        if given.iter().all(|one| one.topics.is_empty()) {
            return Err("no delegated intent needs anything".into());
        }
        // By intent and topic, how many of the four places it reached.
        let mut reached: BTreeMap<(IntentIndex, TopicIndex), u64> = BTreeMap::new();
        for one in &given {
            let returns =
                delivered.iter().filter(|back| back.child == Some(one.child) && facts.scenario.intent(&back.intent) == Some(one.intent));
            let returns: Vec<_> = returns.map(|back| facts.known_of(back.parts())).collect();
            let record = outcome.threads.get(one.child.0 as usize).and_then(|record| record.intent.as_deref());
            let rows = by_thread.rows(one.child).iter().rev().filter(|row| !row.aside);
            // A turn that nobody's call opened goes on with what the child was opened for.
            let mut of_intent =
                rows.filter(|row| row.intent.as_deref().or(record).and_then(|id| facts.scenario.intent(id)) == Some(one.intent));
            let Some(seen) = of_intent.next().map(|row| facts.visible(outcome, row)) else { continue };
            for &topic in &one.topics {
                let places = [
                    facts.is_newest(topic, &seen) || facts.can_make(topic, &seen),
                    returns.iter().any(|known| facts.is_newest(topic, known)),
                    facts.is_newest(topic, &ending.visible),
                    facts.is_newest(topic, &ending.stated),
                ];
                let far = places.iter().take_while(|&&there| there).count() as u64;
                let best = reached.entry((one.intent, topic)).or_default();
                *best = far.max(*best);
            }
        }
        let count = |place: u64| reached.values().filter(|&&far| far >= place).count() as u64;
        let survivors: BTreeSet<TopicIndex> = reached.iter().filter(|(_, far)| **far == 4).map(|((_, topic), _)| *topic).collect();
        let statements = survivors.into_iter().filter_map(|topic| facts.statement(topic)).collect();
        Ok(Survival { seen: count(1), returned: count(2), kept: count(3), answered: count(4), statements })
    }
}

/// A child with an intent that it was given.
struct Given {
    child: ThreadId,
    intent: IntentIndex,
    /// The intent's needs, and what follow-ups asked this child for.
    topics: BTreeSet<TopicIndex>,
}

fn given(facts: &Facts<'_>, outcome: &Outcome, by_thread: &ByThread<'_>) -> Vec<Given> {
    let mut all: Vec<Given> = Vec::new();
    let args = arguments(outcome, by_thread);
    let opened = outcome.threads.iter().filter(|record| record.id != ThreadId::ROOT);
    let opened = opened.map(|record| (record.id, record.intent.as_deref(), None));
    let calls = outcome.delegations.iter().map(|one| (one.child, one.intent.as_deref(), Some(one.call)));
    for (child, id, call) in opened.chain(calls) {
        let Some(intent) = id.and_then(|id| facts.scenario.intent(id)) else { continue };
        let needs = facts.scenario.intents[intent].work.needs.iter().copied();
        let asked = call.and_then(|call| args.get(&call));
        let topics = needs.chain(asked.map_or_else(Vec::new, |args| facts.follow_ups_of(args, intent)));
        match all.iter_mut().find(|one| one.child == child && one.intent == intent) {
            Some(one) => one.topics.extend(topics),
            None => all.push(Given { child, intent, topics: topics.collect() }),
        }
    }
    all
}
