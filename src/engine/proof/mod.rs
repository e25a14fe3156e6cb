//! The proof of the strategy seam: six systems and a made-up one, played by a scripted agent through the engine.
//!
//! [`scenarios`] hold what each system must do, millisecond by millisecond, written by hand from the rules of the seam
//! and the facts of the systems; [`broken`] holds sessions that break a rule; [`mutations`] breaks the engine and asks
//! whether a scenario notices; [`random_runs`] plays random [`worlds`] and checks the [`promises`] of every run, each of
//! which it also sees broken; [`same_requests`] asks whether anything but what a strategy renders makes a difference.

mod broken;
mod listing;
mod mutations;
mod player;
mod promises;
mod random_runs;
mod same_requests;
mod scenarios;
mod story;
mod stub;
mod watched;
mod worlds;
