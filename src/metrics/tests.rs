//! Hand-made outcomes with figures worked out on paper.

use std::sync::Arc;

use super::sample::{ROOT, Sample, call, delegating_call, meter, returned, wrote};
use super::{METRICS, Measurement, Subject, Value, measure, metric, returns, spend_by_thread};
use crate::cache;
use crate::ledger::{CacheUse, Failure, FailureKind, Fate, FirstDivergence, Log, Outcome, Place};
use crate::prices::PriceTable;
use crate::score::Scored;
use crate::strategy::Splice;
use crate::transcript::{CallKey, Handle, Item, Means, Origin};

fn measured(outcome: &Outcome) -> Measurement {
    let meter = meter();
    let why = "a recording has no answer key".to_owned();
    measure(&Subject {
        outcome,
        scored: Err(why.clone().into()),
        facts: Err(why.into()),
        children: Ok(()),
        prices: Err("unpriced".into()),
        no_cache: "no cache",
        child_prices: None,
        meter: &meter,
    })
}

#[track_caller]
pub(super) fn check(outcome: &Outcome, expect: &[(&str, Result<Value, &str>)]) {
    let measured = measured(outcome);
    for (name, expect) in expect {
        assert_eq!(measured.get(name), expect.map_err(|why| why.to_owned().into()), "{name}");
    }
}

const fn count(count: u64) -> Result<Value, &'static str> {
    Ok(Value::Count(count))
}

/// A root of two requests, a child of two, a child of one and a grandchild of one.
fn family() -> Sample {
    let mut sample = Sample::new();
    sample.send(ROOT, 100, 10);
    let first = sample.open(ROOT, 1, "first");
    let second = sample.open(ROOT, 2, "second");
    sample.send(first, 60, 5).calls = 1;
    sample.send(second, 200, 7);
    let third = sample.open(first, 3, "third");
    sample.send(third, 70, 1);
    sample.send(first, 80, 6);
    let last = sample.send(ROOT, 90, 30);
    (last.overflow, last.rescues, last.drift) = (true, 2, 1);
    sample
}

#[test]
fn token_figures_of_parent_and_children() {
    check(
        &family().outcome,
        &[
            ("parent.final_context", count(120)), // 90 + 30
            ("parent.peak_context", count(120)),  // max(100 + 10, 90 + 30)
            ("parent.input_total", count(190)),   // 100 + 90
            ("parent.output_total", count(40)),   // 10 + 30
            ("child.opening", count(200)),        // max(60, 200, 70)
            ("child.opening_sum", count(330)),    // 60 + 200 + 70
            ("child.peak_context", count(207)),   // max(65, 207, 71, 86)
            ("child.input_total", count(410)),    // 60 + 200 + 70 + 80
            ("child.output_total", count(19)),    // 5 + 7 + 1 + 6
            ("total.input", count(600)),          // 190 + 410
            ("total.output", count(59)),          // 40 + 19
            ("requests", count(6)),
            ("delegations", count(3)),
            ("overflow", count(1)),
            ("rescues", count(2)),
            ("drift", count(1)),
            ("failures", count(0)),
            ("children.zero_action", count(2)), // the second child and the grandchild never called
            ("latency.model", count(600)),      // six exchanges of 100 ms
        ],
    );
}

#[test]
fn own_and_inclusive_spend() {
    let spend = spend_by_thread(&family().outcome);
    let own: Vec<_> = spend.iter().map(|one| (one.own.requests, one.own.input.total(), one.own.output)).collect();
    assert_eq!(own, [(2, 190, 40), (2, 140, 11), (1, 200, 7), (1, 70, 1)]);
    let inclusive: Vec<_> = spend.iter().map(|one| (one.inclusive.requests, one.inclusive.input.total(), one.inclusive.output)).collect();
    // The first child with the grandchild: 140 + 70 and 11 + 1; the root with all: 190 + 210 + 200 and 40 + 12 + 7.
    assert_eq!(inclusive, [(6, 600, 59), (3, 210, 12), (1, 200, 7), (1, 70, 1)]);
}

#[test]
fn a_run_without_children_has_no_child_figures_and_true_zeros() {
    let mut sample = Sample::new();
    sample.send(ROOT, 100, 10);
    let none = Err("no child opened");
    check(
        &sample.outcome,
        &[
            ("child.opening", none),
            ("child.opening_sum", none),
            ("child.peak_context", none),
            ("child.input_total", none),
            ("child.output_total", none),
            ("child.quality", none),
            ("child.coverage", none),
            ("delegation.footprint", Ok(Value::Difference(0))),
            ("delegation.moved", count(0)),
            ("delegation.absorbed", count(0)),
            ("delegation.compression", Err("delegation.footprint is 0")),
            ("reexplored", count(0)),
            ("delegations", count(0)),
            ("children.abandoned", count(0)),
            ("children.zero_action", count(0)),
            ("total.input", count(100)),
            ("quality", Err("a recording has no answer key")),
            ("cost.usd", Err("unpriced")),
            ("cache.read", Err("no cache")),
            ("amplification", Err("a recording has no answer key")),
        ],
    );
}

#[test]
fn an_empty_run_has_no_contexts() {
    check(
        &Outcome::default(),
        &[("parent.final_context", Err("the root sent no request")), ("requests", count(0)), ("total.input", count(0))],
    );
    let mut sample = Sample::new();
    sample.open(ROOT, 1, "first");
    check(&sample.outcome, &[("child.opening", Err("no child sent a request")), ("child.input_total", count(0))]);
}

#[test]
fn unknown_children_make_every_figure_unknown_that_they_are_part_of() {
    let sample = family();
    let why = "the recording holds no transcript of its children";
    let meter = meter();
    let subject = Subject {
        outcome: &sample.outcome,
        scored: Err("held".into()),
        facts: Err("held".into()),
        children: Err(why.into()),
        prices: Err("unpriced".into()),
        no_cache: "no cache",
        child_prices: None,
        meter: &meter,
    };
    let measured = measure(&subject);
    let unknown =
        ["child.opening", "child.output_total", "child.coverage", "total.input", "requests", "delegation.absorbed", "latency.model"];
    for name in unknown {
        assert_eq!(measured.get(name), Err(why.to_owned().into()), "{name}");
    }
    assert_eq!(measured.get("parent.input_total"), Ok(Value::Count(190)));
    assert_eq!(measured.get("delegations"), Ok(Value::Count(3)));
}

#[test]
fn scores_come_from_the_scorer() {
    let sample = family();
    let scored = Scored { quality: Ok(0.75), checks: vec![], child_quality: Err("no check".into()), child_coverage: Ok(0.5) };
    let meter = meter();
    let facts = Err("none".into());
    let measured = measure(&Subject {
        outcome: &sample.outcome,
        scored: Ok(&scored),
        facts,
        children: Ok(()),
        prices: Err("unpriced".into()),
        no_cache: "no cache",
        child_prices: None,
        meter: &meter,
    });
    assert_eq!(measured.get("quality"), Ok(Value::Ratio(0.75)));
    assert_eq!(measured.get("child.quality"), Err("no check".into()));
    assert_eq!(measured.get("child.coverage"), Ok(Value::Ratio(0.5)));
    assert!(measured.get("quallity").is_err_and(|why| why.contains("quallity")));
}

#[test]
fn footprint_is_the_last_request_minus_the_first() {
    #[track_caller]
    fn check(delegation: &[u64], expect: i64) {
        let mut sample = Sample::new();
        for &tokens in delegation {
            sample.send(ROOT, 500, 1).delegation = tokens;
        }
        assert_eq!(measured(&sample.outcome).get("delegation.footprint"), Ok(Value::Difference(expect)), "{delegation:?}");
    }
    check(&[], 0);
    check(&[40], 0); // nothing came: the history held it
    check(&[0, 25, 25], 25);
    check(&[0, 25, 60, 45], 45); // +25 +35 -15
    check(&[30, 0], -30); // a summary took it
}

#[test]
fn compression_needs_a_footprint_above_zero() {
    let mut sample = Sample::new();
    sample.send(ROOT, 500, 1).delegation = 30;
    sample.send(ROOT, 500, 1).delegation = 0;
    check(&sample.outcome, &[("delegation.compression", Err("delegation.footprint is below 0"))]);
}

#[test]
fn moved_counts_the_requests_whose_delegation_content_changed() {
    let mut sample = Sample::new();
    sample.push(ROOT, 5, Item::user(Origin::User, "go"));
    sample.send(ROOT, 10, 1).moved = 1000; // the first request follows none
    sample.push(ROOT, 5, call(7, "read", "{}"));
    sample.push(ROOT, 5, Item::result(CallKey(7), Origin::ToolResult, "text", false));
    sample.send(ROOT, 20, 1).moved = 100; // an ordinary call: not delegation's
    sample.push(ROOT, 5, delegating_call(8, "first"));
    sample.push(ROOT, 5, returned(8, "done"));
    sample.send(ROOT, 30, 1).moved = 20; // counts
    sample.send(ROOT, 30, 1).moved = 3; // the same content
    let ledger = |text: &str| {
        let items = vec![Item::user(Origin::Delegated, text)];
        Arc::from([Splice { at: 0, remove: 0, items, keep: false }])
    };
    let row = sample.send(ROOT, 40, 1);
    (row.moved, row.sent.splices) = (40, ledger("1 running")); // a ledger is put in front: counts
    let row = sample.send(ROOT, 40, 1);
    (row.moved, row.sent.splices) = (7, ledger("1 running")); // the same ledger, rendered again
    let row = sample.send(ROOT, 40, 1);
    (row.moved, row.sent.splices) = (50, ledger("1 ended")); // as long as before, but another: counts
    check(&sample.outcome, &[("delegation.moved", count(110))]); // 20 + 40 + 50
}

#[test]
fn a_call_that_delegation_answers_is_a_delegating_one() {
    let mut sample = Sample::new();
    sample.send(ROOT, 10, 1);
    sample.push(ROOT, 5, call(7, "wait", "{}"));
    sample.send(ROOT, 20, 1).moved = 20; // the wait is there: counts, as its answer shows
    sample.push(ROOT, 5, Item::result(CallKey(7), Origin::Delegated, "nothing yet", false));
    sample.send(ROOT, 30, 1).moved = 9; // its answer: counts
    check(&sample.outcome, &[("delegation.moved", count(29))]);
}

#[test]
fn absorbed_is_what_the_parent_never_saw() {
    let mut sample = Sample::new();
    sample.send(ROOT, 10, 1);
    let child = sample.open(ROOT, 1, "first");
    sample.push(child, 1000, Item::user(Origin::Inherited, "history"));
    sample.push(child, 2000, Item::user(Origin::Task, "find it"));
    sample.look(child, 2, "{\"path\":\"a\"}", 300, "the port is 8080"); // 7 absorbed, the result is quoted: entered
    sample.look(child, 3, "{\"path\":\"b\"}", 400, "a \"quoted\"\nline"); // 7 absorbed, the result entered as JSON
    sample.look(child, 4, "{\"path\":\"c\"}", 500, "never told"); // 507 absorbed
    sample.push(child, 60, wrote("  found: 8080\n")); // entered, trimmed
    sample.push(child, 80, wrote("found: 8080, and more")); // was cut on the way: 80 absorbed
    sample.send(child, 20, 1);
    sample.push(ROOT, 9, returned(1, r#"{"said":"found: 8080","log":"the port is 8080 | a \"quoted\"\nline"}"#));
    sample.push(ROOT, 9, Item::user(Origin::User, "never told")); // the user's words are not delegation's
    sample.send(ROOT, 30, 1).delegation = 100;
    check(
        &sample.outcome,
        &[
            ("delegation.absorbed", count(601)), // 7 + 7 + 507 + 80
            ("delegation.footprint", Ok(Value::Difference(100))),
            ("delegation.compression", Ok(Value::Ratio(6.01))), // 601 / 100
        ],
    );
}

#[test]
fn a_call_enters_with_its_name_only() {
    #[track_caller]
    fn check(text: &str, expect: u64) {
        let mut sample = Sample::new();
        let child = sample.open(ROOT, 1, "first");
        sample.push(child, 7, call(2, "read", "{\"path\":\"a\"}"));
        sample.send(child, 20, 1);
        sample.push(ROOT, 9, returned(1, text));
        sample.send(ROOT, 30, 1);
        assert_eq!(measured(&sample.outcome).get("delegation.absorbed"), Ok(Value::Count(expect)), "{text}");
    }
    check(r#"it said {"path":"a"}"#, 7);
    check(r#"it called read {"path":"a"}"#, 0);
}

#[test]
fn an_item_that_two_logs_share_is_absorbed_once() {
    let mut sample = Sample::new();
    let child = sample.open(ROOT, 1, "first");
    sample.push(child, 40, wrote("one"));
    sample.push(child, 50, wrote("two"));
    sample.send(child, 20, 1);
    // The history goes on in a copy of its first item.
    let log = &sample.outcome.logs[1];
    let copy = Log { items: log.items[..1].to_vec(), tokens: log.tokens[..1].to_vec() };
    sample.outcome.logs.push(copy);
    (sample.record(child).log, sample.record(child).length) = (2, 1);
    sample.push(child, 60, wrote("three"));
    sample.send(child, 20, 1);
    check(&sample.outcome, &[("delegation.absorbed", count(150))]); // 40 + 50 + 60, not 190
}

#[test]
fn reexplored_compares_with_the_parents_history_at_the_fork() {
    let mut sample = Sample::new();
    sample.look(ROOT, 1, "{\"path\": \"a\", \"lines\": 3}", 100, "text of a");
    sample.push(ROOT, 7, call(2, "read", "{\"path\":\"b\"}"));
    sample.push(ROOT, 9, Item::result(CallKey(2), Origin::ToolResult, "no such file", true)); // an error completes nothing
    sample.push(ROOT, 7, call(3, "read", "{\"path\":\"c\"}")); // in flight: not completed
    let child = sample.open(ROOT, 4, "first");
    sample.look(ROOT, 5, "{\"path\":\"d\"}", 100, "text of d"); // after the fork
    sample.look(child, 6, "{\"lines\":3,\"path\":\"a\"}", 101, "text of a"); // the same arguments: counts
    sample.look(child, 7, "{\"path\":\"b\"}", 11, "no such file");
    sample.look(child, 8, "{\"path\":\"c\"}", 12, "text of c");
    sample.look(child, 9, "{\"path\":\"d\"}", 13, "text of d");
    sample.push(child, 7, call(10, "list", "{\"path\":\"a\",\"lines\":3}")); // another tool
    sample.push(child, 14, Item::result(CallKey(10), Origin::ToolResult, "a", false));
    sample.look(child, 11, "{\"path\":\"a\",\"lines\":3}", 102, "text of a"); // again: counts again
    check(&sample.outcome, &[("reexplored", count(203))]); // 101 + 102
}

#[test]
fn reexplored_holds_a_continued_child_against_its_opening() {
    let mut sample = Sample::new();
    sample.look(ROOT, 1, "{\"path\":\"a\"}", 100, "text of a");
    let child = sample.open(ROOT, 2, "first");
    sample.look(ROOT, 3, "{\"path\":\"a\"}", 100, "text of a"); // once more, after the fork: the first one was before it
    sample.look(ROOT, 4, "{\"path\":\"b\"}", 100, "text of b");
    sample.push(ROOT, 10, delegating_call(5, "first"));
    sample.delegate(ROOT, child, 5, "first", false); // goes on, when its parent has read b as well
    sample.look(child, 6, "{\"path\":\"a\"}", 11, "text of a");
    sample.look(child, 7, "{\"path\":\"b\"}", 12, "text of b");
    check(&sample.outcome, &[("reexplored", count(11))]);
}

#[test]
fn counts_of_children() {
    let mut sample = Sample::new();
    let open = |sample: &mut Sample, key| sample.open(ROOT, key, "first");
    let silent = open(&mut sample, 1);
    sample.send(silent, 10, 1);
    let busy = open(&mut sample, 2);
    sample.send(busy, 10, 1).calls = 2;
    sample.send(busy, 10, 1);
    let cut_off = open(&mut sample, 3);
    let row = sample.send(cut_off, 10, 0);
    (row.fate, row.done_ms) = (Fate::Abandoned, None);
    sample.record(cut_off).abandoned = true;
    sample.outcome.refusals = 4;
    check(
        &sample.outcome,
        &[
            ("children.zero_action", count(1)), // the first; the third never got a reply
            ("children.abandoned", count(1)),
            ("refusals", count(4)),
            ("requests", count(4)),
            ("latency.model", count(300)), // three replies of 100 ms
        ],
    );
    assert_eq!(
        measured(&sample.outcome).notes,
        ["1 of 4 requests got no reply: their input counts, their output and duration are unknown and left out."]
    );
}

#[test]
fn latency_is_as_the_engine_kept_it() {
    let mut sample = family();
    (sample.outcome.span_ms, sample.outcome.tools_ms, sample.outcome.critical_path_ms) = ((250, 5000), 70, 4000);
    check(
        &sample.outcome,
        &[
            ("latency.end_to_end", count(4750)), // 5000 - 250
            ("latency.tools", count(70)),
            ("latency.critical_path", count(4000)),
        ],
    );
}

#[test]
fn notes_name_what_the_numbers_leave_out() {
    let mut sample = family();
    assert_eq!(measured(&sample.outcome).notes, [""; 0]);
    (sample.outcome.rows[1].unknown_parts, sample.outcome.rows[2].unknown_parts) = (1, 3);
    sample.outcome.failure = Some(Failure { kind: FailureKind::Overflow, message: "too large".into() });
    let measured = measured(&sample.outcome);
    assert_eq!(measured.get("failures"), Ok(Value::Count(1)));
    assert_eq!(
        measured.notes,
        [
            "The run failed (overflow): figures cover what was run until then.",
            "2 of 6 requests hold parts whose tokens nobody knows (at most 3 in one): token figures are lower bounds.",
        ]
    );
}

#[test]
fn a_panic_leaves_nothing_but_the_failure() {
    let failure = Some(Failure { kind: FailureKind::Panic, message: "out of bounds".into() });
    let outcome = Outcome { failure, ..Outcome::default() };
    let lost = Err("the cell panicked");
    check(
        &outcome,
        &[("failures", count(1)), ("requests", lost), ("parent.input_total", lost), ("child.opening", lost), ("cost.usd", lost)],
    );
}

/// Ok, empty and failed returns.
fn parted(sample: &Sample) -> (u64, u64, u64) {
    let returns = returns(&sample.outcome, None);
    (returns.ok, returns.empty, returns.failed)
}

#[test]
fn returns_by_class() {
    #[track_caller]
    fn check(child_wrote: &str, answer: Item, expect: (u64, u64, u64)) {
        let mut sample = Sample::new();
        let child = sample.open(ROOT, 1, "first");
        sample.look(child, 2, "{}", 5, "text");
        sample.push(child, 5, wrote(child_wrote));
        sample.push(ROOT, 9, answer);
        let (ok, empty, failed) = expect;
        assert_eq!(parted(&sample), (ok, empty, failed), "{child_wrote}");
    }
    let wrapped = |text: &str| returned(1, &format!("<result>{text}</result>"));
    check("found", wrapped("found"), (1, 0, 0));
    check(" \n", wrapped(" \n"), (0, 1, 0)); // a wrapper around nothing
    check("found", returned(1, " "), (0, 1, 0));
    let answer = |means| Item::result(CallKey(1), Origin::Delegated, "text", false).meaning(means);
    check("found", answer(Means::Failed(None)), (0, 0, 1));
    check("found", answer(Means::Refused), (0, 0, 0)); // no child: counted in `refusals`
    check("found", answer(Means::Started(Handle("h".into()))), (0, 0, 0)); // nothing came back yet
    check("found", Item::user(Origin::Delegated, "news of nobody"), (0, 0, 0));
}

#[test]
fn a_child_is_silent_by_its_own_words() {
    let mut sample = Sample::new();
    let child = sample.open(ROOT, 1, "first");
    sample.look(child, 2, "{}", 5, "text");
    sample.push(child, 5, wrote("its parent's words").inherited());
    sample.push(ROOT, 9, returned(1, "<result></result>"));
    assert_eq!(parted(&sample), (0, 1, 0));
    // Called a second time, nobody can tell which of the two returns lacked a text.
    sample.push(ROOT, 10, delegating_call(3, "first"));
    sample.delegate(ROOT, child, 3, "first", false);
    sample.push(ROOT, 9, returned(3, "<result></result>"));
    assert_eq!(parted(&sample), (2, 0, 0));
}

#[test]
fn a_text_that_arrives_twice_is_one_return() {
    let mut sample = Sample::new();
    let child = sample.open(ROOT, 1, "first");
    sample.push(child, 5, wrote("found"));
    let handle = || Handle("h".into());
    sample.push(ROOT, 9, Item::result(CallKey(1), Origin::Delegated, "h", false).meaning(Means::Started(handle())));
    for _ in 0..2 {
        sample.push(ROOT, 9, Item::user(Origin::Delegated, "h: found").meaning(Means::Returned(Some(handle()))));
    }
    assert_eq!(parted(&sample), (1, 0, 0));
}

/// The names are a contract: budgets, tables and scripts rely on them and on their order.
#[test]
fn the_list_keeps_its_names_and_order() {
    let names = "parent.final_context parent.peak_context parent.input_total parent.output_total \
        child.opening child.opening_sum child.peak_context child.input_total child.output_total \
        delegation.footprint delegation.moved delegation.absorbed delegation.compression reexplored \
        parent.reread redundancy.down redundancy.siblings redundancy.up input.billed input.new input.unique input.inherited cache.read cache.read.low cache.read.high cache.write \
        cache.uncached cache.opening_read cache.opening_lost cache.return_lost total.input total.output \
        overflow amplification tokens.per_fact requests delegations refusals children.abandoned children.zero_action cost.usd cost.usd.low cost.usd.high cost.next_turn \
        latency.end_to_end latency.model latency.tools latency.critical_path quality rescues child.quality child.coverage \
        survival.seen survival.returned survival.kept survival.answered survival \
        used ignored stale invented admitted followups.from_context followups.resumed followups.redelegated followups.self \
        followups.lost followups.tokens failures returns.ok returns.empty returns.failed returns.preamble \
        returns.see_earlier returns.stub returns.truncated returns.capped returns.error_as_success returns.overlong \
        returns.stale returns.invented drift";
    assert_eq!(METRICS.iter().map(|metric| metric.name).collect::<Vec<_>>(), names.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn every_metric_has_its_own_name_and_a_sentence() {
    for (at, one) in METRICS.iter().enumerate() {
        assert_eq!(METRICS.iter().position(|other| other.name == one.name), Some(at), "{}", one.name);
        assert!(one.about.len() > 20 && !one.about.ends_with('.'), "{}", one.name);
    }
    assert_eq!(metric("overflow").map(|one| one.unit.name()), Some("requests"));
    assert!(metric("over").is_none());
}

#[test]
fn rows_of_threads_that_nobody_recorded_break_nothing() {
    let outcome = Outcome { rows: family().outcome.rows, ..Outcome::default() };
    assert_eq!(spend_by_thread(&outcome), []);
    check(&outcome, &[("requests", count(6)), ("total.input", count(600)), ("child.opening", Err("no child opened"))]);
}

/// A text is new to a thread once and unique in the run once, whoever sends it and however often; the frame of the reply that
/// is asked for is 3 tokens of each request.
#[test]
fn input_is_told_in_four_ways() {
    let mut sample = Sample::new();
    let said = |text: &str, origin| Item::user(origin, text);
    sample.push(ROOT, 5, said("the plan", Origin::User));
    sample.send(ROOT, 8, 1); // 5 and 3
    sample.push(ROOT, 7, wrote("a thought"));
    sample.send(ROOT, 15, 1); // 7 and 3 are new
    let child = sample.open_behind(ROOT, 1, "first");
    sample.push(child, 5, said("the plan", Origin::Inherited));
    sample.push(child, 4, said("find it", Origin::Task));
    let first = sample.send(child, 0, 1); // 5, 4 and 3 are new to it; 4 to the run
    first.input.add(Origin::Inherited, 5);
    first.input.add(Origin::Task, 7);
    sample.push(child, 4, said("find it", Origin::Task));
    sample.send(child, 16, 1).input.add(Origin::Inherited, 5); // the same text again: 3 are new
    check(
        &sample.outcome,
        &[
            ("input.billed", count(56)), // 8 + 15 + 12 + 21
            ("input.new", count(33)),    // 8 + 10 + 12 + 3
            ("input.unique", count(19)), // 5 + 7 + 4 + 3
            ("input.inherited", count(5)),
        ],
    );
}

/// Dollars for a million tokens of gpt-6-sol on 2026-11-30: input 2, cached 0.2, written 2.5, output 10.
#[test]
fn a_run_costs_what_its_cache_made_of_it() {
    let table = PriceTable::builtin().expect("the built-in table is read");
    let usage = |read, write_short, uncached| cache::Usage { read, write_short, write_long: 0, uncached };
    let ranged = |low, high| Some(CacheUse { low, high, divergence: None });
    let mut sample = Sample::new();
    sample.send(ROOT, 1_150, 20).cache = ranged(usage(1_000, 100, 50), usage(1_000, 100, 50));
    let of = |outcome: &Outcome, model: &str| {
        let prices = table.find(model).map_err(|why| why.to_string().into());
        let why: String = "not scored".into();
        let subject = Subject {
            outcome,
            scored: Err(why.clone().into()),
            facts: Err(why.into()),
            children: Ok(()),
            prices,
            no_cache: "no cache",
            child_prices: None,
            meter: &meter(),
        };
        let measured = measure(&subject);
        [
            "cost.usd",
            "cost.usd.low",
            "cost.usd.high",
            "cache.read",
            "cache.read.low",
            "cache.read.high",
            "cache.write",
            "cache.uncached",
            "cost.next_turn",
        ]
        .map(|name| measured.get(name).map(|value| (value.as_f64() * 1e9).round() / 1e9))
    };
    // 1,000 x 0.2 + 100 x 2.5 + 50 x 2 + 20 x 10 = 750 millionths.
    // The root's context, 1,150 and 20, once more at 0.2: 234 millionths.
    let exact = [0.00075, 0.00075, 0.00075, 1_000.0, 1_000.0, 1_000.0, 100.0, 50.0, 0.000234];
    assert_eq!(of(&sample.outcome, "gpt-6-sol"), exact.map(Ok));
    // Nothing read in the worst case, all but 50 in the best: 100 x 2 = 200 against 50 x 0.2 + 50 x 2 = 110 millionths more.
    sample.send(ROOT, 100, 0).cache = ranged(usage(0, 0, 100), usage(50, 0, 50));
    let range = |from: &str, to: &str| Err(format!("the provider's cache rules leave a range: {from} to {to} dollars").into());
    let tokens = |from: u64, to: u64| Err(format!("the provider's rules leave a range: {from} to {to}").into());
    let expect = [
        range("0.000860", "0.000950"),
        Ok(0.00086),
        Ok(0.00095),
        tokens(1_000, 1_050),
        Ok(1_000.0),
        Ok(1_050.0),
        Ok(100.0),
        tokens(150, 100),
        Err("the provider's cache rules leave a range".into()),
    ];
    assert_eq!(of(&sample.outcome, "gpt-6-sol"), expect);
    assert!(of(&sample.outcome, "gpt-6-soll")[0].as_ref().is_err_and(|why| why.contains("no price is known for `gpt-6-soll`")));
    // A request that met no cache makes all unknown.
    sample.send(ROOT, 100, 0);
    let [known @ .., next_turn] = of(&sample.outcome, "gpt-6-sol");
    assert!(known.iter().all(|value| *value == Err("no cache".into())));
    // 100 tokens at 2.
    assert_eq!(next_turn, Ok(0.0002));
}

/// A fork that reads its parent's beginning, a blank child that loses 70 tokens, a grandchild; a parent whose beginning is lost meanwhile.
#[test]
fn caches_gain_and_lose_where_children_open_and_return() {
    let mut sample = Sample::new();
    let lost = |tokens| {
        let why = cache::Why::Expired;
        Some(FirstDivergence { row: Some(0), place: Place::System, why, common: tokens, lost: tokens })
    };
    let met = |read: u64, input: u64, divergence| {
        let usage = cache::Usage { read, write_short: 0, write_long: 0, uncached: input - read };
        Some(CacheUse { low: usage, high: usage, divergence })
    };
    sample.send(ROOT, 100, 1).cache = met(0, 100, lost(9)); // a first request loses to nobody
    let fork = sample.open(ROOT, 1, "first");
    sample.send(fork, 120, 1).cache = met(100, 120, None);
    sample.send(fork, 130, 1).cache = met(120, 130, lost(5)); // a child's own loss
    let grandchild = sample.open(fork, 2, "second");
    sample.send(grandchild, 50, 1).cache = met(10, 50, lost(70));
    sample.send(fork, 140, 1).cache = met(0, 140, lost(130)); // its child worked meanwhile
    sample.send(ROOT, 150, 1).cache = met(100, 150, lost(40)); // child and grandchild did
    sample.send(ROOT, 160, 1).cache = met(0, 160, lost(150)); // nobody did
    let of = |outcome: &Outcome| {
        ["cache.opening_read", "cache.opening_lost", "cache.return_lost"]
            .map(|name| measured(outcome).get(name).map(|value| value.as_f64()))
    };
    assert_eq!(of(&sample.outcome), [110.0, 70.0, 170.0].map(Ok));
    let range = cache::Usage { read: 5, ..cache::Usage::default() };
    let last = sample.send(ROOT, 5, 1);
    last.cache = Some(CacheUse { low: cache::Usage { uncached: 5, ..cache::Usage::default() }, high: range, divergence: None });
    assert!(of(&sample.outcome)[0].as_ref().is_err_and(|why| why == "the provider's rules leave a range: request 7 reads 0 to 5"));
    assert!(of(&Sample::new().outcome).iter().all(|value| *value == Err("no child opened".into())));
}

#[test]
fn what_a_child_wrote_down_and_its_parent_reads() {
    let mut sample = Sample::new();
    let child = sample.open(ROOT, 1, "first");
    let page = "a page of many words";
    sample.push(child, 5, call(2, "write", &format!(r#"{{"path":"a.md","page":{{"text":"{page}"}}}}"#)));
    sample.push(child, 5, returned(2, "written"));
    sample.push(ROOT, 5, returned(1, "see a.md"));
    check(&sample.outcome, &[("parent.reread", count(0))]);
    sample.push(ROOT, 2, call(3, "read", r#"{"path":"a.md"}"#));
    sample.push(ROOT, 9, returned(3, page));
    sample.push(ROOT, 2, call(4, "read", r#"{"path":"b.md"}"#));
    sample.push(ROOT, 9, returned(4, "a page of other words"));
    check(&sample.outcome, &[("parent.reread", count(9))]);
    // Read again, it is there again; a name is no page.
    sample.push(ROOT, 2, call(5, "read", r#"{"path":"a.md"}"#));
    sample.push(ROOT, 9, returned(5, page));
    sample.push(ROOT, 2, call(6, "name", "{}"));
    sample.push(ROOT, 3, returned(6, "a.md"));
    check(&sample.outcome, &[("parent.reread", count(18))]);
}
