//! What the client sends beside the history, as it was measured: where it stands in the root's and in the child's requests,
//! what forks make of it, and how large it is. One script of two turns, as in the runs of the real releases.

use std::collections::BTreeMap;

use ctxbench::engine;
use ctxbench::ledger::Outcome;
use ctxbench::model::profile::FRONTIER;
use ctxbench::model::{Agent, CallDraft, Pending, Reply, Request, Took, ready};
use ctxbench::scenario::{ScenarioWorld, ToolBehaviour};
use ctxbench::setting::{Ceilings, UserInput, UserTime};
use ctxbench::strategy::{Act, Intent, RunContext};
use ctxbench::tokens::{Encoding, Meter, counter};
use ctxbench::transcript::{Body, Content, Item, Origin, Part, Phase};
use futures_util::FutureExt;

use crate::hand::run as context;
use crate::play::strategy;

struct Script;

impl Agent for Script {
    fn reply(&mut self, request: &Request<'_>) -> Pending {
        let read = || CallDraft::tool("read", r#"{"path":"notes"}"#);
        let said = |text: &str, calls: Vec<CallDraft>| Reply {
            reasoning: vec!["hm".into()],
            text: text.into(),
            calls,
            took: Took::Ms(10),
            ..Reply::default()
        };
        let intent =
            Intent { id: "read".into(), agent: "lead".into(), title: "read".into(), task: "Read the notes.".into(), background: false };
        let speak = |act: &Act<'_>| vec![CallDraft::phrased((request.speak)(act).expect("the tool is shown"), Some("read"))];
        let told = || ctxbench::transcript::heard(request.items).into_iter().filter_map(|one| one.handle).collect::<Vec<_>>();
        ready(Ok(match (request.path, request.turn, request.exchange) {
            ("/", _, 0) => said("reading", vec![read()]),
            ("/", 2, 1) => said("handing on", speak(&Act::Delegate(&intent))),
            ("/", 2, 2) => said("", speak(&Act::Wait(&told()))),
            ("/", ..) => said("told", vec![]),
            (_, _, 0) => said("child reads", vec![read()]),
            _ => said("child done", vec![]),
        }))
    }
}

fn played(spec: &str, scaffold: bool) -> Outcome {
    let read = [("read".to_owned(), ToolBehaviour::ReadFile { ms: 5 })].into();
    let strategy = strategy(spec);
    let outcome = engine::run(engine::Run {
        strategy: &*strategy,
        agent: Box::new(Script),
        context: RunContext { scaffold, ..context() },
        history: vec![],
        user: ["first", "second"].map(|text| UserInput { when: UserTime::Settled, items: vec![Item::user(Origin::User, text)] }).into(),
        world: Box::new(ScenarioWorld::new(BTreeMap::from([("notes".to_owned(), "42".to_owned())]), read)),
        meter: Meter::new(counter(Encoding::O200kBase)),
        ceilings: Ceilings::default(),
        window: None,
        latency: FRONTIER,
        cache: None,
        children: None,
    });
    let outcome = outcome.now_or_never().expect("a script awaits nothing");
    assert_eq!(outcome.failure, None, "{spec}");
    outcome
}

/// A part in short: the kind of an opaque one without its maker, or what it is worth telling of a text.
fn part(part: &Part) -> String {
    match part.content() {
        Content::Opaque { kind, .. } => kind.trim_start_matches("codex/").to_owned(),
        _ => part.as_text().to_owned(),
    }
}

/// An item in short.
fn short(item: &Item) -> String {
    let parts = || item.parts().iter().map(part).collect::<Vec<_>>().join("+");
    match item.body() {
        Body::Message { phase: Some(Phase::Commentary), .. } if item.origin == Origin::Task => "task JSON".to_owned(),
        Body::Message { role, .. } if item.parts().iter().any(|part| matches!(part.content(), Content::Opaque { .. })) => {
            format!("{} {}", role.name(), parts())
        }
        Body::Message { phase: Some(Phase::Commentary), .. } => format!("commentary {}", parts()),
        Body::Message { .. } => parts(),
        Body::Reasoning { .. } => "reasoning".to_owned(),
        Body::Call(call) => format!("{}()", call.name),
        Body::Result { .. } if item.text() == "aborted" => "aborted".to_owned(),
        Body::Result { .. } => "result".to_owned(),
        Body::Mail { .. } => "task mail".to_owned(),
        Body::Compaction { .. } | Body::Context { .. } => unreachable!("no request holds it"),
    }
}

fn first_request(outcome: &Outcome, path: &str) -> (Option<String>, usize, Vec<String>) {
    let row = outcome.rows.iter().find(|row| &*row.path == path).unwrap_or_else(|| panic!("{path} was sent nothing"));
    let items = outcome.items_of(row);
    let shown = items.iter().filter(|item| item.is_sent()).map(short).collect();
    (row.sent.system.as_ref().map(part), row.sent.tools.len(), shown)
}

/// The child's first request, item by item; `;` between items. `base`: the base prompt is the field `instructions`.
fn check_child(spec: &str, base: bool, tools: usize, expect: &str) {
    let (system, shown, items) = first_request(&played(spec, true), "/1");
    assert_eq!(items.join("; "), expect, "{spec}");
    assert_eq!((system.as_deref(), shown), (base.then_some("base"), tools), "{spec}");
}

#[test]
fn what_a_child_is_sent_first() {
    let bundle = "developer skills+permissions";
    let env = "user environment";
    let hint = "developer child_usage_hint";
    let mode = "developer mode";
    // v1.
    check_child("codex-v1@0.171:fork_context=false", false, 8, &format!("developer base; {bundle}; {env}; Read the notes."));
    let kept = "first; told; second";
    let v1 = format!("developer base; {bundle}; {env}; {kept}; Read the notes.");
    check_child("codex-v1@0.171:fork_context=true", false, 8, &v1);
    check_child("codex-v1@source-2026-08:fork_context=true", false, 8, &v1);
    // v2, verbatim: any number acts as all.
    let turn = "reasoning; commentary reading; read(); result";
    let verbatim = format!(
        "developer base; {bundle}; developer usage_hint; {mode}; {env}; first; {turn}; reasoning; told; second; {turn}; \
         reasoning; commentary handing on; spawn_agent(); aborted; developer child_note; {hint}; {mode}; task mail"
    );
    for turns in ["", ":fork_turns=all", ":fork_turns=1"] {
        check_child(&format!("codex-v2@0.171{turns}"), false, 8, &verbatim);
    }
    check_child("codex-v2@0.171:fork_turns=none", false, 8, &format!("developer base; {bundle}; {hint}; {mode}; {env}; task mail"));
    // v2, filtered, a number acts as all.
    let filtered = format!("developer base; {bundle}; {env}; {kept}; {hint}; {mode}; task mail");
    for turns in ["all", "1"] {
        check_child(&format!("codex-v2@0.163:fork_turns={turns}"), false, 8, &filtered);
    }
    check_child("codex-v2@0.163:fork_turns=none", false, 8, &format!("developer base; {bundle}; {hint}; {mode}; {env}; task mail"));
    // v2, filtered, a number is honoured and the context is built anew.
    for profile in ["0.160", "source-2026-08"] {
        let spec = |turns: &str| format!("codex-v2@{profile}:fork_turns={turns}");
        check_child(&spec("all"), true, 8, &format!("{bundle}; {env}; {kept}; {hint}; {mode}; task mail"));
        check_child(&spec("1"), true, 8, &format!("second; {bundle}; {hint}; {mode}; {env}; task mail"));
        check_child(&spec("none"), true, 8, &format!("{bundle}; {hint}; {mode}; {env}; task mail"));
    }
    // The mode stays in its place, and is not written again.
    let old = "developer permissions+skills";
    check_child("codex-v2@0.145:fork_turns=all", true, 10, &format!("{old}; {mode}; {env}; {kept}; {hint}; task mail"));
    check_child("codex-v2@0.145:fork_turns=1", true, 10, &format!("second; {old}; {hint}; {mode}; {env}; task mail"));
    check_child("codex-v2@0.145:fork_turns=none", true, 10, &format!("{old}; {hint}; {mode}; {env}; task mail"));
    // Bundle and environment again behind a full fork; no hint and no mode exist.
    check_child("codex-v2@0.130:fork_turns=all", true, 12, &format!("{old}; {env}; {kept}; {old}; {env}; task JSON"));
    check_child("codex-v2@0.130:fork_turns=1", true, 12, &format!("second; {old}; {env}; task JSON"));
    check_child("codex-v2@0.130:fork_turns=none", true, 12, &format!("{old}; {env}; task JSON"));
}

#[test]
fn what_the_root_is_sent_first() {
    let check = |spec: &str, base: bool, tools: usize, expect: &str| {
        let outcome = played(spec, true);
        let (system, shown, items) = first_request(&outcome, "/");
        assert_eq!(items.join("; "), expect, "{spec}");
        assert_eq!((system.as_deref(), shown), (base.then_some("base"), tools), "{spec}");
        // It stands in the history from then on.
        let last = outcome.rows_of(ctxbench::strategy::ThreadId::ROOT).next_back().expect("it was sent something");
        let kept: Vec<String> = outcome.items_of(last).iter().filter(|item| item.is_sent()).map(short).collect();
        assert_eq!(kept[..items.len()], items, "{spec}");
    };
    let bundle = "developer skills+permissions";
    let (hint, mode, env) = ("developer usage_hint", "developer mode", "user environment");
    // The scenario's tools and the protocol's are six and seven; where the client shows more, opaque ones fill up.
    check("codex-v1@0.171", false, 9, &format!("developer base; {bundle}; {env}; first"));
    check("codex-v2@0.171", false, 9, &format!("developer base; {bundle}; {hint}; {mode}; {env}; first"));
    check("codex-v2@0.163", false, 9, &format!("developer base; {bundle}; {hint}; {mode}; {env}; first"));
    check("codex-v2@0.160", true, 9, &format!("{bundle}; {hint}; {mode}; {env}; first"));
    check("codex-v2@0.145", true, 10, &format!("developer permissions+skills; {hint}; {mode}; {env}; first"));
    check("codex-v2@0.130", true, 12, &format!("developer permissions+skills; {env}; first"));
}

/// Sizes as measured. An item has a frame of 3 tokens and its header, a system text and a tool as well.
#[test]
fn how_large_it_is() {
    let check = |spec: &str, path: &str, expect: u64| {
        let outcome = played(spec, true);
        let row = outcome.rows.iter().find(|row| &*row.path == path).expect("it was sent something");
        assert_eq!(row.input.get(Origin::Scaffold), expect, "{spec} {path}");
        assert_eq!((row.input.get(Origin::Tools), row.unknown_parts), (0, 0));
    };
    let header = |name: &str| u64::from(Meter::new(counter(Encoding::O200kBase)).text(name).expect("it is counted")) + 3;
    let (developer, user, system, tool) = (header("developer"), header("user"), header("system"), header("tool"));
    let base = 3523;
    let bundle = 466 + 68;
    check("codex-v2@0.171", "/", 4 * developer + user + base + bundle + 493 + 52 + 87 + 3343 + 9 * tool);
    // What is inherited is history; a verbatim child brings a note, its hint and the mode.
    check("codex-v2@0.171", "/1", 3 * developer + 67 + 480 + 52 + 1747 + 8 * tool);
    check("codex-v2@0.171:fork_turns=none", "/1", 4 * developer + user + base + bundle + 480 + 52 + 87 + 1747 + 8 * tool);
    check("codex-v2@0.160", "/", system + base + 3 * developer + user + 448 + 68 + 498 + 52 + 87 + 3094 + 9 * tool);
    check("codex-v2@0.145", "/1", system + 4365 + developer + 468 + 3291 + 10 * tool);
    check("codex-v1@0.171", "/1", 2 * developer + user + base + bundle + 87 + 1747 + 8 * tool);
}

#[test]
fn without_it_nothing_of_it_is_sent() {
    for spec in ["codex-v1:fork_context=true", "codex-v2@0.171", "codex-v2@0.160", "codex-v2@0.145", "codex-v2@0.130:fork_turns=all"] {
        let outcome = played(spec, false);
        for row in &outcome.rows {
            assert_eq!(row.input.get(Origin::Scaffold), 0, "{spec}");
            let opaque = |item: &Item| item.parts().iter().any(|part| matches!(part.content(), Content::Opaque { .. }));
            assert!(!outcome.items_of(row).iter().any(opaque), "{spec}");
        }
    }
}
