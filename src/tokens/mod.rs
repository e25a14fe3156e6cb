//! Counting: encodings, engines, frames and the memo. Exact, each unique text once, never on the request path.

mod count;
mod frame;
mod meter;

pub use count::{CountError, Encoding, TokenCounter, counter};
pub use frame::{REPLY_FRAME, header};
pub use meter::{Counters, Meter, Weight};
