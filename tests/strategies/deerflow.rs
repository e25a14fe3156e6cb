//! `deerflow`: literal texts and limits are the product's (run or read at f1f4af9).

use ctxbench::model::{Reply, Request};
use ctxbench::strategy::deerflow::{ContextMode, Profile};
use ctxbench::strategy::{
    AssistantTurn, DeerFlow, End, Event, New, Order, ParentView, Report, Route, Session, Strategy, ThreadId, To, When,
};
use ctxbench::tokens::{Encoding, counter};
use ctxbench::transcript::{Body, CallKey, Item, Means, Origin, Part, ToolCall};
use serde_json::json;

use crate::hand::{Tree, call, put, reply, run};
use crate::maf::{check_builtin, nothing_dangles};
use crate::runs::{calls, delegate, play, read, say};

const ROOT: ThreadId = ThreadId::ROOT;

fn deerflow(context_mode: ContextMode) -> DeerFlow {
    DeerFlow { profile: Profile::V2, context_mode }
}

pub fn start() -> (Box<dyn Session>, Tree) {
    (DeerFlow::default().start(&run()), Tree::new("lead"))
}

pub fn task(key: u32, more: serde_json::Value) -> ToolCall {
    let mut args = json!({"prompt": "do it", "subagent_type": "explorer", "description": "look"});
    for (key, value) in more.as_object().into_iter().flatten() {
        args[key] = value.clone();
    }
    call(key, "task", &args.to_string())
}

pub fn says(session: &mut dyn Session, tree: &Tree, thread: ThreadId, text: &str) {
    session.turn(AssistantTurn { text: text.into(), ..AssistantTurn::default() }, &[], &tree.scope(thread, 0));
}

/// One delegation from call to result: its opening, and the orders at the end of a turn of so many milliseconds.
fn delegated(more: serde_json::Value, texts: &[&str], end: &End, elapsed_ms: u64) -> (Vec<Item>, Vec<Order>) {
    let (mut session, mut tree) = start();
    let one = task(0, more);
    let orders = tree.route(&mut *session, ROOT, &one);
    let [Order::Put { to: To::New(New { agent, drain: true, keep_failed: true }), when: When::Turn, by: Some(CallKey(0)), .. }] =
        &orders[..]
    else {
        panic!("{orders:?}")
    };
    assert_eq!(agent, "explorer");
    let opening = put(&orders);
    let (child, more) = tree.opened(&mut *session, ROOT, &one, "explorer");
    let [Order::Wait { call: CallKey(0), timeout_ms: 900_000 }] = &more[..] else { panic!("the call blocks: {more:?}") };
    for text in texts {
        says(&mut *session, &tree, child, text);
    }
    let report = Report { by: Some(&one), end, items: &opening, own: 0, elapsed_ms, tokens: 0 };
    let orders = session.deliver(Event::Ended(report), &tree.scope(child, 0));
    (opening, orders)
}

fn check_result(texts: &[&str], end: End, expect: &str, failed: bool) {
    let (opening, orders) = delegated(json!({}), texts, &end, 10);
    assert_eq!(opening, [Item::user(Origin::Task, "do it")]);
    let means = if failed { Means::Failed(None) } else { Means::Returned(None) };
    assert_eq!(reply(&orders), (expect.to_owned(), failed, vec![means]));
}

#[test]
fn what_comes_back() {
    check_result(&["thinking", "Found 3 bugs."], End::Done, "Task Succeeded. Result: Found 3 bugs.", false);
    // The last message alone, and white space is a text.
    check_result(&["Found 3 bugs.", ""], End::Done, "Task Succeeded. Result: No response generated", false);
    check_result(&[" "], End::Done, "Task Succeeded. Result:  ", false);
    check_result(&["half"], End::Failed("  boom ".into()), "Task failed. Error: boom", true);
    check_result(&["half"], End::Failed(" ".into()), "Task failed.", true);
    check_result(&["half"], End::Failed("Task failed.".into()), "Task failed.", true);
    check_result(&["half"], End::Ceiling("too long".into()), "Task failed. Error: too long", true);
    check_result(&["half"], End::Aborted, "Task cancelled by user. Error: Cancelled by user", true);
    // A child that had all its turns: its last text counts, stripped, unless it is blank.
    let stopped = || End::Stopped("Reached max_turns=50".into());
    check_result(&["first", " half\n"], stopped(), "Task Succeeded (capped: turn budget). Result: half", false);
    check_result(&["half", " \n"], stopped(), "Task failed (capped: turn budget). Error: Reached max_turns=50", true);
}

#[test]
fn results_are_seen_at_the_next_look() {
    for (elapsed, after) in [(0, 0), (1, 4_999), (4_999, 1), (5_000, 0), (5_001, 4_999), (12_000, 3_000)] {
        let (_, orders) = delegated(json!({}), &["done"], &End::Done, elapsed);
        assert!(matches!(&orders[..], [Order::Reply { after_ms, .. }] if *after_ms == after), "{elapsed}: {orders:?}");
    }
}

#[test]
fn long_results_become_previews() {
    let prefix = "Task Succeeded. Result: ".len();
    // Characters count, not bytes.
    let (_, orders) = delegated(json!({}), &[&"ä".repeat(12_000 - prefix)], &End::Done, 1);
    assert_eq!((orders.len(), reply(&orders).0.chars().count()), (1, 12_000));
    let long = format!("{}{}", "ä".repeat(12_000 - prefix), "z");
    let (_, orders) = delegated(json!({}), &[&long], &End::Done, 1);
    let [Order::Write { path, text }, Order::Reply { .. }] = &orders[..] else { panic!("{}", orders.len()) };
    assert_eq!(*text, format!("Task Succeeded. Result: {long}"));
    assert!(path.starts_with("/mnt/user-data/outputs/.tool-results/task-") && path.ends_with(".txt"));
    let (shown, failed, means) = reply(&orders);
    assert_eq!((failed, means), (false, vec![Means::Returned(None)]));
    assert!(shown.contains(path.as_str()));
    let head = format!("\n\nTask Succeeded. Result: {}\n\n[", "ä".repeat(2_000 - prefix));
    let tail = format!("]\n\n{}z", "ä".repeat(999));
    assert!(shown.contains(&head) && shown.ends_with(&tail));
    let length = shown.chars().count();
    assert!((3_300..3_700).contains(&length), "{length}");
}

#[test]
fn what_is_refused_and_in_which_order() {
    let check = |args: serde_json::Value, expect: &str| {
        let (mut session, tree) = start();
        let orders = tree.route(&mut *session, ROOT, &call(0, "task", &args.to_string()));
        assert_eq!(reply(&orders), (expect.to_owned(), true, vec![Means::Refused]), "{args}");
    };
    let mode = "Task failed. Error: Unknown context_mode 'shared'. Use isolated or snapshot.";
    check(json!({"prompt": "p", "subagent_type": "explorer", "context_mode": "shared"}), mode);
    check(json!({"prompt": "p", "subagent_type": "x", "context_mode": "shared"}), mode);
    check(json!({"prompt": "p", "subagent_type": "x"}), "Task failed. Error: Unknown subagent type 'x'. Available: explorer, writer");
    check(json!({"prompt": "p", "subagent_type": "lead"}), "Task failed. Error: Unknown subagent type 'lead'. Available: explorer, writer");
    check(json!({"subagent_type": "explorer"}), "Task failed. Error: `task` needs the argument `prompt`, a text.");
    check(json!([]), "Task failed. Error: `task` needs the argument `prompt`, a text.");
}

#[test]
fn acceptance_criteria_stand_behind_the_task() {
    let opening = |criteria: serde_json::Value| delegated(json!({"acceptance_criteria": criteria}), &["x"], &End::Done, 1).0[0].text();
    for none in [json!([]), json!([" ", 5]), json!("text"), json!(null)] {
        assert_eq!(opening(none), "do it");
    }
    let text = opening(json!(["one", 5, "", "two"]));
    assert!(text.starts_with("do it\n\n") && text.ends_with(":\n- one\n- two"), "{text}");
}

#[test]
fn children_are_not_shown_the_tool_and_know_what_opened_them() {
    let (mut session, mut tree) = start();
    let names = |view: ctxbench::strategy::View| view.tools.into_iter().map(|tool| tool.name).collect::<Vec<_>>();
    assert_eq!(names(session.view(&[], &tree.scope(ROOT, 0))), ["read", "task"]);
    let child = tree.open(ROOT, "explorer");
    let isolated = [Item::user(Origin::Task, "do it")];
    let view = session.view(&isolated, &tree.scope(child, 0));
    assert_eq!((view.system.as_ref().map(Part::as_text), view.splices.len()), (Some("You explore."), 0));
    assert_eq!(names(view), ["read", "list"]);
    let opening = [Profile::V2.snapshot(&[Item::user(Origin::User, "hi")]).expect("something is left"), isolated[0].clone()];
    let system = session.view(&opening, &tree.scope(child, 0)).system.expect("it is there");
    assert!(system.as_text().starts_with("You explore.\n\n"));
    // What a child calls by that name is nobody's.
    let route = session.route(&task(9, json!({})), ParentView { items: &[], in_flight: &[] }, &tree.scope(child, 0));
    assert!(matches!(route, Route::Tool));
    // With criteria, a pointer to them.
    let one = task(3, json!({"acceptance_criteria": ["c"]}));
    let (child, _) = tree.opened(&mut *session, ROOT, &one, "explorer");
    assert_ne!(session.view(&isolated, &tree.scope(child, 0)).system.as_ref().map(Part::as_text), Some("You explore."));
}

/// Prose in our own words is about as long as the product's, as its reference gives it.
#[test]
fn lengths_of_prose() {
    let tokens = |text: &str| counter(Encoding::O200kBase).count(text).expect("text");
    let about = |what: &str, given: u64, expect: u64| {
        let (given, expect) = (given as f64, expect as f64);
        assert!((given - expect).abs() <= expect * 0.15, "{what}: {given}, not {expect}");
    };
    let (mut session, mut tree) = start();
    let child = tree.open(ROOT, "explorer");
    let opening = [Profile::V2.snapshot(&[Item::user(Origin::User, "hi")]).expect("something is left")];
    let system = session.view(&opening, &tree.scope(child, 0)).system.expect("it is there");
    about("snapshot note", tokens(system.as_text().strip_prefix("You explore.\n\n").expect("behind")), 116);
    let items: Vec<Item> = (0..6).map(|key| Item::call(task(key, json!({})))).collect();
    let over = AssistantTurn { calls: vec![task(9, json!({}))], ..AssistantTurn::default() };
    about("limit note", tokens(&session.turn(over, &items, &tree.scope(ROOT, 0)).text), 47);
    let view = session.view(&items, &tree.scope(ROOT, 0));
    let contract = view.system.expect("it is there");
    about("contract", contract.as_text().strip_prefix("You lead.\n\n").expect("behind").chars().count() as u64, 325);
    let block = view.splices[0].items[0].text();
    about("explanation", block.lines().nth(2).expect("it is there").chars().count() as u64, 173);
}

// ---- under the engine --------------------------------------------------------------------------------------------------

fn four_at_once(request: &Request<'_>) -> Result<Reply, String> {
    match (request.path, request.exchange) {
        ("/", 0) => calls("secret-plan", ["a", "b", "c", "d"].map(|id| delegate(request, id)).into()),
        ("/", _) => say("root ends"),
        (_, 0) => calls("looking", vec![read()]),
        (path, _) => say(format!("answer of {path}")),
    }
}

#[test]
fn isolated_children_know_their_task_alone() {
    for mode in [ContextMode::Absent, ContextMode::Isolated] {
        let played = play(&deerflow(mode), four_at_once, &["secret"]);
        assert_eq!(played.outcome.failure, None);
        assert_eq!(played.outcome.threads.len(), 4);
        assert_eq!((played.outcome.rows[0].calls, played.outcome.rows[0].cut), (3, 1));
        for (path, task) in [("/1", "task a"), ("/2", "task b"), ("/3", "task c")] {
            assert_eq!(played.of(path)[0].short(), [task]);
        }
        let told = ["/1", "/2", "/3"].map(|path| (format!("Task Succeeded. Result: answer of {path}"), false));
        assert_eq!(played.results(0), told);
        // 10 ms of the root, then results at the first look after the children ended.
        let sent: Vec<u64> = played.outcome.rows.iter().filter(|row| row.thread == ROOT).map(|row| row.sent_ms).collect();
        assert_eq!(sent, [0, 5_010]);
        let second = &played.of("/")[1].items;
        assert!(second[0].text().starts_with("<durable_context_data>\n") && second[1].text() == "secret");
        // It is of this request alone: the history does not hold it.
        assert!(played.outcome.history_of(ROOT).iter().all(|item| !item.text().contains("durable_context_data")));
        assert!(!deerflow(mode).hands_history_down());
    }
}

#[test]
fn a_snapshot_child_reads_history_as_data() {
    let played = play(&deerflow(ContextMode::Snapshot), four_at_once, &["secret"]);
    assert_eq!(played.outcome.failure, None);
    assert!(deerflow(ContextMode::Snapshot).hands_history_down());
    for path in ["/1", "/2", "/3"] {
        let opening = &played.of(path)[0].items;
        assert_eq!((opening.len(), opening[0].hidden, opening[0].origin), (2, true, Origin::Inherited));
        let texts: Vec<&str> = opening[0].parts().iter().map(Part::as_text).collect();
        // The delegating message's text stays, its calls do not.
        assert_eq!(texts, ["\nHistorical user:\n", "secret", "\nHistorical assistant:\n", "secret-plan"]);
        assert_eq!(opening[1].origin, Origin::Task);
        let row = played.outcome.rows.iter().find(|row| &*row.path == path).expect("it ran");
        assert!(row.input.get(Origin::Inherited) > 0);
    }
    nothing_dangles(&played.outcome);
}

/// Calls of one reply see one state: a sibling that is refused at once leaves no trace in a snapshot.
#[test]
fn siblings_see_one_state() {
    let (mut session, tree) = start();
    let calls = [task(0, json!({"subagent_type": "x"})), task(1, json!({"context_mode": "snapshot"}))];
    let mut items = vec![Item::user(Origin::User, "go")];
    items.extend(calls.iter().cloned().map(Item::call));
    items.push(Item::result(CallKey(0), Origin::Delegated, "Task failed. Error: late", true));
    let parent = ParentView { items: &items, in_flight: &[CallKey(1)] };
    let Route::Do(orders) = session.route(&calls[1], parent, &tree.scope(ROOT, 0)) else { panic!("it is the strategy's") };
    let opening = put(&orders);
    assert_eq!(opening[0].parts().iter().map(Part::as_text).collect::<Vec<_>>(), ["\nHistorical user:\n", "go"]);
}

#[test]
fn a_long_report_can_be_read_again() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match (request.path, request.exchange) {
            ("/", 0) => calls("", vec![delegate(request, "a")]),
            ("/", 1) => {
                let text = request.items.last().map(Item::text).unwrap_or_default();
                let path = text.split_once("saved in ").and_then(|(_, rest)| rest.lines().next()).unwrap_or_default();
                calls("", vec![ctxbench::model::CallDraft::tool("read", json!({ "path": path }).to_string())])
            }
            ("/", _) => say("root ends"),
            _ => say("line\n".repeat(5_000)),
        }
    }
    let played = play(&DeerFlow::default(), script, &["go"]);
    assert_eq!(played.outcome.failure, None);
    let root = played.outcome.history_of(ROOT);
    let read: Vec<String> = root.iter().filter(|item| item.origin == Origin::ToolResult).map(Item::text).collect();
    assert_eq!(read, [format!("Task Succeeded. Result: {}", "line\n".repeat(5_000))]);
    let shown = root.iter().find(|item| matches!(item.body(), Body::Result { .. })).map_or(0, |item| item.text().chars().count());
    assert!(shown < 3_700, "{shown}");
}

#[test]
fn built_in_scenarios_are_answered() {
    for spec in ["deerflow", "deerflow:context_mode=isolated", "deerflow@v1:context_mode=isolated", "deerflow@f1f4af9"] {
        for outcome in check_builtin(spec, false) {
            assert_eq!(outcome.rows.iter().map(|row| row.input.get(Origin::Inherited)).sum::<u64>(), 0);
        }
    }
    for spec in ["deerflow:context_mode=snapshot", "deerflow@v1:context_mode=snapshot", "deerflow@v3:context_mode=snapshot"] {
        for outcome in check_builtin(spec, true) {
            assert!(outcome.rows.iter().any(|row| row.input.get(Origin::Inherited) > 0));
        }
    }
}
