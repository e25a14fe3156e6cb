//! What tokens cost: dated tables with their sources, exact sums, and no price where none is known.
//!
//! A table is a file (`prices/2026-11-30.toml`, or one of the user's): dollars for a million tokens by class, long-context steps that
//! apply to the whole request, batch and off-peak tariffs. Amounts are whole trillionths of a dollar, so no sum drifts.

mod date;
mod file;
mod model;
mod table;
mod usd;

#[cfg(test)]
mod tests;

pub use date::Date;
pub use file::PriceErrors;
pub use model::{ModelPrices, Rates, Step, Tariff, Tokens, Unpriced};
pub use table::{OLD_AFTER_DAYS, PriceTable};
pub use usd::{Price, Usd};
