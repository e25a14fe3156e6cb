//! A cassette as it is looked up.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use serde_json::Value;

use super::line::{Delivered, Line, Order, RequestPieces, Send};
use crate::model::wire::{Body, Delivery, Section};
use crate::transcript::Digest;

/// Where a request belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The cell: scenario, strategy and seed.
    pub cell: String,
    /// The thread's path.
    pub lane: String,
    /// Its turn, from 1.
    pub turn: u32,
    /// The request in the turn, from 0.
    pub exchange: u32,
}

/// One attempt, with what came back.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// How long it was waited before it, in milliseconds.
    pub waited_ms: u64,
    /// What came back.
    pub delivery: Delivery,
}

/// One request with its attempts.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// The order of its first send.
    pub order: Order,
    /// Where it belongs.
    pub at: Lane,
    /// The digest of the canonical request.
    pub digest: String,
    /// Its pieces.
    pub request: RequestPieces,
    /// What came back, attempt by attempt.
    pub attempts: Vec<Attempt>,
    /// Whether the last attempt is there.
    pub whole: bool,
    /// Whether the same place was asked again later, after a failure or a kill: what came then counts.
    pub superseded: bool,
}

/// The exchanges of one cell, in order of sending.
#[derive(Clone, Debug, Default)]
pub struct CellTape {
    /// The exchanges.
    pub exchanges: Vec<Exchange>,
    /// Whether the cell was played to its end.
    pub done: bool,
}

/// All of a cassette behind its head.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    /// Pieces of requests by digest.
    pub pieces: FxHashMap<String, Value>,
    /// The cells, in order of their first request.
    pub cells: IndexMap<String, CellTape>,
    /// The next place in the one order.
    pub next: Order,
    /// Where each send without a delivery stands: its cell and the exchange's number.
    open: BTreeMap<Order, (String, usize, u64)>,
}

impl Tape {
    /// Takes the next line.
    ///
    /// # Errors
    /// It does not follow from those before: an order that is not the next, a delivery of nothing that was sent, a piece or a digest
    /// that is not what it says.
    pub fn take(&mut self, line: Line) -> Result<(), String> {
        match line {
            Line::Piece(piece) => {
                self.pieces.insert(piece.digest, piece.json);
                Ok(())
            }
            Line::Send(send) => self.sent(send),
            Line::Delivery(delivered) => self.delivered(delivered),
            Line::Done(done) => {
                self.in_order(done.order)?;
                self.cells.entry(done.cell).or_default().done = true;
                Ok(())
            }
        }
    }

    fn in_order(&mut self, order: Order) -> Result<(), String> {
        if order != self.next {
            return Err(format!("its order is {order} where {} is the next: lines are missing or stand twice", self.next));
        }
        self.next += 1;
        Ok(())
    }

    fn sent(&mut self, send: Send) -> Result<(), String> {
        self.in_order(send.order)?;
        let pieces = send.request.digests();
        if let Some((_, unknown)) = pieces.iter().find(|(_, digest)| !self.pieces.contains_key(*digest)) {
            return Err(format!("it names the piece {unknown}, which stands nowhere before it"));
        }
        let digests = pieces.iter().map(|(_, digest)| parse(digest)).collect::<Option<Vec<Digest>>>();
        if digests.is_none_or(|digests| hex(Body::digest(&digests)) != send.digest) {
            return Err("its digest is not that of its pieces".to_owned());
        }
        let at = Lane { cell: send.cell.clone(), lane: send.lane, turn: send.turn, exchange: send.exchange };
        let cell = self.cells.entry(send.cell.clone()).or_default();
        if send.attempt == 1 {
            cell.exchanges.iter_mut().filter(|one| one.at == at).for_each(|one| one.superseded = true);
        }
        let again = |one: &Exchange| send.attempt > 1 && one.at == at && one.digest == send.digest && !one.whole && !one.superseded;
        let number = match cell.exchanges.iter().rposition(again) {
            Some(number) => number,
            None => {
                let (order, digest, request) = (send.order, send.digest, send.request);
                cell.exchanges.push(Exchange { order, at, digest, request, attempts: vec![], whole: false, superseded: false });
                cell.exchanges.len() - 1
            }
        };
        self.open.insert(send.order, (send.cell, number, send.waited_ms));
        Ok(())
    }

    fn delivered(&mut self, delivered: Delivered) -> Result<(), String> {
        self.in_order(delivered.order)?;
        let Some((cell, number, waited_ms)) = self.open.remove(&delivered.send) else {
            return Err(format!("it answers send {}, which is not open", delivered.send));
        };
        let exchange = self.cells.get_mut(&cell).and_then(|cell| cell.exchanges.get_mut(number));
        let Some(exchange) = exchange else { return Err("the cell of its send is gone".to_owned()) };
        exchange.attempts.push(Attempt { waited_ms, delivery: delivered.reply });
        exchange.whole = delivered.last;
        Ok(())
    }

    /// How many sends have no delivery.
    pub fn unanswered(&self) -> usize {
        self.open.len()
    }

    /// A digest of the exchanges of a cell that `counts` says yes to; `None`: there is none.
    pub fn content(&self, cell: &str, counts: impl Fn(&Exchange) -> bool) -> Option<Digest> {
        let cell = self.cells.get(cell)?;
        let of = |exchange: &Exchange| {
            let attempts = exchange.attempts.iter().map(|one| {
                let content = serde_json::to_string(&one.delivery.content).unwrap_or_default();
                Digest::of(&format!("{:?} {} {} {content}", one.delivery.status, one.waited_ms, one.delivery.ms))
            });
            Digest::chain(attempts.chain([Digest::of(&exchange.digest)]))
        };
        let counting: Vec<Digest> = cell.exchanges.iter().filter(|one| counts(one)).map(of).collect();
        (!counting.is_empty()).then(|| Digest::chain(counting))
    }
}

impl RequestPieces {
    /// Every piece with its place, in order.
    pub fn digests(&self) -> Vec<(Section, &String)> {
        let system = self.system.iter().map(|digest| (Section::System, digest));
        let tools = self.tools.iter().enumerate().map(|(at, digest)| (Section::Tool(at), digest));
        let items = self.items.iter().enumerate().map(|(at, digest)| (Section::Item(at), digest));
        std::iter::once((Section::Head, &self.head)).chain(system).chain(tools).chain(items).collect()
    }
}

/// A digest as cassettes write it: all of its 32 digits.
pub(super) fn hex(digest: Digest) -> String {
    format!("{:032x}", digest.0)
}

fn parse(digest: &str) -> Option<Digest> {
    u128::from_str_radix(digest, 16).ok().map(Digest)
}
