//! Who plays the threads, as it is typed or stands in a cell id.

use std::str::FromStr;

use crate::error::Error;
use crate::error::nearest::suggestion_or_stop;
use crate::model::reader::{READER, ReaderProfile};

/// A scenario's own script.
pub const SCRIPT: &str = "script";
/// A recording.
pub const HELD: &str = "held";

/// The replies of a cassette.
pub const CASSETTE: &str = "cassette";
/// A model at a provider.
pub const LIVE: &str = "live";

/// One of those who can play.
#[derive(Clone, Debug, PartialEq)]
pub enum Player {
    /// The simulated agent, ideal or with a profile.
    Reader(ReaderProfile),
    /// The script of a scenario file.
    Script,
    /// A recording's steps.
    Held,
    /// The replies of a cassette, by its name or path.
    Cassette(String),
    /// A model at a provider.
    Live {
        /// The provider.
        provider: String,
        /// The model, as the provider calls it.
        model: String,
    },
}

impl Player {
    /// Its name without options.
    pub fn name(&self) -> &'static str {
        match self {
            Player::Reader(_) => READER,
            Player::Script => SCRIPT,
            Player::Held => HELD,
            Player::Cassette(_) => CASSETTE,
            Player::Live { .. } => LIVE,
        }
    }
}

impl FromStr for Player {
    type Err = String;

    fn from_str(text: &str) -> Result<Player, String> {
        match text {
            SCRIPT => Ok(Player::Script),
            HELD => Ok(Player::Held),
            _ if text.split(':').next() == Some(READER) => text.parse().map(Player::Reader),
            _ if text.starts_with("live:") => match text["live:".len()..].split_once('/') {
                Some((provider, model)) if !provider.is_empty() && !model.is_empty() => {
                    Ok(Player::Live { provider: provider.to_owned(), model: model.to_owned() })
                }
                _ => Err("a model at a provider is written live:PROVIDER/NAME".to_owned()),
            },
            _ if text.starts_with("cassette:") => match &text["cassette:".len()..] {
                "" => Err("a cassette is written cassette:NAME, or cassette:PATH".to_owned()),
                name => Ok(Player::Cassette(name.to_owned())),
            },
            _ => {
                let known = [READER, SCRIPT, HELD, "cassette:NAME", "live:PROVIDER/NAME"];
                Err(format!("nobody of that name plays{} There are {}", suggestion_or_stop(text, known), known.join(", ")))
            }
        }
    }
}

/// Who was asked for: one who plays all, or readers, each of which makes a run of its own.
///
/// # Errors
/// Others than readers do not stand beside anybody.
pub fn together(players: &[Player]) -> Result<(Option<&'static str>, Vec<ReaderProfile>), Error> {
    let mut readers: Vec<ReaderProfile> = Vec::new();
    for player in players {
        match player {
            Player::Reader(profile) if !readers.contains(profile) => readers.push(*profile),
            Player::Reader(_) => {}
            _ if players.iter().any(|other| other != player) => {
                return Err(Error::Usage(format!("--model {} stands alone: give readers only, or run them apart", player.name())));
            }
            _ => {}
        }
    }
    Ok((players.first().map(Player::name), readers))
}
