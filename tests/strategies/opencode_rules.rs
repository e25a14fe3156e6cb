//! OpenCode's questions, models and ends, beyond what the vectors hold.

use ctxbench::strategy::opencode::{Action, AgentConfiguration, Answer, Configuration, Model, Rule, SessionRecord, decide};
use ctxbench::strategy::{End, OpenCode, Order, ThreadId, To};
use ctxbench::transcript::Means;

use crate::hand::{Tree, reply, run};
use crate::opencode::task;

const ROOT: ThreadId = ThreadId::ROOT;

fn root(permission: Vec<Rule>) -> SessionRecord {
    let model = Some(Model::parse("north/big"));
    SessionRecord { title: String::new(), agent: "lead".into(), permission, model, variant: Some("deep".into()) }
}

fn configured(root: SessionRecord) -> Configuration {
    Configuration { sessions: [(ROOT, root)].into(), ..Configuration::of_scenarios() }
}

#[test]
fn the_users_answer() {
    let check = |answer: Answer, expect: Option<&str>| {
        let asks = configured(root(vec![Rule::of_all("task", Action::Ask)]));
        let mut session = OpenCode { configuration: Configuration { answer, ..asks }, ..OpenCode::default() }.session(&run());
        let orders = Tree::new("lead").route(&mut session, ROOT, &task(0, serde_json::Value::Null));
        match expect {
            None => assert!(matches!(&orders[..], [Order::Put { to: To::New(_), .. }])),
            Some(text) => assert_eq!(reply(&orders), (text.to_owned(), true, vec![Means::Refused])),
        }
    };
    check(Answer::Once, None);
    check(Answer::Reject(None), Some("The user rejected permission to use this specific tool call."));
    check(
        Answer::Reject(Some("ask me later".into())),
        Some("The user rejected permission to use this specific tool call with the following feedback: ask me later"),
    );
}

#[test]
fn the_last_rule_that_matches_holds() {
    let rules = [Rule::of_all("*", Action::Allow), Rule::new("bash", "rm *", Action::Deny), Rule::new("bash", "rm -i *", Action::Ask)];
    let check = |permission: &str, pattern: &str, expect: Action| assert_eq!(decide(permission, pattern, rules.iter()), expect);
    check("edit", "x", Action::Allow);
    check("bash", "ls", Action::Allow);
    check("bash", "rm", Action::Deny);
    check("bash", "rm x", Action::Deny);
    check("bash", "rm -i x", Action::Ask);
    assert_eq!(decide("bash", "ls", [].iter()), Action::Ask, "nothing matches");
}

/// An agent's own model takes its own variant with it; else model and variant are the caller's, and its own variant holds
/// where the caller has none.
#[test]
fn models_and_variants() {
    let check = |model: Option<&str>, variant: Option<&str>, callers: Option<&str>, expect: (&str, Option<&str>)| {
        let (model, own) = (model.map(Model::parse), variant.map(str::to_owned));
        let explorer = AgentConfiguration { model, variant: own, ..AgentConfiguration::default() };
        let root = SessionRecord { variant: callers.map(str::to_owned), ..root(vec![]) };
        let configuration = Configuration { agents: [("explorer".to_owned(), explorer)].into(), ..configured(root) };
        let mut session = OpenCode { configuration, ..OpenCode::default() }.session(&run());
        let mut tree = Tree::new("lead");
        let call = task(0, serde_json::Value::Null);
        tree.route(&mut session, ROOT, &call);
        let (child, _) = tree.opened(&mut session, ROOT, &call, "explorer");
        let record = session.stored(child).expect("it was opened");
        assert_eq!((record.model.as_ref(), record.variant.as_deref()), (Some(&Model::parse(expect.0)), expect.1));
    };
    check(None, None, Some("deep"), ("north/big", Some("deep")));
    check(None, None, None, ("north/big", None));
    check(Some("south/small"), None, Some("deep"), ("south/small", None));
    check(Some("south/small"), Some("quick"), Some("deep"), ("south/small", Some("quick")));
    check(None, Some("quick"), Some("deep"), ("north/big", Some("deep")));
    check(None, Some("quick"), None, ("north/big", Some("quick")));
}

/// Whoever is aborted takes what it has started along.
#[test]
fn an_abort_goes_down() {
    let explorer = AgentConfiguration { permission: vec![Rule::of_all("task", Action::Allow)], ..AgentConfiguration::default() };
    let agents = [("explorer".to_owned(), explorer)].into();
    let configuration = Configuration { subagent_depth: Some(3), agents, ..Configuration::of_scenarios() };
    let mut session = OpenCode { background: true, configuration, ..OpenCode::default() }.session(&run());
    let mut tree = Tree::new("lead");
    let mut caller = ROOT;
    let mut calls = vec![];
    for key in 0..3 {
        let call = task(key, serde_json::json!({"background": key == 2}));
        tree.route(&mut session, caller, &call);
        caller = tree.opened(&mut session, caller, &call, "explorer").0;
        calls.push(call);
    }
    let orders = tree.ended(&mut session, ThreadId(1), &calls[0], &End::Aborted, &[]);
    let [Order::Stop { thread: ThreadId(2) }, answer] = &orders[..] else { panic!("{orders:?}") };
    assert_eq!(reply(std::slice::from_ref(answer)).0, "Task cancelled");
    let orders = tree.ended(&mut session, ThreadId(2), &calls[1], &End::Aborted, &[]);
    let [Order::Stop { thread: ThreadId(3) }, _] = &orders[..] else { panic!("{orders:?}") };
    // A background task that is cancelled says nothing.
    assert!(tree.ended(&mut session, ThreadId(3), &calls[2], &End::Aborted, &[]).is_empty());
}
