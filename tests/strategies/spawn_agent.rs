//! `spawn-agent`: what the article says of its fan-out tool, by hand and under the engine.

use ctxbench::model::{Reply, Request};
use ctxbench::strategy::{AssistantTurn, End, New, Order, ParentView, Route, Session, SpawnAgent, Strategy, ThreadId, To};
use ctxbench::transcript::{CallKey, Item, Means, Origin, Part};

use crate::hand::{Tree, call, put, reply, run};
use crate::maf::{check_builtin, nothing_dangles};
use crate::runs::{calls, delegate, play, read, say};

const ROOT: ThreadId = ThreadId::ROOT;

fn start() -> (Box<dyn Session>, Tree) {
    (SpawnAgent.start(&run()), Tree::new("lead"))
}

fn answered(texts: &[&str], end: &End) -> (String, bool, Vec<Means>) {
    let (mut session, mut tree) = start();
    let one = call(0, "spawn_agent", r#"{"task":"do it"}"#);
    let orders = tree.route(&mut *session, ROOT, &one);
    assert!(matches!(&orders[..], [Order::Put { to: To::New(New { agent, .. }), by: Some(CallKey(0)), .. }] if agent == "lead"));
    assert_eq!(put(&orders), [Item::user(Origin::Task, "do it")]);
    let (child, orders) = tree.opened(&mut *session, ROOT, &one, "lead");
    assert!(orders.is_empty(), "the call blocks");
    for text in texts {
        let turn = session.turn(AssistantTurn { text: (*text).into(), ..AssistantTurn::default() }, &[], &tree.scope(child, 0));
        assert_eq!((turn.text.as_str(), turn.serial), (*text, false));
    }
    reply(&tree.ended(&mut *session, child, &one, end, &[]))
}

/// All that the child wrote, piece by piece, with nothing between.
#[test]
fn what_comes_back() {
    let returned = |text: &str| (text.to_owned(), false, vec![Means::Returned(None)]);
    assert_eq!(answered(&["Looking. ", "", "Found it."], &End::Done), returned("Looking. Found it."));
    assert_eq!(answered(&["a", "b\n", " "], &End::Done), returned("ab\n "));
    assert_eq!(answered(&["", ""], &End::Done), returned(""));
    assert_eq!(answered(&[], &End::Done), returned(""));
    let failed = |text: &str| (text.to_owned(), true, vec![Means::Failed(None)]);
    assert_eq!(answered(&["half"], &End::Failed("no network".into())), failed("Error: the sub-agent failed: no network"));
    assert_eq!(answered(&["half"], &End::Ceiling("500 rounds".into())), failed("Error: the sub-agent was stopped: 500 rounds"));
    assert_eq!(answered(&["half"], &End::Aborted), failed("Error: the sub-agent was cancelled."));
}

#[test]
fn the_root_writes_nothing_into_a_result() {
    let (mut session, tree) = start();
    session.turn(AssistantTurn { text: "root".into(), ..AssistantTurn::default() }, &[], &tree.scope(ROOT, 0));
    assert_eq!(answered(&["child"], &End::Done).0, "child");
}

#[test]
fn one_argument() {
    for args in ["{}", r#"{"task":5}"#, r#"{"prompt":"p"}"#, "[]", "", "null"] {
        let (mut session, tree) = start();
        let expect = ("Error: `spawn_agent` needs the argument `task`, a text.".to_owned(), true, vec![Means::Refused]);
        assert_eq!(reply(&tree.route(&mut *session, ROOT, &call(0, "spawn_agent", args))), expect, "{args}");
    }
}

#[test]
fn children_have_the_same_tools_and_cannot_spawn() {
    let (mut session, mut tree) = start();
    let names = |view: &ctxbench::strategy::View| view.tools.iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>();
    let root = session.view(&[], &tree.scope(ROOT, 0));
    assert_eq!(names(&root), ["read", "spawn_agent"]);
    let child = tree.open(ROOT, "lead");
    let view = session.view(&[], &tree.scope(child, 0));
    assert_eq!((names(&view), view.system.as_ref().map(Part::as_text)), (vec!["read".to_owned()], Some("You lead.")));
    let spawn = call(0, "spawn_agent", r#"{"task":"p"}"#);
    let route = session.route(&spawn, ParentView { items: &[], in_flight: &[] }, &tree.scope(child, 0));
    assert!(matches!(route, Route::Tool), "what a child calls by that name is nobody's");
}

// ---- under the engine --------------------------------------------------------------------------------------------------

fn three_at_once(request: &Request<'_>) -> Result<Reply, String> {
    match (request.path, request.exchange) {
        ("/", 0) => calls("handing on", ["a", "b", "c"].map(|id| delegate(request, id)).into()),
        ("/", _) => say("root ends"),
        ("/1", 0..=2) => calls("still looking; ", vec![read()]),
        (_, 0) => calls("looking; ", vec![read()]),
        (path, _) => say(format!("answer of {path}")),
    }
}

#[test]
fn children_run_side_by_side_and_return_in_call_order() {
    let played = play(&SpawnAgent, three_at_once, &["secret"]);
    assert_eq!(played.outcome.failure, None);
    let told = ["still looking; still looking; still looking; answer of /1", "looking; answer of /2", "looking; answer of /3"];
    assert_eq!(played.results(0), told.map(|text| (text.to_owned(), false)));
    for (path, task) in [("/1", "task a"), ("/2", "task b"), ("/3", "task c")] {
        assert_eq!(played.of(path)[0].short(), [task]);
    }
    // All three begin when the root has spoken; the root goes on when the slowest has ended.
    let sent = |path: &str| played.outcome.rows.iter().filter(|row| &*row.path == path).map(|row| row.sent_ms).collect::<Vec<_>>();
    assert_eq!((sent("/1"), sent("/2"), sent("/3")), (vec![10, 25, 40, 55], vec![10, 25], vec![10, 25]));
    assert_eq!(sent("/"), [0, 65]);
    nothing_dangles(&played.outcome);
}

#[test]
fn built_in_scenarios_are_answered() {
    for outcome in check_builtin("spawn-agent", false) {
        assert_eq!(outcome.rows.iter().map(|row| row.input.get(Origin::Inherited)).sum::<u64>(), 0);
    }
}
