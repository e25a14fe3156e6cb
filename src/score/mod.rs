//! Scores of a run: what the final answer and each return are worth, and what each child could have known.
//!
//! Everything here looks at texts alone, and only at those that their reader got: the final answer as the user reads it,
//! a return as it entered the parent, a child's last request as it was sent.

use crate::scenario::Scenario;

mod ask;

/// The scores of a run; each lies between 0 and 1, `Err` says why there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// Weighted mean of the checks on the final answer; 0 for a failed run.
    pub quality: Result<f64, String>,
    /// Each check on the final answer, in the scenario's order.
    pub checks: Vec<CheckScore>,
    /// Returns scored by their own intents' checks, on the text as it entered the parent.
    pub child_quality: Result<f64, String>,
    /// Share of the needed facts visible at a child's last request.
    pub child_coverage: Result<f64, String>,
}

/// One check on the final answer.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckScore {
    /// The check's id.
    pub id: String,
    /// Its score, or what is wrong with the check.
    pub score: Result<f64, String>,
}
