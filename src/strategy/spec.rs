//! Strategy specs, as they are typed: `ID[@PROFILE][:KEY=VALUE,...]`.

use std::fmt;

/// A spec taken apart. Nothing is judged here: an empty part stays an empty text, which no registry knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The strategy's id.
    pub id: String,
    /// The profile; `*` means every one; `None`: the default.
    pub profile: Option<String>,
    /// The options, in the order in which they were typed.
    pub options: Vec<Setting>,
}

/// One option of a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its key.
    pub key: String,
    /// Its value; `None`: there is no `=`.
    pub value: Option<String>,
}

impl Spec {
    /// Takes a spec apart.
    pub fn parse(text: &str) -> Spec {
        let (head, options) = match text.split_once(':') {
            Some((head, options)) => (head, options.split(',').map(Setting::parse).collect()),
            None => (text, vec![]),
        };
        let (id, profile) = match head.split_once('@') {
            Some((id, profile)) => (id, Some(profile.to_owned())),
            None => (head, None),
        };
        Spec { id: id.to_owned(), profile, options }
    }
}

impl Setting {
    fn parse(text: &str) -> Setting {
        match text.split_once('=') {
            Some((key, value)) => Setting { key: key.to_owned(), value: Some(value.to_owned()) },
            None => Setting { key: text.to_owned(), value: None },
        }
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id)?;
        if let Some(profile) = &self.profile {
            write!(f, "@{profile}")?;
        }
        for (at, option) in self.options.iter().enumerate() {
            write!(f, "{}{}", if at == 0 { ':' } else { ',' }, option.key)?;
            if let Some(value) = &option.value {
                write!(f, "={value}")?;
            }
        }
        Ok(())
    }
}

/// Which part of a spec nobody knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecFault {
    /// The strategy.
    Id,
    /// The profile of a strategy.
    Profile {
        /// The strategy's id.
        strategy: &'static str,
    },
    /// The option of a profile.
    Key {
        /// `ID@PROFILE`.
        profile: String,
    },
    /// The option is given more than once.
    Twice {
        /// `ID@PROFILE`.
        profile: String,
    },
    /// The value of an option.
    Value {
        /// The option's key.
        key: &'static str,
    },
}

/// Why a spec names no strategy: what was given, where, what is known in its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("strategy `{spec}`: {}", self.explain())]
pub struct UnknownStrategy {
    /// The whole spec.
    pub spec: String,
    /// Which part is wrong.
    pub fault: SpecFault,
    /// The part, as it was given.
    pub given: String,
    /// What is known in its place, in the order of the registry.
    pub known: Vec<String>,
}

impl UnknownStrategy {
    /// What is known and takes the fewest edits (insert, delete, replace, swap neighbours) to reach; the first of
    /// several. `None`: nothing was given, or nothing is known.
    pub fn nearest(&self) -> Option<&str> {
        if self.given.is_empty() || matches!(self.fault, SpecFault::Twice { .. }) {
            return None;
        }
        self.known.iter().map(String::as_str).min_by_key(|known| strsim::damerau_levenshtein(known, &self.given))
    }

    fn explain(&self) -> String {
        let given = &self.given;
        let (what, kind) = match &self.fault {
            _ if given.is_empty() => ("a part is empty; write ID[@PROFILE][:KEY=VALUE,...]".to_owned(), self.kind()),
            SpecFault::Id => (format!("there is no strategy `{given}`"), self.kind()),
            SpecFault::Profile { strategy } => (format!("`{strategy}` has no profile `{given}`"), self.kind()),
            SpecFault::Key { profile } => (format!("`{profile}` has no option `{given}`"), self.kind()),
            SpecFault::Twice { profile: _ } => (format!("the option `{given}` is given twice; give it once"), self.kind()),
            SpecFault::Value { key } => (format!("the option `{key}` has no value `{given}`"), self.kind()),
        };
        let known = if self.known.is_empty() { "none".to_owned() } else { self.known.join(", ") };
        match self.nearest() {
            Some(nearest) => format!("{what}; the nearest is `{nearest}`; known {kind}: {known}"),
            None => format!("{what}; known {kind}: {known}"),
        }
    }

    fn kind(&self) -> String {
        match &self.fault {
            SpecFault::Id => "strategies".into(),
            SpecFault::Profile { strategy } => format!("profiles of `{strategy}` (`*` for all)"),
            SpecFault::Key { profile } | SpecFault::Twice { profile } => format!("options of `{profile}`"),
            SpecFault::Value { key } => format!("values of `{key}`"),
        }
    }
}
