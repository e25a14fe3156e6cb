//! Runs a plan: worker threads, one fresh run a cell, cells committed in plan order.
//!
//! Workers take cells in plan order and finish them in any; a finished cell waits until all before it are told. So
//! every listener hears the same events whatever the number of threads. What waits is bounded: while it is larger than
//! [`WAITING_LIMIT`], no worker takes a new cell (the one that everybody waits for has been taken, so this ends).

mod directory;
mod kept;
mod measure;
mod play;
mod run_file;
mod sink;
mod threads;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, mpsc};
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::plan::Plan;
use crate::results::{Status, Summing};
use crate::tokens::Meter;

pub use directory::RunDirectory;
pub use kept::Kept;
pub use play::{CellRecord, play};
pub use run_file::RUN_FORMAT;
pub use sink::{Event, Sink};
pub use threads::{Threads, threads_of};

/// Bytes that finished cells may hold while they wait for an earlier one.
pub const WAITING_LIMIT: usize = 64 << 20;

/// What became of the cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cells committed.
    pub done: usize,
    /// Of those, the ones that failed against their scenario's expectation.
    pub failed: usize,
    /// Of those, the ones that failed as their scenario wants.
    pub expected_failures: usize,
}

/// How many threads a run gets if nobody says: one a core.
pub fn default_jobs() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get())
}

/// Which cells are taken, and how much waits.
#[derive(Default)]
struct Queue {
    next: usize,
    waiting_bytes: usize,
    closed: bool,
}

struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    /// Records that everybody was told of. Whoever made such gives them back to the allocator: two threads that free and allocate the
    /// same memory wait for each other.
    told: Mutex<Vec<CellRecord>>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // No code panics while it holds the lock, and if it did the queue would still be whole.
        self.queue.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The next cells to run, in plan order; waits while too much is waiting.
    fn take(&self, cells: usize, most: usize) -> Option<Range<usize>> {
        let mut queue = self.lock();
        while !queue.closed && queue.next < cells && queue.waiting_bytes > WAITING_LIMIT {
            queue = self.changed.wait(queue).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        if queue.closed || queue.next >= cells {
            return None;
        }
        let first = queue.next;
        queue.next = cells.min(first + most);
        Some(first..queue.next)
    }

    fn told(&self) -> MutexGuard<'_, Vec<CellRecord>> {
        self.told.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn update(&self, change: impl FnOnce(&mut Queue)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }
}

/// Runs every cell of a plan and tells the sinks, in plan order. Ends early when `stop` is set, when a sink fails, or
/// when no sink cares any more; what was committed by then is a prefix of the plan.
///
/// # Errors
/// A sink's own.
pub fn run(plan: &Plan, meter: &Meter, jobs: usize, stop: &AtomicBool, sinks: &mut [Box<dyn Sink + '_>]) -> Result<Tally, Error> {
    resume(plan, Kept::default(), meter, jobs, stop, sinks)
}

/// As [`run`], behind the first cells of the plan, which were run earlier: those are told as they were kept.
///
/// # Errors
/// A sink's own, and a kept cell that cannot be read.
pub fn resume(
    plan: &Plan,
    kept: Kept,
    meter: &Meter,
    jobs: usize,
    stop: &AtomicBool,
    sinks: &mut [Box<dyn Sink + '_>],
) -> Result<Tally, Error> {
    let cells = plan.len();
    let with_threads = sinks.iter().any(|sink| sink.wants_threads());
    tell(sinks, Event::Started { cells })?;
    let mut committing = Committing::default();
    committing.tell_kept(kept, sinks)?;
    let first = Queue { next: committing.tally.done, ..Queue::default() };
    let shared = Shared { queue: Mutex::new(first), changed: Condvar::new(), told: Mutex::default() };
    let (send, receive) = mpsc::channel::<(usize, Vec<CellRecord>)>();
    let committed = std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, cells.max(1)) {
            let (send, shared) = (send.clone(), &shared);
            scope.spawn(move || {
                let mut most = 1;
                while let Some(chunk) = shared.take(cells, most) {
                    let (first, begun) = (chunk.start, Instant::now());
                    drop(std::mem::take(&mut *shared.told()));
                    // Whoever is stopped tells what it has done.
                    let going_on = || !stop.load(Ordering::Relaxed);
                    let records: Vec<CellRecord> = chunk
                        .take_while(|_| going_on())
                        .map_while(|at| plan.cell(at))
                        .map(|cell| play(&cell, meter, with_threads))
                        .take_while(|record| !record.interrupted)
                        .collect();
                    most = next_chunk(most, begun.elapsed());
                    let weight: usize = records.iter().map(CellRecord::weight).sum();
                    shared.update(|queue| queue.waiting_bytes += weight);
                    if records.is_empty() || send.send((first, records)).is_err() || !going_on() {
                        break;
                    }
                }
            });
        }
        drop(send);
        let committed = committing.commit_all(&receive, &shared, sinks, stop);
        // Whoever still works finishes its cell, and takes no other.
        shared.update(|queue| queue.closed = true);
        committed
    });
    // Whatever ended the run, every listener hears what was done.
    let summary = committing.summing.rows();
    let told = tell(sinks, Event::Finished { done: committing.tally.done, summary: &summary });
    let flushed = tell(sinks, Event::Flush);
    committed.and(told).and(flushed).map(|()| committing.tally)
}

/// Cells that are taken and told together, at most: handing one over costs as much as a small one.
const CHUNK: usize = 64;

/// How many cells a worker takes next. Small cells go together; of one that takes long, others are told at once.
fn next_chunk(last: usize, took: Duration) -> usize {
    if took < Duration::from_millis(2) { (last * 2).min(CHUNK) } else { (last / 2).max(1) }
}

/// The end of the line: puts finished cells back into plan order.
#[derive(Default)]
struct Committing {
    tally: Tally,
    summing: Summing,
    waiting: BTreeMap<usize, CellRecord>,
}

/// Kept cells that are told between two flushes.
const KEPT_CHUNK: usize = 256;

impl Committing {
    fn tell_kept(&mut self, kept: Kept, sinks: &mut [Box<dyn Sink + '_>]) -> Result<(), Error> {
        for result in kept {
            self.commit(&CellRecord { result: result?, threads: None, interrupted: false }, true, sinks)?;
            if self.tally.done.is_multiple_of(KEPT_CHUNK) {
                tell(sinks, Event::Flush)?;
            }
        }
        tell(sinks, Event::Flush)
    }

    fn commit_all(
        &mut self,
        receive: &mpsc::Receiver<(usize, Vec<CellRecord>)>,
        shared: &Shared,
        sinks: &mut [Box<dyn Sink + '_>],
        stop: &AtomicBool,
    ) -> Result<(), Error> {
        while let Ok((first, records)) = receive.recv() {
            self.waiting.extend((first..).zip(records));
            let (mut freed, mut told) = (0, Vec::new());
            let mut over = false;
            while let Some(record) = self.waiting.remove(&self.tally.done).filter(|_| !over) {
                freed += record.weight();
                self.commit(&record, false, sinks)?;
                told.push(record);
                over = stop.load(Ordering::Relaxed) || !sinks.iter().any(|sink| sink.keeps_running());
            }
            if freed > 0 {
                tell(sinks, Event::Flush)?;
                shared.told().append(&mut told);
                shared.update(|queue| queue.waiting_bytes = queue.waiting_bytes.saturating_sub(freed));
            }
            if over {
                break;
            }
        }
        Ok(())
    }

    fn commit(&mut self, record: &CellRecord, kept: bool, sinks: &mut [Box<dyn Sink + '_>]) -> Result<(), Error> {
        self.tally.done += 1;
        match record.result.status {
            Status::Ok => {}
            Status::Failed => self.tally.failed += 1,
            Status::ExpectedFailure => self.tally.expected_failures += 1,
        }
        self.summing.add(&record.result);
        tell(sinks, Event::Cell { record, done: self.tally.done, kept })
    }
}

/// Tells every sink, also behind one that failed: what one cannot keep, the others do. The first error stands.
fn tell(sinks: &mut [Box<dyn Sink + '_>], event: Event<'_>) -> Result<(), Error> {
    sinks.iter_mut().map(|sink| sink.take(event)).fold(Ok(()), Result::and)
}

#[cfg(test)]
mod tests;
