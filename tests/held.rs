//! Recorded sessions played again, through the engine.

use std::path::{Path, PathBuf};

use ctxbench::engine;
use ctxbench::import::{Options, import};
use ctxbench::ledger::Outcome;
use ctxbench::model::held::{Held, HeldError, growth_error};
use ctxbench::model::profile::FRONTIER;
use ctxbench::model::{Agent, Model, Request};
use ctxbench::setting::Ceilings;
use ctxbench::strategy::{
    Act, Call, Event, FullCopy, Inline, New, OpenCode, Order, ParentView, Route, RunContext, Scope, Session, Strategy, ThreadId, ToolSpec,
    View, When,
};
use ctxbench::tokens::{Encoding, Meter, counter};
use ctxbench::transcript::{Body, Handle, Item, Means, Origin, Outcome as Stands, ToolCall, dangling, heard};
use futures_util::FutureExt;
use proptest::prelude::{ProptestConfig, prop, proptest};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recordings/claude-code").join(name)
}

fn shared(what: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("CTXBENCH_SHARED");
    if folder.is_none() {
        eprintln!("SKIPPED: the environment variable CTXBENCH_SHARED is not set, so `{what}` is not played");
    }
    folder.map(|folder| Path::new(&folder).join(what))
}

fn held(path: &Path) -> Result<Held, HeldError> {
    Held::new(&import(&[path.to_owned()], &Options::default()).expect("the path exists"), 0)
}

fn play(held: &Held, strategy: &dyn Strategy) -> Outcome {
    let run = engine::Run {
        strategy,
        agent: held.start(0),
        context: held.context(),
        history: held.history(),
        user: held.user(),
        world: held.world(),
        meter: Meter::new(counter(Encoding::O200kBase)),
        ceilings: Ceilings::default(),
        window: None,
        latency: FRONTIER,
        cache: None,
        children: None,
    };
    let outcome = engine::run(run).now_or_never().expect("a held model is ready at once");
    assert_eq!(outcome.failure, None);
    outcome
}

/// Rows by thread, synthetic ones behind a `+`: `/:3 /1:2+1`.
fn rows(outcome: &Outcome) -> String {
    let line = |thread: &ctxbench::ledger::ThreadRecord| {
        let (made, told): (Vec<_>, Vec<_>) = outcome.rows_of(thread.id).partition(|row| row.synthetic);
        let synthetic = if made.is_empty() { String::new() } else { format!("+{}", made.len()) };
        format!("{}:{}{synthetic}", thread.path, told.len())
    };
    outcome.threads.iter().map(line).collect::<Vec<_>>().join(" ")
}

/// A thread's last request and what came behind it, in short.
fn history(outcome: &Outcome, thread: u32) -> Vec<String> {
    let short = |item: &Item| match item.body() {
        Body::Call(call) => format!("{}()", call.name),
        Body::Reasoning { .. } => "reasoning".into(),
        Body::Result { failed, .. } => format!("={}{}", item.text(), if *failed { "!" } else { "" }),
        _ => item.text(),
    };
    outcome.history_of(ThreadId(thread)).iter().map(short).collect()
}

fn check(name: &str, strategy: &dyn Strategy, expect: &str) -> Outcome {
    let held = held(&fixture(name)).expect("it can be played");
    let outcome = play(&held, strategy);
    assert_eq!(rows(&outcome), expect, "{name} under {}", strategy.id());
    for thread in &outcome.threads {
        assert!(dangling(outcome.history_of(thread.id)).is_empty(), "{name} under {}: {}", strategy.id(), thread.path);
    }
    outcome
}

fn opencode(background: bool) -> OpenCode {
    OpenCode { background, ..OpenCode::default() }
}

#[test]
fn inline_splices_the_childrens_steps() {
    // Two of the root's three replies are left (the one that only delegates is not), one of the first child's two, none
    // of the second child's one.
    let outcome = check("inline-two-children.jsonl", &Inline, "/:3");
    let refused = "=<tool_use_error>no agent of that kind</tool_use_error>!";
    let expect =
        ["Check lamp and lens.", "I will send two scouts.", "Task()", refused, "Read()", "=lit", "reasoning", "Lamp and lens are fine."];
    assert_eq!(history(&outcome, 0), expect);
    // 5,000 for the reply, 100 for the refusal, 1,900 and 500 in the child's place, 2,700 for the last reply.
    assert_eq!(outcome.span_ms, (0, 10_200));
    check("folder", &Inline, "/:2");
    check("progress-copies.jsonl", &Inline, "/:2");
    check("nested", &Inline, "/:2");
    // Four of its own and the child's first; the child's last one is its answer.
    check("fork", &Inline, "/:5");
}

#[test]
fn a_protocol_that_blocks_needs_nothing_more() {
    let outcome = check("inline-two-children.jsonl", &opencode(false), "/:3 /1:2 /2:1");
    // Both children begin at 10,000; the longer one takes 1,900 + 500 + 1,500.
    assert_eq!(outcome.span_ms, (0, 16_600));
    // The refused call stays as recorded; the delegations are in the protocol's words and bring the recorded answers.
    let root = history(&outcome, 0);
    assert_eq!(root[2..4], ["Task()".to_owned(), "=<tool_use_error>no agent of that kind</tool_use_error>!".to_owned()]);
    assert_eq!(root[4..6], ["task()".to_owned(), "task()".to_owned()]);
    assert!(root[6].contains("The lamp is lit.") && root[7].contains("The lens is clean."), "{root:?}");
    assert_eq!(history(&outcome, 1), ["Check the lamp.", "Read()", "=lit", "The lamp is lit."]);
    let intents: Vec<_> = outcome.threads.iter().filter_map(|thread| thread.intent.as_deref()).collect();
    assert_eq!(intents, ["c1", "c2"]);
    check("inline-two-children.jsonl", &FullCopy::default(), "/:3 /1:2 /2:1");
    check("folder", &opencode(false), "/:2 /1:2");
    check("progress-copies.jsonl", &opencode(false), "/:2 /1:2");
    check("equal-prompts.jsonl", &opencode(false), "/:2 /1:1 /2:1 /3:1 /4:1");
}

#[test]
fn a_call_beside_a_delegation_does_not_last_as_long_as_the_child() {
    // Beside the delegation (back after 10,000) stand calls of 1,000, of 10,000 and of 10,500: the last two may be nothing
    // but the wait for the child.
    let outcome = check("calls-beside-a-delegation.jsonl", &Inline, "/:3");
    // 2,000 for the reply, 1,000 for its longest call of its own; 2,000 and 5,000 in the child's place, and 2,000.
    assert_eq!(outcome.span_ms, (0, 12_000));
    // The same calls last as long where the child is opened: 2,000, then the child's 2,000 + 5,000 + 2,000, then 2,000.
    let outcome = check("calls-beside-a-delegation.jsonl", &opencode(false), "/:2 /1:2");
    assert_eq!(outcome.span_ms, (0, 13_000));
}

#[test]
fn without_a_wait_the_turn_ends_until_the_notice_comes() {
    // The second child's notice comes first: the root is woken, and ends its turn once more.
    let outcome = check("inline-two-children.jsonl", &opencode(true), "/:3+2 /1:2 /2:1");
    let synthetic: Vec<u64> = outcome.rows.iter().filter(|row| row.synthetic).map(|row| row.done_ms.unwrap_or(0) - row.sent_ms).collect();
    assert_eq!(synthetic, [50, 50]);
    assert!(heard(outcome.history_of(ThreadId::ROOT)).iter().all(|one| one.outcome == Stands::Returned));
}

#[test]
fn a_background_child_is_waited_for_where_the_recording_has_its_answer() {
    // Recorded: a reply that ends the turn, the notice, a reply. Where the answer comes as a notice all is as recorded.
    let outcome = check("fork", &opencode(true), "/:4 /1:2");
    assert_eq!(outcome.rows_of(ThreadId::ROOT).map(|row| row.turn).collect::<Vec<_>>(), [1, 1, 1, 2]);
    // Where the call blocks, the answer is there already, and the turn goes on.
    let outcome = check("fork", &opencode(false), "/:4 /1:2");
    assert_eq!(outcome.rows_of(ThreadId::ROOT).map(|row| row.turn).collect::<Vec<_>>(), [1, 1, 1, 1]);
    // A notice and a message of the user in one turn: the notice comes when it comes, the message when all is quiet.
    check("background-then-user.jsonl", &opencode(true), "/:3+1 /1:0+1");
    check("background-then-user.jsonl", &opencode(false), "/:3 /1:0+1");
    check("background-then-user.jsonl", &Spawning, "/:3+1 /1:0+1");
    // With a call that waits, it stands where the notice stood.
    let outcome = check("fork", &Spawning, "/:4+1 /1:2");
    assert_eq!(outcome.rows_of(ThreadId::ROOT).map(|row| row.synthetic).collect::<Vec<_>>(), [false, false, false, true, false]);
}

#[test]
fn a_protocol_that_spawns_waits() {
    let outcome = check("inline-two-children.jsonl", &Spawning, "/:3+1 /1:2 /2:1");
    assert_eq!(outcome.rows_of(ThreadId::ROOT).map(|row| row.synthetic).collect::<Vec<_>>(), [false, false, true, false]);
    // 5,000 + 100 + 4,900, acknowledged 1 later at the earliest; the wait is over when both are there.
    assert!(history(&outcome, 0).iter().any(|text| text == "=child-1: The lamp is lit. child-2: The lens is clean."));
}

#[test]
fn a_hand_off_plays_the_child_in_the_same_thread() {
    // The child's final text is said: the other agent speaks to the user. Then control goes back.
    let outcome = check("folder", &HandOff, "/:4+1");
    assert_eq!(
        history(&outcome, 0)[2..],
        ["transfer()", "=over to you", "Bash()", "=1 2 3 4 5 6 7", "Seven boats.", "back()", "=back", "There are seven boats."]
    );
}

#[test]
fn children_of_children_and_children_called_again() {
    // OpenCode shows no delegating tool to children: the grandchild's step is done by the child. Its delegating reply
    // and the grandchild's final text are left out.
    let outcome = check("nested", &opencode(false), "/:2 /1:2");
    assert_eq!(history(&outcome, 1), ["Survey it.", "Bash()", "=9 mi", "Surveyed."]);
    let outcome = check("nested", &Spawning, "/:2+1 /1:2+1 /1/1:2");
    assert_eq!(history(&outcome, 2), ["Measure it.", "Bash()", "=9 mi", "Nine miles."]);
    // The second call goes to the same thread, by its name.
    let outcome = check("called-again", &opencode(false), "/:3 /1:2");
    assert_eq!(history(&outcome, 1), ["Write it.", "Written.", "Sign it.", "Signed."]);
    check("called-again", &Inline, "/:1");
}

#[test]
fn input_stands_where_the_recording_has_it() {
    let outcome = check("input-inside-a-turn.jsonl", &Inline, "/:3");
    assert_eq!(history(&outcome, 0), ["Load the skill.", "Skill()", "=loaded", "How to tie a knot.", "Tied.", "Thanks.", "Welcome."]);
    assert_eq!(outcome.rows.iter().map(|row| row.turn).collect::<Vec<_>>(), [1, 1, 2]);
    // The blue branch was rewound and is not played.
    let outcome = check("rewind.jsonl", &Inline, "/:3");
    assert_eq!(history(&outcome, 0)[1..4], ["Red?", "No, green.", "Paint()"]);
    // The first message is lost, its answer is not.
    check("damage/cut-head.jsonl", &Inline, "/:2");
    // A copied history is handed to the root as it stands.
    let outcome = check("copied-session.jsonl", &Inline, "/:1");
    assert_eq!(history(&outcome, 0), ["Old question.", "Old answer.", "New question.", "New answer."]);
    assert_eq!(outcome.history_of(ThreadId::ROOT)[0].origin, Origin::Inherited);
}

#[test]
fn a_missing_child_says_what_it_returned_and_is_not_measured() {
    let held = held(&fixture("missing-child.jsonl")).expect("its parent can be played");
    assert_eq!(held.children(), Err("the recording lacks the exchanges of children: calls k1".into()));
    let error = HeldError::MissingChildren { id: "lighthouse".into(), calls: vec!["k1".into()] };
    assert_eq!(held.without_delegation(), Err(error));
    let outcome = check("missing-child.jsonl", &opencode(false), "/:2 /1:0+1");
    assert_eq!(history(&outcome, 1), ["Ask north.", "All well."]);
    // As long as the recorded call.
    let row = outcome.rows_of(ThreadId(1)).next().expect("one row");
    assert_eq!(row.done_ms.map(|done| done - row.sent_ms), Some(3_000));
}

#[test]
fn what_cannot_be_played_is_named() {
    let check = |name: &str, at: usize, expect: HeldError| {
        let imported = import(&[fixture(name)], &Options::default()).expect("the path exists");
        assert_eq!(Held::new(&imported, at).expect_err("it cannot be played"), expect);
    };
    check("split-absent.jsonl", 0, HeldError::NoReturn { id: "lighthouse".into(), call: "k2".into() });
    check("folder", 1, HeldError::Child { id: "boats-7".into(), parent: "5a5a0000-0000-4000-8000-00000000f01d".into() });
    check("folder", 2, HeldError::NoSession { at: 2, sessions: 2 });
    check("damage/notes.txt", 0, HeldError::NoSession { at: 0, sessions: 0 });
}

#[test]
fn equal_runs_are_equal() {
    let held = held(&fixture("inline-two-children.jsonl")).expect("it can be played");
    for strategy in [&Inline as &dyn Strategy, &opencode(false), &opencode(true), &Spawning, &FullCopy::default()] {
        let [one, other] = [(); 2].map(|()| {
            let outcome = play(&held, strategy);
            outcome.rows.iter().map(|row| (row.path.to_string(), row.sent_ms, row.done_ms, row.input, row.output)).collect::<Vec<_>>()
        });
        assert_eq!(one, other);
    }
}

/// A summary that a strategy asks for is none of the recorded steps, and takes none of them.
#[test]
fn an_aside_takes_no_step() {
    let held = held(&fixture("inline-two-children.jsonl")).expect("it can be played");
    let request = |aside: bool| Request {
        thread: ThreadId::ROOT,
        path: "/",
        turn: 1,
        exchange: 0,
        agent: "root",
        intent: None,
        system: None,
        tools: &[],
        items: &[],
        tokens: 0,
        aside,
        now_ms: 0,
        speak: &|_| None,
    };
    let said = |agent: &mut dyn Agent, aside: bool| {
        let reply = agent.reply(&request(aside)).now_or_never().expect("it is ready").expect("it answers");
        (reply.text, reply.synthetic)
    };
    let (mut asked, mut plain) = (held.start(0), held.start(0));
    let (summary, is_synthetic) = said(&mut *asked, true);
    assert!(is_synthetic && !summary.is_empty());
    assert_eq!(said(&mut *asked, false), said(&mut *plain, false));
}

#[test]
fn growth_is_counted_beside_what_was_reported() {
    let imported = import(&[fixture("input-inside-a-turn.jsonl")], &Options::default()).expect("the path exists");
    let growth = growth_error(&imported.sessions[0], &Meter::new(counter(Encoding::O200kBase))).expect("it can be counted");
    // Reported input: 110, 141, 152.
    assert_eq!(growth.exchanges.iter().map(|one| one.recorded).collect::<Vec<_>>(), [Some(31), Some(11)]);
    // Items are framed by 3 tokens and a header: the call 3 + `assistant to=functions.Skill` 5 + 6, its result 3 + 1 + 1,
    // the hidden message 3 + 1 + 6; then the reply 3 + 1 + 3 and the user's thanks 3 + 1 + 2. (o200k_base, by tiktoken-rs.)
    assert_eq!(growth.exchanges.iter().map(|one| one.counted).collect::<Vec<_>>(), [29, 13]);
    assert_eq!(growth.to_string(), "root growth: counted 42, recorded 42 (+0.0 %)");
    // A compaction drops what was there: no growth is known across it.
    let imported = import(&[fixture("compaction.jsonl")], &Options::default()).expect("the path exists");
    let growth = growth_error(&imported.sessions[0], &Meter::new(counter(Encoding::O200kBase))).expect("it can be counted");
    assert_eq!((growth.exchanges[0].recorded, growth.to_string().as_str()), (None, "root growth: not recorded"));
}

#[test]
fn reference_recordings() {
    let Some(folder) = shared("recordings/claude-code") else { return };
    let check = |name: &str, strategy: &dyn Strategy, expect: &str| {
        let outcome = play(&held(&folder.join(name)).expect("it can be played"), strategy);
        assert_eq!(rows(&outcome), expect, "{name} under {}", strategy.id());
    };
    check("inline-sidechain-3task.jsonl", &Inline, "/:17");
    check("inline-sidechain-3task.jsonl", &opencode(false), "/:10 /1:3 /2:7");
    check("folder-4children", &Inline, "/:5");
    check("folder-4children", &opencode(false), "/:2 /1:2 /2:2 /3:2 /4:2");
    check("plain.jsonl", &Inline, "/:7");
    check("agent-progress.jsonl", &opencode(false), "/:4 /1:11");
    check("real-2.1.197-basic", &opencode(false), "/:3 /1:2");
    check("real-2.1.197-fork", &opencode(true), "/:4 /1:2");
    check("split-2task.jsonl", &opencode(false), "/:3 /1:0+1 /2:0+1");
    for name in ["inline-sidechain-3task.jsonl", "plain.jsonl", "folder-4children", "split-6task.jsonl"] {
        let imported = import(&[folder.join(name)], &Options::default()).expect("the path exists");
        let growth = growth_error(&imported.sessions[0], &Meter::new(counter(Encoding::O200kBase))).expect("it can be counted");
        let percent = growth.percent().expect("usage is recorded");
        assert!(percent.abs() < 60.0, "{name}: {growth}");
        eprintln!("{name}: {growth}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever an import makes of a damaged recording: it is played to its end, or named as what cannot be played.
    #[test]
    fn damaged_recordings_are_played_or_refused(which in 0..6usize, cuts in prop::collection::vec((0..8_000usize, 1..400usize), 1..4)) {
        let names = ["inline-two-children.jsonl", "progress-copies.jsonl", "equal-prompts.jsonl", "rewind.jsonl", "missing-child.jsonl", "split-absent.jsonl"];
        let mut bytes = std::fs::read(fixture(names[which])).expect("the fixture");
        for (at, length) in cuts {
            let from = at % bytes.len().max(1);
            let to = (from + length).min(bytes.len());
            bytes.drain(from.min(to)..to);
        }
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("s.jsonl"), &bytes).expect("a file");
        if let Ok(held) = held(folder.path()) {
            for strategy in [&Inline as &dyn Strategy, &opencode(false), &opencode(true), &Spawning] {
                play(&held, strategy);
            }
        }
    }
}

// ---- two small systems ------------------------------------------------------------------------------------------------

/// Spawns at once and has a call that waits for all that were named.
#[derive(Default)]
struct Spawning;

#[derive(Default)]
struct SpawningSession {
    /// Children with their callers' calls, and what they returned.
    children: Vec<(ThreadId, Option<String>)>,
}

fn named(thread: ThreadId) -> Handle {
    Handle(format!("child-{}", thread.0))
}

impl Strategy for Spawning {
    fn id(&self) -> String {
        "spawning@test".into()
    }
    fn start(&self, _: &RunContext) -> Box<dyn Session> {
        Box::new(SpawningSession::default())
    }
}

impl Session for SpawningSession {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        match act {
            Act::Delegate(intent) => Some(Call { name: "spawn".into(), args: serde_json::json!({ "task": intent.task }).to_string() }),
            Act::Wait(handles) => {
                let names: Vec<&str> = handles.iter().map(|handle| handle.0.as_str()).collect();
                Some(Call { name: "wait".into(), args: serde_json::json!({ "for": names }).to_string() })
            }
            _ => None,
        }
    }
    fn view(&mut self, _: &[Item], at: &Scope<'_>) -> View {
        let tool = |name: &str| ToolSpec::of_strings(name, "", &[]);
        View { agent: at.me().agent.clone(), ..View::default() }.tool(tool("spawn")).tool(tool("wait"))
    }
    fn route(&mut self, call: &ToolCall, _: ParentView<'_>, _: &Scope<'_>) -> Route {
        let args: serde_json::Value = serde_json::from_str(call.args.as_text()).unwrap_or_default();
        match call.name.as_str() {
            "spawn" => {
                let task = Item::user(Origin::Task, args["task"].as_str().unwrap_or_default());
                Route::Do(vec![Order::open(call.key, New::agent("scout"), vec![task])])
            }
            "wait" => Route::Do(vec![Order::Wait { call: call.key, timeout_ms: 3_600_000 }]),
            _ => Route::Tool,
        }
    }
    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => vec![Order::input(items, When::Turn, at)],
            Event::Opened { by: Some(call), child: Ok(child) } => {
                self.children.push((child, None));
                vec![Order::reply(call, format!("started {}", named(child).0)).meaning(Means::Started(named(child)))]
            }
            Event::Ended(report) => {
                let said = Some(report.last_text().unwrap_or_default());
                self.children.iter_mut().filter(|one| one.0 == at.thread).for_each(|one| one.1 = said.clone());
                vec![]
            }
            Event::Waiting { call, .. } => {
                let args: serde_json::Value = serde_json::from_str(call.args.as_text()).unwrap_or_default();
                let wanted: Vec<&str> = args["for"].as_array().into_iter().flatten().filter_map(|name| name.as_str()).collect();
                let asked: Vec<_> = self.children.iter().filter(|one| wanted.contains(&named(one.0).0.as_str())).collect();
                if asked.iter().any(|one| one.1.is_none()) {
                    return vec![];
                }
                let texts = asked.iter().map(|one| format!("{}: {}", named(one.0).0, one.1.clone().unwrap_or_default()));
                let reply = Order::reply(call, texts.collect::<Vec<_>>().join(" "));
                vec![asked.iter().fold(reply, |reply, one| reply.meaning(Means::Returned(Some(named(one.0)))))]
            }
            _ => vec![],
        }
    }
}

/// One thread whose speaker changes.
struct HandOff;

struct HandOffSession;

impl Strategy for HandOff {
    fn id(&self) -> String {
        "hand-off@test".into()
    }
    fn start(&self, _: &RunContext) -> Box<dyn Session> {
        Box::new(HandOffSession)
    }
}

impl Session for HandOffSession {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        match act {
            Act::Delegate(_) => Some(Call { name: "transfer".into(), args: "{}".into() }),
            Act::Back => Some(Call { name: "back".into(), args: "{}".into() }),
            _ => None,
        }
    }
    fn view(&mut self, _: &[Item], at: &Scope<'_>) -> View {
        let tool = |name: &str| ToolSpec::of_strings(name, "", &[]);
        View { agent: at.me().agent.clone(), ..View::default() }.tool(tool("transfer")).tool(tool("back"))
    }
    fn route(&mut self, call: &ToolCall, _: ParentView<'_>, _: &Scope<'_>) -> Route {
        match call.name.as_str() {
            "transfer" => Route::Do(vec![Order::reply(call, "over to you").meaning(Means::Moved)]),
            "back" => Route::Do(vec![Order::reply(call, "back")]),
            _ => Route::Tool,
        }
    }
}
