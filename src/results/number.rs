//! Numbers in results, written by one rule.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A measured value. Counts are whole and written as integers; shares, scores and means are real and written as the
/// shortest decimal that reads back as the same value, after rounding to six decimals, always with a point (`1.0`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A count: tokens, milliseconds, requests.
    Whole(i64),
    /// A share, a score, a mean.
    Real(f64),
}

impl Number {
    /// A real number under the rule; `None` for what is no number (an infinity, a quotient of zeros).
    pub fn real(value: f64) -> Option<Number> {
        value.is_finite().then(|| Number::Real(rounded(value)))
    }

    /// The value, for arithmetic.
    pub fn value(self) -> f64 {
        match self {
            Number::Whole(whole) => whole as f64,
            Number::Real(real) => real,
        }
    }
}

impl From<u64> for Number {
    fn from(count: u64) -> Number {
        Number::Whole(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

/// Six decimals; minus zero becomes zero.
fn rounded(value: f64) -> f64 {
    let scaled = (value * 1e6).round() / 1e6;
    // Up to here scaling errs by less than a quarter of the sixth decimal, so that rounding twice is rounding once. Beyond
    // it a double hardly has a sixth decimal, and the shortest text that reads back is the rule.
    if value.abs() >= 1.0e9 { value } else { scaled + 0.0 }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Number::Whole(whole) => serializer.serialize_i64(whole),
            Number::Real(real) => serializer.serialize_f64(rounded(real)),
        }
    }
}

impl fmt::Display for Number {
    /// As in JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Number::Whole(whole) => f.pad(&whole.to_string()),
            Number::Real(real) => match serde_json::Number::from_f64(rounded(real)) {
                Some(number) => f.pad(&number.to_string()),
                None => f.pad("null"),
            },
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        struct Read;
        impl Visitor<'_> for Read {
            type Value = Number;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }
            fn visit_i64<E: Error>(self, whole: i64) -> Result<Number, E> {
                Ok(Number::Whole(whole))
            }
            fn visit_u64<E: Error>(self, whole: u64) -> Result<Number, E> {
                i64::try_from(whole).map(Number::Whole).map_err(E::custom)
            }
            fn visit_f64<E: Error>(self, real: f64) -> Result<Number, E> {
                Ok(Number::Real(real))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

impl schemars::JsonSchema for Number {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Number".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "number"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(number: Number, expect: &str) {
        assert_eq!(serde_json::to_string(&number).unwrap(), expect);
        assert_eq!(number.to_string(), expect);
    }

    #[test]
    fn one_rule_writes_all_numbers() {
        check(Number::Whole(0), "0");
        check(Number::Whole(-12), "-12");
        check(Number::Real(1.0), "1.0");
        check(Number::Real(0.83), "0.83");
        check(Number::Real(2.0 / 3.0), "0.666667");
        check(Number::Real(-0.0), "0.0");
        check(Number::Real(-0.000_000_1), "0.0");
        check(Number::Real(1234.5), "1234.5");
    }

    #[test]
    fn what_is_no_number_is_none() {
        assert_eq!(Number::real(f64::NAN), None);
        assert_eq!(Number::real(f64::INFINITY), None);
    }

    proptest! {
        #[test]
        fn a_written_number_reads_back(whole in any::<i64>(), real in prop_oneof![-1e12f64..1e12, -1.1e9f64..1.1e9, -10.0f64..10.0]) {
            for number in [Number::Whole(whole), Number::Real(rounded(real))] {
                let text = serde_json::to_string(&number).unwrap();
                prop_assert_eq!(serde_json::from_str::<Number>(&text).unwrap(), number);
            }
        }
    }
}
