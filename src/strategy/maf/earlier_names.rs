//! Names beside roles, as chat wires know them.

use crate::transcript::{Body, Item, Origin, Role};

use crate::strategy::Splice;

/// What a thread wrote in earlier turns, under its agent's name: changes of one request. Of a reply that holds calls alone
/// the first call bears the name, since on the wire they are one message.
///
/// Microsoft Agent Framework (Python, 1.23.0) names a message when the run that wrote it is over: within a turn the same
/// message was sent without a name (measured).
pub(super) fn of_earlier_turns(history: &[Item], own: usize, agent: &str) -> Vec<Splice> {
    let written = |item: &Item| item.origin == Origin::Own && item.name().is_none();
    let is_text = |item: &Item| matches!(item.body(), Body::Message { role: Role::Assistant, .. });
    let earlier = history.get(..own).unwrap_or(history);
    let begins = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| earlier.get(before));
        !before.is_some_and(|before| is_text(before) || before.as_call().is_some())
    };
    let named =
        earlier.iter().enumerate().filter(|(at, item)| written(item) && (is_text(item) || (item.as_call().is_some() && begins(*at))));
    named.map(|(at, item)| Splice { at, remove: 1, items: vec![item.clone().named(agent)], keep: false }).collect()
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
        let check = |own: usize, expect: &[usize]| {
            let splices = of_earlier_turns(&history, own, "lead");
            assert_eq!(splices.iter().map(|splice| splice.at).collect::<Vec<_>>(), expect);
            assert!(splices.iter().all(|splice| splice.items[0].name() == Some("lead") && !splice.keep && splice.remove == 1));
        };
        check(8, &[1, 6]);
        check(10, &[1, 6, 9]);
        check(0, &[]);
    }
}
