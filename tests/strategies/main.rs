//! Filters, strategies, specs and the registry, from outside.

mod codex_forks;
mod codex_runs;
mod codex_v1;
mod codex_v2;
mod codex_vectors;
mod deerflow;
mod deerflow_ledger;
mod deerflow_profiles;
mod deerflow_snapshot;
mod filters;
mod full_copy;
mod hand;
mod inline;
mod learn_claude_code;
mod maf;
mod opencode;
mod opencode_vectors;
#[path = "../worlds/play.rs"]
mod play;
mod runs;
mod spawn_agent;
mod specs;
#[path = "../worlds/transcripts.rs"]
mod transcripts;
