//! What holds for every outcome, and the folds against slow readings of their definitions.

use proptest::prelude::*;

use super::sample::{meter, random};
use super::{Facts, METRICS, Measurement, Subject, Value, measure, spend_by_thread};
use crate::ledger::{Outcome, Row};
use crate::reason::Reason;
use crate::scenario::Scenario;
use crate::scenario::marker::MarkerIndex;
use crate::scenario::sample::{intent, scenario, topic, turn};
use crate::strategy::ThreadId;
use crate::tokens::header;
use crate::transcript::{Heard, Item, Origin, Outcome as Told, heard, normalised_arguments};

fn value(outcome: &Outcome, name: &str) -> Result<Value, Reason> {
    measured(outcome).get(name)
}

fn measured(outcome: &Outcome) -> Measurement {
    let meter = meter();
    measure(&Subject {
        outcome,
        scored: Err("not scored".into()),
        facts: Err("no facts".into()),
        children: Ok(()),
        prices: Err("unpriced".into()),
        no_cache: "no cache",
        child_prices: None,
        meter: &meter,
    })
}

fn count(outcome: &Outcome, name: &str) -> u64 {
    match value(outcome, name) {
        Ok(Value::Count(count)) => count,
        // A sum over no child.
        Err(why) if why == "no child opened" => 0,
        other => panic!("{name}: {other:?}"),
    }
}

/// Items of a thread as its requests' logs and its history at the end hold them, the same stored item once.
fn stood(outcome: &Outcome, thread: ThreadId) -> Vec<(Item, u64)> {
    let mut out: Vec<(Item, u64)> = Vec::new();
    let record = &outcome.threads[thread.0 as usize];
    let sent = outcome.rows_of(thread).map(|row| (row.sent.log, row.sent.length));
    for (log, length) in sent.chain([(record.log, record.length)]) {
        let log = &outcome.logs[log];
        for (item, tokens) in log.items.iter().zip(&log.tokens).take(length) {
            if !out.iter().any(|(known, _)| known.shares_body(item)) {
                out.push((item.clone(), u64::from(*tokens)));
            }
        }
    }
    out
}

fn delegated(outcome: &Outcome, thread: ThreadId) -> Vec<Item> {
    let spliced = outcome.rows_of(thread).flat_map(|row| row.sent.splices.iter()).flat_map(|splice| splice.items.clone());
    let all = stood(outcome, thread).into_iter().map(|(item, _)| item).chain(spliced);
    all.filter(|item| item.origin == Origin::Delegated).collect()
}

fn slow_absorbed(outcome: &Outcome) -> u64 {
    let mut absorbed = 0;
    for child in &outcome.threads {
        let Some(parent) = child.parent else { continue };
        let texts: Vec<String> = delegated(outcome, parent).iter().map(Item::text).collect();
        for (item, tokens) in stood(outcome, child.id) {
            let text = item.text().trim().to_owned();
            let quoted = serde_json::Value::from(text.as_str()).to_string();
            let quoted = quoted[1..quoted.len() - 1].to_owned();
            let name = item.as_call().map_or(String::new(), |call| call.name.clone());
            let entered =
                !text.is_empty() && texts.iter().any(|held| (held.contains(&text) || held.contains(&quoted)) && held.contains(&name));
            if matches!(item.origin, Origin::Own | Origin::ToolResult) && !entered {
                absorbed += tokens;
            }
        }
    }
    absorbed
}

fn slow_moved(outcome: &Outcome) -> u64 {
    let answered: Vec<_> = delegated(outcome, ThreadId::ROOT).iter().filter_map(Item::answers).collect();
    let is_delegation = |item: &Item| {
        item.origin == Origin::Delegated || item.as_call().is_some_and(|call| call.intent.is_some() || answered.contains(&call.key))
    };
    let content = |row: &Row| {
        let items = outcome.items_of(row).into_iter().filter(is_delegation);
        let mut content: Vec<_> =
            items.map(|item| (header(&item).into_owned(), item.as_call().map(|call| call.key), item.answers(), item.text())).collect();
        content.sort();
        content
    };
    let rows: Vec<&Row> = outcome.rows_of(ThreadId::ROOT).collect();
    rows.windows(2).filter(|pair| content(pair[0]) != content(pair[1])).map(|pair| pair[1].moved).sum()
}

fn slow_reexplored(outcome: &Outcome) -> u64 {
    let asked = |items: &[Item], result: &Item| {
        let call = items.iter().filter_map(Item::as_call).rfind(|call| Some(call.key) == result.answers())?;
        Some((call.name.clone(), normalised_arguments(call.args.as_text())))
    };
    let mut tokens = 0;
    for delegation in outcome.delegations.iter().filter(|delegation| delegation.opened) {
        let (log, length) = delegation.parent_history;
        let parent = &outcome.logs[log].items[..length];
        let good = |item: &&Item| !matches!(item.body(), crate::transcript::Body::Result { failed: true, .. });
        let results = parent.iter().enumerate().filter(|(_, item)| good(item));
        let completed: Vec<_> = results.filter_map(|(at, item)| asked(&parent[..at], item)).collect();
        let child: Vec<(Item, u64)> = stood(outcome, delegation.child);
        let items: Vec<Item> = child.iter().map(|(item, _)| item.clone()).collect();
        for (at, (item, item_tokens)) in child.iter().enumerate() {
            if item.origin == Origin::ToolResult && asked(&items[..at], item).is_some_and(|asked| completed.contains(&asked)) {
                tokens += item_tokens;
            }
        }
    }
    tokens
}

/// Facts that the words of random outcomes state: one of which a value was superseded, one in Chinese.
fn world() -> Scenario {
    let first = topic("the first", &[("It is alpha.", "alpha", "alpha"), ("It is port 9090.", "port 9090", "port 9090")]);
    let second = topic("the second", &[("It is 路径.", "路径", "路径")]);
    let intents = vec![intent("first", "OPS-1", &[0], vec![]), intent("second", "OPS-2", &[0, 1], vec![])];
    scenario(vec![first, second], intents, vec![turn("ASK-1", &[0, 1], &[0, 1])])
}

fn with_facts(outcome: &Outcome) -> Measurement {
    let (world, meter) = (world(), meter());
    let index = MarkerIndex::new(&world);
    let facts = Ok(Facts::new(&world, &index));
    measure(&Subject {
        outcome,
        scored: Err("not scored".into()),
        facts,
        children: Ok(()),
        prices: Err("unpriced".into()),
        no_cache: "no cache",
        child_prices: None,
        meter: &meter,
    })
}

/// How many facts came how far, by a search of plain texts.
fn slow_survival(outcome: &Outcome) -> [u64; 4] {
    let last = |thread: ThreadId, intent: Option<&str>| {
        let of_intent = |row: &&Row| !row.aside && intent.is_none_or(|id| row.intent.as_deref() == Some(id));
        outcome.rows_of(thread).rfind(of_intent).map_or(vec![], |row| outcome.items_of(row))
    };
    let read = |items: &[Item]| {
        let is_own_call = |item: &&Item| item.origin == Origin::Own && item.as_call().is_some();
        items
            .iter()
            .filter(|item| !is_own_call(item))
            .flat_map(|item| item.parts().to_vec())
            .map(|part| part.as_text().to_owned())
            .collect()
    };
    let holds = |texts: &Vec<String>, marker: &str| texts.iter().any(|text| text.contains(marker));
    let root: Vec<String> = read(&last(ThreadId::ROOT, None));
    let answer = if outcome.failure.is_some() { vec![] } else { vec![outcome.answer()] };
    let mut far = [0; 4];
    for (intent, markers) in [("first", &["port 9090"][..]), ("second", &["port 9090", "路径"])] {
        for marker in markers {
            let mut best = 0;
            for child in outcome.threads.iter().skip(1).filter(|child| child.intent.as_deref() == Some(intent)) {
                let parent = child.parent.expect("a child has one");
                let items: Vec<Item> = stood(outcome, parent).into_iter().map(|(item, _)| item).collect();
                let call = outcome.delegations.iter().find(|one| one.child == child.id).expect("it was opened").call;
                let told = heard(&items).into_iter().find(|told| told.call == call);
                let came = |told: &Heard| matches!(told.outcome, Told::Returned | Told::Failed);
                let news = told.filter(came).map_or(vec![], |told| told.news.iter().map(|&at| items[at].clone()).collect());
                let seen: Vec<String> = read(&last(child.id, Some(intent)));
                let places = [&seen, &read(&news), &root, &answer];
                best = best.max(places.iter().take_while(|texts| holds(texts, marker)).count());
            }
            far.iter_mut().take(best).for_each(|count| *count += 1);
        }
    }
    far
}

proptest! {
    #[test]
    fn facts_agree_with_the_slow_reading(seed: u64) {
        let outcome = random(seed);
        let measured = with_facts(&outcome);
        let names = ["survival.seen", "survival.returned", "survival.kept", "survival.answered"];
        let counts = names.map(|name| match measured.get(name) {
            Ok(Value::Count(count)) => count,
            Err(why) if why == "no child opened" => 0,
            other => panic!("{name}: {other:?}"),
        });
        prop_assert_eq!(counts, slow_survival(&outcome));
        prop_assert!(counts.is_sorted_by(|one, next| one >= next));
    }

    #[test]
    fn classes_part_or_mark_the_returns(seed: u64) {
        let outcome = random(seed);
        let measured = with_facts(&outcome);
        let count = |name: &str| match measured.get(name) {
            Ok(Value::Count(count)) => count,
            other => panic!("{name}: {other:?}"),
        };
        let stood = |thread| stood(&outcome, thread).into_iter().map(|(item, _)| item).collect::<Vec<_>>();
        let told = outcome.threads.iter().flat_map(|record| heard(&stood(record.id))).collect::<Vec<_>>();
        let of = |one: Told| told.iter().filter(|told| told.outcome == one).count() as u64;
        prop_assert_eq!(count("returns.ok") + count("returns.empty"), of(Told::Returned));
        prop_assert_eq!(count("returns.failed"), of(Told::Failed));
        let silent = count("returns.preamble") + count("returns.see_earlier") + count("returns.stub");
        prop_assert!(silent <= count("returns.ok"));
        for mark in ["returns.truncated", "returns.stale", "returns.invented"] {
            prop_assert!(count(mark) <= count("returns.ok"), "{}", mark);
        }
        prop_assert!(count("returns.capped") <= of(Told::Returned) + of(Told::Failed));
        let uses = ["used", "ignored", "stale", "invented", "admitted"].map(count);
        prop_assert!(uses.iter().sum::<u64>() <= 2);
    }

    #[test]
    fn every_metric_once_in_order_and_null_with_a_reason(seed: u64) {
        let outcome = random(seed);
        let measured = measured(&outcome);
        let names: Vec<&str> = measured.metrics.iter().map(|one| one.name).collect();
        prop_assert_eq!(names, METRICS.iter().map(|one| one.name).collect::<Vec<_>>());
        for one in &measured.metrics {
            match &one.value {
                Ok(value) => prop_assert!(value.as_f64().is_finite(), "{}", one.name),
                Err(why) => prop_assert!(!why.trim().is_empty(), "{}", one.name),
            }
        }
    }

    #[test]
    fn sums_over_threads_are_sums_over_rows(seed: u64) {
        let outcome = random(seed);
        let spend = spend_by_thread(&outcome);
        let rows = &outcome.rows;
        prop_assert_eq!(spend.iter().map(|one| one.own.requests).sum::<u64>(), rows.len() as u64);
        prop_assert_eq!(spend.iter().map(|one| one.own.output).sum::<u64>(), rows.iter().map(|row| row.output).sum::<u64>());
        for origin in Origin::ALL {
            let of_threads: u64 = spend.iter().map(|one| one.own.input.get(origin)).sum();
            prop_assert_eq!(of_threads, rows.iter().map(|row| row.input.get(origin)).sum::<u64>(), "{}", origin);
        }
        for one in &spend {
            let children = spend.iter().zip(&outcome.threads).filter(|(_, record)| record.parent == Some(one.thread));
            let below: u64 = children.map(|(child, _)| child.inclusive.input.total()).sum();
            prop_assert_eq!(one.inclusive.input.total(), one.own.input.total() + below);
        }
        prop_assert_eq!(spend[0].inclusive.input.total(), count(&outcome, "total.input"));
    }

    #[test]
    fn parent_and_children_are_the_whole(seed: u64) {
        let outcome = random(seed);
        let sum = |of: fn(&Row) -> u64| outcome.rows.iter().map(of).sum::<u64>();
        prop_assert_eq!(count(&outcome, "total.input"), count(&outcome, "parent.input_total") + count(&outcome, "child.input_total"));
        prop_assert_eq!(count(&outcome, "total.output"), count(&outcome, "parent.output_total") + count(&outcome, "child.output_total"));
        // Input is the sum of its origins.
        let by_origin: u64 = Origin::ALL.into_iter().map(|origin| outcome.rows.iter().map(|row| row.input.get(origin)).sum::<u64>()).sum();
        prop_assert_eq!(count(&outcome, "total.input"), by_origin);
        prop_assert_eq!(count(&outcome, "total.output"), sum(|row| row.output));
        prop_assert_eq!(count(&outcome, "requests"), outcome.rows.len() as u64);
    }

    #[test]
    fn contexts_lie_between_each_other(seed: u64) {
        let outcome = random(seed);
        if outcome.rows_of(ThreadId::ROOT).next().is_some() {
            prop_assert!(count(&outcome, "parent.final_context") <= count(&outcome, "parent.peak_context"));
            let spent = count(&outcome, "parent.input_total") + count(&outcome, "parent.output_total");
            prop_assert!(count(&outcome, "parent.peak_context") <= spent);
        }
        if outcome.rows.iter().any(|row| row.thread != ThreadId::ROOT) {
            prop_assert!(count(&outcome, "child.opening") <= count(&outcome, "child.opening_sum"));
            prop_assert!(count(&outcome, "child.opening_sum") <= count(&outcome, "child.input_total"));
            prop_assert!(count(&outcome, "child.opening") <= count(&outcome, "child.peak_context"));
        }
    }

    #[test]
    fn footprint_is_what_each_step_added_less_what_it_removed(seed: u64) {
        let outcome = random(seed);
        let rows: Vec<&Row> = outcome.rows_of(ThreadId::ROOT).collect();
        let steps: i64 = rows.windows(2).map(|pair| pair[1].delegation as i64 - pair[0].delegation as i64).sum();
        prop_assert_eq!(value(&outcome, "delegation.footprint"), Ok(Value::Difference(steps)));
    }

    #[test]
    fn folds_agree_with_the_slow_reading(seed: u64) {
        let outcome = random(seed);
        prop_assert_eq!(count(&outcome, "delegation.absorbed"), slow_absorbed(&outcome));
        prop_assert_eq!(count(&outcome, "delegation.moved"), slow_moved(&outcome));
        prop_assert_eq!(count(&outcome, "reexplored"), slow_reexplored(&outcome));
    }
}
