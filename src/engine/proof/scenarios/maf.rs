//! Microsoft Agent Framework: kept sessions beside each other or one after the other, and errors in a row.

use super::super::player::Do::{Delegate, Tool};
use super::super::player::{Step, act, say};
use super::super::story::{Story, ends_with, under};
use super::super::stub::Maf;
use super::Scenario;

pub const ALL: &[(&str, Scenario)] = &[
    ("maf: overlap commits in completion order", overlap_commits_in_completion_order),
    ("maf: serial runs in call order", serial_runs_in_call_order),
    ("maf: fresh sessions know nothing", fresh_sessions_know_nothing),
    ("maf: four errors in a row end the run", four_errors_in_a_row_end_the_run),
    ("maf: python takes the tools away", python_takes_the_tools_away),
    ("maf: a failed turn is not kept", a_failed_turn_is_not_kept),
];

const PYTHON: Maf = Maf { python: true, kept: true };
const NET: Maf = Maf { python: false, kept: true };

fn bad() -> Step {
    act(10, [Tool("bad", "{}")])
}

fn three_tasks(strategy: &Maf) -> Story<'_> {
    under(strategy)
        .user("go")
        .script("/", [act(10, [Delegate("A"), Delegate("B")]), act(10, [Delegate("C")]), say(10, "end")])
        .script("A", [say(100, "A done")])
        .script("B", [say(50, "B done")])
        .script("C", [say(10, "C done")])
}

/// A and B run beside each other on one thread: neither sees the other; B is done first and stands first.
fn overlap_commits_in_completion_order() -> Result<(), String> {
    let outcome = three_tasks(&PYTHON).reads(
        r#"
        / 1.0 lead 0-10: + user:go
        /1 1.0 worker 10-110: + task:do A
        /1 2.0 worker 10-60: = task:do B
        / 1.1 lead 110-120: + call:worker | call:worker | result:A done | result:B done
        /1 3.0 worker 120-130: + own:B done | task:do A | own:A done | task:do C
        / 1.2 lead 130-140: + call:worker | result:C done
        end 140: / Done, /1 Done
    "#,
    )?;
    ends_with(&outcome, 1, "task:do B | own:B done | task:do A | own:A done | task:do C | own:C done")
}

/// In .NET B is called when A is answered; a result is a JSON string.
fn serial_runs_in_call_order() -> Result<(), String> {
    let outcome = three_tasks(&NET).reads(
        r#"
        / 1.0 lead 0-10: + user:go
        /1 1.0 worker 10-110: + task:do A
        /1 2.0 worker 110-160: + own:A done | task:do B
        / 1.1 lead 160-170: + call:worker | call:worker | result:"A done" | result:"B done"
        /1 3.0 worker 170-180: + own:B done | task:do C
        / 1.2 lead 180-190: + call:worker | result:"C done"
        end 190: / Done, /1 Done
    "#,
    )?;
    ends_with(&outcome, 1, "task:do A | own:A done | task:do B | own:B done | task:do C | own:C done")
}

/// Without kept sessions each call has a thread of its own.
fn fresh_sessions_know_nothing() -> Result<(), String> {
    three_tasks(&Maf { python: true, kept: false }).reads(
        r#"
        / 1.0 lead 0-10: + user:go
        /1 1.0 worker 10-110: + task:do A
        /2 1.0 worker 10-60: + task:do B
        / 1.1 lead 110-120: + call:worker | call:worker | result:A done | result:B done
        /3 1.0 worker 120-130: + task:do C
        / 1.2 lead 130-140: + call:worker | result:C done
        end 140: / Done, /1 Done, /2 Done, /3 Done
    "#,
    )?;
    Ok(())
}

fn seven_steps(strategy: &Maf) -> Story<'_> {
    under(strategy).user("go").script("/", [bad(), bad(), act(10, [Tool("look", "{}")]), bad(), bad(), bad(), bad()])
}

/// Two errors, a success, four errors: the seventh iteration is the fourth failing one in a row, and the run is over.
fn four_errors_in_a_row_end_the_run() -> Result<(), String> {
    seven_steps(&NET).reads(
        r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 20-30: + call:bad | tool!:no bad
        / 1.2 lead 40-50: + call:bad | tool!:no bad
        / 1.3 lead 60-70: + call:look | tool:looked
        / 1.4 lead 80-90: + call:bad | tool!:no bad
        / 1.5 lead 100-110: + call:bad | tool!:no bad
        / 1.6 lead 120-130: + call:bad | tool!:no bad
        end 140: / Failed('Error: Function failed.'); failure strategy
    "#,
    )?;
    Ok(())
}

/// Python sends the seventh request without tools; a call that comes all the same is cut, and a fixed text ends the turn.
fn python_takes_the_tools_away() -> Result<(), String> {
    let outcome = seven_steps(&PYTHON).reads(
        r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 20-30: + call:bad | tool!:no bad
        / 1.2 lead 40-50: + call:bad | tool!:no bad
        / 1.3 lead 60-70: + call:look | tool:looked
        / 1.4 lead 80-90: + call:bad | tool!:no bad
        / 1.5 lead 100-110: + call:bad | tool!:no bad
        / 1.6 lead 120-130 cut 1: + call:bad | tool!:no bad
        end 130: / Done
    "#,
    )?;
    match outcome.answer().as_str() {
        "Function invocation limit reached before a final answer could be produced." => Ok(()),
        other => Err(format!("the answer is `{other}`")),
    }
}

/// The child fails; its next turn finds nothing of it.
fn a_failed_turn_is_not_kept() -> Result<(), String> {
    let story = under(&NET)
        .user("go")
        .script("/", [act(10, [Delegate("A")]), act(10, [Delegate("B")]), say(10, "end")])
        .script("A", [bad(), bad(), bad(), bad()])
        .script("B", [say(10, "B done")]);
    let outcome = story.reads(
        r#"
        / 1.0 lead 0-10: + user:go
        /1 1.0 worker 10-20: + task:do A
        /1 1.1 worker 30-40: + call:bad | tool!:no bad
        /1 1.2 worker 50-60: + call:bad | tool!:no bad
        /1 1.3 worker 70-80: + call:bad | tool!:no bad
        / 1.1 lead 90-100: + call:worker | result!:Error: Function failed.
        /1 2.0 worker 100-110: = task:do B
        / 1.2 lead 110-120: + call:worker | result:"B done"
        end 120: / Done, /1 Done
    "#,
    )?;
    ends_with(&outcome, 1, "task:do B | own:B done")
}
