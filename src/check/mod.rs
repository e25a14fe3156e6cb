//! The budget check: cells against `budgets.toml`, which people own, and against `budgets.lock`, which holds what was
//! accepted.
//!
//! Only what is counted exactly is gated on: tokens, requests, virtual milliseconds, scores of deterministic runs; never
//! wall time, never one live run. Absolute limits (`max`, `min`) and relative ones (`grow`, `drop`, against the accepted
//! value, never against the previous run) are separate verdicts, and neither masks the other. Every cell and metric
//! stands for itself; there are no means. What cannot be compared (new, gone, stale, unmeasured) has a name, and fails
//! in locked mode. Nothing checked is not a pass.

mod accept;
mod allowance;
mod budget;
mod checked;
mod choice;
mod difference;
mod file;
mod judge;
mod lock;
mod measured;
mod pattern;
mod possible;
mod renamed;
mod schema;
mod split;
mod trail;
mod troubles;
mod verdict;

pub use accept::{AcceptError, Accepted, Change as LockChange, Selection, accept};
pub use allowance::{Allowance, Millionths, millionths, plain};
pub use budget::{Bound, Budget, Budgets, Level, Limit, MetricBudget, Typed};
pub use checked::{About, Checked, Given, Held, Matched, Row, Trouble};
pub use choice::Choice;
pub use difference::{Change, Pair, Place, pairs};
pub use file::{BUDGETS_VERSION, BudgetErrors, STARTER, parse as parse_budgets};
pub use judge::{MeasuredCell, Terms, judge};
pub use lock::{Figure, LOCK_FORMAT, Lock, LockError, LockedCell, Twice};
pub use measured::measured_cell;
pub use pattern::{Pattern, Patterns, is_glob, literal};
pub use schema::budgets_schema;
pub use split::Split;
pub use trail::{Exchange, MAX_MARKS, MAX_REQUESTS, Mark, Trail};
pub use verdict::{EXITS, Verdict, exit_words, worst};
