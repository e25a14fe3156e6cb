//! Returns made by hand, class by class.

use super::{FactReturns, Returns, returns};
use crate::ledger::{Fate, Row};
use crate::metrics::Facts;
use crate::metrics::sample::{ROOT, Sample, call, delegating_call, returned, wrote};
use crate::scenario::marker::MarkerIndex;
use crate::scenario::sample::{intent, made, scenario, topic, turn};
use crate::scenario::{FollowUp, Scenario};
use crate::strategy::{End, ThreadId, ToolSpec};
use crate::transcript::{CallKey, Handle, Item, Means, Origin, Part};

/// `first` needs the port, which was 8080, and the store, and allows six words; `second` makes the plan of the port;
/// `third` needs nothing. The store can be asked for again.
fn world() -> Scenario {
    let port = topic("the port", &[("The port is 8080 here.", "8080", "port is 8080"), ("The port is 9090 now.", "9090", "port is 9090")]);
    let store = topic("the store", &[("The store is sqlite.", "sqlite", "store is sqlite")]);
    let mut first = intent("first", "OPS-1", &[0, 1], vec![]);
    first.report.max_words = Some(6);
    first.follow_ups = vec![FollowUp { topic: 1, task: "Which store is it?".into() }];
    let second = intent("second", "OPS-2", &[2], vec![]);
    let third = intent("third", "OPS-3", &[], vec![]);
    scenario(vec![port, store, made("the plan", 1, &[0])], vec![first, second, third], vec![turn("ASK-1", &[], &[0, 1, 2])])
}

fn counted(sample: &Sample) -> Returns {
    let world = world();
    let index = MarkerIndex::new(&world);
    returns(&sample.outcome, Some(&Facts::new(&world, &index)))
}

/// The child's last words and what entered its parent.
fn one(intent: &str, words: &str, entered: &str) -> Sample {
    let mut sample = Sample::new();
    let child = sample.open(ROOT, 1, intent);
    sample.look(child, 2, "{}", 5, "text");
    sample.push(child, 5, wrote(words));
    sample.push(ROOT, 9, returned(1, entered));
    sample
}

const OK: Returns = Returns {
    ok: 1,
    empty: 0,
    failed: 0,
    preamble: 0,
    see_earlier: 0,
    truncated: 0,
    capped: 0,
    error_as_success: 0,
    of_facts: FactReturns { stub: 0, overlong: 0, stale: 0, invented: 0 },
};

const LONG: &str = "The first thing that I found is in src/main.rs, and the last one stands in src/store.rs at its very end.";

#[test]
fn texts_that_say_nothing_are_told_without_any_facts() {
    #[track_caller]
    fn check(words: &str, entered: &str, expect: Returns) {
        assert_eq!(returns(&one("first", words, entered).outcome, None), expect, "{entered}");
    }
    let preamble = Returns { preamble: 1, ..OK };
    let see_earlier = Returns { see_earlier: 1, ..OK };
    check("Let me look.", "<result>\nLet me look.\n</result>\nasked: 3 tools", preamble);
    check("Let me look.", r#"{"said":"I read it. It is long. It is old.\nLet me look."}"#, preamble); // its last words count
    check("See my prior message.", "agent a1: See my prior message.", see_earlier);
    check("unknown: task", "<result>unknown: task</result>", see_earlier);
    check("unknown: tasks", "unknown: tasks", OK);
    check("It is done.", "It is done.", OK);
    // Where nothing of the child's is in it, the text is judged as it stands.
    check("It is done.", "Let me look.", preamble);
}

#[test]
fn a_cut_is_a_cut_whatever_surrounds_it() {
    #[track_caller]
    fn check(words: &str, entered: &str, expect: u64) {
        let counted = returns(&one("first", words, entered).outcome, None);
        assert_eq!((counted.ok, counted.truncated), (1, expect), "{entered}");
    }
    check(LONG, LONG, 0);
    check(LONG, &format!("<task id=\"a\">\n{LONG}\n</task>"), 0);
    check("a \"b\" & <c>\n\td \u{e9}", r#"{"done":"a \"b\" & <c>\n\td \u00e9"}"#, 0); // escapes of JSON
    check("a \"b\" & <c>", "<r>a &quot;b&quot; &amp; &lt;c&gt;</r>", 0); // escapes of tags
    check(r"a\nb stands in C:\new", r"a\nb stands in C:\new", 0); // what reads like an escape and is none
    check(LONG, &LONG[..60], 1); // the end is lost
    check(LONG, &format!("... {}", &LONG[60..]), 1); // the beginning is
    check(LONG, &format!("{} [20 characters] {}", &LONG[..40], &LONG[60..]), 1); // the middle is
    check(LONG, &serde_json::json!({ "done": &LONG[..60] }).to_string(), 1);
    check(LONG, "saved as report-7", 0); // nothing of it came: no cut, whatever else it is
    check("abcdef", "abcde", 1);
    check("abcdef", "xyz", 0);
}

#[test]
fn a_message_of_several_parts_is_whole_if_each_of_them_is() {
    let message = |text: &str| {
        let parts = vec![Part::text("The first part of what was found out."), Part::text(text)];
        Item::new(crate::transcript::Body::Message { role: crate::transcript::Role::Assistant, phase: None, parts }, Origin::Own)
    };
    #[track_caller]
    fn check(words: Item, expect: u64) {
        let mut sample = Sample::new();
        let child = sample.open(ROOT, 1, "first");
        sample.push(child, 5, words);
        sample.push(ROOT, 9, returned(1, "The first part of what was found out. | and the second"));
        assert_eq!(returns(&sample.outcome, None).truncated, expect);
    }
    check(message("and the second"), 0);
    check(message("and the second part of it"), 1);
}

/// What a return says of what was needed.
#[test]
fn classes_that_need_facts() {
    #[track_caller]
    fn check(intent: &str, text: &str, expect: (u64, u64, u64, u64)) {
        let FactReturns { stub, overlong, stale, invented } = counted(&one(intent, text, &format!("<r>{text}</r>"))).of_facts;
        assert_eq!((stub, overlong, stale, invented), expect, "{intent}: {text}");
    }
    check("first", "The store is sqlite.", (0, 0, 0, 0));
    check("first", "The port is 9090 now.", (0, 0, 0, 0));
    check("first", "It stands in report-7.", (1, 0, 0, 0)); // a bare reference
    check("first", "unknown: the store", (0, 0, 0, 0)); // admitted
    check("third", "It stands in report-7.", (0, 0, 0, 0)); // nothing was needed
    check("second", "The port is 9090 now.", (1, 0, 0, 0)); // knowing is not making
    check("first", "The port is 8080 here.", (0, 0, 1, 0));
    check("first", "port is 8080, port is 9090", (0, 0, 0, 0)); // both: the newest is there
    check("first", "the store: mysql", (0, 0, 0, 1)); // and it is no stub
    check("third", "the store: mysql", (0, 0, 0, 0)); // nobody needed it
    check("second", "DONE the plan: 9090", (0, 0, 0, 0));
    check("second", "DONE the plan: 8080", (0, 0, 1, 0));
    check("second", "DONE the plan: guess", (0, 0, 0, 0)); // it says that it is one
    check("first", "one two three four five six", (1, 0, 0, 0));
    check("first", "one two three four five six seven", (1, 1, 0, 0));
    check("second", "one two three four five six seven", (1, 0, 0, 0)); // no contract
}

#[test]
fn what_states_a_needed_fact_is_no_preamble_and_no_pointer() {
    #[track_caller]
    fn check(text: &str, expect: Returns) {
        assert_eq!(counted(&one("first", text, text)), expect, "{text}");
    }
    check("Now let me see.", Returns { preamble: 1, ..OK });
    check("The store is sqlite. Let me look.", Returns { of_facts: FactReturns { overlong: 1, ..OK.of_facts }, ..OK });
    check("See my prior message.", Returns { see_earlier: 1, ..OK });
    check("store is sqlite, see above", OK);
    check("unknown: task", Returns { see_earlier: 1, ..OK });
}

#[test]
fn marks_are_on_returns_that_are_ok() {
    let mut sample = Sample::new();
    let child = sample.open(ROOT, 1, "first");
    sample.push(child, 5, wrote(LONG));
    let failed = |text: &str| Item::result(CallKey(1), Origin::Delegated, text, true).meaning(Means::Failed(None));
    sample.push(ROOT, 9, failed("Let me look. The port is 8080 here."));
    assert_eq!(counted(&sample), Returns { ok: 0, failed: 1, ..OK });
    // Nothing came back, nothing is counted.
    let mut sample = Sample::new();
    sample.open(ROOT, 1, "first");
    assert_eq!(counted(&sample), Returns { ok: 0, ..OK });
}

fn tools(row: &mut Row, shown: bool) {
    let tool = ToolSpec { name: "read".into(), schema: "{}".into() };
    row.sent.tools = if shown { [tool].into() } else { [].into() };
}

#[test]
fn a_child_is_capped_by_its_end_or_by_the_loss_of_its_tools() {
    #[track_caller]
    fn check(end: Option<End>, shown: [bool; 2], expect: (u64, u64)) {
        let mut sample = one("first", LONG, LONG);
        let child = ThreadId(1);
        for shown in shown {
            tools(sample.send(child, 5, 1), shown);
        }
        sample.record(child).last = end.clone();
        let counted = counted(&sample);
        assert_eq!((counted.capped, counted.error_as_success), expect, "{end:?} {shown:?}");
    }
    check(Some(End::Done), [true, true], (0, 0));
    check(Some(End::Done), [true, false], (1, 0));
    check(Some(End::Done), [false, false], (0, 0)); // it never had any
    check(Some(End::Stopped("30 rounds".into())), [true, true], (1, 0));
    check(Some(End::Ceiling("500 exchanges".into())), [true, true], (1, 1));
    check(Some(End::Failed("overloaded".into())), [true, true], (0, 1));
    check(Some(End::Aborted), [true, true], (0, 0));
    check(None, [true, true], (0, 0));
}

#[test]
fn a_turn_that_stops_to_ask_met_no_limit() {
    let mut sample = one("first", LONG, LONG);
    let child = ThreadId(1);
    sample.record(child).last = Some(End::Stopped("approval".into()));
    assert_eq!(counted(&sample).capped, 1);
    sample.push(child, 5, call(9, "write", "{}"));
    assert_eq!(counted(&sample).capped, 0);
}

#[test]
fn an_empty_or_failed_return_can_be_of_a_capped_child() {
    let mut sample = one("first", " ", "Looking at src/main.rs.");
    sample.record(ThreadId(1)).last = Some(End::Stopped("30 rounds".into()));
    assert_eq!(counted(&sample), Returns { ok: 0, empty: 1, capped: 1, ..OK });
    let mut sample = Sample::new();
    let child = sample.open(ROOT, 1, "first");
    sample.record(child).last = Some(End::Ceiling("500 exchanges".into()));
    sample.push(ROOT, 9, Item::result(CallKey(1), Origin::Delegated, "limit", true).meaning(Means::Failed(None)));
    assert_eq!(counted(&sample), Returns { ok: 0, failed: 1, capped: 1, ..OK });
}

/// A child with a turn for each of these words; each turn begins behind what the one before has said.
fn continued(words: &[&str], entered: &[&str]) -> Sample {
    let mut sample = Sample::new();
    let child = sample.open(ROOT, 1, "first");
    for (nth, (words, entered)) in words.iter().zip(entered).enumerate() {
        let key = nth as u32 + 1;
        if nth > 0 {
            sample.push(ROOT, 10, delegating_call(key, "first"));
            sample.delegate(ROOT, child, key, "first", false);
        }
        let own = sample.record(child).length;
        sample.push(child, 5, Item::user(Origin::Task, "go on"));
        let row = sample.send(child, 5, 1);
        (row.turn, row.sent.own) = (key, own);
        sample.push(child, 5, wrote(words));
        sample.push(ROOT, 9, returned(key, entered));
    }
    sample
}

#[test]
fn each_return_is_held_against_its_own_turn() {
    let other = "Another thing altogether stands in docs/notes.md, on the last page.";
    let counts = |words: &[&str], entered: &[&str]| {
        let counted = returns(&continued(words, entered).outcome, None);
        (counted.ok, counted.empty, counted.truncated)
    };
    assert_eq!(counts(&[LONG, other], &[LONG, other]), (2, 0, 0));
    assert_eq!(counts(&[LONG, other], &[&LONG[..50], other]), (2, 0, 1));
    assert_eq!(counts(&[LONG, other], &[LONG, &other[..50]]), (2, 0, 1));
    assert_eq!(counts(&[" ", other], &["<r> </r>", other]), (1, 1, 0));
    assert_eq!(counts(&[LONG, " "], &[LONG, "<r> </r>"]), (1, 1, 0)); // what it said before is not said again
    // A return that holds what a later turn said is that turn's.
    assert_eq!(counts(&[LONG, other], &[other, other]), (2, 0, 0));
}

#[test]
fn where_turns_and_calls_do_not_match_nothing_is_guessed() {
    let mut sample = continued(&[LONG, LONG], &[&LONG[..50], &LONG[..50]]);
    assert_eq!(returns(&sample.outcome, None).truncated, 2);
    sample.delegate(ROOT, ThreadId(1), 9, "first", false); // a message to the child at work
    assert_eq!(returns(&sample.outcome, None).truncated, 0);
}

#[test]
fn an_earlier_turn_failed_if_its_last_request_did() {
    let mut sample = continued(&[LONG, LONG], &[&LONG[..50], LONG]);
    sample.outcome.rows[0].fate = Fate::Failed;
    sample.record(ThreadId(1)).last = Some(End::Done);
    assert_eq!(returns(&sample.outcome, None).error_as_success, 1);
    sample.outcome.rows[0].fate = Fate::Replied;
    assert_eq!(returns(&sample.outcome, None).error_as_success, 0);
}

#[test]
fn children_of_children_are_judged_in_their_own_parent() {
    let mut sample = Sample::new();
    let child = sample.open(ROOT, 1, "third");
    let grandchild = sample.open(child, 2, "first");
    sample.push(grandchild, 5, wrote(LONG));
    sample.push(child, 9, returned(2, &LONG[..50]));
    sample.push(child, 5, wrote("The port is 8080 here."));
    sample.push(ROOT, 9, returned(1, "The port is 8080 here."));
    // Of the grandchild's: cut, nothing of what was needed, longer than six words. The child itself needed nothing.
    let of_facts = FactReturns { stub: 1, overlong: 1, ..OK.of_facts };
    assert_eq!(counted(&sample), Returns { ok: 2, truncated: 1, of_facts, ..OK });
}

#[test]
fn a_follow_up_is_held_against_what_it_asks_for() {
    let mut sample = one("first", "The store is sqlite.", "The store is sqlite.");
    let mut ask = |text: &str, key: u32| {
        let args = serde_json::json!({ "task": "Which store is it?" }).to_string();
        let mut again = delegating_call(key, "first");
        if let crate::transcript::Body::Call(call) = again.body() {
            again = Item::call(crate::transcript::ToolCall { args: args.as_str().into(), ..call.clone() });
        }
        sample.push(ROOT, 5, again);
        let child = sample.open_behind(ROOT, key, "first");
        sample.push(child, 5, wrote(text));
        sample.push(ROOT, 9, returned(key, text));
        counted(&sample).of_facts
    };
    // It was asked for the store alone, and the limit is the intent's own.
    assert_eq!(ask("The port is 8080 here, and so it was all the time.", 5), FactReturns { stub: 1, ..OK.of_facts });
}

#[test]
fn a_text_that_arrives_twice_is_judged_once_by_all_that_came() {
    let mut sample = Sample::new();
    let child = sample.open(ROOT, 1, "first");
    sample.push(child, 5, wrote(LONG));
    let handle = || Handle("h".into());
    sample.push(ROOT, 9, Item::result(CallKey(1), Origin::Delegated, "h", false).meaning(Means::Started(handle())));
    for text in [&LONG[..50], LONG] {
        sample.push(ROOT, 9, Item::user(Origin::Delegated, text).meaning(Means::Returned(Some(handle()))));
    }
    let counted = returns(&sample.outcome, None);
    assert_eq!((counted.ok, counted.truncated), (1, 0));
}
