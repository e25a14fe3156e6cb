//! A dated table of prices.

use crate::error::nearest::suggestion;

use super::date::Date;
use super::file::PriceErrors;
use super::model::{ModelPrices, Unpriced};

/// The table that is built in, and its name.
const BUILTIN: (&str, &str) = ("2026-11-30", include_str!("../../prices/2026-11-30.toml"));

/// Prices by model, of one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceTable {
    /// Its name: that of its file, without the ending.
    pub name: String,
    /// The day of the prices.
    pub dated: Date,
    /// Where they come from.
    pub source: String,
    /// SHA-256 of the file, in hexadecimal digits.
    pub digest: String,
    /// The models, in the file's order.
    pub models: Vec<ModelPrices>,
}

/// After so many days a table is called old, unless said otherwise.
pub const OLD_AFTER_DAYS: i64 = 60;

impl PriceTable {
    /// The table that is built in.
    ///
    /// # Errors
    /// It cannot be read; a test of this crate proves that it can.
    pub fn builtin() -> Result<PriceTable, PriceErrors> {
        PriceTable::parse(BUILTIN.1, BUILTIN.0)
    }

    /// A model's prices: by its name, else by a known alias. Nothing is guessed: `gpt-5.6` is not the price of `gpt-5.6-luna`.
    ///
    /// # Errors
    /// It is not known; the nearest name is said.
    pub fn find(&self, model: &str) -> Result<&ModelPrices, Unpriced> {
        let named = self.models.iter().find(|known| known.name == model);
        let found = named.or_else(|| self.models.iter().find(|known| known.aliases.iter().any(|alias| alias == model)));
        found.ok_or_else(|| {
            let names = self.models.iter().flat_map(|known| std::iter::once(&known.name).chain(&known.aliases)).map(String::as_str);
            Unpriced::Model { model: model.to_owned(), nearest: suggestion(model, names) }
        })
    }

    /// Days from the table's day to another.
    pub fn age_days(&self, today: Date) -> i64 {
        self.dated.days_until(today)
    }

    /// A sentence if the table is older than so many days.
    pub fn age_warning(&self, today: Date, old_after_days: i64) -> Option<String> {
        let age = self.age_days(today);
        (age > old_after_days).then(|| format!("the prices `{}` are {age} days old (of {}): they may have changed", self.name, self.dated))
    }
}
