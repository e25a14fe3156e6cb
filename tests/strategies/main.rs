//! Filters, strategies, specs and the registry, from outside.

mod filters;
mod full_copy;
mod hand;
mod inline;
mod opencode;
mod opencode_vectors;
mod runs;
mod specs;
#[path = "../worlds/transcripts.rs"]
mod transcripts;
