//! The order of a thread's records, and which of them stand on a branch that was rewound.
//!
//! Links first, then order of the file; time is only data. A record whose parent was never written follows the record
//! before it; a link that closes a cycle is cut where it points forward. Linear time (times the heap's logarithm).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::transcript::Digest;

use super::block::Block;
use super::row::{Kind, Parent, Row};

/// A thread's records in order.
#[derive(Clone, Debug, Default)]
pub struct Ordered {
    /// Indices of records.
    pub rows: Vec<usize>,
    /// For each place in `rows`: whether it stands on a branch that was rewound.
    pub rewound: Vec<bool>,
    /// Records that point at a record found nowhere.
    pub orphans: u64,
}

/// Puts `own` (in order of files and lines) in order. `everywhere` holds the uuids of all imported records.
pub fn order(own: &[usize], rows: &[Row], everywhere: &HashSet<Digest>) -> Ordered {
    let mut orphans = 0;
    let mut places: HashMap<Digest, usize> = HashMap::default();
    for (place, &at) in own.iter().enumerate() {
        if let Some(uuid) = rows[at].uuid {
            places.entry(uuid).or_insert(place);
        }
    }
    let mut parents: Vec<Option<usize>> = Vec::with_capacity(own.len());
    for (place, &at) in own.iter().enumerate() {
        let row = &rows[at];
        let before = place.checked_sub(1);
        parents.push(match row.parent {
            Parent::Missing => before,
            // A compaction begins a tree anew; the thread goes on all the same.
            Parent::Root => match row.logical {
                Some(uuid) => places.get(&uuid).copied().filter(|&parent| parent != place).or(before),
                None => before.filter(|_| row.summary),
            },
            Parent::To(uuid) => match places.get(&uuid) {
                Some(&parent) => Some(parent),
                None => {
                    orphans += u64::from(!everywhere.contains(&uuid));
                    // A fork's first row may point into the parent's file: it begins this thread.
                    before
                }
            },
        });
    }
    let sorted = sort(&mut parents);
    let rewound = rewound(&sorted, &parents, own, rows);
    Ordered { rows: sorted.iter().map(|&place| own[place]).collect(), rewound, orphans }
}

/// Places in order: each after its parent, else as they stand. Cycles are cut in `parents`.
fn sort(parents: &mut [Option<usize>]) -> Vec<usize> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); parents.len()];
    let mut ready = BinaryHeap::new();
    for (place, parent) in parents.iter().enumerate() {
        match parent {
            Some(parent) => children[*parent].push(place),
            None => ready.push(Reverse(place)),
        }
    }
    let mut done = vec![false; parents.len()];
    let mut sorted = Vec::with_capacity(parents.len());
    let mut first_left = 0;
    loop {
        while let Some(Reverse(place)) = ready.pop() {
            if done[place] {
                continue;
            }
            done[place] = true;
            sorted.push(place);
            ready.extend(children[place].iter().copied().map(Reverse));
        }
        while first_left < done.len() && done[first_left] {
            first_left += 1;
        }
        if first_left == done.len() {
            return sorted;
        }
        // What is left hangs on cycles. Every chain of links holds one; walked once, then all of it becomes ready.
        let mut seen = HashSet::default();
        let mut here = first_left;
        while seen.insert(here) {
            match parents[here] {
                Some(parent) => here = parent,
                None => break,
            }
        }
        let mut cut = here;
        let mut around = here;
        while let Some(parent) = parents[around] {
            cut = cut.min(parent);
            around = parent;
            if around == here {
                break;
            }
        }
        // The earliest record of the cycle: its link points forward. It follows the record before it, if that is done.
        let before = cut.checked_sub(1).filter(|&before| done[before]);
        parents[cut] = before;
        ready.push(Reverse(cut));
    }
}

/// Marks what a rewind left behind. The last conversation record is the end of the active branch. Parallel calls branch
/// too: results and further blocks of a response that is on the branch belong to it, wherever they hang.
fn rewound(sorted: &[usize], parents: &[Option<usize>], own: &[usize], rows: &[Row]) -> Vec<bool> {
    let row = |place: usize| &rows[own[place]];
    let talks = |place: &usize| matches!(row(*place).kind, Kind::User | Kind::Assistant);
    let Some(leaf) = (0..own.len()).rev().find(talks) else { return vec![false; sorted.len()] };
    let mut active = vec![false; own.len()];
    let mut here = Some(leaf);
    while let Some(place) = here {
        // A forward link that was left standing cannot close a circle: `sort` has cut them all.
        if active[place] {
            break;
        }
        active[place] = true;
        here = parents[place];
    }
    let keys: HashSet<Digest> = (0..own.len()).filter(|&place| active[place]).filter_map(|place| row(place).key).collect();
    let mut left = vec![false; own.len()];
    for &place in sorted {
        if active[place] {
            continue;
        }
        let begins_a_branch = match row(place).kind {
            Kind::Assistant => !row(place).key.is_some_and(|key| keys.contains(&key)),
            Kind::User => !row(place).meta && !row(place).blocks.iter().any(|block| matches!(block, Block::Result(_))),
            Kind::Synthetic | Kind::Attachment | Kind::Structure => false,
        };
        left[place] = begins_a_branch || parents[place].is_some_and(|parent| left[parent]);
    }
    sorted.iter().map(|&place| left[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(parents: &[Option<usize>], expect: &[usize]) {
        assert_eq!(sort(&mut parents.to_vec()), expect, "{parents:?}");
    }

    #[test]
    fn links_come_before_file_order() {
        check(&[], &[]);
        check(&[None, Some(0), Some(1)], &[0, 1, 2]);
        check(&[None, Some(2), Some(0)], &[0, 2, 1]);
        check(&[Some(1), None], &[1, 0]);
    }

    #[test]
    fn cycles_are_cut_where_they_point_forward() {
        check(&[Some(2), Some(0), Some(1)], &[0, 1, 2]);
        check(&[Some(0)], &[0]);
        check(&[None, Some(3), Some(1), Some(2), Some(3)], &[0, 1, 2, 3, 4]);
        check(&[Some(3), None, Some(3), Some(2)], &[1, 2, 3, 0]);
    }

    #[test]
    fn a_long_chain_and_many_cycles_take_linear_time() {
        let many = 200_000;
        let mut backward: Vec<Option<usize>> = (0..many).map(|place| Some(place + 1)).collect();
        backward[many - 1] = None;
        assert_eq!(sort(&mut backward), (0..many).rev().collect::<Vec<_>>());
        let mut pairs: Vec<Option<usize>> = (0..many).map(|place| Some(place ^ 1)).collect();
        assert_eq!(sort(&mut pairs), (0..many).collect::<Vec<_>>());
    }
}
