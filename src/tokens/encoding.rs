//! Encodings by name, and the error for a name that nothing goes by.

use std::fmt;
use std::str::FromStr;

/// An encoding: which tokens. Encodings are never mixed in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Encoding {
    /// `o200k_base` (GPT-4o and later).
    #[default]
    O200kBase,
    /// `cl100k_base` (GPT-4, GPT-3.5).
    Cl100kBase,
}

impl Encoding {
    /// Every encoding; the first is the default.
    pub const ALL: [Encoding; 2] = [Encoding::O200kBase, Encoding::Cl100kBase];

    /// Its name, as in every file.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::O200kBase => "o200k_base",
            Encoding::Cl100kBase => "cl100k_base",
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Encoding {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Encoding, UnknownName> {
        let found = Encoding::ALL.into_iter().find(|encoding| encoding.name() == name);
        found.ok_or_else(|| UnknownName::new("encoding", name, Encoding::ALL.map(Encoding::name)))
    }
}

/// A name that nothing goes by, with the names that something goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// What was asked for: an encoding, an engine.
    pub kind: &'static str,
    /// The name that was given.
    pub name: String,
    /// Every name that would do.
    pub known: Vec<&'static str>,
    /// The one of them that was probably meant.
    pub nearest: Option<&'static str>,
}

impl UnknownName {
    pub(super) fn new(kind: &'static str, name: &str, known: impl Into<Vec<&'static str>>) -> UnknownName {
        let known = known.into();
        let lower = name.to_lowercase();
        // Likeness that favours a common beginning: what people leave out of these names is their end.
        let likeness = |known: &&'static str| strsim::jaro_winkler(&lower, known);
        let near = known.iter().copied().filter(|known| likeness(known) > 0.8);
        let nearest = near.max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        UnknownName { kind, name: name.to_owned(), known, nearest }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no {} `{}`", self.kind, self.name)?;
        if let Some(nearest) = self.nearest {
            write!(f, ": did you mean `{nearest}`?")?;
        }
        write!(f, " (known: {})", self.known.join(", "))
    }
}

impl std::error::Error for UnknownName {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_finds_its_encoding_or_says_which_there_are() {
        fn check(name: &str, expect: Result<Encoding, &str>) {
            assert_eq!(name.parse::<Encoding>().map_err(|error| error.to_string()), expect.map_err(str::to_owned), "{name}");
        }
        check("o200k_base", Ok(Encoding::O200kBase));
        check("cl100k_base", Ok(Encoding::Cl100kBase));
        check("o200k", Err("there is no encoding `o200k`: did you mean `o200k_base`? (known: o200k_base, cl100k_base)"));
        check("CL100K_BASE", Err("there is no encoding `CL100K_BASE`: did you mean `cl100k_base`? (known: o200k_base, cl100k_base)"));
        check("gpt2", Err("there is no encoding `gpt2` (known: o200k_base, cl100k_base)"));
        check("", Err("there is no encoding `` (known: o200k_base, cl100k_base)"));
    }
}
