//! Where two trails of a cell part: the first request, and the first piece in it.

use std::collections::BTreeMap;

use super::split::Split;
use super::trail::{Exchange, Mark, Piece, Trail};

/// What happened at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A piece stands in another's place.
    Changed(Mark, Mark),
    /// A piece was put in.
    Added(Mark),
    /// A piece was taken out.
    Removed(Mark),
    /// The pieces are alike as far as they are kept, and the reply has other tokens.
    Reply(u64, u64),
    /// The pieces are alike as far as they are kept, and the request has other tokens.
    Frame(u64, u64),
    /// The request was not there before.
    NewRequest,
    /// The request is not there any more.
    GoneRequest,
}

/// The first place in which a request differs from the accepted one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The request's number in the cell: now, or before if it is gone.
    pub request: u32,
    /// Its thread.
    pub thread: String,
    /// The piece's place in it, from 0: system text, tools, items.
    pub piece: Option<usize>,
    /// What happened there.
    pub change: Change,
}

/// A request beside the accepted one: the same thread's request of the same number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Its thread.
    pub thread: String,
    /// Before: number, tokens of input and of output.
    pub before: Option<(u32, u64, u64)>,
    /// Now.
    pub now: Option<(u32, u64, u64)>,
    /// What its input has more of, by origin.
    pub growth: Split,
    /// Where it differs first.
    pub place: Option<Place>,
}

/// Every request beside the accepted one, in order of sending now; what is gone stands behind.
pub fn pairs(before: &Trail, now: &Trail) -> Vec<Pair> {
    let (old, new) = (numbered(before), numbered(now));
    let (old_whole, new_whole) = (before.whole(), now.whole());
    let mut pairs: Vec<Pair> = Vec::new();
    for (at, key) in new.iter().enumerate() {
        let Some(exchange) = now.exchanges.get(at) else { continue };
        let earlier = old.iter().position(|one| one == key);
        let accepted = earlier.and_then(|at| before.exchanges.get(at));
        let place = match earlier {
            // Behind what is kept, nobody knows whether a request is new.
            None if before.more > 0 => None,
            None => Some(place(exchange, None, Change::NewRequest)),
            Some(earlier) => accepted.and_then(|accepted| {
                let pieces = |whole: &[Vec<Piece>], at: usize| whole.get(at).cloned().unwrap_or_default();
                first(accepted, exchange, &pieces(&old_whole, earlier), &pieces(&new_whole, at))
            }),
        };
        pairs.push(Pair {
            thread: exchange.thread.clone(),
            before: accepted.map(figures),
            now: Some(figures(exchange)),
            growth: accepted.map_or_else(Split::new, |accepted| super::split::growth(&by_origin(accepted), &by_origin(exchange))),
            place,
        });
    }
    for (key, exchange) in old.iter().zip(&before.exchanges) {
        if !new.contains(key) && now.more == 0 {
            pairs.push(Pair {
                thread: exchange.thread.clone(),
                before: Some(figures(exchange)),
                now: None,
                growth: Split::new(),
                place: Some(place(exchange, None, Change::GoneRequest)),
            });
        }
    }
    pairs
}

/// The first place in which the trails part.
pub fn first_place(before: &Trail, now: &Trail) -> Option<Place> {
    pairs(before, now).into_iter().find_map(|pair| pair.place)
}

fn figures(exchange: &Exchange) -> (u32, u64, u64) {
    (exchange.seq, exchange.input_total(), exchange.output)
}

fn by_origin(exchange: &Exchange) -> Split {
    exchange.input.iter().map(|(origin, tokens)| (origin.name().to_owned(), i64::try_from(*tokens).unwrap_or(i64::MAX))).collect()
}

/// Thread and number within it, of each request.
fn numbered(trail: &Trail) -> Vec<(&str, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut numbered = Vec::with_capacity(trail.exchanges.len());
    for exchange in &trail.exchanges {
        let count = counts.entry(&exchange.thread).or_default();
        numbered.push((exchange.thread.as_str(), *count));
        *count += 1;
    }
    numbered
}

fn place(exchange: &Exchange, piece: Option<usize>, change: Change) -> Place {
    Place { request: exchange.seq, thread: exchange.thread.clone(), piece, change }
}

fn first(before: &Exchange, now: &Exchange, old: &[Piece], new: &[Piece]) -> Option<Place> {
    // Pieces that were not kept are taken for alike: the tokens tell what they may hide.
    let differ = |at: usize| match (old.get(at), new.get(at)) {
        (Some(Some(a)), Some(Some(b))) => a != b,
        (Some(_), Some(_)) => false,
        (None, None) => false,
        _ => true,
    };
    let Some(at) = (0..old.len().max(new.len())).find(|&at| differ(at)) else {
        let change = match (before.input_total(), now.input_total()) {
            (a, b) if a != b => Change::Frame(a, b),
            _ if before.output != now.output => Change::Reply(before.output, now.output),
            _ => return None,
        };
        return Some(place(now, None, change));
    };
    let (a, b) = (old.get(at).cloned().flatten(), new.get(at).cloned().flatten());
    let stands_later = |mark: &Mark, pieces: &[Piece]| pieces.iter().skip(at + 1).flatten().any(|one| one == mark);
    let change = match (a, b) {
        (Some(a), Some(b)) if stands_later(&a, new) => Change::Added(b),
        (Some(a), Some(b)) if stands_later(&b, old) => Change::Removed(a),
        (Some(a), Some(b)) => Change::Changed(a, b),
        (Some(a), None) => Change::Removed(a),
        (None, Some(b)) => Change::Added(b),
        (None, None) => Change::Frame(before.input_total(), now.input_total()),
    };
    Some(place(now, Some(at), change))
}
