//! `deerflow`: time-outs, turns, the profile f1f4af9, and what was measured on the wire.

use ctxbench::strategy::deerflow::{ContextMode, Profile};
use ctxbench::strategy::{Act, DeerFlow, End, Event, Order, RunContext, Scope, Session, Strategy, ThreadId, View};
use ctxbench::transcript::{Content, Item, Means, Origin, Part};
use serde_json::json;

use crate::deerflow::task;
use crate::hand::{Tree, put, reply, run};
use crate::runs::intent;

const ROOT: ThreadId = ThreadId::ROOT;

/// The commit whose call has no mode.
const EARLIER: DeerFlow = DeerFlow { profile: Profile::F1f4af9, context_mode: ContextMode::Absent };

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
        let mut stop = |exchange| session.view(&[], &Scope { exchange, ..tree.scope(child, 0) }).stop;
        assert_eq!(stop(most - 1), None);
        assert_eq!(stop(most), Some(End::Stopped(format!("Reached max_turns={most}"))));
    }
}

/// At f1f4af9 the call has three texts, and what a person wrote last stands in a frame.
#[test]
fn the_earlier_call_has_no_mode() {
    let (mut session, mut tree) = (EARLIER.start(&run()), Tree::new("lead"));
    let call_of = |session: &dyn Session| session.phrase(&Act::Delegate(&intent("a")));
    let said = call_of(&*session).expect("it is another's agent");
    assert_eq!(said.args, r#"{"description":"look a","prompt":"task a","subagent_type":"explorer"}"#);
    assert_eq!((EARLIER.id(), EARLIER.hands_history_down()), ("deerflow@f1f4af9".to_owned(), false));
    let snapshot = DeerFlow { context_mode: ContextMode::Snapshot, ..EARLIER };
    assert_eq!((snapshot.id(), snapshot.hands_history_down()), ("deerflow@f1f4af9".to_owned(), false));
    // What it does not know it does not read.
    let one = task(0, json!({"context_mode": "shared", "acceptance_criteria": ["c"]}));
    let opening = put(&tree.route(&mut *session, ROOT, &one));
    assert_eq!(opening, [Item::user(Origin::Task, "do it").named("user-input")]);
    let (child, _) = tree.opened(&mut *session, ROOT, &one, "explorer");
    let view = session.view(&opening, &tree.scope(child, 0));
    assert_eq!(view.system.as_ref().map(Part::as_text), Some("You explore."));
    let framed = |view: &View| view.splices.last().map(|splice| (splice.at, splice.items[0].text()));
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
    let context = RunContext { scaffold: true, ..run() };
    assert!(DeerFlow::default().has_scaffold());
    let (mut session, mut tree) = (DeerFlow::default().start(&context), Tree::new("lead"));
    let sizes = |view: &View| {
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
