//! A list whose items know which of two comes first, however it grows: labels with gaps, spread out where they run short.
//!
//! After Bender, Cole, Demaine, Farach-Colton and Zito, "Two simplified algorithms for maintaining order in a list" (2002): an
//! insertion moves O(log n) labels on average.

use super::tree::ROOM;

const NONE: u32 = u32::MAX;

/// Labels of the list's items.
#[derive(Clone, Debug)]
pub(super) struct Order {
    label: Vec<u64>,
    before: Vec<u32>,
    after: Vec<u32>,
    /// Labels that were moved so far.
    pub(super) relabelled: u64,
}

impl Order {
    /// A list of its two ends, items 0 and 1.
    pub(super) fn new() -> Order {
        let mut order = Order { label: Vec::new(), before: Vec::new(), after: Vec::new(), relabelled: 0 };
        order.label.reserve(2 * ROOM);
        order.before.reserve(2 * ROOM);
        order.after.reserve(2 * ROOM);
        order.label.extend([0, u64::MAX]);
        order.before.extend([NONE, 0]);
        order.after.extend([1, NONE]);
        order
    }

    /// The label of an item: comparable with other labels until the next insertion.
    pub(super) fn at(&self, item: u32) -> u64 {
        self.label[item as usize]
    }

    /// The item before this one; the first one's is itself.
    pub(super) fn previous(&self, item: u32) -> u32 {
        let before = self.before[item as usize];
        if before == NONE { item } else { before }
    }

    /// Two new items right behind this one, which is not the last: the first of them. Most of the gap is left between the two, since a
    /// request that goes on is inserted there.
    pub(super) fn insert_pair_after(&mut self, item: u32) -> u32 {
        if self.gap_after(item) < 3 {
            self.spread(item);
        }
        let (at, gap) = (self.at(item), self.gap_after(item));
        let (margin, new) = ((gap / 8).max(1), self.label.len() as u32);
        let next = self.after[item as usize];
        self.label.extend([at + margin, at + gap - margin]);
        self.before.extend([item, new]);
        self.after.extend([new + 1, next]);
        self.after[item as usize] = new;
        if next != NONE {
            self.before[next as usize] = new + 1;
        }
        new
    }

    fn gap_after(&self, item: u32) -> u64 {
        let next = self.after[item as usize];
        if next == NONE { u64::MAX - self.at(item) } else { self.at(next) - self.at(item) }
    }

    /// Spreads the labels around an item over the smallest range that is not crowded.
    fn spread(&mut self, item: u32) {
        let (mut first, mut last, mut count) = (item, item, 1_u64);
        for bits in 1..=64_u32 {
            let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
            let (low, high) = (self.at(item) & !mask, self.at(item) | mask);
            while self.before[first as usize] != NONE && self.at(self.before[first as usize]) >= low {
                first = self.before[first as usize];
                count += 1;
            }
            while self.after[last as usize] != NONE && self.at(self.after[last as usize]) <= high {
                last = self.after[last as usize];
                count += 1;
            }
            let gap = ((u128::from(mask) + 1) / u128::from(count)) as u64;
            // A range of 2^bits may hold (2 / 1.4)^bits items.
            if gap >= 4 && count as f64 <= (2.0_f64 / 1.4).powi(bits as i32) {
                let (mut at, mut label) = (first, low);
                for _ in 0..count {
                    self.label[at as usize] = label;
                    label = label.saturating_add(gap);
                    at = self.after[at as usize];
                }
                self.relabelled += count;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Inserts behind the items that `place` names and compares all labels with a plain list.
    fn check(inserts: usize, mut place: impl FnMut(usize, &[u32]) -> usize) -> u64 {
        let mut order = Order::new();
        let mut list = vec![0_u32, 1];
        for n in 0..inserts {
            let at = place(n, &list).min(list.len() - 2);
            let new = order.insert_pair_after(list[at]);
            list.splice(at + 1..at + 1, [new, new + 1]);
        }
        for pair in list.windows(2) {
            assert!(order.at(pair[0]) < order.at(pair[1]), "{pair:?}");
            assert_eq!(order.previous(pair[1]), pair[0]);
        }
        order.relabelled
    }

    #[test]
    fn labels_keep_the_order_and_few_are_moved() {
        let mut dice = 7_u64;
        let cheap = |moved: u64| assert!(moved < 3_000 * 24, "{moved} labels moved");
        cheap(check(3_000, |_, _| 0));
        cheap(check(3_000, |_, list| list.len() - 2));
        cheap(check(3_000, |_, list| list.len() / 2));
        // Always between the last two that came: a request that goes on.
        cheap(check(3_000, |n, _| n));
        cheap(check(3_000, |_, list| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (dice >> 33) as usize % list.len()
        }));
    }
}
