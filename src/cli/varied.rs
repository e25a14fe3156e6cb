//! What a sweep can vary beside a scenario's own parameters: the model's prices and its latency.

use std::sync::Arc;

use crate::error::Error;
use crate::model::profile::{Latency, ModelProfile};
use crate::plan::Subject;
use crate::prices::{ModelPrices, PriceTable, Rates};

/// A setting by its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Varied {
    /// The price of cached input, in percent of input's.
    ReadPercent,
    /// The price of writing to the cache for the shorter lifetime, in percent of input's.
    WritePercent,
    /// The price of output, in percent of input's.
    OutputPercent,
    /// Milliseconds to the first token without any input.
    FirstToken,
    /// Uncached input tokens a second, whatever the length.
    Prefill,
    /// Cached input tokens a second.
    CachedPrefill,
    /// Output tokens a second.
    Decode,
}

/// Every one with its key.
const ALL: [(&str, Varied); 7] = [
    ("price.read_percent", Varied::ReadPercent),
    ("price.write_percent", Varied::WritePercent),
    ("price.output_percent", Varied::OutputPercent),
    ("latency.ttft_ms", Varied::FirstToken),
    ("latency.prefill", Varied::Prefill),
    ("latency.cached_prefill", Varied::CachedPrefill),
    ("latency.decode", Varied::Decode),
];

/// The keys.
pub fn keys() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|(key, _)| *key)
}

impl Varied {
    /// The setting of this key.
    pub fn named(key: &str) -> Option<Varied> {
        ALL.iter().find(|(known, _)| *known == key).map(|(_, varied)| *varied)
    }

    /// Its value as a model has it, in whole numbers; `None`: it has none.
    pub fn own(self, profile: &ModelProfile, table: &PriceTable) -> Option<i64> {
        let rates = || table.find(profile.name).ok().map(|prices| &prices.rates);
        let percent = |of: fn(&Rates) -> Option<crate::prices::Price>| {
            let rates = rates()?;
            let input = rates.input.millionths().max(1) as f64;
            Some((of(rates)?.millionths() as f64 * 100.0 / input).round() as i64)
        };
        let Latency { ttft_ms, prefill, cached_prefill, decode, .. } = profile.latency;
        match self {
            Varied::ReadPercent => percent(|rates| rates.read),
            Varied::WritePercent => percent(|rates| rates.writes.first().map(|(_, price)| *price)),
            Varied::OutputPercent => percent(|rates| Some(rates.output)),
            Varied::FirstToken => Some(ttft_ms as i64),
            Varied::Prefill => Some(prefill as i64),
            Varied::CachedPrefill => cached_prefill.is_finite().then_some(cached_prefill as i64),
            Varied::Decode => Some(decode as i64),
        }
    }

    /// A subject with this value.
    ///
    /// # Errors
    /// The value is none, or the model has no prices to vary.
    pub fn set(self, subject: Subject, value: i64, table: &PriceTable) -> Result<Subject, Error> {
        let Some(profile) = subject.profile else {
            return Err(Error::Usage("no model is taken (--as none), so there is no price and no latency to vary".to_owned()));
        };
        let no = |least: i64| Error::Usage(format!("--vary: {value} is no value of it; the least is {least}"));
        let rate = || if value > 0 { Ok(value as f64) } else { Err(no(1)) };
        let mut latency = profile.latency;
        match self {
            Varied::ReadPercent | Varied::WritePercent | Varied::OutputPercent => {
                let percent = u64::try_from(value).map_err(|_| no(0))?;
                let prices = table.find(profile.name).map_err(|why| Error::Usage(format!("--vary: {why}")))?;
                let prices = self.priced(prices, percent).ok_or_else(|| no(0))?;
                return Ok(Subject { prices: Some(Arc::new(prices)), ..subject });
            }
            Varied::FirstToken if value < 0 => return Err(no(0)),
            Varied::FirstToken => latency.ttft_ms = value as f64,
            Varied::Prefill => (latency.prefill, latency.prefill_above_64k) = (rate()?, rate()?),
            Varied::CachedPrefill => latency.cached_prefill = rate()?,
            Varied::Decode => latency.decode = rate()?,
        }
        Ok(Subject { profile: Some(ModelProfile { latency, ..profile }), ..subject })
    }

    /// The prices with one class at so many percent of input's, in each step of length.
    fn priced(self, prices: &ModelPrices, percent: u64) -> Option<ModelPrices> {
        let mut prices = prices.clone();
        let steps = prices.steps.iter_mut().map(|step| &mut step.rates);
        for rates in std::iter::once(&mut prices.rates).chain(steps) {
            let price = rates.input.percent(percent)?;
            match self {
                Varied::ReadPercent => rates.read = Some(price),
                Varied::WritePercent => match rates.writes.first_mut() {
                    Some((_, write)) => *write = price,
                    None => rates.writes.push(("short".to_owned(), price)),
                },
                _ => rates.output = price,
            }
        }
        Some(prices)
    }
}
