//! Strategies under the real engine: what each thread is really sent, with an agent that follows a script.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use ctxbench::engine;
use ctxbench::ledger::Outcome;
use ctxbench::model::profile::FRONTIER;
use ctxbench::model::{Agent, CallDraft, ModelError, Pending, Reply, Request, Took, ready};
use ctxbench::scenario::{ScenarioWorld, ToolBehaviour};
use ctxbench::setting::{Ceilings, UserInput, UserTime};
use ctxbench::strategy::filter::{PLACEHOLDER, Rule};
use ctxbench::strategy::{Act, FullCopy, Intent, OpenCode, Registry, Strategy, ThreadId};
use ctxbench::tokens::{Encoding, Meter, counter};
use ctxbench::transcript::{Body, Handle, Item, Means, Origin, dangling, heard};
use futures_util::FutureExt;

use crate::hand::{run as context, stands_in_text};

/// What a thread was sent.
#[derive(Clone, Debug)]
pub struct Sent {
    pub path: String,
    pub items: Vec<Item>,
    pub tools: Vec<String>,
}

impl Sent {
    /// The items in short: call names, texts.
    pub fn short(&self) -> Vec<String> {
        self.items.iter().map(|item| item.as_call().map_or_else(|| item.text(), |call| format!("{}()", call.name))).collect()
    }
}

pub type Script = fn(&Request<'_>) -> Result<Reply, String>;

struct Scripted {
    script: Script,
    sent: Rc<RefCell<Vec<Sent>>>,
}

impl Agent for Scripted {
    fn reply(&mut self, request: &Request<'_>) -> Pending {
        self.sent.borrow_mut().push(Sent {
            path: request.path.into(),
            items: request.items.to_vec(),
            tools: request.tools.iter().map(|tool| tool.name.to_string()).collect(),
        });
        // Every item that means something says it, or the call that it answers does.
        for item in request.items {
            let call = item.answers().and_then(|key| request.items.iter().filter_map(Item::as_call).find(|call| call.key == key));
            let called = call.map(|call| format!("{} {}", call.name, call.args.as_text())).unwrap_or_default();
            stands_in_text(&item.means, &format!("{called} {}", item.text()));
        }
        let reply = (self.script)(request).map(|reply| Reply { took: Took::Ms(10), ..reply });
        ready(reply.map_err(ModelError::of_turn))
    }
}

pub struct Played {
    pub outcome: Outcome,
    pub sent: Vec<Sent>,
}

impl Played {
    /// What a thread was sent, request by request.
    pub fn of(&self, path: &str) -> Vec<&Sent> {
        self.sent.iter().filter(|sent| sent.path == path).collect()
    }

    pub fn results(&self, thread: u32) -> Vec<(String, bool)> {
        let items = self.outcome.history_of(ThreadId(thread)).iter();
        let results = items.filter_map(|item| match item.body() {
            Body::Result { failed, .. } if item.origin == Origin::Delegated => Some((item.text(), *failed)),
            _ => None,
        });
        results.collect()
    }
}

pub fn play(strategy: &dyn Strategy, script: Script, turns: &[&str]) -> Played {
    play_within(None, strategy, script, turns)
}

/// The same with a model of this window.
pub fn play_within(window: Option<u64>, strategy: &dyn Strategy, script: Script, turns: &[&str]) -> Played {
    let sent = Rc::new(RefCell::new(vec![]));
    let read = [("read".to_owned(), ToolBehaviour::ReadFile { ms: 5 }), ("list".to_owned(), ToolBehaviour::ListFiles { ms: 5 })].into();
    let outcome = engine::run(engine::Run {
        strategy,
        agent: Box::new(Scripted { script, sent: sent.clone() }),
        context: context(),
        history: vec![],
        user: turns.iter().map(|text| UserInput { when: UserTime::Settled, items: vec![Item::user(Origin::User, *text)] }).collect(),
        world: Box::new(ScenarioWorld::new(BTreeMap::from([("notes".to_owned(), "42".to_owned())]), read)),
        meter: Meter::new(counter(Encoding::O200kBase)),
        ceilings: Ceilings::default(),
        window,
        latency: FRONTIER,
        cache: None,
        children: None,
    });
    let outcome = outcome.now_or_never().expect("a scripted run awaits nothing");
    Played { outcome, sent: sent.borrow().clone() }
}

pub fn intent(id: &str) -> Intent {
    Intent { id: id.into(), agent: "explorer".into(), title: format!("look {id}"), task: format!("task {id}"), background: false }
}

pub fn delegate(request: &Request<'_>, id: &str) -> CallDraft {
    let call = request.delegate(&intent(id)).expect("the tool is shown");
    CallDraft::phrased(call, Some(id))
}

pub fn read() -> CallDraft {
    CallDraft::tool("read", r#"{"path":"notes"}"#)
}

pub fn calls(text: &str, calls: Vec<CallDraft>) -> Result<Reply, String> {
    Ok(Reply { text: text.into(), calls, ..Reply::default() })
}

pub fn say(text: impl Into<String>) -> Result<Reply, String> {
    Ok(Reply::say(text))
}

/// The handle under which the newest delegation of an intent is known.
fn known_as(request: &Request<'_>, id: &str) -> Option<Handle> {
    heard(request.items).into_iter().rev().find(|one| one.intent == id).and_then(|one| one.handle)
}

pub fn go_on(request: &Request<'_>, id: &str, text: &str) -> CallDraft {
    let child = known_as(request, id).expect("it was told a name");
    let act = Act::Continue { child: &child, intent: &intent(id), text, wake: true };
    CallDraft::phrased((request.speak)(&act).expect("it can continue"), Some(id))
}

/// The root delegates `a` and reads beside it; the child reads and answers; the root ends.
fn one_delegation(request: &Request<'_>) -> Result<Reply, String> {
    match (request.path, request.exchange) {
        ("/", 0) => calls("handing on", vec![read(), delegate(request, "a")]),
        ("/", _) => say("root done"),
        (_, 0) => calls("child reads", vec![read()]),
        _ => say("child done"),
    }
}

fn check_full_copy(rule: Rule, opening: &[&str]) {
    let played = play(&FullCopy { in_flight: rule }, one_delegation, &["earlier", "go"]);
    assert_eq!(played.outcome.failure, None, "{rule}");
    let child = played.of("/2");
    assert_eq!(child[0].short(), opening, "{rule}");
    assert_eq!(child[0].tools, ["read"]);
    assert_eq!(played.of("/")[0].tools, ["read", "delegate"]);
    assert_eq!(!dangling(&child[0].items).is_empty(), rule.may_dangle(), "{rule}");
    // The child's own work comes behind, and its last text is the result.
    assert_eq!(child[1].short()[opening.len()..], ["child reads", "read()", "42"]);
    assert_eq!(played.results(0), [("child done".to_owned(), false), ("child done".to_owned(), false)]);
    let inherited: u64 = played.outcome.rows.iter().find(|row| &*row.path == "/2").map_or(0, |row| row.input.get(Origin::Inherited));
    assert!(inherited > 0);
}

#[test]
fn full_copy_by_each_rule() {
    let first = ["earlier", "handing on", "read()", "delegate()", "42", "child done", "root done"];
    let check = |rule: Rule, rest: &[&str]| check_full_copy(rule, &[&first, rest].concat());
    check(Rule::DropCall, &["go", "handing on", "task a"]);
    check(Rule::PopMessage, &["go", "task a"]);
    check(Rule::FinishedTurn, &["task a"]);
    check(Rule::Placeholder, &["go", "handing on", "read()", "delegate()", PLACEHOLDER, PLACEHOLDER, "task a"]);
    check(Rule::Forward, &["go", "handing on", "read()", "delegate()", "task a"]);
    check_full_copy(Rule::DropTools, &["earlier", "handing on", "root done", "go", "handing on", "task a"]);
}

/// A copy with placeholders begins exactly as its parent's own request did.
#[test]
fn a_placeholder_copy_shares_its_parents_prefix() {
    let played = play(&FullCopy { in_flight: Rule::Placeholder }, one_delegation, &["earlier", "go"]);
    let parent = &played.of("/")[2].items;
    let child = &played.of("/2")[0].items;
    assert!(parent.len() > 5 && parent.iter().zip(child).all(|(one, other)| one.shares_body(other)));
}

#[test]
fn full_copy_tells_failures_apart_from_answers() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match request.path {
            "/" => one_delegation(request),
            _ => Err("no network".into()),
        }
    }
    let played = play(&FullCopy::default(), script, &["go"]);
    assert_eq!(played.outcome.failure, None);
    assert_eq!(played.results(0), [("Error: the sub-agent failed: no network".to_owned(), true)]);

    fn silent(request: &Request<'_>) -> Result<Reply, String> {
        match request.path {
            "/" => one_delegation(request),
            _ => say(""),
        }
    }
    let played = play(&FullCopy::default(), silent, &["go"]);
    assert_eq!(played.results(0), [("Error: the sub-agent ended without any text.".to_owned(), true)]);
}

fn opencode(background: bool) -> OpenCode {
    OpenCode { background, ..OpenCode::default() }
}

#[test]
fn opencode_children_run_at_once_and_return_in_call_order() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match (request.path, request.exchange) {
            ("/", 0) => calls("secret-history", vec![delegate(request, "a"), delegate(request, "b")]),
            ("/", _) => say("root done"),
            // The first child is the slower one.
            ("/1", 0) => calls("child reads", vec![read()]),
            (path, _) => say(format!("answer of {path}")),
        }
    }
    let played = play(&opencode(false), script, &["go secret-history"]);
    assert_eq!(played.outcome.failure, None);
    for (path, task) in [("/1", "task a"), ("/2", "task b")] {
        let first = played.of(path)[0];
        assert_eq!(
            (first.items.len(), first.short(), &first.tools[..]),
            (1, vec![task.to_owned()], &["read".to_owned(), "list".to_owned()][..])
        );
    }
    assert!(played.sent.iter().filter(|sent| sent.path != "/").all(|sent| !format!("{:?}", sent.items).contains("secret-history")));
    let starts: Vec<u64> =
        ["/1", "/2"].map(|path| played.outcome.rows.iter().find(|row| &*row.path == path).map_or(0, |row| row.sent_ms)).into();
    assert_eq!(starts, [10, 10]);
    let texts: Vec<String> = played.results(0).into_iter().map(|(text, _)| text.lines().nth(2).unwrap_or_default().to_owned()).collect();
    assert_eq!(texts, ["answer of /1", "answer of /2"]);
}

#[test]
fn opencode_resumes_a_child_with_its_own_history() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match (request.path, request.turn, request.exchange) {
            ("/", 1, 0) => calls("", vec![delegate(request, "a")]),
            ("/", 2, 0) => calls("", vec![go_on(request, "a", "and the rest?")]),
            ("/", ..) => say("root done"),
            (_, turn, _) => say(format!("answer {turn}")),
        }
    }
    let played = play(&opencode(false), script, &["go", "more"]);
    assert_eq!(played.outcome.failure, None);
    assert_eq!(played.of("/1")[1].short(), ["task a", "answer 1", "and the rest?"]);
    assert_eq!(played.outcome.threads.len(), 2);
    assert!(played.results(0)[1].0.contains("\nanswer 2\n"));
    assert_eq!(played.outcome.delegations.iter().map(|one| one.opened).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn opencode_refuses_below_its_depth_and_reports_failures() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match (request.path, request.exchange) {
            ("/", 0) => calls("", vec![delegate(request, "a"), delegate(request, "b")]),
            ("/", _) => say("root done"),
            ("/1", 0) => {
                assert!(request.delegate(&intent("c")).is_none(), "the tool is not shown");
                let args = r#"{"description":"d","prompt":"p","subagent_type":"explorer"}"#;
                calls("", vec![CallDraft::tool("task", args)])
            }
            ("/1", _) => say("did it myself"),
            _ => Err("mock bad request".into()),
        }
    }
    let played = play(&opencode(false), script, &["go"]);
    assert_eq!(played.outcome.failure, None);
    let refusal = "Subagent depth limit reached (1). Increase \"subagent_depth\" to allow nested subagents.";
    assert_eq!(played.results(1), [(refusal.to_owned(), true)]);
    assert_eq!((played.outcome.refusals, played.outcome.threads.len()), (1, 3));
    let results = played.results(0);
    assert!(!results[0].1 && results[0].0.contains("\ndid it myself\n"));
    assert!(results[1].1 && results[1].0.starts_with("Subagent failed (task_id: ses_") && results[1].0.ends_with("): mock bad request"));
}

#[test]
fn opencode_background_notices_open_turns() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match (request.path, request.turn, request.exchange) {
            ("/", 1, 0) => calls("", vec![delegate(request, "a")]),
            ("/", 1, 1) => calls("", vec![go_on(request, "a", "also this")]),
            ("/", turn, _) => say(format!("root ends turn {turn}")),
            (_, _, 0) => calls("", vec![read()]),
            (_, turn, _) => say(format!("answer {turn}")),
        }
    }
    let played = play(&opencode(true), script, &["go"]);
    assert_eq!(played.outcome.failure, None);
    let root = played.outcome.history_of(ThreadId::ROOT);
    let told: Vec<String> = root
        .iter()
        .filter(|item| item.origin == Origin::Delegated)
        .map(|item| {
            item.text().lines().filter(|line| line.starts_with("<summary>") || line.starts_with("answer")).collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(
        told,
        [
            "<summary>Background task started</summary>",
            "<summary>Background task updated</summary>",
            // One notice for both, with the last answer.
            "<summary>Background task completed: look a</summary> answer 2",
        ]
    );
    // The root had ended its turn; the notice opened another.
    assert_eq!(played.outcome.answer(), "root ends turn 2");
    assert!(matches!(&heard(root)[..], [_, last] if last.news.len() == 1));
    assert_eq!(played.of("/1")[2].short(), ["task a", "read()", "42", "answer 1", "also this"]);
}

#[test]
fn opencode_drops_what_is_queued_behind_a_failure() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match (request.path, request.turn, request.exchange) {
            ("/", 1, 0) => calls("", vec![delegate(request, "a")]),
            ("/", 1, 1) => calls("", vec![go_on(request, "a", "also this")]),
            ("/", ..) => say("root ends"),
            (_, _, 0) => calls("", vec![read()]),
            _ => Err("broken".into()),
        }
    }
    let played = play(&opencode(true), script, &["go"]);
    assert_eq!(played.outcome.failure, None);
    assert_eq!(played.of("/1").len(), 2, "the second prompt is never sent");
    let root = played.outcome.history_of(ThreadId::ROOT);
    let notices: Vec<&Item> = root.iter().filter(|item| item.text().contains("Background task failed: look a")).collect();
    assert!(matches!(&notices[0].means[..], [Means::Failed(Some(_))]) && notices.len() == 1);
}

#[test]
fn opencode_saves_what_it_cuts_where_the_parent_can_read_it() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match (request.path, request.exchange) {
            ("/", 0) => calls("", vec![delegate(request, "a")]),
            ("/", 1) => {
                let text = request.items.last().map(Item::text).unwrap_or_default();
                let path = text.split_once("saved to: ").and_then(|(_, rest)| rest.lines().next()).unwrap_or_default();
                calls("", vec![CallDraft::tool("read", serde_json::json!({ "path": path }).to_string())])
            }
            ("/", _) => say("root done"),
            _ => say((0..3000).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n")),
        }
    }
    let played = play(&opencode(false), script, &["go"]);
    assert_eq!(played.outcome.failure, None);
    let root = &played.of("/")[2].items;
    let (cut, whole) = (root[2].text(), root[4].text());
    assert!(cut.contains("\n\n...1004 lines truncated...\n\n") && !cut.contains("line 2999"));
    assert!(whole.starts_with("<task id=\"ses_") && whole.ends_with("line 2999\n</task_result>\n</task>"));
}

/// Every built-in strategy, every option: twice the same, and nobody breaks a rule of the seam.
#[test]
fn equal_runs_are_equal() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        if request.path != "/" {
            return if request.exchange == 0 { calls("child reads", vec![read()]) } else { say("child done") };
        }
        match (request.turn, request.exchange, request.delegate(&intent("a")).is_some()) {
            (1, 0, true) => calls("both", vec![delegate(request, "a"), read(), delegate(request, "b")]),
            (1, 0, false) => calls("alone", vec![read()]),
            _ => say("root done"),
        }
    }
    let registry = Registry::builtin();
    let specs = registry.list().iter().flat_map(|one| {
        let options = one.options.iter().flat_map(|option| option.words.iter().map(|word| format!("{}:{}={word}", one.id, option.key)));
        std::iter::once(one.id.to_owned()).chain(options).collect::<Vec<_>>()
    });
    for choice in specs.flat_map(|spec| registry.parse(&spec).expect("made of what is listed")) {
        let strategy: Arc<dyn Strategy> = choice.build();
        let runs = [0, 1].map(|_| play(&*strategy, script, &["go", "more"]));
        assert_eq!(runs[0].outcome.failure, None, "{choice}");
        assert_eq!(format!("{:?}", runs[0].outcome), format!("{:?}", runs[1].outcome), "{choice}");
        let children = match (choice.id(), choice.option("session")) {
            ("inline", _) => 0,
            (_, "kept") => 1,
            _ => 2,
        };
        assert_eq!(runs[0].outcome.threads.len(), 1 + children, "{choice}");
    }
}
