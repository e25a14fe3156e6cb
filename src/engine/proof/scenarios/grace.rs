//! One call, several turns; a summary by a request of its own.

use super::super::player::Do::{Delegate, Tool};
use super::super::player::{act, say};
use super::super::story::{ends_with, under};
use super::super::stub::Grace;
use super::Scenario;

pub const ALL: &[(&str, Scenario)] = &[
    ("grace: the last turn queues behind the others", the_last_turn_queues_behind_the_others),
    ("grace: a summary is an aside", a_summary_is_an_aside),
];

/// A is stopped after two requests at 50 ms and gets one more turn by the same call, behind B, which was queued first.
/// Each answer goes to the call that opened its turn.
fn the_last_turn_queues_behind_the_others() -> Result<(), String> {
    let strategy = Grace { rounds: 2, compact_at: 0 };
    let look = || act(10, [Tool("look", "{}")]);
    let story = under(&strategy)
        .user("go")
        .script("/", [act(10, [Delegate("A"), Delegate("B")]), say(10, "end")])
        .script("A", [look(), look(), say(10, "A short")])
        .script("B", [say(10, "B done")]);
    let outcome = story.reads(
        r#"
        / 1.0 lead 0-10: + user:go
        /1 1.0 worker 10-20: + task:do A
        /1 1.1 worker 30-40: + call:look | tool:looked
        /1 2.0 worker 50-60: + call:look | tool:looked | task:do B
        /1 3.0 worker 60-70: + own:B done | task:Wrap up.
        / 1.1 lead 70-80: + call:delegate | call:delegate | result:A short | result:B done
        end 80: / Done, /1 Done
    "#,
    )?;
    ends_with(
        &outcome,
        1,
        "task:do A | call:look | tool:looked | call:look | tool:looked | task:do B | own:B done | task:Wrap up. | own:A short",
    )
}

/// The aside's reply enters no history by itself; the strategy makes it the history from then on.
fn a_summary_is_an_aside() -> Result<(), String> {
    let strategy = Grace { rounds: 9, compact_at: 5 };
    let look = || act(10, [Tool("look", "{}")]);
    let story =
        under(&strategy).user("go").user("again").script("/", [look(), look(), say(10, "SUMMARY"), say(10, "end"), say(10, "more")]);
    let outcome = story.reads(
        r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 20-30: + call:look | tool:looked
        / 1.2 lead 40-50 aside: + call:look | tool:looked | compaction:Summarise.
        / 1.3 lead 50-60: = user:go | compaction:SUMMARY
        / 2.0 lead 60-70: + own:end | user:again
        end 70: / Done
    "#,
    )?;
    ends_with(&outcome, 0, "user:go | compaction:SUMMARY | own:end | user:again | own:more")
}
