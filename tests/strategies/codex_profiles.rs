//! What the releases of Codex differ in, beside what their client sends: forks, refusals, mail, tools; and v2's limits.

use ctxbench::strategy::codex::fork::ABORTED;
use ctxbench::strategy::codex::{ForkTurns, Profile, V1_PROFILES, V2_PROFILES};
use ctxbench::strategy::{CodexV2, End, New, Order, ParentView, Route, Session, Strategy, ThreadId, To, When};
use ctxbench::transcript::{Body, CallKey, Handle, Item, Means, Origin, Phase, Role};
use serde_json::{Value, json};

use crate::hand::{Tree, call, put, reply, run, said};
use crate::play::strategy;

const ROOT: ThreadId = ThreadId::ROOT;

fn v2(profile: &str) -> CodexV2 {
    CodexV2 { profile: Profile::named(profile).unwrap_or_else(|| panic!("{profile}")), fork_turns: ForkTurns::Absent }
}

#[test]
fn every_profile_has_a_name_of_its_own() {
    let names = |profiles: &[Profile]| profiles.iter().map(|profile| profile.name).collect::<Vec<_>>();
    assert_eq!(names(&V1_PROFILES), ["0.171", "source-2026-08"]);
    assert_eq!(names(&V2_PROFILES), ["0.171", "0.163", "0.160", "0.145", "0.130", "source-2026-08"]);
    for (id, profiles) in [("codex-v1", &V1_PROFILES[..]), ("codex-v2", &V2_PROFILES[..])] {
        for profile in profiles {
            let spec = format!("{id}@{}", profile.name);
            let strategy = strategy(&spec);
            assert_eq!((strategy.id(), strategy.has_scaffold()), (spec, true));
        }
    }
}

/// A finished turn, then the turn in progress with another call beside the spawn.
fn history() -> Vec<Item> {
    vec![
        Item::message(Role::Developer, Origin::System, "<multi_agent_mode>on</multi_agent_mode>"),
        Item::user(Origin::User, "U1"),
        Item::assistant(Some(Phase::Commentary), "reading"),
        Item::assistant(Some(Phase::FinalAnswer), "A1"),
        Item::user(Origin::User, "U2"),
        Item::call(call(2, "spawn_agent", "spawn")),
        Item::call(call(3, "read", "beside")),
    ]
}

/// What a spawn with this argument hands down, or what it is refused with.
fn inherited(profile: &str, turns: Option<&str>) -> Result<Vec<String>, String> {
    let mut session = v2(profile).start(&run());
    let mut args = json!({"message": "look", "task_name": "one"});
    if let Some(turns) = turns {
        args["fork_turns"] = turns.into();
    }
    let (items, call) = (history(), call(2, "spawn_agent", &args.to_string()));
    let view = ParentView { items: &items, in_flight: &[CallKey(2), CallKey(3)] };
    let Route::Do(orders) = session.route(&call, view, &Tree::new("lead").scope(ROOT, 4)) else { panic!("not routed") };
    match &orders[..] {
        [Order::Put { to: To::New(New { .. }), items, .. }] => {
            Ok(items.iter().filter(|item| item.origin == Origin::Inherited).map(Item::text).collect())
        }
        _ => Err(reply(&orders).0),
    }
}

#[test]
fn what_a_number_of_turns_does() {
    let check = |profile: &str, turns: Option<&str>, expect: &[&str]| {
        assert_eq!(inherited(profile, turns), Ok(expect.iter().map(|text| (*text).to_owned()).collect()), "{profile} {turns:?}");
    };
    let mode = "<multi_agent_mode>on</multi_agent_mode>";
    let (filtered, last) = (["U1", "A1", "U2"], ["U2"]);
    let verbatim = [mode, "U1", "reading", "A1", "U2", "spawn", ABORTED, "beside", ABORTED];
    for turns in [None, Some("all"), Some("1"), Some("9")] {
        check("0.171", turns, &verbatim);
        check("0.163", turns, &filtered);
    }
    for profile in ["0.160", "source-2026-08"] {
        check(profile, None, &filtered);
        check(profile, Some("1"), &last);
    }
    // The mode is not scrubbed yet.
    for profile in ["0.145", "0.130"] {
        check(profile, None, &[mode, "U1", "A1", "U2"]);
        check(profile, Some("1"), &last);
        check(profile, Some("2"), &filtered);
    }
    for profile in V2_PROFILES {
        check(profile.name, Some(" NONE "), &[]);
    }
}

#[test]
fn what_is_no_number_of_turns() {
    for profile in V2_PROFILES {
        let expect = match profile.name {
            "0.171" => "fork_turns must be `none` or `all`",
            _ => "fork_turns must be `none`, `all`, or a positive integer string",
        };
        for turns in ["0", "every", "1.5", "18446744073709551616"] {
            assert_eq!(inherited(profile.name, Some(turns)), Err(expect.to_owned()), "{} {turns}", profile.name);
        }
    }
}

#[test]
fn mail_of_the_oldest_release_is_json() {
    let (mut session, mut tree) = (v2("0.130").start(&run()), Tree::new("lead"));
    let session = &mut *session;
    let spawn = call(1, "spawn_agent", r#"{"message":"look \"here\"","task_name":"one","fork_turns":"none"}"#);
    let orders = tree.route(session, ROOT, &spawn);
    let letter = |item: &Item, origin: Origin| -> Value {
        let is_commentary = matches!(item.body(), Body::Message { role: Role::Assistant, phase: Some(Phase::Commentary), .. });
        assert!(is_commentary && item.origin == origin, "{item:?}");
        serde_json::from_str(&item.text()).expect("it is JSON")
    };
    let items = put(&orders);
    let [task] = &items[..] else { panic!("{items:?}") };
    let text = r#"{"author":"/root","recipient":"/root/one","other_recipients":[],"content":"look \"here\"","trigger_turn":true}"#;
    assert_eq!((task.text().as_str(), task.origin), (text, Origin::Task));
    let (child, orders) = tree.opened(session, ROOT, &spawn, "lead");
    let told: Value = serde_json::from_str(&reply(&orders).0).expect("it is JSON");
    assert_eq!(told, json!({"task_name": "/root/one", "nickname": "Ada"}));
    // A word queues, and its envelope says so; a follow-up triggers.
    for (name, triggers) in [("send_message", false), ("followup_task", true)] {
        let orders = tree.route(session, ROOT, &call(2, name, r#"{"target":"one","message":"more"}"#));
        assert_eq!(letter(&put(&orders)[0], Origin::Task)["trigger_turn"], triggers);
    }
    // The result stands in the tags of a notice; what the child was told is not its own text.
    let orders = tree.ended(session, child, &spawn, &End::Done, &[task.clone(), said("done"), task.clone()]);
    let status =
        |status: &str| format!("<subagent_notification>\n{{\"agent_path\":\"/root/one\",\"status\":{status}}}\n</subagent_notification>");
    let items = put(&orders);
    let expect = json!({"author": "/root/one", "recipient": "/root", "other_recipients": [], "content": status(r#"{"completed":null}"#), "trigger_turn": false});
    assert_eq!(letter(&items[0], Origin::Delegated), expect);
    assert_eq!(items[0].means, [Means::Returned(Some(Handle("/root/one".into())))]);
    let orders = tree.ended(session, child, &spawn, &End::Done, &[task.clone(), said("done")]);
    assert_eq!(letter(&put(&orders)[0], Origin::Delegated)["content"], status(r#"{"completed":"done"}"#));
    assert!(tree.ended(session, child, &spawn, &End::Aborted, &[]).is_empty());
}

#[test]
fn who_is_shown_the_tools() {
    for profile in V2_PROFILES {
        let (mut session, mut tree) = (v2(profile.name).start(&run()), Tree::new("lead"));
        let child = tree.open(ROOT, "explorer");
        let shown = |session: &mut dyn Session, thread| {
            let view = session.view(&[], &tree.scope(thread, 0));
            view.tools.iter().any(|tool| tool.name == "spawn_agent")
        };
        let old = matches!(profile.name, "0.145" | "0.130");
        assert_eq!((shown(&mut *session, ROOT), shown(&mut *session, child)), (true, old), "{}", profile.name);
    }
}

/// Children `a`, `b`, ... of the root, each with a turn that has ended.
fn with_idle(count: usize) -> (Box<dyn Session>, Tree, Vec<ThreadId>) {
    let (mut session, mut tree) = (CodexV2::default().start(&run()), Tree::new("lead"));
    let mut children = vec![];
    for name in ["a", "b", "c", "d", "e"].iter().take(count) {
        let (child, _) = spawn(&mut *session, &mut tree, name).expect("there is room");
        tree.ended(&mut *session, child, &call(1, "spawn_agent", "{}"), &End::Done, &[said("done")]);
        children.push(child);
    }
    (session, tree, children)
}

fn spawn(session: &mut dyn Session, tree: &mut Tree, name: &str) -> Result<(ThreadId, String), String> {
    let call = call(1, "spawn_agent", &json!({"message": "do it", "task_name": name}).to_string());
    let orders = tree.route(session, ROOT, &call);
    if !matches!(&orders[..], [Order::Put { to: To::New(_), .. }]) {
        return Err(reply(&orders).0);
    }
    let (child, orders) = tree.opened(session, ROOT, &call, "lead");
    Ok((child, reply(&orders).0))
}

#[test]
fn idle_children_make_room() {
    // Finished children do not count against what may run: each spawn unloads the one that was used longest ago.
    let (mut session, mut tree, children) = with_idle(5);
    assert_eq!(children.len(), 5);
    // Those that were unloaded keep their paths and take work again.
    assert_eq!(spawn(&mut *session, &mut tree, "a"), Err("agent path `/root/a` already exists".to_owned()));
    let orders = tree.route(&mut *session, ROOT, &call(9, "followup_task", r#"{"target":"a","message":"more"}"#));
    assert!(
        matches!(&orders[..], [Order::Reply { failed: false, .. }, Order::Put { to: To::Thread(to), when: When::Wake, .. }] if *to == children[0])
    );
}

#[test]
fn children_with_mail_or_work_do_not_make_room() {
    let full = "collab spawn failed: agent thread limit reached".to_owned();
    let (mut session, mut tree, children) = with_idle(3);
    // Two at work and one with unread mail: nobody may be unloaded.
    for &child in &children[..2] {
        tree.threads[child.0 as usize].running = 1;
    }
    tree.threads[children[2].0 as usize].mail = 1;
    assert_eq!(spawn(&mut *session, &mut tree, "d"), Err(full.clone()));
    tree.threads[children[2].0 as usize].mail = 0;
    let (fourth, _) = spawn(&mut *session, &mut tree, "d").expect("there is room");
    // Three at work: the limit of turns.
    assert_eq!(spawn(&mut *session, &mut tree, "e"), Err(full));
    // A word to the one that was unloaded needs room too.
    let word = call(9, "send_message", r#"{"target":"c","message":"hello"}"#);
    let (text, failed, _) = reply(&tree.route(&mut *session, ROOT, &word));
    assert_eq!((text.as_str(), failed), ("collab tool failed: agent thread limit reached", true));
    tree.ended(&mut *session, fourth, &call(1, "spawn_agent", "{}"), &End::Failed("no".into()), &[]);
    assert_eq!(reply(&tree.route(&mut *session, ROOT, &word)), (String::new(), false, vec![]));
}

#[test]
fn who_was_written_to_last_is_unloaded_last() {
    let (mut session, mut tree, children) = with_idle(3);
    // `a` would go first; a word to it makes `b` the first.
    tree.route(&mut *session, ROOT, &call(9, "send_message", r#"{"target":"a","message":"hello"}"#));
    spawn(&mut *session, &mut tree, "d").expect("`b` makes room");
    for child in [children[0], children[2]] {
        tree.threads[child.0 as usize].running = 1;
    }
    // All places are taken by those that work: `b` alone is not loaded, so a word to it fails and to the others it does not.
    let mut word = |target: &str| {
        let args = json!({"target": target, "message": "hello"}).to_string();
        reply(&tree.route(&mut *session, ROOT, &call(10, "send_message", &args))).1
    };
    assert_eq!([word("a"), word("c"), word("d"), word("b")], [false, false, false, true]);
}

#[test]
fn a_word_is_no_delegation_and_a_task_is_one() {
    let (mut session, tree, _) = with_idle(1);
    let mut by = |name: &str| {
        let orders = tree.route(&mut *session, ROOT, &call(7, name, r#"{"target":"/root/a","message":"more"}"#));
        orders.iter().find_map(|order| match order {
            Order::Put { by, .. } => Some(*by),
            _ => None,
        })
    };
    assert_eq!((by("send_message"), by("followup_task")), (Some(None), Some(Some(CallKey(7)))));
}
