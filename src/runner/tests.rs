//! What the runner promises, on a world of one file.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use super::*;
use crate::plan::tests::{plan, scenario};
use crate::scenario::Scenario;
use crate::tokens::{CountError, TokenCounter};

mod resume;

/// Counts one token a byte.
struct Bytes;

impl TokenCounter for Bytes {
    fn count(&self, text: &str) -> Result<u64, CountError> {
        Ok(text.len() as u64)
    }
    fn id(&self) -> &'static str {
        "bytes"
    }
}

fn meter() -> Meter {
    Meter::new(Arc::new(Bytes))
}

/// Writes down what it is told.
#[derive(Default)]
struct Heard<'a> {
    cells: Vec<CellRecord>,
    ends: Vec<usize>,
    enough: Option<(usize, &'a AtomicBool)>,
    fails_at: Option<usize>,
    deaf_after: Option<usize>,
}

struct Listener<'h, 'a>(&'h mut Heard<'a>);

impl Sink for Listener<'_, '_> {
    fn take(&mut self, event: Event<'_>) -> Result<(), Error> {
        match event {
            Event::Cell { record, done, .. } => {
                if self.0.fails_at == Some(done) {
                    return Err(Error::Internal("full".into()));
                }
                self.0.cells.push(record.clone());
                assert_eq!(done, self.0.cells.len());
                if let Some((_, stop)) = self.0.enough.filter(|(enough, _)| *enough == done) {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            Event::Finished { done, .. } => self.0.ends.push(done),
            Event::Started { .. } | Event::Flush => {}
        }
        Ok(())
    }
    fn wants_threads(&self) -> bool {
        true
    }
    fn keeps_running(&self) -> bool {
        self.0.deaf_after.is_none_or(|after| self.0.cells.len() < after)
    }
}

fn hear(plan: &Plan, jobs: usize, mut heard: Heard<'_>, stop: &AtomicBool) -> (Vec<CellRecord>, Result<Tally, Error>) {
    let tally = run(plan, &meter(), jobs, stop, &mut [Box::new(Listener(&mut heard))]);
    (heard.cells, tally)
}

fn all(plan: &Plan, jobs: usize) -> (Vec<String>, Tally) {
    let (cells, tally) = hear(plan, jobs, Heard::default(), &AtomicBool::new(false));
    let lines = cells.iter().map(|record| {
        let threads = record.threads.as_ref().unwrap();
        let text = |value: serde_json::Result<String>| value.unwrap();
        format!(
            "{}{}{}",
            text(serde_json::to_string(&record.result)),
            text(serde_json::to_string(&threads.ledger)),
            text(serde_json::to_string(&threads.requests))
        )
    });
    (lines.collect(), tally.unwrap())
}

#[test]
fn a_failed_cell_and_a_panic_are_rows() {
    let expected = Scenario { window: Some(1), expects_failure: Some("overflow".into()), ..scenario("narrow") };
    let unexpected = Scenario { window: Some(1), ..scenario("too-narrow") };
    let plan = plan(1, vec![expected, unexpected, scenario("fits")], &["a@1", "panics@1"]);
    let (cells, tally) = hear(&plan, 2, Heard::default(), &AtomicBool::new(false));
    let seen: Vec<(&str, &str, Option<&str>)> = cells
        .iter()
        .map(|one| (one.result.cell.as_str(), one.result.status.name(), one.result.failure.as_ref().map(|why| why.kind.as_str())))
        .collect();
    let expect = [
        ("narrow/a@1/reads/0", "expected_failure", Some("overflow")),
        ("narrow/panics@1/reads/0", "failed", Some("panic")),
        ("too-narrow/a@1/reads/0", "failed", Some("overflow")),
        ("too-narrow/panics@1/reads/0", "failed", Some("panic")),
        ("fits/a@1/reads/0", "ok", None),
        ("fits/panics@1/reads/0", "failed", Some("panic")),
    ];
    assert_eq!(seen, expect);
    assert_eq!(tally.unwrap(), Tally { done: 6, failed: 4, expected_failures: 1 });
    let panic = cells[5].result.failure.as_ref().unwrap();
    assert_eq!(panic.message, "a panic inside the cell: it was asked to");
}

#[test]
fn a_stopped_run_is_a_prefix() {
    let plan = plan(20, vec![scenario("s")], &["a@1"]);
    let (whole, _) = all(&plan, 1);
    let stop = AtomicBool::new(false);
    let (cells, tally) = hear(&plan, 3, Heard { enough: Some((5, &stop)), ..Heard::default() }, &stop);
    assert_eq!((cells.len(), tally.unwrap().done), (5, 5));
    for (at, cell) in cells.iter().enumerate() {
        assert!(whole[at].starts_with(&serde_json::to_string(&cell.result).unwrap()));
    }
}

#[test]
fn a_sink_that_fails_ends_the_run_with_its_error() {
    let plan = plan(20, vec![scenario("s")], &["a@1"]);
    let (cells, tally) = hear(&plan, 2, Heard { fails_at: Some(4), ..Heard::default() }, &AtomicBool::new(false));
    assert_eq!(cells.len(), 3);
    assert!(matches!(tally, Err(Error::Internal(message)) if message == "full"));
}

#[test]
fn what_one_sink_cannot_keep_the_others_are_told() {
    let plan = plan(20, vec![scenario("s")], &["a@1"]);
    let (mut full, mut well) = (Heard { fails_at: Some(4), ..Heard::default() }, Heard::default());
    let stop = AtomicBool::new(false);
    let told = run(&plan, &meter(), 2, &stop, &mut [Box::new(Listener(&mut full)), Box::new(Listener(&mut well))]);
    assert!(told.is_err());
    assert_eq!((well.cells.len(), well.ends), (4, vec![4]));
}

#[test]
fn nobody_listening_ends_the_run_without_an_error() {
    let plan = plan(200, vec![scenario("s")], &["a@1"]);
    let (cells, tally) = hear(&plan, 2, Heard { deaf_after: Some(2), ..Heard::default() }, &AtomicBool::new(false));
    assert_eq!((cells.len(), tally.unwrap().done), (2, 2));
}

#[test]
fn threads_name_each_part_once_and_only_what_is_new() {
    let plan = plan(2, vec![scenario("s")], &["a@1"]);
    let (cells, _) = hear(&plan, 1, Heard::default(), &AtomicBool::new(false));
    // Seed 1: one read, so two requests.
    let threads = cells[1].threads.as_ref().unwrap();
    let texts: Vec<&str> = threads.parts.iter().map(|part| part.as_text()).collect();
    assert_eq!(texts, ["You read.", "{}", "go", r#"{"path":"a"}"#, "content of a", "done"]);
    let same: Vec<(usize, usize)> = threads.requests.iter().map(|request| (request.same, request.items.len())).collect();
    assert_eq!(same, [(0, 1), (1, 2)]);
    // What the thread said last, nobody was sent: it stands behind the last request.
    assert_eq!(threads.requests.iter().map(|request| request.after.len()).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(threads.ledger.len(), 2);
    for (line, request) in threads.ledger.iter().zip(&threads.requests) {
        assert_eq!((line.seq, &line.thread, line.first_divergence.as_ref()), (request.seq, &request.thread, None));
        assert_eq!(line.input.each().iter().map(|(_, tokens)| tokens).sum::<u64>(), line.input_total);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_number_of_threads_tells_the_same(jobs in 1usize..9, seeds in 1u64..7, scenarios in 1usize..4) {
        let scenarios: Vec<Scenario> = ["s", "t", "u"].into_iter().take(scenarios).map(scenario).collect();
        let plan = plan(seeds, scenarios, &["a@1", "b@1"]);
        let (one, tally_one) = all(&plan, 1);
        let (many, tally_many) = all(&plan, jobs);
        prop_assert_eq!(one, many);
        prop_assert_eq!(tally_one, tally_many);
    }
}
