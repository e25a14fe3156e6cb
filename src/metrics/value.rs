//! What a metric is in one run: a number, or the reason why there is none.

use crate::reason::Reason;

/// A measured number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Something that is counted: tokens, requests, milliseconds.
    Count(u64),
    /// What came minus what went; below 0 when more went.
    Difference(i64),
    /// A quotient or a score; always finite.
    Ratio(f64),
}

impl Value {
    /// The number, for means and comparisons; counts above 2^53 are rounded.
    pub fn as_f64(self) -> f64 {
        match self {
            Value::Count(count) => count as f64,
            Value::Difference(difference) => difference as f64,
            Value::Ratio(ratio) => ratio,
        }
    }
}

/// A metric in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The metric's name.
    pub name: &'static str,
    /// Its value, or why it has none.
    pub value: Result<Value, Reason>,
}
