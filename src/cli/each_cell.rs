//! Cells of a run, told to whoever asked, one by one.

use crate::error::Error;
use crate::runner::{CellRecord, Event, Sink};

/// Tells each cell as it is committed.
pub struct EachCell<F> {
    /// Whether what its threads were sent is wanted, which costs time to collect.
    pub with_threads: bool,
    /// Takes a cell.
    pub take: F,
}

impl<F: FnMut(&CellRecord) -> Result<(), Error>> Sink for EachCell<F> {
    fn take(&mut self, event: Event<'_>) -> Result<(), Error> {
        match event {
            Event::Cell { record, .. } => (self.take)(record),
            _ => Ok(()),
        }
    }

    fn wants_threads(&self) -> bool {
        self.with_threads
    }
}
