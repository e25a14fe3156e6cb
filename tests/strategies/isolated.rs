//! `summary-return`, `artifact-ref` and the options of every return, by hand and under the engine.

use ctxbench::model::{CallDraft, Reply, Request};
use ctxbench::strategy::{Act, ArtifactRef, End, New, Order, Registry, Session, Strategy, SummaryReturn, ThreadId, To};
use ctxbench::transcript::{CallKey, Handle, Item, Means, Origin};

use crate::hand::{Tree, call, put, reply, run};
use crate::maf::{check_builtin, nothing_dangles};
use crate::runs::{calls, delegate, play, say};

const ROOT: ThreadId = ThreadId::ROOT;
const DELEGATE: &str = r#"{"agent":"lead","task":"do it\n"}"#;

fn opened(strategy: &dyn Strategy) -> (Box<dyn Session>, Tree, ThreadId, ctxbench::transcript::ToolCall) {
    let (mut session, mut tree) = (strategy.start(&run()), Tree::new("lead"));
    let one = call(0, "delegate", DELEGATE);
    let orders = tree.route(&mut *session, ROOT, &one);
    assert!(matches!(&orders[..], [Order::Put { to: To::New(New { agent, .. }), by: Some(CallKey(0)), .. }] if agent == "lead"));
    let (child, orders) = tree.opened(&mut *session, ROOT, &one, "lead");
    assert!(orders.is_empty(), "the call blocks");
    (session, tree, child, one)
}

/// What goes down: the task, trimmed, with one sentence more.
#[test]
fn what_goes_down() {
    #[track_caller]
    fn check(strategy: &dyn Strategy, expect: &str) {
        let (mut session, tree) = (strategy.start(&run()), Tree::new("lead"));
        let orders = tree.route(&mut *session, ROOT, &call(0, "delegate", DELEGATE));
        assert_eq!(put(&orders), [Item::user(Origin::Task, expect)]);
    }
    check(&SummaryReturn::default(), "do it\n\nAnswer in at most 100 words.");
    check(&SummaryReturn { max_words: 7 }, "do it\n\nAnswer in at most 7 words.");
    let asked = "do it\n\nKeep the whole report with `write_artifact`; then answer with its path and a summary of at most 40 words.";
    check(&ArtifactRef::default(), asked);
}

#[test]
fn refusals() {
    let strategies: [&dyn Strategy; 2] = [&SummaryReturn::default(), &ArtifactRef::default()];
    for strategy in strategies {
        let arguments = "Error: `delegate` needs the arguments `agent` and `task`, both texts.";
        for (args, expect) in [
            ("{}", arguments),
            (r#"{"agent":"lead"}"#, arguments),
            (r#"{"agent":3,"task":"t"}"#, arguments),
            ("[]", arguments),
            ("", arguments),
            (r#"{"agent":"nobody","task":"t"}"#, "Error: there is no agent `nobody`; there are "),
        ] {
            let (mut session, tree) = (strategy.start(&run()), Tree::new("lead"));
            let (text, failed, means) = reply(&tree.route(&mut *session, ROOT, &call(0, "delegate", args)));
            assert!(text.starts_with(expect) && failed, "{args}: {text}");
            assert_eq!(means, [Means::Refused]);
        }
        let (mut session, tree, child, _) = opened(strategy);
        let (text, failed, means) = reply(&tree.route(&mut *session, child, &call(1, "delegate", DELEGATE)));
        assert_eq!((text.as_str(), failed), ("Error: a sub-agent cannot start sub-agents; do the work here.", true));
        assert_eq!(means, [Means::Refused]);
    }
}

#[test]
fn each_sees_its_own_tools() {
    #[track_caller]
    fn check(strategy: &dyn Strategy, root: &[&str], child: &[&str]) {
        let (mut session, tree, id, _) = opened(strategy);
        let mut names = |thread| session.view(&[], &tree.scope(thread, 0)).tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
        assert_eq!(
            (names(ROOT), names(id)),
            (root.iter().map(|&name| name.into()).collect(), child.iter().map(|&name| name.into()).collect())
        );
    }
    check(&SummaryReturn::default(), &["read", "delegate"], &["read"]);
    check(&ArtifactRef::default(), &["read", "delegate", "read_artifact"], &["read", "write_artifact"]);
}

fn ended(strategy: &dyn Strategy, end: &End, items: &[Item]) -> (String, bool, Vec<Means>) {
    let (mut session, mut tree, child, one) = opened(strategy);
    reply(&tree.ended(&mut *session, child, &one, end, items))
}

#[test]
fn a_summary_is_held_to_its_limit() {
    let strategy = SummaryReturn { max_words: 3 };
    let returned = |text: &str| (text.to_owned(), false, vec![Means::Returned(None)]);
    assert_eq!(ended(&strategy, &End::Done, &[Item::assistant(None, "one two three")]), returned("one two three"));
    assert_eq!(
        ended(&strategy, &End::Done, &[Item::assistant(None, "one two\nthree four")]),
        returned("one two\nthree\n[cut to 3 of 4 words]")
    );
    let failed = |text: &str| (text.to_owned(), true, vec![Means::Failed(None)]);
    assert_eq!(ended(&strategy, &End::Done, &[]), failed("Error: the sub-agent ended without any text."));
    assert_eq!(ended(&strategy, &End::Failed("no network".into()), &[]), failed("Error: the sub-agent failed: no network"));
    assert_eq!(ended(&strategy, &End::Stopped("enough".into()), &[]), failed("Error: the sub-agent was stopped: enough"));
    assert_eq!(
        ended(&strategy, &End::Ceiling("9 rounds".into()), &[]),
        failed("Error: the sub-agent reached a limit of the harness: 9 rounds")
    );
    assert_eq!(ended(&strategy, &End::Aborted, &[]), failed("Error: the sub-agent was aborted."));
}

#[test]
fn an_artefact_is_named_and_read_whole() {
    let (mut session, mut tree, child, one) = opened(&ArtifactRef::default());
    let path = || Handle("artifacts/1.md".into());
    let orders = tree.route(&mut *session, child, &call(1, "write_artifact", r#"{"text":"the whole report"}"#));
    let [Order::Write { path: at, text }, kept] = &orders[..] else { panic!("{orders:?}") };
    assert_eq!((at.as_str(), text.as_str()), ("artifacts/1.md", "the whole report"));
    assert_eq!(reply(std::slice::from_ref(kept)), ("Kept as artifacts/1.md.".into(), false, vec![Means::Stored(path())]));
    // What the child does not say, its parent is told all the same.
    let said = |text: &str| [Item::assistant(None, text)];
    let (text, failed, means) = reply(&tree.ended(&mut *session, child, &one, &End::Done, &said("In short: yes.")));
    assert_eq!((text.as_str(), failed, means), ("In short: yes.\n\nReport: artifacts/1.md", false, vec![Means::Returned(Some(path()))]));
    // The world's files are the engine's to show.
    let read = |args| call(2, "read_artifact", args);
    let missing = tree.route(&mut *session, ROOT, &read(r#"{"path":"artifacts/1.md"}"#));
    assert_eq!(reply(&missing), ("Error: there is no artefact `artifacts/1.md`.".into(), true, vec![]));
    tree.files.insert("artifacts/1.md".into(), "the whole report".into());
    let whole = tree.route(&mut *session, ROOT, &read(r#"{"path":"artifacts/1.md"}"#));
    let [Order::Reply { text, failed: false, means, .. }] = &whole[..] else { panic!("{whole:?}") };
    assert_eq!((text.as_text(), &means[..]), ("the whole report", &[Means::Returned(Some(path()))][..])); // the call names it
    // Each to its own side.
    let wrong = tree.route(&mut *session, ROOT, &call(3, "write_artifact", r#"{"text":"t"}"#));
    assert_eq!(reply(&wrong), ("Error: `write_artifact` is not for you.".into(), true, vec![]));
    let wrong = tree.route(&mut *session, child, &read(r#"{"path":"artifacts/1.md"}"#));
    assert_eq!(reply(&wrong), ("Error: `read_artifact` is not for you.".into(), true, vec![]));
    // A file that is there already is nobody's artefact.
    let orders = tree.route(&mut *session, child, &call(4, "write_artifact", r#"{"text":"more"}"#));
    assert!(matches!(&orders[0], Order::Write { path, .. } if path == "artifacts/2.md"));
    tree.files.insert("artifacts/3.md".into(), "of the scenario".into());
    let orders = tree.route(&mut *session, child, &call(5, "write_artifact", r#"{"text":"more"}"#));
    assert!(matches!(&orders[0], Order::Write { path, .. } if path == "artifacts/4.md"));
}

#[test]
fn a_child_that_keeps_nothing_returns_its_text() {
    let text = ended(&ArtifactRef::default(), &End::Done, &[Item::assistant(None, "yes")]);
    assert_eq!(text, ("yes".into(), false, vec![Means::Returned(None)]));
}

#[test]
fn acts_in_words() {
    let session = ArtifactRef::default().start(&run());
    let said = |act: Act<'_>| session.phrase(&act).map(|call| (call.name, call.args));
    let artifact = Handle("artifacts/1.md".into());
    assert_eq!(said(Act::Store("a \"b\"")), Some(("write_artifact".into(), r#"{"text":"a \"b\""}"#.into())));
    assert_eq!(said(Act::Read(&artifact)), Some(("read_artifact".into(), r#"{"path":"artifacts/1.md"}"#.into())));
    assert_eq!((said(Act::Wait(&[])), said(Act::Close(&artifact)), said(Act::Back)), (None, None, None));
    let session = SummaryReturn::default().start(&run());
    assert_eq!((session.phrase(&Act::Store("t")), session.phrase(&Act::Read(&artifact))), (None, None));
}

// ---- under the engine --------------------------------------------------------------------------------------------------

#[test]
fn an_artefact_goes_through_the_world() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match (request.path, request.exchange) {
            ("/", 0) => calls("", ["a", "b"].map(|id| delegate(request, id)).into()),
            ("/", 1) => calls("", vec![CallDraft::tool("read_artifact", r#"{"path":"artifacts/2.md"}"#)]),
            ("/", _) => say("root ends"),
            (path, 0) => calls("", vec![CallDraft::tool("write_artifact", format!(r#"{{"text":"report of {path}"}}"#))]),
            (path, _) => say(format!("answer of {path}")),
        }
    }
    let played = play(&ArtifactRef::default(), script, &["secret"]);
    assert_eq!(played.outcome.failure, None);
    let told = ["answer of /1\n\nReport: artifacts/1.md", "answer of /2\n\nReport: artifacts/2.md", "report of /2"];
    assert_eq!(played.results(0), told.map(|text| (text.to_owned(), false)));
    assert_eq!(played.results(1), [("Kept as artifacts/1.md.".to_owned(), false)]);
    nothing_dangles(&played.outcome);
}

/// What the model `say`s last in a child, under the options of a return.
#[test]
fn a_last_message_is_limited_and_formed_under_any_strategy() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match (request.path, request.exchange) {
            ("/", 0) => calls("one two three four", vec![delegate(request, "a")]),
            ("/", _) => say("one two three four"),
            // Beside a call nothing is cut: it is not the last message.
            (_, 0) => calls("one two three four", vec![crate::runs::read()]),
            _ => say("one two three four"),
        }
    }
    #[track_caller]
    fn check(spec: &str, expect: &str, capped: [bool; 4]) {
        let choice = &Registry::builtin().parse(spec).expect("it is one")[0];
        let played = play(&*choice.build(), script, &["go"]);
        assert_eq!(played.outcome.failure, None, "{spec}");
        assert_eq!(played.results(0), [(expect.to_owned(), false)], "{spec}");
        let rows = &played.outcome.rows;
        assert_eq!(rows.iter().map(|row| row.capped).collect::<Vec<_>>(), capped, "{spec}");
    }
    // o200k: "one", " two", " three", " four" are a token each.
    check("full-copy", "one two three four", [false; 4]);
    check("full-copy:return_max=4", "one two three four", [false; 4]);
    check("full-copy:return_max=2", "one two", [false, false, true, false]);
    check("spawn-agent:return_max=2", "one two three fourone two", [false, false, true, false]);
    check("full-copy:return_format=json", r#"{"answer":"one two three four"}"#, [false; 4]);
    check("full-copy:return_format=tagged,return_max=1", "<answer>\none\n</answer>", [false, false, true, false]);
    check("summary-return:max_words=2,return_max=3", "one two\n[cut to 2 of 3 words]", [false, false, true, false]);
}

#[test]
fn what_is_cut_is_not_paid_for() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match (request.path, request.exchange) {
            ("/", 0) => calls("", vec![delegate(request, "a")]),
            ("/", _) => say("done"),
            _ => say("one two three four"),
        }
    }
    let output = |spec: &str| {
        let choice = &Registry::builtin().parse(spec).expect("it is one")[0];
        play(&*choice.build(), script, &["go"]).outcome.rows[1].output
    };
    assert_eq!(output("full-copy") - output("full-copy:return_max=1"), 3);
}

#[test]
fn options_of_every_return_stand_in_the_id() {
    #[track_caller]
    fn check(spec: &str, expect: &str) {
        let choice = &Registry::builtin().parse(spec).expect("it is one")[0];
        assert_eq!((choice.to_string(), choice.build().id()), (expect.into(), expect.into()));
    }
    check("opencode:return_max=none,return_format=text", "opencode@1.18.33");
    check("opencode:return_max=50,background=true", "opencode@1.18.33:background=true,return_max=50");
    check("maf-python:return_format=tagged,session=kept", "maf-python@1.23.0:return_format=tagged,session=kept");
    check("summary-return:max_words=100", "summary-return@1");
    check("artifact-ref:summary_words=9,return_format=json", "artifact-ref@1:return_format=json,summary_words=9");
    for refused in [
        "inline:return_max=5",
        "opencode:return_max=0",
        "opencode:return_max=05",
        "opencode:return_format=xml",
        "opencode:return_max=1000001",
    ] {
        assert!(Registry::builtin().parse(refused).is_err(), "{refused}");
    }
}

#[test]
fn built_in_scenarios_are_answered() {
    for spec in ["summary-return", "artifact-ref", "maf-dotnet:return_format=json", "spawn-agent:return_format=tagged,return_max=400"] {
        for outcome in check_builtin(spec, false) {
            assert_eq!(outcome.rows.iter().map(|row| row.input.get(Origin::Inherited)).sum::<u64>(), 0);
        }
    }
}
