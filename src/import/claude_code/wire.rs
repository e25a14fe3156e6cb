//! The JSON of one record, read leniently: whatever has an unexpected type is absent, so that no surprise in one field
//! loses a line. Strings are borrowed from the line where it holds them without escapes.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use serde_json::value::RawValue;

/// A string; anything else is absent.
#[derive(Clone, Debug, Default)]
pub struct Text<'a>(pub Option<Cow<'a, str>>);

impl Text<'_> {
    /// The string.
    pub fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }
    /// The string, if it is not empty.
    pub fn filled(&self) -> Option<&str> {
        self.get().filter(|text| !text.is_empty())
    }
}

/// A whole number that is not negative; anything else is absent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Number(pub Option<u64>);

/// A count of tokens or records. Anything that is there and can be none (negative, a fraction, no number, more than [`Count::MOST`])
/// is kept apart from what is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Count {
    /// No such key, or `null`.
    #[default]
    Missing,
    /// So many.
    Of(u64),
    /// A value that counts nothing.
    Odd,
}

impl Count {
    /// Far above any request or file (2^40), and far enough below 2^64 that sums stay whole.
    pub const MOST: u64 = 1 << 40;

    /// The count, if it is one.
    pub fn get(self) -> Option<u64> {
        match self {
            Count::Of(count) => Some(count),
            Count::Missing | Count::Odd => None,
        }
    }
}

/// Whether the value is `true`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flag(pub bool);

/// An object of known fields; anything else is absent.
#[derive(Clone, Debug)]
pub struct Object<T>(pub Option<T>);

impl<T> Default for Object<T> {
    fn default() -> Object<T> {
        Object(None)
    }
}

/// Any value, unread; `null` is absent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Raw<'a>(pub Option<&'a RawValue>);

impl<'a> Raw<'a> {
    /// The JSON text.
    pub fn get(&self) -> Option<&'a str> {
        self.0.map(RawValue::get)
    }
    /// The JSON text, if it is an object.
    pub fn object(&self) -> Option<&'a str> {
        self.get().filter(|text| text.starts_with('{'))
    }
    /// The value, if it is a string.
    pub fn string(&self) -> Option<Cow<'a, str>> {
        let text = self.get().filter(|text| text.starts_with('"'))?;
        serde_json::from_str::<Text<'a>>(text).ok()?.0
    }
    /// Whether there is a value other than `null`.
    pub fn is_some(&self) -> bool {
        self.0.is_some()
    }
}

/// A link to another record: a key that is missing says something else than a key that is `null`.
#[derive(Clone, Debug, Default)]
pub enum Pointer<'a> {
    /// No such key.
    #[default]
    Missing,
    /// `null` (or no string).
    Null,
    /// The other record's id.
    To(Cow<'a, str>),
}

struct Lenient<T>(std::marker::PhantomData<T>);

/// What a value of each JSON type means for a lenient field; all are absent unless said otherwise.
trait Of<'de>: Default {
    fn borrowed(_: &'de str) -> Self {
        Self::default()
    }
    fn owned(_: &str) -> Self {
        Self::default()
    }
    fn number(_: u64) -> Self {
        Self::default()
    }
    fn truth(_: bool) -> Self {
        Self::default()
    }
    fn null() -> Self {
        Self::default()
    }
    fn other() -> Self {
        Self::default()
    }
}

impl<'de, T: Of<'de>> Visitor<'de> for Lenient<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<T, E> {
        Ok(T::borrowed(text))
    }
    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::owned(text))
    }
    fn visit_u64<E>(self, number: u64) -> Result<T, E> {
        Ok(T::number(number))
    }
    fn visit_i64<E>(self, number: i64) -> Result<T, E> {
        Ok(u64::try_from(number).map_or_else(|_| T::other(), T::number))
    }
    fn visit_f64<E>(self, number: f64) -> Result<T, E> {
        // 2^53: above it a float no longer holds every whole number.
        let whole = number.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&number);
        Ok(if whole { T::number(number as u64) } else { T::other() })
    }
    fn visit_bool<E>(self, truth: bool) -> Result<T, E> {
        Ok(T::truth(truth))
    }
    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::null())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<T, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(T::other())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(T::other())
    }
}

impl<'de: 'a, 'a> Of<'de> for Text<'a> {
    fn borrowed(text: &'de str) -> Text<'a> {
        Text(Some(Cow::Borrowed(text)))
    }
    fn owned(text: &str) -> Text<'a> {
        Text(Some(Cow::Owned(text.to_owned())))
    }
}

impl<'de: 'a, 'a> Of<'de> for Pointer<'a> {
    fn borrowed(text: &'de str) -> Pointer<'a> {
        Pointer::To(Cow::Borrowed(text))
    }
    fn owned(text: &str) -> Pointer<'a> {
        Pointer::To(Cow::Owned(text.to_owned()))
    }
    fn null() -> Pointer<'a> {
        Pointer::Null
    }
    fn other() -> Pointer<'a> {
        Pointer::Null
    }
}

impl Of<'_> for Number {
    fn number(number: u64) -> Number {
        Number(Some(number))
    }
}

impl Of<'_> for Count {
    fn borrowed(_: &str) -> Count {
        Count::Odd
    }
    fn owned(_: &str) -> Count {
        Count::Odd
    }
    fn number(number: u64) -> Count {
        if number <= Count::MOST { Count::Of(number) } else { Count::Odd }
    }
    fn truth(_: bool) -> Count {
        Count::Odd
    }
    fn other() -> Count {
        Count::Odd
    }
}

impl Of<'_> for Flag {
    fn truth(truth: bool) -> Flag {
        Flag(truth)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Lenient(std::marker::PhantomData))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Pointer<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Lenient(std::marker::PhantomData))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Lenient(std::marker::PhantomData))
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Lenient(std::marker::PhantomData))
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Lenient(std::marker::PhantomData))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let raw = <&'a RawValue>::deserialize(from)?;
        Ok(Raw((raw.get() != "null").then_some(raw)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Fields<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = Object<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_str<E>(self, _: &str) -> Result<Object<T>, E> {
                Ok(Object(None))
            }
            fn visit_u64<E>(self, _: u64) -> Result<Object<T>, E> {
                Ok(Object(None))
            }
            fn visit_i64<E>(self, _: i64) -> Result<Object<T>, E> {
                Ok(Object(None))
            }
            fn visit_f64<E>(self, _: f64) -> Result<Object<T>, E> {
                Ok(Object(None))
            }
            fn visit_bool<E>(self, _: bool) -> Result<Object<T>, E> {
                Ok(Object(None))
            }
            fn visit_unit<E>(self) -> Result<Object<T>, E> {
                Ok(Object(None))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Object<T>, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Object(None))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|fields| Object(Some(fields)))
            }
        }
        from.deserialize_any(Fields(std::marker::PhantomData))
    }
}

/// The same object with each key once; `None`: it is no JSON object at all.
pub fn keys_once(text: &str) -> Option<String> {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value @ serde_json::Value::Object(_)) => Some(value.to_string()),
        _ => None,
    }
}
