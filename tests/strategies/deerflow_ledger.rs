//! `deerflow`: the limit of delegations, and the ledger that the parent reads (run at f1f4af9).

use ctxbench::strategy::{AssistantTurn, End, Scope, Session, ThreadId};
use ctxbench::transcript::{CallKey, Item, Origin, Role, ToolCall};
use serde_json::json;

use crate::deerflow::{says, start, task};
use crate::hand::{Tree, call, reply};

const ROOT: ThreadId = ThreadId::ROOT;

/// A history with so many finished delegations: texts of children by key.
fn with_delegations(session: &mut dyn Session, tree: &mut Tree, texts: &[String]) -> Vec<Item> {
    let mut items = vec![Item::user(Origin::User, "go")];
    for (key, text) in (0..).zip(texts) {
        let one = task(key, json!({"description": format!("work {key}")}));
        tree.route(session, ROOT, &one);
        let (child, _) = tree.opened(session, ROOT, &one, "explorer");
        says(session, tree, child, text);
        let (text, failed, means) = reply(&tree.ended(session, child, &one, &End::Done, &[]));
        items.push(Item::call(one));
        let result = Item::result(CallKey(key), Origin::Delegated, text, failed);
        items.push(means.into_iter().fold(result, Item::meaning));
    }
    items
}

fn check_limit(made: u32, before_turn: bool, asked: &[&str], text: &str, kept: &[usize], expect: &str) {
    let (mut session, tree) = start();
    let mut items = vec![Item::user(Origin::User, "go")];
    for key in 0..made {
        items.push(Item::call(task(key, json!({}))));
        items.push(Item::result(CallKey(key), Origin::Delegated, "Task Succeeded. Result: x", false));
    }
    let own = if before_turn { items.len() } else { 0 };
    let all: Vec<ToolCall> = (100..).zip(asked).map(|(key, name)| call(key, name, "{}")).collect();
    let reply = AssistantTurn { text: text.into(), calls: all.clone(), ..AssistantTurn::default() };
    let turn = session.turn(reply, &items, &tree.scope(ROOT, own));
    assert_eq!(turn.calls, kept.iter().map(|&at| all[at].clone()).collect::<Vec<_>>(), "{made} {asked:?}");
    assert_eq!(turn.cut.len(), asked.len() - kept.len());
    let note = turn.text.rsplit("\n\n").next().unwrap_or_default().to_owned();
    assert_eq!(turn.text, expect.replace("NOTE", &note), "{made} {asked:?}");
    assert!(!expect.contains("NOTE") || note.split_whitespace().count() > 20, "{note}");
    assert!(!turn.finish);
}

#[test]
fn delegations_are_limited() {
    check_limit(0, false, &["task", "task"], "", &[0, 1], "");
    check_limit(0, false, &["task"; 5], "", &[0, 1, 2], "");
    check_limit(0, false, &["batch_task", "task", "task", "read", "task"], "plan", &[0, 1, 2, 3, 4], "plan");
    check_limit(5, false, &["task", "read", "task"], "plan", &[0, 1], "plan");
    check_limit(6, false, &["task"], "Planning", &[], "Planning\n\nNOTE");
    check_limit(6, false, &["task", "read"], "", &[1], "NOTE");
    // Nothing is cut: nothing is said. A run is a turn of the user.
    check_limit(6, false, &["read"], "reading", &[0], "reading");
    check_limit(6, true, &["task"; 4], "", &[0, 1, 2], "");
}

#[test]
fn equal_ids_count_once() {
    let (mut session, tree) = start();
    let items: Vec<Item> =
        [0, 1, 2, 3, 4, 5].map(|key| Item::call(ToolCall { id: format!("c{}", key / 2), ..task(key, json!({})) })).into();
    let reply = AssistantTurn { calls: (10..13).map(|key| task(key, json!({}))).collect(), ..AssistantTurn::default() };
    assert_eq!(session.turn(reply, &items, &tree.scope(ROOT, 0)).calls.len(), 3);
}

/// The ledger's lines in a view of the root, below its heading.
fn ledger(session: &mut dyn Session, tree: &Tree, items: &[Item]) -> Vec<String> {
    let view = session.view(items, &tree.scope(ROOT, 0));
    let [splice] = &view.splices[..] else { panic!("{:?}", view.splices) };
    assert!(!splice.keep && splice.remove == 0 && splice.at == 0);
    let [item] = &splice.items[..] else { panic!("{:?}", splice.items) };
    assert!(item.hidden && item.origin == Origin::Delegated);
    assert!(view.system.is_some_and(|system| system.as_text().starts_with("You lead.\n\n")), "the contract");
    let text = item.text();
    let inner = text.strip_prefix("<durable_context_data>\n## Work already delegated\n").expect("the frame");
    let inner = inner.strip_suffix("\n</durable_context_data>").expect("the frame");
    assert!(text.chars().count() <= 6_000 + 48, "{}", text.chars().count());
    inner.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn the_parent_reads_what_it_delegated() {
    let (mut session, mut tree) = start();
    assert!(session.view(&[Item::user(Origin::User, "go")], &tree.scope(ROOT, 0)).splices.is_empty());
    let mut items = with_delegations(&mut *session, &mut tree, &["R <a> &\n b".into(), "x".repeat(200)]);
    items.push(Item::call(task(7, json!({"description": "", "prompt": "p".repeat(300)}))));
    let done = "(via explorer; completed result; do NOT delegate again; reuse this result)";
    let lines = [
        format!(
            "- [in_progress] {} (via explorer; already delegated; do NOT delegate again; wait for or build on the result)",
            "p".repeat(200)
        ),
        // 120 characters: two thirds, a mark of five, the rest; then white space runs are one blank.
        format!("- [completed] work 1 {done} -> {} ... {}", "x".repeat(80), "x".repeat(35)),
        format!("- [completed] work 0 {done} -> R &lt;a&gt; &amp; b"),
    ];
    assert_eq!(ledger(&mut *session, &tree, &items), lines);
}

#[test]
fn failures_stand_in_the_ledger() {
    let (mut session, mut tree) = start();
    let mut items = vec![Item::user(Origin::User, "go")];
    for (key, end) in [(0, End::Failed("boom".into())), (1, End::Aborted)] {
        let one = task(key, json!({"description": format!("work {key}")}));
        tree.route(&mut *session, ROOT, &one);
        let (child, _) = tree.opened(&mut *session, ROOT, &one, "explorer");
        let (text, failed, _) = reply(&tree.ended(&mut *session, child, &one, &end, &[]));
        items.extend([Item::call(one), Item::result(CallKey(key), Origin::Delegated, text, failed)]);
    }
    let refused = task(2, json!({"subagent_type": "x", "description": "work 2"}));
    let (text, ..) = reply(&tree.route(&mut *session, ROOT, &refused));
    items.extend([Item::call(refused), Item::result(CallKey(2), Origin::Delegated, text, true)]);
    let lines = [
        "- [failed] work 2 (via x; failed attempt; may retry with a changed plan) -> Unknown subagent type 'x'. Available: explorer, writer",
        "- [cancelled] work 1 (via explorer; cancelled attempt; may retry with a changed plan) -> Cancelled by user",
        "- [failed] work 0 (via explorer; failed attempt; may retry with a changed plan) -> boom",
    ];
    assert_eq!(ledger(&mut *session, &tree, &items), lines);
}

/// A text is never read for a status.
#[test]
fn status_is_not_in_the_text() {
    let (mut session, tree) = start();
    let items = [Item::call(task(0, json!({}))), Item::result(CallKey(0), Origin::ToolResult, "Task Succeeded. Result: x", false)];
    assert!(ledger(&mut *session, &tree, &items)[0].starts_with("- [in_progress] look "));
}

#[test]
fn the_ledger_has_a_budget() {
    let (mut session, mut tree) = start();
    let items = with_delegations(&mut *session, &mut tree, &vec!["y".repeat(500); 60]);
    let lines = ledger(&mut *session, &tree, &items);
    let last = lines.last().expect("it is there");
    let shown = lines.len() - 1;
    // 50 are remembered; newest first, the others are counted.
    assert!(lines[0].starts_with("- [completed] work 59 ") && shown > 20, "{shown}");
    assert_eq!(*last, format!("- ... {} older delegation entries omitted from this model view because of context budget", 50 - shown));
}

#[test]
fn the_ledger_stands_behind_what_opens_for_the_system() {
    let (mut session, tree) = start();
    let system = Item::message(Role::System, Origin::System, "S");
    let items = [system, Item::user(Origin::User, "go"), Item::call(task(0, json!({})))];
    assert_eq!(session.view(&items, &tree.scope(ROOT, 0)).splices[0].at, 1);
}

/// An id that comes again in a later run: what ended stays, until the new call has ended.
#[test]
fn the_ledger_remembers_across_runs() {
    let (mut session, mut tree) = start();
    let mut items = with_delegations(&mut *session, &mut tree, &["first".into()]);
    let status = |session: &mut dyn Session, items: &[Item], turn, own| {
        let view = session.view(items, &Scope { turn, ..tree.scope(ROOT, own) });
        view.splices[0].items[0].text().lines().skip(3).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(status(&mut *session, &items, 1, 0)[0].ends_with("-> first"));
    let own = items.len();
    items.extend([
        Item::user(Origin::User, "again"),
        Item::call(ToolCall { id: "call_0".into(), ..task(9, json!({"description": "new"})) }),
    ]);
    let lines = status(&mut *session, &items, 2, own);
    assert!(lines[0].starts_with("- [completed] work 0 ") && lines[0].ends_with("-> first") && lines.len() == 2, "{lines:?}");
    // It still counts for the run in which it was first seen.
    let reply = AssistantTurn { calls: (20..23).map(|key| task(key, json!({}))).collect(), ..AssistantTurn::default() };
    let turn = session.turn(reply, &items, &Scope { turn: 2, ..tree.scope(ROOT, own) });
    assert_eq!(turn.calls.len(), 3);
}
