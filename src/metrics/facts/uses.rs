//! What the final answer made of what stood before it.

use crate::ledger::Outcome;
use crate::reason::Reason;
use crate::scenario::TopicIndex;
use crate::scenario::marker::invented;

use super::{Ending, Facts, NO_FACTS};

/// The topics that the final answer must state, by what became of them: each is in one class, or in none where it was not
/// visible and the answer says nothing of it. Visible: in its newest form in the root's last request, or, of a deliverable
/// whose intent was handed to nobody, the newest form of all that it is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Uses {
    /// Stated in its newest form, and visible.
    pub used: u64,
    /// Visible, and not stated in any form of its facts.
    pub ignored: u64,
    /// Stated by a superseded value, of which some value was visible.
    pub stale: u64,
    /// Not visible, and a value is stated all the same: a right one by luck, or one of nobody's.
    pub invented: u64,
    /// Not visible, and the answer says that it is unknown, or makes a deliverable in which it says that it guesses.
    pub admitted: u64,
    /// Distinct topics stated in their newest form.
    pub stated: u64,
}

impl Uses {
    pub(crate) fn of(facts: &Facts<'_>, outcome: &Outcome, ending: &Ending) -> Result<Uses, Reason> {
        if facts.scenario.topics.is_empty() {
            return Err(NO_FACTS.into());
        }
        // The last turn that sets work says what the final answer owes; its needs include those of what it delegates.
        let last = facts.scenario.turns.iter().rev().find(|turn| !turn.work.marker.is_empty());
        let needs: Vec<TopicIndex> = last.map_or_else(Vec::new, |turn| facts.scenario.needs_of_turn(turn));
        if needs.is_empty() {
            return Err("the final answer needs no topic".into());
        }
        let made_up = invented(&ending.text, facts.scenario);
        let mut uses = Uses::default();
        for topic in needs {
            uses.add(topic, facts, outcome, ending, made_up.contains(&topic));
        }
        Ok(uses)
    }

    fn add(&mut self, topic: TopicIndex, facts: &Facts<'_>, outcome: &Outcome, ending: &Ending, is_made_up: bool) {
        let there = facts.is_newest(topic, &ending.visible);
        let can_make = facts.can_make(topic, &ending.visible);
        if facts.is_newest(topic, &ending.stated) {
            self.stated += 1;
            // Whoever states a deliverable that stood nowhere has made it: of what it knew, or by luck.
            let count = if there || can_make { &mut self.used } else { &mut self.invented };
            *count += 1;
            return;
        }
        let is_visible = there || (can_make && !is_handed_out(topic, facts, outcome));
        let any_visible = ending.visible.has(topic) || sources(topic, facts).iter().any(|&source| ending.visible.has(source));
        if facts.is_stale(topic, &ending.stated) && any_visible {
            self.stale += 1;
        } else if is_visible {
            self.ignored += 1;
        } else if is_guess(topic, ending) {
            self.admitted += 1;
        } else if ending.stated.has(topic) || is_made_up {
            self.invented += 1;
        } else if ending.stated.is_said_unknown(topic) {
            self.admitted += 1;
        }
    }
}

/// Whether the answer calls a value of the deliverable a guess: it says that it does not know it.
fn is_guess(topic: TopicIndex, ending: &Ending) -> bool {
    ending.stated.made(topic).is_some_and(|values| values.contains(&None))
}

/// What a deliverable is made of; nothing for any other topic.
fn sources<'f>(topic: TopicIndex, facts: &Facts<'f>) -> &'f [TopicIndex] {
    facts.scenario.topics.get(topic).and_then(|topic| topic.made.as_ref()).map_or(&[], |made| &made.from)
}

/// Whether a child was given the intent that makes a deliverable.
fn is_handed_out(topic: TopicIndex, facts: &Facts<'_>, outcome: &Outcome) -> bool {
    let made = facts.scenario.topics.get(topic).and_then(|topic| topic.made.as_ref());
    let id = made.and_then(|made| facts.scenario.intents.get(made.intent)).map(|intent| intent.id.as_str());
    id.is_some() && outcome.delegations.iter().any(|delegation| delegation.intent.as_deref() == id)
}
