//! Where two trails of a cell part: the first request, and the first piece in it.

use std::collections::BTreeMap;

use super::split::Split;
use super::trail::{Exchange, Mark, Piece, Trail, Whole};

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
    /// The item's place among the request's items, from 0; `None`: the system text, a tool, or no piece at all differs.
    pub item: Option<usize>,
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
            Some(earlier) => accepted.and_then(|accepted| first(accepted, exchange, old_whole.get(earlier)?, new_whole.get(at)?)),
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

fn place(exchange: &Exchange, item: Option<usize>, change: Change) -> Place {
    Place { request: exchange.seq, thread: exchange.thread.clone(), item, change }
}

/// The first difference of two requests: system text and tools, then items, then what no piece tells.
fn first(before: &Exchange, now: &Exchange, old: &Whole, new: &Whole) -> Option<Place> {
    let known = |marks: &[Mark]| -> Vec<Piece> { marks.iter().cloned().map(Some).collect() };
    if let Some((_, change)) = first_piece(&known(&old.head), &known(&new.head)) {
        return Some(place(now, None, change));
    }
    if let Some((at, change)) = first_piece(&old.items, &new.items) {
        return Some(place(now, Some(at), change));
    }
    let change = match (before.input_total(), now.input_total()) {
        (a, b) if a != b => Change::Frame(a, b),
        _ if before.output != now.output => Change::Reply(before.output, now.output),
        _ => return None,
    };
    Some(place(now, None, change))
}

/// The first place in which two lists of pieces differ. What was not kept is taken for alike: the tokens tell what it hides.
fn first_piece(old: &[Piece], new: &[Piece]) -> Option<(usize, Change)> {
    let stands_behind = |mark: &Mark, pieces: &[Piece], at: usize| pieces.iter().skip(at + 1).flatten().any(|one| one == mark);
    (0..old.len().max(new.len())).find_map(|at| {
        let change = match (old.get(at), new.get(at)) {
            (Some(Some(a)), Some(Some(b))) if a == b => return None,
            (Some(Some(a)), Some(Some(b))) if stands_behind(a, new, at) => Change::Added(b.clone()),
            (Some(Some(a)), Some(Some(b))) if stands_behind(b, old, at) => Change::Removed(a.clone()),
            (Some(Some(a)), Some(Some(b))) => Change::Changed(a.clone(), b.clone()),
            (Some(Some(a)), None) => Change::Removed(a.clone()),
            (None, Some(Some(b))) => Change::Added(b.clone()),
            _ => return None,
        };
        Some((at, change))
    })
}
