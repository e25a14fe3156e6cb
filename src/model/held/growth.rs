//! How far the counted growth of a recorded thread lies from the growth that was reported for it.
//!
//! A recording rarely holds the system prompt and the tools, so the size of a request cannot be checked; what is added
//! from one request to the next can. The model's own tokenizer is another one than the one that counts here, and what a
//! product adds unseen is not in the recording: the difference says how much both matter.

use std::fmt;

use crate::import::{Call, Response, Session, Step};
use crate::tokens::{CountError, Meter};
use crate::transcript::{Body, CallKey, Item, Origin, Part, Role, ToolCall};

/// Growth between two requests that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExchangeGrowth {
    /// The later request, from 1: the thread's first one has none before it.
    pub request: usize,
    /// Tokens of all that was added, as counted here.
    pub counted: u64,
    /// Input tokens reported for the later request less those for the earlier one; `None`: one of them is unknown, or
    /// the history was cut between them.
    pub recorded: Option<i64>,
    /// Parts among the added that nobody can count: `counted` is then a lower bound.
    pub unknown_parts: u32,
}

/// Growth of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    /// By request.
    pub exchanges: Vec<ExchangeGrowth>,
    /// Sum of what was counted, over the requests whose recorded growth is known and not negative.
    pub counted: u64,
    /// Sum of what was recorded, over the same requests.
    pub recorded: u64,
}

impl Growth {
    /// How far the count lies off, in percent of what was recorded; `None`: nothing was recorded.
    pub fn percent(&self) -> Option<f64> {
        let (counted, recorded) = (self.counted as f64, self.recorded as f64);
        (self.recorded > 0).then(|| (counted - recorded) / recorded * 100.0)
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.percent() {
            Some(percent) => write!(f, "root growth: counted {}, recorded {} ({percent:+.1} %)", self.counted, self.recorded),
            None => f.write_str("root growth: not recorded"),
        }
    }
}

/// Counts what a session's requests added and sets it beside what was reported.
///
/// # Errors
/// A text that is too large to be counted.
pub fn growth_error(session: &Session, meter: &Meter) -> Result<Growth, CountError> {
    let mut growth = Growth::default();
    let mut added = Added::default();
    let mut before: Option<u64> = None;
    let mut request = 0;
    for step in &session.steps {
        match step {
            Step::Input(items) | Step::Notice { items, .. } => {
                for item in items {
                    added.cut |= matches!(item.body(), Body::Compaction { .. });
                    added.item(item, meter)?;
                }
            }
            // A response that was not written has no place among the requests.
            Step::Response(response) if response.unwritten => {}
            Step::Response(response) => {
                let reported = response.usage.as_ref().filter(|_| !response.estimated).and_then(|usage| {
                    let input = [usage.uncached_input, usage.cache_read, usage.cache_write];
                    input.iter().any(Option::is_some).then(|| input.iter().flatten().fold(0u64, |sum, class| sum.saturating_add(*class)))
                });
                if request > 0 {
                    let recorded = match (before, reported) {
                        (Some(before), Some(now)) if !added.cut => i64::try_from(i128::from(now) - i128::from(before)).ok(),
                        _ => None,
                    };
                    growth.exchanges.push(ExchangeGrowth { request, counted: added.tokens, recorded, unknown_parts: added.unknown_parts });
                    if let Some(recorded) = recorded.and_then(|recorded| u64::try_from(recorded).ok()) {
                        growth.counted = growth.counted.saturating_add(added.tokens);
                        growth.recorded = growth.recorded.saturating_add(recorded);
                    }
                }
                before = reported;
                request += 1;
                added = Added::default();
                added.response(response, meter)?;
            }
        }
    }
    Ok(growth)
}

#[derive(Default)]
struct Added {
    tokens: u64,
    unknown_parts: u32,
    /// The history before was dropped.
    cut: bool,
}

impl Added {
    fn item(&mut self, item: &Item, meter: &Meter) -> Result<(), CountError> {
        let weight = meter.item(item)?;
        self.tokens = self.tokens.saturating_add(weight.tokens.into());
        self.unknown_parts += weight.unknown_parts;
        Ok(())
    }

    /// A response and its results, as the next request holds them.
    fn response(&mut self, response: &Response, meter: &Meter) -> Result<(), CountError> {
        if !response.reasoning.is_empty() {
            self.item(&Item::new(Body::Reasoning { parts: response.reasoning.clone() }, Origin::Own), meter)?;
        }
        if !response.text.is_empty() {
            let parts = vec![Part::text(response.text.as_str())];
            self.item(&Item::new(Body::Message { role: Role::Assistant, phase: None, parts }, Origin::Own), meter)?;
        }
        for call in &response.calls {
            self.call(call, meter)?;
        }
        Ok(())
    }

    fn call(&mut self, call: &Call, meter: &Meter) -> Result<(), CountError> {
        // The key is no part of what is counted.
        let key = CallKey(0);
        let made = ToolCall { key, id: call.id.clone(), name: call.name.clone(), args: call.args.clone(), intent: None, recorded: None };
        self.item(&Item::call(made), meter)?;
        match &call.result {
            Some(result) => {
                let body = Body::Result { key: Some(key), parts: result.parts.clone(), failed: result.failed };
                self.item(&Item::new(body, Origin::ToolResult), meter)
            }
            None => Ok(()),
        }
    }
}
