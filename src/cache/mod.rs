//! What a provider's prompt cache does with a sequence of requests. Pure; time is virtual, in milliseconds.
//!
//! A [`Cache`] takes requests in order of sending, each said as what it adds to an earlier one, and tells of each what was read, written
//! and neither, and where it parts from what was sent before. The rules are a [`Profile`]'s, read from dated files with their sources.
//! What a request costs to look up is its new segments and O(log n) steps, counted in [`Counters`].
//!
//! Assumptions that hold for all rules, since no document states them:
//! - a use of a beginning is a use of all that begin it: their lifetimes start again too;
//! - a lifetime is over right after its last millisecond (providers promise a minimum, and were seen to keep entries a little longer);
//! - where the best case and the worst differ, what is kept follows the best;
//! - capacity, eviction, overflow to other machines and their rates are not simulated.

mod children;
mod domain;
mod entries;
mod explain;
mod marks;
mod order;
mod profile;
mod provider;
mod reading;
mod recent;
mod request;
mod segment;
mod slots;
mod tree;
mod usage;

#[cfg(test)]
mod proof;

pub use profile::{Client, Key, Minimum, Place, Profile, ProfileError, Rule};
pub use provider::Cache;
pub use request::{Divergence, Mark, Outcome, Refusal, Request, RequestId, Why};
pub use segment::{Common, Kind, Segment, Texts, WholeSegments};
pub use usage::{Lifetime, Usage};

/// What the look-ups cost, exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments and nodes that were looked at.
    pub visited: u64,
    /// Bytes of texts that were compared.
    pub compared_bytes: u64,
    /// Labels of the order that were moved: O(log n) a new segment on average.
    pub relabelled: u64,
}
