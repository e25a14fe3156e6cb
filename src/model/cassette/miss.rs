//! A request that a cassette has no answer to.

use std::fmt;

use serde_json::Value;

use super::line::RequestPieces;
use super::tape::{Exchange, Lane, Tape};
use crate::model::wire::{Body, Section};

/// A request that was not recorded, with the recorded one that is nearest to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// Where the request belongs.
    pub at: Lane,
    /// The nearest one; `None`: nothing was recorded for the cell.
    pub nearest: Option<Nearest>,
}

/// The recorded request that has most in common with one that was not recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// The order of its send.
    pub order: u64,
    /// Where it belongs.
    pub at: Lane,
    /// The first piece that differs; `None`: none does, it was asked once more than it was recorded.
    pub differs: Option<Section>,
    /// That piece as it was recorded and as it is now, cut to what differs; empty: there is none.
    pub recorded: String,
    /// See `recorded`.
    pub now: String,
}

impl Miss {
    /// The nearest recorded request: of the same lane and turn if there is one, else of the same lane, else of the cell; of those the
    /// one that is the same for longest.
    pub(super) fn of(tape: &Tape, at: &Lane, request: &RequestPieces, body: &Body, used: &[bool]) -> Miss {
        let exchanges = tape.cells.get(&at.cell).map_or(&[][..], |cell| &cell.exchanges);
        let wanted = request.digests();
        let same = |one: &Exchange| one.request.digests().iter().zip(&wanted).take_while(|(was, now)| was == now).count();
        let near = |(number, one): &(usize, &Exchange)| {
            let (lane, turn) = (one.at.lane == at.lane, one.at.lane == at.lane && one.at.turn == at.turn);
            let unused = !used.get(*number).copied().unwrap_or(false);
            (turn, lane, one.at.exchange == at.exchange, unused, same(one))
        };
        let nearest = exchanges.iter().enumerate().max_by_key(near).map(|(_, one)| {
            let recorded = one.request.digests();
            let first = same(one);
            let differs = recorded.get(first).or(wanted.get(first)).map(|(section, _)| *section);
            let was = recorded.get(first).and_then(|(_, digest)| tape.pieces.get(*digest)).cloned();
            let now = body.pieces().nth(first).map(|(_, piece)| piece);
            let (recorded, now) = parted(was, now);
            Nearest { order: one.order, at: one.at.clone(), differs, recorded, now }
        });
        Miss { at: at.clone(), nearest }
    }
}

impl Miss {
    /// The same in one line, without what differs.
    pub fn in_a_line(&self) -> String {
        let Lane { lane, turn, exchange, .. } = &self.at;
        let differs = self.nearest.as_ref().and_then(|nearest| nearest.differs);
        let nearest = match (&self.nearest, differs) {
            (None, _) => "nothing was recorded for this cell".to_owned(),
            (Some(nearest), Some(section)) => format!("the nearest, order {}, parts first at {section}", nearest.order),
            (Some(nearest), None) => format!("the nearest, order {}, was recorded fewer times", nearest.order),
        };
        format!("thread {lane}, turn {turn}, request {exchange}: the cassette has no such request; {nearest}")
    }
}

/// Two values as texts from a little before where they part.
fn parted(was: Option<Value>, now: Option<Value>) -> (String, String) {
    let text = |value: Option<Value>| value.map_or(String::new(), |value| value.to_string());
    let (was, now) = (text(was), text(now));
    let same = was.chars().zip(now.chars()).take_while(|(one, other)| one == other).count();
    let from = |text: &str| {
        let begin = same.saturating_sub(20);
        let shown: String = text.chars().skip(begin).take(90).collect();
        let (before, behind) = (if begin > 0 { "…" } else { "" }, if text.chars().count() > begin + 90 { "…" } else { "" });
        if text.is_empty() { String::new() } else { format!("{before}{shown}{behind}") }
    };
    (from(&was), from(&now))
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lane { cell, lane, turn, exchange } = &self.at;
        write!(f, "{cell}, thread {lane}, turn {turn}, request {exchange}: the cassette has no such request.")?;
        let Some(nearest) = &self.nearest else {
            return write!(f, " Nothing was recorded for this cell: record it, or leave it out");
        };
        let Lane { lane, turn, exchange, .. } = &nearest.at;
        write!(f, " The nearest is that of thread {lane}, turn {turn}, request {exchange} (order {})", nearest.order)?;
        match nearest.differs {
            None => write!(f, ", which is the same and was recorded fewer times than it is asked for"),
            Some(section) => {
                let shown = |text: &str| if text.is_empty() { "nothing".to_owned() } else { text.to_owned() };
                write!(
                    f,
                    "; it parts first at {section}:\n  recorded: {}\n  now:      {}\n",
                    shown(&nearest.recorded),
                    shown(&nearest.now)
                )?;
                write!(f, "What was changed since has to be recorded again")
            }
        }
    }
}
