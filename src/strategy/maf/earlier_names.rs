//! Names beside roles, as chat wires know them.
//!
//! Microsoft Agent Framework (Python, 1.23.0) names a message when the run that wrote it is over: within a turn the same message was
//! sent without a name (measured). So the history holds its names from the start, and a request of the turn that wrote a message
//! takes them away: that costs what the turn wrote, not what the thread did.

use std::collections::BTreeMap;

use crate::strategy::{Scope, Splice, ThreadId};
use crate::transcript::{Body, Item, Name, Origin, Role};

/// What a run's threads are called, and which of their words have no name yet: those that the scenario put there.
#[derive(Default)]
pub(super) struct EarlierNames {
    names: BTreeMap<String, Name>,
    threads: BTreeMap<ThreadId, Nameless>,
}

/// The nameless in the beginning of a history.
#[derive(Default)]
struct Nameless {
    /// So much of it was looked at.
    length: usize,
    /// Where they stand.
    places: Vec<usize>,
}

impl EarlierNames {
    /// The name under which a reply of this agent is kept.
    pub fn of(&mut self, agent: &str) -> Name {
        if let Some(name) = self.names.get(agent) {
            return name.clone();
        }
        self.names.entry(agent.to_owned()).or_insert_with(|| agent.into()).clone()
    }

    /// Changes of one request: what earlier turns wrote is named, what this one wrote is not. Of a reply that holds calls alone the
    /// first call bears the name, since on the wire they are one message.
    pub fn splices(&mut self, history: &[Item], agent: &str, at: &Scope<'_>) -> Vec<Splice> {
        let own = at.own.min(history.len());
        let name = self.of(agent);
        let known = self.threads.entry(at.thread).or_default();
        if known.length > own {
            *known = Nameless::default();
        }
        known.places.extend((known.length..own).filter(|&place| is_nameless(history, place)));
        known.length = own;
        let change = |place: usize, item: Item| Splice { at: place, remove: 1, items: vec![item], keep: false };
        let named = known.places.iter().map(|&place| change(place, history[place].clone().named(name.clone())));
        let unnamed = (own..history.len()).filter(|&place| history[place].origin == Origin::Own && history[place].name().is_some());
        named.chain(unnamed.map(|place| change(place, history[place].clone().unnamed()))).collect()
    }
}

/// Whether an item is a thread's own, begins a message, and has no name.
fn is_nameless(history: &[Item], at: usize) -> bool {
    let is_text = |item: &Item| matches!(item.body(), Body::Message { role: Role::Assistant, .. });
    let item = &history[at];
    if item.origin != Origin::Own || item.name().is_some() {
        return false;
    }
    let before = at.checked_sub(1).and_then(|before| history.get(before));
    is_text(item) || (item.as_call().is_some() && !before.is_some_and(|before| is_text(before) || before.as_call().is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::{CallKey, ToolCall};

    #[test]
    fn one_name_a_message_and_none_in_the_turn_that_runs() {
        let call = |key| {
            let call = ToolCall { key: CallKey(key), id: String::new(), name: "t".into(), args: "{}".into(), intent: None, recorded: None };
            Item::call(call)
        };
        let result = |key| Item::result(CallKey(key), Origin::ToolResult, "r", false);
        let user = || Item::user(Origin::User, "u");
        let history = [
            user(),
            Item::assistant(None, "a"),
            call(1),
            call(2),
            result(1),
            result(2),
            call(3),
            call(4),
            user(),
            Item::assistant(None, "b"),
        ];
        let files = BTreeMap::new();
        let check = |own: usize, expect: &[usize]| {
            let scope = Scope { thread: ThreadId::ROOT, turn: 1, exchange: 1, own, now_ms: 0, threads: &[], files: &files };
            let splices = EarlierNames::default().splices(&history, "lead", &scope);
            assert_eq!(splices.iter().map(|splice| splice.at).collect::<Vec<_>>(), expect);
            assert!(splices.iter().all(|splice| splice.items[0].name() == Some("lead") && !splice.keep && splice.remove == 1));
        };
        check(8, &[1, 6]);
        check(10, &[1, 6, 9]);
        check(0, &[]);
    }

    /// A history that grows turn by turn: what has a name keeps it, and is sent without one while its turn runs.
    #[test]
    fn what_a_turn_writes_is_named_when_it_is_over() {
        let files = BTreeMap::new();
        let mut names = EarlierNames::default();
        let mut history = vec![Item::user(Origin::User, "u"), Item::assistant(None, "told"), Item::user(Origin::User, "u")];
        let mut check = |history: &[Item], own: usize, expect: &[(usize, Option<&str>)]| {
            let scope = Scope { thread: ThreadId::ROOT, turn: 1, exchange: 1, own, now_ms: 0, threads: &[], files: &files };
            let splices = names.splices(history, "lead", &scope);
            let changes: Vec<(usize, Option<&str>)> = splices.iter().map(|splice| (splice.at, splice.items[0].name())).collect();
            assert_eq!(changes, expect);
        };
        check(&history, 3, &[(1, Some("lead"))]);
        history.push(Item::assistant(None, "a").named("lead"));
        check(&history, 3, &[(1, Some("lead")), (3, None)]);
        history.push(Item::user(Origin::User, "u"));
        check(&history, 5, &[(1, Some("lead"))]);
        history.push(Item::assistant(None, "b").named("lead"));
        check(&history, 5, &[(1, Some("lead")), (5, None)]);
    }
}
