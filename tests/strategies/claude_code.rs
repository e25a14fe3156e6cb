//! Claude Code: what its calls do, what a child opens with, what comes back.

use ctxbench::strategy::{
    Act, ClaudeCode, End, Event, Intent, Order, ParentView, Registry, Report, Route, Session, Strategy, ThreadId, To, When,
};
use ctxbench::transcript::{Body, CallKey, Content, Handle, Item, Means, Origin, Role};

use super::hand::{self, Tree, call, put, reply, run};

const FORK: ClaudeCode = ClaudeCode { mode: ctxbench::strategy::claude_code::Mode::Fork, background: false };

fn session(strategy: ClaudeCode) -> Box<dyn Session> {
    strategy.start(&run())
}

fn agent(kind: &str) -> ctxbench::transcript::ToolCall {
    call(1, "Agent", &format!(r#"{{"description":"find it","prompt":"Find the key.","subagent_type":"{kind}"}}"#))
}

fn intent() -> Intent {
    Intent { id: "i".into(), agent: "writer".into(), title: "find it".into(), task: "Find the key.".into(), background: false }
}

#[test]
fn specs_and_names() {
    fn check(spec: &str, expect: &str) {
        let choices = Registry::builtin().parse(spec).expect("it is a spec");
        assert_eq!(choices.iter().map(|choice| choice.build().id()).collect::<Vec<_>>(), [expect]);
    }
    check("claude-code", "claude-code@2.1.197");
    check("claude-code:mode=fork", "claude-code@2.1.197:mode=fork");
    check("claude-code:mode=isolated,background=true", "claude-code@2.1.197:background=true");
    check("claude-code@2.1.197:mode=fork,background=true", "claude-code@2.1.197:background=true,mode=fork");
    assert!(FORK.hands_history_down() && !ClaudeCode::default().hands_history_down() && FORK.has_scaffold());
}

#[test]
fn an_act_in_its_words() {
    fn check(strategy: ClaudeCode, act: &Act<'_>, expect: Option<(&str, &str)>) {
        let said = session(strategy).phrase(act);
        let said = said.as_ref().map(|call| (call.name.as_str(), serde_json::from_str::<serde_json::Value>(&call.args).expect("JSON")));
        assert_eq!(said, expect.map(|(name, args)| (name, serde_json::from_str(args).expect("JSON"))));
    }
    let (plain, background) = (ClaudeCode::default(), ClaudeCode { background: true, ..ClaudeCode::default() });
    let intent = intent();
    let delegate = Act::Delegate(&intent);
    check(plain, &delegate, Some(("Agent", r#"{"description":"find it","prompt":"Find the key.","subagent_type":"writer"}"#)));
    check(
        background,
        &delegate,
        Some(("Agent", r#"{"description":"find it","prompt":"Find the key.","subagent_type":"writer","run_in_background":true}"#)),
    );
    check(FORK, &delegate, Some(("Agent", r#"{"description":"find it","prompt":"Find the key.","subagent_type":"fork"}"#)));
    let (id, root) = (Handle("a0".into()), Intent { agent: "lead".into(), ..intent.clone() });
    check(plain, &Act::Delegate(&root), None);
    let more = Act::Continue { child: &id, intent: &intent, text: "And the door?", wake: true };
    check(plain, &more, Some(("SendMessage", r#"{"to":"a0","summary":"find it","message":"And the door?"}"#)));
    check(plain, &Act::Wait(std::slice::from_ref(&id)), None);
    check(plain, &Act::Close(&id), None);
    check(plain, &Act::Back, None);
}

#[test]
fn an_isolated_child_opens_with_its_prompt() {
    let mut tree = Tree::new("lead");
    let mut session = session(ClaudeCode::default());
    let orders = tree.route(&mut *session, ThreadId::ROOT, &agent("writer"));
    let [Order::Put { to: To::New(new), items, when: When::Turn, by: Some(CallKey(1)) }] = &orders[..] else { panic!("{orders:?}") };
    assert_eq!((new.agent.as_str(), items.as_slice()), ("writer", &[Item::user(Origin::Task, "Find the key.")][..]));
    let (child, orders) = tree.opened(&mut *session, ThreadId::ROOT, &agent("writer"), "writer");
    assert!(orders.is_empty(), "a foreground call waits: {orders:?}");
    let items = [Item::assistant(None, "I search."), Item::call(call(7, "read", "{}")), Item::assistant(None, "Under the mat.")];
    let orders = tree.ended(&mut *session, child, &agent("writer"), &End::Done, &items);
    let [Order::Reply { text, more, failed: false, means, .. }] = &orders[..] else { panic!("{orders:?}") };
    let id = id_of(means);
    let trailer = format!(
        "agentId: {id} (use SendMessage with to: '{id}', summary: '<5-10 word recap>' to continue this agent)\n\
         <usage>subagent_tokens: 0\ntool_uses: 1\nduration_ms: 1</usage>"
    );
    assert_eq!((text.as_text(), more.iter().map(|part| part.as_text()).collect::<Vec<_>>()), ("Under the mat.", vec![trailer.as_str()]));
}

/// A foreground answer: its first part, and what it means.
fn answer(orders: &[Order]) -> (String, Vec<Means>) {
    let [Order::Reply { text, more, means, .. }] = orders else { panic!("{orders:?}") };
    let whole: String = std::iter::once(text).chain(more).map(|part| part.as_text()).collect();
    hand::stands_in_text(means, &whole);
    (text.as_text().to_owned(), means.clone())
}

/// The id of the only thing that is meant.
fn id_of(means: &[Means]) -> String {
    match means {
        [Means::Started(handle) | Means::Returned(Some(handle)) | Means::Failed(Some(handle))] => handle.0.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn ids_are_seventeen_hexadecimal_digits() {
    let mut tree = Tree::new("lead");
    let mut session = session(ClaudeCode::default());
    let background = call(1, "Agent", r#"{"description":"d","prompt":"p","subagent_type":"writer","run_in_background":true}"#);
    let (_, orders) = tree.opened(&mut *session, ThreadId::ROOT, &background, "writer");
    let (text, failed, means) = reply(&orders);
    let id = id_of(&means);
    assert!(id.len() == 17 && id.starts_with('a') && id.chars().all(|c| c.is_ascii_hexdigit() && !c.is_ascii_uppercase()), "{id}");
    assert!(!failed && text.starts_with("Async agent launched successfully.") && text.contains(&format!("to: '{id}'")), "{text}");
}

#[test]
fn a_background_child_is_told_of_in_a_message_that_wakes() {
    let mut tree = Tree::new("lead");
    let mut session = session(ClaudeCode::default());
    let background = call(1, "Agent", r#"{"description":"find it","prompt":"p","subagent_type":"writer","run_in_background":true}"#);
    let (child, _) = tree.opened(&mut *session, ThreadId::ROOT, &background, "writer");
    let orders = tree.ended(&mut *session, child, &background, &End::Done, &[Item::assistant(None, "Under the mat.")]);
    let [Order::Put { to: To::Thread(ThreadId::ROOT), items, when: When::Wake, .. }] = &orders[..] else { panic!("{orders:?}") };
    let text = items[0].text();
    hand::stands_in_text(&items[0].means, &text);
    assert_eq!((items[0].role(), items[0].origin), (Some(Role::User), Origin::Delegated));
    for part in ["<task-notification>\n", "<tool-use-id>call_1</tool-use-id>", "<status>completed</status>", "\"find it\""] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(text.contains("<result>Under the mat.</result><usage>") && text.ends_with("</task-notification>"), "{text}");
}

#[test]
fn a_fork_opens_with_the_whole_history_and_its_own_call_alone() {
    let user = Item::user(Origin::User, "Where is the key?");
    let read = Item::call(call(0, "read", "{}"));
    let found = Item::result(CallKey(0), Origin::ToolResult, "a list", false);
    let said = Item::assistant(None, "Two of me should look.");
    let thought = Item::new(Body::Reasoning { parts: vec!["hm".into()] }, Origin::Own);
    let other = Item::call(call(2, "read", "{}"));
    let (one, two) = (Item::call(agent("fork")), Item::call(call(3, "Agent", "{}")));
    let history = [user.clone(), Item::assistant(None, "I read."), read.clone(), found.clone(), thought, said, other, one.clone(), two];
    let tree = Tree::new("lead");
    let mut session = session(FORK);
    let view = ParentView { items: &history, in_flight: &[CallKey(2), CallKey(1), CallKey(3)] };
    let Route::Do(orders) = session.route(&agent("fork"), view, &tree.scope(ThreadId::ROOT, 4)) else {
        panic!("it is no tool of the world")
    };
    let [Order::Put { to: To::New(new), items, .. }] = &orders[..] else { panic!("{orders:?}") };
    assert_eq!(new.agent, "lead");
    let inherited: Vec<Item> = [&user, &Item::assistant(None, "I read."), &read, &found, &one].into_iter().map(Item::inherited).collect();
    assert_eq!(items[..5], inherited);
    assert_eq!(items[5], Item::result(CallKey(1), Origin::Inherited, "Fork started — processing in background", false));
    let directive = items[6].text();
    assert!(directive.starts_with("<fork-boilerplate>\n") && directive.ends_with("Your directive: Find the key."), "{directive}");
    assert_eq!((items.len(), items[6].role(), items[6].origin), (7, Some(Role::User), Origin::Task));
}

#[test]
fn a_fork_is_acknowledged_and_starts_no_other() {
    let mut tree = Tree::new("lead");
    let mut session = session(FORK);
    let (child, orders) = tree.opened(&mut *session, ThreadId::ROOT, &agent("fork"), "lead");
    let (text, failed, _) = reply(&orders);
    assert!(!failed && text.starts_with("Async agent launched successfully."), "{text}");
    let (text, _, means) = reply(&tree.route(&mut *session, child, &agent("fork")));
    assert_eq!((text.as_str(), means), ("A fork cannot start another fork: do the work with your own tools.", vec![Means::Refused]));
    assert_eq!(put(&tree.route(&mut *session, child, &agent("writer"))).len(), 1, "but another child it may start");
}

#[test]
fn refusals() {
    fn check(strategy: ClaudeCode, args: &str, expect: &str) {
        let (text, _, means) = reply(&Tree::new("lead").route(&mut *session(strategy), ThreadId::ROOT, &call(1, "Agent", args)));
        assert_eq!((text.as_str(), means), (expect, vec![Means::Refused]));
    }
    let plain = ClaudeCode::default();
    check(plain, "", "InputValidationError: Agent failed: The input is no JSON object");
    check(plain, "[]", "InputValidationError: Agent failed: The input is no JSON object");
    check(plain, "{}", "InputValidationError: Agent failed: The required parameter `description` is missing");
    check(plain, r#"{"description":"d","prompt":1}"#, "InputValidationError: Agent failed: The parameter `prompt` must be a string");
    check(
        plain,
        r#"{"description":"d","prompt":"p","run_in_background":"yes"}"#,
        "InputValidationError: Agent failed: The parameter `run_in_background` must be a boolean",
    );
    let unknown = |name: &str| format!("Agent type '{name}' not found. Available agents: explorer, writer");
    check(plain, r#"{"description":"d","prompt":"p","subagent_type":"lead"}"#, &unknown("lead"));
    check(plain, r#"{"description":"d","prompt":"p","subagent_type":"fork"}"#, &unknown("fork"));
    check(FORK, r#"{"description":"d","prompt":"p"}"#, &unknown("general-purpose"));
}

#[test]
fn a_child_that_does_not_end_well() {
    fn check(end: &End, expect: &str) {
        let mut tree = Tree::new("lead");
        let mut session = session(ClaudeCode::default());
        let (child, _) = tree.opened(&mut *session, ThreadId::ROOT, &agent("writer"), "writer");
        let orders = tree.ended(&mut *session, child, &agent("writer"), end, &[Item::assistant(None, " ")]);
        assert_eq!(answer(&orders).0, expect);
    }
    check(&End::Done, "(The agent ended without any text.)");
    check(&End::Failed("no power".into()), "The agent failed: no power");
    check(&End::Ceiling("too long".into()), "The agent failed: too long");
    check(&End::Aborted, "The agent failed: it was stopped");
}

#[test]
fn a_message_goes_on_with_a_child() {
    let mut tree = Tree::new("lead");
    let mut session = session(ClaudeCode::default());
    let (child, _) = tree.opened(&mut *session, ThreadId::ROOT, &agent("writer"), "writer");
    let orders = tree.ended(&mut *session, child, &agent("writer"), &End::Done, &[Item::assistant(None, "Under the mat.")]);
    let id = id_of(&answer(&orders).1);
    let message = call(5, "SendMessage", &format!(r#"{{"to":"{id}","message":"And the door?"}}"#));
    let orders = tree.route(&mut *session, ThreadId::ROOT, &message);
    assert_eq!(id_of(&reply(&orders).2), id);
    assert_eq!(put(&orders), [Item::user(Origin::Task, "And the door?")]);
    let report =
        Report { by: Some(&message), end: &End::Done, items: &[Item::assistant(None, "Shut.")], own: 0, elapsed_ms: 5, tokens: 70 };
    let told = put(&session.deliver(Event::Ended(report), &tree.scope(child, 0)));
    assert!(told[0].text().contains("<tool-use-id>call_5</tool-use-id>") && told[0].text().contains("<result>Shut.</result>"), "{told:?}");
    assert!(told[0].text().contains("<subagent_tokens>70</subagent_tokens>"), "{told:?}");
    let nobody = call(6, "SendMessage", r#"{"to":"a1","message":"Hello?"}"#);
    let (text, failed, _) = reply(&tree.route(&mut *session, ThreadId::ROOT, &nobody));
    assert!(failed && text.contains("'a1'"), "{text}");
}

/// Kinds and sizes of the opaque parts of items.
fn pieces(items: &[Item]) -> Vec<(String, u64)> {
    let pieces = items.iter().flat_map(Item::parts).filter_map(|part| match part.content() {
        Content::Opaque { kind, bytes, .. } => Some((kind.clone(), *bytes)),
        _ => None,
    });
    pieces.collect()
}

#[test]
fn with_its_scaffold_it_sends_what_was_measured() {
    let context = ctxbench::strategy::RunContext { scaffold: true, ..run() };
    let mut tree = Tree::new("lead");
    let mut session = ClaudeCode::default().start(&context);
    let input = [Item::user(Origin::User, "Where is the key?")];
    let first = put(&session.deliver(Event::Input(&input), &tree.scope(ThreadId::ROOT, 0)));
    let kinds = |names: &[(&str, u64)]| names.iter().map(|(name, chars)| (format!("claude-code/{name}"), *chars)).collect::<Vec<_>>();
    assert_eq!(pieces(&first), kinds(&[("reminder", 1786), ("skills", 4556), ("date", 306)]));
    assert_eq!(first.last(), input.last());
    let second = put(&session.deliver(Event::Input(&input), &tree.scope(ThreadId::ROOT, 0)));
    assert_eq!(second, input, "once a thread");
    let opening = put(&tree.route(&mut *session, ThreadId::ROOT, &agent("writer")));
    assert_eq!(pieces(&opening), kinds(&[("skills", 4556), ("date", 306)]));
    let (child, _) = tree.opened(&mut *session, ThreadId::ROOT, &agent("writer"), "writer");
    let (root, child) = (session.view(&[], &tree.scope(ThreadId::ROOT, 0)), session.view(&[], &tree.scope(child, 0)));
    assert_eq!((root.tools.len(), child.tools.len()), (24, 21));
    assert!(root.system != child.system && root.tools.iter().any(|tool| tool.name == "Agent"));
}
