//! How a reader may fall short of the ideal one (rule 17): named, off by default, each an assumption and no forecast.

use std::fmt;
use std::str::FromStr;

use super::attention::{Curve, curve_names, named};
use crate::error::nearest::suggestion_or_stop;

/// What a reader does with what it can see, and without what it cannot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReaderProfile {
    /// How often it uses what stands before it; `None`: always.
    pub attention: Option<&'static Curve>,
    /// Which of several visible values of a topic it takes.
    pub stale: Stale,
    /// What it says of what it does not know.
    pub unknown: Unknown,
}

/// Which of several visible values of a topic a reader takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stale {
    /// The newest, in the order in which one supersedes the other, wherever it stands.
    #[default]
    Newest,
    /// The one that stands first.
    First,
    /// The one that stands last.
    Last,
}

/// What a reader says of what it does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unknown {
    /// That it does not know it: `unknown: LABEL`.
    #[default]
    Admit,
    /// A value of its own invention, as if it knew: `LABEL: VALUE`. Small live models admitted not knowing in 2 of 105 cases
    /// (this project's own trial).
    Guess,
}

/// The name of the reader without any of it.
pub const READER: &str = "reader";

const STALE: [(&str, Stale); 3] = [("newest", Stale::Newest), ("first", Stale::First), ("last", Stale::Last)];
const UNKNOWN: [(&str, Unknown); 2] = [("admit", Unknown::Admit), ("guess", Unknown::Guess)];
const KEYS: [&str; 3] = ["attention", "stale", "unknown"];

impl ReaderProfile {
    /// What it assumes, in whole sentences; nothing for the ideal reader.
    pub fn assumptions(&self) -> Vec<String> {
        let attention = self.attention.map(|curve| {
            let measured = curve.measured().map_or("over positions in a context".to_owned(), |(least, most)| {
                format!("at lengths of {least} to {most} tokens, beyond which it is taken to stay as it is")
            });
            format!(
                "Assumed: a visible fact is used as often as {} says, which was measured {measured}; a stress test of the strategy, no \
                 forecast of a model.",
                curve.name
            )
        });
        let stale = match self.stale {
            Stale::Newest => None,
            Stale::First => Some("Assumed: of several visible values of a topic the one that stands first is taken.".to_owned()),
            Stale::Last => Some("Assumed: of several visible values of a topic the one that stands last is taken.".to_owned()),
        };
        let unknown = (self.unknown == Unknown::Guess)
            .then(|| "Assumed: what is not known is invented and not admitted, so that no failed delegation is noticed by it.".to_owned());
        [attention, stale, unknown].into_iter().flatten().collect()
    }
}

impl fmt::Display for ReaderProfile {
    /// `reader[:KEY=VALUE,...]`, sorted by key, without defaults: the model's name in a cell id.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(READER)?;
        let attention = self.attention.map(|curve| curve.name);
        let stale = STALE.iter().find(|(_, stale)| *stale == self.stale && *stale != Stale::default()).map(|(name, _)| *name);
        let unknown = UNKNOWN.iter().find(|(_, unknown)| *unknown == self.unknown && *unknown != Unknown::default()).map(|(name, _)| *name);
        let mut separator = ':';
        for (key, value) in KEYS.into_iter().zip([attention, stale, unknown]) {
            if let Some(value) = value {
                write!(f, "{separator}{key}={value}")?;
                separator = ',';
            }
        }
        Ok(())
    }
}

impl FromStr for ReaderProfile {
    type Err = String;

    /// Reads `reader[:KEY=VALUE,...]`; the error says what there is.
    fn from_str(text: &str) -> Result<ReaderProfile, String> {
        let (name, options) = text.split_once(':').map_or((text, None), |(name, options)| (name, Some(options)));
        if name != READER {
            return Err(format!("`{name}` is not `{READER}`"));
        }
        let mut profile = ReaderProfile::default();
        let mut seen: Vec<&str> = Vec::new();
        for option in options.into_iter().flat_map(|options| options.split(',')) {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            if seen.contains(&key) {
                return Err(format!("`{key}` is there twice"));
            }
            seen.push(key);
            match key {
                "attention" => profile.attention = Some(named(value).ok_or_else(|| no_value(key, value, curve_names()))?),
                "stale" => profile.stale = one_of(key, value, &STALE)?,
                "unknown" => profile.unknown = one_of(key, value, &UNKNOWN)?,
                _ => return Err(format!("the reader has no option `{key}`{} It has {}", suggestion_or_stop(key, KEYS), KEYS.join(", "))),
            }
        }
        Ok(profile)
    }
}

fn one_of<T: Copy>(key: &str, value: &str, known: &[(&'static str, T)]) -> Result<T, String> {
    let found = known.iter().find(|(name, _)| *name == value).map(|(_, one)| *one);
    found.ok_or_else(|| no_value(key, value, known.iter().map(|(name, _)| *name)))
}

fn no_value(key: &str, value: &str, known: impl Iterator<Item = &'static str>) -> String {
    let known: Vec<&str> = known.collect();
    format!("`{value}` is no value of `{key}`{} There are {}", suggestion_or_stop(value, known.iter().copied()), known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            assert_eq!(text.parse::<ReaderProfile>().map(|profile| profile.to_string()), Ok(expect.to_owned()));
        }
        check("reader", "reader");
        check("reader:unknown=guess", "reader:unknown=guess");
        check("reader:unknown=admit,stale=newest", "reader");
        check("reader:unknown=guess,attention=nolima-gpt-4o,stale=last", "reader:attention=nolima-gpt-4o,stale=last,unknown=guess");
    }

    #[test]
    fn what_is_unknown_is_named_with_what_there_is() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            let why = text.parse::<ReaderProfile>().expect_err("it is wrong");
            assert!(why.contains(expect), "{why}");
        }
        check("reader:", "the reader has no option ``");
        check("reader:stale", "`` is no value of `stale`");
        check("reader:stale=frist", "did you mean `first`");
        check("reader:unknwon=guess", "did you mean `unknown`");
        check("reader:attention=nolima-gpt-4", "did you mean `nolima-gpt-4o`");
        check("reader:stale=last,stale=last", "`stale` is there twice");
        check("raeder:stale=last", "`raeder` is not `reader`");
    }
}
