//! Models at providers, cassettes and their replay, with the real binary and a provider of our own (wiremock).
//!
//! No test waits for more than a moment: patience and waits are a few milliseconds.
#![cfg(feature = "live")]

mod cassettes;
mod judging;
mod keys;
mod killed;
mod money;
mod provider;
mod say;
mod trouble;
mod wires;
mod without_sockets;
