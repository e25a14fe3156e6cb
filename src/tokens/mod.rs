//! Counting: encodings, engines, frames and the memo. Exact, each unique text once, never on the request path.
//!
//! A [`TokenCounter`] counts a text ([`counter`], [`counter_by_name`]); a [`Meter`] weighs parts, items and tools with it
//! and asks it once for each text. Vocabularies are loaded by the first count, so making either is free.

#[cfg(test)]
mod agreement;
mod count;
mod encoding;
mod frame;
pub mod framing;
mod merge;
mod meter;
mod pieces;
mod prefix;

pub use count::{CountError, MAX_BYTES, TokenCounter, counter, counter_by_name};
pub use encoding::{Encoding, UnknownName};
pub use frame::{REPLY_FRAME, header, item_digest};
pub use meter::{Counters, Meter, Weight};
pub use prefix::prefix;
