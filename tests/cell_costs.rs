//! What runs cost in exact counts: bytes tokenised, allocations, bytes written. Times depend on the machine and are no test; BENCHMARKS.md
//! has their ratios.

use std::collections::BTreeSet;

use ctxbench::results::Status;
use ctxbench::runner::{Event, RunDirectory, Sink, play};
use ctxbench::strategy::Registry;
use ctxbench::tokens::{Encoding, Meter, counter, header};

#[path = "worlds/one_agent.rs"]
mod one_agent;
#[path = "worlds/session.rs"]
mod session;

use session::{EIGHT, Session};

/// A later cell of a long run: everything that cells share has been made.
#[test]
fn a_cell_of_one_agent_keeps_to_its_allocations_and_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run");
    let plan = one_agent::plan(40);
    let meter = Meter::new(counter(Encoding::O200kBase));
    let mut directory = RunDirectory::create(&path, &plan).expect("a run directory");
    let size = |name: &str| std::fs::metadata(path.join(name)).map_or(0, |file| file.len());
    let sizes = || ["results.jsonl", "ledger.jsonl", "threads/requests.jsonl", "threads/parts.jsonl"].map(size);
    let mut costs = Vec::new();
    for (at, cell) in plan.cells().enumerate() {
        let before = sizes();
        let mut played = None;
        let playing = allocation_counter::measure(|| played = Some(play(&cell, &meter, true)));
        let record = played.expect("it was played");
        assert_eq!((record.result.status, record.result.metrics.get("quality").is_some()), (Status::Ok, true));
        let writing = allocation_counter::measure(|| {
            directory.take(Event::Cell { record: &record, done: at + 1, kept: false }).expect("it is written");
            directory.take(Event::Flush).expect("it is written");
        });
        let after = sizes();
        let bytes: Vec<u64> = before.iter().zip(after).map(|(before, after)| after - before).collect();
        costs.push((playing.count_total + writing.count_total, bytes));
    }
    let (allocations, bytes) = costs.last().expect("forty of them");
    assert_eq!(costs[30], costs[39], "later cells cost the same");
    // The aim is 200; texts and items of their own are most of the rest.
    assert!(*allocations <= 280, "{allocations} allocations");
    // A line of results names each of its metrics, and why one has no value: some 30 bytes each.
    assert!(bytes[0] <= 3_400 && bytes[1] <= 1_300 && bytes[2] <= 1_700, "{bytes:?} bytes of results, ledger and requests");
    assert_eq!(bytes[3], 0, "parts are written once a run");
}

/// Whatever is sent how often under however many strategies: each distinct text is tokenised once.
#[test]
fn requests_of_a_session_cost_its_distinct_texts_once() {
    let session = Session { turns: 60, children: 20, words: 40 };
    let meter = Meter::new(counter(Encoding::O200kBase));
    let mut texts: BTreeSet<String> = BTreeSet::new();
    let mut sent = 0;
    for spec in EIGHT {
        let strategy = Registry::builtin().parse(spec).expect("a strategy")[0].build();
        let outcome = session.play(&*strategy, &meter, None);
        for row in &outcome.rows {
            let parts = row.sent.system.iter().chain(row.sent.tools.iter().map(|tool| &tool.schema));
            texts.extend(parts.map(|part| part.as_text().to_owned()));
            for item in outcome.items_of(row) {
                texts.extend(item.parts().iter().map(|part| part.as_text().to_owned()));
                texts.insert(header(&item).into_owned());
                texts.extend(item.name().map(str::to_owned));
                sent += item.parts().iter().map(|part| part.as_text().len() as u64).sum::<u64>();
            }
        }
        texts.extend(outcome.logs.iter().flat_map(|log| &log.items).flat_map(|item| item.parts()).map(|part| part.as_text().to_owned()));
    }
    texts.extend(["system", "tool"].map(str::to_owned));
    let distinct: u64 = texts.iter().map(|text| text.len() as u64).sum();
    let counted = meter.counters();
    assert_eq!(counted.bytes_tokenised, counted.unique_bytes + counted.unkept_bytes);
    assert!(counted.bytes_tokenised * 100 <= distinct * 101, "{} bytes tokenised of {distinct} distinct ones", counted.bytes_tokenised);
    assert!(sent > 20 * distinct, "{sent} bytes sent: the histories are short");
}

/// Eight times the turns take at most eight times the memory and a fifth more, whoever forks: forty children in each. In exact bytes, at
/// the highest point. By a power of two, since lists grow by doubling.
#[test]
fn memory_grows_with_the_turns() {
    let bytes = |spec: &str, turns: u32| {
        let strategy = Registry::builtin().parse(spec).expect("a strategy")[0].build();
        let session = Session { turns, children: 40, words: 20 };
        let meter = Meter::new(counter(Encoding::O200kBase));
        session.play(&*strategy, &meter, None);
        // What the first run has counted is there.
        let mut outcome = None;
        allocation_counter::measure(|| outcome = Some(session.play(&*strategy, &meter, None))).bytes_max
    };
    let wrong: Vec<String> = EIGHT
        .iter()
        .map(|spec| (spec, bytes(spec, 2_000) as f64 / bytes(spec, 250) as f64))
        .filter(|(_, growth)| !(2.0..=9.6).contains(growth))
        .map(|(spec, growth)| format!("{spec}: {growth:.2}"))
        .collect();
    assert!(wrong.is_empty(), "eight times the turns, so many times the memory: {wrong:?}");
}
