//! `learn-claude-code`: what s04 of the course does (run against a fake client), by hand and under the engine.

use ctxbench::ledger::FailureKind;
use ctxbench::model::{CallDraft, Reply, Request};
use ctxbench::strategy::{
    AgentSpec, AssistantTurn, End, LearnClaudeCode, New, Order, ParentView, Route, Session, Splice, Strategy, ThreadId, To, ToolSpec,
};
use ctxbench::transcript::{Body, CallKey, Item, Means, Origin, Part, dangling};
use serde_json::json;

use crate::hand::{Tree, call, put, reply, run};
use crate::maf::{check_builtin, nothing_dangles};
use crate::runs::{calls, delegate, play, read, say};

const ROOT: ThreadId = ThreadId::ROOT;

fn start() -> (Box<dyn Session>, Tree) {
    (LearnClaudeCode.start(&run()), Tree::new("lead"))
}

fn says(session: &mut dyn Session, tree: &Tree, thread: ThreadId, text: &str) {
    assert!(session.turn(AssistantTurn { text: text.into(), ..AssistantTurn::default() }, &[], &tree.scope(thread, 0)).serial);
}

/// The result of a child that said these texts and ended so.
fn answered(texts: &[&str], end: &End) -> (String, bool, Vec<Means>) {
    let (mut session, mut tree) = start();
    let one = call(0, "task", r#"{"prompt":"do it"}"#);
    let orders = tree.route(&mut *session, ROOT, &one);
    assert!(matches!(&orders[..], [Order::Put { to: To::New(New { agent, .. }), by: Some(CallKey(0)), .. }] if agent == "lead"));
    assert_eq!(put(&orders), [Item::user(Origin::Task, "do it")]);
    let (child, orders) = tree.opened(&mut *session, ROOT, &one, "lead");
    assert!(orders.is_empty(), "the call blocks");
    for text in texts {
        assert_eq!(session.view(&[], &tree.scope(child, 0)).stop, None);
        says(&mut *session, &tree, child, text);
    }
    reply(&tree.ended(&mut *session, child, &one, end, &[]))
}

#[test]
fn what_comes_back() {
    let returned = |text: &str| (text.to_owned(), false, vec![Means::Returned(None)]);
    assert_eq!(answered(&["looking", "found"], &End::Done), returned("found"));
    assert_eq!(answered(&["found", ""], &End::Done), returned("(no summary)"));
    assert_eq!(answered(&[" "], &End::Done), returned(" "));
    assert_eq!(answered(&["half"], &End::Stopped("its rounds are over".into())), returned("half"));
    let failed = |text: &str| (text.to_owned(), true, vec![Means::Failed(None)]);
    assert_eq!(answered(&["half"], &End::Failed("no network".into())), failed("Error: no network"));
    assert_eq!(answered(&[], &End::Aborted), failed("Error: the sub-agent was aborted."));
}

#[test]
fn a_child_is_asked_thirty_times() {
    let (mut session, mut tree) = start();
    let child = tree.open(ROOT, "lead");
    let asked = (0..40).take_while(|_| session.view(&[], &tree.scope(child, 0)).stop.is_none()).count();
    assert_eq!(asked, 30);
    // The parent has no such limit, and another child its own.
    assert!((0..40).all(|_| session.view(&[], &tree.scope(ROOT, 0)).stop.is_none()));
    let other = tree.open(ROOT, "lead");
    assert_eq!(session.view(&[], &tree.scope(other, 0)).stop, None);
}

#[test]
fn who_is_shown_what() {
    let (mut session, mut tree) = start();
    let names = |view: &ctxbench::strategy::View| view.tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
    let view = session.view(&[], &tree.scope(ROOT, 0));
    assert_eq!((names(&view), view.system.as_ref().map(Part::as_text)), (vec!["read".into(), "task".into()], Some("You lead.")));
    let child = tree.open(ROOT, "lead");
    let view = session.view(&[], &tree.scope(child, 0));
    assert_eq!(names(&view), ["read"]);
    let system = view.system.expect("a sentence of its own");
    let tokens = ctxbench::tokens::counter(ctxbench::tokens::Encoding::O200kBase).count(system.as_text()).expect("text");
    assert!((17..=23).contains(&tokens), "about 20 tokens: {tokens}");
    assert!(system.as_text().contains("/workspace") && system.as_text().contains("sum up"));
}

#[test]
fn tools_that_are_not_there() {
    let (mut session, mut tree) = start();
    let child = tree.open(ROOT, "lead");
    for (thread, name) in [(child, "task"), (child, "list"), (ROOT, "list")] {
        let (text, failed, means) = reply(&tree.route(&mut *session, thread, &call(0, name, r#"{"prompt":"p"}"#)));
        assert_eq!((text, failed, means), (format!("Unknown tool: {name}"), false, vec![]));
    }
    let route = session.route(&call(1, "read", "{}"), ParentView { items: &[], in_flight: &[] }, &tree.scope(child, 0));
    assert!(matches!(route, Route::Tool));
}

/// An exception that nobody catches: no thread sends anything from then on.
#[test]
fn exceptions_end_the_run() {
    let mut context = run();
    let tool = ToolSpec::of_strings("open", "", &[("path", "", true), ("limit", "", false)]);
    context.agents.insert("lead".into(), AgentSpec { tools: vec![tool], ..AgentSpec::default() });
    for (in_child, name, args, expect) in [
        (false, "task", "{}", "KeyError: 'prompt'"),
        (true, "open", r#"{"limit":"1"}"#, "KeyError: 'path'"),
        (false, "open", "[]", "KeyError: 'path'"),
    ] {
        let (mut session, mut tree) = (LearnClaudeCode.start(&context), Tree::new("lead"));
        let child = tree.open(ROOT, "lead");
        let thread = if in_child { child } else { ROOT };
        let (text, failed, _) = reply(&tree.route(&mut *session, thread, &call(0, name, args)));
        assert_eq!((text.as_str(), failed), (expect, true));
        for thread in [child, ROOT] {
            assert_eq!(session.view(&[], &tree.scope(thread, 0)).stop, Some(End::Failed(expect.into())), "{name}");
        }
    }
}

/// Outputs of more than 50,000 characters stay cut in a child's history; the parent's do not.
#[test]
fn long_outputs_are_cut() {
    let (mut session, mut tree) = start();
    let child = tree.open(ROOT, "lead");
    let output = |text: String| Item::result(CallKey(0), Origin::ToolResult, text, true).meaning(Means::TimedOut);
    let items = [Item::user(Origin::Task, "t"), output("é".repeat(50_001)), output("é".repeat(50_000))];
    let view = session.view(&items, &tree.scope(child, 0));
    let [Splice { at: 1, remove: 1, items: cut, keep: true }] = &view.splices[..] else { panic!("{}", view.splices.len()) };
    assert_eq!(cut[..], [output("é".repeat(50_000))]);
    assert!(session.view(&items, &tree.scope(ROOT, 0)).splices.is_empty());
}

// ---- under the engine --------------------------------------------------------------------------------------------------

fn two_children(request: &Request<'_>) -> Result<Reply, String> {
    match (request.path, request.exchange) {
        ("/", 0) => calls("handing on", vec![delegate(request, "a"), read(), delegate(request, "b")]),
        ("/", _) => say("root ends"),
        (_, 0) => calls("child reads", vec![read()]),
        (path, _) => say(format!("answer of {path}")),
    }
}

#[test]
fn children_run_one_after_another() {
    let played = play(&LearnClaudeCode, two_children, &["secret"]);
    assert_eq!(played.outcome.failure, None);
    assert_eq!(played.outcome.threads.len(), 3);
    let told = played.results(0);
    assert_eq!(told.len(), 2, "{told:?}");
    let children: Vec<&str> = played.sent.iter().map(|sent| sent.path.as_str()).filter(|path| *path != "/").collect();
    assert_eq!(children.iter().filter(|path| **path == children[0]).count(), 2);
    assert!(children[0] == children[1] && children[2] == children[3], "{children:?}");
    for path in [children[0], children[2]] {
        // The prompt alone, and not what the root said.
        assert!(played.of(path)[0].short()[0].starts_with("task ") && played.of(path)[0].items.len() == 1);
    }
    // A turn of the first child, the read of the root, a turn of the second.
    let rows = &played.outcome.rows;
    assert_eq!(rows.iter().map(|row| row.sent_ms).collect::<Vec<_>>(), [0, 10, 25, 40, 55, 65]);
    nothing_dangles(&played.outcome);
    assert!(dangling(played.outcome.history_of(ROOT)).is_empty());
}

#[test]
fn the_thirtieth_batch_is_run() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match (request.path, request.exchange) {
            ("/", 0) => calls("", vec![delegate(request, "a")]),
            ("/", _) => say("root ends"),
            (_, exchange) => calls(&format!("round {exchange}"), vec![read()]),
        }
    }
    let played = play(&LearnClaudeCode, script, &["go"]);
    assert_eq!(played.outcome.failure, None);
    assert_eq!(played.of("/1").len(), 30);
    let results = played.outcome.history_of(ThreadId(1)).iter().filter(|item| matches!(item.body(), Body::Result { .. })).count();
    assert_eq!(results, 30);
    assert_eq!(played.results(0), [("round 29".to_owned(), false)]);
}

#[test]
fn a_missing_prompt_ends_the_run() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match request.exchange {
            0 => calls("", vec![CallDraft::tool("task", json!({"task": "p"}).to_string())]),
            _ => say("never"),
        }
    }
    let played = play(&LearnClaudeCode, script, &["go"]);
    let failure = played.outcome.failure.expect("nobody catches it");
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Strategy, "KeyError: 'prompt'"));
    assert_eq!(played.sent.len(), 1);
}

#[test]
fn built_in_scenarios_are_answered() {
    for outcome in check_builtin("learn-claude-code", false) {
        assert_eq!(outcome.rows.iter().map(|row| row.input.get(Origin::Inherited)).sum::<u64>(), 0);
    }
}
