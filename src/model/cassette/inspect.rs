//! A cassette looked at as a whole: is it sound, what is in it, what of it is needed.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::Cassette;
use super::line::{Delivered, Done, Head, Line, PieceLine, Send};
use super::tape::{Exchange, Tape, hex};
use crate::ledger::Usage;
use crate::model::wire::Stop;

/// What is wrong with a cassette that could be read; empty: nothing.
pub fn verify(cassette: &Cassette) -> Vec<String> {
    cassette.with_tape(|tape| {
        let mut wrong = Vec::new();
        let sections: BTreeMap<&String, _> =
            exchanges(tape).flat_map(|(_, one)| one.request.digests()).map(|(section, digest)| (digest, section)).collect();
        for (digest, section) in sections {
            let is = tape.pieces.get(digest).map(|piece| hex(cassette.masks().digest(section, piece)));
            if is.as_ref() != Some(digest) {
                wrong.push(format!("the piece {digest} was changed: its text has another digest"));
            }
        }
        if tape.unanswered() > 0 {
            wrong.push(format!("{} sends have no delivery: whoever recorded was stopped; record again to go on", tape.unanswered()));
        }
        for (name, cell) in &tape.cells {
            if !cell.done {
                wrong.push(format!("{name} was not played to its end: record again to go on"));
            }
        }
        wrong
    })
}

fn exchanges(tape: &Tape) -> impl Iterator<Item = (&String, &Exchange)> {
    tape.cells.iter().flat_map(|(name, cell)| cell.exchanges.iter().map(move |one| (name, one)))
}

/// What is in a cassette.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stat {
    /// Cells that were played to their end.
    pub cells: u64,
    /// Cells that were not.
    pub unfinished: u64,
    /// Requests.
    pub requests: u64,
    /// Attempts; more than requests where a provider had to be asked again.
    pub attempts: u64,
    /// Requests that brought no reply in the end.
    pub failed: u64,
    /// Replies that ended otherwise than the model wanted, by how.
    pub stops: BTreeMap<String, u64>,
    /// Calls whose arguments are no JSON.
    pub broken_calls: u64,
    /// Reported usage, all attempts together; null where a reply said nothing of it.
    pub reported: Usage,
    /// Sum of the durations of all attempts, in milliseconds.
    pub ms: u64,
    /// Distinct pieces of requests.
    pub pieces: u64,
}

/// Counts what is in a cassette.
pub fn stat(cassette: &Cassette) -> Stat {
    let mut stat = Stat { reported: ZERO, ..Stat::default() };
    cassette.with_tape(|tape| {
        stat.pieces = tape.pieces.len() as u64;
        stat.cells = tape.cells.values().filter(|cell| cell.done).count() as u64;
        stat.unfinished = tape.cells.len() as u64 - stat.cells;
        for (_, one) in exchanges(tape).filter(|(_, one)| !one.superseded) {
            stat.requests += 1;
            stat.attempts += one.attempts.len() as u64;
            let asking = cassette.head().asking_of(&one.at.lane);
            for (at, attempt) in one.attempts.iter().enumerate() {
                stat.ms += attempt.delivery.ms;
                let is_last = at + 1 == one.attempts.len();
                match asking.read(&attempt.delivery) {
                    Ok(answer) => {
                        add(&mut stat.reported, answer.usage.as_ref());
                        if is_last && answer.stop != Stop::End {
                            *stat.stops.entry(answer.stop.name().to_owned()).or_default() += 1;
                        }
                        stat.broken_calls += if is_last { u64::from(answer.broken_calls()) } else { 0 };
                    }
                    Err(_) if is_last => stat.failed += 1,
                    Err(_) => {}
                }
            }
        }
    });
    stat
}

const ZERO: Usage = Usage { uncached_input: Some(0), cache_read: Some(0), cache_write: Some(0), output: Some(0), reasoning: Some(0) };

/// What is unknown once stays unknown.
fn add(sum: &mut Usage, one: Option<&Usage>) {
    let one = one.copied().unwrap_or_default();
    let both = |sum: &mut Option<u64>, one: Option<u64>| *sum = sum.zip(one).map(|(sum, one)| sum + one);
    both(&mut sum.uncached_input, one.uncached_input);
    both(&mut sum.cache_read, one.cache_read);
    both(&mut sum.cache_write, one.cache_write);
    both(&mut sum.output, one.output);
    both(&mut sum.reasoning, one.reasoning);
}

/// What pruning kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// Cells kept, and how many there were.
    pub cells: (u64, u64),
    /// Requests kept, and how many there were.
    pub requests: (u64, u64),
    /// Pieces kept, and how many there were.
    pub pieces: (u64, u64),
}

/// The text of a cassette without what no replay asks for: cells that were not played to their end or that `keeps` says no to,
/// requests that were asked again later, pieces that nothing names.
pub fn prune(cassette: &Cassette, keeps: impl Fn(&str) -> bool) -> (String, Kept) {
    cassette.with_tape(|tape| {
        let mut kept = Kept { pieces: (0, tape.pieces.len() as u64), cells: (0, tape.cells.len() as u64), ..Kept::default() };
        kept.requests.1 = exchanges(tape).count() as u64;
        let mut text = line_of::<Head>(cassette.head());
        let (mut order, mut written) = (0, BTreeSet::new());
        let mut next = || {
            order += 1;
            order - 1
        };
        for (name, cell) in tape.cells.iter().filter(|(name, cell)| cell.done && keeps(name)) {
            kept.cells.0 += 1;
            for one in cell.exchanges.iter().filter(|one| cassette.counts(one)) {
                kept.requests.0 += 1;
                for (_, digest) in one.request.digests() {
                    if let Some(json) = tape.pieces.get(digest).filter(|_| written.insert(digest.clone())) {
                        text += &line_of(&Line::Piece(PieceLine { digest: digest.clone(), json: json.clone() }));
                    }
                }
                text += &exchange_lines(cassette, one, &mut next);
            }
            text += &line_of(&Line::Done(Done { order: next(), cell: name.clone() }));
        }
        kept.pieces.0 = written.len() as u64;
        (text, kept)
    })
}

fn exchange_lines(cassette: &Cassette, one: &Exchange, next: &mut impl FnMut() -> u64) -> String {
    let mut text = String::new();
    let asking = cassette.head().asking_of(&one.at.lane);
    for (at, attempt) in one.attempts.iter().enumerate() {
        let send = next();
        let place = one.at.clone();
        text += &line_of(&Line::Send(Send {
            order: send,
            cell: place.cell,
            lane: place.lane,
            turn: place.turn,
            exchange: place.exchange,
            attempt: at as u32 + 1,
            waited_ms: attempt.waited_ms,
            digest: one.digest.clone(),
            request: one.request.clone(),
        }));
        let answer = asking.read(&attempt.delivery).ok();
        text += &line_of(&Line::Delivery(Delivered {
            order: next(),
            send,
            reply: attempt.delivery.clone(),
            usage: answer.as_ref().and_then(|answer| answer.usage_verbatim.clone()),
            usage_classes: answer.as_ref().and_then(|answer| answer.usage),
            last: at + 1 == one.attempts.len(),
        }));
    }
    text
}

fn line_of<T: Serialize>(line: &T) -> String {
    serde_json::to_string(line).unwrap_or_default() + "\n"
}
