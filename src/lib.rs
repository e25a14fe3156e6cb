//! `ctxbench` measures what each way of handing context to a sub-agent costs.

pub mod engine;
pub mod import;
pub mod ledger;
pub mod model;
pub mod scenario;
pub mod setting;
pub mod strategy;
pub mod tokens;
pub mod transcript;
