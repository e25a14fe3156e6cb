//! `codex-v1@0.171`: literal texts are the product's; ids are read out of what comes back.

use ctxbench::strategy::codex::ForkContext;
use ctxbench::strategy::{Act, CodexV1, End, Event, Intent, New, Order, ParentView, Route, Session, Strategy, ThreadId, To, When};
use ctxbench::transcript::{CallKey, Handle, Item, Means, Origin, Phase, ToolCall};
use serde_json::{Value, json};

use crate::hand::{Tree, call, put, reply, run, said, stands_in_text};

const ROOT: ThreadId = ThreadId::ROOT;

fn start() -> (Box<dyn Session>, Tree) {
    (CodexV1::default().start(&run()), Tree::new("lead"))
}

fn spawn_call(key: u32, args: Value) -> ToolCall {
    call(key, "spawn_agent", &args.to_string())
}

/// Spawns a child; its thread and its id.
fn spawn(session: &mut dyn Session, tree: &mut Tree, key: u32) -> (ThreadId, String) {
    let call = spawn_call(key, json!({"message": "do it", "agent_type": "explorer"}));
    let orders = tree.route(session, ROOT, &call);
    assert!(matches!(&orders[..], [Order::Put { to: To::New(_), .. }]), "{orders:?}");
    let (child, orders) = tree.opened(session, ROOT, &call, "explorer");
    let (text, failed, means) = reply(&orders);
    let told: Value = serde_json::from_str(&text).expect("it is JSON");
    let id = told["agent_id"].as_str().expect("it names the child").to_owned();
    assert!(told["nickname"].as_str().is_some_and(|name| !name.is_empty()) && told.as_object().is_some_and(|told| told.len() == 2));
    assert_eq!((failed, means), (false, vec![Means::Started(Handle(id.clone()))]));
    (child, id)
}

/// Asks whether a wait is over.
fn waiting(session: &mut dyn Session, tree: &Tree, call: &ToolCall, timed_out: bool) -> Option<(Value, Vec<Means>)> {
    let orders = session.deliver(Event::Waiting { call, timed_out }, &tree.scope(ROOT, 0));
    (!orders.is_empty()).then(|| {
        let (text, failed, means) = reply(&orders);
        assert!(!failed);
        (serde_json::from_str(&text).expect("it is JSON"), means)
    })
}

fn wait(targets: &[&str]) -> ToolCall {
    call(90, "wait_agent", &json!({ "targets": targets }).to_string())
}

/// What the parent is told by a notice.
fn notice(orders: &[Order]) -> (String, Vec<Means>) {
    let [Order::Put { to: To::Thread(ROOT), items, when: When::Notice, by: None }] = orders else { panic!("{orders:?}") };
    let [item] = &items[..] else { panic!("{items:?}") };
    assert_eq!((item.role(), item.origin), (Some(ctxbench::transcript::Role::User), Origin::Delegated));
    stands_in_text(&item.means, &item.text());
    (item.text(), item.means.to_vec())
}

#[test]
fn the_child_opens_with_its_task_or_with_the_filtered_history() {
    let history = [
        Item::user(Origin::User, "U1"),
        Item::assistant(Some(Phase::Commentary), "reading"),
        Item::call(call(1, "read", "{}")),
        Item::result(CallKey(1), Origin::ToolResult, "R1", false),
        Item::assistant(Some(Phase::FinalAnswer), "A1"),
        Item::user(Origin::User, "U2"),
        Item::assistant(Some(Phase::Commentary), "handing on"),
        Item::call(call(2, "spawn_agent", "{}")),
    ];
    let check = |args: Value, agent: &str, inherited: &[&str]| {
        let (mut session, tree) = start();
        let call = spawn_call(2, args);
        let view = ParentView { items: &history, in_flight: &[CallKey(2)] };
        let Route::Do(orders) = session.route(&call, view, &tree.scope(ROOT, 5)) else { panic!("not routed") };
        let [Order::Put { to: To::New(new), items, when: When::Turn, by: Some(CallKey(2)) }] = &orders[..] else { panic!("{orders:?}") };
        let New { agent: opened, drain: false, keep_failed: true } = new else { panic!("{new:?}") };
        assert_eq!(opened, agent);
        let (task, copy) = items.split_last().expect("there is a task");
        assert_eq!(*task, Item::user(Origin::Task, "look"));
        assert_eq!(copy.iter().map(Item::text).collect::<Vec<_>>(), inherited);
    };
    check(json!({"message": "look", "agent_type": "explorer"}), "explorer", &[]);
    check(json!({"message": "look", "fork_context": false, "unknown": 1}), "lead", &[]);
    check(json!({"message": "look", "agent_type": " "}), "lead", &[]);
    check(json!({"items": [{"type": "text", "text": "look"}], "agent_type": "worker"}), "lead", &[]);
    check(json!({"message": "look", "fork_context": true}), "lead", &["U1", "A1", "U2"]);
    assert!(!CodexV1::default().hands_history_down());
    assert!(CodexV1 { fork_context: ForkContext::True, ..CodexV1::default() }.hands_history_down());
}

#[test]
fn what_a_spawn_is_refused_with() {
    let check = |depth: u32, open: u32, args: &str, expect: &str| {
        let (mut session, mut tree) = start();
        for key in 0..open {
            spawn(&mut *session, &mut tree, key);
        }
        let caller = (0..depth).fold(ROOT, |thread, _| tree.open(thread, "explorer"));
        let orders = tree.route(&mut *session, caller, &call(50, "spawn_agent", args));
        assert_eq!(reply(&orders), (expect.to_owned(), true, vec![Means::Refused]), "{args}");
        assert!(put(&orders).is_empty());
    };
    check(0, 0, "no", "failed to parse function arguments: expected ident at line 1 column 2");
    check(
        0,
        0,
        r#"{"message":"m","fork_context":null}"#,
        "failed to parse function arguments: invalid type: null, expected a boolean at line 1 column 34",
    );
    check(0, 0, r#"{"message":"m","items":[]}"#, "Provide either message or items, but not both");
    check(0, 0, "{}", "Provide one of: message or items");
    check(0, 0, r#"{"message":" \n"}"#, "Empty message can't be sent to an agent");
    check(0, 0, r#"{"items":[]}"#, "Items can't be empty");
    let fork = "Full-history forked agents inherit the parent agent type; omit agent_type, or spawn without a full-history fork.";
    check(0, 0, r#"{"message":"m","fork_context":true,"agent_type":"nobody"}"#, fork);
    check(0, 0, r#"{"message":"m","agent_type":"nobody"}"#, "unknown agent_type 'nobody'");
    let too_deep = "Agent depth limit reached. Solve the task yourself.";
    check(1, 0, r#"{"message":"m"}"#, too_deep);
    let full = "collab spawn failed: agent thread limit reached";
    check(0, 6, r#"{"message":"m"}"#, full);
    // The order of the checks: input, depth, fork, role, limit.
    check(1, 6, r#"{"message":"m","fork_context":true,"agent_type":"nobody"}"#, too_deep);
    check(1, 6, "{}", "Provide one of: message or items");
    check(0, 6, r#"{"message":"m","fork_context":true,"agent_type":"nobody"}"#, fork);
    check(0, 6, r#"{"message":"m","agent_type":"nobody"}"#, "unknown agent_type 'nobody'");
}

#[test]
fn finished_children_count_until_they_are_closed() {
    let (mut session, mut tree) = start();
    let children: Vec<(ThreadId, String)> = (0..6).map(|key| spawn(&mut *session, &mut tree, key)).collect();
    let opener = spawn_call(0, json!({}));
    tree.ended(&mut *session, children[0].0, &opener, &End::Done, &[said("done")]);
    let more = spawn_call(7, json!({"message": "more"}));
    assert_eq!(reply(&tree.route(&mut *session, ROOT, &more)).0, "collab spawn failed: agent thread limit reached");
    let close = call(8, "close_agent", &json!({"target": children[0].1}).to_string());
    let orders = tree.route(&mut *session, ROOT, &close);
    assert_eq!(reply(&orders).0, r#"{"previous_status":{"completed":"done"}}"#);
    assert!(matches!(orders[1], Order::Stop { thread } if thread == children[0].0));
    assert_eq!(put(&tree.route(&mut *session, ROOT, &more)).len(), 1);
    tree.opened(&mut *session, ROOT, &more, "lead");
    // Opened again it needs a slot.
    let resume = call(9, "resume_agent", &json!({"id": children[0].1}).to_string());
    let (text, failed, _) = reply(&tree.route(&mut *session, ROOT, &resume));
    assert_eq!((text.as_str(), failed), ("collab tool failed: agent thread limit reached", true));
}

#[test]
fn a_final_text_comes_by_a_wait_and_by_a_notice() {
    let (mut session, mut tree) = start();
    let (child, id) = spawn(&mut *session, &mut tree, 0);
    let (slow, other) = spawn(&mut *session, &mut tree, 1);
    let wait = wait(&[&id, &other]);
    let orders = tree.route(&mut *session, ROOT, &wait);
    assert!(matches!(orders[..], [Order::Wait { call: CallKey(90), timeout_ms: 30_000 }]));
    assert_eq!(waiting(&mut *session, &tree, &wait, false), None);
    let opener = spawn_call(0, json!({}));
    let items = [Item::user(Origin::Task, "do it"), said("early"), Item::call(call(5, "read", "{}"))];
    let items = [&items[..], &[Item::result(CallKey(5), Origin::ToolResult, "R", false), said("found \"it\"")]].concat();
    let (text, means) = notice(&tree.ended(&mut *session, child, &opener, &End::Done, &items));
    let status = r#"{"completed":"found \"it\""}"#;
    assert_eq!(text, format!("<subagent_notification>\n{{\"agent_path\":\"{id}\",\"status\":{status}}}\n</subagent_notification>"));
    assert_eq!(means, [Means::Returned(Some(Handle(id.clone())))]);
    // The same text once more, and of both only the one that is final.
    let (told, means) = waiting(&mut *session, &tree, &wait, false).expect("one is final");
    assert_eq!(told, json!({"status": {&id: {"completed": "found \"it\""}}, "timed_out": false}));
    assert_eq!(means, [Means::Returned(Some(Handle(id.clone())))]);
    // With both final both are told.
    tree.ended(&mut *session, slow, &opener, &End::Failed("no network".into()), &[]);
    let (told, means) = waiting(&mut *session, &tree, &wait, false).expect("both are final");
    assert_eq!(told["status"], json!({&id: {"completed": "found \"it\""}, &other: {"errored": "no network"}}));
    assert_eq!(means.len(), 2);
    assert!(means.contains(&Means::Failed(Some(Handle(other)))));
}

#[test]
fn which_text_is_final() {
    let check = |items: &[Item], expect: Value| {
        let (mut session, mut tree) = start();
        let (child, id) = spawn(&mut *session, &mut tree, 0);
        let (text, _) = notice(&tree.ended(&mut *session, child, &spawn_call(0, json!({})), &End::Done, items));
        assert!(text.contains(&json!({"agent_path": id, "status": {"completed": expect}}).to_string()), "{text}");
    };
    check(&[said("one"), said(" \n")], json!("one"));
    check(&[Item::assistant(Some(Phase::Commentary), "aside")], json!("aside"));
    // Of the last reply only: what it said before a call is not its result.
    let called = [said("early"), Item::call(call(5, "read", "{}")), Item::result(CallKey(5), Origin::ToolResult, "R", false)];
    check(&[&called[..], &[said("")]].concat(), Value::Null);
    check(&[Item::user(Origin::Task, "do it")], Value::Null);
}

#[test]
fn waits() {
    let (mut session, mut tree) = start();
    let (child, id) = spawn(&mut *session, &mut tree, 0);
    let length = |session: &mut dyn Session, tree: &Tree, timeout: Value| {
        let call = call(91, "wait_agent", &json!({"targets": [id], "timeout_ms": timeout}).to_string());
        match &tree.route(session, ROOT, &call)[..] {
            [Order::Wait { timeout_ms, .. }] => Ok(*timeout_ms),
            orders => {
                let (text, failed, means) = reply(orders);
                assert!(failed && means.is_empty());
                Err(text)
            }
        }
    };
    for (timeout, expect) in [
        (Value::Null, Ok(30_000)),
        (json!(1), Ok(10_000)),
        (json!(10_001), Ok(10_001)),
        (json!(3_600_001), Ok(3_600_000)),
        (json!(0), Err("timeout_ms must be greater than zero".to_owned())),
        (json!(-5), Err("timeout_ms must be greater than zero".to_owned())),
    ] {
        assert_eq!(length(&mut *session, &tree, timeout.clone()), expect, "{timeout}");
    }
    let refused = |session: &mut dyn Session, targets: &[&str]| reply(&tree.route(session, ROOT, &wait(targets))).0;
    assert_eq!(refused(&mut *session, &[]), "agent ids must be non-empty");
    assert!(refused(&mut *session, &[&id, "/root/a"]).starts_with("invalid agent id /root/a: "));
    // A well-formed id that names nobody ends it at once; a time-out is told as one.
    let nobody = "00000000-0000-7000-8000-000000000000";
    let (told, means) = waiting(&mut *session, &tree, &wait(&[&id, nobody]), false).expect("nobody is final");
    assert_eq!((told, means.len()), (json!({"status": {nobody: "not_found"}, "timed_out": false}), 1));
    let (told, means) = waiting(&mut *session, &tree, &wait(&[&id]), true).expect("time is up");
    assert_eq!((told, means), (json!({"status": {}, "timed_out": true}), vec![Means::TimedOut]));
    // What was interrupted is not final.
    tree.ended(&mut *session, child, &spawn_call(0, json!({})), &End::Aborted, &[]);
    assert_eq!(waiting(&mut *session, &tree, &wait(&[&id]), false), None);
}

#[test]
fn a_notice_is_sent_once_a_spawn_and_once_a_resume() {
    let (mut session, mut tree) = start();
    let (child, id) = spawn(&mut *session, &mut tree, 0);
    let opener = spawn_call(0, json!({}));
    assert_eq!(tree.ended(&mut *session, child, &opener, &End::Done, &[said("one")]).len(), 1);
    let send = call(3, "send_input", &json!({"target": id, "message": "more"}).to_string());
    let orders = tree.route(&mut *session, ROOT, &send);
    // What is acknowledged is named by the call.
    let [Order::Reply { text, means, .. }, Order::Put { to: To::Thread(to), items, when: When::Wake, by: Some(CallKey(3)) }] = &orders[..]
    else {
        panic!("{orders:?}")
    };
    assert!(text.as_text().starts_with("{\"submission_id\":\"") && *to == child);
    assert_eq!((&means[..], &items[..]), (&[Means::Started(Handle(id.clone()))][..], &[Item::user(Origin::Task, "more")][..]));
    assert!(tree.ended(&mut *session, child, &send, &End::Done, &[said("two")]).is_empty());
    let (told, _) = waiting(&mut *session, &tree, &wait(&[&id]), false).expect("it is final");
    assert_eq!(told["status"][&id], json!({"completed": "two"}));
    // Live, a resume does nothing; closed, it opens the child and arms the notice.
    let resume = call(4, "resume_agent", &json!({"id": id}).to_string());
    assert_eq!(reply(&tree.route(&mut *session, ROOT, &resume)).0, r#"{"status":{"completed":"two"}}"#);
    assert!(tree.ended(&mut *session, child, &send, &End::Done, &[said("three")]).is_empty());
    tree.route(&mut *session, ROOT, &call(5, "close_agent", &json!({"target": id}).to_string()));
    let (text, failed, _) =
        reply(&tree.route(&mut *session, ROOT, &call(6, "send_input", &json!({"target": id, "message": "m"}).to_string())));
    assert_eq!((text, failed), (format!("agent with id {id} is closed"), true));
    assert_eq!(reply(&tree.route(&mut *session, ROOT, &resume)).0, r#"{"status":"pending_init"}"#);
    assert_eq!(waiting(&mut *session, &tree, &wait(&[&id]), false), None, "it has nothing to tell yet");
    assert_eq!(tree.ended(&mut *session, child, &send, &End::Done, &[said("four")]).len(), 1);
}

#[test]
fn interrupting_is_silent_and_closing_is_not() {
    let (mut session, mut tree) = start();
    let (child, id) = spawn(&mut *session, &mut tree, 0);
    let send = call(3, "send_input", &json!({"target": id, "message": "instead", "interrupt": true}).to_string());
    let orders = tree.route(&mut *session, ROOT, &send);
    assert!(matches!(&orders[..], [Order::Reply { .. }, Order::Stop { thread }, Order::Put { when: When::Wake, .. }] if *thread == child));
    assert!(tree.ended(&mut *session, child, &spawn_call(0, json!({})), &End::Aborted, &[]).is_empty());
    tree.threads[1].running = 1;
    let close = call(4, "close_agent", &json!({"target": id}).to_string());
    assert_eq!(reply(&tree.route(&mut *session, ROOT, &close)).0, r#"{"previous_status":"running"}"#);
    let (text, means) = notice(&tree.ended(&mut *session, child, &send, &End::Aborted, &[said("half")]));
    assert!(text.contains(r#""status":"shutdown""#));
    assert_eq!(means, [Means::Failed(Some(Handle(id)))]);
}

#[test]
fn who_is_not_found() {
    let (mut session, mut tree) = start();
    let nobody = "00000000-0000-7000-8000-000000000000";
    for (name, args) in [
        ("send_input", json!({"target": nobody, "message": "m"})),
        ("close_agent", json!({"target": nobody})),
        ("resume_agent", json!({"id": nobody})),
    ] {
        let orders = tree.route(&mut *session, ROOT, &call(1, name, &args.to_string()));
        assert_eq!(reply(&orders), (format!("agent with id {nobody} not found"), true, vec![]), "{name}");
    }
    let (child, _) = spawn(&mut *session, &mut tree, 0);
    let resume = call(1, "resume_agent", &json!({"id": nobody}).to_string());
    assert_eq!(reply(&tree.route(&mut *session, child, &resume)).0, "Agent depth limit reached. Solve the task yourself.");
}

#[test]
fn how_it_is_spoken() {
    let intent = |agent: &str| Intent { id: "i".into(), agent: agent.into(), title: "t".into(), task: "do it".into(), background: false };
    let spoken = |fork_context: ForkContext, agent: &str| {
        let session = CodexV1 { fork_context, ..CodexV1::default() }.start(&run());
        let call = session.phrase(&Act::Delegate(&intent(agent))).expect("it can delegate");
        (call.name, serde_json::from_str::<Value>(&call.args).expect("it is JSON"))
    };
    let spawn = |args: Value| ("spawn_agent".to_owned(), args);
    assert_eq!(spoken(ForkContext::Absent, "explorer"), spawn(json!({"message": "do it", "agent_type": "explorer"})));
    assert_eq!(spoken(ForkContext::False, "explorer"), spawn(json!({"message": "do it", "agent_type": "explorer", "fork_context": false})));
    assert_eq!(spoken(ForkContext::True, "explorer"), spawn(json!({"message": "do it", "fork_context": true})));
    assert_eq!(spoken(ForkContext::Absent, "nobody"), spawn(json!({"message": "do it"})));
    let session = CodexV1::default().start(&run());
    let (child, intent) = (Handle("x".into()), intent("explorer"));
    let said = |act: Act<'_>| session.phrase(&act).map(|call| format!("{} {}", call.name, call.args));
    assert_eq!(said(Act::Wait(std::slice::from_ref(&child))).as_deref(), Some(r#"wait_agent {"targets":["x"]}"#));
    let more = Act::Continue { child: &child, intent: &intent, text: "more", wake: false };
    assert_eq!(said(more).as_deref(), Some(r#"send_input {"message":"more","target":"x"}"#));
    assert_eq!(said(Act::Close(&child)).as_deref(), Some(r#"close_agent {"target":"x"}"#));
    assert_eq!(said(Act::Back), None);
}

#[test]
fn only_the_root_is_shown_the_tools() {
    let (mut session, mut tree) = start();
    let child = tree.open(ROOT, "explorer");
    let names = |view: ctxbench::strategy::View| {
        assert!(view.phases);
        view.tools.into_iter().map(|tool| tool.name).collect::<Vec<_>>()
    };
    assert_eq!(
        names(session.view(&[], &tree.scope(ROOT, 0))),
        ["read", "spawn_agent", "send_input", "resume_agent", "wait_agent", "close_agent"]
    );
    assert_eq!(names(session.view(&[], &tree.scope(child, 0))), ["read", "list"]);
}
