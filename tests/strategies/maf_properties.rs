//! What holds of MAF's agents as tools for any names, arguments and texts.

use ctxbench::ledger::Outcome;
use ctxbench::strategy::maf::dotnet::{message, quoted};
use ctxbench::strategy::maf::{Joining, Platform, name, streamed};
use ctxbench::strategy::{AgentSpec, End, Event, MafDotNet, MafPython, ParentView, Report, Route, RunContext, Strategy, ThreadId};
use ctxbench::transcript::{Item, Origin, Part, Role};
use proptest::prelude::*;
use proptest::strategy::Strategy as Arbitrary;

use crate::hand::{Tree, call};
use crate::transcripts::odd_transcript;

/// Texts of all planes, controls, private use and noncharacters among them.
fn any_text() -> impl Arbitrary<Value = String> {
    let scalar = prop_oneof![any::<char>(), proptest::char::range('\0', '\u{ff}'), proptest::char::range('\u{d000}', '\u{10fff}')];
    prop_oneof![proptest::collection::vec(scalar, 0..40).prop_map(String::from_iter), "[a-z \"\\\\\n]{0,20}"]
}

fn texts() -> impl Arbitrary<Value = Vec<String>> {
    proptest::collection::vec(any_text(), 0..6)
}

const JOININGS: [Joining; 3] = [Joining::DotNet(Platform::Unix), Joining::DotNet(Platform::Windows), Joining::Python];

/// Both systems, every option.
fn every() -> Vec<Box<dyn Strategy>> {
    let mut all: Vec<Box<dyn Strategy>> = Vec::new();
    for kept in [false, true] {
        all.push(Box::new(MafDotNet { kept, ..MafDotNet::default() }));
        for propagate_session in [false, true] {
            all.push(Box::new(MafPython { kept, propagate_session, ..MafPython::default() }));
        }
    }
    all
}

/// A parent that calls an agent of any name with any arguments behind any history, and a child that says anything: the
/// opening of the child, if there is one.
fn delegated(
    strategy: &dyn Strategy,
    agent: &str,
    args: &str,
    history: &[Item],
    own: usize,
    said: &[Item],
    end: &End,
) -> Option<Vec<Item>> {
    let agents = [("lead".to_owned(), AgentSpec::default()), (agent.to_owned(), AgentSpec::default())];
    let run = RunContext { root: "lead".into(), agents: agents.into(), ..RunContext::default() };
    let (mut session, mut tree) = (strategy.start(&run), Tree::new("lead"));
    let view = session.view(history, &tree.scope(ThreadId::ROOT, own));
    let tool = view.tools.first()?.name.clone();
    let one = call(900_000, &tool, args);
    let parent = ParentView { items: history, in_flight: &[one.key] };
    let Route::Do(orders) = session.route(&one, parent, &tree.scope(ThreadId::ROOT, own)) else { panic!("it is the strategy's") };
    let opening = crate::hand::put(&orders);
    if opening.is_empty() {
        return None;
    }
    let (child, _) = tree.opened(&mut *session, ThreadId::ROOT, &one, agent);
    let items: Vec<Item> = opening.iter().chain(said).cloned().collect();
    let report = Report { by: Some(&one), end, items: &items, own: 0, elapsed_ms: 1, tokens: 0 };
    session.deliver(Event::Ended(report), &tree.scope(child, 0));
    session.view(history, &tree.scope(ThreadId::ROOT, own));
    Some(opening)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// A parser of JSON reads the text out of what the client writes, and nothing above the basic plane stands in it.
    #[test]
    fn a_quoted_text_is_that_text(text in any_text()) {
        let written = quoted(&text);
        prop_assert_eq!(serde_json::from_str::<String>(&written).ok(), Some(text.clone()));
        prop_assert!(written.chars().all(|c| u32::from(c) < 0x10000 && !c.is_control()), "{:?}", written);
        prop_assert_eq!(message(Some(&text)), written);
    }

    /// Messages may be joined in any grouping: a response of responses is one response.
    #[test]
    fn joining_is_associative(texts in texts(), at in 0_usize..6) {
        let at = at.min(texts.len());
        for joining in JOININGS {
            let all = joining.messages(texts.iter().cloned());
            let halves = [&texts[..at], &texts[at..]].map(|half| joining.messages(half.iter().cloned()));
            prop_assert_eq!(joining.messages(halves), all.clone());
            // No message is as good as an empty one.
            prop_assert_eq!(joining.messages(texts.iter().cloned().chain([String::new()])), all);
        }
        prop_assert_eq!(streamed(texts.iter().map(String::as_str)), texts.concat());
    }

    /// A name made of a name is that name, and fit to be one of a function.
    #[test]
    fn names_are_made_once(agent in any_text()) {
        for (make, blank) in [(name::dotnet as fn(&str) -> String, true), (name::python, false)] {
            let made = make(&agent);
            prop_assert_eq!(make(&made), made.clone());
            prop_assert!(made.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && (blank || !made.is_empty()), "{}", made);
            prop_assert!(!made.contains("__"), "{}", made);
        }
    }

    /// Nothing panics, and by default a child opens with its task alone.
    #[test]
    fn anything_may_be_said(seed in any::<u64>(), agent in any_text(), task in any_text(), other in any_text(), said in texts()) {
        let odd = odd_transcript(seed);
        let said: Vec<Item> = said.into_iter().map(|text| Item::message(Role::Assistant, Origin::Own, text)).collect();
        let ends = [End::Done, End::Failed(other.clone()), End::Aborted, End::Stopped(other.clone())];
        let both = |task: &str| serde_json::json!({"query": task, "task": task}).to_string();
        let arguments = [both(&task), serde_json::json!({ "task": task }).to_string(), serde_json::json!({ "query": task }).to_string(), other];
        for (strategy, end) in every().iter().zip(ends.iter().cycle()) {
            for args in &arguments {
                let opening = delegated(&**strategy, &agent, args, &odd.items, odd.own, &said, end);
                if let Some(opening) = opening.filter(|_| !strategy.hands_history_down()) {
                    prop_assert_eq!(opening.len(), 1);
                    prop_assert_eq!(opening[0].origin, Origin::Task);
                    prop_assert_eq!(opening[0].text(), task.clone());
                }
            }
        }
    }
}

/// By default no text of the parent stands in any request of a child, whatever the parent's history holds.
#[test]
fn no_text_of_the_parent_goes_down() {
    use crate::runs::{calls, delegate, play, say};
    use ctxbench::model::{Reply, Request};
    fn script(request: &Request<'_>) -> Result<Reply, String> {
        match (request.path, request.exchange) {
            ("/", 0) => calls("PARENT-NARRATION", vec![crate::runs::read(), delegate(request, "a"), delegate(request, "b")]),
            ("/", _) => say("PARENT-ANSWER"),
            (_, 0) => calls("working", vec![crate::runs::read()]),
            _ => say("done"),
        }
    }
    let leaks = |outcome: &Outcome| {
        let children = outcome.rows.iter().filter(|row| row.thread != ThreadId::ROOT);
        let texts = children.flat_map(|row| outcome.items_of(row)).flat_map(|item| item.parts().to_vec());
        texts.map(|part: Part| part.as_text().to_owned()).any(|text| text.contains("PARENT-"))
    };
    for strategy in every() {
        let played = play(&*strategy, script, &["PARENT-USER", "PARENT-MORE"]);
        assert_eq!(leaks(&played.outcome), strategy.hands_history_down(), "{}", strategy.id());
        let inherited: u64 =
            played.outcome.rows.iter().filter(|row| row.thread != ThreadId::ROOT).map(|row| row.input.get(Origin::Inherited)).sum();
        assert_eq!(inherited > 0, strategy.hands_history_down(), "{}", strategy.id());
    }
}
