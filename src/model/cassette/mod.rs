//! Cassettes: what providers were asked and what they answered, kept so that a run can be replayed for ever without them.
//!
//! A file of lines. The first says with what was asked; then come pieces of requests, each once, sends, deliveries, and the cells
//! that were played to their end. Sends and deliveries carry one order over all cells. Replay is strict: a request is answered by
//! the exchange of the same cell, lane (the thread's path), turn and digest, and by nothing else.

mod calibration;
mod file;
mod inspect;
mod line;
mod mask;
mod miss;
mod tape;
#[cfg(test)]
mod tests;

pub use calibration::{Calibration, ContentKind, FRAME, KindFactor, calibrate};
pub use file::{Cassette, CassetteError};
pub use inspect::{Kept, Stat, prune, stat, verify};
pub use line::{CASSETTE_FORMAT, Delivered, Done, Head, Line, Order, PieceLine, RequestPieces, Send, cassette_schema};
pub use mask::{Masks, MasksError};
pub use miss::Miss;
pub use tape::{Attempt, Exchange, Lane, Tape};
