//! The built-in suite, embedded in the binary.

use std::collections::BTreeMap;

use super::file::{ScenarioErrors, compile};
use super::{Scenario, Size};

/// Every built-in scenario with the text of its file, in the order in which they run. A file's variants follow it.
const SUITE: [(&str, &str); 15] = [
    ("auth-lookup", include_str!("../../scenarios/auth-lookup.yaml")),
    ("auth-lookup-parallel", include_str!("../../scenarios/auth-lookup.yaml")),
    ("tiny-task", include_str!("../../scenarios/tiny-task.yaml")),
    ("recent-decision", include_str!("../../scenarios/recent-decision.yaml")),
    ("recent-decision-2", include_str!("../../scenarios/recent-decision.yaml")),
    ("recent-decision-beside-call", include_str!("../../scenarios/recent-decision.yaml")),
    ("recent-decision-lost", include_str!("../../scenarios/recent-decision.yaml")),
    ("old-decision", include_str!("../../scenarios/recent-decision.yaml")),
    ("fan-out-3", include_str!("../../scenarios/fan-out-3.yaml")),
    ("fan-out-3-serial", include_str!("../../scenarios/fan-out-3.yaml")),
    ("follow-up-detail", include_str!("../../scenarios/follow-up-detail.yaml")),
    ("follow-up-detail-once", include_str!("../../scenarios/follow-up-detail.yaml")),
    ("flooding-report", include_str!("../../scenarios/flooding-report.yaml")),
    ("flooding-report-tail", include_str!("../../scenarios/flooding-report.yaml")),
    ("recursion-bomb", include_str!("../../scenarios/recursion-bomb.yaml")),
];

/// The names of the built-in scenarios, in the order in which they run.
pub fn builtin_names() -> Vec<&'static str> {
    SUITE.iter().map(|(name, _)| *name).collect()
}

/// The text of a built-in scenario's file; [`compile`] with the same name gives that scenario, also where the file holds
/// several.
pub fn builtin(name: &str) -> Option<&'static str> {
    SUITE.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// A built-in scenario, compiled; `None`: there is none of this name.
///
/// # Errors
/// As [`compile`]: for a size that the scenario does not offer, or a parameter that it does not have.
pub fn compile_builtin(name: &str, size: Size, overrides: &BTreeMap<String, i64>) -> Option<Result<Scenario, ScenarioErrors>> {
    builtin(name).map(|text| compile(text, name, size, overrides))
}
