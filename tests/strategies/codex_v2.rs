//! `codex-v2`: literal texts are the product's.

use ctxbench::strategy::codex::fork::ABORTED;
use ctxbench::strategy::codex::{ForkTurns, Profile};
use ctxbench::strategy::{
    Act, AssistantTurn, CodexV2, End, Event, Intent, New, Order, ParentView, Route, Session, Strategy, ThreadId, To, When,
};
use ctxbench::transcript::{Body, CallKey, Handle, Item, Means, Origin, Phase, Role, ToolCall, dangling};
use serde_json::{Value, json};

use crate::hand::{Tree, call, put, reply, run, said, stands_in_text};

const ROOT: ThreadId = ThreadId::ROOT;

fn strategy(profile: &str, fork_turns: ForkTurns) -> CodexV2 {
    CodexV2 { profile: Profile::named(profile).expect("known"), fork_turns }
}

fn start() -> (Box<dyn Session>, Tree) {
    (CodexV2::default().start(&run()), Tree::new("lead"))
}

fn spawn_call(key: u32, name: &str) -> ToolCall {
    call(key, "spawn_agent", &json!({"message": "do it", "task_name": name, "agent_type": "explorer"}).to_string())
}

fn spawn(session: &mut dyn Session, tree: &mut Tree, caller: ThreadId, name: &str) -> ThreadId {
    let call = spawn_call(1, name);
    let orders = tree.route(session, caller, &call);
    assert!(matches!(&orders[..], [Order::Put { to: To::New(_), .. }]), "{orders:?}");
    let (child, orders) = tree.opened(session, caller, &call, "explorer");
    let (text, failed, means) = reply(&orders);
    let path: Value = serde_json::from_str(&text).expect("it is JSON");
    let handle = Handle(path["task_name"].as_str().expect("it names the child").into());
    assert_eq!((failed, means), (false, vec![Means::Started(handle)]));
    child
}

/// The mail that orders send: recipient, text, when, meaning.
fn mail(orders: &[Order]) -> (ThreadId, Item, When) {
    let letters: Vec<_> = orders
        .iter()
        .filter_map(|order| match order {
            Order::Put { to: To::Thread(to), items, when, .. } => Some((*to, items[0].clone(), *when)),
            _ => None,
        })
        .collect();
    let [letter] = &letters[..] else { panic!("{orders:?}") };
    stands_in_text(&letter.1.means, &letter.1.text());
    letter.clone()
}

/// A turn of before, then the turn in progress with another call beside the spawn.
fn history() -> Vec<Item> {
    vec![
        Item::user(Origin::User, "U1"),
        Item::assistant(Some(Phase::Commentary), "reading"),
        Item::call(call(1, "read", "{}")),
        Item::result(CallKey(1), Origin::ToolResult, "R1", false),
        Item::assistant(Some(Phase::FinalAnswer), "A1"),
        Item::user(Origin::User, "U2"),
        Item::assistant(Some(Phase::FinalAnswer), "A2"),
        Item::user(Origin::User, "U3"),
        Item::assistant(Some(Phase::Commentary), "handing on"),
        Item::call(call(2, "spawn_agent", "spawn")),
        Item::call(call(3, "read", "beside")),
    ]
}

fn opening(profile: &str, fork_turns: Option<&str>) -> (String, Vec<Item>) {
    let mut session = strategy(profile, ForkTurns::Absent).start(&run());
    let tree = Tree::new("lead");
    let mut args = json!({"message": "look", "task_name": "one"});
    if let Some(fork_turns) = fork_turns {
        args["fork_turns"] = fork_turns.into();
    }
    let (items, call) = (history(), call(2, "spawn_agent", &args.to_string()));
    let view = ParentView { items: &items, in_flight: &[CallKey(2), CallKey(3)] };
    let Route::Do(orders) = session.route(&call, view, &tree.scope(ROOT, 7)) else { panic!("not routed") };
    match &orders[..] {
        [Order::Put { to: To::New(New { agent, drain: false, keep_failed: true }), items, when: When::Turn, by: Some(CallKey(2)) }] => {
            (agent.clone(), items.clone())
        }
        _ => (reply(&orders).0, vec![]),
    }
}

fn check_opening(profile: &str, fork_turns: Option<&str>, expect: &[&str]) {
    let (agent, items) = opening(profile, fork_turns);
    let (task, mut copy) = items.split_last().unwrap_or_else(|| panic!("{fork_turns:?}: {agent}"));
    assert_eq!(agent, "lead");
    let Body::Mail { from, to, parts } = task.body() else { panic!("{task:?}") };
    assert_eq!((from.as_str(), to.as_str(), task.origin), ("/root", "/root/one", Origin::Task));
    let head = "Message Type: NEW_TASK\nTask name: /root/one\nSender: /root\nPayload:\n";
    assert_eq!(parts.iter().map(|part| part.as_text()).collect::<Vec<_>>(), [head, "look"]);
    if expect.contains(&ABORTED) {
        // What tells a verbatim copy from its original.
        let (note, rest) = copy.split_last().expect("there is a note");
        assert_eq!((note.role(), note.origin), (Some(Role::Developer), Origin::Task));
        copy = rest;
    }
    assert_eq!(copy.iter().map(Item::text).collect::<Vec<_>>(), expect, "{profile} {fork_turns:?}");
    assert!(copy.iter().all(|item| item.origin == Origin::Inherited));
    assert_eq!(dangling(&items), []);
}

#[test]
fn what_goes_down() {
    let all = ["U1", "A1", "U2", "A2", "U3"];
    for words in [None, Some(""), Some("  "), Some("ALL"), Some(" all ")] {
        check_opening("0.160", words, &all);
    }
    for words in ["none", " NoNe "] {
        check_opening("0.160", Some(words), &[]);
        check_opening("0.171", Some(words), &[]);
    }
    check_opening("0.160", Some("1"), &["U3"]);
    check_opening("0.160", Some(" 2 "), &["U2", "A2", "U3"]);
    check_opening("0.160", Some("+2"), &["U2", "A2", "U3"]);
    for words in ["003", "18446744073709551615"] {
        check_opening("0.160", Some(words), &all);
    }
    let verbatim = ["U1", "reading", "{}", "R1", "A1", "U2", "A2", "U3", "handing on", "spawn", ABORTED, "beside", ABORTED];
    // Any number acts as all.
    for words in [None, Some("all"), Some("1"), Some("7")] {
        check_opening("0.171", words, &verbatim);
    }
}

#[test]
fn which_numbers_of_turns_are_refused() {
    for words in ["0", "00", "+0", "-1", "1.5", "1e3", "1_000", "banana", "３", "18446744073709551616"] {
        let expect = "fork_turns must be `none`, `all`, or a positive integer string";
        assert_eq!(opening("0.160", Some(words)).0, expect, "{words}");
        assert_eq!(opening("0.171", Some(words)).0, "fork_turns must be `none` or `all`", "{words}");
    }
}

#[test]
fn what_a_spawn_is_refused_with() {
    let check = |running: usize, args: &str, expect: &str| {
        let (mut session, mut tree) = start();
        for name in ["one", "two", "three"].iter().take(running) {
            spawn(&mut *session, &mut tree, ROOT, name);
        }
        let orders = tree.route(&mut *session, ROOT, &call(50, "spawn_agent", args));
        let (text, failed, means) = reply(&orders);
        assert!(text.starts_with(expect) && !expect.is_empty(), "{args}: {text}");
        assert_eq!((failed, means), (true, vec![Means::Refused]));
        assert!(put(&orders).is_empty());
    };
    let json = "failed to parse function arguments: ";
    check(0, "no", json);
    check(0, r#"{"task_name":"a"}"#, &format!("{json}missing field `message`"));
    check(0, r#"{"message":"m"}"#, &format!("{json}missing field `task_name`"));
    check(
        0,
        r#"{"message":"m","task_name":"a","items":[]}"#,
        &format!("{json}unknown field `items`, expected one of `message`, `task_name`"),
    );
    check(0, r#"{"message":"m","task_name":"a","fork_turns":3}"#, &format!("{json}invalid type: integer `3`, expected a string"));
    let context = "fork_context is not supported in MultiAgentV2; use fork_turns instead";
    check(0, r#"{"message":"","task_name":"a","fork_turns":"banana","fork_context":false}"#, context);
    check(0, r#"{"message":"","task_name":"a","fork_turns":"banana"}"#, "fork_turns must be");
    check(0, r#"{"message":" ","task_name":"","agent_type":"nobody"}"#, "Empty message can't be sent to an agent");
    check(0, r#"{"message":"m","task_name":"","agent_type":"nobody"}"#, "unknown agent_type 'nobody'");
    check(3, r#"{"message":"m","task_name":""}"#, "agent_name must not be empty");
    check(0, r#"{"message":"m","task_name":"root"}"#, "agent_name `root` is reserved");
    check(0, r#"{"message":"m","task_name":".."}"#, "agent_name `..` is reserved");
    check(0, r#"{"message":"m","task_name":"a/b"}"#, "agent_name must not contain `/`");
    check(0, r#"{"message":"m","task_name":"Bad"}"#, "agent_name must use only lowercase letters, digits, and underscores");
    check(3, r#"{"message":"m","task_name":"one"}"#, "collab spawn failed: agent thread limit reached");
    check(2, r#"{"message":"m","task_name":"one"}"#, "agent path `/root/one` already exists");
}

#[test]
fn running_turns_count_and_finished_children_do_not() {
    let (mut session, mut tree) = start();
    let children = ["a", "b", "c"].map(|name| spawn(&mut *session, &mut tree, ROOT, name));
    let full = "collab spawn failed: agent thread limit reached";
    assert_eq!(reply(&tree.route(&mut *session, ROOT, &spawn_call(9, "d"))).0, full);
    tree.ended(&mut *session, children[0], &spawn_call(1, "a"), &End::Done, &[said("done")]);
    // No check of the depth: a child may spawn, below its own path, in the slot that is free.
    let grandchild = spawn(&mut *session, &mut tree, children[1], "d");
    let follow = call(10, "followup_task", &json!({"target": "a", "message": "more"}).to_string());
    let (text, failed, means) = reply(&tree.route(&mut *session, ROOT, &follow));
    assert_eq!((text.as_str(), failed, means), ("collab tool failed: agent thread limit reached", true, vec![Means::Refused]));
    let (to, letter, _) = mail(&tree.ended(&mut *session, grandchild, &spawn_call(1, "d"), &End::Done, &[said("deep")]));
    assert_eq!(
        (to, letter.text().as_str()),
        (children[1], "Message Type: FINAL_ANSWER\nTask name: /root/b\nSender: /root/b/d\nPayload:\ndeep")
    );
    // A finished child keeps its path.
    assert_eq!(reply(&tree.route(&mut *session, ROOT, &spawn_call(11, "a"))).0, "agent path `/root/a` already exists");
}

#[test]
fn every_turn_of_a_child_ends_in_mail() {
    let check = |end: End, items: &[Item], expect: Option<(&str, Means)>| {
        let (mut session, mut tree) = start();
        let child = spawn(&mut *session, &mut tree, ROOT, "a");
        // Twice: once a turn, not once a child.
        for _ in 0..2 {
            let orders = tree.ended(&mut *session, child, &spawn_call(1, "a"), &end, items);
            let Some((text, means)) = &expect else {
                assert!(orders.is_empty(), "{orders:?}");
                continue;
            };
            let (to, letter, when) = mail(&orders);
            assert_eq!((to, when, letter.origin, letter.parts().len()), (ROOT, When::Mail, Origin::Delegated, 1));
            assert_eq!(letter.text(), format!("Message Type: FINAL_ANSWER\nTask name: /root\nSender: /root/a\nPayload:\n{text}"));
            assert_eq!(letter.means, std::slice::from_ref(means));
        }
    };
    let child = || Some(Handle("/root/a".into()));
    check(End::Done, &[said("one"), said("two")], Some(("two", Means::Returned(child()))));
    check(End::Done, &[], Some(("", Means::Returned(child()))));
    check(End::Aborted, &[said("half")], None);
    let rest = "\n\nThis agent's turn failed. If you still need this agent, use the available collaboration tools to give it another task.";
    let failed = |why: &str| format!("Agent errored: {why}{rest}");
    check(End::Failed("no network".into()), &[said("half")], Some((&failed("no network"), Means::Failed(child()))));
    check(End::Ceiling("500".into()), &[], Some((&failed("500"), Means::Failed(child()))));
    // 900 tokens of 4 bytes are told of an error, without its middle.
    let long = "é".repeat(2000);
    let half = "é".repeat(900);
    check(End::Failed(long), &[], Some((&failed(&format!("{half}…100 tokens truncated…{half}")), Means::Failed(child()))));
}

#[test]
fn messages_queue_and_follow_ups_wake() {
    let (mut session, mut tree) = start();
    let child = spawn(&mut *session, &mut tree, ROOT, "a");
    let mut check = |name: &str, target: &str, when: When, kind: &str| {
        let orders = tree.route(&mut *session, ROOT, &call(4, name, &json!({"target": target, "message": "more"}).to_string()));
        let Order::Reply { text, failed: false, means, .. } = &orders[0] else { panic!("{orders:?}") };
        assert_eq!(text.as_text(), "");
        // Only a call that gives the whole path names the child.
        let named: &[Means] = if target == "/root/a" { &[Means::Started(Handle("/root/a".into()))] } else { &[] };
        assert_eq!(&means[..], named);
        let (to, letter, sent) = mail(&orders);
        assert_eq!((to, sent, letter.origin), (child, when, Origin::Task));
        assert_eq!(letter.text(), format!("Message Type: {kind}\nTask name: /root/a\nSender: /root\nPayload:\nmore"));
    };
    check("send_message", "/root/a", When::Mail, "MESSAGE");
    check("followup_task", "a", When::Wake, "NEW_TASK");
    let mut refused = |caller: ThreadId, name: &str, args: Value, expect: &str| {
        let (text, failed, _) = reply(&tree.route(&mut *session, caller, &call(5, name, &args.to_string())));
        assert_eq!((text.as_str(), failed), (expect, true), "{name} {args}");
    };
    refused(ROOT, "send_message", json!({"target": "b", "message": "m"}), "live agent path `/root/b` not found");
    refused(ROOT, "send_message", json!({"target": "a", "message": " "}), "Empty message can't be sent to an agent");
    refused(child, "send_message", json!({"target": "a", "message": "m"}), "live agent path `/root/a/a` not found");
    refused(child, "followup_task", json!({"target": "/root", "message": "m"}), "Follow-up tasks can't target the root agent");
    refused(
        ROOT,
        "send_message",
        json!({"target": "/other/a", "message": "m"}),
        "absolute agent paths must start with `/root` or be `/morpheus`",
    );
    refused(ROOT, "send_message", json!({"target": "/morpheus", "message": "m"}), "live agent path `/morpheus` not found");
    refused(ROOT, "send_message", json!({"target": "/root/a/", "message": "m"}), "absolute agent path must not end with `/`");
    refused(ROOT, "send_message", json!({"target": "a/", "message": "m"}), "relative agent path must not end with `/`");
    refused(ROOT, "send_message", json!({"target": "../a", "message": "m"}), "agent_name `..` is reserved");
    refused(ROOT, "send_message", json!({"target": "", "message": "m"}), "agent path must not be empty");
    refused(ROOT, "interrupt_agent", json!({"target": "/root"}), "root is not a spawned agent");
    let itself = "an agent cannot interrupt itself; return your result and let the parent interrupt you if needed";
    refused(child, "interrupt_agent", json!({"target": "/root/a"}), itself);
    // The root can be written to.
    let orders = tree.route(&mut *session, child, &call(6, "send_message", &json!({"target": "/root", "message": "m"}).to_string()));
    assert_eq!(mail(&orders).0, ROOT);
}

#[test]
fn a_wait_never_carries_content() {
    let (mut session, mut tree) = start();
    let child = spawn(&mut *session, &mut tree, ROOT, "a");
    let wait = |timeout: Value| call(7, "wait_agent", &json!({ "timeout_ms": timeout }).to_string());
    for (timeout, ms) in [(Value::Null, 30_000), (json!(1), 10_000), (json!(3_600_000), 3_600_000)] {
        let orders = tree.route(&mut *session, ROOT, &wait(timeout));
        assert!(matches!(orders[..], [Order::Wait { timeout_ms, .. }] if timeout_ms == ms), "{orders:?}");
    }
    assert_eq!(reply(&tree.route(&mut *session, ROOT, &wait(json!(3_600_001)))).0, "timeout_ms must be at most 3600000");
    let check = |session: &mut dyn Session, tree: &Tree, timeout: Value, timed_out: bool| {
        let wait = wait(timeout);
        let orders = session.deliver(Event::Waiting { call: &wait, timed_out }, &tree.scope(ROOT, 0));
        (!orders.is_empty()).then(|| {
            let (text, _, means) = reply(&orders);
            (text, means)
        })
    };
    let says = |message: &str, timed_out: bool| json!({"message": message, "timed_out": timed_out}).to_string();
    assert_eq!(check(&mut *session, &tree, Value::Null, false), None);
    // A child that has ended is nothing to a wait: its mail is.
    tree.ended(&mut *session, child, &spawn_call(1, "a"), &End::Done, &[said("SECRET")]);
    assert_eq!(check(&mut *session, &tree, Value::Null, false), None);
    assert_eq!(check(&mut *session, &tree, Value::Null, true), Some((says("Wait timed out.", true), vec![Means::TimedOut])));
    tree.threads[0].mail = 1;
    assert_eq!(check(&mut *session, &tree, Value::Null, false), Some((says("Wait completed.", false), vec![])));
    let clamped = "Wait completed.\n\nRequested timeout of 1ms was clamped to the minimum of 10000ms.";
    assert_eq!(check(&mut *session, &tree, json!(1), false), Some((says(clamped, false), vec![])));
    // Input wins over mail.
    tree.threads[0].input = 1;
    assert_eq!(check(&mut *session, &tree, Value::Null, true), Some((says("Wait interrupted by new input.", false), vec![])));
}

#[test]
fn interrupting_and_listing() {
    let (mut session, mut tree) = start();
    let child = spawn(&mut *session, &mut tree, ROOT, "a");
    let other = spawn(&mut *session, &mut tree, ROOT, "ab");
    tree.ended(&mut *session, other, &spawn_call(1, "ab"), &End::Done, &[said("done")]);
    let orders = tree.route(&mut *session, ROOT, &call(3, "interrupt_agent", r#"{"target":"a"}"#));
    assert_eq!(reply(&orders).0, r#"{"previous_status":"running"}"#);
    assert!(matches!(orders[1], Order::Stop { thread } if thread == child));
    tree.ended(&mut *session, child, &spawn_call(1, "a"), &End::Aborted, &[]);
    let mut list = |args: &str| reply(&tree.route(&mut *session, ROOT, &call(4, "list_agents", args))).0;
    let a = json!({"agent_name": "/root/a", "agent_status": "interrupted"});
    let ab = json!({"agent_name": "/root/ab", "agent_status": {"completed": "done"}});
    let root = json!({"agent_name": "/root", "agent_status": "running"});
    assert_eq!(list("{}"), json!({"agents": [root, a, ab]}).to_string());
    assert_eq!(list(r#"{"path_prefix":"a"}"#), json!({"agents": [a]}).to_string());
}

#[test]
fn a_final_looking_text_shuts_the_mailbox() {
    let (mut session, tree) = start();
    let mut shut = |text: &str, calls: Vec<ToolCall>| {
        session.turn(AssistantTurn { text: text.into(), calls, ..AssistantTurn::default() }, &[], &tree.scope(ROOT, 0)).shut
    };
    assert!(shut("done", vec![]));
    // Text beside a call is commentary.
    assert!(!shut("reading", vec![call(1, "read", "{}")]));
    assert!(!shut("", vec![call(1, "read", "{}")]));
    assert!(!shut(" ", vec![]));
}

fn intent(id: &str, title: &str) -> Intent {
    Intent { id: id.into(), agent: "explorer".into(), title: title.into(), task: "do it".into(), background: false }
}

fn spoken(session: &dyn Session, id: &str, title: &str) -> Value {
    let call = session.phrase(&Act::Delegate(&intent(id, title))).expect("it can delegate");
    assert_eq!(call.name, "spawn_agent");
    serde_json::from_str(&call.args).expect("it is JSON")
}

#[test]
fn how_it_is_spoken() {
    let check = |profile: &str, fork_turns: ForkTurns, more: Value| {
        let strategy = strategy(profile, fork_turns);
        let mut expect = json!({"message": "do it", "task_name": "find_it"});
        for (key, value) in more.as_object().into_iter().flatten() {
            expect[key] = value.clone();
        }
        assert_eq!(spoken(&*strategy.start(&run()), "find-it", "t"), expect);
        assert_eq!(strategy.hands_history_down(), fork_turns != ForkTurns::None);
    };
    check("0.171", ForkTurns::Absent, json!({}));
    check("0.171", ForkTurns::All, json!({"fork_turns": "all"}));
    check("0.171", ForkTurns::None, json!({"fork_turns": "none", "agent_type": "explorer"}));
    // It acts as all, and a full fork takes no role.
    check("0.171", ForkTurns::Last(3), json!({"fork_turns": "3"}));
    check("0.160", ForkTurns::Last(3), json!({"fork_turns": "3", "agent_type": "explorer"}));
    let session = CodexV2::default().start(&run());
    let (child, intent) = (Handle("/root/a".into()), intent("a", "t"));
    let said = |act: Act<'_>| session.phrase(&act).map(|call| format!("{} {}", call.name, call.args));
    let more = |wake: bool| Act::Continue { child: &child, intent: &intent, text: "more", wake };
    assert_eq!(said(Act::Wait(&[])).as_deref(), Some("wait_agent {}"));
    assert_eq!(said(more(true)).as_deref(), Some(r#"followup_task {"message":"more","target":"/root/a"}"#));
    assert_eq!(said(more(false)).as_deref(), Some(r#"send_message {"message":"more","target":"/root/a"}"#));
    assert_eq!(said(Act::Close(&child)).as_deref(), Some(r#"interrupt_agent {"target":"/root/a"}"#));
    assert_eq!(said(Act::Back), None);
}

#[test]
fn task_names_are_names_and_differ() {
    let (mut session, mut tree) = start();
    let name = |session: &dyn Session, id: &str, title: &str| spoken(session, id, title)["task_name"].as_str().expect("a text").to_owned();
    assert_eq!(name(&*session, "Find-JWT  lib", "t"), "find_jwt_lib");
    // Said twice it is the same; another intent never has it.
    assert_eq!(name(&*session, "Find-JWT  lib", "t"), "find_jwt_lib");
    assert_eq!(name(&*session, "find jwt lib", "t"), "find_jwt_lib_2");
    assert_eq!(name(&*session, "подзадача", "Look up 7"), "look_up_7");
    assert_eq!(name(&*session, "…", ""), "task");
    assert_eq!(name(&*session, "root", ""), "task_2");
    // An intent that is handed out again has a new child.
    spawn(&mut *session, &mut tree, ROOT, "find_jwt_lib");
    assert_eq!(name(&*session, "Find-JWT  lib", "t"), "find_jwt_lib_3");
}

#[test]
fn only_the_root_is_shown_the_tools() {
    let (mut session, mut tree) = start();
    let child = tree.open(ROOT, "explorer");
    let view = session.view(&[], &tree.scope(ROOT, 0));
    let names: Vec<&str> = view.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["read", "spawn_agent", "send_message", "followup_task", "wait_agent", "interrupt_agent", "list_agents"]);
    assert!(view.phases);
    let names: Vec<String> = session.view(&[], &tree.scope(child, 0)).tools.into_iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(names, ["read", "list"]);
}
