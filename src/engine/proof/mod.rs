//! The proof of the strategy seam: six systems and a made-up one, played by a scripted agent through the engine.
//!
//! [`scenarios`] hold what each system must do, millisecond by millisecond, written by hand from the rules of the seam
//! and the facts of the systems; [`broken`] holds sessions that break a rule; [`mutations`] breaks the engine and asks
//! whether a scenario notices; [`worlds`] plays random runs and checks what the engine promises of every run.

mod broken;
mod listing;
mod mutations;
mod player;
mod scenarios;
mod story;
mod stub;
