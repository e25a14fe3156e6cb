//! OpenCode's background tasks, and prompts that are added to a running one.

use ctxbench::strategy::{End, Order, Session, ThreadId, To, When};
use ctxbench::transcript::{CallKey, Handle, Item, Means, Origin};

use crate::hand::{Tree, put, reply, stands_in_text};
use crate::opencode::{body, check_length, id, resumable, says, start, task};

const ROOT: ThreadId = ThreadId::ROOT;

#[test]
fn a_background_task_is_acknowledged_and_ends_with_a_notice() {
    let check = |end: End, expect: Option<(&str, bool)>| {
        let (mut session, mut tree) = start(true);
        let call = task(0, serde_json::json!({"background": true}));
        let orders = tree.route(&mut *session, ROOT, &call);
        assert!(matches!(&orders[..], [Order::Put { to: To::New(_), .. }]));
        let (child, orders) = tree.opened(&mut *session, ROOT, &call, "explorer");
        let (text, failed, means) = reply(&orders);
        let handle = id(&text).0;
        assert!(text.starts_with(&format!(
            "<task id=\"{}\" state=\"running\">\n<summary>Background task started</summary>\n<task_result>\n",
            handle.0
        )));
        assert!(text.ends_with("\n</task_result>\n</task>"));
        check_length(body(&text), 70);
        assert_eq!((failed, means), (false, vec![Means::Started(handle.clone())]));
        says(&mut *session, &tree, child, "BG DONE", &[]);
        let orders = tree.ended(&mut *session, child, &call, &end, &[]);
        let Some((expect, failed)) = expect else { return assert!(orders.is_empty()) };
        let [Order::Put { to: To::Thread(ROOT), items, when: When::Wake, by: None }] = &orders[..] else { panic!("{orders:?}") };
        let means = if failed { Means::Failed(Some(handle.clone())) } else { Means::Returned(Some(handle.clone())) };
        assert_eq!(items[..], [Item::user(Origin::Delegated, expect.replace("$CHILD", &handle.0)).meaning(means)]);
        stands_in_text(&items[0].means, &items[0].text());
    };
    check(
        End::Done,
        Some((
            "<task id=\"$CHILD\" state=\"completed\">\n<summary>Background task completed: Find notes</summary>\n<task_result>\nBG DONE\n</task_result>\n</task>",
            false,
        )),
    );
    check(
        End::Failed("mock bad request".into()),
        Some((
            "<task id=\"$CHILD\" state=\"error\">\n<summary>Background task failed: Find notes</summary>\n<task_error>\nSubagent failed (task_id: $CHILD): mock bad request\n</task_error>\n</task>",
            true,
        )),
    );
    check(End::Aborted, None);
}

/// A running task with a second prompt queued on it: what the second call reads.
fn extended(background: bool) -> (Box<dyn Session>, Tree, ThreadId, Handle) {
    let (mut session, mut tree, child, handle) = resumable(true);
    let again = task(4, serde_json::json!({"description": "Bg", "task_id": handle.0, "background": background}));
    let orders = tree.route(&mut *session, ROOT, &again);
    assert_eq!(orders.len(), if background { 2 } else { 1 });
    tree.threads[child.0 as usize].running = 1;
    let more = task(5, serde_json::json!({"description": "More", "prompt": "extra", "subagent_type": "writer", "task_id": handle.0}));
    let orders = tree.route(&mut *session, ROOT, &more);
    let Order::Put { to: To::Thread(thread), items, when: When::Turn, by: Some(CallKey(5)) } = &orders[0] else { panic!("{orders:?}") };
    assert_eq!((*thread, &items[..]), (child, &[Item::user(Origin::Task, "extra")][..]));
    tree.threads[child.0 as usize].waiting = 1;
    let (text, failed, means) = reply(&orders);
    let head = format!("<task id=\"{}\" state=\"running\">\n<summary>Background task updated</summary>\n<task_result>\n", handle.0);
    assert!(text.starts_with(&head) && text.ends_with("\n</task_result>\n</task>"), "{text}");
    check_length(body(&text), 80);
    assert_eq!((failed, means), (false, vec![Means::Started(handle.clone())]));
    (session, tree, child, handle)
}

#[test]
fn an_extended_background_task_gives_one_notice() {
    let (mut session, mut tree, child, handle) = extended(true);
    assert_eq!(session.view(&[], &tree.scope(child, 0)).agent, "explorer");
    says(&mut *session, &tree, child, "SLOW DONE", &[]);
    assert!(tree.ended(&mut *session, child, &task(4, serde_json::Value::Null), &End::Done, &[]).is_empty());
    tree.threads[child.0 as usize].waiting = 0;
    // The queued turn is the other agent's.
    assert_eq!(session.view(&[], &tree.scope(child, 0)).agent, "writer");
    says(&mut *session, &tree, child, "OWN FINAL", &[]);
    let orders = tree.ended(&mut *session, child, &task(5, serde_json::Value::Null), &End::Done, &[]);
    // The last output under the first description.
    let expect = format!(
        "<task id=\"{}\" state=\"completed\">\n<summary>Background task completed: Bg</summary>\n<task_result>\nOWN FINAL\n</task_result>\n</task>",
        handle.0
    );
    assert_eq!(put(&orders)[..], [Item::user(Origin::Delegated, expect).meaning(Means::Returned(Some(handle)))]);
}

#[test]
fn an_extended_foreground_task_returns_the_last_output_to_its_own_call() {
    let (mut session, mut tree, child, _) = extended(false);
    says(&mut *session, &tree, child, "SLOW DONE", &[]);
    assert!(tree.ended(&mut *session, child, &task(4, serde_json::Value::Null), &End::Done, &[]).is_empty());
    tree.threads[child.0 as usize].waiting = 0;
    says(&mut *session, &tree, child, "OWN FINAL", &[]);
    let orders = tree.ended(&mut *session, child, &task(5, serde_json::Value::Null), &End::Done, &[]);
    let [Order::Reply { call: CallKey(4), text, .. }] = &orders[..] else { panic!("{orders:?}") };
    assert!(text.as_text().contains("\nOWN FINAL\n"));
}

#[test]
fn a_failure_ends_an_extended_task_at_once() {
    let (mut session, mut tree, child, handle) = extended(true);
    let orders = tree.ended(&mut *session, child, &task(4, serde_json::Value::Null), &End::Failed("broken".into()), &[]);
    let [Order::Stop { thread }, Order::Put { when: When::Wake, items, .. }] = &orders[..] else { panic!("{orders:?}") };
    assert_eq!((*thread, items[0].means.to_vec()), (child, vec![Means::Failed(Some(handle))]));
}
