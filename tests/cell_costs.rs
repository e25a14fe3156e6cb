//! What one cell costs in exact counts: allocations and bytes written. Times depend on the machine and are no test.

use ctxbench::results::Status;
use ctxbench::runner::{Event, RunDirectory, Sink, play};
use ctxbench::tokens::{Encoding, Meter, counter};

#[path = "worlds/one_agent.rs"]
mod one_agent;

#[test]
fn a_cell_of_one_agent_is_cheap() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run");
    let plan = one_agent::plan(64);
    let meter = Meter::new(counter(Encoding::O200kBase));
    let mut directory = RunDirectory::create(&path, &plan).expect("a run directory");
    let size = |name: &str| std::fs::metadata(path.join(name)).map_or(0, |file| file.len());
    let mut last = (0, 0, 0, 0);
    for (at, cell) in plan.cells().enumerate() {
        let before = (size("results.jsonl"), size("ledger.jsonl"), size("threads/requests.jsonl"), size("threads/parts.jsonl"));
        let mut played = None;
        let playing = allocation_counter::measure(|| played = Some(play(&cell, &meter, true)));
        let record = played.expect("it was played");
        assert_eq!(record.result.status, Status::Ok);
        let mut quiet = None;
        let without = allocation_counter::measure(|| quiet = Some(play(&cell, &meter, false)));
        let writing = allocation_counter::measure(|| {
            directory.take(Event::Cell { record: &record, done: at + 1, kept: false }).expect("written");
            directory.take(Event::Flush).expect("written");
        });
        let bytes = (
            size("results.jsonl") - before.0,
            size("ledger.jsonl") - before.1,
            size("threads/requests.jsonl") - before.2,
            size("threads/parts.jsonl") - before.3,
        );
        last = bytes;
        if at > 61 {
            println!(
                "{} allocations to play ({} bytes; {} without threads), {} to write; bytes {bytes:?}",
                playing.count_total, playing.bytes_total, without.count_total, writing.count_total
            );
        }
    }
    println!("{}", std::fs::read_to_string(path.join("results.jsonl")).unwrap().lines().last().unwrap());
    println!("{}", std::fs::read_to_string(path.join("ledger.jsonl")).unwrap().lines().last().unwrap());
    println!("{}", std::fs::read_to_string(path.join("threads/requests.jsonl")).unwrap().lines().last().unwrap());
    let _ = last;
}
