//! What may be spent, and what was: looked at before every attempt.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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
    prices: Option<Arc<ModelPrices>>,
    /// What was spent, and what requests on their way may still cost.
    state: Mutex<(Spent, Spent)>,
    reached: AtomicBool,
}

impl Purse {
    /// A purse with a cap. Dollars are reckoned with these prices; without them only tokens can be capped.
    pub fn new(cap: Cap, prices: Option<Arc<ModelPrices>>) -> Purse {
        Purse { cap, prices, ..Purse::default() }
    }

    fn usd(&self, tokens: &Tokens) -> f64 {
        let cost = self.prices.as_ref().and_then(|prices| prices.cost(tokens).ok());
        cost.map_or(0.0, dollars)
    }

    /// Sets aside what an attempt may cost at most: its input unread and written by no cache, its output to the limit.
    ///
    /// # Errors
    /// The cap would be passed: what was spent, and what is missing.
    pub fn reserve(&self, input: u64, output_limit: u64) -> Result<Spent, String> {
        let most = Tokens { uncached: input, output: output_limit, ..Tokens::default() };
        let most = Spent { usd: self.usd(&most), tokens: input.saturating_add(output_limit), attempts: 1 };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (spent, open) = *state;
        let (usd, tokens) = (spent.usd + open.usd + most.usd, spent.tokens + open.tokens + most.tokens);
        let over_usd = self.cap.usd.filter(|cap| usd > *cap).map(|cap| format!("--max-usd {cap}"));
        let over_tokens = self.cap.tokens.filter(|cap| tokens > *cap).map(|cap| format!("--max-tokens {cap}"));
        if let Some(cap) = over_usd.or(over_tokens) {
            self.reached.store(true, Ordering::Relaxed);
            let (input, output) = (input, output_limit);
            return Err(format!(
                "the next request ({input} tokens in, at most {output} out) could pass {cap}; {}: raise the cap to go on",
                said(&spent, self.prices.is_some())
            ));
        }
        state.1 = Spent { usd: open.usd + most.usd, tokens: open.tokens + most.tokens, attempts: open.attempts + 1 };
        Ok(most)
    }

    /// Takes what an attempt did cost: as reported, else as counted.
    pub fn settle(&self, reserved: Spent, reported: Option<&Usage>, counted_input: u64) {
        let known = reported.filter(|usage| usage.uncached_input.is_some());
        let tokens = Tokens {
            uncached: known.map_or(counted_input, |usage| usage.uncached_input.unwrap_or(0)),
            read: known.and_then(|usage| usage.cache_read).unwrap_or(0),
            write_short: known.and_then(|usage| usage.cache_write).unwrap_or(0),
            output: reported.and_then(|usage| usage.output).unwrap_or(0),
            ..Tokens::default()
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (spent, open) = &mut *state;
        *open = Spent { usd: (open.usd - reserved.usd).max(0.0), tokens: open.tokens - reserved.tokens, attempts: open.attempts - 1 };
        spent.usd += self.usd(&tokens);
        spent.tokens += tokens.input() + tokens.output;
        spent.attempts += 1;
    }

    /// What was spent.
    pub fn spent(&self) -> Spent {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    /// Whether a request was not sent because of the cap.
    pub fn is_reached(&self) -> bool {
        self.reached.load(Ordering::Relaxed)
    }

    /// What was spent, in words.
    pub fn said(&self) -> String {
        said(&self.spent(), self.prices.is_some())
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
