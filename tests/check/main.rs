//! `check`, `explain` and the budgets' files, with the real binary.

mod accepting;
mod commands;
mod explaining;
mod files;
mod grown;
mod guide;
mod locked;
mod merging;
mod outputs;
mod project;
mod verdicts;
