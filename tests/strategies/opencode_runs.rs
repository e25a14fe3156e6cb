//! OpenCode under the real engine: what a child's mentions bring, and what becomes of a child whose window is full.

use std::collections::BTreeMap;
use std::sync::Arc;

use ctxbench::model::reader::Reader;
use ctxbench::model::{CallDraft, Reply, Request};
use ctxbench::scenario::{Size, compile_builtin};
use ctxbench::strategy::opencode::{AGENT_MENTION, Action, AgentConfiguration, Configuration, Rule};
use ctxbench::strategy::{Intent, OpenCode, ThreadId};
use ctxbench::tokens::{Encoding, Meter, counter};
use ctxbench::transcript::{Origin, Part};

use crate::play::play as play_scenario;
use crate::runs::{Played, calls, delegate, intent, play, play_within, read, say};

/// The texts of a request's items, part by part.
fn parts(played: &Played, path: &str, request: usize) -> Vec<Vec<String>> {
    let text = |part: &Part| part.as_text().to_owned();
    played.of(path)[request].items.iter().map(|item| item.parts().iter().map(text).collect()).collect()
}

#[test]
fn mentions_bring_what_stands_in_the_world() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        let task = Intent { task: "look at @notes, ask @writer".into(), ..intent("a") };
        match request.path {
            "/" if request.exchange == 0 => {
                calls("", vec![CallDraft::phrased(request.delegate(&task).expect("the tool is shown"), Some("a"))])
            }
            path => say(format!("{path} done")),
        }
    }
    let played = play(&OpenCode::default(), script, &["go"]);
    assert_eq!(played.outcome.failure, None);
    let expect = [
        "look at @notes, ask @writer".to_owned(),
        "Called the Read tool with the following input: {\"filePath\":\"/home/user/project/notes\"}".to_owned(),
        "<path>/home/user/project/notes</path>\n<type>file</type>\n<content>\n1: 42\n\n(End of file - total 1 lines)\n</content>"
            .to_owned(),
        format!(" {AGENT_MENTION} writer"),
    ];
    assert_eq!(parts(&played, "/1", 0), [expect]);
    let item = &played.of("/1")[0].items[0];
    assert_eq!(item.origin, Origin::Task);
}

const FULL: u64 = 2_000;

fn long() -> String {
    "word ".repeat(1_700)
}

const CONTINUE: &str = "Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed.";

/// The root delegates once; the child fills its window, with or without a call, is asked for a summary, and goes on.
fn compacted(with_call: bool) -> Played {
    fn child(request: &Request<'_>, with_call: bool) -> Result<Reply, String> {
        let last = request.items.last().map(|item| item.text()).unwrap_or_default();
        match () {
            () if request.aside => {
                assert!(request.tools.is_empty(), "no tools are shown");
                say("task a: half is done")
            }
            () if last == CONTINUE => say("all is done"),
            () if with_call => calls(&long(), vec![read()]),
            () => say(long()),
        }
    }
    fn calling(request: &Request<'_>) -> Result<Reply, String> {
        if request.path == "/" { root(request) } else { child(request, true) }
    }
    fn saying(request: &Request<'_>) -> Result<Reply, String> {
        if request.path == "/" { root(request) } else { child(request, false) }
    }
    fn root(request: &Request<'_>) -> Result<Reply, String> {
        if request.exchange == 0 { calls("", vec![delegate(request, "a")]) } else { say("root done") }
    }
    play_within(Some(FULL), &OpenCode::default(), if with_call { calling } else { saying }, &["go"])
}

fn check_compacted(with_call: bool, before: &[&str]) {
    let played = compacted(with_call);
    assert_eq!(played.outcome.failure, None);
    let child = played.of("/1");
    assert_eq!(child.len(), 3, "its request, the summary, and what follows");
    let aside = child[1].short();
    let (question, history) = aside.split_last().expect("it holds a question");
    assert_eq!(history, before);
    assert!(question.starts_with("Summarise all of the above"), "{question}");
    assert_eq!(child[2].short(), ["What did we do so far?", "task a: half is done", CONTINUE]);
    assert_eq!(child[2].tools, ["read", "list"]);
    assert!(child[2].items.iter().all(|item| item.origin == Origin::Compaction));
    let asides: Vec<bool> = played.outcome.rows.iter().filter(|row| &*row.path == "/1").map(|row| row.aside).collect();
    assert_eq!(asides, [false, true, false]);
    // The parent gets the answer to Continue.
    assert!(played.results(0)[0].0.ends_with("<task_result>\nall is done\n</task_result>\n</task>"), "{:?}", played.results(0));
}

#[test]
fn a_full_window_is_summarised_before_the_next_request() {
    check_compacted(true, &["task a", &long(), "read()", "42"]);
    check_compacted(false, &["task a", &long()]);
}

#[test]
fn a_window_with_room_is_left_alone() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match request.path {
            "/" if request.exchange == 0 => calls("", vec![delegate(request, "a")]),
            "/" => say("root done"),
            _ => say(long()),
        }
    }
    // The child's message: fewer than 2,000 tokens. A quarter of the window is left for the reply.
    let check = |window: Option<u64>, requests: usize| {
        let played = play_within(window, &OpenCode::default(), script, &["go"]);
        let child: Vec<_> = played.outcome.rows.iter().filter(|row| &*row.path == "/1").collect();
        let total = child[0].input.total() + child[0].output;
        assert!((1_700..2_000).contains(&total), "{total}");
        assert_eq!(child.len(), requests, "a window of {window:?}");
    };
    check(None, 1);
    check(Some(3_000), 1);
}

/// An agent with a rule about `task` is shown the tool at the limit of depth too, and fails only when it calls it.
#[test]
fn the_tool_is_shown_by_rules_not_by_depth() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match (request.path, request.exchange) {
            ("/", 0) => calls("", vec![delegate(request, "a")]),
            ("/1", 0) => calls("", vec![delegate(request, "b")]),
            (path, _) => say(format!("{path} done")),
        }
    }
    let explorer = AgentConfiguration {
        permission: vec![Rule::of_all("task", Action::Allow), Rule::of_all("list", Action::Deny)],
        ..AgentConfiguration::default()
    };
    let configuration = Configuration { agents: [("explorer".to_owned(), explorer)].into(), ..Configuration::of_scenarios() };
    let played = play(&OpenCode { configuration, ..OpenCode::default() }, script, &["go"]);
    assert_eq!(played.outcome.failure, None);
    assert_eq!(played.of("/1")[0].tools, ["read", "task"]);
    let refusal = "Subagent depth limit reached (1). Increase \"subagent_depth\" to allow nested subagents.";
    assert_eq!(played.results(1), [(refusal.to_owned(), true)]);
}

/// The older version wraps otherwise, knows no depth, and lets no failure through.
#[test]
fn the_older_wrapper() {
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match (request.path, request.exchange) {
            ("/", 0) => calls("", vec![delegate(request, "a"), delegate(request, "b")]),
            ("/", _) => say("root done"),
            ("/1", _) => say("answer"),
            ("/2", 0) => calls("half", vec![read()]),
            _ => Err("no credit".into()),
        }
    }
    let older = ctxbench::strategy::opencode::Profile::named("005201e").expect("it is a profile");
    let played = play(&OpenCode { profile: older, ..OpenCode::default() }, script, &["go"]);
    assert_eq!(played.outcome.failure, None);
    let shown = |text: &str| {
        let (id, rest) = text.split_once(" (for resuming to continue this task if needed)\n\n").expect("it is the older wrapper");
        assert!(id.starts_with("task_id: ses_"), "{id}");
        rest.to_owned()
    };
    let results: Vec<(String, bool)> = played.results(0).iter().map(|(text, failed)| (shown(text), *failed)).collect();
    assert_eq!(
        results,
        [("<task_result>\nanswer\n</task_result>".to_owned(), false), ("<task_result>\n\n</task_result>".to_owned(), false)]
    );
}

/// What a reader found before its window was full stands in its summary, and the answer to Continue is its answer.
#[test]
fn a_reader_answers_behind_its_summary() {
    let last_texts = |window: Option<u64>| {
        let scenario = compile_builtin("auth-lookup", Size::Large, &BTreeMap::new()).expect("it is there");
        let mut scenario = scenario.unwrap_or_else(|errors| panic!("{errors}"));
        scenario.window = window;
        let meter = Meter::new(counter(Encoding::O200kBase));
        let outcome = play_scenario(&Reader::new(Arc::new(scenario)), &OpenCode::default(), &meter).outcome;
        let asides = outcome.rows.iter().filter(|row| row.aside).count();
        (asides, [0, 1].map(|thread| outcome.history_of(ThreadId(thread)).last().map(|item| item.text())))
    };
    let (none, whole) = last_texts(None);
    // The child's last message stands at about 40,300 tokens, the one before it at 39,200; the limit is 39,750.
    let (one, compacted) = last_texts(Some(53_000));
    assert_eq!((none, one), (0, 1));
    assert_eq!(compacted[0], whole[0], "the root");
    let fact = "verify_claims";
    assert!(compacted[1].as_ref().is_some_and(|text| text.contains(fact)), "{compacted:?}");
}
