//! The built-in suite, embedded in the binary.

use std::collections::BTreeMap;

use super::file::{ScenarioErrors, compile};
use super::{Scenario, Size};

/// Every built-in scenario with the text of its file, in the order in which they run. A file's variants follow it.
const SUITE: [(&str, &str); 52] = [
    ("auth-lookup", include_str!("../../scenarios/auth-lookup.yaml")),
    ("auth-lookup-parallel", include_str!("../../scenarios/auth-lookup.yaml")),
    ("test-framework", include_str!("../../scenarios/test-framework.yaml")),
    ("tiny-task", include_str!("../../scenarios/tiny-task.yaml")),
    ("continue-debugging", include_str!("../../scenarios/continue-debugging.yaml")),
    ("continue-debugging-late", include_str!("../../scenarios/continue-debugging.yaml")),
    ("recent-decision", include_str!("../../scenarios/recent-decision.yaml")),
    ("recent-decision-2", include_str!("../../scenarios/recent-decision.yaml")),
    ("recent-decision-beside-call", include_str!("../../scenarios/recent-decision.yaml")),
    ("recent-decision-lost", include_str!("../../scenarios/recent-decision.yaml")),
    ("old-decision", include_str!("../../scenarios/recent-decision.yaml")),
    ("stale-decision", include_str!("../../scenarios/stale-decision.yaml")),
    ("stale-decision-final-answer", include_str!("../../scenarios/stale-decision.yaml")),
    ("stale-decision-beside-call", include_str!("../../scenarios/stale-decision.yaml")),
    ("stale-decision-tool-result", include_str!("../../scenarios/stale-decision.yaml")),
    ("stale-decision-hidden", include_str!("../../scenarios/stale-decision.yaml")),
    ("stale-decision-summary", include_str!("../../scenarios/stale-decision.yaml")),
    ("stale-decision-written-down", include_str!("../../scenarios/stale-decision.yaml")),
    ("correction-after-dispatch", include_str!("../../scenarios/correction-after-dispatch.yaml")),
    ("correction-after-dispatch-slow", include_str!("../../scenarios/correction-after-dispatch.yaml")),
    ("fan-out-3", include_str!("../../scenarios/fan-out-3.yaml")),
    ("fan-out-3-serial", include_str!("../../scenarios/fan-out-3.yaml")),
    ("fan-out-8", include_str!("../../scenarios/fan-out-8.yaml")),
    ("follow-up-detail", include_str!("../../scenarios/follow-up-detail.yaml")),
    ("follow-up-detail-once", include_str!("../../scenarios/follow-up-detail.yaml")),
    ("flooding-report", include_str!("../../scenarios/flooding-report.yaml")),
    ("flooding-report-tail", include_str!("../../scenarios/flooding-report.yaml")),
    ("vague-brief", include_str!("../../scenarios/vague-brief.yaml")),
    ("vague-brief-two", include_str!("../../scenarios/vague-brief.yaml")),
    ("in-flight-calls", include_str!("../../scenarios/in-flight-calls.yaml")),
    ("in-flight-calls-once", include_str!("../../scenarios/in-flight-calls.yaml")),
    ("in-flight-calls-deed", include_str!("../../scenarios/in-flight-calls.yaml")),
    ("compacted-parent", include_str!("../../scenarios/compacted-parent.yaml")),
    ("recursion-bomb", include_str!("../../scenarios/recursion-bomb.yaml")),
    ("child-fails", include_str!("../../scenarios/child-fails.yaml")),
    ("child-fails-empty", include_str!("../../scenarios/child-fails.yaml")),
    ("child-fails-preamble", include_str!("../../scenarios/child-fails.yaml")),
    ("child-fails-rounds", include_str!("../../scenarios/child-fails.yaml")),
    ("child-fails-slow", include_str!("../../scenarios/child-fails.yaml")),
    ("child-fails-never", include_str!("../../scenarios/child-fails.yaml")),
    ("permission-narrowing", include_str!("../../scenarios/permission-narrowing.yaml")),
    ("code-review-diff", include_str!("../../scenarios/code-review-diff.yaml")),
    ("test-log-triage", include_str!("../../scenarios/test-log-triage.yaml")),
    ("chinese-codebase", include_str!("../../scenarios/chinese-codebase.yaml")),
    ("research-artifacts", include_str!("../../scenarios/research-artifacts.yaml")),
    ("long-session", include_str!("../../scenarios/long-session.yaml")),
    ("cache-break", include_str!("../../scenarios/cache-break.yaml")),
    ("cache-break-first-word", include_str!("../../scenarios/cache-break.yaml")),
    ("cache-break-slow", include_str!("../../scenarios/cache-break.yaml")),
    ("conflicting-writes", include_str!("../../scenarios/conflicting-writes.yaml")),
    ("conflicting-writes-serial", include_str!("../../scenarios/conflicting-writes.yaml")),
    ("noisy-history", include_str!("../../scenarios/noisy-history.yaml")),
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
