//! Codex v1: wait for any, notices, limits, close and resume.

use super::super::player::Do::{Ask, Close, Delegate, Tool, Wait};
use super::super::player::{act, fail, say};
use super::super::story::{Story, under};
use super::super::stub::CodexV1;
use super::Scenario;
use crate::engine::Ceilings;

pub const ALL: &[(&str, Scenario)] = &[
    ("codex v1: wait returns with the first", wait_returns_with_the_first),
    ("codex v1: limits", limits),
    ("codex v1: resume rearms the notice", resume_rearms_the_notice),
    ("codex v1: timeout is clamped", timeout_is_clamped),
    ("codex v1: completion wins over the timeout", completion_wins_over_the_timeout),
    ("codex v1: a notice extends the turn", a_notice_extends_the_turn),
    ("codex v1: a notice to an idle parent is recorded", a_notice_to_an_idle_parent_is_recorded),
    ("codex v1: close aborts", close_aborts),
    ("codex v1: an error is a status", an_error_is_a_status),
    ("codex v1: a ceiling is an error", a_ceiling_is_an_error),
    ("codex v1: input steers", input_steers),
];

fn story() -> Story<'static> {
    under(&CodexV1).user("go")
}

/// A wait for two returns with the one that is done first; the notice repeats each result.
fn wait_returns_with_the_first() -> Result<(), String> {
    let story = story()
        .script("/", [act(10, [Delegate("A"), Delegate("B")]), act(10, [Wait(&["A", "B"])]), act(10, [Wait(&["A"])]), say(10, "both")])
        .script("A", [say(300, "A done")])
        .script("B", [say(100, "B done")]);
    story.reads(r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-20: + call:spawn_agent | call:spawn_agent | result:{"agent_id":"a1"} | result:{"agent_id":"a2"}
        /1 1.0 worker 10-310: + task:do A
        /2 1.0 worker 10-110: + task:do B
        / 1.2 lead 110-120: + call:wait_agent | result:{"status":{"a2":{"completed":"B done"}},"timed_out":false} | delegated:<subagent_notification>\n{"agent_path":"a2","status":{"completed":"B done"}}\n</subagent_notification>
        / 1.3 lead 310-320: + call:wait_agent | result:{"status":{"a1":{"completed":"A done"}},"timed_out":false} | delegated:<subagent_notification>\n{"agent_path":"a1","status":{"completed":"A done"}}\n</subagent_notification>
        end 320: / Done, /1 Done, /2 Done
    "#)?;
    Ok(())
}

/// The seventh open child and a child's child are refused, a closed child frees its slot and takes no input.
fn limits() -> Result<(), String> {
    let seven = [Delegate("A"), Delegate("B"), Delegate("C"), Delegate("D"), Delegate("E"), Delegate("F"), Delegate("G")];
    let story = story()
        .script("/", [act(10, seven), act(10, [Close("A")]), act(10, [Delegate("G"), Ask("A", "more")]), say(10, "done")])
        .script("A", [act(5, [Delegate("X")]), say(3, "A done")])
        .script("B", [say(1000, "slow")])
        .script("C", [say(1000, "slow")])
        .script("D", [say(1000, "slow")])
        .script("E", [say(1000, "slow")])
        .script("F", [say(1000, "slow")])
        .script("G", [say(1000, "slow")]);
    story.reads(r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-20: + call:spawn_agent | call:spawn_agent | call:spawn_agent | call:spawn_agent | call:spawn_agent | call:spawn_agent | call:spawn_agent | result:{"agent_id":"a1"} | result:{"agent_id":"a2"} | result:{"agent_id":"a3"} | result:{"agent_id":"a4"} | result:{"agent_id":"a5"} | result:{"agent_id":"a6"} | result!:collab spawn failed: agent thread limit reached
        /1 1.0 worker 10-15: + task:do A
        /2 1.0 worker 10-abandoned: + task:do B
        /3 1.0 worker 10-abandoned: + task:do C
        /4 1.0 worker 10-abandoned: + task:do D
        /5 1.0 worker 10-abandoned: + task:do E
        /6 1.0 worker 10-abandoned: + task:do F
        /1 1.1 worker 15-18: + call:spawn_agent | result!:Agent depth limit reached. Solve the task yourself.
        / 1.2 lead 20-30: + call:close_agent | result:{"previous_status":{"completed":"A done"}} | delegated:<subagent_notification>\n{"agent_path":"a1","status":{"completed":"A done"}}\n</subagent_notification>
        / 1.3 lead 30-40: + call:spawn_agent | call:send_input | result:{"agent_id":"a7"} | result!:agent with id a1 is closed
        /7 1.0 worker 30-abandoned: + task:do G
        end 40: / Done, /1 Done, /2 - abandoned, /3 - abandoned, /4 - abandoned, /5 - abandoned, /6 - abandoned, /7 - abandoned; refusals 2
    "#)?;
    Ok(())
}

/// One notice a spawn or resume: none for the second turn, one again for the third.
fn resume_rearms_the_notice() -> Result<(), String> {
    let story = story()
        .script(
            "/",
            [
                act(10, [Delegate("A")]),
                act(10, [Wait(&["A"])]),
                act(10, [Ask("A", "more")]),
                act(10, [Wait(&["A"])]),
                act(10, [Close("A")]),
                act(10, [Tool("resume_agent", r#"{"id":"a1"}"#)]),
                act(10, [Ask("A", "again")]),
                act(10, [Wait(&["A"])]),
                say(10, "done"),
            ],
        )
        .script("A", [say(100, "one"), say(100, "two"), say(100, "three")]);
    story.reads(r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-20: + call:spawn_agent | result:{"agent_id":"a1"}
        /1 1.0 worker 10-110: + task:do A
        / 1.2 lead 110-120: + call:wait_agent | result:{"status":{"a1":{"completed":"one"}},"timed_out":false} | delegated:<subagent_notification>\n{"agent_path":"a1","status":{"completed":"one"}}\n</subagent_notification>
        / 1.3 lead 120-130: + call:send_input | result:{"submission_id":"s1"}
        /1 2.0 worker 120-220: + own:one | task:more
        / 1.4 lead 220-230: + call:wait_agent | result:{"status":{"a1":{"completed":"two"}},"timed_out":false}
        / 1.5 lead 230-240: + call:close_agent | result:{"previous_status":{"completed":"two"}}
        / 1.6 lead 240-250: + call:resume_agent | result:{"status":"shutdown"}
        / 1.7 lead 250-260: + call:send_input | result:{"submission_id":"s2"}
        /1 3.0 worker 250-350: + own:two | task:again
        / 1.8 lead 350-360: + call:wait_agent | result:{"status":{"a1":{"completed":"three"}},"timed_out":false} | delegated:<subagent_notification>\n{"agent_path":"a1","status":{"completed":"three"}}\n</subagent_notification>
        end 360: / Done, /1 Done
    "#)?;
    Ok(())
}

/// 1 ms becomes 10,000 ms; the child that nobody waits for is paid all the same.
fn timeout_is_clamped() -> Result<(), String> {
    let story = story()
        .script("/", [act(10, [Delegate("A")]), act(10, [Tool("wait_agent", r#"{"targets":["a1"],"timeout_ms":1}"#)]), say(10, "no")])
        .script("A", [say(15_000, "late")]);
    story.reads(
        r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-20: + call:spawn_agent | result:{"agent_id":"a1"}
        /1 1.0 worker 10-abandoned: + task:do A
        / 1.2 lead 10020-10030: + call:wait_agent | result:{"status":{},"timed_out":true}
        end 10030: / Done, /1 - abandoned
    "#,
    )?;
    Ok(())
}

/// At 10,020 ms arrive, in this order, B's end, the time-out and A's end: the wait is asked after all three.
fn completion_wins_over_the_timeout() -> Result<(), String> {
    let wait = Tool("wait_agent", r#"{"targets":["a1","a2"],"timeout_ms":1}"#);
    let story = story()
        .script("/", [act(10, [Delegate("A"), Delegate("B")]), act(10, [wait]), say(10, "both")])
        .script("A", [act(10, [Tool("look", "{}")]), say(9_990, "A done")])
        .script("B", [say(10_010, "B done")]);
    story.reads(r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-20: + call:spawn_agent | call:spawn_agent | result:{"agent_id":"a1"} | result:{"agent_id":"a2"}
        /1 1.0 worker 10-20: + task:do A
        /2 1.0 worker 10-10020: + task:do B
        /1 1.1 worker 30-10020: + call:look | tool:looked
        / 1.2 lead 10020-10030: + call:wait_agent | result:{"status":{"a1":{"completed":"A done"},"a2":{"completed":"B done"}},"timed_out":false} | delegated:<subagent_notification>\n{"agent_path":"a2","status":{"completed":"B done"}}\n</subagent_notification> | delegated:<subagent_notification>\n{"agent_path":"a1","status":{"completed":"A done"}}\n</subagent_notification>
        end 10030: / Done, /1 Done, /2 Done
    "#)?;
    Ok(())
}

/// A notice that comes during the last sampling costs the parent one request more in the same turn.
fn a_notice_extends_the_turn() -> Result<(), String> {
    let story = story().script("/", [act(10, [Delegate("A")]), say(100, "early"), say(10, "late")]).script("A", [say(50, "A done")]);
    story.reads(r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-110: + call:spawn_agent | result:{"agent_id":"a1"}
        /1 1.0 worker 10-60: + task:do A
        / 1.2 lead 110-120: + own:early | delegated:<subagent_notification>\n{"agent_path":"a1","status":{"completed":"A done"}}\n</subagent_notification>
        end 120: / Done, /1 Done
    "#)?;
    Ok(())
}

/// A notice never starts a turn: it stands in the history when the next one opens.
fn a_notice_to_an_idle_parent_is_recorded() -> Result<(), String> {
    let story = story()
        .user_at(100, "and?")
        .script("/", [act(10, [Delegate("A")]), say(10, "early"), say(10, "late")])
        .script("A", [say(50, "A done")]);
    story.reads(r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-20: + call:spawn_agent | result:{"agent_id":"a1"}
        /1 1.0 worker 10-60: + task:do A
        / 2.0 lead 100-110: + own:early | delegated:<subagent_notification>\n{"agent_path":"a1","status":{"completed":"A done"}}\n</subagent_notification> | user:and?
        end 110: / Done, /1 Done
    "#)?;
    Ok(())
}

/// Close aborts a child in its tool and one in its sampling; the open call gets a result, so nothing dangles when the
/// child goes on. The tool's answer at 115 ms comes for a turn that is over.
fn close_aborts() -> Result<(), String> {
    let story = story()
        .script(
            "/",
            [
                act(10, [Delegate("A"), Delegate("B")]),
                act(10, [Close("A"), Close("B")]),
                act(10, [Tool("resume_agent", r#"{"id":"a1"}"#)]),
                act(10, [Ask("A", "again")]),
                act(10, [Wait(&["A"])]),
                say(100, "done"),
            ],
        )
        .script("A", [act(5, [Tool("dig", "{}")]), say(20, "fine")])
        .script("B", [say(500, "never")]);
    let outcome = story.reads(r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-20: + call:spawn_agent | call:spawn_agent | result:{"agent_id":"a1"} | result:{"agent_id":"a2"}
        /1 1.0 worker 10-15: + task:do A
        /2 1.0 worker 10-aborted: + task:do B
        / 1.2 lead 20-30: + call:close_agent | call:close_agent | result:{"previous_status":"running"} | result:{"previous_status":"running"} | delegated:<subagent_notification>\n{"agent_path":"a1","status":"shutdown"}\n</subagent_notification> | delegated:<subagent_notification>\n{"agent_path":"a2","status":"shutdown"}\n</subagent_notification>
        / 1.3 lead 30-40: + call:resume_agent | result:{"status":"shutdown"}
        / 1.4 lead 40-50: + call:send_input | result:{"submission_id":"s1"}
        /1 2.0 worker 40-60: + call:dig | tool!:aborted | task:again
        / 1.5 lead 60-160: + call:wait_agent | result:{"status":{"a1":{"completed":"fine"}},"timed_out":false} | delegated:<subagent_notification>\n{"agent_path":"a1","status":{"completed":"fine"}}\n</subagent_notification>
        end 160: / Done, /1 Done, /2 Aborted
    "#)?;
    match outcome.late_replies {
        1 => Ok(()),
        other => Err(format!("one late answer, the tool's at 115 ms, was expected; {other} were counted")),
    }
}

/// A child whose model gives no reply has a final status.
fn an_error_is_a_status() -> Result<(), String> {
    let story = story()
        .script("/", [act(10, [Delegate("A")]), act(10, [Wait(&["A"])]), say(10, "pity")])
        .script("A", [act(20, [Tool("look", "{}")]), fail("boom")]);
    story.reads(r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-20: + call:spawn_agent | result:{"agent_id":"a1"}
        /1 1.0 worker 10-30: + task:do A
        /1 1.1 worker 40-failed: + call:look | tool:looked
        / 1.2 lead 41-51: + call:wait_agent | result:{"status":{"a1":{"errored":"boom"}},"timed_out":false} | delegated:<subagent_notification>\n{"agent_path":"a1","status":{"errored":"boom"}}\n</subagent_notification>
        end 51: / Done, /1 Failed('boom')
    "#)?;
    Ok(())
}

/// A child that meets the harness's ceiling of three exchanges ends its turn, and its parent goes on.
fn a_ceiling_is_an_error() -> Result<(), String> {
    let look = || act(10, [Tool("look", "{}")]);
    let story = story()
        .ceilings(Ceilings { rounds: 3, ..Ceilings::default() })
        .script("/", [act(10, [Delegate("A")]), act(10, [Wait(&["A"])]), say(10, "pity")])
        .script("A", [look(), look(), look(), say(10, "never")]);
    story.reads(
        r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-20: + call:spawn_agent | result:{"agent_id":"a1"}
        /1 1.0 worker 10-20: + task:do A
        /1 1.1 worker 30-40: + call:look | tool:looked
        /1 1.2 worker 50-60: + call:look | tool:looked
        / 1.2 lead 70-80: + call:wait_agent | result:{"status":{"a1":{"errored":"thread /1: turn 1 reached the harness's ceiling of 3 exchanges"}},"timed_out":false} | delegated:<subagent_notification>\n{"agent_path":"a1","status":{"errored":"thread /1: turn 1 reached the harness's ceiling of 3 exchanges"}}\n</subagent_notification>
        end 80: / Done, /1 Ceiling('thread /1: turn 1 reached the harness's ceiling of 3 exchanges')
    "#,
    )?;
    Ok(())
}

/// The user's message joins the running turn.
fn input_steers() -> Result<(), String> {
    let story = story().user_at(15, "and this").script("/", [act(10, [Tool("dig", "{}")]), say(10, "one")]);
    story.reads(
        r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 110-120: + call:dig | tool:dug | user:and this
        end 120: / Done
    "#,
    )?;
    Ok(())
}
