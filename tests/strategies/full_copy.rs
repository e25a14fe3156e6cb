//! `full-copy`: what goes down, what comes back.

use ctxbench::strategy::filter::Rule;
use ctxbench::strategy::{Act, End, FullCopy, Intent, New, Order, ParentView, Route, Session, Strategy, ThreadId, To, When};
use ctxbench::transcript::{Body, CallKey, Handle, Item, Means, Origin, dangling};

use crate::hand::{Tree, call, put, reply, run, said};

const ROOT: ThreadId = ThreadId::ROOT;

fn names(session: &mut dyn Session, tree: &Tree, thread: ThreadId) -> Vec<String> {
    session.view(&[], &tree.scope(thread, 0)).tools.into_iter().map(|tool| tool.name.to_string()).collect()
}

#[test]
fn the_child_is_the_parent_without_the_tool() {
    let mut session = FullCopy::default().start(&run());
    let mut tree = Tree::new("lead");
    let child = tree.open(ROOT, "lead");
    assert_eq!(names(&mut *session, &tree, ROOT), ["read", "delegate"]);
    assert_eq!(names(&mut *session, &tree, child), ["read"]);
    let (parent, child) = (session.view(&[], &tree.scope(ROOT, 0)), session.view(&[], &tree.scope(child, 0)));
    assert_eq!((parent.system, parent.agent), (child.system, child.agent));
}

/// The parent's history: a finished turn with a delegation, then text beside two calls, one of them answered.
fn history() -> (Vec<Item>, Vec<CallKey>) {
    let items = vec![
        Item::user(Origin::User, "U1"),
        Item::call(call(0, "delegate", "{}")),
        Item::result(CallKey(0), Origin::Delegated, "R0", false).meaning(Means::Returned(None)),
        said("A1"),
        Item::new(Body::Context { kind: "turn".into(), parts: vec!["C".into()] }, Origin::Own),
        Item::user(Origin::User, "U2").hide(),
        said("T2"),
        Item::call(call(1, "read", "{}")),
        Item::call(call(2, "delegate", r#"{"task":"look"}"#)),
        Item::result(CallKey(1), Origin::ToolResult, "R1", false),
    ];
    (items, vec![CallKey(2)])
}

fn opening(rule: Rule) -> Vec<Item> {
    let (items, in_flight) = history();
    let mut session = FullCopy { in_flight: rule }.start(&run());
    let tree = Tree::new("lead");
    let call = call(2, "delegate", r#"{"task":"look"}"#);
    let view = ParentView { items: &items, in_flight: &in_flight };
    let Route::Do(orders) = session.route(&call, view, &tree.scope(ROOT, 5)) else { panic!("not routed") };
    let [Order::Put { to: To::New(New { agent, drain: true, keep_failed: true }), items, when: When::Turn, by: Some(CallKey(2)) }] =
        &orders[..]
    else {
        panic!("{orders:?}")
    };
    assert_eq!(agent, "lead");
    items.clone()
}

fn check_opening(rule: Rule, expect: &str) {
    let items = opening(rule);
    let texts: Vec<String> = items.iter().map(|item| item.as_call().map_or_else(|| item.text(), |call| call.name.clone())).collect();
    assert_eq!(texts.join(" "), expect, "{rule}");
    let (task, copy) = items.split_last().expect("there is a task");
    assert_eq!(*task, Item::user(Origin::Task, "look"));
    assert!(copy.iter().all(|item| item.origin == Origin::Inherited && item.means.is_empty()));
    // A full copy hands down what is hidden, and that it is.
    assert_eq!(
        copy.iter().filter(|item| item.hidden).map(Item::text).collect::<Vec<_>>().join(" "),
        if rule == Rule::FinishedTurn { "" } else { "U2" }
    );
    let strategy = FullCopy { in_flight: rule };
    assert_eq!(!dangling(&items).is_empty(), strategy.may_dangle(), "{rule}");
}

#[test]
fn what_goes_down_by_each_rule() {
    check_opening(Rule::DropCall, "U1 delegate R0 A1 C U2 T2 read R1 look");
    check_opening(Rule::PopMessage, "U1 delegate R0 A1 C U2 look");
    check_opening(Rule::FinishedTurn, "U1 delegate R0 A1 C look");
    check_opening(
        Rule::Placeholder,
        "U1 delegate R0 A1 C U2 T2 read delegate R1 No result yet: this call was still running when this history was copied. look",
    );
    check_opening(Rule::DropTools, "U1 A1 C U2 T2 look");
    check_opening(Rule::Forward, "U1 delegate R0 A1 C U2 T2 read delegate R1 look");
}

fn check_return(end: End, items: &[Item], expect: &str, means: Means) {
    let mut session = FullCopy::default().start(&run());
    let mut tree = Tree::new("lead");
    let call = call(2, "delegate", r#"{"task":"look"}"#);
    let (child, orders) = tree.opened(&mut *session, ROOT, &call, "lead");
    assert!(orders.is_empty(), "the call blocks");
    let orders = tree.ended(&mut *session, child, &call, &end, items);
    let failed = means != Means::Returned(None);
    assert_eq!(reply(&orders), (expect.to_owned(), failed, vec![means]));
}

#[test]
fn what_comes_back() {
    let task = Item::user(Origin::Task, "look");
    let parents = said("parent's text").inherited();
    let with =
        |texts: &[&str]| -> Vec<Item> { [parents.clone(), task.clone()].into_iter().chain(texts.iter().map(|text| said(text))).collect() };
    check_return(End::Done, &with(&["looking", "found"]), "found", Means::Returned(None));
    // An empty last message: the last text that is not blank. A parent's text is no text of the child.
    check_return(End::Done, &with(&["looking", "  \n"]), "looking", Means::Returned(None));
    check_return(End::Done, &with(&[]), "Error: the sub-agent ended without any text.", Means::Failed(None));
    let failed = Means::Failed(None);
    check_return(End::Failed("no network".into()), &with(&["half"]), "Error: the sub-agent failed: no network", failed.clone());
    check_return(End::Stopped("limit".into()), &with(&["half"]), "Error: the sub-agent was stopped: limit", failed.clone());
    check_return(End::Ceiling("500".into()), &with(&[]), "Error: the sub-agent reached a limit of the harness: 500", failed.clone());
    check_return(End::Aborted, &with(&["half"]), "Error: the sub-agent was aborted.", failed);
}

#[test]
fn what_is_refused() {
    let mut session = FullCopy::default().start(&run());
    let mut tree = Tree::new("lead");
    let child = tree.open(ROOT, "lead");
    for (thread, args, expect) in [
        (ROOT, "{}", "Error: `delegate` needs the argument `task`, a text."),
        (ROOT, r#"{"task":5}"#, "Error: `delegate` needs the argument `task`, a text."),
        (ROOT, "look", "Error: `delegate` needs the argument `task`, a text."),
        (child, r#"{"task":"look"}"#, "Error: a sub-agent cannot start sub-agents; do the work here."),
    ] {
        let orders = tree.route(&mut *session, thread, &call(7, "delegate", args));
        assert_eq!(reply(&orders), (expect.to_owned(), true, vec![Means::Refused]));
        assert!(put(&orders).is_empty());
    }
    let orders = session.route(&call(8, "read", "{}"), ParentView { items: &[], in_flight: &[] }, &tree.scope(ROOT, 0));
    assert!(matches!(orders, Route::Tool));
}

#[test]
fn how_it_is_spoken() {
    let session = FullCopy::default().start(&run());
    let intent = Intent { id: "i".into(), agent: "explorer".into(), title: "t".into(), task: "say \"hi\"".into(), background: true };
    let spoken = session.phrase(&Act::Delegate(&intent)).expect("it can delegate");
    assert_eq!((spoken.name.as_str(), spoken.args.as_str()), ("delegate", r#"{"task":"say \"hi\""}"#));
    let child = Handle("x".into());
    let others =
        [Act::Wait(&[]), Act::Close(&child), Act::Back, Act::Continue { child: &child, intent: &intent, text: "more", wake: true }];
    assert!(others.iter().all(|act| session.phrase(act).is_none()));
    assert!(FullCopy::default().hands_history_down());
}
