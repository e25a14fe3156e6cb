//! What each system must do, millisecond by millisecond. The listings are worked out by hand from the rules of the seam
//! and the facts of the systems; none was copied from a run.

mod codex_v1;
mod codex_v2;
mod deerflow;
mod grace;
mod hand_off;
mod maf;
mod opencode;

/// A scenario: `Err` says what is not as expected.
pub type Scenario = fn() -> Result<(), String>;

/// Every scenario by its name.
pub fn all() -> Vec<(&'static str, Scenario)> {
    [codex_v1::ALL, codex_v2::ALL, opencode::ALL, deerflow::ALL, hand_off::ALL, maf::ALL, grace::ALL].concat()
}

#[test]
fn every_scenario_reads_as_expected() {
    let failures: Vec<String> =
        all().into_iter().filter_map(|(name, scenario)| scenario().err().map(|why| format!("== {name}\n{why}"))).collect();
    assert!(failures.is_empty(), "{} of {} scenarios failed\n\n{}", failures.len(), all().len(), failures.join("\n\n"));
}
