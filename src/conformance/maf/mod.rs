//! Vectors of Microsoft Agent Framework: `maf-dotnet` and `maf-python`.

mod child;
mod compare;
mod play;
mod set_up;
mod vector;

use super::dialect::Dialect;
use super::json::Json;

pub use compare::differences;

/// The system's vectors.
pub const DIALECT: Dialect = Dialect { system: "maf", head: &[], answer, differences };

/// What the strategies give for a vector.
fn answer(given: &str) -> Result<Json, String> {
    let given: vector::Given = serde_json::from_str(given).map_err(|why| why.to_string())?;
    play::answer(&given)
}
