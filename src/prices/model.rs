//! What one model's tokens cost.

use super::usd::{Price, Usd};

/// The tokens of one request, by what they cost. Input is the sum of the first four.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Input that was neither read from a cache nor written to one at a price.
    pub uncached: u64,
    /// Input that was read from a cache.
    pub read: u64,
    /// Input that was written, for the provider's shorter lifetime.
    pub write_short: u64,
    /// Input that was written, for the longer one.
    pub write_long: u64,
    /// Output, reasoning included.
    pub output: u64,
}

impl Tokens {
    /// All input: what a long-context step goes by.
    pub fn input(&self) -> u64 {
        [self.read, self.write_short, self.write_long].into_iter().fold(self.uncached, u64::saturating_add)
    }
}

/// Prices by class, in dollars for a million tokens. A class without a price is unknown, not free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Input.
    pub input: Price,
    /// Cached input.
    pub read: Option<Price>,
    /// Writing to the cache, by lifetime, the shorter first: the lifetime as the vendor says it (`5m`), and the price.
    pub writes: Vec<(String, Price)>,
    /// Output.
    pub output: Price,
}

/// Other prices for a request with more input than this: for ALL of its tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The largest input that still has the prices before.
    pub above: u64,
    /// The prices of a request beyond it.
    pub rates: Rates,
}

/// How a request is sent, where that changes its price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tariff {
    /// As listed.
    #[default]
    Listed,
    /// Through the batch interface.
    Batch,
    /// At the hours that the provider calls off-peak.
    OffPeak,
}

/// A model's prices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPrices {
    /// The name in the table.
    pub name: String,
    /// Who sells it.
    pub provider: String,
    /// Other names of it.
    pub aliases: Vec<String>,
    /// Where the vendor lists the prices.
    pub source: Option<String>,
    /// What to know about them.
    pub note: Option<String>,
    /// The prices.
    pub rates: Rates,
    /// Long-context steps, the lower first.
    pub steps: Vec<Step>,
    /// What batch requests cost of the listed prices, in percent.
    pub batch_percent: Option<u64>,
    /// Prices at off-peak hours.
    pub off_peak: Option<Rates>,
}

/// Why there is no cost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unpriced {
    /// The model is not in the table.
    #[error("no price is known for `{model}`{nearest}")]
    Model {
        /// The model.
        model: String,
        /// `; did you mean ...?`, or nothing.
        nearest: String,
    },
    /// The table has no price for a class of tokens that was used.
    #[error("no price is known for {class} of `{model}`")]
    Class {
        /// The model.
        model: String,
        /// The class.
        class: &'static str,
    },
    /// The table has no such tariff for the model.
    #[error("no {tariff} price is known for `{model}`")]
    Tariff {
        /// The model.
        model: String,
        /// The tariff.
        tariff: &'static str,
    },
}

impl ModelPrices {
    /// The prices of a request with so much input: those of the highest step that it passes, for all of its tokens.
    pub fn rates_of(&self, input: u64) -> &Rates {
        self.steps.iter().rfind(|step| input > step.above).map_or(&self.rates, |step| &step.rates)
    }

    /// What a request costs at listed prices.
    ///
    /// # Errors
    /// A class of tokens that was used has no price.
    pub fn cost(&self, tokens: &Tokens) -> Result<Usd, Unpriced> {
        self.cost_at(tokens, Tariff::Listed)
    }

    /// What a request costs at a tariff.
    ///
    /// # Errors
    /// A class of tokens that was used, or the tariff, has no price.
    pub fn cost_at(&self, tokens: &Tokens, tariff: Tariff) -> Result<Usd, Unpriced> {
        let no_tariff = |tariff| Unpriced::Tariff { model: self.name.clone(), tariff };
        let (rates, percent) = match tariff {
            Tariff::Listed => (self.rates_of(tokens.input()), 100),
            Tariff::Batch => (self.rates_of(tokens.input()), self.batch_percent.ok_or_else(|| no_tariff("batch"))?),
            Tariff::OffPeak => (self.off_peak.as_ref().ok_or_else(|| no_tariff("off-peak"))?, 100),
        };
        let write = |place: usize| rates.writes.get(place).map(|(_, price)| *price);
        let classes = [
            ("input", tokens.uncached, Some(rates.input)),
            ("cached input", tokens.read, rates.read),
            ("cache writes", tokens.write_short, write(0)),
            ("cache writes for the longer lifetime", tokens.write_long, write(1)),
            ("output", tokens.output, Some(rates.output)),
        ];
        let mut sum = Usd::ZERO;
        for (class, count, price) in classes.into_iter().filter(|(_, count, _)| *count > 0) {
            let unpriced = || Unpriced::Class { model: self.name.clone(), class };
            let price = price.and_then(|price| price.percent(percent)).ok_or_else(unpriced)?;
            sum += price.of(count);
        }
        Ok(sum)
    }
}
