//! What a metric is in one run: a number, or the reason why there is none.

use serde::{Serialize, Serializer};

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

impl Serialize for Value {
    /// A bare number.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Count(count) => serializer.serialize_u64(*count),
            Value::Difference(difference) => serializer.serialize_i64(*difference),
            Value::Ratio(ratio) => serializer.serialize_f64(*ratio),
        }
    }
}

/// A metric in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The metric's name.
    pub name: &'static str,
    /// Its value, or why it has none.
    pub value: Result<Value, String>,
}
