//! `deerflow`: literal texts and limits are the product's (run or read at f1f4af9).

use ctxbench::model::{Reply, Request};
use ctxbench::strategy::deerflow::{ContextMode, Profile};
use ctxbench::strategy::{
    AssistantTurn, DeerFlow, End, Event, New, Order, ParentView, Report, Route, Session, Strategy, ThreadId, To, When,
};
use ctxbench::tokens::{Encoding, counter};
use ctxbench::transcript::{Body, CallKey, Content, Item, Means, Origin, Part, ToolCall};
use serde_json::json;

use crate::hand::{Tree, call, put, reply, run};
use crate::maf::{check_builtin, nothing_dangles};
use crate::runs::{calls, delegate, play, read, say};

const ROOT: ThreadId = ThreadId::ROOT;

fn deerflow(context_mode: ContextMode) -> DeerFlow {
    DeerFlow { profile: Profile::V2, context_mode }
}

/// The commit whose call has no mode.
const EARLIER: DeerFlow = DeerFlow { profile: Profile::F1f4af9, context_mode: ContextMode::Absent };

fn start() -> (Box<dyn Session>, Tree) {
    (DeerFlow::default().start(&run()), Tree::new("lead"))
}

fn task(key: u32, more: serde_json::Value) -> ToolCall {
    let mut args = json!({"prompt": "do it", "subagent_type": "explorer", "description": "look"});
    for (key, value) in more.as_object().into_iter().flatten() {
        args[key] = value.clone();
    }
    call(key, "task", &args.to_string())
}

fn says(session: &mut dyn Session, tree: &Tree, thread: ThreadId, text: &str) {
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
    let system = Item::message(ctxbench::transcript::Role::System, Origin::System, "S");
    let items = [system, Item::user(Origin::User, "go"), Item::call(task(0, json!({})))];
    assert_eq!(session.view(&items, &tree.scope(ROOT, 0)).splices[0].at, 1);
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

/// A child that takes too long is stopped, and what it says then is nobody's.
#[test]
fn children_time_out() {
    for (agent, seconds) in [("explorer", 900), ("general-purpose", 1_800), ("bash", 1_800)] {
        let mut context = run();
        context.agents.insert(agent.into(), context.agent("explorer"));
        let (mut session, mut tree) = (DeerFlow::default().start(&context), Tree::new("lead"));
        let one = task(0, json!({"subagent_type": agent}));
        tree.route(&mut *session, ROOT, &one);
        let (child, orders) = tree.opened(&mut *session, ROOT, &one, agent);
        assert!(matches!(&orders[..], [Order::Wait { timeout_ms, .. }] if *timeout_ms == seconds * 1_000), "{agent}: {orders:?}");
        let waiting =
            |session: &mut dyn Session, timed_out| session.deliver(Event::Waiting { call: &one, timed_out }, &tree.scope(ROOT, 0));
        assert!(waiting(&mut *session, false).is_empty());
        let orders = waiting(&mut *session, true);
        assert!(matches!(&orders[..], [Order::Stop { thread }, Order::Reply { after_ms: 0, .. }] if *thread == child), "{orders:?}");
        let expect = format!("Task timed out. Error: Execution timed out after {seconds} seconds");
        assert_eq!(reply(&orders), (expect, true, vec![Means::Failed(None)]));
        assert!(tree.ended(&mut *session, child, &one, &End::Aborted, &[]).is_empty());
    }
}

#[test]
fn children_have_so_many_turns() {
    for (agent, most) in [("explorer", 50), ("general-purpose", 150), ("bash", 60)] {
        let mut context = run();
        context.agents.insert(agent.into(), context.agent("explorer"));
        let (mut session, mut tree) = (DeerFlow::default().start(&context), Tree::new("lead"));
        let child = tree.open(ROOT, agent);
        let mut stop = |exchange| session.view(&[], &ctxbench::strategy::Scope { exchange, ..tree.scope(child, 0) }).stop;
        assert_eq!(stop(most - 1), None);
        assert_eq!(stop(most), Some(End::Stopped(format!("Reached max_turns={most}"))));
    }
}

/// At f1f4af9 the call has three texts, and what a person wrote last stands in a frame.
#[test]
fn the_earlier_call_has_no_mode() {
    let (mut session, mut tree) = (EARLIER.start(&run()), Tree::new("lead"));
    let call_of = |session: &dyn Session| session.phrase(&ctxbench::strategy::Act::Delegate(&crate::runs::intent("a")));
    let said = call_of(&*session).expect("it is another's agent");
    assert_eq!(said.args, r#"{"description":"look a","prompt":"task a","subagent_type":"explorer"}"#);
    assert_eq!((EARLIER.id(), EARLIER.hands_history_down()), ("deerflow@f1f4af9".to_owned(), false));
    let snapshot = DeerFlow { context_mode: ContextMode::Snapshot, ..EARLIER };
    assert_eq!((snapshot.id(), snapshot.hands_history_down()), ("deerflow@f1f4af9".to_owned(), false));
    // What it does not know it does not read.
    let one = task(0, json!({"context_mode": "shared", "acceptance_criteria": ["c"]}));
    let opening = put(&tree.route(&mut *session, ROOT, &one));
    assert_eq!(opening, [Item::user(Origin::Task, "do it")]);
    let (child, _) = tree.opened(&mut *session, ROOT, &one, "explorer");
    let view = session.view(&opening, &tree.scope(child, 0));
    assert_eq!(view.system.as_ref().map(Part::as_text), Some("You explore."));
    let framed = |view: &ctxbench::strategy::View| view.splices.last().map(|splice| (splice.at, splice.items[0].text()));
    assert_eq!(framed(&view), Some((0, "--- BEGIN USER INPUT ---\ndo it\n--- END USER INPUT ---".into())));
    let items = [Item::user(Origin::User, "go"), Item::call(one)];
    let view = session.view(&items, &tree.scope(ROOT, 0));
    assert_eq!(view.splices.iter().map(|splice| (splice.at, splice.remove)).collect::<Vec<_>>(), [(0, 0), (0, 1)]);
    assert_eq!(framed(&view), Some((0, "--- BEGIN USER INPUT ---\ngo\n--- END USER INPUT ---".into())));
    let schema = view.tools.last().map(|tool| tool.schema.as_text().to_owned()).unwrap_or_default();
    assert!(!schema.contains("context_mode") && schema.contains(r#""required":["description","prompt","subagent_type"]"#));
    let unknown = tree.route(&mut *session, ROOT, &task(1, json!({"subagent_type": "x"})));
    assert_eq!(reply(&unknown).0, "Task failed. Error: Unknown subagent type 'x'. Available: explorer, writer");
}

/// What was measured on the wire, in place of texts; the frame is part of it.
#[test]
fn the_scaffold_has_the_measured_sizes() {
    let context = ctxbench::strategy::RunContext { scaffold: true, ..run() };
    assert!(DeerFlow::default().has_scaffold());
    let (mut session, mut tree) = (DeerFlow::default().start(&context), Tree::new("lead"));
    let sizes = |view: &ctxbench::strategy::View| {
        let opaque = |part: &Part| match part.content() {
            Content::Opaque { bytes, tokens, .. } => (*bytes, tokens.unwrap_or_default()),
            other => panic!("{other:?}"),
        };
        let tools: u32 = view.tools.iter().map(|tool| opaque(&tool.schema).1).sum();
        (view.system.as_ref().map(opaque), view.tools.len(), tools, view.splices.len())
    };
    let mut items = vec![Item::user(Origin::User, "go")];
    assert_eq!(sizes(&session.view(&items, &tree.scope(ROOT, 0))), (Some((18_159, 3_937)), 6, 2_783, 1));
    items.push(Item::call(task(0, json!({}))));
    let view = session.view(&items, &tree.scope(ROOT, 0));
    assert_eq!(sizes(&view), (Some((18_484, 3_993)), 6, 2_783, 2));
    assert!(view.tools.iter().any(|tool| tool.name == "task"));
    let child = tree.open(ROOT, "explorer");
    assert_eq!(sizes(&session.view(&[Item::user(Origin::Task, "do it")], &tree.scope(child, 0))), (Some((2_470, 552)), 2, 527, 1));
}

/// An id that comes again in a later run: what ended stays, until the new call has ended.
#[test]
fn the_ledger_remembers_across_runs() {
    let (mut session, mut tree) = start();
    let mut items = with_delegations(&mut *session, &mut tree, &["first".into()]);
    let status = |session: &mut dyn Session, items: &[Item], turn, own| {
        let view = session.view(items, &ctxbench::strategy::Scope { turn, ..tree.scope(ROOT, own) });
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
    let turn = session.turn(reply, &items, &ctxbench::strategy::Scope { turn: 2, ..tree.scope(ROOT, own) });
    assert_eq!(turn.calls.len(), 3);
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
