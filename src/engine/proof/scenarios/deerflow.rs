//! DeerFlow: the quota, the polls, the ledger.

use super::super::player::Do::{Delegate, Tool};
use super::super::player::{act, say};
use super::super::story::{ends_with, under};
use super::super::stub::DeerFlow;
use super::Scenario;

pub const ALL: &[(&str, Scenario)] = &[("deerflow: three at once, polled", three_at_once_polled), ("deerflow: quota spent", quota_spent)];

/// Of four calls one is cut. A takes 5,001 ms, so the second poll, at 10,000 ms, finds it; B and C are found by the first
/// one. The results stand in call order, the ledger in front of everything.
fn three_at_once_polled() -> Result<(), String> {
    let strategy = DeerFlow { at_once: 3, in_all: 6 };
    let story = under(&strategy)
        .user("go")
        .script("/", [act(10, [Delegate("A"), Delegate("B"), Delegate("C"), Delegate("D")]), say(10, "ok")])
        .script("A", [say(5_001, "A done")])
        .script("B", [say(100, "B done")])
        .script("C", [say(100, "C done")]);
    let outcome = story.reads(r#"
        / 1.0 lead 0-10 cut 1: + user:go
        /1 1.0 worker 10-5011: + task:do A
        /2 1.0 worker 10-110: + task:do B
        /3 1.0 worker 10-110: + task:do C
        / 1.1 lead 10010-10020: = delegated:## Work already delegated\n- [completed] title C\n- [completed] title B\n- [completed] title A | user:go | call:task | call:task | call:task | result:Task Succeeded. Result: A done | result:Task Succeeded. Result: B done | result:Task Succeeded. Result: C done
        end 10020: / Done, /1 Done, /2 Done, /3 Done
    "#)?;
    // The cut call was written and is paid. A call as the next request holds it: 3 for the frame, 27 for the header
    // `assistant to=functions.task`, 66 for `{"description":"title A","prompt":"do A","subagent_type":"worker"}`.
    let written = outcome.rows[0].output;
    if written != 4 * (3 + 27 + 66) {
        return Err(format!("four calls of 96 bytes were written, {written} bytes are paid"));
    }
    ends_with(
        &outcome,
        0,
        "user:go | call:task | call:task | call:task | result:Task Succeeded. Result: A done | result:Task Succeeded. Result: B done | result:Task Succeeded. Result: C done | own:ok",
    )
}

/// With nothing left a task is cut and the text says so; the other tool runs; a reply of cut calls alone ends the turn.
fn quota_spent() -> Result<(), String> {
    let strategy = DeerFlow { at_once: 3, in_all: 1 };
    let story = under(&strategy)
        .user("go")
        .script("/", [act(10, [Delegate("A")]), act(10, [Delegate("B"), Tool("look", "{}")]), act(10, [Delegate("C")])])
        .script("A", [say(100, "A done")]);
    let outcome = story.reads(r#"
        / 1.0 lead 0-10: + user:go
        /1 1.0 worker 10-110: + task:do A
        / 1.1 lead 5010-5020 cut 1: = delegated:## Work already delegated\n- [completed] title A | user:go | call:task | result:Task Succeeded. Result: A done
        / 1.2 lead 5030-5040 cut 1: + own:The delegation limit of this run is reached. | call:look | tool:looked
        end 5040: / Done, /1 Done
    "#)?;
    ends_with(
        &outcome,
        0,
        "user:go | call:task | result:Task Succeeded. Result: A done | own:The delegation limit of this run is reached. | call:look | tool:looked | own:The delegation limit of this run is reached.",
    )
}
