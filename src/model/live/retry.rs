//! How long to wait before another attempt.

/// Waits that double, up to a limit, each with some chance in it; what a provider asks for counts more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The most attempts, the first among them.
    pub attempts: u32,
    /// The first wait, in milliseconds.
    pub first_ms: u64,
    /// The longest wait that is not asked for, in milliseconds.
    pub most_ms: u64,
    /// The longest wait that is granted when a provider asks for it, in milliseconds.
    pub asked_most_ms: u64,
}

impl Default for Backoff {
    fn default() -> Backoff {
        Backoff { attempts: 5, first_ms: 500, most_ms: 30_000, asked_most_ms: 120_000 }
    }
}

impl Backoff {
    /// The wait before the attempt behind this many failed ones; `None`: no more is made. `chance` is drawn evenly: between half of
    /// the wait and all of it counts, so that many who were refused at once do not come again at once.
    pub fn wait_ms(&self, failed: u32, asked_ms: Option<u64>, chance: u64) -> Option<u64> {
        if failed >= self.attempts {
            return None;
        }
        if let Some(asked) = asked_ms {
            return (asked <= self.asked_most_ms).then_some(asked);
        }
        let doubled = self.first_ms.saturating_mul(1u64.checked_shl(failed.saturating_sub(1)).unwrap_or(u64::MAX));
        let wait = doubled.min(self.most_ms);
        Some(wait - wait / 2 + chance % (wait / 2 + 1))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn waits_double_and_end() {
        let backoff = Backoff { attempts: 4, first_ms: 100, most_ms: 250, asked_most_ms: 1000 };
        let check = |failed, asked, chance, expect| assert_eq!(backoff.wait_ms(failed, asked, chance), expect);
        check(1, None, 0, Some(50));
        check(1, None, 50, Some(100));
        check(2, None, 0, Some(100));
        check(3, None, 0, Some(125));
        check(4, None, 0, None);
        check(1, Some(700), 9, Some(700));
        check(1, Some(0), 9, Some(0));
        // Whoever is asked to wait for an hour gives up at once.
        check(1, Some(3_600_000), 9, None);
    }

    proptest! {
        #[test]
        fn a_wait_lies_between_half_of_the_longest_and_the_longest(failed in 1..64u32, chance: u64) {
            let backoff = Backoff { attempts: 100, ..Backoff::default() };
            let longest = (500u64.saturating_mul(1u64.checked_shl(failed - 1).unwrap_or(u64::MAX))).min(30_000);
            let wait = backoff.wait_ms(failed, None, chance).unwrap();
            prop_assert!(wait >= longest / 2 && wait <= longest);
        }
    }
}
