//! `maf-dotnet@2026-08`: rules read in the sources, under a hand-driven session and under the engine.

use ctxbench::ledger::FailureKind;
use ctxbench::model::{CallDraft, Reply, Request};
use ctxbench::strategy::maf::dotnet::{additional_properties, message, quoted, tool_name};
use ctxbench::strategy::maf::{AsTool, Platform, name};
use ctxbench::strategy::{Act, AgentSpec, AssistantTurn, End, MafDotNet, Order, ParentView, Route, RunContext, Strategy, ThreadId, To};
use ctxbench::transcript::{CallKey, Handle, Item, Means, Origin, dangling};
use indexmap::IndexMap;

use crate::hand::{Tree, call, put, reply, run, said};
use crate::maf::check_builtin;
use crate::runs::{calls, delegate, go_on, intent, play, read, say};

const ROOT: ThreadId = ThreadId::ROOT;

fn fresh() -> MafDotNet {
    MafDotNet::default()
}

fn kept() -> MafDotNet {
    MafDotNet { kept: true, ..MafDotNet::default() }
}

fn query(key: u32, query: &str) -> ctxbench::transcript::ToolCall {
    call(key, "explorer", &serde_json::json!({ "query": query }).to_string())
}

#[test]
fn names_of_tools() {
    let check = |agent: &str, expect: &str| assert_eq!(name::dotnet(agent), expect, "{agent}");
    check("My-Agent", "My_Agent");
    check("Agent_With_________@@@@_Underscores", "Agent_With_Underscores");
    check("123Agent", "123Agent");
    check("Agent/With\\Slashes", "Agent_With_Slashes");
    check("", "");
    check("@@@", "_");
    check("研究", "_");
    check("_x_", "_x_");
    assert!(tool_name(&AsTool::default()).starts_with("AsAIFunction_InvokeAgent_"));
}

#[test]
fn one_tool_an_agent_for_the_root_alone() {
    let mut run = run();
    run.agents.entry("writer".into()).or_default().description = "Writes it down.".into();
    let mut session = fresh().start(&run);
    let mut tree = Tree::new("lead");
    let child = tree.open(ROOT, "explorer");
    let tools = session.view(&[], &tree.scope(ROOT, 0)).tools;
    assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["read", "explorer", "writer"]);
    let parameters = serde_json::json!({"type": "object", "additionalProperties": false, "required": ["query"],
        "properties": {"query": {"type": "string", "description": "Input query to invoke the agent."}}});
    for (at, about) in [(1, "Invoke an agent to retrieve some information."), (2, "Writes it down.")] {
        let schema: serde_json::Value = serde_json::from_str(tools[at].schema.as_text()).expect("a schema");
        assert_eq!(schema, serde_json::json!({"name": tools[at].name.as_str(), "description": about, "parameters": parameters}));
    }
    let tools = session.view(&[], &tree.scope(child, 0)).tools;
    assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["read", "list"]);
}

#[test]
fn what_is_no_answer() {
    let check = |name: &str, args: &str, expect: &str, means: &[Means]| {
        let (mut session, tree) = (fresh().start(&run()), Tree::new("lead"));
        let orders = tree.route(&mut *session, ROOT, &call(0, name, args));
        assert_eq!(reply(&orders), (expect.to_owned(), true, means.to_vec()), "{args}");
    };
    for args in [r#"{"task":"t"}"#, "{}", r#"{"query":5}"#, r#"{"query":null}"#, r#"{"query":" "}"#, "do it", "[]", ""] {
        check("explorer", args, "Error: Function failed.", &[Means::Refused]);
    }
    check("nope", r#"{"query":"t"}"#, "Error: Requested function \"nope\" not found.", &[]);
    // Other keys are ignored; of equal ones the last holds.
    let (mut session, tree) = (fresh().start(&run()), Tree::new("lead"));
    let orders = tree.route(&mut *session, ROOT, &call(0, "explorer", r#"{"query":"a","more":{},"query":"b"}"#));
    assert_eq!(put(&orders), [Item::user(Origin::Task, "b")]);
}

#[test]
fn what_comes_back() {
    let check = |platform: Platform, items: &[Item], end: End, expect: &str, failed: bool| {
        let mut session = MafDotNet { platform, ..fresh() }.start(&run());
        let mut tree = Tree::new("lead");
        let one = query(0, "do it");
        tree.route(&mut *session, ROOT, &one);
        let (child, _) = tree.opened(&mut *session, ROOT, &one, "explorer");
        let orders = tree.ended(&mut *session, child, &one, &end, items);
        let means = if failed { Means::Failed(None) } else { Means::Returned(None) };
        assert_eq!(reply(&orders), (expect.to_owned(), failed, vec![means]));
    };
    let two = [said("one"), said(""), said("\"two\"")];
    check(Platform::Unix, &two, End::Done, r#""one\n\"two\"""#, false);
    check(Platform::Windows, &two, End::Done, r#""one\r\n\"two\"""#, false);
    check(Platform::Unix, &[], End::Done, r#""""#, false);
    for end in [End::Failed("boom".into()), End::Ceiling("c".into())] {
        check(Platform::Unix, &two, end, "Error: Function failed.", true);
    }
}

#[test]
fn what_the_client_writes() {
    assert_eq!(message(Some("a\tb")), r#""a\tb""#);
    assert_eq!(message(None), "Success: Function completed.");
    assert_eq!(quoted("研😀\u{2028}\u{feff}`<"), r#""研\uD83D\uDE00\u2028\uFEFF`<""#);
    // Unicode 16 has the first of the two, nobody has the second.
    assert_eq!(quoted("\u{2428}\u{20c1}"), "\"\u{2428}\\u20C1\"");
}

#[test]
fn properties_of_the_parent_win() {
    let map = |pairs: &[(&str, u8)]| pairs.iter().map(|&(key, value)| (key.to_owned(), value)).collect::<IndexMap<_, _>>();
    let merged = additional_properties(&map(&[("a", 1), ("b", 2)]), &map(&[("b", 3), ("c", 4)]));
    assert_eq!(merged, map(&[("a", 1), ("b", 2), ("c", 4)]));
}

// ---- errors in a row -----------------------------------------------------------------------------------------------------

/// A turn of so many iterations, each one call of this tool with this result.
fn iterations(calls: &[(&str, bool)]) -> Vec<Item> {
    let one = |(key, (tool, failed)): (u32, &(&str, bool))| {
        [Item::call(call(key, tool, "{}")), Item::result(CallKey(key), Origin::ToolResult, format!("result {key}"), *failed)]
    };
    [Item::user(Origin::User, "go")].into_iter().chain((100..).zip(calls).flat_map(one)).collect()
}

#[test]
fn the_fourth_exception_in_a_row_leaves_the_run() {
    const BAD: (&str, bool) = ("read", true);
    const GOOD: (&str, bool) = ("read", false);
    const NOBODY: (&str, bool) = ("nope", true);
    const AGENT: (&str, bool) = ("explorer", true);
    let check = |calls: &[(&str, bool)], expect: Option<&str>| {
        let (mut session, tree) = (fresh().start(&run()), Tree::new("lead"));
        let stop = session.view(&iterations(calls), &tree.scope(ROOT, 0)).stop;
        assert_eq!(stop, expect.map(|why| End::Failed(why.into())), "{calls:?}");
    };
    check(&[BAD, BAD, BAD], None);
    check(&[BAD, AGENT, BAD, BAD], Some("result 103"));
    check(&[BAD, BAD, GOOD, BAD, BAD, BAD], None);
    // A tool that nobody offers is no exception, and its iteration none that failed.
    check(&[NOBODY, NOBODY, NOBODY, NOBODY], None);
    check(&[BAD, BAD, BAD, NOBODY, BAD], None);
    // What stands behind it, user's words say, hides nothing.
    let (mut session, tree) = (fresh().start(&run()), Tree::new("lead"));
    let mut items = iterations(&[BAD, BAD, BAD, BAD]);
    items.push(Item::user(Origin::User, "and?"));
    assert!(session.view(&items, &tree.scope(ROOT, 0)).stop.is_some());
    // Another turn counts anew.
    assert_eq!(session.view(&items, &tree.scope(ROOT, items.len())).stop, None);
}

#[test]
fn calls_behind_the_exception_are_not_made() {
    let (mut session, tree) = (fresh().start(&run()), Tree::new("lead"));
    let mut items = iterations(&[("read", true), ("read", true), ("read", true)]);
    let message = [call(200, "read", "{}"), call(201, "read", "{}"), query(202, "do it")];
    items.extend(message.iter().cloned().map(Item::call));
    let mut routed = |items: &[Item], call: &ctxbench::transcript::ToolCall| {
        session.route(call, ParentView { items, in_flight: &[call.key] }, &tree.scope(ROOT, 0))
    };
    assert!(matches!(routed(&items, &message[0]), Route::Tool));
    items.push(Item::result(CallKey(200), Origin::ToolResult, "fine", false));
    assert!(matches!(routed(&items, &message[1]), Route::Tool));
    items.push(Item::result(CallKey(201), Origin::ToolResult, "broken", true));
    let Route::Do(orders) = routed(&items, &message[2]) else { panic!("it is the strategy's") };
    assert!(put(&orders).is_empty() && matches!(orders[..], [Order::Reply { .. }]), "no child starts: {orders:?}");
}

#[test]
fn the_last_request_has_no_tools() {
    for (made, off) in [(39, false), (40, true)] {
        let (mut session, tree) = (fresh().start(&run()), Tree::new("lead"));
        let items = iterations(&vec![("read", false); made]);
        let scope = tree.scope(ROOT, 0);
        assert_eq!(session.view(&items, &scope).tools.is_empty(), off, "{made}");
        let reply = AssistantTurn { text: "so far".into(), calls: vec![call(500, "read", "{}")], ..AssistantTurn::default() };
        let turn = session.turn(reply, &items, &scope);
        assert_eq!((turn.serial, turn.finish, turn.calls.len(), turn.cut.len()), (!off, off, usize::from(!off), usize::from(off)));
        assert_eq!(turn.text, "so far");
        let answer = session.turn(AssistantTurn { text: "done".into(), ..AssistantTurn::default() }, &items, &scope);
        assert_eq!((answer.text.as_str(), answer.finish), ("done", false));
    }
}

#[test]
fn cancellation_is_never_captured() {
    let mut session = fresh().start(&run());
    let mut tree = Tree::new("lead");
    let one = query(0, "do it");
    tree.route(&mut *session, ROOT, &one);
    let (child, _) = tree.opened(&mut *session, ROOT, &one, "explorer");
    let orders = tree.ended(&mut *session, child, &one, &End::Aborted, &[]);
    let items = [Item::call(one), Item::result(CallKey(0), Origin::Delegated, reply(&orders).0, true)];
    assert_eq!(session.view(&items, &tree.scope(ROOT, 0)).stop, Some(End::Failed("OperationCanceledException".into())));
}

// ---- under the engine --------------------------------------------------------------------------------------------------

/// The root delegates `a` and `b` in one message, in a later turn `c`; children read once.
fn two_turns(request: &Request<'_>) -> Result<Reply, String> {
    match (request.path, request.turn, request.exchange) {
        ("/", 1, 0) => calls("first", vec![delegate(request, "a"), delegate(request, "b")]),
        ("/", 2, 0) => calls("", vec![delegate(request, "c")]),
        ("/", turn, _) => say(format!("root ends {turn}")),
        (_, _, 0) => calls("looking.", vec![read()]),
        (path, turn, _) => say(format!("answer of {path}.{turn}")),
    }
}

#[test]
fn children_know_nothing_and_run_one_after_the_other() {
    let played = play(&fresh(), two_turns, &["secret", "more"]);
    assert_eq!(played.outcome.failure, None);
    let told = [r#""looking.\nanswer of /1.1""#, r#""looking.\nanswer of /2.1""#, r#""looking.\nanswer of /3.1""#];
    assert_eq!(played.results(0), told.map(|text| (text.to_owned(), false)));
    for (path, task) in [("/1", "task a"), ("/2", "task b"), ("/3", "task c")] {
        assert_eq!(played.of(path)[0].short(), [task]);
    }
    let times = |path: &str| {
        let rows: Vec<_> = played.outcome.rows.iter().filter(|row| &*row.path == path).collect();
        (rows[0].sent_ms, rows[rows.len() - 1].done_ms)
    };
    assert_eq!(times("/1").1, Some(times("/2").0), "b begins when a is done");
    assert!(!fresh().hands_history_down());
}

#[test]
fn a_kept_session_is_one_thread() {
    let played = play(&kept(), two_turns, &["secret", "more"]);
    assert_eq!(played.outcome.threads.len(), 2);
    let openings: Vec<Vec<String>> = [0, 2, 4].map(|at| played.of("/1")[at].short()).into();
    let a = ["task a", "looking.", "read()", "42", "answer of /1.1"];
    let b = ["task b", "looking.", "read()", "42", "answer of /1.2"];
    assert_eq!(openings, [vec!["task a"], [&a[..], &["task b"]].concat(), [&a[..], &b, &["task c"]].concat()]);
}

#[test]
fn a_kept_session_is_continued_by_its_tool() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match (request.path, request.turn, request.exchange) {
            ("/", 1, 0) => calls("", vec![delegate(request, "a")]),
            ("/", 2, 0) => calls("", vec![go_on(request, "a", "and more?")]),
            ("/", ..) => say("root ends"),
            (_, turn, _) => say(format!("answer {turn}")),
        }
    }
    let played = play(&kept(), script, &["go", "more"]);
    assert_eq!(played.of("/1")[1].short(), ["task a", "answer 1", "and more?"]);
    let act = Act::Continue { child: &Handle("explorer".into()), intent: &intent("a"), text: "more", wake: true };
    assert_eq!(fresh().start(&run()).phrase(&act), None);
    let orders = {
        let (mut session, mut tree) = (kept().start(&run()), Tree::new("lead"));
        tree.route(&mut *session, ROOT, &query(0, "a"));
        tree.opened(&mut *session, ROOT, &query(0, "a"), "explorer");
        tree.route(&mut *session, ROOT, &query(1, "b"))
    };
    assert!(matches!(orders[..], [Order::Put { to: To::Thread(ThreadId(1)), .. }]), "{orders:?}");
}

/// The child's fourth error leaves the child's run alone; the root's leaves the root's, and with it the run.
#[test]
fn a_run_that_fails_too_often() {
    fn child_fails(request: &Request<'_>) -> Result<Reply, String> {
        match (request.path, request.exchange) {
            ("/", 0) => calls("", vec![delegate(request, "a")]),
            ("/", _) => say("root ends"),
            _ => calls("", vec![CallDraft::tool("read", r#"{"path":"absent"}"#)]),
        }
    }
    let played = play(&kept(), child_fails, &["go"]);
    assert_eq!(played.outcome.failure, None);
    assert_eq!(played.of("/1").len(), 4);
    assert_eq!(played.results(0), [("Error: Function failed.".to_owned(), true)]);
    assert!(played.outcome.history_of(ThreadId(1)).is_empty(), "a failed run is not stored");
    fn root_fails(request: &Request<'_>) -> Result<Reply, String> {
        match request.path {
            "/" => calls("", vec![delegate(request, "a")]),
            _ => Err("no network".into()),
        }
    }
    let played = play(&fresh(), root_fails, &["go"]);
    let failure = played.outcome.failure.expect("it fails");
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Strategy, "no network"));
    assert_eq!(played.sent.iter().filter(|sent| sent.path == "/").count(), 4);
    assert_eq!(played.outcome.threads.len(), 5);
}

#[test]
fn built_in_scenarios_are_answered() {
    for outcome in check_builtin("maf-dotnet", false).into_iter().chain(check_builtin("maf-dotnet:session=kept", false)) {
        // What the child says while it works comes back with its report, in quotes.
        let told = |item: &Item| item.origin == Origin::Delegated && item.text().starts_with("\"Looking at ");
        assert!(outcome.history_of(ROOT).iter().any(told));
        assert_eq!(outcome.rows.iter().map(|row| row.input.get(Origin::Inherited)).sum::<u64>(), 0);
        assert!(outcome.rows.iter().all(|row| dangling(&outcome.items_of(row)).is_empty()));
    }
}

#[test]
fn an_empty_context_starts() {
    let mut session = fresh().start(&RunContext { agents: [(String::new(), AgentSpec::default())].into(), ..RunContext::default() });
    assert!(session.view(&[], &Tree::new("").scope(ROOT, 0)).tools.is_empty());
}
