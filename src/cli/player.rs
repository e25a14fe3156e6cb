//! Who plays the threads, as it is typed or stands in a cell id.

use std::str::FromStr;

use crate::error::Error;
use crate::error::nearest::suggestion_or_stop;
use crate::model::reader::{READER, ReaderProfile};

/// A scenario's own script.
pub const SCRIPT: &str = "script";
/// A recording.
pub const HELD: &str = "held";

/// One of those who can play.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Player {
    /// The simulated agent, ideal or with a profile.
    Reader(ReaderProfile),
    /// The script of a scenario file.
    Script,
    /// A recording's steps.
    Held,
}

impl Player {
    /// Its name without options.
    pub fn name(&self) -> &'static str {
        match self {
            Player::Reader(_) => READER,
            Player::Script => SCRIPT,
            Player::Held => HELD,
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
            _ => {
                let known = [READER, SCRIPT, HELD];
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
            Player::Script | Player::Held if players.iter().any(|other| other != player) => {
                return Err(Error::Usage(format!("--model {} stands alone: give readers only, or run them apart", player.name())));
            }
            Player::Script | Player::Held => {}
        }
    }
    Ok((players.first().map(Player::name), readers))
}
