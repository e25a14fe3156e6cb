//! What the runner tells, and who listens.

use crate::error::Error;
use crate::results::SummaryRow;

use super::CellRecord;

/// Something that happened to a run.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// It begins.
    Started {
        /// How many cells there are.
        cells: usize,
    },
    /// A cell is finished and its turn in plan order has come.
    Cell {
        /// What it left.
        record: &'a CellRecord,
        /// How many cells are committed with it.
        done: usize,
        /// It was run earlier and read back from the run directory, without what its threads were sent.
        kept: bool,
    },
    /// A chunk of cells is told: whatever is buffered should be written out.
    Flush,
    /// It is over, or was stopped.
    Finished {
        /// How many cells were committed.
        done: usize,
        /// Means over those.
        summary: &'a [SummaryRow],
    },
}

/// A listener: a report, a run directory, a progress line. It is told everything in plan order, on one thread.
pub trait Sink {
    /// Takes an event in.
    fn take(&mut self, event: Event<'_>) -> Result<(), Error>;
    /// Whether it wants what threads were sent, which costs time to collect.
    fn wants_threads(&self) -> bool {
        false
    }
    /// Whether the run is worth going on with for this listener alone.
    fn keeps_running(&self) -> bool {
        true
    }
}
