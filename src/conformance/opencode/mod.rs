//! OpenCode's vectors: what a call of `task` opens, and what comes back.

mod answer;
mod child;
mod compare;
mod given;
mod parts;
mod play;

use super::dialect::Dialect;
use super::json::Json;

/// How OpenCode's vectors are read, answered and compared.
pub const DIALECT: Dialect = Dialect { system: "opencode", head: &[], answer, differences: compare::differences };

fn answer(given: &str) -> Result<Json, String> {
    let given = serde_json::from_str(given).map_err(|why| why.to_string())?;
    play::Play::run(given).map(answer::answer)
}
