//! Codex v2: mail, its delivery, waits without content.

use super::super::player::Do::{Ask, Close, Delegate, Tell, Tool, Wait};
use super::super::player::{act, say, say_and_act};
use super::super::story::{Story, ends_with, under};
use super::super::stub::CodexV2;
use super::Scenario;

pub const ALL: &[(&str, Scenario)] = &[
    ("codex v2: a hint reaches the running child", a_hint_reaches_the_running_child),
    ("codex v2: a note to an idle child waits", a_note_to_an_idle_child_waits),
    ("codex v2: what ends a wait", what_ends_a_wait),
    ("codex v2: queued mail ends a wait at once", queued_mail_ends_a_wait_at_once),
    ("codex v2: mail after the final text", mail_after_the_final_text),
    ("codex v2: mail may stay unread", mail_may_stay_unread),
    ("codex v2: shut stays shut", shut_stays_shut),
    ("codex v2: input reopens", input_reopens),
    ("codex v2: unread follow-up opens a turn", unread_follow_up_opens_a_turn),
    ("codex v2: mail of the same millisecond is read", mail_of_the_same_millisecond_is_read),
    ("codex v2: running turns are limited", running_turns_are_limited),
    ("codex v2: interrupted is silent", interrupted_is_silent),
];

fn story() -> Story<'static> {
    under(&CodexV2 { phases: true }).user("go")
}

/// Without phases on the wire, text beside a call shuts the mailbox.
fn story_without_phases() -> Story<'static> {
    under(&CodexV2 { phases: false }).user("go")
}

/// A hint sent at 20 ms stands in the child's request of 120 ms; mail wakes the wait, which never carries content.
fn a_hint_reaches_the_running_child() -> Result<(), String> {
    let story = story()
        .script("/", [act(10, [Delegate("A")]), act(10, [Tell("A", "hint")]), act(10, [Wait(&["A"])]), say(10, "ok")])
        .script("A", [act(100, [Tool("look", "{}")]), say(50, "A done")]);
    story.reads(
        r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-20: + call:spawn_agent | result:{"task_name":"/root/a"}
        /1 1.0 worker 10-110: + mail:/root>/root/a:NEW_TASK do A
        / 1.2 lead 20-30: + call:send_message | result:
        /1 1.1 worker 120-170: + call:look | tool:looked | mail:/root>/root/a:MESSAGE hint
        / 1.3 lead 170-180: + call:wait_agent | result:Wait completed. | mail:/root/a>/root:FINAL_ANSWER A done
        end 180: / Done, /1 Done
    "#,
    )?;
    Ok(())
}

/// A note starts nothing in an idle child and is read before the follow-up that wakes it; each turn has its answer.
fn a_note_to_an_idle_child_waits() -> Result<(), String> {
    let story = story()
        .script(
            "/",
            [
                act(10, [Delegate("A")]),
                act(10, [Wait(&["A"])]),
                act(10, [Tell("A", "note")]),
                act(10, [Ask("A", "follow")]),
                act(10, [Wait(&["A"])]),
                say(10, "ok"),
            ],
        )
        .script("A", [say(50, "one"), say(50, "two")]);
    story.reads(
        r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-20: + call:spawn_agent | result:{"task_name":"/root/a"}
        /1 1.0 worker 10-60: + mail:/root>/root/a:NEW_TASK do A
        / 1.2 lead 60-70: + call:wait_agent | result:Wait completed. | mail:/root/a>/root:FINAL_ANSWER one
        / 1.3 lead 70-80: + call:send_message | result:
        / 1.4 lead 80-90: + call:followup_task | result:
        /1 2.0 worker 80-130: + own:one | mail:/root>/root/a:MESSAGE note | mail:/root>/root/a:NEW_TASK follow
        / 1.5 lead 130-140: + call:wait_agent | result:Wait completed. | mail:/root/a>/root:FINAL_ANSWER two
        end 140: / Done, /1 Done
    "#,
    )?;
    Ok(())
}

/// Input at 50 ms, the time-out of 30,000 ms, mail at 40,010 ms within a wait whose 1 ms became 10,000 ms.
fn what_ends_a_wait() -> Result<(), String> {
    let short = Tool("wait_agent", r#"{"timeout_ms":1}"#);
    let story = story()
        .user_at(50, "also")
        .script("/", [act(10, [Delegate("A")]), act(10, [Wait(&["A"])]), act(10, [Wait(&["A"])]), act(10, [short]), say(10, "ok")])
        .script("A", [say(40_000, "A done")]);
    story.reads(r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-20: + call:spawn_agent | result:{"task_name":"/root/a"}
        /1 1.0 worker 10-40010: + mail:/root>/root/a:NEW_TASK do A
        / 1.2 lead 50-60: + call:wait_agent | result:Wait interrupted by new input. | user:also
        / 1.3 lead 30060-30070: + call:wait_agent | result:Wait timed out.
        / 1.4 lead 40010-40020: + call:wait_agent | result:Wait completed.\n\nRequested timeout of 1ms was clamped to the minimum of 10000ms. | mail:/root/a>/root:FINAL_ANSWER A done
        end 40020: / Done, /1 Done
    "#)?;
    Ok(())
}

/// Mail that came while the wait was being written.
fn queued_mail_ends_a_wait_at_once() -> Result<(), String> {
    let story = story().script("/", [act(10, [Delegate("A")]), act(10, [Wait(&["A"])]), say(10, "ok")]).script("A", [say(5, "A done")]);
    story.reads(
        r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-20: + call:spawn_agent | result:{"task_name":"/root/a"}
        /1 1.0 worker 10-15: + mail:/root>/root/a:NEW_TASK do A
        / 1.2 lead 20-30: + call:wait_agent | result:Wait completed. | mail:/root/a>/root:FINAL_ANSWER A done
        end 30: / Done, /1 Done
    "#,
    )?;
    Ok(())
}

/// Mail that comes during the sampling of the final text waits for the next turn, and there for its second request.
fn mail_after_the_final_text() -> Result<(), String> {
    let story = story()
        .user("next")
        .script("/", [act(10, [Delegate("A")]), say(100, "final"), act(10, [Tool("look", "{}")]), say(10, "end")])
        .script("A", [say(50, "A done")]);
    story.reads(
        r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-110: + call:spawn_agent | result:{"task_name":"/root/a"}
        /1 1.0 worker 10-60: + mail:/root>/root/a:NEW_TASK do A
        / 2.0 lead 110-120: + own:final | user:next
        / 2.1 lead 130-140: + call:look | tool:looked | mail:/root/a>/root:FINAL_ANSWER A done
        end 140: / Done, /1 Done
    "#,
    )?;
    Ok(())
}

/// If the next turn makes one request only, the answer is never read.
fn mail_may_stay_unread() -> Result<(), String> {
    let story =
        story().user("next").script("/", [act(10, [Delegate("A")]), say(100, "final"), say(10, "end")]).script("A", [say(50, "A done")]);
    let outcome = story.reads(
        r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-110: + call:spawn_agent | result:{"task_name":"/root/a"}
        /1 1.0 worker 10-60: + mail:/root>/root/a:NEW_TASK do A
        / 2.0 lead 110-120: + own:final | user:next
        end 120: / Done, /1 Done
    "#,
    )?;
    ends_with(&outcome, 0, r#"user:go | call:spawn_agent | result:{"task_name":"/root/a"} | own:final | user:next | own:end"#)
}

/// Text beside a call shut the mailbox; a reply of calls alone does not open it again.
fn shut_stays_shut() -> Result<(), String> {
    let look = || Tool("look", "{}");
    let story = story_without_phases()
        .script("/", [act(10, [Delegate("A")]), say_and_act(20, "thinking", [look()]), act(10, [look()]), say(10, "end")])
        .script("A", [say(25, "A done")]);
    story.reads(
        r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-30: + call:spawn_agent | result:{"task_name":"/root/a"}
        /1 1.0 worker 10-35: + mail:/root>/root/a:NEW_TASK do A
        / 1.2 lead 40-50: + own:thinking | call:look | tool:looked
        / 1.3 lead 60-70: + call:look | tool:looked
        end 70: / Done, /1 Done
    "#,
    )?;
    Ok(())
}

/// The user's message at 36 ms opens the mailbox again, so the mail of 32 ms is read, too.
fn input_reopens() -> Result<(), String> {
    let story = story_without_phases()
        .user_at(36, "steer")
        .script("/", [act(10, [Delegate("A")]), say_and_act(20, "thinking", [Tool("look", "{}")]), say(10, "end")])
        .script("A", [say(22, "A done")]);
    story.reads(
        r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-30: + call:spawn_agent | result:{"task_name":"/root/a"}
        /1 1.0 worker 10-32: + mail:/root>/root/a:NEW_TASK do A
        / 1.2 lead 40-50: + own:thinking | call:look | tool:looked | mail:/root/a>/root:FINAL_ANSWER A done | user:steer
        end 50: / Done, /1 Done
    "#,
    )?;
    Ok(())
}

/// A follow-up that a shut turn could not read starts the next turn.
fn unread_follow_up_opens_a_turn() -> Result<(), String> {
    let story = story_without_phases()
        .script(
            "/",
            [act(10, [Delegate("A")]), act(20, [Ask("A", "more")]), act(10, [Wait(&["A"])]), act(10, [Wait(&["A"])]), say(10, "end")],
        )
        .script("A", [say_and_act(15, "thinking", [Tool("dig", "{}")]), say(10, "one"), say(10, "two")]);
    story.reads(
        r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-30: + call:spawn_agent | result:{"task_name":"/root/a"}
        /1 1.0 worker 10-25: + mail:/root>/root/a:NEW_TASK do A
        / 1.2 lead 30-40: + call:followup_task | result:
        /1 1.1 worker 125-135: + own:thinking | call:dig | tool:dug
        / 1.3 lead 135-145: + call:wait_agent | result:Wait completed. | mail:/root/a>/root:FINAL_ANSWER one
        /1 2.0 worker 135-145: + own:one | mail:/root>/root/a:NEW_TASK more
        / 1.4 lead 145-155: + call:wait_agent | result:Wait completed. | mail:/root/a>/root:FINAL_ANSWER two
        end 155: / Done, /1 Done
    "#,
    )?;
    Ok(())
}

/// At 120 ms arrive, in this order, the tool's result and the child's answer: the request of that millisecond has both.
fn mail_of_the_same_millisecond_is_read() -> Result<(), String> {
    let story = story()
        .script("/", [act(10, [Delegate("A")]), act(10, [Tool("dig", "{}")]), say(10, "ok")])
        .script("A", [act(10, [Tool("look", "{}")]), say(90, "A done")]);
    story.reads(
        r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-20: + call:spawn_agent | result:{"task_name":"/root/a"}
        /1 1.0 worker 10-20: + mail:/root>/root/a:NEW_TASK do A
        /1 1.1 worker 30-120: + call:look | tool:looked
        / 1.2 lead 120-130: + call:dig | tool:dug | mail:/root/a>/root:FINAL_ANSWER A done
        end 130: / Done, /1 Done
    "#,
    )?;
    Ok(())
}

/// Three children run at most; one that is done makes room.
fn running_turns_are_limited() -> Result<(), String> {
    let four = [Delegate("A"), Delegate("B"), Delegate("C"), Delegate("D")];
    let story = story()
        .script("/", [act(10, four), act(10, [Wait(&["A"])]), act(10, [Delegate("D")]), say(10, "ok")])
        .script("A", [say(20, "A done")])
        .script("B", [say(1000, "slow")])
        .script("C", [say(1000, "slow")])
        .script("D", [say(1000, "slow")]);
    story.reads(r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-20: + call:spawn_agent | call:spawn_agent | call:spawn_agent | call:spawn_agent | result:{"task_name":"/root/a"} | result:{"task_name":"/root/b"} | result:{"task_name":"/root/c"} | result!:collab spawn failed: agent thread limit reached
        /1 1.0 worker 10-30: + mail:/root>/root/a:NEW_TASK do A
        /2 1.0 worker 10-abandoned: + mail:/root>/root/b:NEW_TASK do B
        /3 1.0 worker 10-abandoned: + mail:/root>/root/c:NEW_TASK do C
        / 1.2 lead 30-40: + call:wait_agent | result:Wait completed. | mail:/root/a>/root:FINAL_ANSWER A done
        / 1.3 lead 40-50: + call:spawn_agent | result:{"task_name":"/root/d"}
        /4 1.0 worker 40-abandoned: + mail:/root>/root/d:NEW_TASK do D
        end 50: / Done, /1 Done, /2 - abandoned, /3 - abandoned, /4 - abandoned; refusals 1
    "#)?;
    Ok(())
}

/// An interrupted turn sends no answer and keeps its mail; the child goes on when it is asked to.
fn interrupted_is_silent() -> Result<(), String> {
    let story = story()
        .script(
            "/",
            [
                act(10, [Delegate("A")]),
                act(10, [Tell("A", "note")]),
                act(10, [Close("A")]),
                act(10, [Ask("A", "again")]),
                act(10, [Wait(&["A"])]),
                say(10, "ok"),
            ],
        )
        .script("A", [say(500, "never"), say(20, "fine")]);
    story.reads(
        r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-20: + call:spawn_agent | result:{"task_name":"/root/a"}
        /1 1.0 worker 10-aborted: + mail:/root>/root/a:NEW_TASK do A
        / 1.2 lead 20-30: + call:send_message | result:
        / 1.3 lead 30-40: + call:interrupt_agent | result:{"previous_status":"running"}
        / 1.4 lead 40-50: + call:followup_task | result:
        /1 2.0 worker 40-60: + mail:/root>/root/a:MESSAGE note | mail:/root>/root/a:NEW_TASK again
        / 1.5 lead 60-70: + call:wait_agent | result:Wait completed. | mail:/root/a>/root:FINAL_ANSWER fine
        end 70: / Done, /1 Done
    "#,
    )?;
    Ok(())
}
