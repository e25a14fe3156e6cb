//! The engine's first breath: a run without delegation, every figure by hand.

use futures_util::FutureExt;

use super::*;
use crate::ledger::Outcome;
use crate::model::profile::FRONTIER;
use crate::model::{CallDraft, FailedAttempt, ModelError, Pending, Reply, Request, Took, ready};
use crate::scenario::{ScenarioWorld, ToolBehaviour};
use crate::strategy::scaffold::{Piece, Tools};
use crate::strategy::{Act, AgentSpec, Call, Inline, ParentView, Route, ToolSpec, View};
use crate::tokens::{CountError, TokenCounter};
use crate::transcript::{Part, ToolCall};

/// Counts one token a byte, so that figures can be checked by eye.
struct Bytes;

impl TokenCounter for Bytes {
    fn count(&self, text: &str) -> Result<u64, CountError> {
        Ok(text.len() as u64)
    }
    fn id(&self) -> &'static str {
        "bytes"
    }
}

/// Reads `a` and `b` at once, then answers with the number of items that it saw.
struct TwoReads;

impl Agent for TwoReads {
    fn reply(&mut self, request: &Request<'_>) -> Pending {
        let mut reply = match request.exchange {
            0 => Reply {
                text: "hm".into(),
                calls: vec![CallDraft::tool("read", r#"{"path":"a"}"#), CallDraft::tool("read", r#"{"path":"b"}"#)],
                ..Reply::default()
            },
            _ => Reply::say(format!("{} items", request.items.len())),
        };
        reply.took = Took::Ms(10);
        ready(Ok(reply))
    }
}

fn play(ceilings: Ceilings, window: Option<u64>) -> Outcome {
    play_with(&Inline, ceilings, window)
}

fn play_with(strategy: &dyn Strategy, ceilings: Ceilings, window: Option<u64>) -> Outcome {
    play_as(Box::new(TwoReads), strategy, ceilings, window)
}

fn play_as(agent: Box<dyn Agent>, strategy: &dyn Strategy, ceilings: Ceilings, window: Option<u64>) -> Outcome {
    let player = agent;
    let files = [("a".to_owned(), "A".to_owned()), ("b".to_owned(), "BB".to_owned())].into();
    let tools = [("read".to_owned(), ToolBehaviour::ReadFile { ms: 5 })].into();
    let agent = AgentSpec {
        system: Some(Part::from("sys")),
        tools: vec![ToolSpec { name: "read".into(), schema: Part::from("{}") }],
        ..AgentSpec::default()
    };
    let context = RunContext { root: "root".into(), agents: [("root".to_owned(), agent)].into(), ..RunContext::default() };
    let user = |text: &str| UserInput { when: UserTime::Settled, items: vec![Item::user(Origin::User, text)] };
    run(Run {
        strategy,
        agent: player,
        context,
        history: vec![],
        user: vec![user("go"), user("more")],
        world: Box::new(ScenarioWorld::new(files, tools)),
        meter: Meter::new(Arc::new(Bytes)),
        ceilings,
        window,
        latency: FRONTIER,
        cache: None,
        children: None,
    })
    .now_or_never()
    .unwrap_or_default()
}

#[test]
fn a_run_without_delegation() {
    let outcome = play(Ceilings::default(), None);
    assert_eq!(outcome.failure, None);
    let rows: Vec<(u32, u32, u64, Option<u64>)> = outcome.rows.iter().map(|r| (r.turn, r.exchange, r.sent_ms, r.done_ms)).collect();
    assert_eq!(rows, [(1, 0, 0, Some(10)), (1, 1, 15, Some(25)), (2, 0, 25, Some(35)), (2, 1, 40, Some(50))]);
    // system: frame 3 + header 6 + text 3 + reply frame 3 = 15; tools: 3 + 4 + 2 = 9; user: 3 + 4 + 2 = 9.
    assert_eq!(outcome.rows[0].input.total(), 33);
    assert_eq!(outcome.rows[0].input.get(Origin::System), 15);
    // text: 3 + 9 + 2 = 14; each call: 3 + 27 ("assistant to=functions.read") + 12 = 42.
    assert_eq!(outcome.rows[0].output, 14 + 42 + 42);
    // results: 3 + 4 + 1 and 3 + 4 + 2.
    assert_eq!(outcome.rows[1].input.total(), 33 + 98 + 8 + 9);
    assert_eq!(outcome.rows[1].moved, 98 + 8 + 9 + 3);
    assert_eq!(outcome.answer(), "13 items");
    assert_eq!((outcome.span_ms, outcome.tools_ms, outcome.critical_path_ms), ((0, 50), 20, 50));
}

/// The same, but its first request is answered at the third attempt, and its third by nobody.
struct Troubled;

impl Agent for Troubled {
    fn reply(&mut self, request: &Request<'_>) -> Pending {
        let reported = Some(crate::model::Usage { output: Some(7), ..Default::default() });
        let failed = vec![FailedAttempt { ms: 4, then_ms: 6, reported }, FailedAttempt { ms: 2, then_ms: 3, reported: None }];
        match (request.turn, request.exchange) {
            (1, 0) => {
                let reply = TwoReads.reply(request).now_or_never().expect("it is ready");
                ready(reply.map(|reply| Reply { attempts: failed, ..reply }))
            }
            (2, 0) => ready(Err(ModelError { ms: 9, attempts: failed[..1].to_vec(), ..ModelError::of_turn("gone") })),
            _ => TwoReads.reply(request),
        }
    }
}

#[test]
fn each_attempt_is_a_row_at_its_own_time() {
    let outcome = play_as(Box::new(Troubled), &Inline, Ceilings::default(), None);
    let row = |r: &Row| (r.turn, r.attempt, r.sent_ms, r.done_ms, r.fate);
    let rows: Vec<_> = outcome.rows.iter().map(row).collect();
    let expect = [
        (1, 1, 0, Some(4), Fate::Failed),
        (1, 2, 10, Some(12), Fate::Failed),
        (1, 3, 15, Some(25), Fate::Replied),
        (1, 1, 30, Some(40), Fate::Replied),
        (2, 1, 40, Some(44), Fate::Failed),
        (2, 2, 50, Some(59), Fate::Failed),
    ];
    assert_eq!(rows, expect);
    // The same request three times, each paid for; what the first reported is its own.
    let inputs: Vec<u64> = outcome.rows.iter().map(|row| row.input.total()).collect();
    assert_eq!((inputs[0], inputs[1], inputs[2]), (33, 33, 33));
    let reported: Vec<Option<u64>> = outcome.rows.iter().map(|row| row.reported.and_then(|usage| usage.output)).collect();
    assert_eq!(reported, [Some(7), None, None, None, Some(7), None]);
    assert_eq!(outcome.rows.iter().map(|row| row.seq).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(outcome.failure.as_ref().map(|failure| (failure.kind, failure.message.as_str())), Some((FailureKind::Model, "gone")));
}

#[test]
fn ceilings_and_window_end_the_run() {
    let rounds = play(Ceilings { rounds: 1, ..Ceilings::default() }, None);
    assert_eq!(rounds.failure.as_ref().map(|f| f.kind), Some(FailureKind::Limit));
    assert_eq!(rounds.rows.len(), 1);
    let tokens = play(Ceilings { tokens: 100, ..Ceilings::default() }, None);
    assert_eq!(tokens.failure.as_ref().map(|f| f.kind), Some(FailureKind::Limit));
    let window = play(Ceilings::default(), Some(40));
    assert_eq!(window.failure.as_ref().map(|f| f.kind), Some(FailureKind::Overflow));
    assert_eq!((window.rows.len(), window.rows[1].overflow, window.rows[1].fate), (2, true, Fate::Failed));
}

/// `inline` with what a real client sends: a system text and two tools, as sizes.
struct Sized;

impl Strategy for Sized {
    fn id(&self) -> String {
        "sized@1".into()
    }
    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(SizedSession(Inline.start(run)))
    }
}

struct SizedSession(Box<dyn Session>);

impl Session for SizedSession {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        self.0.phrase(act)
    }
    fn view(&mut self, history: &[Item], at: &Scope<'_>) -> View {
        let view = self.0.view(history, at);
        let tools = Tools { count: 2, tokens: 50 }.measured(view.tools);
        View { system: Some(Piece { kind: "base", chars: 400, tokens: 100 }.part()), tools, ..view }
    }
    fn route(&mut self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Route {
        self.0.route(call, parent, at)
    }
}

#[test]
fn what_a_real_client_sends_is_counted_as_its_scaffold() {
    let outcome = play_with(&Sized, Ceilings::default(), None);
    assert_eq!(outcome.failure, None);
    let input = outcome.rows[0].input;
    // The reply frame alone is `system`; system: frame 3 + header 6 + 100; two tools: 3 + 4 each, and 50.
    assert_eq!((input.get(Origin::System), input.get(Origin::Tools), input.get(Origin::Scaffold)), (3, 0, 109 + 14 + 50));
    assert_eq!(outcome.answer(), "13 items");
}
