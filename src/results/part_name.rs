//! How requests name a part: the first sixteen digits of its digest.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::transcript::Digest;

/// A part's name in stored files: 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartName(u64);

impl From<Digest> for PartName {
    fn from(digest: Digest) -> PartName {
        PartName((digest.0 >> 64) as u64)
    }
}

impl fmt::Display for PartName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Why a text names no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name of a part has 16 hexadecimal digits")]
pub struct NoPartName;

impl FromStr for PartName {
    type Err = NoPartName;

    fn from_str(text: &str) -> Result<PartName, NoPartName> {
        let is_name = text.len() == 16 && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
        let number = u64::from_str_radix(text, 16).ok().filter(|_| is_name);
        number.map(PartName).ok_or(NoPartName)
    }
}

impl Serialize for PartName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // As displayed; a line of requests holds dozens of them.
        let digits: [u8; 16] = std::array::from_fn(|at| b"0123456789abcdef"[(self.0 >> (60 - 4 * at)) as usize & 15]);
        match std::str::from_utf8(&digits) {
            Ok(digits) => serializer.serialize_str(digits),
            Err(_) => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for PartName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PartName, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for PartName {
    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }

    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_reads_back() {
        let name = PartName::from(Digest::of("a part"));
        assert_eq!(name.to_string(), Digest::of("a part").to_string());
        assert_eq!(name.to_string().parse(), Ok(name));
        assert_eq!(serde_json::from_str::<PartName>(&serde_json::to_string(&name).expect("plain")).expect("as written"), name);
    }

    #[test]
    fn what_is_no_name() {
        #[track_caller]
        fn check(text: &str) {
            assert_eq!(text.parse::<PartName>(), Err(NoPartName), "{text}");
        }
        check("");
        check("0123456789abcde");
        check("0123456789abcdef0");
        check("0123456789ABCDEF");
        check("+123456789abcdef");
        check("\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}");
    }
}
