//! Models at providers, asked over the network.

mod client;
mod key;
mod provider;
mod purse;
mod retry;

pub use client::{Client, ClientError, Manners};
pub use key::{Key, KeyError};
pub use provider::{PROVIDERS, Provider, provider};
pub use purse::{Cap, Purse, Spent};
pub use retry::Backoff;
