//! `ctxbench` measures what each way of handing context to a sub-agent costs.

pub mod cli;
pub mod conformance;
pub mod engine;
pub mod error;
pub mod import;
pub mod ledger;
pub mod metrics;
pub mod model;
pub mod plan;
pub mod report;
pub mod results;
pub mod runner;
pub mod scenario;
pub mod score;
pub mod setting;
pub mod strategy;
pub mod tokens;
pub mod transcript;
