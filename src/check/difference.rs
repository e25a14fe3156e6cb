//! Where two trails of a cell part: the first request, and the first piece in it.

use std::collections::{BTreeMap, VecDeque};

use super::split::Split;
use super::trail::{Exchange, Mark, Piece, Standing, Trail};

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
    let mut old = ByThread::of(before);
    let mut standing: BTreeMap<&str, Standing> = BTreeMap::new();
    let mut pairs: Vec<Pair> = Vec::new();
    for exchange in &now.exchanges {
        let new = standing.entry(&exchange.thread).or_default();
        new.take(exchange);
        let accepted = old.next(&exchange.thread);
        let place = match accepted {
            // Behind what is kept, nobody knows whether a request is new.
            None if before.more > 0 => None,
            None => Some(place(exchange, None, Change::NewRequest)),
            Some((accepted, standing)) => first(accepted, exchange, standing, new),
        };
        let accepted = accepted.map(|(accepted, _)| accepted);
        pairs.push(Pair {
            thread: exchange.thread.clone(),
            before: accepted.map(figures),
            now: Some(figures(exchange)),
            growth: accepted.map_or_else(Split::new, |accepted| super::split::growth(&by_origin(accepted), &by_origin(exchange))),
            place,
        });
    }
    if now.more == 0 {
        pairs.extend(old.rest().into_iter().map(|exchange| Pair {
            thread: exchange.thread.clone(),
            before: Some(figures(exchange)),
            now: None,
            growth: Split::new(),
            place: Some(place(exchange, None, Change::GoneRequest)),
        }));
    }
    pairs
}

/// A trail's requests by thread, each taken once and in order.
struct ByThread<'a> {
    threads: BTreeMap<&'a str, (VecDeque<&'a Exchange>, Standing)>,
}

impl<'a> ByThread<'a> {
    fn of(trail: &'a Trail) -> ByThread<'a> {
        let mut threads: BTreeMap<&str, (VecDeque<&Exchange>, Standing)> = BTreeMap::new();
        for exchange in &trail.exchanges {
            threads.entry(&exchange.thread).or_default().0.push_back(exchange);
        }
        ByThread { threads }
    }

    /// The thread's next request, and all that it held.
    fn next(&mut self, thread: &str) -> Option<(&'a Exchange, &Standing)> {
        let (exchanges, standing) = self.threads.get_mut(thread)?;
        let exchange = exchanges.pop_front()?;
        standing.take(exchange);
        Some((exchange, standing))
    }

    /// What was not taken, in order of sending.
    fn rest(self) -> Vec<&'a Exchange> {
        let mut rest: Vec<&Exchange> = self.threads.into_values().flat_map(|(exchanges, _)| exchanges).collect();
        rest.sort_by_key(|exchange| exchange.seq);
        rest
    }
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

fn place(exchange: &Exchange, item: Option<usize>, change: Change) -> Place {
    Place { request: exchange.seq, thread: exchange.thread.clone(), item, change }
}

/// The first difference of two requests: system text and tools, then items, then what no piece tells.
fn first(before: &Exchange, now: &Exchange, old: &Standing, new: &Standing) -> Option<Place> {
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
            (Some(Some(a)), Some(Some(b))) if stands_behind(a, new, at) => Change::Added(Mark::clone(b)),
            (Some(Some(a)), Some(Some(b))) if stands_behind(b, old, at) => Change::Removed(Mark::clone(a)),
            (Some(Some(a)), Some(Some(b))) => Change::Changed(Mark::clone(a), Mark::clone(b)),
            (Some(Some(a)), None) => Change::Removed(Mark::clone(a)),
            (None, Some(Some(b))) => Change::Added(Mark::clone(b)),
            _ => return None,
        };
        Some((at, change))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Origin;
    use proptest::prelude::*;

    fn mark(what: &str, tokens: u64) -> Mark {
        let origin = if what.starts_with("tool") { Origin::Tools } else { Origin::User };
        Mark { what: what.into(), origin, tokens: Some(tokens), digest: format!("{what}{tokens}") }
    }

    /// A request of a thread: its head, the items after the first `same`, and the reply's tokens.
    fn exchange(seq: u32, thread: &str, head: Option<&[Mark]>, same: usize, items: &[Mark], output: u64) -> Exchange {
        let sum: u64 = items.iter().chain(head.into_iter().flatten()).filter_map(|mark| mark.tokens).sum();
        let (thread, items) = (thread.to_owned(), items.to_vec());
        Exchange { seq, thread, input: vec![(Origin::User, sum)], output, head: head.map(<[Mark]>::to_vec), same, items, more: 0 }
    }

    /// Two requests of the parent around one of a child.
    fn trail() -> Trail {
        let head = [mark("system", 9), mark("tool read", 5), mark("tool list", 6)];
        let exchanges = vec![
            exchange(0, "/", Some(&head), 0, &[mark("user", 20)], 3),
            exchange(1, "/1", Some(&head[..1]), 0, &[mark("task", 8)], 4),
            exchange(2, "/", None, 1, &[mark("call", 3), mark("result", 7)], 2),
        ];
        Trail { exchanges, more: 0 }
    }

    fn check(change: impl Fn(&mut Trail), expect: Option<(u32, &str, Option<usize>, Change)>) {
        let mut now = trail();
        change(&mut now);
        let expect = expect.map(|(request, thread, item, change)| Place { request, thread: thread.into(), item, change });
        assert_eq!(first_place(&trail(), &now), expect);
    }

    #[test]
    fn the_first_difference_is_found_and_named() {
        check(|_| {}, None);
        let head = |at: usize, with: Mark| {
            move |trail: &mut Trail| {
                trail.exchanges[0].head.as_mut().unwrap()[at] = with.clone();
            }
        };
        check(head(1, mark("tool read", 6)), Some((0, "/", None, Change::Changed(mark("tool read", 5), mark("tool read", 6)))));
        check(
            |trail| {
                trail.exchanges[0].head.as_mut().unwrap().remove(1);
            },
            Some((0, "/", None, Change::Removed(mark("tool read", 5)))),
        );
        check(
            |trail| trail.exchanges[0].head.as_mut().unwrap().insert(1, mark("tool grep", 4)),
            Some((0, "/", None, Change::Added(mark("tool grep", 4)))),
        );
        check(|trail| trail.exchanges[1].items.push(mark("reminder", 2)), Some((1, "/1", Some(1), Change::Added(mark("reminder", 2)))));
        // An item of an earlier request counts in all later ones, where it is told of the first.
        check(
            |trail| trail.exchanges[0].items[0] = mark("user", 21),
            Some((0, "/", Some(0), Change::Changed(mark("user", 20), mark("user", 21)))),
        );
        check(
            |trail| trail.exchanges[2].items[1] = mark("result", 70),
            Some((2, "/", Some(2), Change::Changed(mark("result", 7), mark("result", 70)))),
        );
        check(|trail| trail.exchanges[2].output = 9, Some((2, "/", None, Change::Reply(2, 9))));
        check(|trail| trail.exchanges[1].input[0].1 = 90, Some((1, "/1", None, Change::Frame(17, 90))));
    }

    #[test]
    fn requests_are_paired_by_thread_and_number() {
        // The child asks once more: the parent's second request is the fourth now, and alike.
        let more = |trail: &mut Trail| {
            trail.exchanges.insert(2, exchange(2, "/1", None, 1, &[mark("own", 1)], 4));
            trail.exchanges[3].seq = 3;
        };
        check(more, Some((2, "/1", None, Change::NewRequest)));
        check(
            |trail| {
                trail.exchanges.remove(1);
                trail.exchanges[1].seq = 1;
            },
            Some((1, "/1", None, Change::GoneRequest)),
        );
    }

    #[test]
    fn behind_what_is_kept_nothing_is_claimed() {
        let (mut before, mut now) = (trail(), trail());
        before.exchanges.pop();
        before.more = 1;
        assert_eq!(first_place(&before, &now), None);
        // Of an item that was not kept, the tokens of the request tell.
        before = trail();
        before.exchanges[2].items.pop();
        before.exchanges[2].more = 1;
        now.exchanges[2].items[1] = mark("result", 70);
        now.exchanges[2].input[0].1 += 63;
        let at = first_place(&before, &now).unwrap();
        assert_eq!((at.request, at.change), (2, Change::Frame(10, 73)));
    }

    proptest! {
        #[test]
        fn trails_that_differ_in_one_token_are_told_apart(at in 0..3_usize, more in 1..9_u64) {
            let mut now = trail();
            let exchange = &mut now.exchanges[at];
            let last = exchange.items.last_mut().unwrap();
            last.tokens = last.tokens.map(|tokens| tokens + more);
            exchange.input[0].1 += more;
            let place = first_place(&trail(), &now).unwrap();
            prop_assert_eq!(place.request, at as u32);
            prop_assert!(matches!(place.change, Change::Changed(..)));
        }

        #[test]
        fn any_trail_is_answered(same in any::<usize>(), more in any::<usize>(), trail_more in any::<usize>()) {
            let mut now = trail();
            now.exchanges[2].same = same;
            now.exchanges[2].more = more;
            now.more = trail_more;
            let _ = (first_place(&trail(), &now), first_place(&now, &trail()));
        }
    }
}
