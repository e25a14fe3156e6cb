//! Filters, strategies, specs and the registry, from outside.

mod claude_code;
mod codex_forks;
mod codex_profiles;
mod codex_rollouts;
mod codex_runs;
mod codex_scaffold;
mod codex_v1;
mod codex_v2;
mod deerflow;
mod deerflow_ledger;
mod deerflow_profiles;
mod deerflow_snapshot;
mod filters;
mod full_copy;
mod hand;
mod inline;
mod isolated;
mod learn_claude_code;
mod maf;
mod maf_dotnet;
mod maf_properties;
mod maf_python;
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
mod spawn_agent;
mod specs;
#[path = "../worlds/transcripts.rs"]
mod transcripts;
