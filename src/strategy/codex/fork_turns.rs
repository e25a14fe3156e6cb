//! The argument `fork_turns`: what agents write, and what a release makes of it.

use std::fmt;
use std::str::FromStr;

use super::profile::{Profile, Turns};
use super::rollout::Extent;

/// What an agent writes into its calls as `fork_turns`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForkTurns {
    /// Nothing: as `all`.
    #[default]
    Absent,
    /// `none`: the child opens with its task alone.
    None,
    /// `all`.
    All,
    /// So many of the last turns.
    Last(u64),
}

impl ForkTurns {
    /// The words that stand for a value in strategy specs, the default first.
    pub const WORDS: [&str; 3] = ["absent", "none", "all"];

    /// The value that a spec's word or number stands for.
    pub fn named(name: &str) -> Option<ForkTurns> {
        match name {
            "absent" => Some(ForkTurns::Absent),
            "none" => Some(ForkTurns::None),
            "all" => Some(ForkTurns::All),
            number => number.parse().ok().filter(|&turns| turns > 0).map(ForkTurns::Last),
        }
    }
}

impl fmt::Display for ForkTurns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ForkTurns::Absent => f.write_str("absent"),
            ForkTurns::None => f.write_str("none"),
            ForkTurns::All => f.write_str("all"),
            ForkTurns::Last(turns) => write!(f, "{turns}"),
        }
    }
}

impl Profile {
    /// How much an argument `fork_turns` hands down; `None`: nothing. The error is the call's result.
    pub(super) fn extent(&self, asked: Option<&str>) -> Result<Option<Extent>, String> {
        let asked = asked.unwrap_or_default().trim();
        if asked.is_empty() || asked.eq_ignore_ascii_case("all") {
            return Ok(Some(Extent::Full));
        }
        if asked.eq_ignore_ascii_case("none") {
            return Ok(None);
        }
        match (u64::from_str(asked), self.turns) {
            (Ok(turns), Turns::Honoured) if turns > 0 => Ok(Some(Extent::Last(turns))),
            (Ok(turns), Turns::Ignored | Turns::Undocumented) if turns > 0 => Ok(Some(Extent::Full)),
            (_, Turns::Undocumented) => Err("fork_turns must be `none` or `all`".into()),
            (_, Turns::Honoured | Turns::Ignored) => Err("fork_turns must be `none`, `all`, or a positive integer string".into()),
        }
    }
}
