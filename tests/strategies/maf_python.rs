//! `maf-python` in both profiles: names (those of its own tests), what ends the run of a caller, agents without tools.

use ctxbench::model::{CallDraft, Reply, Request};
use ctxbench::strategy::maf::python::{PROFILES, Profile};
use ctxbench::strategy::maf::{Application, AsTool, name};
use ctxbench::strategy::{End, MafPython, Strategy, ThreadId};
use ctxbench::transcript::{CallKey, Item, Means, Origin};

use crate::hand::{Tree, call, reply, run};
use crate::runs::{calls, delegate, play, say};

const ROOT: ThreadId = ThreadId::ROOT;

fn of(profile: &'static Profile, detailed_errors: bool) -> MafPython {
    MafPython { profile, application: Application { detailed_errors, ..Application::default() }, ..MafPython::default() }
}

#[test]
fn names_of_tools() {
    let check = |agent: &str, expect: &str| assert_eq!(name::python(agent), expect, "{agent}");
    check("Invoice & Billing Agent", "Invoice_Billing_Agent");
    check("Agent___Multiple___Underscores", "Agent_Multiple_Underscores");
    check("123Agent", "_123Agent");
    check("@@@", "agent");
    check("研究", "agent");
    check("", "agent");
    check("My-Agent", "My_Agent");
    check("_x_", "x");
    check("Sub Agent!", "Sub_Agent");
}

#[test]
fn the_profiles() {
    let names: Vec<String> = PROFILES.iter().map(|profile| of(profile, false).id()).collect();
    assert_eq!(names, ["maf-python@1.23.0", "maf-python@2026-08"]);
}

/// A child that ends like this: what its call is answered, and how its caller's run ends.
fn ended(strategy: &MafPython, end: &End, items: &[Item]) -> (String, Option<End>) {
    let (mut session, mut tree) = (strategy.start(&run()), Tree::new("lead"));
    let one = call(0, "explorer", r#"{"task":"do it"}"#);
    tree.route(&mut *session, ROOT, &one);
    let (child, _) = tree.opened(&mut *session, ROOT, &one, "explorer");
    let orders = tree.ended(&mut *session, child, &one, end, items);
    let (text, failed, means) = reply(&orders);
    assert!(failed && means == [Means::Failed(None)]);
    let history = [Item::call(one), Item::result(CallKey(0), Origin::Delegated, text.as_str(), true)];
    (text, session.view(&history, &tree.scope(ROOT, 0)).stop)
}

#[test]
fn what_leaves_the_callers_run() {
    let [new, august] = &PROFILES;
    let approval = End::Stopped("function_approval_request".into());
    let consent = End::Stopped("oauth_consent_request".into());
    let both = End::Stopped("function_approval_request, oauth_consent_request".into());
    let asks = Some(End::Stopped("UserInputRequiredException".into()));
    let check = |profile, end: &End, expect: Option<End>| assert_eq!(ended(&of(profile, false), end, &[]).1, expect, "{end:?}");
    for profile in [new, august] {
        check(profile, &consent, asks.clone());
        check(profile, &both, asks.clone());
        check(profile, &End::Aborted, Some(End::Failed("CancelledError".into())));
        check(profile, &End::Failed("boom".into()), None);
    }
    check(new, &approval, None);
    check(august, &approval, asks);
}

#[test]
fn why_an_approval_is_an_error() {
    let approval = End::Stopped("function_approval_request".into());
    let asked: Vec<Item> = [call(7, "write", "{}"), call(8, "run", "{}"), call(9, "read", "{}"), call(10, "run", "{}")]
        .into_iter()
        .map(Item::call)
        .chain([Item::result(CallKey(9), Origin::ToolResult, "42", false)])
        .collect();
    let check = |items: &[Item], names: &str| {
        let (text, _) = ended(&of(&PROFILES[0], true), &approval, items);
        let begin = format!(
            "Error: Function failed. Exception: Agent tool 'explorer' cannot continue because its sub-agent requested approval for {names}. "
        );
        assert!(text.starts_with(&begin), "{text}");
        // The product's advice is as long, in other words: 289 characters in all for these two names.
        assert!((245..=333).contains(&text.len()), "{} characters", text.len());
        assert_eq!(ended(&of(&PROFILES[0], false), &approval, items).0, "Error: Function failed.");
    };
    check(&asked, "run, write");
    check(&[], "<unknown>");
}

/// An agent without tools is not run in the loop that makes calls: its first reply is its last.
#[test]
fn an_agent_without_tools_calls_nothing() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match (request.path, request.exchange) {
            ("/", 0) => {
                let mut draft = delegate(request, "a");
                draft.name = "writer".into();
                calls("", vec![draft])
            }
            ("/", _) => say("root ends"),
            _ => calls("looking", vec![CallDraft::tool("nope", "{}")]),
        }
    }
    let played = play(&MafPython::default(), script, &["go"]);
    assert_eq!(played.outcome.failure, None);
    assert_eq!(played.results(0), [("looking".to_owned(), false)]);
    assert_eq!((played.of("/1").len(), played.outcome.rows[1].cut), (1, 1));
}

#[test]
fn an_agent_that_cannot_be_offered_is_not() {
    let mut strategy = MafPython::default();
    strategy.application.tools.insert("explorer".into(), AsTool::default());
    let tools = strategy.start(&run()).view(&[], &Tree::new("lead").scope(ROOT, 0)).tools;
    assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["read", "writer"]);
}
