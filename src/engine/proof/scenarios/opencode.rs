//! OpenCode: resume, depth, background with one notice.

use super::super::player::Do::{Ask, Background, Delegate, Tool};
use super::super::player::{act, say};
use super::super::story::{Story, under};
use super::super::stub::OpenCode;
use super::Scenario;
use crate::transcript::Origin;

pub const ALL: &[(&str, Scenario)] = &[
    ("opencode: resume and depth", resume_and_depth),
    ("opencode: an extension has one notice", an_extension_has_one_notice),
    ("opencode: undrained children are abandoned", undrained_children_are_abandoned),
    ("opencode: a notice joins a running turn", a_notice_joins_a_running_turn),
    ("opencode: input queues a turn", input_queues_a_turn),
    ("opencode: the user waits for the children", the_user_waits_for_the_children),
];

fn story(drain: bool) -> Story<'static> {
    under(if drain { &OpenCode { drain: true } } else { &OpenCode { drain: false } }).user("go")
}

/// A child's own task is a tool error; a second call with the task's id goes on in the same session.
fn resume_and_depth() -> Result<(), String> {
    let story = story(true)
        .script("/", [act(10, [Delegate("A")]), act(10, [Ask("A", "more")]), say(10, "end")])
        .script("A", [act(10, [Delegate("B")]), say(10, "one"), say(10, "two")]);
    story.reads(
        r#"
        / 1.0 lead 0-10: + user:go
        /1 1.0 worker 10-20: + task:do A
        /1 1.1 worker 20-30: + call:task | result!:Subagent depth limit reached (1). Increase "subagent_depth" to allow nested subagents.
        / 1.1 lead 30-40: + call:task | result:<task id="ses_1" state="completed">\n<task_result>\none\n</task_result>\n</task>
        /1 2.0 worker 40-50: + own:one | task:more
        / 1.2 lead 50-60: + call:task | result:<task id="ses_1" state="completed">\n<task_result>\ntwo\n</task_result>\n</task>
        end 60: / Done, /1 Done; refusals 1
    "#,
    )?;
    Ok(())
}

/// The extension waits for the running turn; one notice, with the last output and the first title, opens the root's
/// second turn.
fn an_extension_has_one_notice() -> Result<(), String> {
    let story = story(true)
        .script("/", [act(10, [Background("A")]), act(10, [Ask("A", "ext")]), say(10, "idle"), say(10, "all")])
        .script("A", [say(100, "one"), say(50, "two")]);
    story.reads(r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-20: + call:task | result:<task id="ses_1" state="running">\n<summary>Background task started</summary>\n<task_result>\nIt goes on by itself.\n</task_result>\n</task>
        /1 1.0 worker 10-110: + task:do A
        / 1.2 lead 20-30: + call:task | result:<task id="ses_1" state="running">\n<summary>Background task updated</summary>\n<task_result>\nIt goes on by itself.\n</task_result>\n</task>
        /1 2.0 worker 110-160: + own:one | task:ext
        / 2.0 lead 160-170: + own:idle | delegated:<task id="ses_1" state="completed">\n<summary>Background task completed: title A</summary>\n<task_result>\ntwo\n</task_result>\n</task>
        end 170: / Done, /1 Done
    "#)?;
    Ok(())
}

/// The same run, which does not wait for its child: the request that was on its way stays in the ledger.
fn undrained_children_are_abandoned() -> Result<(), String> {
    let story = story(false)
        .script("/", [act(10, [Background("A")]), act(10, [Ask("A", "ext")]), say(10, "idle")])
        .script("A", [say(100, "one"), say(50, "two")]);
    let outcome = story.reads(r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-20: + call:task | result:<task id="ses_1" state="running">\n<summary>Background task started</summary>\n<task_result>\nIt goes on by itself.\n</task_result>\n</task>
        /1 1.0 worker 10-abandoned: + task:do A
        / 1.2 lead 20-30: + call:task | result:<task id="ses_1" state="running">\n<summary>Background task updated</summary>\n<task_result>\nIt goes on by itself.\n</task_result>\n</task>
        end 30: / Done, /1 - abandoned
    "#)?;
    // "do A" as it is sent: 3 for the item's frame, 4 for the header `user`, 4 for the text.
    let paid = outcome.rows.iter().find(|row| row.path.as_ref() == "/1").map(|row| row.input.get(Origin::Task));
    if paid == Some(3 + 4 + 4) { Ok(()) } else { Err(format!("the abandoned task should be paid with 11 bytes, found {paid:?}")) }
}

/// A notice that finds the parent at work is read before its next request.
fn a_notice_joins_a_running_turn() -> Result<(), String> {
    let story =
        story(true).script("/", [act(10, [Background("A")]), act(10, [Tool("dig", "{}")]), say(10, "all")]).script("A", [say(20, "one")]);
    story.reads(r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-20: + call:task | result:<task id="ses_1" state="running">\n<summary>Background task started</summary>\n<task_result>\nIt goes on by itself.\n</task_result>\n</task>
        /1 1.0 worker 10-30: + task:do A
        / 1.2 lead 120-130: + call:dig | tool:dug | delegated:<task id="ses_1" state="completed">\n<summary>Background task completed: title A</summary>\n<task_result>\none\n</task_result>\n</task>
        end 130: / Done, /1 Done
    "#)?;
    Ok(())
}

/// The user's message waits for the running turn.
fn input_queues_a_turn() -> Result<(), String> {
    let story = story(true).user_at(15, "more").script("/", [act(10, [Tool("dig", "{}")]), say(10, "one"), say(10, "two")]);
    story.reads(
        r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 110-120: + call:dig | tool:dug
        / 2.0 lead 120-130: + own:one | user:more
        end 130: / Done
    "#,
    )?;
    Ok(())
}

/// The user's second message comes when the root and the background child are done, that is, after the notice's turn.
fn the_user_waits_for_the_children() -> Result<(), String> {
    let story = story(true)
        .user("next")
        .script("/", [act(10, [Background("A")]), say(10, "idle"), say(10, "all"), say(10, "end")])
        .script("A", [say(100, "one")]);
    story.reads(
        r#"
        / 1.0 lead 0-10: + user:go
        / 1.1 lead 10-20: + call:task | result:<task id="ses_1" state="running">\n<summary>Background task started</summary>\n<task_result>\nIt goes on by itself.\n</task_result>\n</task>
        /1 1.0 worker 10-110: + task:do A
        / 2.0 lead 110-120: + own:idle | delegated:<task id="ses_1" state="completed">\n<summary>Background task completed: title A</summary>\n<task_result>\none\n</task_result>\n</task>
        / 3.0 lead 120-130: + own:all | user:next
        end 130: / Done, /1 Done
    "#,
    )?;
    Ok(())
}
