//! What budgets choose from: for those that match nothing of it.

use std::collections::BTreeSet;

use crate::error::nearest::nearest;

use super::judge::MeasuredCell;

/// What budgets choose from: for those that match nothing.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The scenarios that were given or found, as they stand in cell ids.
    pub scenarios: BTreeSet<String>,
    /// Those of the built-in suite.
    pub suite: Vec<&'static str>,
}

impl Choice {
    /// What there is, the nearest first.
    pub fn hint(&self, wanted: &[String], cells: &[MeasuredCell]) -> String {
        let known = || self.scenarios.iter().map(String::as_str).chain(self.suite.iter().copied());
        let near = wanted.iter().find_map(|wanted| nearest(bare(wanted), known()));
        if let Some(near) = near.filter(|near| !wanted.iter().any(|wanted| wanted == near)) {
            return format!(
                "Did you mean `{near}`? A scenario is named as in its cells' ids: NAME[~SIZE][+BRIEF][+FALLBACK], written out, and what is \
                 the default (small, same, the scenario's own) left out"
            );
        }
        let strategies: BTreeSet<&str> = cells.iter().map(|cell| cell.id.strategy.as_str()).collect();
        let some = |names: Vec<&str>| {
            let shown = names.iter().take(8).copied().collect::<Vec<_>>().join(", ");
            if names.len() > 8 { format!("{shown} and {} more", names.len() - 8) } else { shown }
        };
        let strategies = if strategies.is_empty() {
            "`ctxbench list strategies` names the strategies".to_owned()
        } else {
            format!("the strategies that were run are {}", some(strategies.into_iter().collect()))
        };
        format!("The scenarios are {}; {strategies}", some(known().collect()))
    }
}

/// A pattern without marks and stars.
fn bare(pattern: &str) -> &str {
    pattern.split(['~', '+']).next().unwrap_or(pattern).trim_matches('*')
}
