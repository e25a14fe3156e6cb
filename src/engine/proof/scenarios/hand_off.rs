//! A hand-off: one thread, two speakers.

use super::super::player::Do::{Back, Delegate, Tool};
use super::super::player::{act, say};
use super::super::story::{ends_with, under};
use super::super::stub::HandOff;
use super::Scenario;

pub const ALL: &[(&str, Scenario)] =
    &[("hand-off: there and back", there_and_back), ("hand-off: the filter reaches earlier turns", the_filter_reaches_earlier_turns)];

/// Control stays with the worker over the user's next message, until it gives it back. The second hand-off of a reply is
/// refused, and the lead's tool items are gone for good.
fn there_and_back() -> Result<(), String> {
    let story = under(&HandOff).user("go").user("more").script(
        "/",
        [act(10, [Tool("look", "{}")]), act(10, [Delegate("X"), Delegate("Y")]), say(10, "mine"), act(10, [Back]), say(10, "yours")],
    );
    let outcome = story.reads(r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 20-30: + call:look | tool:looked
        / 1.2 worker 30-40: = user:go | call:transfer_to_worker | call:transfer_to_worker | result:{"assistant":"worker"} | result!:Multiple handoffs detected, ignoring this one.
        / 2.0 worker 40-50: + own:mine | user:more
        / 2.1 lead 50-60: + call:transfer_to_lead | result:{"assistant":"lead"}
        end 60: / Done; refusals 1
    "#)?;
    ends_with(
        &outcome,
        0,
        r#"user:go | call:transfer_to_worker | call:transfer_to_worker | result:{"assistant":"worker"} | result!:Multiple handoffs detected, ignoring this one. | own:mine | user:more | call:transfer_to_lead | result:{"assistant":"lead"} | own:yours"#,
    )
}

/// A kept splice before the turn's own items: they move, and stay in the history.
fn the_filter_reaches_earlier_turns() -> Result<(), String> {
    let story = under(&HandOff)
        .user("go")
        .user("more")
        .user("again")
        .script("/", [act(10, [Tool("look", "{}")]), say(10, "one"), act(10, [Delegate("X")]), say(10, "two"), say(10, "three")]);
    let outcome = story.reads(
        r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 20-30: + call:look | tool:looked
        / 2.0 lead 30-40: + own:one | user:more
        / 2.1 worker 40-50: = user:go | own:one | user:more | call:transfer_to_worker | result:{"assistant":"worker"}
        / 3.0 worker 50-60: + own:two | user:again
        end 60: / Done
    "#,
    )?;
    // The turn's own items begin at the user's second message: before the filter at 4, behind it at 2.
    let own: Vec<usize> = outcome.rows.iter().filter(|row| row.turn == 2).map(|row| row.sent.own).collect();
    if own != [4, 2] {
        return Err(format!("the second turn's own items begin at {own:?}"));
    }
    ends_with(
        &outcome,
        0,
        r#"user:go | own:one | user:more | call:transfer_to_worker | result:{"assistant":"worker"} | own:two | user:again | own:three"#,
    )
}
