//! `maf-python@1.23.0`: error texts and joins are the product's (measured).

use ctxbench::ledger::Outcome;
use ctxbench::model::reader::Reader;
use ctxbench::model::{CallDraft, Reply, Request};
use ctxbench::scenario::file::compile;
use ctxbench::scenario::{Size, builtin};
use ctxbench::strategy::maf::Application;
use ctxbench::strategy::maf::python::PROFILES;
use ctxbench::strategy::{
    Act, AgentSpec, AssistantTurn, End, MafPython, New, Order, ParentView, Route, RunContext, Session, Strategy, ThreadId, To, When,
};
use ctxbench::tokens::{Encoding, Meter, counter};
use ctxbench::transcript::{CallKey, Handle, Item, Means, Origin, Part, Role, dangling};
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::hand::{Tree, call, put, reply, run, said};
use crate::play::{play as play_scenario, strategy};
use crate::runs::{calls, delegate, go_on, intent, play, read, say};

const ROOT: ThreadId = ThreadId::ROOT;
const FRESH: MafPython = python(false, false);
const KEPT: MafPython = python(false, true);
const SHARED: MafPython = python(true, false);

const fn python(propagate_session: bool, kept: bool) -> MafPython {
    let application = Application { detailed_errors: false, tools: BTreeMap::new() };
    MafPython { profile: &PROFILES[0], propagate_session, kept, application }
}

fn start(strategy: MafPython) -> (Box<dyn Session>, Tree) {
    (strategy.start(&run()), Tree::new("lead"))
}

fn task(key: u32, task: &str) -> ctxbench::transcript::ToolCall {
    call(key, "explorer", &serde_json::json!({ "task": task }).to_string())
}

#[test]
fn one_tool_an_agent_for_the_root_alone() {
    let (mut session, mut tree) = start(FRESH);
    let child = tree.open(ROOT, "explorer");
    let tools = session.view(&[], &tree.scope(ROOT, 0)).tools;
    assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["read", "explorer", "writer"]);
    let schema: serde_json::Value = serde_json::from_str(tools[1].schema.as_text()).expect("a schema");
    let parameters = serde_json::json!({"type": "object", "properties": {"task": {"type": "string", "description": "Task for explorer"}},
        "required": ["task"], "additionalProperties": false});
    assert_eq!(schema, serde_json::json!({"name": "explorer", "description": "", "parameters": parameters}));
    let view = session.view(&[], &tree.scope(child, 0));
    assert_eq!(view.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["read", "list"]);
    assert_eq!(view.system.as_ref().map(Part::as_text), Some("You explore."));
}

/// Two agents of one tool name are one tool, and an ordinary tool of that name is not shown beside it.
#[test]
fn a_name_is_shown_once() {
    let mut run = run();
    run.agents.insert("read".into(), AgentSpec::default());
    run.agents.insert("ex-plorer".into(), AgentSpec::default());
    run.agents.insert("ex plorer".into(), AgentSpec::default());
    let mut session = FRESH.start(&run);
    let tools = session.view(&[], &Tree::new("lead").scope(ROOT, 0)).tools;
    assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["ex_plorer", "explorer", "read", "writer"]);
    let mut other = intent("a");
    for (agent, shown) in [("ex plorer", true), ("ex-plorer", false), ("lead", false), ("nobody", false)] {
        other.agent = agent.into();
        assert_eq!(session.phrase(&Act::Delegate(&other)).is_some(), shown, "{agent}");
    }
}

#[test]
fn arguments_and_unknown_functions() {
    let check = |name: &str, args: &str, expect: &str, means: &[Means]| {
        let (mut session, tree) = start(FRESH);
        let orders = tree.route(&mut *session, ROOT, &call(0, name, args));
        assert_eq!(reply(&orders), (expect.to_owned(), true, means.to_vec()), "{args}");
        assert_eq!(orders.len(), 1);
    };
    let parsing = "Error: Argument parsing failed.";
    for args in [r#"{"query":"do"}"#, "{}", r#"{"task":5}"#, r#"{"task":"t","more":1}"#, "do it", "[]", ""] {
        check("explorer", args, parsing, &[Means::Refused]);
    }
    check("nope", r#"{"task":"t"}"#, "Error: Requested function \"nope\" not found.", &[]);
    check("lead", r#"{"task":"t"}"#, "Error: Requested function \"lead\" not found.", &[]);
    // An ordinary tool is the world's.
    let (mut session, tree) = start(FRESH);
    let read = call(0, "read", "{}");
    assert!(matches!(session.route(&read, ParentView { items: &[], in_flight: &[] }, &tree.scope(ROOT, 0)), Route::Tool));
}

/// One delegation from call to result.
fn delegated(strategy: MafPython, items: &[Item], end: &End) -> (Vec<Item>, (String, bool, Vec<Means>)) {
    let (mut session, mut tree) = start(strategy);
    let one = task(0, "do it");
    let orders = tree.route(&mut *session, ROOT, &one);
    let [Order::Put { to: To::New(New { agent, drain: true, keep_failed: false }), when: When::Turn, by: Some(CallKey(0)), .. }] =
        &orders[..]
    else {
        panic!("{orders:?}")
    };
    assert_eq!(agent, "explorer");
    let opening = put(&orders);
    let (child, more) = tree.opened(&mut *session, ROOT, &one, "explorer");
    assert!(more.is_empty(), "the call blocks");
    let all: Vec<Item> = opening.iter().chain(items).cloned().collect();
    let orders = tree.ended(&mut *session, child, &one, end, &all);
    let Order::Reply { text, failed, means, .. } = &orders[0] else { panic!("{orders:?}") };
    (opening, (text.as_text().to_owned(), *failed, means.clone()))
}

#[test]
fn the_texts_of_all_messages_come_back() {
    let check = |items: &[Item], expect: &str| {
        let (opening, result) = delegated(FRESH, items, &End::Done);
        assert_eq!(opening, [Item::user(Origin::Task, "do it")]);
        assert_eq!(result, (expect.to_owned(), false, vec![Means::Returned(None)]));
    };
    let tool = [Item::call(call(5, "noop", "{}")), Item::result(CallKey(5), Origin::ToolResult, "r1", false)];
    check(&[&[said("thinking aloud")], &tool[..], &[said("final")]].concat(), "thinking aloudfinal");
    let contents = |parts: &[&str]| {
        let parts = parts.iter().map(|&text| Part::text(text)).collect();
        Item::new(ctxbench::transcript::Body::Message { role: Role::Assistant, phase: None, parts }, Origin::Own)
    };
    check(&[contents(&["A", "B"]), said("C")], "A BC");
    check(&[], "");
    check(&[said("  \n")], "  \n");
    // Reasoning is no text.
    let thought = Item::new(ctxbench::transcript::Body::Reasoning { parts: vec!["hmm".into()] }, Origin::Own);
    check(&[thought, said("answer")], "answer");
}

#[test]
fn what_goes_wrong_in_a_child_is_one_text() {
    for end in [End::Failed("boom".into()), End::Aborted, End::Stopped("function_approval_request".into()), End::Ceiling("c".into())] {
        let (_, result) = delegated(FRESH, &[said("half")], &end);
        assert_eq!(result, ("Error: Function failed.".to_owned(), true, vec![Means::Failed(None)]));
    }
}

#[test]
fn a_kept_session_goes_by_its_tool() {
    let (_, result) = delegated(KEPT, &[said("one")], &End::Done);
    assert_eq!(result.2, [Means::Returned(Some(Handle("explorer".into())))]);
    let (mut session, mut tree) = start(KEPT);
    let first = task(0, "a");
    tree.route(&mut *session, ROOT, &first);
    let (child, _) = tree.opened(&mut *session, ROOT, &first, "explorer");
    let orders = tree.route(&mut *session, ROOT, &task(1, "b"));
    let [Order::Put { to: To::Thread(thread), when: When::Overlap, by: Some(CallKey(1)), items }] = &orders[..] else {
        panic!("{orders:?}")
    };
    assert_eq!((*thread, &items[..]), (child, &[Item::user(Origin::Task, "b")][..]));
    // A fresh one is new each time, and cannot be continued.
    let (mut session, mut tree) = start(FRESH);
    tree.route(&mut *session, ROOT, &first);
    tree.opened(&mut *session, ROOT, &first, "explorer");
    assert!(matches!(&tree.route(&mut *session, ROOT, &task(1, "b"))[..], [Order::Put { to: To::New(_), .. }]));
    let act = Act::Continue { child: &Handle("explorer".into()), intent: &intent("a"), text: "more", wake: true };
    assert_eq!((session.phrase(&act), KEPT.start(&run()).phrase(&act).map(|call| call.args)), (None, Some(r#"{"task":"more"}"#.into())));
}

/// A turn of so many iterations, each with these results.
fn iterations(results: &[&[bool]]) -> Vec<Item> {
    let mut items = vec![Item::user(Origin::User, "go")];
    let mut key = 100;
    for results in results {
        items.extend((0..results.len() as u32).map(|at| Item::call(call(key + at, "read", "{}"))));
        items.extend((0..).zip(*results).map(|(at, failed)| Item::result(CallKey(key + at), Origin::ToolResult, "r", *failed)));
        key += results.len() as u32;
    }
    items
}

fn check_off(results: &[&[bool]], off: bool) {
    let (mut session, tree) = start(FRESH);
    let items = iterations(results);
    let scope = tree.scope(ROOT, 0);
    assert_eq!(session.view(&items, &scope).tools.is_empty(), off, "{results:?}");
    for (text, stays) in [("", "Function invocation limit reached before a final answer could be produced."), ("so far", "so far")] {
        let reply = AssistantTurn { text: text.into(), calls: vec![call(500, "read", "{}")], ..AssistantTurn::default() };
        let turn = session.turn(reply, &items, &scope);
        assert_eq!((turn.finish, turn.cut.len(), turn.calls.len()), (off, usize::from(off), usize::from(!off)), "{results:?}");
        assert_eq!(turn.text, if off { stays } else { text });
    }
    let answer = session.turn(AssistantTurn { text: "done".into(), ..AssistantTurn::default() }, &items, &scope);
    assert_eq!((answer.text.as_str(), answer.finish), ("done", false));
}

#[test]
fn tools_are_taken_away() {
    const BAD: &[bool] = &[true];
    const GOOD: &[bool] = &[false];
    check_off(&[], false);
    check_off(&[BAD, BAD], false);
    check_off(&[BAD, BAD, BAD], true);
    check_off(&[BAD, BAD, GOOD, BAD], false);
    // One failed call makes its iteration a failed one; three in one are one.
    check_off(&[BAD, &[false, true], &[true, false]], true);
    check_off(&[&[true, true, true]], false);
    check_off(&[GOOD; 39], false);
    check_off(&[GOOD; 40], true);
}

#[test]
fn only_this_turns_errors_count() {
    let (mut session, tree) = start(FRESH);
    let items = iterations(&[&[true], &[true], &[true]]);
    let scope = tree.scope(ROOT, items.len());
    assert!(!session.view(&items, &scope).tools.is_empty());
}

// ---- under the engine --------------------------------------------------------------------------------------------------

/// The root delegates `a` and `b`, in a later turn `c`; children read once.
fn two_turns(request: &Request<'_>) -> Result<Reply, String> {
    match (request.path, request.turn, request.exchange) {
        ("/", 1, 0) => calls("first", vec![delegate(request, "a")]),
        ("/", 1, 1) => calls("", vec![delegate(request, "b")]),
        ("/", 2, 0) => calls("", vec![delegate(request, "c")]),
        ("/", turn, _) => say(format!("root ends {turn}")),
        (_, _, 0) => calls("looking. ", vec![read()]),
        (path, turn, _) => say(format!("answer of {path}.{turn}")),
    }
}

#[test]
fn narration_leaks_and_children_know_nothing() {
    let played = play(&FRESH, two_turns, &["secret", "more"]);
    assert_eq!(played.outcome.failure, None);
    let told = ["looking. answer of /1.1", "looking. answer of /2.1", "looking. answer of /3.1"];
    assert_eq!(played.results(0), told.map(|text| (text.to_owned(), false)));
    for (path, task) in [("/1", "task a"), ("/2", "task b"), ("/3", "task c")] {
        assert_eq!(played.of(path)[0].short(), [task]);
        assert_eq!(played.of(path)[0].tools, ["read", "list"]);
    }
    assert!(!FRESH.hands_history_down() && SHARED.hands_history_down());
}

#[test]
fn calls_of_one_message_run_beside_each_other() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match (request.path, request.exchange) {
            ("/", 0) => calls("", vec![delegate(request, "a"), delegate(request, "b")]),
            ("/", _) => say("root ends"),
            // The first child is the slower one.
            ("/1", 0) => calls("", vec![read()]),
            (path, _) => say(format!("answer of {path}")),
        }
    }
    let played = play(&FRESH, script, &["go"]);
    assert_eq!(played.results(0), ["answer of /1", "answer of /2"].map(|text| (text.to_owned(), false)));
    let starts: Vec<u64> =
        ["/1", "/2"].map(|path| played.outcome.rows.iter().find(|row| &*row.path == path).map_or(0, |row| row.sent_ms)).into();
    assert_eq!(starts, [10, 10]);
}

#[test]
fn a_kept_session_remembers_what_went_well() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match (request.path, request.turn, request.exchange) {
            ("/", 1, 0) => calls("", vec![delegate(request, "a")]),
            ("/", 2, 0) => calls("", vec![delegate(request, "b")]),
            ("/", 3, 0) => calls("", vec![go_on(request, "a", "and more?")]),
            ("/", ..) => say("root ends"),
            (_, 2, _) => Err("no network".into()),
            (_, turn, _) => say(format!("answer {turn}")),
        }
    }
    let played = play(&KEPT, script, &["go", "more", "again"]);
    assert_eq!(played.outcome.failure, None);
    assert_eq!(played.outcome.threads.len(), 2);
    let told = [("answer 1", false), ("Error: Function failed.", true), ("answer 3", false)];
    assert_eq!(played.results(0), told.map(|(text, failed)| (text.to_owned(), failed)));
    assert_eq!(played.of("/1")[2].short(), ["task a", "answer 1", "and more?"]);
}

#[test]
fn a_shared_session_is_read_and_extended() {
    let played = play(&SHARED, two_turns, &["U1", "U2"]);
    assert_eq!(played.outcome.failure, None);
    let a = ["task a", "looking. ", "read()", "42", "answer of /1.1"];
    let b = ["task b", "looking. ", "read()", "42", "answer of /2.1"];
    let first = ["U1", "first", "explorer()", "looking. answer of /1.1", "explorer()", "looking. answer of /2.1", "root ends 1"];
    // Of the turn in progress a child reads nothing but what other children left.
    assert_eq!(played.of("/1")[0].short(), ["task a"]);
    assert_eq!(played.of("/2")[0].short(), [&a[..], &["task b"]].concat());
    assert_eq!(played.of("/3")[0].short(), [&a[..], &b, &first, &["task c"]].concat());
    // So does the root, from its second turn on.
    let root = played.of("/");
    assert_eq!(root[2].short(), &first[..first.len() - 1]);
    assert_eq!(root[3].short(), [&a[..], &b, &first, &["U2"]].concat());
    let origins = |items: &[Item], n: usize| items[..n].iter().map(|item| item.origin).collect::<Vec<_>>();
    assert_eq!(origins(&root[3].items, 10), vec![Origin::Delegated; 10]);
    assert_eq!(origins(&played.of("/3")[0].items, 18), [vec![Origin::Inherited; 17], vec![Origin::Task]].concat());
}

/// A failed child leaves nothing in the shared session.
#[test]
fn a_failed_child_is_not_stored() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match (request.path, request.exchange) {
            ("/", at @ 0..2) => calls("", vec![delegate(request, ["a", "b"][at as usize])]),
            ("/", _) => say("root ends"),
            ("/1", _) => Err("no network".into()),
            _ => say("done"),
        }
    }
    let played = play(&SHARED, script, &["go"]);
    assert_eq!(played.of("/2")[0].short(), ["task b"]);
}

#[test]
fn a_model_that_keeps_failing_loses_its_tools() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match request.path {
            "/" => calls("", vec![CallDraft::tool("nope", "{}")]),
            _ => say("done"),
        }
    }
    let played = play(&FRESH, script, &["go"]);
    assert_eq!(played.outcome.failure, None);
    assert_eq!(played.of("/").iter().map(|sent| sent.tools.len()).collect::<Vec<_>>(), [3, 3, 3, 0]);
    assert_eq!(played.outcome.answer(), "Function invocation limit reached before a final answer could be produced.");
    assert_eq!(played.outcome.rows[3].cut, 1);
}

/// What every thread was sent dangles nowhere.
pub fn nothing_dangles(outcome: &Outcome) {
    for row in &outcome.rows {
        assert!(dangling(&outcome.items_of(row)).is_empty(), "{} {}", row.path, row.exchange);
    }
}

/// Built-in scenarios whose facts any child finds by itself: in the others it depends on what goes down to it.
const EXPLORING: [&str; 5] = ["auth-lookup", "auth-lookup-parallel", "tiny-task", "fan-out-3", "fan-out-3-serial"];

/// The exploring scenarios of one size, played by the reader.
pub fn check_builtin(spec: &str, hands_down: bool) -> Vec<Outcome> {
    let meter = Meter::new(counter(Encoding::O200kBase));
    let strategy = strategy(spec);
    assert_eq!(strategy.hands_history_down(), hands_down);
    let mut outcomes = Vec::new();
    for name in EXPLORING {
        let text = builtin(name).expect("it is named");
        let scenario = compile(text, name, Size::Small, &Default::default()).expect("it is fit");
        let played = play_scenario(&Reader::new(Arc::new(scenario)), &*strategy, &meter);
        assert_eq!(played.measurement.get("quality").map(|value| value.as_f64()).ok(), Some(1.0), "{name} under {spec}");
        assert!(played.outcome.threads.len() > 1, "{name} under {spec}");
        nothing_dangles(&played.outcome);
        outcomes.push(played.outcome);
    }
    outcomes
}

#[test]
fn built_in_scenarios_are_answered() {
    for outcome in check_builtin("maf-python", false) {
        // What the child says while it works comes back with its report.
        let told = |item: &Item| item.origin == Origin::Delegated && item.text().contains("Looking at ");
        assert!(outcome.history_of(ROOT).iter().any(told));
        assert_eq!(outcome.rows.iter().map(|row| row.input.get(Origin::Inherited)).sum::<u64>(), 0);
    }
    check_builtin("maf-python:session=kept", false);
    check_builtin("maf-python:propagate_session=true", true);
}

/// The leak can be seen: what the root read of its child is shown with the narration in it.
#[test]
fn narration_is_shown() {
    let shown = |strategy: &str| {
        let cell = format!("auth-lookup/{strategy}/reader/0");
        let ran =
            std::process::Command::new(env!("CARGO_BIN_EXE_ctxbench")).args(["show", &cell, "--format", "json"]).output().expect("it runs");
        let shown: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("it is JSON");
        shown["threads"][0]["received"].to_string().contains("Looking at ")
    };
    assert_eq!((shown("maf-python@1.23.0"), shown("opencode@1.18.33")), (true, false));
}

/// A session that holds turns of an earlier run: the child of a later one reads them, and not the turn in progress.
#[test]
fn a_stored_session_goes_down() {
    let (mut session, tree) = start(SHARED);
    let mut items = vec![Item::user(Origin::User, "parent q1"), said("parent a1"), Item::user(Origin::User, "SECRET-42")];
    session.view(&items, &tree.scope(ROOT, 2));
    items.push(Item::call(task(0, "b")));
    let parent = ParentView { items: &items, in_flight: &[CallKey(0)] };
    let Route::Do(orders) = session.route(&task(0, "b"), parent, &tree.scope(ROOT, 2)) else { panic!("it is the strategy's") };
    assert_eq!(put(&orders).iter().map(Item::text).collect::<Vec<_>>(), ["parent q1", "parent a1", "b"]);
}

#[test]
fn an_empty_context_starts() {
    let mut session = FRESH.start(&RunContext::default());
    assert!(session.view(&[], &Tree::new("").scope(ROOT, 0)).tools.is_empty());
}
