//! The rules of a sound scenario.

use crate::scenario::Scenario;

use super::Builder;

impl Builder<'_> {
    /// Checks the compiled scenario.
    pub(super) fn rules(&mut self, _scenario: &Scenario) {}
}
