//! What may be spent, and what was: looked at before every attempt.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::ledger::Usage;
use crate::prices::{ModelPrices, Tokens, Usd};

/// What may be spent.
#[derive(Clone, Debug, Default)]
pub struct Cap {
    /// In dollars; `None`: no limit.
    pub usd: Option<f64>,
    /// Input and output tokens together; `None`: no limit.
    pub tokens: Option<u64>,
}

/// What was spent in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Dollars, where prices are known.
    pub usd: f64,
    /// Input and output tokens.
    pub tokens: u64,
    /// Attempts that were sent.
    pub attempts: u64,
}

/// A purse that all cells share.
#[derive(Debug, Default)]
pub struct Purse {
    cap: Cap,
    /// What each model costs, by its name: a judge's price is not the model's.
    prices: BTreeMap<String, Arc<ModelPrices>>,
    state: Mutex<State>,
    reached: AtomicBool,
}

/// What was spent, and what may still be.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    spent: Spent,
    /// What requests on their way may still cost.
    open: Spent,
    /// The most that was reported for a token that was counted, where it was more than one: providers count otherwise.
    scale: f64,
}

impl Purse {
    /// A purse with a cap. Dollars are reckoned with these prices; of a model without one only tokens are capped.
    pub fn new(cap: Cap, prices: BTreeMap<String, Arc<ModelPrices>>) -> Purse {
        Purse { cap, prices, ..Purse::default() }
    }

    fn usd(&self, model: &str, tokens: &Tokens) -> f64 {
        let cost = self.prices.get(model).and_then(|prices| prices.cost(tokens).ok());
        cost.map_or(0.0, dollars)
    }

    /// Sets aside what an attempt may cost at most: its input read from no cache and, where that is dearer, written into one; its
    /// output to the limit.
    ///
    /// # Errors
    /// The cap would be passed: what was spent, and what is missing.
    pub fn reserve(&self, model: &str, counted: u64, output_limit: u64) -> Result<Spent, String> {
        let mut state = self.state();
        let input = (counted as f64 * state.scale.max(1.0)).ceil() as u64;
        let plain = Tokens { uncached: input, output: output_limit, ..Tokens::default() };
        let written = Tokens { write_short: input, output: output_limit, ..Tokens::default() };
        let usd = self.usd(model, &plain).max(self.usd(model, &written));
        let most = Spent { usd, tokens: input.saturating_add(output_limit), attempts: 1 };
        let State { spent, open, .. } = *state;
        let (usd, tokens) = (spent.usd + open.usd + most.usd, spent.tokens.saturating_add(open.tokens).saturating_add(most.tokens));
        let over_usd = self.cap.usd.filter(|cap| usd > *cap).map(|cap| format!("--max-usd {cap}"));
        let over_tokens = self.cap.tokens.filter(|cap| tokens > *cap).map(|cap| format!("--max-tokens {cap}"));
        if let Some(cap) = over_usd.or(over_tokens) {
            self.reached.store(true, Ordering::Relaxed);
            return Err(format!(
                "the next request (about {input} tokens in, at most {output_limit} out) could pass {cap}; {}: raise the cap to go on",
                said(&spent, !self.prices.is_empty())
            ));
        }
        state.open = Spent { usd: open.usd + most.usd, tokens: open.tokens + most.tokens, attempts: open.attempts + 1 };
        Ok(most)
    }

    /// Takes what an attempt did cost: as reported, else as counted. What a reply cost that reported nothing nobody knows, so it counts
    /// as the most that it could be.
    pub fn settle(&self, model: &str, reserved: Spent, reported: Option<&Usage>, counted: u64, replied: bool) {
        let mut state = self.state();
        let State { spent, open, scale } = &mut *state;
        *open = Spent { usd: (open.usd - reserved.usd).max(0.0), tokens: open.tokens - reserved.tokens, attempts: open.attempts - 1 };
        spent.attempts += 1;
        let known = reported.filter(|usage| usage.uncached_input.is_some() && usage.output.is_some());
        let tokens = match known {
            None if replied => {
                spent.usd += reserved.usd;
                spent.tokens += reserved.tokens;
                return;
            }
            None => Tokens { uncached: counted, ..Tokens::default() },
            Some(usage) => Tokens {
                uncached: usage.uncached_input.unwrap_or(0),
                read: usage.cache_read.unwrap_or(0),
                write_short: usage.cache_write.unwrap_or(0),
                output: usage.output.unwrap_or(0),
                ..Tokens::default()
            },
        };
        spent.usd += self.usd(model, &tokens);
        spent.tokens += tokens.input() + tokens.output;
        if known.is_some() && counted > 0 {
            *scale = scale.max(tokens.input() as f64 / counted as f64);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was spent.
    pub fn spent(&self) -> Spent {
        self.state().spent
    }

    /// Whether a request was not sent because of the cap.
    pub fn is_reached(&self) -> bool {
        self.reached.load(Ordering::Relaxed)
    }

    /// What was spent, in words.
    pub fn said(&self) -> String {
        said(&self.spent(), !self.prices.is_empty())
    }
}

fn said(spent: &Spent, priced: bool) -> String {
    let Spent { usd, tokens, attempts } = spent;
    let money = if priced { format!(", {usd:.4} $") } else { String::new() };
    format!("spent so far: {tokens} tokens in {attempts} requests{money}")
}

fn dollars(usd: Usd) -> f64 {
    usd.trillionths() as f64 / 1e12
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, output: u64) -> Usage {
        Usage { uncached_input: Some(input), output: Some(output), ..Usage::default() }
    }

    #[test]
    fn what_is_not_reported_counts_as_the_most_that_it_could_be() {
        let purse = Purse::new(Cap { usd: None, tokens: Some(1000) }, BTreeMap::new());
        let reserved = purse.reserve("m", 100, 50).unwrap();
        purse.settle("m", reserved, None, 100, true);
        assert_eq!(purse.spent().tokens, 150);
        // An attempt that brought nothing cost its input at most.
        let reserved = purse.reserve("m", 100, 50).unwrap();
        purse.settle("m", reserved, None, 100, false);
        assert_eq!(purse.spent().tokens, 250);
    }

    #[test]
    fn a_provider_that_counts_more_is_reckoned_with() {
        let purse = Purse::new(Cap { usd: None, tokens: Some(400) }, BTreeMap::new());
        let reserved = purse.reserve("m", 100, 10).unwrap();
        purse.settle("m", reserved, Some(&usage(150, 10)), 100, true);
        // 160 are spent; as counted here 210 more would do, as counted there 310 would not.
        assert!(purse.reserve("m", 200, 10).is_err() && purse.is_reached());
        assert!(purse.reserve("m", 100, 10).is_ok());
    }

    #[test]
    fn each_model_has_its_own_price_and_a_dearer_write_counts() {
        let table = crate::prices::PriceTable::builtin().unwrap();
        let price = |name: &str| (name.to_owned(), Arc::new(table.find(name).unwrap().clone()));
        let purse = Purse::new(Cap { usd: Some(100.0), tokens: None }, BTreeMap::from([price("gpt-4.1"), price("claude-opus-5")]));
        let of = |model: &str| purse.reserve(model, 1_000_000, 0).unwrap().usd;
        let listed = |name: &str| dollars(table.find(name).unwrap().cost(&Tokens { uncached: 1_000_000, ..Tokens::default() }).unwrap());
        assert_eq!(of("gpt-4.1"), listed("gpt-4.1"));
        assert!((of("claude-opus-5") - 1.25 * listed("claude-opus-5")).abs() < 1e-9);
        assert_eq!(of("nobody"), 0.0);
    }
}
