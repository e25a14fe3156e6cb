//! Which children of v2 are loaded: no more than may run at once. A child more unloads the one that was used longest ago
//! and is at rest; its path and its history stay, and it is loaded again when it is written to.

use std::collections::VecDeque;

use crate::strategy::ThreadId;

/// Loaded children, the one that was used longest ago first.
#[derive(Clone, Debug, Default)]
pub(super) struct Residents(VecDeque<ThreadId>);

impl Residents {
    /// Makes room for one more child. `false`: there is none.
    ///
    /// `at_rest`: whether a child may be unloaded: its last turn completed, failed or was interrupted, none runs, and no mail
    /// waits for it. Children that may not are looked at again last.
    pub(super) fn make_room(&mut self, most: usize, at_rest: impl Fn(ThreadId) -> bool) -> bool {
        for _ in 0..self.0.len() {
            if self.0.len() < most {
                return true;
            }
            let Some(oldest) = self.0.pop_front() else { break };
            if !at_rest(oldest) {
                self.0.push_back(oldest);
            }
        }
        self.0.len() < most
    }

    /// A child is used: it is loaded, or was.
    pub(super) fn touch(&mut self, child: ThreadId) {
        self.0.retain(|one| *one != child);
        self.0.push_back(child);
    }

    /// Whether a child is loaded.
    pub(super) fn holds(&self, child: ThreadId) -> bool {
        self.0.contains(&child)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(loaded: &[u32], most: usize, at_rest: &[u32], expect: (bool, &[u32])) {
        let mut residents = Residents(loaded.iter().map(|&number| ThreadId(number)).collect());
        let room = residents.make_room(most, |thread| at_rest.contains(&thread.0));
        assert_eq!((room, residents.0.iter().map(|thread| thread.0).collect::<Vec<_>>()), (expect.0, expect.1.to_vec()));
    }

    #[test]
    fn who_makes_room() {
        check(&[], 3, &[], (true, &[]));
        check(&[1, 2], 3, &[1, 2], (true, &[1, 2]));
        check(&[1, 2, 3], 3, &[1, 2, 3], (true, &[2, 3]));
        check(&[1, 2, 3], 3, &[3], (true, &[1, 2]));
        check(&[1, 2, 3], 3, &[2], (true, &[3, 1]));
        check(&[1, 2, 3], 3, &[], (false, &[1, 2, 3]));
        check(&[1], 0, &[1], (false, &[]));
    }
}
