//! The one enum that the verdict line, the JSON and the exit code come from.

use serde::Serialize;

use crate::error::Exit;

/// What became of one figure, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// The cell failed, and its scenario did not expect it to: it has no figures to hold to anything.
    Failed,
    /// Above its `max`.
    Over,
    /// Below its `min`.
    Under,
    /// More than the accepted value and what it may grow by.
    Grew,
    /// Less than the accepted value and what it may drop by.
    Dropped,
    /// Accepted, and not there any more.
    Gone,
    /// There, and not accepted yet.
    New,
    /// Accepted for another scenario, strategy or model of the same name.
    Stale,
    /// Without a value.
    Unmeasured,
    /// A limit of level `warn` is exceeded.
    Warn,
    /// Changed for the better.
    Better,
    /// Within its limits.
    Ok,
}

impl Verdict {
    /// Every verdict, worst first.
    pub const ALL: [Verdict; 12] = [
        Verdict::Failed,
        Verdict::Over,
        Verdict::Under,
        Verdict::Grew,
        Verdict::Dropped,
        Verdict::Gone,
        Verdict::New,
        Verdict::Stale,
        Verdict::Unmeasured,
        Verdict::Warn,
        Verdict::Better,
        Verdict::Ok,
    ];

    /// Its name in every output. What may fail a check is written in capitals.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Failed => "FAILED",
            Verdict::Over => "OVER",
            Verdict::Under => "UNDER",
            Verdict::Grew => "GREW",
            Verdict::Dropped => "DROPPED",
            Verdict::Gone => "GONE",
            Verdict::New => "NEW",
            Verdict::Stale => "STALE",
            Verdict::Unmeasured => "UNMEASURED",
            Verdict::Warn => "warn",
            Verdict::Better => "better",
            Verdict::Ok => "ok",
        }
    }

    /// What it means, in a few words.
    pub fn about(self) -> &'static str {
        match self {
            Verdict::Failed => "the cell failed, and its scenario did not expect it to",
            Verdict::Over => "above its max",
            Verdict::Under => "below its min",
            Verdict::Grew => "more than was accepted, and than it may grow by",
            Verdict::Dropped => "less than was accepted, and than it may drop by",
            Verdict::Gone => "accepted, and not there any more",
            Verdict::New => "not accepted yet",
            Verdict::Stale => "accepted for another content of the scenario, the strategy, the model or the settings",
            Verdict::Unmeasured => "without a value",
            Verdict::Warn => "a limit of level warn is exceeded",
            Verdict::Better => "changed for the better",
            Verdict::Ok => "within its limits",
        }
    }

    /// How a check ends because of it. What cannot be compared fails in locked mode alone.
    pub fn exit(self, locked: bool) -> Exit {
        match self {
            Verdict::Failed => Exit::CellFailed,
            Verdict::Over | Verdict::Under | Verdict::Grew | Verdict::Dropped => Exit::LimitExceeded,
            Verdict::Gone | Verdict::New | Verdict::Stale | Verdict::Unmeasured if locked => Exit::NotComparable,
            Verdict::Gone | Verdict::New | Verdict::Stale | Verdict::Unmeasured => Exit::Fine,
            Verdict::Warn | Verdict::Better | Verdict::Ok => Exit::Fine,
        }
    }
}

impl Serialize for Verdict {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The exit codes that a finished check may have, the one that wins first.
pub const EXITS: [Exit; 5] = [Exit::CellFailed, Exit::NothingChecked, Exit::NotComparable, Exit::LimitExceeded, Exit::Fine];

/// What an exit code of a check says, in a few words.
pub fn exit_words(exit: Exit) -> &'static str {
    match exit {
        Exit::Fine => "pass",
        Exit::Failure => "internal or I/O error",
        Exit::Usage => "wrong usage",
        Exit::BadInput => "bad budgets, lock or input file",
        Exit::LimitExceeded => "a limit is exceeded",
        Exit::NotComparable => "not all can be compared with what was accepted",
        Exit::NothingChecked => "nothing was checked, or a budget matched nothing",
        Exit::CellFailed => "a cell failed",
        Exit::Interrupted => "interrupted",
        Exit::Terminated => "terminated",
        Exit::Conformance => "conformance failures",
        Exit::CapReached => "spending cap reached",
    }
}

/// The one that wins of several.
pub fn worst(exits: impl IntoIterator<Item = Exit>) -> Exit {
    let rank = |exit: &Exit| EXITS.iter().position(|one| one == exit).unwrap_or(0);
    exits.into_iter().min_by_key(rank).unwrap_or(Exit::Fine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_become_exit_codes() {
        let check = |verdict: Verdict, local: u8, locked: u8| {
            assert_eq!(verdict.exit(false) as u8, local, "{verdict:?}");
            assert_eq!(verdict.exit(true) as u8, locked, "{verdict:?}, locked");
        };
        check(Verdict::Failed, 13, 13);
        check(Verdict::Over, 10, 10);
        check(Verdict::Under, 10, 10);
        check(Verdict::Grew, 10, 10);
        check(Verdict::Dropped, 10, 10);
        check(Verdict::Gone, 0, 11);
        check(Verdict::New, 0, 11);
        check(Verdict::Stale, 0, 11);
        check(Verdict::Unmeasured, 0, 11);
        check(Verdict::Warn, 0, 0);
        check(Verdict::Better, 0, 0);
        check(Verdict::Ok, 0, 0);
    }

    #[test]
    fn of_several_codes_one_wins() {
        let check = |exits: &[Exit], expect: u8| assert_eq!(worst(exits.iter().copied()) as u8, expect, "{exits:?}");
        check(&[], 0);
        check(&[Exit::Fine, Exit::LimitExceeded], 10);
        check(&[Exit::LimitExceeded, Exit::NotComparable], 11);
        check(&[Exit::NothingChecked, Exit::LimitExceeded, Exit::NotComparable], 12);
        check(&[Exit::NothingChecked, Exit::CellFailed, Exit::Fine], 13);
    }

    #[test]
    fn verdicts_stand_worst_first() {
        assert!(Verdict::ALL.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
