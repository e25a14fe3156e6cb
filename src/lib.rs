//! `ctxbench` measures what each way of handing context to a sub-agent costs.

pub mod cache;
pub mod check;
pub mod cli;
pub mod compare;
pub mod conformance;
pub mod engine;
pub mod error;
pub mod import;
pub mod ledger;
pub mod metrics;
pub mod model;
pub mod plan;
pub mod prices;
pub mod reason;
pub mod report;
pub mod results;
pub mod runner;
pub mod scenario;
pub mod score;
pub mod setting;
pub mod stats;
pub mod strategy;
pub mod sweep;
pub mod tokens;
pub mod transcript;

/// Fails a test unless the budgets of this crate hold: `budgets.toml` against `budgets.lock` beside its `Cargo.toml`, in locked
/// mode, over the built-in suite, the crate's `scenarios` folder and what is named. Nothing is written. The panic's message is
/// the report of `ctxbench check`.
///
/// ```no_run
/// ctxbench::assert_budgets!();
/// ctxbench::assert_budgets!("recordings/login.jsonl");
/// let registry = ctxbench::strategy::Registry::builtin();
/// ctxbench::assert_budgets!(registry: &registry, "recordings/login.jsonl");
/// ```
#[macro_export]
macro_rules! assert_budgets {
    (registry: $registry:expr $(, $what:expr)* $(,)?) => {
        if let Err(report) = $crate::cli::budgets_hold(::std::path::Path::new(env!("CARGO_MANIFEST_DIR")), &[$($what),*], $registry) {
            panic!("the budgets do not hold:\n\n{report}");
        }
    };
    ($($what:expr),* $(,)?) => {
        $crate::assert_budgets!(registry: &$crate::strategy::Registry::builtin(), $($what),*)
    };
}
