//! The event queue: what will arrive, by virtual millisecond and then in order of registration.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

struct Entry<T> {
    ms: u64,
    seq: u64,
    what: T,
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.ms, self.seq) == (other.ms, other.seq)
    }
}
impl<T> Eq for Entry<T> {}
impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.ms, self.seq).cmp(&(other.ms, other.seq))
    }
}

/// A queue over virtual time.
pub(super) struct Queue<T> {
    heap: BinaryHeap<Reverse<Entry<T>>>,
    seq: u64,
}

impl<T> Queue<T> {
    pub(super) fn new() -> Queue<T> {
        Queue { heap: BinaryHeap::new(), seq: 0 }
    }

    /// Registers an arrival.
    pub(super) fn at(&mut self, ms: u64, what: T) {
        self.heap.push(Reverse(Entry { ms, seq: self.seq, what }));
        self.seq += 1;
    }

    /// When the next arrival is.
    pub(super) fn next_ms(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse(entry)| entry.ms)
    }

    /// Takes the next arrival if it is due.
    pub(super) fn due(&mut self, now: u64) -> Option<T> {
        if self.next_ms()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry.what)
    }
}

impl<T> Queue<T> {
    /// Whether anything like this will arrive.
    pub(super) fn any(&self, mut like: impl FnMut(&T) -> bool) -> bool {
        self.heap.iter().any(|Reverse(entry)| like(&entry.what))
    }
}
