//! Budgets as a test: `cargo test` is the gate.

use std::path::Path;

use crate::error::Exit;
use crate::report::{Format, checked as report};
use crate::strategy::Registry;

use super::args::BudgetArgs;
use super::check::checked;
use super::console::{Colour, Console, Level};
use super::lock_file::Merged;

/// Checks a folder's `budgets.toml` against its `budgets.lock` in locked mode, with these strategies, and writes nothing.
/// `what`: scenarios and recordings beside the built-in suite and the folder's `scenarios`; relative paths are of the folder.
///
/// # Errors
/// The report for people, if it does not pass.
pub fn budgets_hold(folder: &Path, what: &[&str], registry: &Registry) -> Result<String, String> {
    let files = BudgetArgs {
        budgets: Some(folder.join("budgets.toml")),
        lock: Some(folder.join("budgets.lock")),
        against: None,
        grow: None,
        drop: None,
        strict: false,
        locked: true,
    };
    let beside = |one: &&str| if folder.join(one).exists() { folder.join(one).display().to_string() } else { (*one).to_owned() };
    let scenarios = folder.join("scenarios");
    let own = scenarios.is_dir().then(|| scenarios.display().to_string());
    let what: Vec<String> = own.into_iter().chain(what.iter().map(beside)).collect();
    let console = Console::new(true, Level::Error, Colour::Never);
    match checked(&files, &what, Merged::Refused, None, registry, &console) {
        Err(why) => Err(why.to_string()),
        Ok(Err(exit)) => Err(format!("stopped (exit {})", exit as u8)),
        Ok(Ok((whole, _, _))) => {
            let text = report(&whole, Format::Human, false).unwrap_or_default();
            if whole.exit() == Exit::Fine { Ok(text) } else { Err(text) }
        }
    }
}
