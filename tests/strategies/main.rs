//! Filters, strategies, specs and the registry, from outside.

mod codex_forks;
mod codex_runs;
mod codex_v1;
mod codex_v2;
mod codex_vectors;
mod deerflow;
mod deerflow_snapshot;
mod deerflow_vectors;
mod filters;
mod full_copy;
mod hand;
mod inline;
mod maf;
mod opencode;
mod opencode_background;
mod opencode_cut;
mod opencode_prompts;
mod opencode_properties;
mod opencode_rules;
mod opencode_runs;
mod opencode_shown;
#[path = "../worlds/play.rs"]
mod play;
mod runs;
mod specs;
#[path = "../worlds/transcripts.rs"]
mod transcripts;
