//! Proofs: reference values of other people's code, coverage and false alarms by simulation, invariants, and cases by hand.

mod by_hand;
mod coverage;
mod draws;
mod false_alarms;
mod properties;
mod reference;
